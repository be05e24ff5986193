// SPDX-License-Identifier: BSD-3-Clause
#include "qos_absorb.h"

#include "qos_clock_steps.h"
#include "qos_delays.h"
#include "qos_entries.h"
#include "qos_fast.h"
#include "qos_local.h"
#include "qos_order.h"
#include "qos_partial.h"
#include "qos_path.h"
#include "qos_reorder.h"
#include "qos_run.h"
#include "qos_step.h"
#include "qos_sum.h"

#include <errno.h>
#include <string.h>

#define FETCHED_LINKS	6
#define FETCHED_REPORTS 6
#define PACE_NS		100000000
#define WORTH		16 // placed reports: with fewer, those before are not folded yet

static void add_step(struct hs_qos_sum *sum, const struct hs_qos_plan *plan,
		const struct hs_qos_step *step, int sign)
{
	hs_qos_sum_add_delta(&sum->links[0], &step->e2e, sign);
	if (step->flags & HS_QOS_STEP_TRANSIT_RESET)
		return;
	for (unsigned i = 0; i <= plan->chain.n; i++)
		if (plan->chain.joined[i])
			hs_qos_sum_add_delta(
					&sum->links[plan->chain_links[i]], &step->links[i], sign);
}

// ---- edges ----

static void copy_report(struct hs_report *to, const struct hs_report *from)
{
	size_t used = offsetof(struct hs_decoded, hops) +
		      from->telemetry.n_hops * sizeof(from->telemetry.hops[0]);
	memcpy(&to->telemetry, &from->telemetry, used);
	to->sink_ts_ns = from->sink_ts_ns;
	to->sink_rx_packets = from->sink_rx_packets;
	to->sink_rx_bytes = from->sink_rx_bytes;
}

static void set_edge(struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_plan *plan)
{
	copy_report(&flow->edge, report);
	flow->has_edge = true;
	flow->edge_order = plan->order;
	flow->edge_number = flow->ring.next - 1;
	flow->edges++;
	if (plan->fast || plan->same_path)
		return;
	flow->n_path_links = (uint16_t)plan->n_path_links;
	memcpy(flow->path_links, plan->path_links,
			plan->n_path_links * sizeof(plan->path_links[0]));
}

static void set_closing_edge(struct hs_qos_flow *flow)
{
	flow->has_closing_edge = flow->closing_moves = flow->has_edge;
	if (!flow->has_edge)
		return;
	copy_report(&flow->closing_edge, &flow->edge);
	flow->closing_order = flow->edge_order;
}

void hs_qos_absorb_open(struct hs_qos_flow *flow, int64_t tag)
{
	flow->sums[HS_QOS_CURRENT].open = true;
	flow->sums[HS_QOS_CURRENT].tag = tag;
	set_closing_edge(flow);
}

void hs_qos_absorb_rotate(struct hs_qos_flow *flow, int64_t tag)
{
	struct hs_qos_sum closing = flow->sums[HS_QOS_CLOSING];
	hs_qos_sum_keep_smoothed(flow, &flow->sums[HS_QOS_CURRENT]);
	flow->sums[HS_QOS_CLOSING] = flow->sums[HS_QOS_CURRENT];
	flow->sums[HS_QOS_CURRENT] = closing;
	flow->sums[HS_QOS_CURRENT].open = true;
	flow->sums[HS_QOS_CURRENT].tag = tag;
	// When a window ends that has histograms, all reports move into histograms.
	flow->sums[HS_QOS_CURRENT].folded = flow->sums[HS_QOS_CLOSING].folded;
	set_closing_edge(flow);
}

// Marks counts that show a restart or only reordering. Drops the carry: a surplus that is not real
// would hide a later loss.
static void doubt_counts(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	sum->flags |= HS_QOS_COUNTER_AMBIGUOUS;
	for (unsigned i = 0; i < flow->n_links; i++)
		hs_qos_sum_end_carry(flow, i);
}

