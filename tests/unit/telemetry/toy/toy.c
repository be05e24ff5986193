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

#define COUNT 3 // in the IPv6 header: the last byte of the flow label

static int decode(const uint8_t *ids, size_t n, const uint8_t *e2e, size_t e2e_len,
		struct hs_decoded *out)
{
	(void)e2e;
	if (n < 1 || n > HS_TELEMETRY_MAX_HOPS || e2e_len)
		return -EBADMSG;
	out->ns_id = out->trace_type = 0;
	out->e2e = (struct hs_e2e){0};
	out->nodes_missing = false;
	out->n_hops = (uint16_t)(n - 1); // the last is the source
	for (size_t i = 0; i < n - 1; i++)
		out->hops[i] = (struct hs_hop){.node_id = ids[i]};
	return 0;
}

const struct hs_telemetry_family toy_format = {.name = "toy",
		.number = HS_TELEMETRY_TEST,
		.packet_bits = 32,
		.max_node_id = UINT8_MAX,
		.decode = decode};

static void parse(const struct hs_profile *profile, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	(void)profile;
	hs_packet_parse(frame, len, frame_len, NULL, packet);
	const uint8_t *ip = frame + packet->l3_off;
	size_t at = packet->l3_off + (size_t)HS_IPV6_BYTES;
	if (!(packet->flags & HS_PACKET_IPV6) || !ip[COUNT])
		return;
	packet->flags = HS_PACKET_IPV6 | HS_PACKET_ANY_TELEMETRY;
	if ((size_t)HS_IPV6_BYTES + ip[COUNT] > packet->l3_bytes || at + ip[COUNT] > len)
		return;
	packet->flags |= HS_PACKET_TELEMETRY;
	packet->trace_off = (uint16_t)at;
	packet->telemetry_bytes = ip[COUNT];
	hs_packet_parse_l4(frame, len, at + ip[COUNT], ip[HS_IPV6_NEXT], packet);
}

static void move_headers(
		uint8_t *to, const uint8_t *from, const struct hs_packet *packet, int growth)
{
	uint8_t *ip = to + packet->l3_off;

	memmove(to, from, packet->l3_off + (size_t)HS_IPV6_BYTES);
	ip[COUNT] = (uint8_t)(ip[COUNT] + growth);
	hs_be16_store(ip + HS_IPV6_PAYLOAD,
			(uint16_t)((int)packet->l3_bytes - HS_IPV6_BYTES + growth));
}

static void add_id(const struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		uint64_t *counter)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint8_t *frame = hs_room_open(burst->mbufs[i], 1);

	move_headers(frame, frame + 1, packet, 1);
	frame[packet->l3_off + HS_IPV6_BYTES] = (uint8_t)worker->node_id;
	hs_flow_add(counter, 1);
}

static void source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t slot = burst->slots[i];

	if (hs_fits(worker, burst, i, out, 1) &&
			hs_flow_claim(&worker->flows, slot, hs_burst_steady_ns(burst)))
		add_id(worker, burst, i, &worker->flows.own[slot].int_packets);
}

static void transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t slot = burst->slots[i];
	uint16_t n = burst->packets[i].telemetry_bytes;

	if (slot != HS_FLOW_NONE && n && n < HS_TELEMETRY_MAX_HOPS &&
			hs_fits(worker, burst, i, out, 1))
		add_id(worker, burst, i, &worker->flows.own[slot].hop_entries);
}

static bool strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours)
{
	const struct hs_packet *packet = &burst->packets[i];

	(void)ours;
	if (!packet->telemetry_bytes || !hs_make_changeable(worker, burst, i))
		return false;
	uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);
	uint16_t n = packet->telemetry_bytes;
	move_headers(frame + n, frame, packet, -n);
	return hs_end_strip(worker, burst, i, n);
}

static bool sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	uint32_t slot = burst->slots[i];
	struct hs_report_record *record = NULL;

	if (slot != HS_FLOW_NONE && packet->telemetry_bytes)
		record = hs_report_place(worker, slot);
	if (record) {
		hs_report_begin(worker, burst, slot, record);
		record->family = HS_TELEMETRY_TEST;
		record->trace_len = (uint8_t)packet->telemetry_bytes;
		record->e2e_len = 0;
		memcpy(record->data, frame + packet->trace_off, record->trace_len);
		hs_report_placed(worker, record);
	}
	return strip(worker, burst, i, true);
}

const struct hs_family toy_steps = {
		.format = &toy_format,
		.classify = hs_classify_general,
		.parse = parse,
		.source = source,
		.transit = transit,
		.sink = sink,
		.strip = strip,
};
