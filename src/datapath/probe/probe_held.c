// SPDX-License-Identifier: BSD-3-Clause
// Copies of probes that wait for feedback of the next node (SQR).
#include "probe_send.h"
#include "probe_steps.h"

#include "clock.h"
#include "exporter.h"
#include "stage.h"

enum {
	PORT_SHIFT = 16,
};

static uint32_t key_of(uint16_t port, uint16_t id)
{
	return HS_PROBE_HOLDS | (uint32_t)port << PORT_SHIFT | id;
}

static void release(struct hs_probe_worker *own, uint32_t at)
{
	rte_pktmbuf_free(own->held[at].mbuf);
	own->held[at].mbuf = NULL;
	atomic_store_explicit(&own->keys[at], 0, memory_order_relaxed);
	own->n_held--;
}

// The search for a copy, and for a place for it, begins at the place that its ID gives, so that few
// steps find it.
static uint32_t first_place(const struct hs_probe_node *node, uint16_t id)
{
	return id % node->profile->held;
}

static uint32_t next_place(uint32_t at, uint32_t size)
{
	return at + 1 < size ? at + 1 : 0;
}

// Returns a free place, or profile->held if there is none. The place of a copy that another worker
// confirmed becomes free.
static uint32_t find_place(struct hs_probe_worker *own, uint16_t id)
{
	uint32_t size = own->node->profile->held, at = first_place(own->node, id);

	for (uint32_t n = 0; n < size; n++, at = next_place(at, size)) {
		uint32_t key = atomic_load_explicit(&own->keys[at], memory_order_acquire);
		if (key & HS_PROBE_CONFIRMED)
			release(own, at);
		else if (key)
			continue;
		return at;
	}
	return size;
}

bool hs_probe_hold(struct hs_worker *worker, const struct rte_mbuf *m,
		const struct hs_packet *packet, const struct hs_port *out, int64_t steady_ns)
{
	struct hs_probe_worker *own = worker->probe;
	uint16_t id = hs_probe_id(rte_pktmbuf_mtod(m, const uint8_t *), packet);
	uint32_t at = find_place(own, id);
	struct rte_mbuf *copy;

	if (at == own->node->profile->held)
		return false;
	copy = rte_pktmbuf_copy(m, worker->pool, 0, UINT32_MAX);
	if (!copy)
		return false;
	int64_t deadline_ns = steady_ns + own->node->profile->timeout_ns;
	own->held[at] = (struct hs_probe_held){.mbuf = copy,
			.deadline_ns = deadline_ns,
			.out = out->index,
			.l3_off = packet->l3_off};
	if (!own->n_held || deadline_ns < own->next_ns)
		own->next_ns = deadline_ns;
	own->n_held++;
	atomic_store_explicit(&own->keys[at], key_of(out->index, id), memory_order_release);
	return true;
}

// Confirms the copy in a place. Of several workers that try, one returns true.
static bool confirm_at(_Atomic uint32_t *place, uint32_t key)
{
	return atomic_load_explicit(place, memory_order_relaxed) == key &&
	       atomic_compare_exchange_strong_explicit(place, &key, key | HS_PROBE_CONFIRMED,
			       memory_order_release, memory_order_relaxed);
}

bool hs_probe_confirm(struct hs_probe_worker *own, uint16_t port, uint16_t id)
{
	const struct hs_probe_node *node = own->node;
	uint32_t size = node->profile->held, key = key_of(port, id);

	for (unsigned w = 0; w < node->n_workers; w++) {
		struct hs_probe_worker *holder = node->workers[w]->probe;
		uint32_t at = first_place(node, id);
		for (uint32_t n = 0; n < size; n++, at = next_place(at, size)) {
			if (!confirm_at(&holder->keys[at], key))
				continue;
			if (holder == own)
				release(own, at);
			return true;
		}
	}
	return false;
}

// ---- timeouts ----

// Makes a burst of the copy, as if the copy came in by the port behind which it was lost.
static void set_burst(struct hs_worker *worker, struct hs_burst *burst, struct rte_mbuf *m,
		struct hs_port *from)
{
	burst->in = from;
	burst->profile = &worker->profiles[from->index];
	burst->sent_ns = 0;
	burst->n = 1;
	burst->n_received = 0; // the bytes of a burst are not known
	burst->unmatched = true;
	burst->chained = m->nb_segs > 1;
	burst->changeable = true; // a copy of our own
	burst->max_bytes = rte_pktmbuf_pkt_len(m);
	burst->mbufs[0] = m;
	burst->slots[0] = HS_FLOW_NONE;
	hs_probe_steps.parse(burst->profile, rte_pktmbuf_mtod(m, const uint8_t *),
			rte_pktmbuf_data_len(m), rte_pktmbuf_pkt_len(m), &burst->packets[0]);
	burst->flags = burst->packets[0].flags;
}

static void recover(struct hs_worker *worker, const struct hs_probe_held *held)
{
	const struct hs_probe_profile *profile = worker->probe->node->profile;
	struct hs_port *to = hs_probe_port(worker, profile->monitor_port);
	struct hs_burst *burst = &worker->burst;

	hs_probe_mark_recovery(
			&profile->wire, rte_pktmbuf_mtod(held->mbuf, uint8_t *), held->l3_off);
	set_burst(worker, burst, held->mbuf, worker->ports[held->out]);
	hs_port_stats_of(worker, held->out)->copies++;
	hs_event(worker, burst, HS_EVENT_PROBE_RECOVERED);
	if (to) {
		hs_probe_send_whole(worker, burst, 0, to);
		return;
	}
	hs_probe_leave(worker, burst, 0);
	worker->forward(worker, burst);
	hs_telemetry(worker, burst);
	hs_transmit(worker); // more copies may be due than a transmit queue has places
}

// Returns whether the copy's time is over and nobody confirmed the copy. Frees the place.
static bool take_late(struct hs_probe_worker *own, uint32_t at, struct hs_probe_held *held)
{
	uint32_t key = atomic_load_explicit(&own->keys[at], memory_order_acquire);

	*held = own->held[at];
	if (key & HS_PROBE_CONFIRMED ||
			!atomic_compare_exchange_strong_explicit(&own->keys[at], &key, 0,
					memory_order_acquire, memory_order_acquire)) {
		release(own, at);
		return false;
	}
	own->held[at].mbuf = NULL;
	own->n_held--;
	return true;
}

static void serve_late(struct hs_worker *worker, int64_t steady_ns)
{
	struct hs_probe_worker *own = worker->probe;
	struct hs_probe_held held;

	own->next_ns = INT64_MAX;
	for (uint32_t at = 0; at < own->node->profile->held; at++) {
		if (!own->held[at].mbuf)
			continue;
		if (own->held[at].deadline_ns > steady_ns)
			own->next_ns = RTE_MIN(own->next_ns, own->held[at].deadline_ns);
		else if (take_late(own, at, &held))
			recover(worker, &held);
	}
}

void hs_probe_serve_held(struct hs_worker *worker)
{
	struct hs_burst *burst = &worker->burst;

	burst->now_ns = hs_clock_read(worker->clock, &burst->stepped_ns);
	if (hs_burst_steady_ns(burst) < worker->probe->next_ns)
		return;
	hs_worker_begin(worker);
	serve_late(worker, hs_burst_steady_ns(burst));
	hs_transmit(worker);
	if (unlikely(worker->exporter))
		hs_export_flush(worker);
	hs_worker_end(worker);
}

void hs_probe_free_held(struct hs_probe_worker *own)
{
	for (uint32_t at = 0; at < own->node->profile->held; at++) {
		if (own->held[at].mbuf)
			release(own, at);
	}
}
