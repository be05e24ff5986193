// SPDX-License-Identifier: BSD-3-Clause
#include "collect_shared.h"

#include "collect_change.h"

#define QUEUE_VALUES (HS_COLLECT_HAS_OCCUPANCY | HS_COLLECT_HAS_CONGESTION | HS_COLLECT_HAS_Q)

// ---- queues ----

static bool is_queue(const struct hs_collect *c, uint32_t number, uint32_t node, uint32_t id)
{
	return number < c->queues.n && c->queue[number].key == hs_collect_shared_key(node, id);
}

static uint32_t add_queue(struct hs_collect *c, uint32_t hash, uint32_t node, uint32_t id)
{
	uint32_t number = hs_collect_table_add(&c->queues, hash, c->second);

	if (number != HS_COLLECT_NONE)
		c->queue[number] = (struct hs_collect_queue_entry){
				.key = hs_collect_shared_key(node, id),
				.last_ns = c->now_ns,
				.second = c->second};
	return number;
}

static uint32_t search_queue(const struct hs_collect *c, uint32_t hash, uint32_t node, uint32_t id)
{
	uint32_t probe = 0, number;

	do {
		number = hs_u32_map_next(&c->queues.map, hash, &probe);
	} while (number != HS_COLLECT_NONE && !is_queue(c, number, node, id));
	return number;
}

static uint32_t find_queue(struct hs_collect *c, uint32_t node, uint32_t id)
{
	uint32_t hash = hs_collect_hash_2(&c->secret, node, id);
	uint32_t number = search_queue(c, hash, node, id);

	return number != HS_COLLECT_NONE ? number : add_queue(c, hash, node, id);
}

// Adds a point for a new or changed value of a queue.
static void tell_queue(struct hs_collect *c, const struct hs_collect_queue_entry *queue,
		struct hs_collect_point point, const struct hs_collect_values *values, bool known)
{
	point.cause = known ? HS_COLLECT_CHANGE : HS_COLLECT_NEW;
	point.has_value = true;
	point.node_id = hs_collect_key_node(queue->key);
	point.id = hs_collect_key_id(queue->key);
	point.device_ns = values->device_ns;
	hs_collect_add_point(c, &point);
}

static void note_occupancy(struct hs_collect *c, struct hs_collect_queue_entry *queue,
		const struct hs_collect_values *values)
{
	uint32_t now = values->occupancy, before = queue->event_occupancy;
	bool known = queue->has_occupancy;

	queue->occupancy = now;
	queue->has_occupancy = true;
	if (known && !hs_collect_is_change(c, HS_COLLECT_QUEUE_OCCUPANCY, before, now)) {
		c->counters.suppressed[HS_COLLECT_POINT_OCCUPANCY]++;
		return;
	}
	hs_collect_set_occupancy_event(c, queue);
	tell_queue(c, queue,
			(struct hs_collect_point){.kind = HS_COLLECT_POINT_OCCUPANCY,
					.value = now,
					.before = known ? before : 0},
			values, known);
}

static void note_congestion(struct hs_collect *c, struct hs_collect_queue_entry *queue,
		const struct hs_collect_values *values)
{
	uint32_t now = values->congestion, before = queue->event_congestion;
	bool known = queue->has_congestion;

	queue->congestion = now;
	queue->has_congestion = true;
	if (known && !hs_collect_is_change(c, HS_COLLECT_QUEUE_CONGESTION, before, now)) {
		c->counters.suppressed[HS_COLLECT_POINT_CONGESTION]++;
		return;
	}
	queue->event_congestion = now;
	tell_queue(c, queue,
			(struct hs_collect_point){.kind = HS_COLLECT_POINT_CONGESTION,
					.value = now,
					.before = known ? before : 0},
			values, known);
}

