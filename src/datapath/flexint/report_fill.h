// SPDX-License-Identifier: BSD-3-Clause
// What a sink writes into a report record.
//
// Thread rule: owner lcore.
#pragma once

#include "worker.h"

// The sink's own part: rule, time, counters with this packet included.
static inline void hs_report_begin(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, struct hs_report_record *record)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_sums sums;

	hs_flow_sum(&worker->flows, slot, &sums);
	record->rule_slot = slot;
	record->rule_generation = atomic_load_explicit(
			&worker->flows.shared[slot].generation, memory_order_relaxed);
	record->sink_ts_ns = hs_burst_rx_ns(burst, i);
	record->sink_rx_packets = sums.rx_packets;
	record->sink_rx_bytes = sums.rx_bytes;
}

// All of it: the options' bytes, of any length, behind the sink's part.
void hs_report_fill(const struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		struct hs_report_record *record);
