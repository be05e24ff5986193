// SPDX-License-Identifier: BSD-3-Clause
#include "qos.h"

#include "qos_build.h"
#include "qos_flow.h"
#include "qos_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECOND	  1000000000ll
#define MAX_SLACK 32768		  // half of what 16-bit counters can tell apart
#define LAST_NS	  (INT64_MAX / 2) // no window ends so late that its time cannot be reckoned with

struct entry {
	uint32_t ns_id;
	struct hs_qos_flow *flow; // NULL: free
};

struct hs_qos {
	struct hs_qos_config config;
	struct hs_qos_clock clock;
	int64_t ratio[HS_QOS_WINDOWS]; // window length in shortest windows
	struct entry *table;	       // open addressing, linear, at most half full
	uint32_t table_mask;
	struct hs_qos_flow *active; // flows with windows to close
	int64_t next_ns;
	struct hs_qos_flow *cursor; // where hs_qos_advance goes on; NULL: at the front
	int64_t round_next_ns;	    // next_ns, once it is through
	struct hs_qos_counters counters;
	struct hs_qos_columns columns;
	struct hs_qos_step step;   // scratch
	struct hs_qos_slot answer; // of hs_qos_latest for the run, of hs_qos_slide
};

// ---- table ----

static inline uint32_t slot_of(const struct hs_qos *qos, uint32_t ns_id)
{
	return (uint32_t)((ns_id * 0x9e3779b97f4a7c15u) >> 32) & qos->table_mask;
}

static inline struct entry *find_entry(const struct hs_qos *qos, uint32_t ns_id)
{
	uint32_t i = slot_of(qos, ns_id);
	while (qos->table[i].flow && qos->table[i].ns_id != ns_id)
		i = (i + 1) & qos->table_mask;
	return &qos->table[i];
}

// Backward shift: no tombstones, so lookups never get longer with time.
static void remove_entry(struct hs_qos *qos, struct entry *entry)
{
	uint32_t hole = (uint32_t)(entry - qos->table);
	uint32_t i = hole;
	for (;;) {
		i = (i + 1) & qos->table_mask;
		if (!qos->table[i].flow)
			break;
		uint32_t home = slot_of(qos, qos->table[i].ns_id);
		if (((i - home) & qos->table_mask) < ((i - hole) & qos->table_mask))
			continue;
		qos->table[hole] = qos->table[i];
		hole = i;
	}
	qos->table[hole].flow = NULL;
}

// ---- flows with windows to close ----

static void set_close(const struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag)
{
	flow->close_tag = tag;
	flow->close_at_ns = tag * qos->config.window_ns[0] + qos->config.lateness_ns;
}

static void activate(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag)
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

static void deactivate(struct hs_qos *qos, struct hs_qos_flow *flow)
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

// ---- reports that are placed ----

static void settle(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	unsigned lost = hs_qos_flow_settle(flow);
	qos->counters.reports -= lost;
	qos->counters.out_of_memory += lost;
}

// Until a window closes, reports of the current one need only be kept: what they add up is the same
// when some are taken together, while their flow is in the cache.
static void allow_placing(const struct hs_qos *qos, struct hs_qos_flow *flow)
{
	const struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	if (qos->config.plain || !flow->active || !current->open)
		return;
	int64_t end_ns = current->tag * qos->config.window_ns[0];
	flow->place_tag = current->tag;
	flow->place_after_ns = end_ns - qos->config.window_ns[0];
	flow->place_until_ns = end_ns < flow->close_at_ns ? end_ns : flow->close_at_ns - 1;
}

static inline bool same_rule(const struct hs_qos_flow *flow, const struct hs_qos_key *key)
{
	return flow->generation == key->generation && flow->sink_id == key->sink_node_id;
}

static inline bool place(struct hs_qos_flow *flow, const struct hs_qos_key *key,
		const struct hs_report *report)
{
	return report->sink_ts_ns > flow->place_after_ns &&
	       report->sink_ts_ns <= flow->place_until_ns && same_rule(flow, key) &&
	       hs_qos_ring_place(&flow->ring, report, flow->place_tag);
}

static void forbid_placing(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	flow->place_after_ns = flow->place_until_ns = 0;
	settle(qos, flow);
}

// ---- closing windows ----

static void fill_clock(const struct hs_qos *qos, struct hs_qos_window *window, bool stepped)
{
	bool doubtful = stepped || (window->flags & HS_QOS_NEGATIVE_DELAY);
	window->clock.known = qos->clock.known || doubtful;
	window->clock.synchronised = qos->clock.synchronised && qos->clock.known && !doubtful;
	window->clock.error_ns = qos->clock.known ? qos->clock.error_ns : 0;
}

