// SPDX-License-Identifier: BSD-3-Clause
#include "toy.h"
#include "bytes.h"
#include "classify.h"
#include "fit.h"
#include "flow_sampling.h"
#include "ip.h"
#include "report_put.h"
#include "room.h"

#include <errno.h>

#define MARK	 0x0FC0 // of the first 16 bits of IPv6
#define MOST_IDS 16

// ---- format ----

static int decode(const uint8_t *ids, size_t n, const uint8_t *e2e, size_t e2e_len,
		struct hs_decoded *out)
{
	(void)e2e;
	if (n > HS_TELEMETRY_MAX_HOPS || e2e_len)
		return -EBADMSG;
	out->ns_id = out->trace_type = 0;
	out->e2e = (struct hs_e2e){0};
	out->nodes_missing = false;
	out->n_hops = (uint16_t)n;
	for (size_t i = 0; i < n; i++)
		out->hops[i] = (struct hs_hop){.node_id = ids[i]};
	return 0;
}

const struct hs_telemetry_family toy_format = {.name = "toy",
		.number = HS_TELEMETRY_TEST,
		.packet_bits = 32,
		.max_node_id = UINT8_MAX,
		.decode = decode};

static bool is_marked(const uint8_t *ip)
{
	return (hs_be16_load(ip) & MARK) == MARK;
}

// A marked packet's ports stand behind the toy's bytes.
static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile;
	hs_packet_parse(frame, len, frame_len, NULL, packet);
	size_t at = packet->l3_off + (size_t)HS_IPV6_BYTES;
	if (!(packet->flags & HS_PACKET_IPV6) || !is_marked(frame + packet->l3_off) || at >= len)
		return;
	size_t bytes = 1u + frame[at];
	packet->flags = HS_PACKET_IPV6 | HS_PACKET_ANY_TELEMETRY;
	if (frame[at] > MOST_IDS || bytes + 4 > packet->l3_bytes - HS_IPV6_BYTES ||
			at + bytes + 4 > len)
		return;
	packet->flags |= HS_PACKET_FLOW | HS_PACKET_TELEMETRY;
	packet->trace_off = (uint16_t)at;
	packet->telemetry_bytes = (uint16_t)bytes;
	packet->l4_off = (uint16_t)(at + bytes);
	packet->l4_proto = frame[packet->l3_off + HS_IPV6_NEXT];
	packet->src_port = hs_be16_load(frame + packet->l4_off);
	packet->dst_port = hs_be16_load(frame + packet->l4_off + 2);
}

static void set_payload(uint8_t *ip, const struct hs_packet *packet, int growth)
{
	hs_be16_store(ip + HS_IPV6_PAYLOAD,
			(uint16_t)((int)packet->l3_bytes - HS_IPV6_BYTES + growth));
}

// ---- steps ----

static bool never_fast(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile, (void)frame, (void)len, (void)frame_len, (void)packet;
	return false;
}

static void classify(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_as(worker, burst, never_fast, parse);
}

static void source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];
	size_t front = packet->l3_off + (size_t)HS_IPV6_BYTES;

	if (!hs_fits(worker, burst, i, out, 1) ||
			!hs_flow_claim(&worker->flows, slot, hs_burst_steady_ns(burst)))
		return;
	uint8_t *frame = hs_room_open(burst->mbufs[i], 1), *ip = frame + packet->l3_off;
	memmove(frame, frame + 1, front);
	frame[front] = 0;
	hs_be16_store(ip, hs_be16_load(ip) | MARK);
	set_payload(ip, packet, 1);
	hs_flow_add(&worker->flows.own[slot].int_packets, 1);
}

static void transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];

	if (slot == HS_FLOW_NONE || !(packet->flags & HS_PACKET_TELEMETRY) ||
			packet->telemetry_bytes > MOST_IDS || !hs_fits(worker, burst, i, out, 1))
		return;
	uint8_t *frame = hs_room_open(burst->mbufs[i], 1);
	memmove(frame, frame + 1, packet->trace_off + 1u);
	frame[packet->trace_off]++;
	frame[packet->trace_off + 1] = (uint8_t)worker->node_id;
	set_payload(frame + packet->l3_off, packet, 1);
	hs_flow_add(&worker->flows.own[slot].hop_entries, 1);
}

static bool strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours)
{
	struct hs_packet *packet = &burst->packets[i];
	(void)ours;
	if (!(packet->flags & HS_PACKET_TELEMETRY) || !hs_make_changeable(worker, burst, i))
		return false;
	struct rte_mbuf *m = burst->mbufs[i];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *ip = frame + packet->l3_off;
	hs_be16_store(ip, hs_be16_load(ip) & (uint16_t)~MARK);
	set_payload(ip, packet, -packet->telemetry_bytes);
	memmove(frame + packet->telemetry_bytes, frame, packet->trace_off);
	frame = (uint8_t *)rte_pktmbuf_adj(m, packet->telemetry_bytes);
	parse(burst->profile, frame, rte_pktmbuf_data_len(m), rte_pktmbuf_pkt_len(m), packet);
	return true;
}

static void fill(const struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		struct hs_report_record *record)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);

	hs_report_begin(worker, burst, burst->slots[i], record);
	record->trace_len = frame[packet->trace_off];
	record->e2e_len = 0;
	record->family = HS_TELEMETRY_TEST;
	memcpy(record->data, frame + packet->trace_off + 1, record->trace_len);
}

static bool sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint32_t slot = burst->slots[i];

	if (slot != HS_FLOW_NONE && burst->packets[i].flags & HS_PACKET_TELEMETRY) {
		struct hs_report_record *record = hs_report_place(worker, slot);
		if (record)
			fill(worker, burst, i, record);
	}
	return strip(worker, burst, i, true);
}

const struct hs_family toy_steps = {
		.format = &toy_format,
		.classify = classify,
		.parse = parse,
		.source = source,
		.transit = transit,
		.sink = sink,
		.strip = strip,
};
