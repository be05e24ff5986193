// SPDX-License-Identifier: BSD-3-Clause
// Signals that end a program: a descriptor tells of the first, a second ends it at once.
//
// Thread rule: the first thread, before it starts others: they inherit what is blocked.
#pragma once

// Blocks SIGTERM, SIGINT and SIGQUIT, which only the descriptor tells from now on, and ignores
// those that a program outlives: SIGPIPE, SIGHUP, SIGXFSZ (a file that may not grow is an error of
// write). Returns the descriptor, which the caller closes, or negative errno.
int hs_stop_open(void);

// The signal that came, 0 where none did.
int hs_stop_read(int fd);

// For the time of ending: a signal that comes now ends the process with HS_EXIT_FAILED, and stderr
// says so in the program's name, which the caller keeps.
void hs_stop_at_once(const char *program);
