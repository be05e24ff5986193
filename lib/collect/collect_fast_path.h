// SPDX-License-Identifier: BSD-3-Clause
// The fast path for a report that makes no event: the flow is known, its path is unchanged, and no
// value is an event. The result is the same as that of the general path in collect_apply.c.
//
// The code is specialised for each form of hops. With a constant form, the compiler removes most of
// it.
// Thread rule: owner. For collect_apply.c only.
#pragma once

#include "collect_change.h"
#include "collect_shared.h"

#define HS_COLLECT_INLINE static inline __attribute__((always_inline))

// The offsets of the values, from struct hs_collect_layout.
struct hs_collect_form {
	bool has_latency, has_queue, has_link, has_time, wide_times;
	unsigned node, latency, queue, egress, port, utilisation;
	unsigned queue_bits;
	unsigned bytes; // of a hop
};

// The forms with all values of 1.0, with all values of 2.1, and with node ids only.
// collect_layout.c sets which layouts have these forms.
#define HS_COLLECT_FORM_1_0                                                                        \
	((struct hs_collect_form){true, true, true, true, false, 0, 8, 12, 20, 6, 32, 24, 36})
#define HS_COLLECT_FORM_2_1                                                                        \
	((struct hs_collect_form){true, true, true, true, true, 0, 8, 12, 24, 6, 40, 24, 44})
#define HS_COLLECT_FORM_NODES ((struct hs_collect_form){.bytes = 4})

HS_COLLECT_INLINE struct hs_collect_form hs_collect_form_of(const struct hs_collect_view *view)
{
	const struct hs_collect_dialect *dialect = view->dialect;
	const struct hs_collect_layout *layout = view->layout;

	return (struct hs_collect_form){.has_latency = layout->latency != HS_COLLECT_NOT_THERE,
			.has_queue = layout->queue != HS_COLLECT_NOT_THERE,
			.has_link = layout->utilisation != HS_COLLECT_NOT_THERE &&
				    layout->port != HS_COLLECT_NOT_THERE,
			.has_time = layout->egress != HS_COLLECT_NOT_THERE,
			.wide_times = dialect->wide_times,
			.node = layout->node,
			.latency = layout->latency,
			.queue = layout->queue,
			.egress = layout->egress,
			.port = layout->port,
			.utilisation = layout->utilisation,
			.queue_bits = dialect->queue_bits,
			.bytes = view->hop_bytes};
}

// State while one report is read.
struct hs_collect_fast_path {
	int64_t now_ns;
	uint32_t second;
	uint64_t latency;
	const struct hs_collect_queue_entry *queue; // queue of the last hop read
};

// Returns the time that comes with a hop's values, plus 1 ns as entries keep it.
HS_COLLECT_INLINE uint64_t hs_collect_fast_path_time(
		const struct hs_collect_form *form, const uint8_t *hop)
{
	if (!form->has_time)
		return 0;
	return form->wide_times ? hs_be64_load(hop + form->egress) + 1
				: hs_be32_load(hop + form->egress) + 1;
}

// The ids of a hop, in network order.
struct hs_collect_keys {
	uint64_t queue, link; // all ones: the form has none
	uint32_t node;
};

HS_COLLECT_INLINE struct hs_collect_keys hs_collect_fast_path_keys(
		const struct hs_collect_form *form, const uint8_t *hop)
{
	struct hs_collect_keys keys = {UINT64_MAX, UINT64_MAX, 0};

	if (form->has_link && form->node == 0 && form->port == 6) { // one word has both
		uint64_t word = hs_collect_word(hop);
		memcpy(&keys.node, &word, sizeof(keys.node));
		keys.link = word & hs_collect_shared_key(UINT32_MAX, UINT16_MAX);
	} else {
		memcpy(&keys.node, hop + form->node, sizeof(keys.node));
		if (form->has_link)
			keys.link = hs_collect_shared_key(
					be32toh(keys.node), hs_be16_load(hop + form->port));
	}
	if (form->has_queue) {
		uint32_t id = hs_be32_load(hop + form->queue) >> form->queue_bits;
		keys.queue = keys.node | hs_collect_shared_key(0, id);
	}
	return keys;
}

