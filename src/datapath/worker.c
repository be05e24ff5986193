// SPDX-License-Identifier: BSD-3-Clause
#include "worker.h"
#include "clock.h"

#include <sched.h>
#include <string.h>

// Reads the send time of a burst, which is never before the receive time, even if the clock was set
// back between.
int64_t hs_burst_read_sent_ns(const struct hs_worker *worker, struct hs_burst *burst)
{
	int64_t stepped_ns, now_ns = hs_clock_read(worker->clock, &stepped_ns);

	now_ns -= stepped_ns - burst->stepped_ns;
	burst->sent_ns = now_ns > burst->now_ns ? now_ns : burst->now_ns;
	return burst->sent_ns;
}

void hs_worker_snapshot(const struct hs_worker *worker, struct hs_port_counters *stats)
{
	for (;;) {
		uint32_t before = atomic_load_explicit(&worker->sequence, memory_order_acquire);
		memcpy(stats, worker->stats, worker->n_ports * sizeof(*stats));
		atomic_thread_fence(memory_order_acquire);
		uint32_t after = atomic_load_explicit(&worker->sequence, memory_order_relaxed);
		if (before == after && !(before & 1))
			return;
		sched_yield(); // the worker may be waiting for this very core
	}
}
