// SPDX-License-Identifier: BSD-3-Clause
#include "straight.h"
#include "flexint_usual.h"
#include "report_fill.h"
#include "room.h"

#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

#define PLAIN (HS_PACKET_IPV6 | HS_PACKET_FLOW)

// What is the same for all packets of a run, and what is added up over it.
struct run {
	struct hs_worker *worker;
	struct hs_burst *burst;
	struct hs_port *out;
	struct hs_tx_queue *queue;
	unsigned n_queued;
	unsigned n_over_mtu;
	unsigned n_stripped;
	// Reports: places in the ring that are reserved, and how many of them are filled.
	struct rte_ring_zc_data places;
	unsigned n_places, n_filled;
	unsigned n_reports;
};

// ---- every packet ----

static inline bool is_sendable(const struct run *run, unsigned i)
{
	return likely(run->burst->mbufs[i]->nb_segs == 1) || run->out->tx_multi_seg;
}

static inline void count(const struct run *run, uint32_t slot, uint32_t bytes)
{
	struct hs_flow_worker *own = &run->worker->flows.own[slot];

	if (unlikely(!own->seen))
		hs_flow_mark_seen(&run->worker->flows, slot);
	hs_flow_add(&own->rx_packets, 1);
	hs_flow_add(&own->rx_bytes, bytes);
	hs_flow_add(&own->tx_packets, 1);
	hs_flow_add(&own->tx_bytes, bytes);
}

static inline void enqueue(struct run *run, unsigned i, uint32_t bytes)
{
	struct hs_tx_queue *queue = run->queue;
	struct rte_mbuf *m = run->burst->mbufs[i];
	unsigned at = queue->n++;

	run->n_over_mtu += rte_pktmbuf_pkt_len(m) > hs_longest_frame(run->out);
	queue->mbufs[at] = m;
	queue->slots[at] = run->burst->slots[i];
	queue->bytes[at] = bytes;
	run->n_queued++;
}

// The room that telemetry needs, looked at once: the usual way has it in front.
static inline bool has_room(const struct run *run, unsigned i, size_t growth)
{
	const struct hs_packet *packet = &run->burst->packets[i];
	const struct rte_mbuf *m = run->burst->mbufs[i];

	return hs_packet_l3_bytes(packet) + growth <= run->out->mtu &&
	       packet->payload_bytes + growth <= UINT16_MAX && hs_room_is_changeable(m) &&
	       rte_pktmbuf_headroom(m) >= growth;
}