static void note_step_flags(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint32_t flags)
{
	if (flags & HS_QOS_STEP_AMBIGUOUS)
		sum->flags |= HS_QOS_COUNTER_AMBIGUOUS;
	if (!(flags & HS_QOS_STEP_TRANSIT_RESET)) {
		flow->resets = 0;
		return;
	}
	// No node restarts three times in a row: the node counts other packets.
	if (++flow->resets >= 3) {
		sum->flags |= HS_QOS_RULES_DIFFER;
		return;
	}
	sum->flags |= HS_QOS_EPOCH;
	flow->epochs++;
	for (unsigned i = 1; i < flow->n_links; i++)
		hs_qos_sum_end_carry(flow, i);
}

static const struct hs_qos_chain ends_alone; // source and sink only: no link gets a loss

// Returns whether a report of this sum belongs to the closing window, and the edge is still the
// closing window's. Then the step to the report belongs to the closing window.
static bool moves_closing(const struct hs_qos_flow *flow, enum hs_qos_sum_id id)
{
	return id == HS_QOS_CLOSING && flow->edge_order == flow->closing_order;
}

// Returns the sum that the step to a report goes into. `id` is the sum of the report itself.
static struct hs_qos_sum *sum_of_step(struct hs_qos_flow *flow, enum hs_qos_sum_id id)
{
	return &flow->sums[moves_closing(flow, id) ? HS_QOS_CLOSING : HS_QOS_CURRENT];
}

// Computes the step to a newer report, into flow->last_step. The step's counts may show that the
// report is the first of a new epoch. This is known before the report's delays are paired with
// delays of the reports before.
static void take_step(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan)
{
	struct hs_qos_step *step = flow->last_step;
	hs_qos_reorder_step(flow, &flow->edge, report, &plan->chain, step);
	step->flags |= plan->doubtful ? HS_QOS_STEP_DOUBTFUL : 0;
	if (!(step->flags & HS_QOS_STEP_SOURCE_RESET))
		return;
	plan->relation = HS_QOS_NEW_EPOCH;
	plan->order = hs_qos_plus(flow->edge_order, 1);
}

// Begins an epoch (rule 10): nothing is carried over. The gap is in the window of the step, which
// may be a later window than the report's.
static void begin_epoch(struct hs_qos_flow *flow, enum hs_qos_sum_id id,
		const struct hs_report *report, const struct hs_qos_plan *plan)
{
	struct hs_qos_sum *sum = sum_of_step(flow, id);
	sum->path_changed |= !plan->same_path;
	flow->sums[id].flags |= HS_QOS_EPOCH;
	flow->epochs++;
	hs_qos_order_restart(flow, report);
	hs_qos_order_forget(flow);
	flow->resets = 0;
	flow->missing = flow->missing_before = flow->missing_sent = 0;
	flow->pace_packets = flow->pace_ns = 0;
	flow->multipath = false;
	flow->closing_moves = false;
	flow->partial = false;
	memset(flow->paths, 0, sizeof(flow->paths));
	sum->flags |= HS_QOS_EPOCH;
	for (unsigned i = 0; i < flow->n_links; i++) {
		struct hs_qos_link *link = &flow->links[i];
		link->has_origin = link->has_ordered = link->has_arrived = false;
		hs_qos_sum_end_carry(flow, i);
	}
}

// Notes the highest packet rate of any tenth of a second, at the node that counted most. The rate
// limits how much a source may have sent that sends no count.
static void note_pace(struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_step *step)
{
	int64_t elapsed_ns = report->sink_ts_ns - flow->edge.sink_ts_ns;
	if (step->e2e.has & HS_QOS_HAS_LOSS || step->flags || elapsed_ns < 0)
		return;
	flow->pace_packets += step->most;
	flow->pace_ns += elapsed_ns;
	if (flow->pace_ns < PACE_NS)
		return;
	double rate = (double)flow->pace_packets * 1e9 / (double)flow->pace_ns;
	if (rate > (double)flow->limits.packets_per_s)
		flow->limits.packets_per_s = (uint64_t)rate;
	flow->pace_packets = flow->pace_ns = 0;
}