// Sets the occupancy of a hop's queue. Returns NULL if the entry is another queue's, or if the
// value is an event.
HS_COLLECT_INLINE struct hs_collect_queue_entry *hs_collect_fast_path_queue(struct hs_collect *c,
		const struct hs_collect_form *form, const uint8_t *hop, uint32_t number,
		uint64_t key, const struct hs_collect_fast_path *q)
{
	uint32_t mask = (UINT32_C(1) << form->queue_bits) - 1;
	uint32_t occupancy = hs_be32_load(hop + form->queue) & mask;
	struct hs_collect_queue_entry *queue = &c->queue[number];

	if (queue->key != key || !hs_collect_is_quiet(queue->band, occupancy))
		return NULL;
	queue->occupancy = occupancy;
	hs_collect_see_queue_again(c, queue, q->now_ns, q->second);
	return queue;
}

HS_COLLECT_INLINE struct hs_collect_link_entry *hs_collect_fast_path_link(struct hs_collect *c,
		const struct hs_collect_form *form, const uint8_t *hop, uint32_t number,
		uint64_t key, const struct hs_collect_fast_path *q)
{
	uint32_t utilisation = hs_be32_load(hop + form->utilisation);
	struct hs_collect_link_entry *link = &c->link[number];

	if (link->key != key || !hs_collect_is_quiet(link->band, utilisation))
		return NULL;
	link->utilisation = utilisation;
	hs_collect_see_link_again(c, link, q->now_ns, q->second);
	return link;
}

// Sets the values of a hop's queue and link, whose entries are probably those of `at`. Returns
// false if the fast path cannot take the hop.
HS_COLLECT_INLINE bool hs_collect_fast_path_values(struct hs_collect *c,
		const struct hs_collect_form *form, const uint8_t *hop,
		const struct hs_collect_hint *at, struct hs_collect_keys keys,
		struct hs_collect_fast_path *q)
{
	struct hs_collect_queue_entry *queue = NULL;
	struct hs_collect_link_entry *link = NULL;

	if (form->has_queue) {
		queue = hs_collect_fast_path_queue(c, form, hop, at->queue, keys.queue, q);
		if (!queue)
			return false;
		q->queue = queue;
	}
	if (form->has_link) {
		link = hs_collect_fast_path_link(c, form, hop, at->link, keys.link, q);
		if (!link)
			return false;
	}
	uint64_t after_device_ns = hs_collect_fast_path_time(form, hop);
	if (link)
		link->after_device_ns = after_device_ns;
	if (queue)
		queue->after_device_ns = after_device_ns;
	return true;
}

// Sets the values of a hop. A node without an id has no queue and no link, so the keys differ and
// the result is false.
HS_COLLECT_INLINE bool hs_collect_fast_path_hop(struct hs_collect *c,
		const struct hs_collect_form *form, const uint8_t *hop,
		struct hs_collect_hop_entry *entry, struct hs_collect_fast_path *q)
{
	const struct hs_collect_keys keys = hs_collect_fast_path_keys(form, hop);

	if (keys.node != entry->node)
		return false;
	if (form->has_latency) {
		uint64_t latency = hs_be32_load(hop + form->latency);
		if (!hs_collect_is_quiet(entry->band, (uint32_t)latency))
			return false;
		entry->latency = (uint32_t)latency;
		q->latency += latency;
	}
	return hs_collect_fast_path_values(c, form, hop, &entry->at, keys, q);
}

// Returns whether the newest hop's congestion changes nothing: the reporter is another node, or the
// queue is not congested and was not.
HS_COLLECT_INLINE bool hs_collect_fast_path_congestion(struct hs_collect *c,
		const struct hs_collect_view *view, uint32_t newest,
		const struct hs_collect_fast_path *q)
{
	if (newest != view->own.node_id)
		return true;
	if (q->queue->congested || view->own.q)
		return false;
	c->counters.suppressed[HS_COLLECT_POINT_CONGESTION]++;
	return true;
}

