// SPDX-License-Identifier: BSD-3-Clause
// The system's clocks, in nanoseconds, for what is not about packets: their time is
// src/plat/clock's.
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

// Processor time that this thread has taken: what a request costs, whoever else runs meanwhile.
static inline int64_t hs_os_clock_spent_ns(void)
{
	return hs_os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
