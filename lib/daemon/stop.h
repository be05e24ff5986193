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

// For the time of ending: a signal that comes now ends the process with HS_EXIT_FAILED, and stderr
// says so in the program's name, which the caller keeps.
void hs_stop_at_once(const char *program);
