// SPDX-License-Identifier: BSD-3-Clause
// Applies reports to the tables: the flow, its hops, and their values of queues and links.
#include "collect_change.h"
#include "collect_fast_path.h"
#include "collect_hop.h"
#include "collect_run.h"
#include "collect_shared.h"

// ---- flows ----

// State while one report is applied.
struct walk {
	struct hs_collect_flow_entry *flow; // NULL: the report has no flow, or the flow is not kept
	uint32_t number;
	unsigned n_hops;
	bool is_new;
	bool moved; // another path
	bool tells; // there is a point of a hop
	bool has_latency;
	uint64_t latency;
};

static void add_flow(struct hs_collect *c, const struct hs_collect_view *view, uint32_t *number)
{
	*number = hs_collect_table_add(&c->flows, view->hash, c->second);
	if (*number == HS_COLLECT_NONE)
		return;
	struct hs_collect_flow_entry *flow = &c->flow[*number];
	memset(flow, 0, offsetof(struct hs_collect_flow_entry, near));
	flow->event_latency = 0;
	flow->lacking_at = 0;
	flow->key = view->key;
	flow->first_ns = flow->event_ns = flow->last_ns = c->now_ns;
}

static void see_flow(struct hs_collect *c, uint32_t number)
{
	struct hs_collect_flow_entry *flow = &c->flow[number];

	flow->reports++;
	if (!hs_collect_is_placed(c, flow->last_ns))
		hs_collect_table_touch(&c->flows, number, c->second);
	flow->last_ns = c->now_ns;
}

// Returns whether a flow keeps its path although a report lacks hops: if only large packets lack
// hops, the path is as before. It is not if all reports of ten seconds lack hops.
static bool keeps_path(const struct hs_collect *c, struct hs_collect_flow_entry *flow)
{
	if (flow->lacking_at + 1 != flow->reports)
		flow->lacking_ns = c->now_ns;
	bool keeps = (uint64_t)(c->now_ns - flow->lacking_ns) < HS_COLLECT_LACKING_NS;
	flow->lacking_at = keeps ? flow->reports : 0;
	return keeps;
}

// After ten seconds of reports that do not tell the path, the path is that of the last report that
// did, and lacks hops. What its hops told is old.
static void lose_path(struct hs_collect_flow_entry *flow)
{
	flow->whole_hops = flow->timed_hops = 0;
	flow->with_latency = 0;
	flow->has_latency = false;
}

// Reads the values of a hop of the stack, or behind the stack those of the reporter. `place` counts
// from the source.
static void read_place(const struct hs_collect_view *view, unsigned place,
		struct hs_collect_values *values)
{
	size_t newest = view->n_hops - 1u - place;

	if (place == view->n_hops)
		*values = view->own;
	else
		hs_collect_read_hop(view->dialect, view->layout,
				view->hops + newest * view->hop_bytes, values);
}

// Returns whether a report of a congested queue has the first hops of the flow's path only: a node
// in the middle of the path sent it.
static bool is_of_the_middle(const struct hs_collect *c, const struct hs_collect_view *view,
		const struct walk *walk, uint32_t number)
{
	const struct hs_collect_flow_entry *flow = &c->flow[number];
	struct hs_collect_values values;

	if (!view->own.q || !view->has_reporter || walk->n_hops >= flow->n_hops)
		return false;
	for (unsigned place = 0; place < walk->n_hops; place++) {
		read_place(view, place, &values);
		if (hs_collect_hop_node(hs_collect_hop_at(c, number, place)) != values.node_id)
			return false;
	}
	return true;
}

static void open_flow(struct hs_collect *c, const struct hs_collect_view *view, struct walk *walk)
{
	// The path is not known.
	bool is_cut = view->has_stack && (view->partial || (view->incomplete && !walk->n_hops));
	uint32_t number = view->flow;

	bool is_as_before = number == HS_COLLECT_NONE && view->added == c->flows.added;
	if (!is_as_before && !hs_collect_is_flow(c, number, &view->key))
		number = hs_collect_flow_number(c, &view->key, view->hash);
	walk->is_new = number == HS_COLLECT_NONE;
	if (walk->is_new && !is_cut)
		add_flow(c, view, &number);
	if (number == HS_COLLECT_NONE)
		return;
	see_flow(c, number);
	if (is_cut) {
		if (!hs_collect_lacks_hops(&c->flow[number]) && !keeps_path(c, &c->flow[number]))
			lose_path(&c->flow[number]);
		return;
	}
	bool is_lacking = view->incomplete && !hs_collect_lacks_hops(&c->flow[number]);
	if (!walk->is_new && (is_lacking || is_of_the_middle(c, view, walk, number)) &&
			keeps_path(c, &c->flow[number]))
		return;
	walk->flow = &c->flow[number];
	walk->number = number;
	walk->moved = walk->is_new || walk->flow->n_hops != walk->n_hops;
}

