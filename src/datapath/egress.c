// SPDX-License-Identifier: BSD-3-Clause
#include "egress.h"

#include "clock.h"
#include "stage.h"

#include <math.h>

#include <rte_malloc.h>
#include <rte_mempool.h>

static uint32_t places(uint32_t queue_packets)
{
	return rte_align32pow2(queue_packets + 1); // and the packet that is being sent
}

struct hs_egress *hs_egress_create(uint64_t rate_bps, uint32_t queue_packets)
{
	uint32_t n = places(queue_packets);
	struct hs_egress *egress = rte_zmalloc("egress",
			sizeof(*egress) + n * sizeof(egress->departures[0]), RTE_CACHE_LINE_SIZE);

	if (!egress)
		return NULL;
	egress->rate_bps = rate_bps;
	egress->inverse = UINT64_MAX / rate_bps;
	egress->limit = queue_packets;
	egress->mask = n - 1;
	egress->now_ns = egress->departs_ns = egress->averaged_ns = INT64_MIN / 2;
	return egress;
}

void hs_egress_destroy(struct hs_egress *egress)
{
	rte_free(egress);
}

struct hs_egress_worker *hs_egress_join(struct hs_egress *egress)
{
	struct hs_egress_worker *own = rte_zmalloc("egress worker",
			sizeof(*own) + (egress->mask + 1) * sizeof(own->waiting[0]),
			RTE_CACHE_LINE_SIZE);

	if (!own)
		return NULL;
	own->port = egress;
	own->mask = egress->mask;
	return own;
}

uint64_t hs_egress_bytes(uint32_t queue_packets, unsigned n_workers)
{
	uint64_t n = places(queue_packets);

	return sizeof(struct hs_egress) + n * sizeof(int64_t) +
	       n_workers * (sizeof(struct hs_egress_worker) +
					   n * sizeof(struct hs_egress_waiting)) +
	       4096;
}

// ---- utilisation ----

// What is left of an average after this time.
static double left_after(int64_t ns)
{
	double x = (double)ns / HS_EGRESS_AVERAGE_NS;

	if (likely(x < 0.01)) // x^4 / 24 < 5e-10
		return 1 - x * (1 - x * (0.5 - x / 6));
	return exp(-x);
}

// Since the last call, the port sent until departs_ns and then nothing.
static void average(struct hs_egress *egress, int64_t now_ns)
{
	int64_t from_ns = egress->averaged_ns;
	int64_t busy_until_ns = RTE_MIN(RTE_MAX(egress->departs_ns, from_ns), now_ns);

	if (now_ns <= from_ns)
		return;
	if (busy_until_ns > from_ns)
		egress->busy = 1 - (1 - egress->busy) * left_after(busy_until_ns - from_ns);
	if (now_ns > busy_until_ns)
		egress->busy *= left_after(now_ns - busy_until_ns);
	egress->averaged_ns = now_ns;
}

void hs_egress_advance(struct hs_egress *egress, int64_t now_ns)
{
	if (unlikely(now_ns < egress->now_ns))
		return; // a worker that was faster has read a later time
	egress->now_ns = now_ns;
	average(egress, now_ns);
	if (egress->departs_ns <= now_ns) {
		egress->head = egress->tail;
		return;
	}
	while (egress->head != egress->tail &&
			egress->departures[egress->head & egress->mask] <= now_ns)
		egress->head++;
}

bool hs_egress_refuse(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	hs_count_forwarded(worker, burst, out, 1);
	hs_drop(worker, out->index, HS_DROP_QUEUE_FULL, burst->mbufs[i]);
	return false;
}

// ---- what telemetry writes ----

static uint32_t share(double part)
{
	return (uint32_t)(part * HS_EGRESS_WHOLE + 0.5);
}