static void hand_out(struct hs_qos *qos, const struct hs_qos_window *window)
{
	qos->counters.windows++;
	if (qos->config.on_window)
		qos->config.on_window(qos->config.user, window);
}

// What has come since the windows ended that close now; NULL: nothing.
static const struct hs_qos_sum *sum_since(const struct hs_qos_flow *flow, int64_t end_tag)
{
	const struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	return current->open && current->tag > end_tag ? current : NULL;
}

static void build_tier(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		int tier, int64_t end_tag, const struct hs_report *path_of)
{
	struct hs_qos_slot *slot = &flow->latest[tier];
	int64_t end_ns = end_tag * qos->config.window_ns[0];
	if (hs_qos_build(flow, sum, sum_since(flow, end_tag), tier, &qos->columns, path_of,
			    end_ns - qos->config.window_ns[tier], end_ns, slot)) {
		qos->counters.out_of_memory++;
		return;
	}
	fill_clock(qos, &slot->window, sum->clock_stepped);
	hand_out(qos, &slot->window);
}

// Rule 9.
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

// The delays of a shortest window go on into the histograms of the next longer one.
static void pass_delays(struct hs_qos *qos, struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	struct hs_qos_sum *into = &flow->sums[HS_QOS_TIER];
	if (sum->folded)
		return; // hs_qos_sum_merge takes them
	for (uint16_t i = 0; i < flow->n_links && i < qos->columns.capacity; i++)
		hs_qos_sum_add_delays(flow, into, i,
				qos->columns.values + i * (size_t)HS_QOS_RING_MAX,
				qos->columns.counts[i]);
}

static void forget_unfolded(struct hs_qos_flow *flow, int64_t open_after)
{
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring);
	if (flow->unfolded < oldest)
		flow->unfolded = oldest;
	while (flow->unfolded < flow->ring.next &&
			hs_qos_ring_tag(&flow->ring, flow->unfolded) <= open_after)
		flow->unfolded++;
}

static void close_shortest(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	int64_t tag = sum->tag;
	bool behind = sum == &flow->sums[HS_QOS_CLOSING] && flow->has_closing_edge;
	if (sum->folded || hs_qos_sum_needs_hist(flow, sum))
		hs_qos_flow_fold(flow);
	hs_qos_columns_collect(&qos->columns, flow, tag - 1, tag, sum->reports);
	hs_qos_drop_uncommon(flow, sum);
	hs_qos_judge_rules(flow, sum);
	build_tier(qos, flow, sum, 0, tag, behind ? &flow->closing_edge : &flow->edge);
	pass_delays(qos, flow, sum);
	hs_qos_sum_merge(flow, &flow->sums[HS_QOS_TIER], sum);
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
	hs_qos_columns_collect(
			&qos->columns, flow, end_tag - qos->ratio[tier], end_tag, sum->reports);
	build_tier(qos, flow, sum, tier, end_tag, &flow->edge);
	hs_qos_sum_merge(flow, sum + 1, sum);
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
	for (unsigned i = 0; i < HS_QOS_RUN; i++)
		if (flow->sums[i].open)
			return true;
	return false;
}

// Rule 9: of a flow that fell silent nothing is shown, however long ago its last window ended.
static void fall_silent(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		flow->latest[i].filled = false;
	if (!has_open(flow))
		deactivate(qos, flow);
}

// Closes the windows that end where the flow's next shortest window does.
static void close_next(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	forbid_placing(qos, flow);
	int64_t tag = flow->close_tag;
	struct hs_qos_sum *sum = sum_to_close(flow);
	if (sum && sum->reports) {
		close_shortest(qos, flow, sum);
	} else { // open without a report: there was no memory for it
		if (sum)
			hs_qos_sum_clear(flow, sum);
		repeat_stale(qos, flow, 0, tag);
	}
	for (int tier = 1; tier < HS_QOS_WINDOWS; tier++)
		if (tag % qos->ratio[tier] == 0)
			close_longer(qos, flow, tier, tag);
	set_close(qos, flow, tag + 1);
	if (tag * qos->config.window_ns[0] - flow->newest_ts_ns > qos->config.stale_ns)
		fall_silent(qos, flow);
}

void hs_qos_advance(struct hs_qos *qos, int64_t now_ns)
{
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
		while (flow->active && flow->close_at_ns <= now_ns)
			close_next(qos, flow);
		if (flow->active && flow->close_at_ns < qos->round_next_ns)
			qos->round_next_ns = flow->close_at_ns;
	}
	if (!qos->cursor)
		qos->next_ns = qos->round_next_ns;
}

