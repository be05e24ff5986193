// SPDX-License-Identifier: BSD-3-Clause
// Two collectors that are told the same: the first takes its fast paths, the second its general
// path.
#pragma once

#include "collect_test.h"

#include "collect_parts.h"
#include "rng.h"

static struct hs_rng rng;
static uint64_t sums[2];
static unsigned side;

static inline uint32_t below(uint32_t n)
{
	return hs_rng_u32(&rng) % n;
}

static inline void add(uint64_t value)
{
	sums[side] = (sums[side] ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	sums[side] ^= sums[side] >> 29;
}

// Everything that an event says.
static inline void sum_event(void *context, const struct hs_collect_event *event)
{
	(void)context;
	add((uint64_t)event->time_ns);
	for (unsigned i = 0; i < event->n_points; i++) {
		const struct hs_collect_point *p = &event->points[i];
		add(p->kind | p->cause << 8 | p->has_value << 16 | p->by_q << 17);
		add((uint64_t)p->node_id << 32 | p->id);
		add(p->value);
		add(p->before);
		add(p->device_ns);
	}
	add(event->flow != NULL);
	if (!event->flow)
		return;
	add(event->flow->latency);
	for (unsigned i = 0; i < event->flow->n_hops; i++)
		add((uint64_t)event->flow->hops[i].node_id << 32 | event->flow->hops[i].latency);
}

static inline void compare(const struct hs_collect *a, const struct hs_collect *b)
{
	struct hs_collect_flow of[2];
	struct hs_collect_queue queues[2][64];
	struct hs_collect_link links[2][64];
	struct hs_collect_exporter exporters[2][64];
	uint64_t at[2][4] = {{0}};

	assert_memory_equal(hs_collect_counters(a), hs_collect_counters(b),
			sizeof(struct hs_collect_counters));
	memset(of, 0, sizeof(of));
	while (hs_collect_flows(a, &at[0][0], &of[0], 1)) {
		assert_int_equal(hs_collect_flows(b, &at[1][0], &of[1], 1), 1);
		assert_memory_equal(&of[0], &of[1], offsetof(struct hs_collect_flow, hops));
		for (unsigned i = 0; i < of[0].n_hops; i++) {
			assert_int_equal(of[0].hops[i].node_id, of[1].hops[i].node_id);
			assert_int_equal(of[0].hops[i].latency, of[1].hops[i].latency);
			assert_int_equal(of[0].hops[i].has_latency, of[1].hops[i].has_latency);
		}
	}
	memset(queues, 0, sizeof(queues));
	memset(links, 0, sizeof(links));
	memset(exporters, 0, sizeof(exporters));
	for (unsigned i = 0; i < 2; i++) {
		hs_collect_queues(i ? b : a, &at[i][1], queues[i], 64);
		hs_collect_links(i ? b : a, &at[i][2], links[i], 64);
		hs_collect_exporters(i ? b : a, &at[i][3], exporters[i], 64);
	}
	assert_memory_equal(queues[0], queues[1], sizeof(queues[0]));
	assert_memory_equal(links[0], links[1], sizeof(links[0]));
	assert_memory_equal(exporters[0], exporters[1], sizeof(exporters[0]));
}

static inline void open_both(const struct hs_collect_config *config, struct hs_collect *both[2])
{
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(hs_collect_create(config, sum_event, NULL, &both[i], NULL), 0);
		both[i]->general = i;
		sums[i] = 1;
	}
}

static inline void close_both(struct hs_collect *both[2])
{
	hs_collect_destroy(both[0]);
	hs_collect_destroy(both[1]);
}