HS_COLLECT_INLINE void hs_collect_fast_path_close(struct hs_collect *c,
		const struct hs_collect_form *form, const struct hs_collect_view *view,
		struct hs_collect_flow_entry *flow, uint64_t latency)
{
	uint64_t *suppressed = c->counters.suppressed;

	flow->reports++;
	if (!hs_collect_is_placed(c, flow->last_ns))
		hs_collect_table_touch(&c->flows, view->flow, c->second);
	flow->last_ns = c->now_ns;
	suppressed[HS_COLLECT_POINT_FLOW]++;
	suppressed[HS_COLLECT_POINT_OCCUPANCY] += form->has_queue ? view->n_hops : 0;
	suppressed[HS_COLLECT_POINT_LINK] += form->has_link ? view->n_hops : 0;
	if (!form->has_latency)
		return;
	flow->latency = latency;
	suppressed[HS_COLLECT_POINT_HOP] += view->n_hops;
}

HS_COLLECT_INLINE bool hs_collect_fast_path_with(struct hs_collect *c,
		const struct hs_collect_form form, const struct hs_collect_view *view,
		struct hs_collect_flow_entry *flow)
{
	size_t n = view->n_hops;
	const uint8_t *first = view->hops, *hop = first + form.bytes * n;
	struct hs_collect_hop_entry *entry = flow->near;
	struct hs_collect_fast_path q = {.now_ns = c->now_ns, .second = c->second};

	if ((form.has_latency ? flow->timed_hops : flow->whole_hops) != n)
		return false;
	do {
		hop -= form.bytes;
		if (!hs_collect_fast_path_hop(c, &form, hop, entry++, &q))
			return false;
	} while (hop != first);
	if (form.has_latency && q.latency - flow->latency_low > flow->latency_span)
		return false;
	if (hs_collect_is_gap(c, flow))
		return false;
	if (form.has_queue && !hs_collect_fast_path_congestion(
					      c, view, hs_collect_hop_node(&flow->near[n - 1]), &q))
		return false;
	hs_collect_fast_path_close(c, &form, view, flow, q.latency);
	return true;
}

// These functions are not inlined, so that their loops have more registers.
static __attribute__((noinline)) bool hs_collect_fast_path_1_0(struct hs_collect *c,
		const struct hs_collect_view *view, struct hs_collect_flow_entry *flow)
{
	return hs_collect_fast_path_with(c, HS_COLLECT_FORM_1_0, view, flow);
}

static __attribute__((noinline)) bool hs_collect_fast_path_2_1(struct hs_collect *c,
		const struct hs_collect_view *view, struct hs_collect_flow_entry *flow)
{
	return hs_collect_fast_path_with(c, HS_COLLECT_FORM_2_1, view, flow);
}

static __attribute__((noinline)) bool hs_collect_fast_path_nodes(struct hs_collect *c,
		const struct hs_collect_view *view, struct hs_collect_flow_entry *flow)
{
	return hs_collect_fast_path_with(c, HS_COLLECT_FORM_NODES, view, flow);
}

static __attribute__((noinline)) bool hs_collect_fast_path_any(struct hs_collect *c,
		const struct hs_collect_view *view, struct hs_collect_flow_entry *flow)
{
	return hs_collect_fast_path_with(c, hs_collect_form_of(view), view, flow);
}

// Takes a report without a stack: the flow's only hop is the reporter, which tells no values.
static inline bool hs_collect_fast_path_reporter(struct hs_collect *c,
		const struct hs_collect_view *view, struct hs_collect_flow_entry *flow)
{
	const struct hs_collect_form form = {.bytes = 0};

	if (flow->whole_hops != 1 || hs_collect_hop_node(&flow->near[0]) != view->own.node_id ||
			hs_collect_is_gap(c, flow))
		return false;
	hs_collect_fast_path_close(c, &form, view, flow, 0);
	return true;
}

