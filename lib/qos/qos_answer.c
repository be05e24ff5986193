// SPDX-License-Identifier: BSD-3-Clause
// Answers for a flow at any time: its newest windows, a window of any span, its newest reports.
#include "qos_answer.h"

#include "qos_absorb.h"
#include "qos_delays.h"
#include "qos_entries.h"
#include "qos_local.h"
#include "qos_parts.h"
#include "qos_sum.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static int tier_of(const struct hs_qos *qos, int64_t window_ns)
{
	for (int i = 0; i < qos->n_windows; i++)
		if (qos->config.window_ns[i] == window_ns)
			return i;
	return -1;
}

static int build_run(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_sum *run)
{
	// Oldest first: the span begins with the first part and ends with the last.
	static const uint8_t parts[] = {HS_QOS_RUN, HS_QOS_TIER + 2, HS_QOS_TIER + 1, HS_QOS_TIER,
			HS_QOS_CLOSING, HS_QOS_CURRENT};
	static_assert(sizeof(parts) == HS_QOS_SUMS, "all");
	hs_qos_delays_fold(flow);
	hs_qos_sum_keep_smoothed(flow, &flow->sums[HS_QOS_CURRENT]);
	for (unsigned i = 0; i < sizeof(parts); i++) {
		struct hs_qos_sum part = flow->sums[parts[i]];
		if (parts[i] >= flow->n_sums)
			continue;
		if (parts[i] <= HS_QOS_CLOSING) // the open sum is judged when it closes
			hs_qos_entries_judge(flow, &part);
		hs_qos_sum_merge(flow, run, &part);
	}
	hs_qos_columns_collect(&qos->columns, flow, -1, INT64_MAX, run);
	return hs_qos_compute_metrics(flow, run, NULL, -1, &qos->columns, &flow->edge,
			run->first_ns, run->last_ns, &qos->answer);
}

static const struct hs_qos_window *answer_run(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	struct hs_qos_sum run = {0};
	if (!flow->ring.next)
		return NULL;
	run.links = calloc(flow->n_links, sizeof(*run.links));
	if (!run.links)
		return NULL;
	int rc = hs_qos_local_begin(flow, &run);
	if (!rc)
		rc = build_run(qos, flow, &run);
	for (unsigned i = 0; i < flow->n_links; i++)
		hs_qos_hist_fini(&run.links[i].hist);
	free(run.links);
	hs_qos_flow_free_locals(&run, flow->n_links);
	if (rc)
		return NULL;
	qos->answer.window.run = true;
	hs_qos_fill_clock(qos, &qos->answer.window, run.clock_stepped);
	return &qos->answer.window;
}

const struct hs_qos_window *hs_qos_latest(struct hs_qos *qos, uint32_t ns_id, int64_t window_ns)
{
	struct hs_qos_flow *flow = hs_qos_find(qos, ns_id);
	if (!flow)
		return NULL;
	hs_qos_settle(qos, flow);
	if (!window_ns)
		return answer_run(qos, flow);
	int tier = tier_of(qos, window_ns);
	if (tier < 0 || !flow->latest[tier].filled)
		return NULL;
	return &flow->latest[tier].window;
}

// Adds the reports of the ring once more, to a second flow.
static int replay(struct hs_qos *qos, const struct hs_qos_flow *flow, struct hs_qos_flow *again,
		int64_t start_ns, int64_t end_ns)
{
	struct hs_qos_key key = {flow->ns_id, flow->app_id, flow->generation, flow->sink_id};
	hs_qos_flow_init(again, &key, &qos->config, flow->limits.packets_wrap, &qos->step);
	again->met_ns = flow->met_ns;
	again->unknown_packets = flow->unknown_packets;
	again->ring.family = flow->ring.family;
	again->sums[HS_QOS_CLOSING].open = again->sums[HS_QOS_CURRENT].open = true;
	again->sums[HS_QOS_CURRENT].tag = 1;
	struct hs_report report;
	for (uint64_t i = hs_qos_ring_oldest(&flow->ring); i < flow->ring.next; i++) {
		hs_qos_ring_get(&flow->ring, i, &report);
		if (report.sink_ts_ns > end_ns)
			continue;
		bool before = report.sink_ts_ns <= start_ns;
		if (hs_qos_absorb(again, &report, before ? HS_QOS_CLOSING : HS_QOS_CURRENT))
			return -ENOMEM;
	}
	return again->sums[HS_QOS_CURRENT].reports ? 0 : -ENODATA;
}

// Returns where a window on request begins. What the flow carried before the oldest report that is
// kept is not known, so a window that would begin before that report begins with it.
static int64_t known_from(const struct hs_qos_flow *flow, int64_t start_ns)
{
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring);
	struct hs_report report;

	if (!oldest || oldest == flow->ring.next)
		return start_ns;
	hs_qos_ring_get(&flow->ring, oldest, &report);
	return report.sink_ts_ns > start_ns ? report.sink_ts_ns : start_ns;
}

const struct hs_qos_window *hs_qos_slide(
		struct hs_qos *qos, uint32_t ns_id, int64_t start_ns, int64_t end_ns)
{
	struct hs_qos_flow *flow = hs_qos_find(qos, ns_id);
	struct hs_qos_flow *again = flow && start_ns < end_ns ? malloc(sizeof(*again)) : NULL;
	if (!again)
		return NULL;
	hs_qos_settle(qos, flow);
	start_ns = known_from(flow, start_ns);
	const struct hs_qos_window *window = NULL;
	struct hs_qos_sum *sum = &again->sums[HS_QOS_CURRENT];
	if (!replay(qos, flow, again, start_ns, end_ns)) {
		hs_qos_delays_fold(again);
		hs_qos_sum_keep_smoothed(again, sum);
		hs_qos_entries_judge(again, sum);
		hs_qos_drop_uncommon(again, sum);
		sum->flags |= flow->rules_differ ? HS_QOS_RULES_DIFFER : 0;
		hs_qos_columns_collect(&qos->columns, again, 0, 1, sum);
		if (!hs_qos_compute_metrics(again, sum, NULL, -1, &qos->columns, &again->edge,
				    start_ns, end_ns, &qos->answer)) {
			hs_qos_fill_clock(qos, &qos->answer.window, sum->clock_stepped);
			window = &qos->answer.window;
		}
	}
	hs_qos_flow_fini(again);
	free(again);
	return window;
}

unsigned hs_qos_reports(struct hs_qos *qos, uint32_t ns_id, unsigned n,
		void (*each)(void *user, const struct hs_report *report), void *user)
{
	struct hs_qos_flow *flow = hs_qos_find(qos, ns_id);
	if (!flow)
		return 0;
	hs_qos_settle(qos, flow);
	struct hs_report report;
	if (n > HS_QOS_REPORTS)
		n = HS_QOS_REPORTS;
	if (n > flow->ring.count)
		n = flow->ring.count;
	for (uint64_t i = flow->ring.next - n; i < flow->ring.next; i++) {
		hs_qos_ring_get(&flow->ring, i, &report);
		report.telemetry.ns_id = ns_id;
		each(user, &report);
	}
	return n;
}