// Negative growth takes from the front.
static inline uint8_t *grow(struct rte_mbuf *m, int growth)
{
	m->data_off = (uint16_t)(m->data_off - growth);
	m->data_len = (uint16_t)(m->data_len + growth);
	m->pkt_len += (uint32_t)growth;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

// ---- source ----

static inline bool is_usual_source(const struct run *run, unsigned i, size_t growth)
{
	const struct hs_packet *packet = &run->burst->packets[i];

	const struct hs_flow_worker *own = &run->worker->flows.own[run->burst->slots[i]];

	return own->trace_type == HS_USUAL_TRACE_TYPE && packet->flags == PLAIN &&
	       packet->l3_off == HS_QUICK_L3 && has_room(run, i, growth);
}

static inline void sample(struct run *run, unsigned i)
{
	struct hs_worker *worker = run->worker;
	uint32_t slot = run->burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	size_t growth = hs_usual_source_growth(worker->layout);
	int64_t now_ns = hs_burst_rx_ns(run->burst, i);
	struct hs_flow_sums sums;

	if (unlikely(!is_usual_source(run, i, growth))) {
		hs_source_due(worker, run->burst, i, run->out);
		return;
	}
	if (!hs_flow_claim(&worker->flows, slot, now_ns - run->burst->stepped_ns)) {
		if (unlikely(hs_flow_is_pending(own)))
			hs_source_due(worker, run->burst, i, run->out);
		return;
	}
	hs_flow_add(&own->int_packets, 1);
	hs_flow_set_ns(&own->last_int_ns, now_ns);
	hs_flow_sum(&worker->flows, slot, &sums);
	struct hs_e2e e2e = {
			.ts_ns = (uint64_t)now_ns,
			.tx_packets = (uint32_t)sums.tx_packets,
			.tx_bytes = (uint32_t)sums.tx_bytes,
	};
	uint8_t *frame = grow(run->burst->mbufs[i], (int)growth);
	if (worker->layout == HS_LAYOUT_ALIGNED)
		hs_usual_source_insert(frame, &run->burst->packets[i], own->ns_id,
				HS_LAYOUT_ALIGNED, &e2e);
	else
		hs_usual_source_insert(
				frame, &run->burst->packets[i], own->ns_id, HS_LAYOUT_PAPER, &e2e);
}

static void source_run(struct run *run, unsigned first, unsigned end)
{
	struct hs_worker *worker = run->worker;
	struct hs_burst *burst = run->burst;

	for (unsigned i = first; i < end; i++) {
		uint32_t slot = burst->slots[i];
		uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
		if (unlikely(!is_sendable(run, i))) {
			hs_telemetry_one(worker, burst, i);
			continue;
		}
		if (slot != HS_FLOW_NONE) {
			count(run, slot, bytes);
			if (hs_flow_due(&worker->flows.own[slot], &worker->rng,
					    hs_burst_steady_ns(burst, i)))
				sample(run, i);
		}
		enqueue(run, i, bytes);
	}
}

// ---- transit ----

static inline void add_hop(struct run *run, unsigned i)
{
	struct hs_worker *worker = run->worker;
	uint32_t slot = run->burst->slots[i];
	struct hs_flow_sums sums;

	hs_flow_sum(&worker->flows, slot, &sums);
	struct hs_hop hop = {
			.node_id = worker->node_id,
			.tx_packets = (uint16_t)sums.tx_packets,
			.rx_packets = (uint16_t)sums.rx_packets,
			.ts_ns = (uint64_t)hs_burst_rx_ns(run->burst, i),
			.tx_bytes = (uint32_t)sums.tx_bytes,
			.rx_bytes = (uint32_t)sums.rx_bytes,
	};
	uint8_t *frame = grow(run->burst->mbufs[i], HS_USUAL_HOP_BYTES);
	hs_usual_hop_insert(frame, &run->burst->packets[i], &hop);
	hs_flow_add(&worker->flows.own[slot].hop_entries, 1);
}

// Telemetry of the usual kind, of a rule of this node.
static inline bool is_usual_transit(const struct run *run, unsigned i)
{
	const struct hs_packet *packet = &run->burst->packets[i];

	return (packet->flags & (HS_PACKET_TELEMETRY | HS_PACKET_PUNT)) == HS_PACKET_TELEMETRY &&
	       hs_flow_is_of(&run->worker->flows, run->burst->slots[i], packet->ns_id) &&
	       ((uint16_t)packet->trace_type & HS_HOP_KNOWN) == HS_HOP_KNOWN &&
	       has_room(run, i, HS_USUAL_HOP_BYTES) &&
	       hs_usual_hop_fits(rte_pktmbuf_mtod(run->burst->mbufs[i], const uint8_t *), packet);
}

static void transit_run(struct run *run, unsigned first, unsigned end)
{
	struct hs_worker *worker = run->worker;
	struct hs_burst *burst = run->burst;

	if (unlikely(worker->partial)) { // entries of any size
		for (unsigned i = first; i < end; i++)
			hs_telemetry_one(worker, burst, i);
		return;
	}
	for (unsigned i = first; i < end; i++) {
		uint32_t slot = burst->slots[i];
		uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
		bool carries = burst->packets[i].flags & HS_PACKET_ANY_TELEMETRY;
		if (unlikely(!is_sendable(run, i) || (carries && !is_usual_transit(run, i)))) {
			hs_telemetry_one(worker, burst, i);
			continue;
		}
		if (slot != HS_FLOW_NONE)
			count(run, slot, bytes);
		if (carries && hs_flow_hop_enabled(&worker->flows.own[slot]))
			add_hop(run, i);
		else if (unlikely(carries))
			hs_transit(worker, burst, i, run->out); // fields of its own, or none
		enqueue(run, i, bytes);
	}
}

// ---- sink ----

static inline void *place_at(const struct run *run, unsigned k)
{
	struct hs_report_record *part = run->places.ptr1;

	if (k >= run->places.n1) {
		part = run->places.ptr2;
		k -= run->places.n1;
	}
	return part + k;
}

static void close_places(struct run *run)
{
	if (run->n_places)
		rte_ring_enqueue_zc_elem_finish(run->worker->reports, run->n_filled);
	run->n_places = run->n_filled = 0;
}

// Reserves places for up to n reports, and fetches the lines that a report of two hops fills.
static void open_places(struct run *run, unsigned n)
{
	run->n_places = rte_ring_enqueue_zc_burst_elem_start(run->worker->reports,
			sizeof(struct hs_report_record), n, &run->places, NULL);
	run->n_filled = 0;
	for (unsigned k = 0; k < run->n_places; k++) {
		const uint8_t *place = (const uint8_t *)place_at(run, k);
		rte_prefetch0_write(place);
		rte_prefetch0_write(place + RTE_CACHE_LINE_SIZE);
	}
}

// How many of a run will be reported, at most.
static unsigned expect_reports(const struct run *run, unsigned first, unsigned end)
{
	const struct hs_burst *burst = run->burst;
	unsigned n = 0;

	for (unsigned i = first; i < end; i++)
		n += burst->packets[i].flags & HS_PACKET_TELEMETRY &&
		     burst->slots[i] != HS_FLOW_NONE;
	return n;
}

static inline void copy_words(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 8)
		memcpy(to + at, from + at, 8);
}

