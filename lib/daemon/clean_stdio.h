// SPDX-License-Identifier: BSD-3-Clause
// Standard output and standard error of a program for people: the one place where all of its text
// goes out, so that none drives the terminal behind it.
//
// Thread rule: once, at the start, before anything is written.
#pragma once

// From now on, what is written to stdout and stderr has unsafe characters (clean_text.h) escaped as
// \uXXXX, but for those of `layout` (ASCII). Where memory is out, both are as they were and 0 is
// not returned.
int hs_clean_stdio(const char *layout);

// Empties the screen behind stdout, past all of that.
void hs_clean_screen(void);