// ---- hops ----

static void add_hop_point(struct hs_collect *c, unsigned place, enum hs_collect_cause cause,
		const struct hs_collect_values *values, uint32_t before)
{
	hs_collect_add_point(c, &(struct hs_collect_point){.kind = HS_COLLECT_POINT_HOP,
						.cause = (uint8_t)cause,
						.has_value = true,
						.node_id = values->node_id,
						.id = place,
						.value = values->latency,
						.before = before,
						.device_ns = values->device_ns});
}

static void note_latency(struct hs_collect *c, struct walk *walk, unsigned place, bool is_other,
		const struct hs_collect_values *values)
{
	struct hs_collect_hop_entry *hop = hs_collect_hop_at(c, walk->number, place);
	uint64_t bit = UINT64_C(1) << place;
	bool known = walk->flow->with_latency & bit;
	uint32_t before = *hs_collect_hop_event_at(c, walk->number, place);
	enum hs_collect_cause cause = HS_COLLECT_CHANGE;

	walk->has_latency = true;
	walk->flow->with_latency |= bit;
	hop->latency = values->latency;
	if (!known)
		cause = is_other && !walk->is_new ? HS_COLLECT_PATH : HS_COLLECT_NEW;
	if (known && !hs_collect_is_change(c, HS_COLLECT_HOP_LATENCY, before, values->latency)) {
		c->counters.suppressed[HS_COLLECT_POINT_HOP]++;
		return;
	}
	hs_collect_set_hop_event(c, walk->number, place);
	walk->tells = true;
	add_hop_point(c, place, cause, values, known ? before : 0);
}

// Applies the values of a hop. `place` counts from the source.
static void note_hop(struct hs_collect *c, struct walk *walk, unsigned place,
		const struct hs_collect_values *values)
{
	struct hs_collect_hint *at = &c->strangers[place];

	if (walk->flow) {
		struct hs_collect_hop_entry *hop = hs_collect_hop_at(c, walk->number, place);
		at = &hop->at;
		bool is_other = place >= walk->flow->n_hops ||
				hop->node != htobe32(values->node_id);
		if (is_other) {
			walk->moved = true;
			walk->flow->with_latency &= ~(UINT64_C(1) << place);
			*hop = (struct hs_collect_hop_entry){.node = htobe32(values->node_id),
					.at = {c->queues.capacity, c->links.capacity}};
		}
		if (values->has & HS_COLLECT_HAS_LATENCY)
			note_latency(c, walk, place, is_other, values);
	}
	if (values->node_id == UINT32_MAX)
		return;
	hs_collect_note_queue(c, values, &at->queue);
	hs_collect_note_link(c, values, &at->link);
}

// Adds the reporter's own values that its hop of the stack does not have.
static void fill_in(const struct hs_collect_values *own, struct hs_collect_values *values)
{
	uint8_t lacks = own->has & (uint8_t)~values->has;

	if (lacks & HS_COLLECT_HAS_LATENCY)
		values->latency = own->latency;
	if (lacks & HS_COLLECT_HAS_OCCUPANCY) {
		values->queue_id = own->queue_id;
		values->occupancy = own->occupancy;
	} else {
		lacks &= (uint8_t)~HS_COLLECT_HAS_OWN_QUEUE;
	}
	if (lacks & HS_COLLECT_HAS_PORT)
		values->port = own->port;
	if (lacks & HS_COLLECT_HAS_UTILISATION)
		values->utilisation = own->utilisation;
	values->has |= lacks & (uint8_t)~HS_COLLECT_HAS_Q;
	if (!values->device_ns)
		values->device_ns = own->device_ns;
	values->q = own->q;
	values->has |= hs_collect_tells_q(values);
}

