// SPDX-License-Identifier: BSD-3-Clause
// The state of exporters' sequence numbers, in a file that is mapped to memory. The file is right
// at any moment, even if the process is killed. It does not outlive a crash of the machine.
//
// Thread rule: the control thread.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_collector_state;

// Opens the file for `bytes` of memory. The memory names listeners by number; `listeners` stands
// for what the numbers mean. *anew: the file is new, or was written for another number of bytes or
// for other listeners; then the memory is zero. Returns 0, or a negative errno with *err (path
// "state.file").
int hs_collector_state_open(const char *file, uint64_t bytes, uint64_t listeners,
		struct hs_collector_state **state, bool *anew, struct hs_error *err);
void hs_collector_state_close(struct hs_collector_state *state); // accepts NULL
void *hs_collector_state_memory(struct hs_collector_state *state);