static void absorb_step(struct hs_qos_flow *flow, enum hs_qos_sum_id id,
		const struct hs_report *report, const struct hs_qos_plan *plan)
{
	struct hs_qos_sum *sum = sum_of_step(flow, id);
	struct hs_qos_step *step = flow->last_step;
	if (flow->stepped)
		hs_qos_clock_steps_cut(flow, report, &plan->chain, step);
	if (step->flags & HS_QOS_STEP_DOUBTFUL)
		doubt_counts(flow, sum);
	if (plan->partial) {
		hs_qos_sum_add_delta(&sum->links[0], &step->e2e, 1);
		hs_qos_partial_step(flow, sum, report, plan);
	} else {
		note_step_flags(flow, sum, step->flags);
		add_step(sum, plan, step, 1);
	}
	note_pace(flow, report, step);
	hs_qos_order_note_step(flow, &step->e2e);
	if (flow->multipath)
		sum->flags |= hs_qos_entries_flags(flow, report->sink_ts_ns);
	else if (!plan->same_path)
		sum->path_changed = true;
}

// Moves the edge between the closing and the current window to a late report. A report of the
// current window overtook this report, which is of the closing window.
static void move_closing_edge(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan)
{
	if (!flow->closing_moves || plan->order <= flow->closing_order || flow->multipath ||
			!plan->same_path ||
			!hs_qos_path_same(&report->telemetry, &flow->closing_edge.telemetry))
		return;
	struct hs_qos_step *step = flow->last_step;
	if (flow->partial) // the marks of the links do not move
		plan->chain = ends_alone;
	else
		hs_qos_path_chain_same(report, plan);
	hs_qos_step(&flow->closing_edge, report, &plan->chain, &flow->limits, step);
	if (step->flags)
		return;
	add_step(&flow->sums[HS_QOS_CLOSING], plan, step, 1);
	add_step(&flow->sums[HS_QOS_CURRENT], plan, step, -1);
	copy_report(&flow->closing_edge, report);
	flow->closing_order = plan->order;
}

// Does all that may fail, before the flow takes anything from the report. A placed report is in the
// ring already.
static int reserve(struct hs_qos_flow *flow, const struct hs_report *report, bool placed,
		struct hs_qos_plan *plan)
{
	uint32_t room = placed ? hs_qos_ring_room(&flow->ring)
			       : hs_qos_ring_room_for(&flow->ring, report);
	if (flow->ring.next - flow->unfolded >= room)
		hs_qos_delays_fold(flow);
	int rc = placed ? 0 : hs_qos_ring_reserve(&flow->ring, report);
	if (rc || plan->fast)
		return rc;
	if (hs_qos_path_plan(flow, report, plan) || hs_qos_path_reserve(flow, report, plan))
		return -ENOMEM;
	return hs_qos_partial_reserve(flow, report, plan->same_path);
}

static int make_plan(struct hs_qos_flow *flow, const struct hs_report *report, bool placed,
		struct hs_qos_plan *plan)
{
	int64_t ahead;
	plan->partial = plan->doubtful = false;
	plan->fast = hs_qos_fast_fits(flow, report);
	int rc = reserve(flow, report, placed, plan);
	if (rc)
		return rc;
	plan->relation = hs_qos_order_relate(flow, report, &ahead, &plan->doubtful);
	plan->order = hs_qos_plus(flow->edge_order, plan->relation == HS_QOS_NEW_EPOCH ? 1 : ahead);
	if (plan->relation != HS_QOS_NEWER || plan->fast)
		return 0;
	hs_qos_path_chain(flow, report, plan);
	hs_qos_partial_plan(flow, report, plan);
	return 0;
}

// Completes the plan of a common report that hs_qos_fast_absorb cannot take.
static void complete_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan)
{
	hs_qos_path_plan(flow, report, plan); // of the same path: it needs no memory
	hs_qos_path_chain_same(report, plan);
}

static void absorb_edge(struct hs_qos_flow *flow, enum hs_qos_sum_id id,
		const struct hs_report *report, const struct hs_qos_plan *plan)
{
	bool closing = moves_closing(flow, id);
	set_edge(flow, report, plan);
	if (!plan->same_path || plan->relation != HS_QOS_NEWER)
		flow->path_since = plan->order;
	if (closing)
		set_closing_edge(flow);
	hs_qos_order_newest(flow, plan->order, flow->ring.next - 1);
}

