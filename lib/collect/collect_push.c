// SPDX-License-Identifier: BSD-3-Clause
// Emits every known value once in each period, spread over the period.
#include "collect_change.h"

// ---- one entry ----

static void add(struct hs_collect *c, enum hs_collect_point_kind kind, uint32_t node, uint32_t id,
		uint64_t value, uint64_t device_ns)
{
	hs_collect_add_point(c, &(struct hs_collect_point){.kind = (uint8_t)kind,
						.cause = HS_COLLECT_PUSH,
						.has_value = true,
						.node_id = node,
						.id = id,
						.value = value,
						.device_ns = device_ns});
}

static void push_flow(struct hs_collect *c, uint32_t number)
{
	struct hs_collect_flow_entry *flow = &c->flow[number];
	uint32_t last = UINT32_MAX;

	for (unsigned i = 0; i < flow->n_hops; i++)
		last = hs_collect_hop_node(hs_collect_hop_at(c, number, i));
	add(c, HS_COLLECT_POINT_FLOW, last, 0, flow->latency, 0);
	c->points[0].has_value = flow->has_latency;
	for (unsigned i = 0; i < flow->n_hops; i++) {
		struct hs_collect_hop_entry *hop = hs_collect_hop_at(c, number, i);
		if (!(flow->with_latency >> i & 1))
			continue;
		add(c, HS_COLLECT_POINT_HOP, hs_collect_hop_node(hop), i, hop->latency, 0);
		hs_collect_set_hop_event(c, number, i);
	}
	hs_collect_set_flow_event(c, flow);
	hs_collect_copy_flow(c, number, &c->told);
	hs_collect_emit_points(c, c->points, c->n_points, &c->told, flow->last_ns);
}

static void push_queue(struct hs_collect *c, uint32_t number)
{
	struct hs_collect_queue_entry *q = &c->queue[number];
	uint32_t node = hs_collect_key_node(q->key);

	if (q->has_occupancy)
		add(c, HS_COLLECT_POINT_OCCUPANCY, node, hs_collect_key_id(q->key), q->occupancy,
				hs_collect_device_ns(q->after_device_ns));
	if (q->has_congestion)
		add(c, HS_COLLECT_POINT_CONGESTION, node, hs_collect_key_id(q->key), q->congestion,
				hs_collect_device_ns(q->after_device_ns));
	if (hs_collect_knows_q(q)) {
		add(c, HS_COLLECT_POINT_CONGESTION, node, hs_collect_key_id(q->key), q->congested,
				hs_collect_device_ns(q->after_device_ns));
		c->points[c->n_points - 1].by_q = true;
	}
	if (q->has_occupancy)
		hs_collect_set_occupancy_event(c, q);
	q->event_congestion = q->congestion;
	hs_collect_emit_points(c, c->points, c->n_points, NULL, q->last_ns);
}

static void push_link(struct hs_collect *c, uint32_t number)
{
	struct hs_collect_link_entry *link = &c->link[number];

	add(c, HS_COLLECT_POINT_LINK, hs_collect_key_node(link->key), hs_collect_key_id(link->key),
			link->utilisation, hs_collect_device_ns(link->after_device_ns));
	hs_collect_set_link_event(c, link);
	hs_collect_emit_points(c, c->points, c->n_points, NULL, link->last_ns);
}

static void push_drop(struct hs_collect *c, uint32_t number)
{
	struct hs_collect_drop_entry *drop = &c->drop[number];

	add(c, HS_COLLECT_POINT_DROP, drop->node_id, drop->reason, drop->reports, 0);
	drop->event_reports = drop->reports;
	drop->event_ns = c->now_ns;
	hs_collect_emit_points(c, c->points, c->n_points, NULL, drop->last_ns);
}

// ---- when ----

static uint32_t known(const struct hs_collect *c, unsigned kind)
{
	const uint32_t n[HS_COLLECT_PUSHED] = {c->flows.n, c->queues.n, c->links.n, c->drops.n};

	return n[kind];
}

static void push_entry(struct hs_collect *c, unsigned kind)
{
	static void (*const push[HS_COLLECT_PUSHED])(struct hs_collect *, uint32_t) = {
			push_flow, push_queue, push_link, push_drop};

	c->n_points = 0;
	c->changes++;
	push[kind](c, c->pushed[kind]++);
}

// Returns when the next entry of a table is due. The entries of a table are spread over the period.
static int64_t due_of(const struct hs_collect *c, unsigned kind)
{
	uint32_t total = known(c, kind);

	if (c->pushed[kind] >= total)
		return c->push_began + c->config.push_ns;
	__extension__ unsigned __int128 part =
			(unsigned __int128)(c->pushed[kind] + 1u) * (uint64_t)c->config.push_ns;
	return c->push_began + (int64_t)(part / total);
}

static unsigned next_kind(const struct hs_collect *c)
{
	unsigned next = HS_COLLECT_PUSHED;

	for (unsigned kind = 0; kind < HS_COLLECT_PUSHED; kind++) {
		bool is_left = c->pushed[kind] < known(c, kind);
		if (is_left && (next == HS_COLLECT_PUSHED || due_of(c, kind) < due_of(c, next)))
			next = kind;
	}
	return next;
}

static void begin_period(struct hs_collect *c, int64_t now_ns)
{
	c->push_runs = true;
	c->push_began = now_ns;
	memset(c->pushed, 0, sizeof(c->pushed));
}

int64_t hs_collect_push(struct hs_collect *c, int64_t now_ns, unsigned budget)
{
	int64_t push_ns = c->config.push_ns;

	if (!push_ns)
		return INT64_MAX;
	if (!c->push_runs || now_ns < c->push_began)
		begin_period(c, now_ns);
	c->now_ns = now_ns;
	for (;;) {
		unsigned kind = next_kind(c);
		bool is_done = kind == HS_COLLECT_PUSHED;
		int64_t due = is_done ? c->push_began + push_ns : due_of(c, kind);
		if (due > now_ns)
			return due;
		if (is_done) {
			begin_period(c, now_ns - due > push_ns ? now_ns : due);
			continue;
		}
		if (!budget)
			return now_ns;
		budget--;
		push_entry(c, kind);
	}
}
