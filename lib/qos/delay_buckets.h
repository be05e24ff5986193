// SPDX-License-Identifier: BSD-3-Clause
// Delays of a flow, end to end and on each link, in buckets that are never reset: a histogram for
// Prometheus. Each value is counted in one bucket only, not cumulatively. The histograms of windows
// (qos_hist.h) cannot be converted to such a histogram: each flow's buckets lie around an origin of
// the flow, and the histograms end with their window.
//
// Thread rule: owner.
#pragma once

#include "prometheus.h"
#include "report.h"

#include <stdint.h>

#define HS_DELAY_BOUNDS 19 // 1 us, 2 us, 5 us, ... 1 s

struct hs_delay_link;

struct hs_delay_buckets { // zeroed: empty
	unsigned n, capacity;
	struct hs_delay_link *links;
	int64_t created_ns; // since 1970
};

// Counts the delays of a report whose sink has this id. A delay on a link for which there is no
// memory is not counted.
void hs_delay_buckets_add(struct hs_delay_buckets *buckets, const struct hs_report *report,
		uint32_t sink_id, int64_t now_ns);
void hs_delay_buckets_fini(struct hs_delay_buckets *buckets);

// Adds hopsight_path_delay_seconds of the flow, or hopsight_hop_delay_seconds of each of its links.
void hs_delay_buckets_page_path(
		struct hs_prometheus *page, const struct hs_delay_buckets *buckets, uint32_t ns_id);
void hs_delay_buckets_page_hops(
		struct hs_prometheus *page, const struct hs_delay_buckets *buckets, uint32_t ns_id);