// Notes steps of clocks (rule 20). Runs before the delays and the step are added up.
static void note_clocks(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan,
		const struct hs_qos_delays *delays)
{
	if (plan->relation == HS_QOS_NEWER)
		hs_qos_clock_steps_note(flow, report);
	else
		flow->stepped = 0;
	if (flow->stepped)
		hs_qos_clock_steps_part(flow, sum, report, plan, delays);
	if (plan->relation == HS_QOS_FIRST || plan->relation == HS_QOS_NEW_EPOCH) {
		hs_qos_clock_steps_begin(flow, delays, sum->tag - (plan->relation == HS_QOS_FIRST));
		hs_qos_order_begin(flow, report);
	}
}

static void absorb_any(struct hs_qos_flow *flow, enum hs_qos_sum_id id,
		const struct hs_report *report, struct hs_qos_plan *plan)
{
	struct hs_qos_delays delays;
	struct hs_qos_sum *sum = &flow->sums[id];
	if (plan->relation == HS_QOS_NEWER)
		take_step(flow, report, plan);
	if (plan->relation == HS_QOS_NEW_EPOCH)
		begin_epoch(flow, id, report, plan);
	bool newest = plan->relation == HS_QOS_FIRST || plan->relation == HS_QOS_NEWER ||
		      plan->relation == HS_QOS_NEW_EPOCH;
	hs_qos_delays_collect(report, plan->path_links, &delays);
	note_clocks(flow, sum, report, plan, &delays);
	for (unsigned i = 0; i < delays.n; i++)
		hs_qos_sum_absorb_delay(&flow->links[delays.links[i]], sum,
				&sum->links[delays.links[i]], delays.ns[i], newest);
	for (unsigned i = 0; id == HS_QOS_CLOSING && i < delays.n; i++)
		hs_qos_sum_smooth_closing(&sum->links[delays.links[i]], delays.ns[i]);
	hs_qos_local_absorb(sum, report, plan->path_links);
	if (report->telemetry.nodes_missing)
		sum->flags |= HS_QOS_ENTRIES_MISSING;
	sum->partial |= flow->partial;
	hs_qos_partial_count(sum, report, plan->path_links);
	if (plan->relation == HS_QOS_NEWER)
		absorb_step(flow, id, report, plan);
	if (flow->multipath)
		hs_qos_entries_count(flow, report);
	if (newest) {
		absorb_edge(flow, id, report, plan);
		return;
	}
	flow->late_reports++;
	if (plan->relation == HS_QOS_LATE) {
		hs_qos_path_late(flow, sum, report, plan);
		hs_qos_order_late(flow, sum, plan, delays.n, delays.links, delays.ns);
		if (id == HS_QOS_CLOSING)
			move_closing_edge(flow, report, plan);
	}
}

static int absorb(struct hs_qos_flow *flow, const struct hs_report *report, enum hs_qos_sum_id id,
		bool placed)
{
	struct hs_qos_sum *sum = &flow->sums[id];
	struct hs_qos_plan plan;
	int rc = make_plan(flow, report, placed, &plan);
	if (rc)
		return rc;
	if (placed)
		hs_qos_ring_accept(&flow->ring, 1);
	else
		hs_qos_ring_push(&flow->ring, report, sum->tag);
	if (!plan.fast)
		flow->common_from = flow->ring.next;
	hs_qos_sum_count(flow, sum, report->sink_ts_ns);
	if (plan.fast) {
		if (plan.relation == HS_QOS_NEWER && id == HS_QOS_CURRENT && !plan.doubtful &&
				hs_qos_fast_absorb(flow, sum, report)) {
			set_edge(flow, report, &plan);
			hs_qos_order_newest(flow, plan.order, flow->ring.next - 1);
			return 0;
		}
		complete_plan(flow, report, &plan);
	}
	absorb_any(flow, id, report, &plan);
	return 0;
}

