// SPDX-License-Identifier: BSD-3-Clause
#include "straight.h"
#include "flexint_usual.h"
#include "room.h"
#include "skeleton.h"

// The room that telemetry needs, looked at once: the usual way has it in front.
static inline bool has_room(
		const struct hs_burst *burst, unsigned i, const struct hs_port *out, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];
	const struct rte_mbuf *m = burst->mbufs[i];

	return hs_packet_l3_bytes(packet) + growth <= out->mtu &&
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

// ---- transit ----

static inline void add_hop(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_sums sums;

	hs_flow_sum(&worker->flows, slot, &sums);
	struct hs_hop hop = {
			.node_id = worker->node_id,
			.tx_packets = (uint16_t)sums.tx_packets,
			.rx_packets = (uint16_t)sums.rx_packets,
			.ts_ns = (uint64_t)hs_burst_rx_ns(burst, i),
			.tx_bytes = (uint32_t)sums.tx_bytes,
			.rx_bytes = (uint32_t)sums.rx_bytes,
	};
	uint8_t *frame = grow(burst->mbufs[i], HS_USUAL_HOP_BYTES);
	hs_usual_hop_insert(frame, &burst->packets[i], &hop);
	hs_flow_add(&worker->flows.own[slot].hop_entries, 1);
}

// Telemetry of the usual kind, of a rule of this node.
static inline bool is_usual_transit(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, const struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];

	return (packet->flags & (HS_PACKET_TELEMETRY | HS_PACKET_PUNT)) == HS_PACKET_TELEMETRY &&
	       hs_flow_is_of(&worker->flows, burst->slots[i], packet->ns_id) &&
	       ((uint16_t)packet->trace_type & HS_HOP_KNOWN) == HS_HOP_KNOWN &&
	       hs_flow_hop_enabled(&worker->flows.own[burst->slots[i]]) &&
	       has_room(burst, i, out, HS_USUAL_HOP_BYTES) &&
	       hs_usual_hop_fits(rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *), packet);
}

static inline void transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	if (likely(is_usual_transit(worker, burst, i, out)))
		add_hop(worker, burst, i);
	else
		hs_transit(worker, burst, i, out);
}

void hs_straight_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	if (unlikely(worker->partial)) // entries of any size
		hs_to_network_as(worker, burst, first, end, out, false, hs_transit);
	else
		hs_to_network_as(worker, burst, first, end, out, false, transit);
}

// ---- sink ----

static inline void copy_words(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 8)
		memcpy(to + at, from + at, 8);
}

// As our nodes write them: whole words of entries, and the source's entry of the usual fields.
static inline void fill_usual(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, struct hs_report_record *record)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *trace = frame + packet->trace_off, *e2e = frame + packet->e2e_off;

	if (unlikely(trace[1] % 8 || e2e[1] != HS_USUAL_E2E_BYTES)) {
		hs_report_fill(worker, burst, i, record);
		return;
	}
	hs_report_begin(worker, burst, i, record);
	record->trace_len = trace[1];
	record->e2e_len = HS_USUAL_E2E_BYTES;
	copy_words(record->data, trace + 2, trace[1]);
	memcpy(record->data + trace[1], e2e + 2, HS_USUAL_E2E_BYTES);
}

static inline bool is_usual_sink(
		const struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];

	return hs_flow_is_of(&worker->flows, burst->slots[i], packet->ns_id) &&
	       hs_usual_is_stripped_whole(packet) && hs_room_is_changeable(burst->mbufs[i]);
}

static inline bool sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct rte_mbuf *m = burst->mbufs[i];

	if (unlikely(!is_usual_sink(worker, burst, i)))
		return hs_sink(worker, burst, i);
	hs_report_put(worker, burst, i, fill_usual);
	grow(m, -(int)hs_usual_strip(rte_pktmbuf_mtod(m, uint8_t *), &burst->packets[i]));
	return true;
}

void hs_straight_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	hs_to_host_as(worker, burst, first, end, out, sink);
}
