// SPDX-License-Identifier: BSD-3-Clause
// The delays of a report on the links of its path. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Of a report: end to end first, by the indices of their links.
struct hs_qos_delays {
	unsigned n;
	uint16_t links[HS_QOS_MAX_LINKS + 1];
	int64_t ns[HS_QOS_MAX_LINKS + 1];
};

// Of a report whose path has these links.
void hs_qos_delays_collect(const struct hs_report *report, const uint16_t *path_links,
		struct hs_qos_delays *delays);

// Delays of a report of the ring and the links they are of (indices), end to end first; returns how
// many. Links that the flow does not know, or has forgotten since, are left out.
unsigned hs_qos_delays_of(const struct hs_qos_flow *flow, const struct hs_report *report,
		uint64_t number, uint16_t links[HS_QOS_MAX_LINKS + 1],
		int64_t delays[HS_QOS_MAX_LINKS + 1]);

// Moves the delays that are only in the ring into the histograms of the open shortest windows.
void hs_qos_delays_fold(struct hs_qos_flow *flow);
