// SPDX-License-Identifier: BSD-3-Clause
// Closes windows: finds the flows with windows that end, and builds these windows.
#include "qos_close.h"

#include "qos_absorb.h"
#include "qos_clock_steps.h"
#include "qos_delays.h"
#include "qos_entries.h"
#include "qos_parts.h"
#include "qos_path.h"
#include "qos_sum.h"

#define ROUND_NS 10000000 // least time between two rounds over flows that close one after the other

// ---- flows with windows to close ----

static void set_close(const struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag)
{
	flow->close_tag = tag;
	flow->close_at_ns =
			tag * qos->config.window_ns[0] + qos->config.lateness_ns + flow->stagger_ns;
}

void hs_qos_activate(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag)
{
	set_close(qos, flow, tag);
	flow->active = true;
	flow->prev = NULL;
	flow->next = qos->active;
	if (flow->next)
		flow->next->prev = flow;
	qos->active = flow;
	if (flow->close_at_ns < qos->next_ns)
		qos->next_ns = flow->close_at_ns;
	if (flow->close_at_ns < qos->round_next_ns)
		qos->round_next_ns = flow->close_at_ns;
}

void hs_qos_deactivate(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	if (!flow->active)
		return;
	flow->active = false;
	if (qos->cursor == flow)
		qos->cursor = flow->next;
	if (flow->prev)
		flow->prev->next = flow->next;
	else
		qos->active = flow->next;
	if (flow->next)
		flow->next->prev = flow->prev;
}

void hs_qos_settle(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	hs_qos_gather(qos, flow);
	flow->place->left = 0;
	unsigned lost = hs_qos_absorb_placed(flow);
	qos->counters.reports -= lost;
	qos->counters.out_of_memory += lost;
}

static void forbid_placing(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	flow->place->after_ns = flow->place->until_ns = 0;
	hs_qos_settle(qos, flow);
}

void hs_qos_fill_clock(const struct hs_qos *qos, struct hs_qos_window *window, bool stepped)
{
	window->flags |= stepped ? HS_QOS_CLOCK_STEP : 0;
	bool doubtful = stepped || (window->flags & HS_QOS_NEGATIVE_DELAY);
	window->clock.known = qos->clock.known || doubtful;
	window->clock.synchronised = qos->clock.synchronised && qos->clock.known && !doubtful;
	window->clock.error_ns = qos->clock.known ? qos->clock.error_ns : 0;
	window->clock.told = qos->clock.known;
	window->clock.offset_ns = qos->clock.offset_ns;
	window->clock.kernel_offset_ns = qos->clock.kernel_offset_ns;
	window->clock.esterror_ns = qos->clock.esterror_ns;
	window->clock.maxerror_ns = qos->clock.maxerror_ns;
	window->clock.status = qos->clock.status;
}

static void hand_out(struct hs_qos *qos, const struct hs_qos_window *window)
{
	qos->counters.windows++;
	if (qos->config.on_window)
		qos->config.on_window(qos->config.user, window);
}

// Returns the sum of the reports since the end of the windows that close now, or NULL: none.
static const struct hs_qos_sum *sum_since(const struct hs_qos_flow *flow, int64_t end_tag)
{
	const struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	return current->open && current->tag > end_tag ? current : NULL;
}

// Returns the newest report of the windows that close now. Windows close some time after their end,
// so that the newest report may be of a later window.
static const struct hs_report *newest_until(const struct hs_qos_flow *flow, int64_t end_tag)
{
	bool later = sum_since(flow, end_tag) && flow->has_closing_edge;
	return later ? &flow->closing_edge : &flow->edge;
}

static void build_tier(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		int tier, int64_t end_tag)
{
	struct hs_qos_slot *slot = &flow->latest[tier];
	int64_t length_ns = qos->config.window_ns[tier];
	int64_t end_ns = end_tag * qos->config.window_ns[0], start_ns = end_ns - length_ns;
	if (end_ns > qos->cut_ns && qos->cut_ns > start_ns) {
		end_ns = qos->cut_ns;
		sum->odd_length = true;
	}
	if (start_ns < qos->since_ns && end_ns > qos->since_ns)
		sum->clock_stepped = sum->odd_length = true;
	if (hs_qos_compute_metrics(flow, sum, sum_since(flow, end_tag), tier, &qos->columns,
			    newest_until(flow, end_tag), start_ns, end_ns, slot)) {
		qos->counters.out_of_memory++;
		return;
	}
	slot->window.window_ns = length_ns;
	hs_qos_fill_clock(qos, &slot->window, sum->clock_stepped);
	hand_out(qos, &slot->window);
}

