// SPDX-License-Identifier: BSD-3-Clause
// Turns DPDK's log lines into lines of ours, so that a log of JSON objects contains nothing else.
//
// Thread rule: any, except hs_eal_log_take (control, before EAL starts).
#pragma once

#include <stddef.h>

// Makes DPDK's lines pass through hs_log, for the life of the process. --log-level selects the
// lines; each has at least the level notice here. Returns 0 or -ENOMEM.
int hs_eal_log_take(void);

// Returns the first error that a DPDK driver logged since hs_eal_log_forget, without the function's
// name, or "". EAL's later messages about it say less.
void hs_eal_log_forget(void);
void hs_eal_log_first_error(char *text, size_t size);
