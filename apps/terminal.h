// SPDX-License-Identifier: BSD-3-Clause
// How large the terminal behind stdout is.
//
// Thread rule: any, while nobody changes the environment.
#pragma once

#include <sys/ioctl.h>

// Returns the lines and columns of the terminal: LINES and COLUMNS, or what the terminal says. If
// stdout is no terminal, and neither is set, it returns 24 lines of 80 columns.
struct winsize hs_terminal_size(void);