// As our nodes write them: whole words of entries, and the source's entry of the usual fields.
static inline void fill_usual(const struct run *run, unsigned i, struct hs_report_record *record)
{
	const struct hs_packet *packet = &run->burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(run->burst->mbufs[i], const uint8_t *);
	const uint8_t *trace = frame + packet->trace_off, *e2e = frame + packet->e2e_off;

	if (unlikely(trace[1] % 8 || e2e[1] != HS_USUAL_E2E_BYTES)) {
		hs_report_fill(run->worker, run->burst, i, record);
		return;
	}
	hs_report_begin(run->worker, run->burst, i, record);
	record->trace_len = trace[1];
	record->e2e_len = HS_USUAL_E2E_BYTES;
	copy_words(record->data, trace + 2, trace[1]);
	memcpy(record->data + trace[1], e2e + 2, HS_USUAL_E2E_BYTES);
}

static inline void report(struct run *run, unsigned i, unsigned left)
{
	struct hs_flow_worker *own = &run->worker->flows.own[run->burst->slots[i]];

	hs_flow_add(&own->sink_packets, 1);
	hs_flow_add(&own->reports_made, 1);
	run->n_reports++;
	if (unlikely(run->n_filled == run->n_places)) {
		close_places(run);
		open_places(run, left);
	}
	if (unlikely(!run->n_places)) {
		hs_flow_add(&own->reports_lost, 1);
		hs_flow_add(&run->worker->reports_lost, 1);
		return;
	}
	fill_usual(run, i, place_at(run, run->n_filled++));
}

static inline bool is_usual_sink(const struct run *run, unsigned i)
{
	const struct hs_packet *packet = &run->burst->packets[i];

	return hs_flow_is_of(&run->worker->flows, run->burst->slots[i], packet->ns_id) &&
	       hs_usual_is_stripped_whole(packet) && hs_room_is_changeable(run->burst->mbufs[i]);
}

static void sink_run(struct run *run, unsigned first, unsigned end)
{
	struct hs_burst *burst = run->burst;
	unsigned expected = expect_reports(run, first, end);

	if (expected)
		open_places(run, expected);
	for (unsigned i = first; i < end; i++) {
		struct hs_packet *packet = &burst->packets[i];
		uint32_t slot = burst->slots[i];
		uint32_t bytes = hs_packet_counted_bytes(packet);
		bool carries = packet->flags & HS_STAGE_SUSPECT;
		if (unlikely(!is_sendable(run, i) || (carries && !is_usual_sink(run, i)))) {
			close_places(run); // it may report, too
			hs_telemetry_one(run->worker, burst, i);
			continue;
		}
		if (slot != HS_FLOW_NONE)
			count(run, slot, bytes);
		if (carries) {
			struct rte_mbuf *m = burst->mbufs[i];
			report(run, i, end - i);
			grow(m, -(int)hs_usual_strip(rte_pktmbuf_mtod(m, uint8_t *), packet));
			run->n_stripped++;
		}
		enqueue(run, i, bytes);
	}
	close_places(run);
}

// ---- all of a run alike ----

// Nothing to count, nothing to insert: the pointers are all there is to move.
static bool pass_run(struct run *run, unsigned first, unsigned end)
{
	const struct hs_burst *burst = run->burst;
	struct hs_tx_queue *queue = run->queue;
	unsigned n = end - first;

	if (!burst->unmatched || burst->flags & HS_STAGE_SUSPECT ||
			burst->max_bytes > hs_longest_frame(run->out) || burst->chained)
		return false;
	memcpy(&queue->mbufs[queue->n], &burst->mbufs[first], n * sizeof(queue->mbufs[0]));
	memset(&queue->slots[queue->n], 0xff, n * sizeof(queue->slots[0]));
	queue->n = (uint16_t)(queue->n + n);
	run->n_queued = n;
	return true;
}

static void add_up(const struct run *run)
{
	struct hs_port_stats *in = hs_port_stats_of(run->worker, run->burst->in->index);

	in->forwarded += run->n_queued;
	in->events[HS_EVENT_OVER_MTU] += run->n_over_mtu;
	in->events[HS_EVENT_STRIPPED] += run->n_stripped;
	hs_port_stats_of(run->worker, run->out->index)->offered += run->n_queued;
	if (run->n_reports)
		hs_flow_add(&run->worker->reports_made, run->n_reports);
}

void hs_straight(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	struct run run = {
			.worker = worker,
			.burst = burst,
			.out = out,
			.queue = &worker->tx[out->index],
	};

	if (!pass_run(&run, first, end)) {
		if (out->side == HS_SIDE_HOST)
			sink_run(&run, first, end);
		else if (burst->in->side == HS_SIDE_HOST)
			source_run(&run, first, end);
		else
			transit_run(&run, first, end);
	}
	add_up(&run);
}
