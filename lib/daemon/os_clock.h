// SPDX-License-Identifier: BSD-3-Clause
// The system's clocks in nanoseconds, for everything except packets. Packets use the time of
// src/platform/clock.
//
// Thread rule: any.
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t hs_os_clock_ns(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t hs_os_clock_wall_ns(void)
{
	return hs_os_clock_ns(CLOCK_REALTIME);
}

// Returns the processor time of this thread, which is the cost of a request whatever else runs
// meanwhile.
static inline int64_t hs_os_clock_spent_ns(void)
{
	return hs_os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