static uint32_t buffer_share(struct hs_worker *worker, int64_t now_ns)
{
	struct hs_worker_buffer *buffer = &worker->buffer;

	if (now_ns - buffer->read_ns >= HS_EGRESS_BUFFER_NS || now_ns < buffer->read_ns) {
		buffer->read_ns = now_ns;
		buffer->share = share((double)rte_mempool_in_use_count(worker->pool) /
				      worker->pool->size);
	}
	return buffer->share;
}

void hs_egress_read(struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct hs_egress_values *values)
{
	struct hs_egress_worker *own = hs_egress_of(worker, out);

	*values = (struct hs_egress_values){
			.has = HS_EGRESS_HAS_BUFFER,
			.buffer = buffer_share(worker, hs_burst_steady_ns(burst)),
	};
	if (!own)
		return;
	values->has |= HS_EGRESS_HAS_UTILISATION;
	values->utilisation = share(own->port->busy);
	if (!hs_egress_settle(own, bytes))
		return;
	values->has |= HS_EGRESS_HAS_DEPARTURE | HS_EGRESS_HAS_DEPTH;
	values->departs_ns = own->port->departs_ns + burst->stepped_ns;
	values->depth = own->depth;
	values->congestion = (uint32_t)((uint64_t)own->depth * HS_EGRESS_WHOLE / own->port->limit);
}

// ---- sending ----

static inline bool is_due(const struct hs_egress_worker *own, int64_t now_ns)
{
	return own->head != own->tail && own->waiting[own->head & own->mask].departs_ns <= now_ns;
}

// A packet that waited stays counted as sent by its rule, whatever the device does with it: later
// packets of the flow may carry the count.
static unsigned send_burst(struct hs_worker *worker, struct hs_port *port, int64_t now_ns)
{
	struct hs_egress_worker *own = hs_egress_of(worker, port);
	struct hs_tx_queue *queue = &worker->tx[port->index];
	unsigned n = 0;

	for (; n < HS_BURST && is_due(own, now_ns); n++)
		hs_enqueue_at(queue, n, own->waiting[own->head++ & own->mask].mbuf, HS_FLOW_NONE,
				0);
	if (n) {
		queue->n = (uint16_t)n;
		hs_port_stats_of(worker, port->index)->queued -= n;
		hs_transmit_port(worker, port);
	}
	return n;
}

void hs_egress_make_room(struct hs_worker *worker, struct hs_port *port)
{
	send_burst(worker, port, hs_egress_of(worker, port)->port->now_ns);
}

static unsigned send_until(struct hs_worker *worker, int64_t now_ns)
{
	unsigned sent = 0, n;

	for (uint16_t p = 0; p < worker->n_ports; p++) {
		if (!worker->egress[p])
			continue;
		do {
			n = send_burst(worker, worker->ports[p], now_ns);
			sent += n;
		} while (n == HS_BURST);
	}
	return sent;
}

unsigned hs_egress_send_due(struct hs_worker *worker)
{
	int64_t stepped_ns, now_ns = hs_clock_read(worker->clock, &stepped_ns);

	now_ns -= stepped_ns;
	if (hs_egress_next_ns(worker) > now_ns)
		return 0;
	hs_worker_begin(worker);
	unsigned sent = send_until(worker, now_ns);
	hs_worker_end(worker);
	return sent;
}

int64_t hs_egress_next_ns(const struct hs_worker *worker)
{
	int64_t next_ns = INT64_MAX;

	for (uint16_t p = 0; p < worker->n_ports; p++) {
		const struct hs_egress_worker *own = worker->egress[p];
		if (own && own->head != own->tail)
			next_ns = RTE_MIN(next_ns, own->waiting[own->head & own->mask].departs_ns);
	}
	return next_ns;
}

void hs_egress_drop_all(struct hs_worker *worker)
{
	for (uint16_t p = 0; p < worker->n_ports; p++) {
		struct hs_egress_worker *own = worker->egress[p];
		while (own && own->head != own->tail) {
			hs_port_stats_of(worker, p)->queued--;
			hs_drop(worker, p, HS_DROP_PORT_DOWN,
					own->waiting[own->head++ & own->mask].mbuf);
		}
	}
}
