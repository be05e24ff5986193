// SPDX-License-Identifier: BSD-3-Clause
// How large the terminal behind stdout is.
//
// Thread rule: any, while nobody changes the environment.
#pragma once

#include <sys/ioctl.h>

// Returns the lines and columns of the terminal. LINES and COLUMNS, where they are set, go before
// what the terminal says. Without a terminal, they go before 24 lines of 80 columns.
struct winsize hs_terminal_size(void);
