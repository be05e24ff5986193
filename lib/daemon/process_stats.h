// SPDX-License-Identifier: BSD-3-Clause
// What the kernel knows about this process: the values of Prometheus' standard metrics.
//
// Thread rule: any.
#pragma once

#include <stdint.h>

struct hs_process_stats { // 0: the kernel did not say
	uint64_t cpu_ns;
	uint64_t resident_bytes, virtual_bytes, virtual_max_bytes;
	uint64_t open_fds, max_fds;
	uint64_t threads;
};

// Reads /proc/self.
void hs_process_stats_read(struct hs_process_stats *stats);

// Returns when the process started, in nanoseconds since 1970, by the present setting of the clock:
// call it once. Returns 0 if the kernel did not say.
int64_t hs_process_start_ns(void);