// Notes bit Q. A queue that was never congested makes no event.
static void note_q(struct hs_collect *c, struct hs_collect_queue_entry *queue,
		const struct hs_collect_values *values)
{
	bool lapsed = values->q && !hs_collect_knows_q(queue);
	bool known = queue->has_q && !lapsed, before = queue->congested && !lapsed;

	queue->has_q = known || values->q;
	queue->congested = values->q;
	if (values->q)
		queue->congested_ns = c->now_ns;
	if (before == values->q || c->config.thresholds[HS_COLLECT_QUEUE_CONGESTION].off) {
		c->counters.suppressed[HS_COLLECT_POINT_CONGESTION]++;
		return;
	}
	tell_queue(c, queue,
			(struct hs_collect_point){.kind = HS_COLLECT_POINT_CONGESTION,
					.by_q = true,
					.value = values->q,
					.before = before},
			values, known);
}

void hs_collect_touch_queue(struct hs_collect *c, struct hs_collect_queue_entry *queue)
{
	queue->second = c->second;
	hs_collect_table_touch(&c->queues, (uint32_t)(queue - c->queue), c->second);
}

// Returns the queue's entry, marked as seen now, or NULL: it is not kept.
static struct hs_collect_queue_entry *see_queue(struct hs_collect *c,
		const struct hs_collect_values *values, uint32_t id, uint32_t *number)
{
	if (!is_queue(c, *number, values->node_id, id))
		*number = find_queue(c, values->node_id, id);
	if (*number == HS_COLLECT_NONE) {
		*number = c->queues.capacity;
		return NULL;
	}
	struct hs_collect_queue_entry *queue = &c->queue[*number];
	hs_collect_see_queue_again(c, queue, c->now_ns, c->second);
	queue->after_device_ns = hs_collect_after_device_ns(values->device_ns);
	return queue;
}

void hs_collect_note_queue(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number)
{
	struct hs_collect_queue_entry *queue;
	uint32_t other = *number;

	if (!(values->has & QUEUE_VALUES))
		return;
	if (values->has & (HS_COLLECT_HAS_OCCUPANCY | HS_COLLECT_HAS_Q)) {
		queue = see_queue(c, values, values->queue_id, number);
		if (queue && values->has & HS_COLLECT_HAS_OCCUPANCY)
			note_occupancy(c, queue, values);
		if (queue && values->has & HS_COLLECT_HAS_Q)
			note_q(c, queue, values);
		other = *number;
	}
	if (values->has & HS_COLLECT_HAS_CONGESTION) {
		queue = see_queue(c, values, values->congestion_id, &other);
		if (queue)
			note_congestion(c, queue, values);
	}
}

// ---- links ----

static bool is_link(const struct hs_collect *c, uint32_t number, uint32_t node, uint32_t port)
{
	return number < c->links.n && c->link[number].key == hs_collect_shared_key(node, port);
}

static uint32_t search_link(const struct hs_collect *c, uint32_t hash, uint32_t node, uint32_t port)
{
	uint32_t probe = 0, number;

	do {
		number = hs_u32_map_next(&c->links.map, hash, &probe);
	} while (number != HS_COLLECT_NONE && !is_link(c, number, node, port));
	return number;
}

bool hs_collect_learn(const struct hs_collect *c, struct hs_collect_hint *at, uint64_t queue,
		uint64_t link)
{
	uint32_t node = hs_collect_key_node(queue), id = hs_collect_key_id(queue),
		 port = hs_collect_key_id(link);
	uint32_t number = search_queue(c, hs_collect_hash_2(&c->secret, node, id), node, id);
	struct hs_collect_hint now = {number == HS_COLLECT_NONE ? c->queues.capacity : number};

	node = hs_collect_key_node(link);
	number = search_link(c, hs_collect_hash_2(&c->secret, ~node, port), node, port);
	now.link = number == HS_COLLECT_NONE ? c->links.capacity : number;
	bool differs = now.queue != at->queue || now.link != at->link;
	*at = now;
	return differs;
}

void hs_collect_touch_link(struct hs_collect *c, struct hs_collect_link_entry *link)
{
	link->second = c->second;
	hs_collect_table_touch(&c->links, (uint32_t)(link - c->link), c->second);
}

// Returns the event's cause, or HS_COLLECT_CAUSES: the value is no event.
static enum hs_collect_cause see_link(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number)
{
	uint32_t node = values->node_id, port = values->port, now = values->utilisation;

