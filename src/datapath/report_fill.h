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

// Fills a record: hs_report_begin, then the bytes of telemetry behind it.
typedef void (*hs_report_fill_fn)(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, struct hs_report_record *record);

// Counts a report of packet i and hands it to control; a full ring loses it, and says so.
void hs_report_put(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		hs_report_fill_fn fill);