int hs_qos_absorb(struct hs_qos_flow *flow, const struct hs_report *report, enum hs_qos_sum_id id)
{
	return absorb(flow, report, id, false);
}

// A prefetch beyond the end of the links does no harm.
void hs_qos_absorb_expect(struct hs_qos_flow *flow)
{
	flow->expected = true;
	hs_qos_fetch(&flow->sums[HS_QOS_CURRENT], sizeof(flow->sums[0]));
	hs_qos_fetch(&flow->edge, 4 * HS_QOS_LINE);
	hs_qos_fetch(&flow->edge.sink_ts_ns, 1);
	hs_qos_fetch(&flow->edge_order, 1);
	hs_qos_fetch(&flow->seen_head, 1);
	hs_qos_fetch(&flow->unfolded, 1);
	hs_qos_fetch(flow->links, FETCHED_LINKS * sizeof(struct hs_qos_link));
	hs_qos_fetch(flow->sums[HS_QOS_CURRENT].links,
			FETCHED_LINKS * sizeof(struct hs_qos_link_sum));
	for (uint32_t i = 0; i < flow->ring.ahead && i < FETCHED_REPORTS; i++)
		hs_qos_fetch(hs_qos_ring_ahead(&flow->ring, i), flow->ring.slot_bytes);
}

// Returns how many of the placed reports are of the current window. Those of the next window, if
// any, come after them.
static uint32_t of_current(const struct hs_qos_flow *flow)
{
	const struct hs_qos_ring *ring = &flow->ring;
	int64_t tag = flow->sums[HS_QOS_CURRENT].tag;
	uint32_t low = 0, high = ring->ahead;
	if (!high || hs_qos_ring_ahead(ring, high - 1)->tag == tag)
		return high;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (hs_qos_ring_ahead(ring, middle)->tag == tag)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Prepares for n placed reports of a window whose delays are folded: those of a run are folded as
// they are added up, if all before are folded. Prefetches where these delays go: they are about
// those of the newest report.
static void prepare(struct hs_qos_flow *flow, uint32_t n)
{
	const struct hs_qos_sum *sum = &flow->sums[HS_QOS_CURRENT];
	if (!sum->folded)
		return;
	if (flow->unfolded != flow->ring.next && n >= WORTH)
		hs_qos_delays_fold(flow);
	hs_qos_hist_expect(&sum->links[0].hist, flow->links[0].ordered);
	for (unsigned i = 0; i < flow->n_path_links; i++) {
		uint16_t link = flow->path_links[i];
		hs_qos_hist_expect(&sum->links[link].hist, flow->links[link].ordered);
	}
}

// Adds up the placed reports of the current window.
static bool absorb_current(struct hs_qos_flow *flow)
{
	struct hs_report report;
	uint32_t n = of_current(flow), run;
	prepare(flow, n);
	for (; n; n -= run) {
		run = hs_qos_run_absorb(flow, &flow->sums[HS_QOS_CURRENT], n);
		if (run)
			continue;
		hs_qos_ring_get(&flow->ring, flow->ring.next, &report);
		if (absorb(flow, &report, HS_QOS_CURRENT, true))
			return false;
		run = 1;
	}
	return true;
}

// Begins the window of the first placed report.
static void begin_next(struct hs_qos_flow *flow)
{
	struct hs_report report;
	hs_qos_ring_get(&flow->ring, flow->ring.next, &report);
	hs_qos_clock_steps_note(flow, &report);
	hs_qos_absorb_rotate(flow, hs_qos_ring_window(&flow->ring, flow->ring.next));
}

bool hs_qos_absorb_ahead(struct hs_qos_flow *flow)
{
	if (flow->ring.ahead > 1 && !flow->expected)
		hs_qos_absorb_expect(flow);
	flow->expected = false;
	while (absorb_current(flow)) {
		if (!flow->ring.ahead)
			return true;
		begin_next(flow);
	}
	return false;
}

unsigned hs_qos_absorb_placed(struct hs_qos_flow *flow)
{
	unsigned lost = 0;
	for (; !hs_qos_absorb_ahead(flow); lost++)
		hs_qos_ring_refuse(&flow->ring);
	return lost;
}
