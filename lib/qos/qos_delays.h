// SPDX-License-Identifier: BSD-3-Clause
// The delays of a report on the links of its path. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Delays of a report and the indices of their links. The delay end to end is first.
struct hs_qos_delays {
	unsigned n;
	uint16_t links[HS_QOS_MAX_LINKS + 1];
	int64_t ns[HS_QOS_MAX_LINKS + 1];
};

// Computes the delays of a report whose path has these links.
void hs_qos_delays_collect(const struct hs_report *report, const uint16_t *path_links,
		struct hs_qos_delays *delays);

// Computes the delays of the report of this number in the ring. Leaves out links that the flow does
// not know, or whose entry was reused since.
void hs_qos_delays_of(
		const struct hs_qos_flow *flow, uint64_t number, struct hs_qos_delays *delays);

// Layout in the ring of common reports: their path is the newest one, and all entries have all
// fields. Has also the links of their delays, end to end first.
struct hs_qos_known_links {
	uint64_t from; // number of the first report that came after all links began
	unsigned n_hops;
	uint32_t ids[HS_PACKED_HOPS];
	uint32_t source; // for families with locals: the source's id stands after the entries
	uint16_t links[HS_PACKED_HOPS + 2];
};
void hs_qos_delays_known(const struct hs_qos_flow *flow, struct hs_qos_known_links *known);

// Computes the delays of a common report. Returns false for a report of another path or without all
// fields; `delays` is undefined then.
static inline bool hs_qos_fast_delays(const struct hs_qos_known_links *known,
		const struct hs_packed *packed, int64_t *delays)
{
	const struct hs_packed_hop *hops = hs_packed_hops(packed);
	uint64_t next_ns = (uint64_t)packed->sink_ts_ns;
	if (packed->form & HS_PACKED_WIDE || packed->n_hops != known->n_hops ||
			!(packed->e2e_bitmap & HS_E2E_TIMESTAMP))
		return false;
	delays[0] = (int64_t)(next_ns - packed->ts_ns);
	for (unsigned i = 0; i < known->n_hops; i++) {
		if (hops[i].id != known->ids[i]) // the next entry may have another offset
			return false;
		delays[known->n_hops + 1 - i] = (int64_t)(next_ns - hops[i].ts_ns);
		next_ns = hops[i].ts_ns;
	}
	if (packed->form & HS_PACKED_LOCALS && hops[known->n_hops].id != known->source)
		return false;
	delays[1] = (int64_t)(next_ns - packed->ts_ns);
	return true;
}

// Computes the delays of a report of the ring, which is at `packed`. Returns the links of the
// delays.
static inline const uint16_t *hs_qos_delays_at(const struct hs_qos_flow *flow,
		const struct hs_qos_known_links *known, uint64_t number,
		const struct hs_packed *packed, struct hs_qos_delays *delays)
{
	if (number >= known->from && hs_qos_fast_delays(known, packed, delays->ns)) {
		delays->n = known->n_hops + 2;
		return known->links;
	}
	hs_qos_delays_of(flow, number, delays);
	return delays->links;
}

// Moves the delays that are only in the ring into the histograms of the open shortest windows.
void hs_qos_delays_fold(struct hs_qos_flow *flow);
