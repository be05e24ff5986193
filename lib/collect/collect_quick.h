// SPDX-License-Identifier: BSD-3-Clause
// The fast path of a report that changes nothing: a flow that is known, by the path that is known,
// with no value that is an event. It leaves what the general path of collect_apply.c leaves.
//
// Thread rule: owner. For collect_apply.c only.
#pragma once

#include "collect_change.h"

struct hs_collect_quick {
	const struct hs_collect_layout *layout;
	uint32_t queue_bits, queue_mask, no_queue;
	bool has_latency, has_queue, has_link, has_time, wide_times;
	uint64_t latency;
	const struct hs_collect_queue_entry *newest_queue;
};

// Of what comes with each value.
static inline uint64_t hs_collect_quick_time(const struct hs_collect_quick *q, const uint8_t *hop)
{
	if (q->wide_times) {
		uint64_t wide = hs_be64_load(hop + q->layout->egress);
		return wide == UINT64_MAX ? 0 : wide;
	}
	uint32_t time = hs_be32_load(hop + q->layout->egress);
	return time == UINT32_MAX ? 0 : time;
}

static inline bool hs_collect_quick_latency(
		struct hs_collect_quick *q, const uint8_t *hop, struct hs_collect_hop_entry *entry)
{
	uint32_t latency = hs_be32_load(hop + q->layout->latency);

	if (latency == UINT32_MAX || !hs_collect_is_quiet(entry->band, latency))
		return false;
	entry->latency = latency;
	q->latency += latency;
	return true;
}

static inline bool hs_collect_quick_queue(struct hs_collect *c, struct hs_collect_quick *q,
		const uint8_t *hop, uint64_t node, uint32_t number, uint64_t device_ns)
{
	uint32_t word = hs_be32_load(hop + q->layout->queue);
	uint32_t occupancy = word & q->queue_mask;
	struct hs_collect_queue_entry *queue = &c->queue[number];

	if (word >= q->no_queue || occupancy == q->queue_mask ||
			queue->key != (node | word >> q->queue_bits) || !queue->has_occupancy ||
			!hs_collect_is_quiet(queue->band, occupancy))
		return false;
	queue->occupancy = occupancy;
	if (device_ns)
		queue->device_ns = device_ns;
	if (queue->last_ns != c->now_ns) {
		queue->last_ns = c->now_ns;
		hs_collect_table_touch(&c->queues, number, c->second);
	}
	q->newest_queue = queue;
	return true;
}

static inline bool hs_collect_quick_link(struct hs_collect *c, const struct hs_collect_quick *q,
		const uint8_t *hop, uint64_t node, uint32_t number, uint64_t device_ns)
{
	uint32_t utilisation = hs_be32_load(hop + q->layout->utilisation);
	uint32_t port = hs_be16_load(hop + q->layout->port);
	struct hs_collect_link_entry *link = &c->link[number];

	if (utilisation == UINT32_MAX || port == UINT16_MAX || link->key != (node | port) ||
			!hs_collect_is_quiet(link->band, utilisation))
		return false;
	link->utilisation = utilisation;
	if (device_ns)
		link->device_ns = device_ns;
	if (link->last_ns != c->now_ns) {
		link->last_ns = c->now_ns;
		hs_collect_table_touch(&c->links, number, c->second);
	}
	return true;
}

static inline bool hs_collect_quick_hops(struct hs_collect *c, const struct hs_collect_view *view,
		struct hs_collect_flow_entry *flow, struct hs_collect_quick *q)
{
	const uint8_t *hop = view->hops + (size_t)view->hop_bytes * view->n_hops;

