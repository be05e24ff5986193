// SPDX-License-Identifier: BSD-3-Clause
// An independent count of what an egress queue does, and a queue without a node.
//
// Thread rule: as struct hs_egress.
#pragma once

#include "egress.h"
#include "dpdk_env.h"
#include "rng.h"

#include <rte_malloc.h>

__extension__ typedef __int128 wide;

#define MODEL_KEPT 4096

// Exact time in 1/rate of a nanosecond; all departures so far, and nothing is ever forgotten but
// by age.
struct model {
	uint64_t rate_bps;
	uint32_t limit;
	int64_t now_ns;
	wide departs;
	wide kept[MODEL_KEPT];
	uint64_t n;
};

static inline uint32_t model_depth(const struct model *m)
{
	uint32_t depth = 0;

	for (uint64_t k = m->n > MODEL_KEPT ? m->n - MODEL_KEPT : 0; k < m->n; k++)
		depth += (int64_t)(m->kept[k % MODEL_KEPT] / (wide)m->rate_bps) > m->now_ns;
	return depth;
}

// Returns the departure, or -1 for a packet that finds no place.
static inline int64_t model_take(struct model *m, int64_t now_ns, uint32_t bytes, uint32_t *depth)
{
	m->now_ns = now_ns > m->now_ns ? now_ns : m->now_ns;
	*depth = model_depth(m);
	if (*depth > m->limit)
		return -1;
	wide start = (wide)m->now_ns * m->rate_bps;
	if (start / (wide)m->rate_bps <= m->departs / (wide)m->rate_bps)
		start = m->departs;
	m->departs = start + (wide)bytes * 8 * 1000000000;
	m->kept[m->n++ % MODEL_KEPT] = m->departs;
	return (int64_t)(m->departs / (wide)m->rate_bps);
}

// ---- a queue without a node ----

struct queue {
	struct hs_egress *egress;
	struct hs_egress_worker *own;
	struct hs_worker *worker;
	struct hs_port port;
};

static inline void queue_open(struct queue *q, uint64_t rate_bps, uint32_t limit)
{
	*q = (struct queue){
			.egress = hs_egress_create(rate_bps, limit),
			.worker = calloc(1, sizeof(*q->worker)),
	};
	q->own = hs_egress_join(q->egress);
	q->worker->egress[0] = q->own;
}

static inline void queue_close(struct queue *q)
{
	rte_free(q->own);
	hs_egress_destroy(q->egress);
	free(q->worker);
}

// A run of one packet, which gets its departure at once and stays in hand. False: no place.
static inline bool queue_take(struct queue *q, int64_t now_ns, uint32_t bytes)
{
	hs_egress_open(q->worker, &q->port, now_ns, 1);
	return hs_egress_take(q->own, bytes);
}

// As if the packet in hand went on: it keeps its place in the count.
static inline void queue_end(struct queue *q)
{
	q->own->bytes = 0;
	hs_egress_close(q->own);
}

static inline int64_t queue_departs_ns(const struct queue *q)
{
	return hs_egress_ns(q->egress->departs);
}