static void note_hops(struct hs_collect *c, const struct hs_collect_view *view, struct walk *walk)
{
	struct hs_collect_values values;

	for (unsigned place = 0; place < walk->n_hops; place++) {
		bool is_newest = place + 1u == view->n_hops;
		read_place(view, place, &values);
		if (is_newest && view->has_reporter && values.node_id == view->own.node_id)
			fill_in(&view->own, &values);
		note_hop(c, walk, place, &values);
	}
}

// ---- the report ----

// Returns whether the reporter is a separate hop: the report has no stack, or it has values of a
// node that is not the newest on the stack.
static bool is_own_hop(const struct hs_collect_view *view)
{
	struct hs_collect_values newest;

	if (!view->has_reporter || !view->has_stack || !view->n_hops)
		return view->has_reporter && (!view->has_stack || view->has_own);
	if (!view->has_own)
		return false;
	hs_collect_read_hop(view->dialect, view->layout, view->hops, &newest);
	return newest.node_id != view->own.node_id;
}

static enum hs_collect_cause flow_cause(const struct hs_collect *c, const struct walk *walk)
{
	const struct hs_collect_flow_entry *flow = walk->flow;

	if (walk->is_new)
		return HS_COLLECT_NEW;
	if (walk->moved)
		return HS_COLLECT_PATH;
	if (walk->has_latency && !flow->has_latency)
		return HS_COLLECT_NEW; // its first latency
	if (walk->has_latency && hs_collect_is_change(c, HS_COLLECT_FLOW_LATENCY,
						 flow->event_latency, walk->latency))
		return HS_COLLECT_CHANGE;
	if (hs_collect_is_gap(c, flow))
		return HS_COLLECT_GAP;
	return HS_COLLECT_CAUSES;
}

// Returns the sum of the hops' last latencies, which some nodes may have told in earlier reports.
static uint64_t sum_latencies(const struct hs_collect *c, uint32_t number)
{
	const struct hs_collect_flow_entry *flow = &c->flow[number];
	uint64_t sum = 0;

	for (unsigned i = 0; i < flow->n_hops; i++)
		if (flow->with_latency >> i & 1)
			sum += hs_collect_hop_at(c, number, i)->latency;
	return sum;
}

static bool are_all_timed(const struct hs_collect_flow_entry *flow)
{
	return flow->n_hops && flow->with_latency == UINT64_MAX >> (64 - flow->n_hops);
}

// Returns whether the flow is an event. Then its point is points[0].
static bool close_flow(struct hs_collect *c, const struct hs_collect_view *view, struct walk *walk)
{
	struct hs_collect_flow_entry *flow = walk->flow;
	uint64_t before = flow->event_latency;

	walk->moved |= hs_collect_lacks_hops(flow) != view->incomplete;
	flow->n_hops = (uint8_t)walk->n_hops;
	flow->whole_hops = view->incomplete ? 0 : flow->n_hops;
	flow->with_latency &= walk->n_hops ? UINT64_MAX >> (64 - walk->n_hops) : 0;
	walk->has_latency &= !view->incomplete; // the sum lacks hops
	if (walk->has_latency)
		walk->latency = sum_latencies(c, walk->number);
	enum hs_collect_cause cause = flow_cause(c, walk);
	flow->has_latency = walk->has_latency || (flow->has_latency && !walk->moved);
	flow->timed_hops = flow->has_latency && are_all_timed(flow) ? flow->n_hops : 0;
	if (walk->has_latency)
		flow->latency = walk->latency;
	if (cause == HS_COLLECT_CAUSES) {
		c->counters.suppressed[HS_COLLECT_POINT_FLOW]++;
		flow->event_ns = walk->tells ? c->now_ns : flow->event_ns;
		return false;
	}
	hs_collect_set_flow_event(c, flow);
	c->points[0] = (struct hs_collect_point){.kind = HS_COLLECT_POINT_FLOW,
			.cause = (uint8_t)cause,
			.has_value = flow->has_latency,
			.node_id = walk->n_hops ? hs_collect_hop_node(hs_collect_hop_at(c,
								  walk->number, walk->n_hops - 1))
						: UINT32_MAX,
			.value = flow->latency,
			.before = cause == HS_COLLECT_CHANGE ? before : 0,
			.device_ns = view->device_ns};
	return true;
}

