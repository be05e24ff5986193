// SPDX-License-Identifier: BSD-3-Clause
// DPDK's own log lines as lines of ours, so that a log of JSON objects is one throughout.
//
// Thread rule: any, except hs_eal_log_take (control, before EAL starts).
#pragma once

#include <stddef.h>

// DPDK's lines go through hs_log from now on, for the life of the process. Which of them there are
// is for --log-level to say; none is less than a notice here. 0 or -ENOMEM.
int hs_eal_log_take(void);

// The first error that a driver of DPDK told since hs_eal_log_forget, without the name of the
// function that told it; "" if none did. What EAL adds about it says less.
void hs_eal_log_forget(void);
void hs_eal_log_first_error(char *text, size_t size);