	if (!is_link(c, *number, node, port)) {
		uint32_t hash = hs_collect_hash_2(&c->secret, ~node, port);
		*number = search_link(c, hash, node, port);
		if (*number == HS_COLLECT_NONE) {
			*number = hs_collect_table_add(&c->links, hash, c->second);
			if (*number == HS_COLLECT_NONE)
				return HS_COLLECT_CAUSES;
			c->link[*number] = (struct hs_collect_link_entry){
					.key = hs_collect_shared_key(node, port),
					.last_ns = c->now_ns,
					.second = c->second};
			return HS_COLLECT_NEW;
		}
	}
	struct hs_collect_link_entry *link = &c->link[*number];
	hs_collect_see_link_again(c, link, c->now_ns, c->second);
	if (hs_collect_is_change(c, HS_COLLECT_LINK_UTILISATION, link->event_utilisation, now))
		return HS_COLLECT_CHANGE;
	c->counters.suppressed[HS_COLLECT_POINT_LINK]++;
	return HS_COLLECT_CAUSES;
}

void hs_collect_note_link(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number)
{
	const uint8_t both = HS_COLLECT_HAS_PORT | HS_COLLECT_HAS_UTILISATION;

	if ((values->has & both) != both)
		return;
	enum hs_collect_cause cause = see_link(c, values, number);
	if (*number == HS_COLLECT_NONE) {
		*number = c->links.capacity;
		return;
	}
	struct hs_collect_link_entry *link = &c->link[*number];
	link->utilisation = values->utilisation;
	link->after_device_ns = hs_collect_after_device_ns(values->device_ns);
	if (cause == HS_COLLECT_CAUSES)
		return;
	hs_collect_add_point(c, &(struct hs_collect_point){.kind = HS_COLLECT_POINT_LINK,
						.cause = (uint8_t)cause,
						.has_value = true,
						.node_id = values->node_id,
						.id = values->port,
						.value = values->utilisation,
						.before = link->event_utilisation,
						.device_ns = values->device_ns});
	hs_collect_set_link_event(c, link);
}

// ---- drops ----

static uint32_t find_drop(struct hs_collect *c, uint32_t node, uint8_t reason)
{
	uint32_t hash = hs_collect_hash_2(&c->secret, node, reason), probe = 0, number;

	do {
		number = hs_u32_map_next(&c->drops.map, hash, &probe);
	} while (number != HS_COLLECT_NONE &&
			(c->drop[number].node_id != node || c->drop[number].reason != reason));
	if (number != HS_COLLECT_NONE)
		return number;
	number = hs_collect_table_add(&c->drops, hash, c->second);
	if (number != HS_COLLECT_NONE)
		c->drop[number] = (struct hs_collect_drop_entry){
				.node_id = node, .reason = reason, .first_ns = c->now_ns};
	return number;
}

void hs_collect_note_drop(
		struct hs_collect *c, uint32_t node_id, uint8_t reason, uint64_t device_ns)
{
	uint32_t number = find_drop(c, node_id, reason);

	if (number == HS_COLLECT_NONE)
		return;
	struct hs_collect_drop_entry *drop = &c->drop[number];
	bool is_new = !drop->reports++;
	hs_collect_table_touch(&c->drops, number, c->second);
	drop->last_ns = c->now_ns;
	// After the clock was set back, the last event may be in the future.
	int64_t since_ns = c->now_ns - drop->event_ns;
	if (!is_new && since_ns >= 0 && since_ns < HS_COLLECT_SECOND_NS) {
		c->counters.suppressed[HS_COLLECT_POINT_DROP]++;
		return;
	}
	hs_collect_add_point(
			c, &(struct hs_collect_point){.kind = HS_COLLECT_POINT_DROP,
					   .cause = is_new ? HS_COLLECT_NEW : HS_COLLECT_CHANGE,
					   .has_value = true,
					   .node_id = node_id,
					   .id = reason,
					   .value = drop->reports,
					   .before = drop->event_reports,
					   .device_ns = device_ns});
	drop->event_reports = drop->reports;
	drop->event_ns = c->now_ns;
}
