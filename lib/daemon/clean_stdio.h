// SPDX-License-Identifier: BSD-3-Clause
// Filters standard output and standard error of a program for people. All of its text passes
// through here, so that no text controls the terminal.
//
// Thread rule: hs_clean_stdio once, at the start, before anything is written; the others as stdio.
#pragma once

// From now on, unsafe characters (clean_text.h) in stdout and stderr are written as \uXXXX, except
// those of `layout` (ASCII). If memory is out, both streams stay as they were and the result is not
// 0.
int hs_clean_stdio(const char *layout);

// Writes what is left of stdout. Returns 0, or -EIO after an error message if not all that was
// printed could be written, for example on a full disk. Call it at the end, with the name of the
// program.
int hs_clean_end(const char *program);

// Clears the screen behind stdout and bypasses the filter.
void hs_clean_screen(void);