int64_t hs_qos_next_ns(const struct hs_qos *qos)
{
	return qos->next_ns;
}

// Hands out whatever is open, ended or not.
static void flush_flow(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	forbid_placing(qos, flow);
	while (flow->sums[HS_QOS_CURRENT].open || flow->sums[HS_QOS_CLOSING].open)
		close_next(qos, flow);
	int64_t last = flow->close_tag - 1;
	for (int tier = 1; tier < HS_QOS_WINDOWS; tier++) {
		int64_t ratio = qos->ratio[tier];
		if (flow->sums[HS_QOS_TIER + tier - 1].open)
			close_longer(qos, flow, tier, (last + ratio - 1) / ratio * ratio);
	}
}

void hs_qos_flush(struct hs_qos *qos)
{
	struct hs_qos_flow *next;
	for (struct hs_qos_flow *flow = qos->active; flow; flow = next) {
		next = flow->next;
		flush_flow(qos, flow);
	}
}

// ---- reports ----

static int64_t tag_of(const struct hs_qos *qos, int64_t ts_ns)
{
	int64_t length = qos->config.window_ns[0];
	return ts_ns <= 0 ? 0 : (ts_ns + length - 1) / length;
}

// The sum that a report of this time goes into; closes and opens windows on the way.
static enum hs_qos_sum_id enter(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t ts_ns)
{
	struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	struct hs_qos_sum *closing = &flow->sums[HS_QOS_CLOSING];
	int64_t length = qos->config.window_ns[0];
	int64_t end_ns = current->tag * length;
	if (current->open && ts_ns <= end_ns && ts_ns > end_ns - length &&
			ts_ns < flow->close_at_ns)
		return HS_QOS_CURRENT;
	while (flow->active && ts_ns >= flow->close_at_ns)
		close_next(qos, flow);
	int64_t tag = tag_of(qos, ts_ns);
	if (!flow->active)
		activate(qos, flow, tag > flow->close_tag ? tag : flow->close_tag);
	if (tag < flow->close_tag)
		tag = flow->close_tag;
	if (!current->open) {
		current->open = true;
		current->tag = tag;
	}
	if (tag < current->tag)
		return closing->open ? HS_QOS_CLOSING : HS_QOS_CURRENT;
	if (tag > current->tag) {
		while (closing->open)
			close_next(qos, flow);
		hs_qos_flow_rotate(flow, tag);
	}
	return HS_QOS_CURRENT;
}

static int create_flow(struct hs_qos *qos, struct entry *entry, const struct hs_qos_key *key)
{
	if (qos->counters.flows >= qos->config.max_flows) {
		qos->counters.unmonitored++;
		return -ENOSPC;
	}
	struct hs_qos_flow *flow = malloc(sizeof(*flow));
	if (!flow) {
		qos->counters.out_of_memory++;
		return -ENOMEM;
	}
	hs_qos_flow_init(flow, key, &qos->config, &qos->step);
	*entry = (struct entry){key->ns_id, flow};
	qos->counters.flows++;
	return 0;
}

static void destroy_flow(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	qos->counters.epochs += flow->epochs;
	qos->counters.late_reports += flow->late_reports;
	deactivate(qos, flow);
	hs_qos_flow_fini(flow);
	free(flow);
	qos->counters.flows--;
}

static void forget_flow(struct hs_qos *qos, struct entry *entry)
{
	destroy_flow(qos, entry->flow);
	remove_entry(qos, entry);
}

static void renew_flow(struct hs_qos *qos, struct hs_qos_flow *flow, const struct hs_qos_key *key)
{
	uint64_t epochs = flow->epochs, late = flow->late_reports;
	flush_flow(qos, flow);
	deactivate(qos, flow);
	hs_qos_flow_fini(flow);
	hs_qos_flow_init(flow, key, &qos->config, &qos->step);
	flow->epochs = epochs + 1;
	flow->late_reports = late;
}

int hs_qos_report(struct hs_qos *qos, const struct hs_qos_key *key, const struct hs_report *report)
{
	struct entry *entry = find_entry(qos, key->ns_id);
	bool created = !entry->flow;
	if (report->sink_ts_ns > LAST_NS)
		return -EINVAL;
	if (created) {
		int rc = create_flow(qos, entry, key);
		if (rc)
			return rc;
	}
	struct hs_qos_flow *flow = entry->flow;
	if (place(flow, key, report)) {
		qos->counters.reports++;
		if (flow->ring.ahead == HS_QOS_RING_AHEAD)
			settle(qos, flow);
		return 0;
	}
	settle(qos, flow);
	if (!same_rule(flow, key))
		renew_flow(qos, flow, key);
	int rc = hs_qos_flow_absorb(flow, report, enter(qos, flow, report->sink_ts_ns));
	if (rc) {
		qos->counters.out_of_memory += rc == -ENOMEM;
		if (created)
			forget_flow(qos, entry);
		return rc;
	}
	qos->counters.reports++;
	allow_placing(qos, flow);
	return 0;
}