static void apply_whole(struct hs_collect *c, const struct hs_collect_view *view)
{
	struct walk walk = {.n_hops = view->n_hops};
	bool is_event = false;

	c->changes++;
	walk.n_hops += is_own_hop(view);
	c->n_points = 1; // the flow's point is first
	if (view->has_flow)
		open_flow(c, view, &walk);
	if (!walk.flow && hs_collect_fast_path_strangers(c, view))
		return;
	note_hops(c, view, &walk);
	if (view->dropped)
		hs_collect_note_drop(c, view->has_reporter ? view->own.node_id : UINT32_MAX,
				view->reason, view->device_ns);
	if (walk.flow)
		is_event = close_flow(c, view, &walk);
	const struct hs_collect_point *points = c->points + !is_event;
	unsigned n = c->n_points - !is_event;
	if (!n)
		return;
	bool tells = walk.tells || is_event;
	if (tells)
		hs_collect_copy_flow(c, walk.number, &c->told);
	c->counters.event_reports++;
	hs_collect_emit_points(c, points, n, tells ? &c->told : NULL, c->now_ns);
}

// Takes a report whose flow gets no entry, if all its values are of queues and links that are known
// and have no event. Returns whether it was taken.
static inline bool pass_stranger(struct hs_collect *c, const struct hs_collect_view *view)
{
	bool is_cut = view->partial; // has no flow to add

	if (view->flow != HS_COLLECT_NONE || view->added != c->flows.added || !view->has_flow ||
			(!is_cut && hs_collect_table_has_room(&c->flows, c->second)) ||
			!hs_collect_fast_path_strangers(c, view))
		return false;
	*c->flows.refused += !is_cut;
	return true;
}

// Returns whether a report has nothing to apply: no flow, no hops, no value of the reporter, and no
// drop.
static inline bool is_empty(const struct hs_collect *c, const struct hs_collect_view *view)
{
	return !c->general && !view->has_flow && !view->has_stack && !view->own.has &&
	       !view->dropped;
}

static inline void apply(struct hs_collect *c, const struct hs_collect_view *view)
{
	if (!is_empty(c, view) && !pass_stranger(c, view))
		apply_whole(c, view);
}

// Compilers drop the call of a function that only prefetches, so these functions must be inlined.
#define AHEAD 4 // reports between two steps; each step reads what the step before prefetched

// Prefetches the hops of a report. More reports at once would exceed the reads that a core can have
// outstanding.
HS_COLLECT_INLINE void prefetch_hops(const struct hs_collect_view *view)
{
	if (!view->n_hops) // `hops` is NULL then
		return;
	const uint8_t *at = view->hops, *end = at + (size_t)view->n_hops * view->hop_bytes;

	do {
		__builtin_prefetch(at);
		__builtin_prefetch(at + 64);
		at += 128;
	} while (at < end);
	__builtin_prefetch(end - 1);
}

// Returns whether a map surely has no value of this hash. Hashes of unknown keys come in no order,
// so the processor would guess wrong where a loop over the places ends.
HS_COLLECT_INLINE bool is_absent(const struct hs_u32_map *map, uint32_t hash)
{
	uint32_t home = hs_u32_map_home(map, hash);
	hs_collect_words two[2];
	uint64_t halves[4];

	if (map->places[home].key == hash || home + 4 > map->mask)
		return false;
	memcpy(two, &map->places[home], sizeof(two));
	hs_collect_words keys = __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6);
	hs_collect_words values = __builtin_shufflevector(two[0], two[1], 1, 3, 5, 7);
	hs_collect_words is_key = (hs_collect_words)(keys == hash);
	hs_collect_words is_empty = (hs_collect_words)(values == 0);
	memcpy(halves, &is_key, sizeof(is_key));
	memcpy(halves + 2, &is_empty, sizeof(is_empty));
	return !(halves[0] | halves[1]) && halves[2] | halves[3];
}

