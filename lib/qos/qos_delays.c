// SPDX-License-Identifier: BSD-3-Clause
#include "qos_delays.h"

#include "qos_path.h"
#include "qos_sum.h"

#include <string.h>

#define FOLDED 64 // reports

static inline void add(struct hs_qos_delays *delays, uint16_t link, uint64_t ns)
{
	delays->links[delays->n] = link;
	delays->ns[delays->n++] = (int64_t)ns;
}

void hs_qos_delays_collect(const struct hs_report *report, const uint16_t *path_links,
		struct hs_qos_delays *delays)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	bool has_last = telemetry->e2e.bitmap & HS_E2E_TIMESTAMP;
	uint64_t last = telemetry->e2e.ts_ns, sink_ns = (uint64_t)report->sink_ts_ns;
	delays->n = 0;
	if (has_last)
		add(delays, 0, sink_ns - last);
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		const struct hs_hop *hop = &telemetry->hops[telemetry->n_hops - 1 - i];
		bool has = hop->bitmap & HS_HOP_TIMESTAMP;
		if (has && has_last && path_links[i])
			add(delays, path_links[i], hop->ts_ns - last);
		has_last = has;
		last = hop->ts_ns;
	}
	if (has_last && path_links[telemetry->n_hops])
		add(delays, path_links[telemetry->n_hops], sink_ns - last);
}

static void drop_older_than_links(
		const struct hs_qos_flow *flow, uint64_t number, struct hs_qos_delays *delays)
{
	unsigned n = delays->n;
	delays->n = 0;
	for (unsigned i = 0; i < n; i++)
		if (flow->links[delays->links[i]].born <= number)
			add(delays, delays->links[i], (uint64_t)delays->ns[i]);
}

void hs_qos_delays_of(const struct hs_qos_flow *flow, uint64_t number, struct hs_qos_delays *delays)
{
	struct hs_report report;
	uint16_t found[HS_QOS_MAX_LINKS];
	const uint16_t *path_links = flow->path_links;
	hs_qos_ring_get(&flow->ring, number, &report);
	if (!flow->has_edge || !hs_qos_path_same(&report.telemetry, &flow->edge.telemetry)) {
		hs_qos_path_links(flow, &report.telemetry, found);
		path_links = found;
	}
	hs_qos_delays_collect(&report, path_links, delays);
	drop_older_than_links(flow, number, delays);
}

void hs_qos_delays_known(const struct hs_qos_flow *flow, struct hs_qos_known_links *known)
{
	const struct hs_decoded *path = &flow->edge.telemetry;
	known->from = UINT64_MAX;
	if (!flow->has_edge || flow->general || path->n_hops > HS_PACKED_HOPS ||
			flow->n_path_links != path->n_hops + 1)
		return;
	known->n_hops = path->n_hops;
	known->source = path->e2e.node_id;
	for (unsigned i = 0; i < path->n_hops; i++) {
		if (path->hops[i].node_id > UINT16_MAX)
			return;
		known->ids[i] = hs_packed_pair(path->hops[i].node_id, HS_HOP_MEASURED);
	}
	known->links[0] = 0;
	memcpy(known->links + 1, flow->path_links, flow->n_path_links * sizeof(known->links[0]));
	known->from = 0;
	for (unsigned i = 0; i < known->n_hops + 2; i++)
		if (flow->links[known->links[i]].born > known->from)
			known->from = flow->links[known->links[i]].born;
}

// Delays of common reports that one sum takes.
struct folded {
	struct hs_qos_sum *sum;
	unsigned n;
	int64_t ns[HS_PACKED_HOPS + 2][FOLDED];
};

static void add_folded(const struct hs_qos_known_links *known, struct folded *folded)
{
	for (unsigned i = 0; folded->n && i < known->n_hops + 2; i++)
		hs_qos_hist_add_all(&folded->sum->links[known->links[i]].hist, folded->ns[i],
				folded->n);
	folded->n = 0;
}

void hs_qos_delays_fold(struct hs_qos_flow *flow)
{
	struct hs_qos_delays delays;
	struct hs_qos_known_links known;
	struct folded folded;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring);
	uint64_t number = flow->unfolded > oldest ? flow->unfolded : oldest;
	folded.sum = NULL;
	folded.n = 0;
	hs_qos_delays_known(flow, &known);
	for (; number < flow->ring.next; number++) {
		const struct hs_packed *packed = hs_qos_ring_packed(&flow->ring, number);
		struct hs_qos_sum *sum = hs_qos_flow_sum(flow, packed->tag);
		hs_qos_ring_fetch(&flow->ring, packed);
		if (!sum)
			continue;
		sum->folded = true;
		const uint16_t *links = hs_qos_delays_at(flow, &known, number, packed, &delays);
		if (folded.n == FOLDED || folded.sum != sum || links != known.links)
			add_folded(&known, &folded);
		folded.sum = sum;
		for (unsigned i = 0; i < delays.n; i++)
			if (links == known.links)
				folded.ns[i][folded.n] = delays.ns[i];
			else
				hs_qos_hist_add(&sum->links[links[i]].hist, delays.ns[i]);
		folded.n += links == known.links;
	}
	add_folded(&known, &folded);
	flow->unfolded = flow->ring.next;
}