// Hands out the last values of a silent flow once more (rule 9).
static void repeat_stale(struct hs_qos *qos, struct hs_qos_flow *flow, int tier, int64_t end_tag)
{
	struct hs_qos_window *window = &flow->latest[tier].window;
	int64_t end_ns = end_tag * qos->config.window_ns[0];
	if (!flow->latest[tier].filled || end_ns - flow->newest_ts_ns > qos->config.stale_ns)
		return;
	window->stale = true;
	window->reports = 0;
	window->path_changed = false;
	window->start_ns = end_ns - qos->config.window_ns[tier];
	window->end_ns = end_ns;
	window->age_ns = end_ns - flow->newest_ts_ns;
	hand_out(qos, window);
}

// Returns the sum that a window of this length is added to when it has ended.
static struct hs_qos_sum *sum_behind(const struct hs_qos *qos, struct hs_qos_flow *flow, int tier)
{
	return &flow->sums[tier + 1 < qos->n_windows ? HS_QOS_TIER + tier : HS_QOS_RUN];
}

static void add_column(
		struct hs_qos_hist *hist, uint16_t link, const struct hs_qos_columns *columns)
{
	uint32_t n = hs_qos_columns_count(columns, link);
	if (columns->narrow)
		hs_qos_hist_add_narrow(hist, columns->base_ns[link], columns->most[link],
				hs_qos_column_narrow(columns, link), n);
	else
		hs_qos_hist_add_all(hist, hs_qos_column(columns, link), n);
}

// Adds the delays of a shortest window to the histograms of the next longer window.
static void pass_delays(struct hs_qos *qos, struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	struct hs_qos_sum *into = sum_behind(qos, flow, 0);
	if (sum->folded)
		return; // hs_qos_sum_merge adds them
	for (uint16_t i = 0; i < flow->n_links && i < qos->columns.capacity; i++) {
		struct hs_qos_hist *hist = &into->links[i].hist;
		if (!hist->n) // as hs_qos_hist_merge does
			hist->origin = sum->links[i].hist.origin;
		add_column(hist, i, &qos->columns);
	}
}

// Only the reports of the current window are in no histogram, if the window after `open_after` is
// the current one. They are among the newest.
static void forget_unfolded(struct hs_qos_flow *flow, int64_t open_after)
{
	const struct hs_qos_sum *since = sum_since(flow, open_after);
	uint64_t number = flow->ring.next, least = hs_qos_ring_oldest(&flow->ring);
	if (flow->unfolded > least)
		least = flow->unfolded;
	for (uint64_t left = since ? since->reports : 0; left && number > least;)
		left -= hs_qos_ring_window(&flow->ring, --number) > open_after;
	flow->unfolded = number;
}

// Prefetches the histograms that a window's delays go into. The hardware's prefetcher cannot
// predict these accesses.
static void expect_hists(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++) {
		const struct hs_qos_hist *hist = &sum->links[i].hist;
		if (hist->buckets)
			hs_qos_fetch(hist->buckets - hist->n_buckets[1], hs_qos_hist_bytes(hist));
	}
}

static void close_shortest(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	int64_t tag = sum->tag;
	if (sum->folded || hs_qos_sum_needs_hist(flow, sum))
		hs_qos_delays_fold(flow);
	else
		expect_hists(flow, sum_behind(qos, flow, 0));
	hs_qos_columns_collect(&qos->columns, flow, tag - 1, tag, sum);
	if (sum == &flow->sums[HS_QOS_CURRENT])
		hs_qos_sum_keep_smoothed(flow, sum);
	hs_qos_entries_judge(flow, sum);
	hs_qos_drop_uncommon(flow, sum);
	hs_qos_judge_rules(flow, sum);
	if (hs_qos_path_bypassed(flow, sum))
		sum->flags |= HS_QOS_BYPASSED;
	build_tier(qos, flow, sum, 0, tag);
	pass_delays(qos, flow, sum);
	hs_qos_clock_steps_keep_bases(flow);
	hs_qos_sum_merge(flow, sum_behind(qos, flow, 0), sum);
	hs_qos_sum_clear(flow, sum);
	forget_unfolded(flow, tag);
}

static void close_longer(struct hs_qos *qos, struct hs_qos_flow *flow, int tier, int64_t end_tag)
{
	struct hs_qos_sum *sum = &flow->sums[HS_QOS_TIER + tier - 1];
	if (!sum->open) {
		repeat_stale(qos, flow, tier, end_tag);
		return;
	}
	hs_qos_columns_collect(&qos->columns, flow, end_tag - qos->ratio[tier], end_tag, sum);
	build_tier(qos, flow, sum, tier, end_tag);
	hs_qos_sum_merge(flow, sum_behind(qos, flow, tier), sum);
	hs_qos_sum_clear(flow, sum);
}

