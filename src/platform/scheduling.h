// SPDX-License-Identifier: BSD-3-Clause
// How the kernel schedules a worker beside the other threads of its core.
//
// Thread rule: for the calling thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum hs_scheduling_class {
	HS_SCHEDULING_NORMAL, // a share of the core, by nice
	HS_SCHEDULING_RR,     // before all normal threads; equal priorities take turns
	HS_SCHEDULING_FIFO,   // the same without turns
};

#define HS_SCHEDULING_PRIORITY 10 // where none is given

struct hs_scheduling {
	bool given;	  // false: as the process was started, except for slices
	uint8_t class;	  // enum hs_scheduling_class
	uint8_t priority; // 1 to 99 of rr and fifo; 0: none is given
	int8_t nice;	  // -20 to 19 of normal; a lower value has a larger share
};

// Returns whether the scheduling needs CAP_SYS_NICE or a limit that allows it.
bool hs_scheduling_needs_privilege(const struct hs_scheduling *scheduling);
// Schedules the calling thread. A normal thread also asks for short slices. Returns 0, or -EPERM if
// the process has neither CAP_SYS_NICE nor the limit (RLIMIT_RTPRIO, RLIMIT_NICE), or another
// negative errno.
int hs_scheduling_apply(const struct hs_scheduling *scheduling);
