// SPDX-License-Identifier: BSD-3-Clause
// Reports of a run of packets: places for them are reserved in the ring at once, filled packet by
// packet, and handed to control at once.
//
// Thread rule: owner lcore.
#pragma once

#include "worker.h"

// A period of 2^23 ns, 8.4 ms.
#define HS_REPORT_PERIOD_SHIFT 23

// Takes the time of a read of the ring's tail now and then, if control wrote the tail since the
// worker read it.
void hs_report_look(struct hs_worker *worker);

// Reserves places for up to `n` reports, but no spare place (hs_report_more). No places may be
// reserved before.
void hs_reports_open(struct hs_worker *worker, unsigned n);
// Hands the reports that were filled to control.
void hs_reports_close(struct hs_worker *worker);

// Makes places->next a place for a report of the flow whose counters are `own`, where places->next
// is places->end: in the reserved places at the ring's begin, else one more. The last quarter of a
// ring is spare: it is for the first report of each flow in each period of HS_REPORT_PERIOD_SHIFT.
// If there is no place, counts a report that is lost and returns false.
bool hs_report_more(struct hs_worker *worker, struct hs_flow_worker *own);

// Fetches a line that will be written. For x86-64-v2, compilers make a fetch for reading of
// __builtin_prefetch, which leaves the line in the other core's cache, too; the store then waits
// for that core. Processors without the instruction ignore it.
static inline void hs_report_fetch(const uint8_t *line)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*line));
#else
	__builtin_prefetch(line, 1);
#endif
}

// Counts a packet whose telemetry is of the rule in `slot`, and its report. Returns where the
// report is written; hs_report_placed ends it. Returns NULL if the ring has no place: the report is
// lost, which was counted as well.
static inline __attribute__((always_inline)) struct hs_report_record *hs_report_place(
		struct hs_worker *worker, uint32_t slot)
{
	struct hs_flow_worker *own = &worker->flows.own[slot];
	struct hs_report_places *places = &worker->report_places;

	hs_flow_add(&own->sink_packets, 1);
	hs_flow_add(&own->reports_made, 1);
	if (unlikely(places->next == places->end) && !hs_report_more(worker, own))
		return NULL;
	struct hs_report_record *place = places->next++;
	if (unlikely(places->streams))
		return &worker->staged;
	// Another core has read the lines. They take the time of many packets to come.
	const uint8_t *ahead = (const uint8_t *)place + places->ahead;
	hs_report_fetch(ahead);
	hs_report_fetch(ahead + RTE_CACHE_LINE_SIZE);
	return place;
}

// Ends a report that was written.
static inline void hs_report_placed(struct hs_worker *worker, const struct hs_report_record *record)
{
	const struct hs_report_places *places = &worker->report_places;

	if (unlikely(places->streams))
		hs_report_stream(places->next - 1, record,
				offsetof(struct hs_report_record, data) + record->trace_len +
						record->e2e_len);
}

// Fills the sink's own part of a record: rule, time, counters with this packet included.
static inline void hs_report_begin(const struct hs_worker *worker, const struct hs_burst *burst,
		uint32_t slot, struct hs_report_record *record)
{
	record->rule_slot = slot;
	record->rule_generation = worker->flows.own[slot].generation;
	record->sink_ts_ns = burst->now_ns;
	hs_flow_sum_rx(&worker->flows, slot, &record->sink_rx_packets, &record->sink_rx_bytes);
}