	for (unsigned place = 0; place < view->n_hops; place++) {
		struct hs_collect_hop_entry *entry = &flow->near[place];
		hop -= view->hop_bytes;
		uint32_t node_id = hs_be32_load(hop + q->layout->node);
		uint64_t node = (uint64_t)node_id << 32;
		uint64_t device_ns = q->has_time ? hs_collect_quick_time(q, hop) : 0;
		if (node_id != entry->node_id || node_id == UINT32_MAX)
			return false;
		if (q->has_latency && !hs_collect_quick_latency(q, hop, entry))
			return false;
		if (q->has_queue &&
				!hs_collect_quick_queue(c, q, hop, node, entry->queue, device_ns))
			return false;
		if (q->has_link && !hs_collect_quick_link(c, q, hop, node, entry->link, device_ns))
			return false;
	}
	return true;
}

// Whether the newest hop says whether its queue is congested, and the queue was already so.
static inline bool hs_collect_quick_congestion(struct hs_collect *c,
		const struct hs_collect_view *view, const struct hs_collect_flow_entry *flow,
		const struct hs_collect_quick *q)
{
	if (!q->has_queue || flow->near[view->n_hops - 1].node_id != view->own.node_id)
		return true;
	if (q->newest_queue->congested != view->own.q)
		return false;
	c->counters.suppressed[HS_COLLECT_POINT_CONGESTION]++;
	return true;
}

static inline bool hs_collect_quick_is_flow_quiet(const struct hs_collect *c,
		const struct hs_collect_flow_entry *flow, const struct hs_collect_quick *q)
{
	if (q->has_latency && q->latency - flow->latency_low > flow->latency_span)
		return false;
	return !c->config.gap_ns || c->now_ns - flow->event_ns <= c->config.gap_ns;
}

static inline void hs_collect_quick_close(struct hs_collect *c, const struct hs_collect_view *view,
		struct hs_collect_flow_entry *flow, const struct hs_collect_quick *q)
{
	uint64_t *suppressed = c->counters.suppressed;

	flow->reports++;
	if (!hs_collect_is_placed(c, flow->last_ns))
		hs_collect_table_touch(&c->flows, view->flow, c->second);
	flow->last_ns = c->now_ns;
	suppressed[HS_COLLECT_POINT_FLOW]++;
	suppressed[HS_COLLECT_POINT_OCCUPANCY] += q->has_queue ? view->n_hops : 0;
	suppressed[HS_COLLECT_POINT_LINK] += q->has_link ? view->n_hops : 0;
	if (!q->has_latency)
		return;
	flow->latency = q->latency;
	suppressed[HS_COLLECT_POINT_HOP] += view->n_hops;
}

// Whether the report was taken. False: the general path must take it; what was written before is
// written again then.
static inline bool hs_collect_quick(struct hs_collect *c, const struct hs_collect_view *view)
{
	const struct hs_collect_layout *layout = view->layout;

	if (!view->quick || !hs_collect_is_flow(c, view->flow, &view->key))
		return false;
	struct hs_collect_flow_entry *flow = &c->flow[view->flow];
	unsigned bits = view->dialect->queue_bits;
	struct hs_collect_quick q = {.layout = layout,
			.queue_bits = bits,
			.queue_mask = (UINT32_C(1) << bits) - 1,
			.no_queue = UINT32_MAX << bits,
			.has_latency = layout->latency != HS_COLLECT_NOT_THERE,
			.has_queue = layout->queue != HS_COLLECT_NOT_THERE,
			.has_link = layout->utilisation != HS_COLLECT_NOT_THERE,
			.has_time = layout->egress != HS_COLLECT_NOT_THERE,
			.wide_times = view->dialect->wide_times};
	uint64_t all = UINT64_MAX >> (64 - view->n_hops);
	if (flow->n_hops != view->n_hops || (q.has_latency && flow->with_latency != all))
		return false;
	if (!hs_collect_quick_hops(c, view, flow, &q) ||
			!hs_collect_quick_is_flow_quiet(c, flow, &q) ||
			!hs_collect_quick_congestion(c, view, flow, &q))
		return false;
	hs_collect_quick_close(c, view, flow, &q);
	return true;
}