// Returns whether the report was taken. If not, the general path must take it, which writes all
// values again. `known` says that view->flow is surely the view's flow.
HS_COLLECT_INLINE bool hs_collect_fast_path(
		struct hs_collect *c, const struct hs_collect_view *view, bool known)
{
	if (!view->fast || !(known || hs_collect_is_flow(c, view->flow, &view->key)))
		return false;
	struct hs_collect_flow_entry *flow = &c->flow[view->flow];
	switch (view->form) {
	case HS_COLLECT_LAYOUT_1_0:
		return hs_collect_fast_path_1_0(c, view, flow);
	case HS_COLLECT_LAYOUT_2_1:
		return hs_collect_fast_path_2_1(c, view, flow);
	case HS_COLLECT_LAYOUT_NODES:
		return hs_collect_fast_path_nodes(c, view, flow);
	case HS_COLLECT_LAYOUT_REPORTER:
		return hs_collect_fast_path_reporter(c, view, flow);
	default:
		return hs_collect_fast_path_any(c, view, flow);
	}
}

// ---- reports whose flow is not kept ----

// Does as hs_collect_fast_path_hop, for the queue and the link only. Their entries are probably
// those of the last hop with the same node, queue and port. The band is empty where a queue or port
// number stands for "none".
HS_COLLECT_INLINE bool hs_collect_fast_path_shared(struct hs_collect *c,
		const struct hs_collect_form *form, const uint8_t *hop,
		struct hs_collect_fast_path *q)
{
	struct hs_collect_keys keys = hs_collect_fast_path_keys(form, hop);
	uint64_t hash = keys.queue * c->secret.words[0] + keys.link * c->secret.words[1];
	struct hs_collect_hint *hint = &c->hints[hash >> (64 - HS_COLLECT_HINT_BITS)];

	if (__builtin_expect(hs_collect_fast_path_values(c, form, hop, hint, keys, q), 1))
		return true;
	return hs_collect_learn(c, hint, keys.queue, keys.link) &&
	       hs_collect_fast_path_values(c, form, hop, hint, keys, q);
}

HS_COLLECT_INLINE bool hs_collect_fast_path_strangers_with(struct hs_collect *c,
		const struct hs_collect_form form, const struct hs_collect_view *view)
{
	uint64_t *suppressed = c->counters.suppressed;
	size_t n = view->n_hops;
	const uint8_t *first = view->hops, *hop = first + form.bytes * n;
	struct hs_collect_fast_path q = {.now_ns = c->now_ns, .second = c->second};

	do {
		hop -= form.bytes;
		if (!hs_collect_fast_path_shared(c, &form, hop, &q))
			return false;
	} while (hop != first);
	uint32_t newest = hs_be32_load(first + form.node);
	if (form.has_queue && !hs_collect_fast_path_congestion(c, view, newest, &q))
		return false;
	suppressed[HS_COLLECT_POINT_OCCUPANCY] += form.has_queue ? n : 0;
	suppressed[HS_COLLECT_POINT_LINK] += form.has_link ? n : 0;
	return true;
}

static __attribute__((noinline)) bool hs_collect_fast_path_strangers_1_0(
		struct hs_collect *c, const struct hs_collect_view *view)
{
	return hs_collect_fast_path_strangers_with(c, HS_COLLECT_FORM_1_0, view);
}

static __attribute__((noinline)) bool hs_collect_fast_path_strangers_any(
		struct hs_collect *c, const struct hs_collect_view *view)
{
	return hs_collect_fast_path_strangers_with(c, hs_collect_form_of(view), view);
}

// Returns whether the queues and links of a report whose flow is not kept were taken. If not, the
// general path must take the report.
static inline bool hs_collect_fast_path_strangers(
		struct hs_collect *c, const struct hs_collect_view *view)
{
	if (c->general || !view->has_stack || !view->n_hops || view->has_own || view->dropped ||
			!view->layout->fast)
		return false;
	return view->form == HS_COLLECT_LAYOUT_1_0 ? hs_collect_fast_path_strangers_1_0(c, view)
						   : hs_collect_fast_path_strangers_any(c, view);
}
