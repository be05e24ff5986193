// SPDX-License-Identifier: BSD-3-Clause
#include "collector_record.h"

#include <stddef.h>
#include <string.h>

struct record {
	int64_t time_ns, told_ns;
	uint32_t n_points;
	uint32_t flow_bytes; // of the flow and its padding, before the points; 0: no flow
};

static uint32_t flow_bytes(const struct hs_collect_flow *flow)
{
	if (!flow)
		return 0;
	size_t bytes = offsetof(struct hs_collect_flow, hops) +
		       flow->n_hops * sizeof(struct hs_collect_hop);
	return (uint32_t)((bytes + 7) & ~(size_t)7);
}

bool hs_collector_record_put(struct hs_collector_ring *ring, const struct hs_collect_event *event)
{
	const struct record head = {
			event->time_ns, event->told_ns, event->n_points, flow_bytes(event->flow)};
	uint32_t points = event->n_points * (uint32_t)sizeof(struct hs_collect_point);
	uint8_t *at = hs_collector_ring_reserve(
			ring, (uint32_t)sizeof(head) + head.flow_bytes + points);

	if (!at)
		return false;
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	if (event->flow)
		memcpy(at, event->flow, head.flow_bytes);
	memcpy(at + head.flow_bytes, event->points, points);
	hs_collector_ring_commit(ring);
	return true;
}

bool hs_collector_record_take(struct hs_collector_ring *ring, struct hs_collect_event *event)
{
	const struct record *record = hs_collector_ring_peek(ring);

	if (!record)
		return false;
	const uint8_t *at = (const uint8_t *)(record + 1);
	*event = (struct hs_collect_event){
			.time_ns = record->time_ns,
			.told_ns = record->told_ns,
			.flow = record->flow_bytes ? (const void *)at : NULL,
			.points = (const void *)(at + record->flow_bytes),
			.n_points = record->n_points,
	};
	return true;
}

void hs_collector_record_drop(struct hs_collector_ring *ring)
{
	hs_collector_ring_release(ring);
}

static void add_points(void *sum, const void *record)
{
	*(uint64_t *)sum += ((const struct record *)record)->n_points;
}

uint64_t hs_collector_record_waiting(const struct hs_collector_ring *ring, uint64_t end)
{
	uint64_t sum = 0;

	hs_collector_ring_visit(ring, end, add_points, &sum);
	return sum;
}