void hs_qos_expect(const struct hs_qos *qos, uint32_t ns_id)
{
	const char *flow = (const char *)find_entry(qos, ns_id)->flow;
	for (size_t i = 0; flow && i < offsetof(struct hs_qos_flow, app_id); i += 64)
		__builtin_prefetch(flow + i, 1);
}

void hs_qos_expect_next(const struct hs_qos *qos, uint32_t ns_id)
{
	const struct hs_qos_flow *flow = find_entry(qos, ns_id)->flow;
	if (flow)
		hs_qos_ring_expect(&flow->ring);
}

// ---- questions ----

static int tier_of(const struct hs_qos *qos, int64_t window_ns)
{
	for (int i = 0; i < HS_QOS_WINDOWS; i++)
		if (qos->config.window_ns[i] == window_ns)
			return i;
	return -1;
}

static int build_run(struct hs_qos *qos, struct hs_qos_flow *flow, struct hs_qos_sum *run)
{
	// Oldest first, so that the span comes out right.
	static const uint8_t parts[] = {
			HS_QOS_RUN, HS_QOS_TIER + 1, HS_QOS_TIER, HS_QOS_CLOSING, HS_QOS_CURRENT};
	hs_qos_flow_fold(flow);
	for (unsigned i = 0; i < sizeof(parts); i++)
		hs_qos_sum_merge(flow, run, &flow->sums[parts[i]]);
	hs_qos_columns_collect(&qos->columns, flow, -1, INT64_MAX, run->reports);
	return hs_qos_build(flow, run, NULL, -1, &qos->columns, &flow->edge, run->first_ns,
			run->last_ns, &qos->answer);
}

static const struct hs_qos_window *answer_run(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	struct hs_qos_sum run = {0};
	if (!flow->ring.next)
		return NULL;
	run.links = calloc(flow->n_links, sizeof(*run.links));
	if (!run.links)
		return NULL;
	int rc = build_run(qos, flow, &run);
	for (unsigned i = 0; i < flow->n_links; i++)
		hs_qos_hist_fini(&run.links[i].hist);
	free(run.links);
	if (rc)
		return NULL;
	qos->answer.window.run = true;
	fill_clock(qos, &qos->answer.window, run.clock_stepped);
	return &qos->answer.window;
}

const struct hs_qos_window *hs_qos_latest(struct hs_qos *qos, uint32_t ns_id, int64_t window_ns)
{
	struct hs_qos_flow *flow = find_entry(qos, ns_id)->flow;
	if (!flow)
		return NULL;
	settle(qos, flow);
	if (!window_ns)
		return answer_run(qos, flow);
	int tier = tier_of(qos, window_ns);
	if (tier < 0 || !flow->latest[tier].filled)
		return NULL;
	return &flow->latest[tier].window;
}

// Runs the reports of the ring once more, through a flow of its own.
static int replay(struct hs_qos *qos, const struct hs_qos_flow *flow, struct hs_qos_flow *again,
		int64_t start_ns, int64_t end_ns)
{
	struct hs_qos_key key = {flow->ns_id, flow->app_id, flow->generation, flow->sink_id};
	hs_qos_flow_init(again, &key, &qos->config, &qos->step);
	again->sums[HS_QOS_CLOSING].open = again->sums[HS_QOS_CURRENT].open = true;
	again->sums[HS_QOS_CURRENT].tag = 1;
	struct hs_report report;
	for (uint64_t i = hs_qos_ring_oldest(&flow->ring); i < flow->ring.next; i++) {
		hs_qos_ring_get(&flow->ring, i, &report);
		if (report.sink_ts_ns > end_ns)
			continue;
		bool before = report.sink_ts_ns <= start_ns;
		if (hs_qos_flow_absorb(again, &report, before ? HS_QOS_CLOSING : HS_QOS_CURRENT))
			return -ENOMEM;
	}
	return again->sums[HS_QOS_CURRENT].reports ? 0 : -ENODATA;
}

