// SPDX-License-Identifier: BSD-3-Clause
// Signals that end a program. A descriptor reports the first signal, and a second signal ends the
// program at once.
//
// Thread rule: the first thread, before it starts others, because they inherit the blocked signals.
#pragma once

// Blocks SIGTERM, SIGINT and SIGQUIT, which only the descriptor reports from now on. Ignores
// SIGPIPE, SIGHUP and SIGXFSZ (write reports an error if a file may not grow). Returns the
// descriptor, which the caller closes, or a negative errno.
int hs_stop_open(void);

// Returns the signal that came, or 0 if none came.
int hs_stop_read(int fd);

// Makes a further signal end the process at once with HS_EXIT_FAILED and a line on stderr that
// begins with the program's name. The caller keeps the name. Call this when the program begins to
// end.
void hs_stop_at_once(const char *program);
