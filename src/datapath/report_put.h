// SPDX-License-Identifier: BSD-3-Clause
// Reports of a run of packets: places for them are reserved in the ring at once, filled packet by
// packet, and handed to control at once.
//
// Thread rule: owner lcore.
#pragma once

#include "worker.h"

// Reserves places for up to `n` reports. No places may be reserved before.
void hs_reports_open(struct hs_worker *worker, unsigned n);
// Hands the reports that were filled to control.
void hs_reports_close(struct hs_worker *worker);

// Fills the sink's own part of a record: rule, time, counters with this packet included.
static inline void hs_report_begin(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, struct hs_report_record *record)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_sums sums;

	hs_flow_sum(&worker->flows, slot, &sums);
	record->rule_slot = slot;
	record->rule_generation = atomic_load_explicit(
			&worker->flows.shared[slot].generation, memory_order_relaxed);
	record->sink_ts_ns = burst->now_ns;
	record->sink_rx_packets = sums.rx_packets;
	record->sink_rx_bytes = sums.rx_bytes;
}

static inline struct hs_report_record *hs_report_place(
		const struct hs_report_places *places, unsigned k)
{
	struct hs_report_record *part = places->first;

	if (k >= places->n_first) {
		part = places->wrapped;
		k -= places->n_first;
	}
	return part + k;
}

// Fills a record: hs_report_begin, then the bytes of telemetry behind it.
typedef void (*hs_report_fill_fn)(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, struct hs_report_record *record);

// Counts packet i, whose telemetry is of the rule in its slot, and its report. A full ring loses
// the report, which is counted as well. `fill` is a constant of the family that is inlined.
static inline __attribute__((always_inline)) void hs_report_put(struct hs_worker *worker,
		const struct hs_burst *burst, unsigned i, hs_report_fill_fn fill)
{
	struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	struct hs_report_places *places = &worker->report_places;

	hs_flow_add(&own->sink_packets, 1);
	hs_flow_add(&own->reports_made, 1);
	if (unlikely(places->n_filled == places->n)) {
		hs_reports_close(worker);
		hs_reports_open(worker, 1);
	}
	if (unlikely(!places->n)) {
		hs_flow_add(&own->reports_lost, 1);
		hs_flow_add(&worker->reports_made, 1);
		hs_flow_add(&worker->reports_lost, 1);
		return;
	}
	fill(worker, burst, i, hs_report_place(places, places->n_filled++));
}