const struct hs_qos_window *hs_qos_slide(
		struct hs_qos *qos, uint32_t ns_id, int64_t start_ns, int64_t end_ns)
{
	struct hs_qos_flow *flow = find_entry(qos, ns_id)->flow;
	struct hs_qos_flow *again = flow && start_ns < end_ns ? malloc(sizeof(*again)) : NULL;
	if (!again)
		return NULL;
	settle(qos, flow);
	const struct hs_qos_window *window = NULL;
	struct hs_qos_sum *sum = &again->sums[HS_QOS_CURRENT];
	if (!replay(qos, flow, again, start_ns, end_ns)) {
		hs_qos_flow_fold(again);
		hs_qos_drop_uncommon(again, sum);
		sum->flags |= flow->rules_differ ? HS_QOS_RULES_DIFFER : 0;
		hs_qos_columns_collect(&qos->columns, again, 0, 1, sum->reports);
		if (!hs_qos_build(again, sum, NULL, -1, &qos->columns, &again->edge, start_ns,
				    end_ns, &qos->answer)) {
			fill_clock(qos, &qos->answer.window, sum->clock_stepped);
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
	struct hs_qos_flow *flow = find_entry(qos, ns_id)->flow;
	if (!flow)
		return 0;
	settle(qos, flow);
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

// ---- the monitor ----

static int apply_defaults(struct hs_qos_config *config)
{
	static const int64_t lengths[HS_QOS_WINDOWS] = {SECOND, 10 * SECOND, 60 * SECOND};
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++) {
		int64_t *length = &config->window_ns[i];
		if (!*length)
			*length = lengths[i];
		if (*length < 0 || (i && (*length <= length[-1] || *length % length[-1])))
			return -EINVAL;
	}
	if (!config->lateness_ns)
		config->lateness_ns = SECOND / 10;
	if (!config->stale_ns)
		config->stale_ns = 60 * SECOND;
	if (!config->slack_packets)
		config->slack_packets = 4096;
	if (config->slack_packets > MAX_SLACK)
		config->slack_packets = MAX_SLACK;
	return 0;
}

int hs_qos_create(const struct hs_qos_config *config, struct hs_qos **out)
{
	struct hs_qos *qos = calloc(1, sizeof(*qos));
	if (!qos)
		return -ENOMEM;
	int rc = -EINVAL;
	qos->config = *config;
	if (apply_defaults(&qos->config))
		goto free_qos;
	uint32_t slots = 2;
	while (slots < 2ull * config->max_flows && slots < 1u << 31)
		slots *= 2;
	rc = -ENOMEM;
	qos->table = calloc(slots, sizeof(*qos->table));
	if (!qos->table)
		goto free_qos;
	qos->table_mask = slots - 1;
	qos->next_ns = qos->round_next_ns = INT64_MAX;
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		qos->ratio[i] = qos->config.window_ns[i] / qos->config.window_ns[0];
	*out = qos;
	return 0;

free_qos:
	free(qos);
	return rc;
}

void hs_qos_destroy(struct hs_qos *qos)
{
	if (!qos)
		return;
	for (uint32_t i = 0; i <= qos->table_mask; i++)
		if (qos->table[i].flow)
			destroy_flow(qos, qos->table[i].flow);
	hs_qos_columns_fini(&qos->columns);
	hs_qos_slot_fini(&qos->answer);
	free(qos->table);
	free(qos);
}

int hs_qos_remove(struct hs_qos *qos, uint32_t ns_id)
{
	struct entry *entry = find_entry(qos, ns_id);
	if (!entry->flow)
		return -ENOENT;
	flush_flow(qos, entry->flow);
	forget_flow(qos, entry);
	return 0;
}

void hs_qos_set_clock(struct hs_qos *qos, const struct hs_qos_clock *clock)
{
	if (clock->steps != qos->clock.steps && qos->clock.known)
		for (struct hs_qos_flow *flow = qos->active; flow; flow = flow->next)
			for (unsigned i = 0; i < HS_QOS_RUN; i++)
				flow->sums[i].clock_stepped |= flow->sums[i].open;
	qos->clock = *clock;
}

void hs_qos_counters(struct hs_qos *qos, struct hs_qos_counters *counters)
{
	for (uint32_t i = 0; i <= qos->table_mask; i++)
		if (qos->table[i].flow)
			settle(qos, qos->table[i].flow);
	*counters = qos->counters;
	for (uint32_t i = 0; i <= qos->table_mask; i++) {
		const struct hs_qos_flow *flow = qos->table[i].flow;
		if (!flow)
			continue;
		counters->epochs += flow->epochs;
		counters->late_reports += flow->late_reports;
		counters->bytes += hs_qos_flow_bytes(flow);
	}
}