// Finds the view's flow and prefetches its entry for the next steps.
HS_COLLECT_INLINE void prefetch_flow(const struct hs_collect *c, struct hs_collect_view *view)
{
	if (view->same && view != c->views) {
		view->flow = view[-1].flow;
		view->added = view[-1].added;
		return;
	}
	view->flow = HS_COLLECT_NONE;
	view->added = c->flows.added;
	bool is_likely_none = view != c->views && view[-1].flow == HS_COLLECT_NONE;
	if (view->has_flow && !(is_likely_none && is_absent(&c->flows.map, view->hash)))
		view->flow = hs_u32_map_find(&c->flows.map, view->hash);
	if (view->flow == HS_COLLECT_NONE)
		return;
	const uint8_t *flow = (const uint8_t *)&c->flow[view->flow];
	size_t hops = view->n_hops < HS_COLLECT_NEAR_HOPS ? view->n_hops : HS_COLLECT_NEAR_HOPS;
	size_t bytes = offsetof(struct hs_collect_flow_entry, near) +
		       hops * sizeof(struct hs_collect_hop_entry);
	for (size_t at = 0; at < bytes; at += 128) {
		__builtin_prefetch(flow + at, 1);
		__builtin_prefetch(flow + at + 64, 1);
	}
}

// Returns the place of the view's flow in the order, if this report moves it, as the first report
// of a second does. Returns NULL otherwise.
HS_COLLECT_INLINE struct hs_collect_place *place_to_move(
		const struct hs_collect *c, const struct hs_collect_view *view)
{
	if (view->same || view->flow == HS_COLLECT_NONE ||
			hs_collect_is_placed(c, c->flow[view->flow].last_ns))
		return NULL;
	return &c->flows.places[view->flow];
}

// Returns whether there is such a place.
HS_COLLECT_INLINE bool prefetch_place(
		const struct hs_collect *c, const struct hs_collect_view *view)
{
	const struct hs_collect_place *place = place_to_move(c, view);

	if (place)
		__builtin_prefetch(place, 1);
	return place != NULL;
}

HS_COLLECT_INLINE void prefetch_neighbours(
		const struct hs_collect *c, const struct hs_collect_view *view)
{
	const struct hs_collect_place *place = place_to_move(c, view);

	if (place && place->older != HS_COLLECT_NONE)
		__builtin_prefetch(&c->flows.places[place->older], 1);
	if (place && place->newer != HS_COLLECT_NONE)
		__builtin_prefetch(&c->flows.places[place->newer], 1);
}

// Returns the end of AHEAD views from `from` on, of n. A `from` before the first view has wrapped
// and is beyond n.
static unsigned end_of(unsigned from, unsigned n)
{
	if (from >= n)
		return 0;
	return n - from < AHEAD ? n : from + AHEAD;
}

// Applies the reports after the view's first. Returns whether the last of them took the fast path
// of collect_fast_path.h.
static bool apply_more(struct hs_collect *c, const struct hs_collect_view *view, bool was_fast)
{
	size_t hops_at = (size_t)(view->hops - view->datagram->bytes);
	struct hs_collect_view next;

	memcpy(&next, view, HS_COLLECT_VIEW_BARE);
	for (unsigned i = 1; i <= view->more; i++) {
		if (was_fast)
			i += hs_collect_run_pass(c, view, i);
		next.hops = view->datagram[i].bytes + hops_at;
		next.device_ns = hs_be32_load(view->datagram[i].bytes + HS_COLLECT_TIME_AT);
		was_fast = hs_collect_fast_path(c, &next, was_fast);
		if (!was_fast)
			apply(c, &next);
	}
	return was_fast;
}

void hs_collect_apply_views(struct hs_collect *c)
{
	struct hs_collect_view *views = c->views;
	unsigned n = c->n_views;
	bool was_fast = false, moves = false;

	if (!n)
		return;
	for (unsigned at = 0; at < n + 3 * AHEAD; at += AHEAD) {
		unsigned second = at - AHEAD, third = at - 2 * AHEAD, last = at - 3 * AHEAD;
		for (unsigned i = at; i < end_of(at, n); i++) {
			prefetch_hops(&views[i]);
			prefetch_flow(c, &views[i]);
		}
		for (unsigned i = third; moves && i < end_of(third, n); i++)
			prefetch_neighbours(c, &views[i]);
		moves = false;
		for (unsigned i = second; i < end_of(second, n); i++)
			moves |= prefetch_place(c, &views[i]);
		for (unsigned i = last; i < end_of(last, n); i++) {
			hs_collect_ask(&c->asks[1]);
			was_fast = hs_collect_fast_path(c, &views[i], views[i].same && was_fast);
			if (!was_fast)
				apply(c, &views[i]);
			if (views[i].more)
				was_fast = apply_more(c, &views[i], was_fast);
		}
	}
	c->n_views = 0;
}