static struct hs_qos_sum *sum_to_close(struct hs_qos_flow *flow)
{
	for (unsigned i = HS_QOS_CURRENT; i <= HS_QOS_CLOSING; i++)
		if (flow->sums[i].open && flow->sums[i].tag == flow->close_tag)
			return &flow->sums[i];
	return NULL;
}

static bool has_open(const struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < flow->n_sums; i++)
		if (i != HS_QOS_RUN && flow->sums[i].open)
			return true;
	return false;
}

// Drops the windows of a flow that was silent for stale_ns, so that none is shown (rule 9).
static void fall_silent(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		flow->latest[i].filled = false;
	if (!has_open(flow))
		hs_qos_deactivate(qos, flow);
}

void hs_qos_close_next(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	forbid_placing(qos, flow);
	int64_t tag = flow->close_tag;
	struct hs_qos_sum *sum = sum_to_close(flow);
	if (sum && sum->reports) {
		close_shortest(qos, flow, sum);
	} else { // a sum is open without a report if there was no memory for the report
		if (sum)
			hs_qos_sum_clear(flow, sum);
		repeat_stale(qos, flow, 0, tag);
	}
	for (int tier = 1; tier < qos->n_windows; tier++)
		if (tag % qos->ratio[tier] == 0)
			close_longer(qos, flow, tier, tag);
	hs_qos_charge_all(qos, flow);
	set_close(qos, flow, tag + 1);
	if (tag * qos->config.window_ns[0] - flow->newest_ts_ns > qos->config.stale_ns)
		fall_silent(qos, flow);
}

// Prefetches the memory of the next flow while one flow's windows close. Prefetches also the part
// of the flow after the next that has the pointers to its memory.
static void expect_next(struct hs_qos *qos, const struct hs_qos_flow *flow)
{
	if (!flow->next)
		return;
	const struct hs_qos_flow *then = flow->next->next;
	if (then) {
		hs_qos_fetch(then, offsetof(struct hs_qos_flow, app_id));
		hs_qos_fetch(&then->unfolded,
				offsetof(struct hs_qos_flow, latest) -
						offsetof(struct hs_qos_flow, unfolded));
	}
	hs_qos_gather(qos, flow->next);
	hs_qos_absorb_expect(flow->next);
}

void hs_qos_tell_time(struct hs_qos *qos, int64_t now_ns)
{
	if (now_ns > qos->now_ns)
		qos->now_ns = now_ns;
	if (qos->new_time)
		qos->since_ns = now_ns;
	qos->new_time = false;
}

void hs_qos_advance(struct hs_qos *qos, int64_t now_ns)
{
	hs_qos_tell_time(qos, now_ns);
	if (now_ns < qos->next_ns)
		return;
	if (!qos->cursor) {
		qos->cursor = qos->active;
		qos->round_next_ns = INT64_MAX;
	}
	uint32_t budget =
			qos->config.flows_per_advance ? qos->config.flows_per_advance : UINT32_MAX;
	while (qos->cursor && budget--) {
		struct hs_qos_flow *flow = qos->cursor;
		qos->cursor = flow->next;
		if (flow->close_at_ns <= now_ns)
			expect_next(qos, flow);
		while (flow->active && flow->close_at_ns <= now_ns)
			hs_qos_close_next(qos, flow);
		if (flow->active && flow->close_at_ns < qos->round_next_ns)
			qos->round_next_ns = flow->close_at_ns;
	}
	if (qos->cursor)
		return;
	qos->next_ns = qos->round_next_ns;
	// Where each flow has its own time, flows with reports close their windows with a report.
	if (qos->config.stagger_ns && qos->next_ns < now_ns + ROUND_NS)
		qos->next_ns = now_ns + ROUND_NS;
}

int64_t hs_qos_next_ns(const struct hs_qos *qos)
{
	return qos->next_ns;
}

void hs_qos_flush_flow(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	forbid_placing(qos, flow);
	while (flow->sums[HS_QOS_CURRENT].open || flow->sums[HS_QOS_CLOSING].open)
		hs_qos_close_next(qos, flow);
	int64_t last = flow->close_tag - 1;
	for (int tier = 1; tier < qos->n_windows; tier++) {
		int64_t ratio = qos->ratio[tier];
		if (flow->sums[HS_QOS_TIER + tier - 1].open)
			close_longer(qos, flow, tier, (last + ratio - 1) / ratio * ratio);
	}
}

void hs_qos_cut_flow(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	hs_qos_settle(qos, flow);
	qos->cut_ns = qos->now_ns > flow->newest_ts_ns ? qos->now_ns : flow->newest_ts_ns;
	hs_qos_flush_flow(qos, flow);
	qos->cut_ns = INT64_MAX;
}
