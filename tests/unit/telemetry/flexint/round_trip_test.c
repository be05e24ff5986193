// SPDX-License-Identifier: BSD-3-Clause
// Random packets of every shape through source, hops, requests and sink: the host's bytes come back
// and the telemetry says what was put in.
#include "wire_test.h"

#include "bytes.h"
#include "rng.h"

#include <string.h>

#define ROUNDS	  40 // for each trace type and layout
#define MAX_FRAME 4096

struct draft {
	struct hs_rng rng;
	uint8_t bytes[MAX_FRAME];
	size_t len;
};

static uint32_t below(struct draft *d, uint32_t bound)
{
	return hs_rng_u32(&d->rng) % bound;
}

static void put(struct draft *d, uint8_t byte)
{
	d->bytes[d->len++] = byte;
}

static void put_random(struct draft *d, size_t n)
{
	while (n--)
		put(d, (uint8_t)hs_rng_u32(&d->rng));
}

static void put_be16(struct draft *d, uint16_t v)
{
	hs_be16_store(d->bytes + d->len, v);
	d->len += 2;
}

// Options of a host: any well-formed ones, even odd padding, but no telemetry.
static void put_options(struct draft *d, size_t n)
{
	static const uint8_t types[] = {0, 0, 1, 1, 0x05, 0x1e, 0x26, 0x3e, 0xc2, 0xff};
	while (n) {
		uint8_t type = n == 1 ? 0 : types[below(d, sizeof(types))];
		put(d, type);
		n--;
		if (type == 0)
			continue;
		uint32_t bound = n < 24 ? (uint32_t)n : 24;
		size_t len = below(d, 4) ? below(d, bound) : n - 1 < 256 ? n - 1 : 255;
		put(d, (uint8_t)len);
		put_random(d, len);
		n -= 1 + len;
	}
}

static size_t put_extension(struct draft *d, uint8_t next)
{
	size_t units = 1 + (below(d, 4) ? below(d, 4) : below(d, 30));
	put(d, next);
	put(d, (uint8_t)(units - 1));
	put_options(d, units * 8 - 2);
	return units * 8;
}

// One of the headers behind Hop-by-Hop; `next` is what it says, its own number is the caller's.
static void put_chain_header(struct draft *d, uint8_t proto, uint8_t next)
{
	if (proto != 44) {
		put_extension(d, next);
		return;
	}
	put(d, next);
	put(d, 0);
	put_be16(d, below(d, 2) ? 0 : (uint16_t)hs_rng_u32(&d->rng));
	put_random(d, 4);
}

static void draft_frame(struct draft *d)
{
	static const uint8_t l4[] = {6, 17, 58, 59, 50, 132};
	static const uint8_t headers[] = {43, 44, 60, 135, 139, 140};
	uint8_t protos[5];
	size_t n = 0;
	bool hbh = below(d, 2);
	if (hbh)
		protos[n++] = 0;
	for (uint32_t chain = below(d, 3) ? 0 : below(d, 4); chain; chain--)
		protos[n++] = headers[below(d, sizeof(headers))];
	protos[n] = l4[below(d, sizeof(l4))];

	d->len = 0;
	put_random(d, 12);
	for (uint32_t tags = below(d, 3); tags; tags--) {
		put_be16(d, tags == 2 ? 0x88a8 : 0x8100);
		put_random(d, 2);
	}
	put_be16(d, 0x86dd);
	size_t l3 = d->len;
	put(d, 0x60 | (uint8_t)below(d, 16));
	put_random(d, 5);
	put(d, protos[0]);
	put_random(d, 33);
	for (size_t i = 0; i < n; i++) {
		if (protos[i] == 0)
			put_extension(d, protos[i + 1]);
		else
			put_chain_header(d, protos[i], protos[i + 1]);
	}
	put_random(d, 8 + below(d, 200));
	hs_be16_store(d->bytes + l3 + 4, (uint16_t)(d->len - l3 - 40));
	if (below(d, 4) == 0)
		put_random(d, below(d, 20)); // Ethernet's padding
}

static void random_e2e(struct draft *d, uint16_t bitmap, struct hs_e2e *e2e)
{
	*e2e = (struct hs_e2e){.bitmap = bitmap};
	if (bitmap & HS_E2E_INT_PACKETS)
		e2e->int_packets = hs_rng_u32(&d->rng);
	if (bitmap & HS_E2E_TIMESTAMP)
		e2e->ts_ns = hs_rng_u64(&d->rng);
	if (bitmap & HS_E2E_TX_PACKETS)
		e2e->tx_packets = hs_rng_u32(&d->rng);
	if (bitmap & HS_E2E_TX_BYTES)
		e2e->tx_bytes = hs_rng_u32(&d->rng);
}

static void random_hop(struct draft *d, uint16_t asked, struct hs_hop *hop)
{
	uint16_t bitmap = below(d, 2) ? asked : (uint16_t)(asked & hs_rng_u32(&d->rng));
	*hop = (struct hs_hop){.node_id = (uint16_t)hs_rng_u32(&d->rng), .bitmap = bitmap};
	if (bitmap & HS_HOP_PACKETS) {
		hop->tx_packets = (uint16_t)hs_rng_u32(&d->rng);
		hop->rx_packets = (uint16_t)hs_rng_u32(&d->rng);
	}
	if (bitmap & HS_HOP_TIMESTAMP)
		hop->ts_ns = hs_rng_u64(&d->rng);
	if (bitmap & HS_HOP_BYTES) {
		hop->tx_bytes = hs_rng_u32(&d->rng);
		hop->rx_bytes = hs_rng_u32(&d->rng);
	}
}

// Telemetry grows a packet by exactly what strip takes, and no header of the host is another.
static void only_telemetry_came_in(const struct frame *frame, const struct hs_packet *host)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	size_t added = packet.l3_bytes - host->l3_bytes;
	assert_int_equal(packet.telemetry_bytes, added);
	assert_int_equal(packet.flags & ~HS_PACKET_HBH & ~HS_PACKET_REQUEST & ~HS_PACKET_REPORT &
					 ~HS_PACKET_PLAIN,
			(host->flags & ~HS_PACKET_HBH) | HS_PACKET_TELEMETRY |
					HS_PACKET_ANY_TELEMETRY);
	assert_int_equal(packet.l4_off, host->l4_off ? host->l4_off + added : 0);
	assert_int_equal(packet.src_port, host->src_port);
	assert_int_equal(packet.dst_port, host->dst_port);
	assert_int_equal(hs_packet_counted_bytes(&packet), hs_packet_counted_bytes(host));
	assert_int_equal(packet.hbh_bytes % 8, 0);
}

static void assert_told(const struct frame *frame, uint32_t ns_id, uint32_t trace_type,
		const struct hs_e2e *e2e, const struct hs_hop *hops, size_t n)
{
	struct hs_decoded told;
	assert_int_equal(frame_decode(frame, &told), 0);
	assert_int_equal(told.ns_id, ns_id);
	assert_int_equal(told.trace_type, trace_type);
	assert_int_equal(told.e2e.bitmap, e2e->bitmap);
	assert_int_equal(told.e2e.int_packets, e2e->int_packets);
	assert_true(told.e2e.ts_ns == e2e->ts_ns);
	assert_int_equal(told.e2e.tx_packets, e2e->tx_packets);
	assert_int_equal(told.e2e.tx_bytes, e2e->tx_bytes);
	assert_int_equal(told.n_hops, n);
	for (size_t i = 0; i < n; i++)
		assert_memory_equal(&told.hops[n - 1 - i], &hops[i], sizeof(hops[i])); // no holes
}

// Reports that go back by this packet lie in front of its telemetry.
static void insert_reports(struct draft *d, struct frame *frame)
{
	uint8_t data[255] = {0};

	for (uint32_t n = 1 + below(d, 3); n > 0; n--)
		frame_insert_option(frame, HS_OPT_REPORT, data, below(d, 80));
}

static void round_trip(struct draft *d, uint32_t trace_type, enum hs_flexint_layout layout)
{
	draft_frame(d);
	struct frame frame = frame_of(d->bytes, d->len);
	struct hs_packet host;
	frame_parse(&frame, &host);
	if (host.flags & HS_PACKET_MALFORMED) { // a fragment header in an unlucky place
		frame_free(&frame);
		return;
	}
	assert_int_equal(host.flags & HS_PACKET_ANY_TELEMETRY, 0);

	uint32_t ns_id = hs_rng_u32(&d->rng);
	struct hs_e2e e2e;
	random_e2e(d, (uint16_t)(trace_type >> 16), &e2e);
	bool has_reports = below(d, 4) == 0;
	if (has_reports)
		insert_reports(d, &frame);
	frame_insert_source(&frame, ns_id, trace_type, layout, &e2e);
	only_telemetry_came_in(&frame, &host);

	struct hs_hop hops[HS_FLEXINT_MAX_HOPS];
	size_t n = 0;
	for (uint32_t want = below(d, 2) ? below(d, 4) : below(d, 62); n < want; n++) {
		random_hop(d, (uint16_t)trace_type, &hops[n]);
		if (frame_insert_hop(&frame, &hops[n]) < 0)
			break;
		only_telemetry_came_in(&frame, &host);
		if (below(d, 16) == 0) {
			uint8_t data[255] = {0};
			frame_insert_option(&frame, HS_OPT_REQUEST, data, 1 + below(d, 40));
		}
	}
	if (has_reports) { // a node on the way takes them out
		frame_take_type(&frame, HS_OPT_REPORT);
		only_telemetry_came_in(&frame, &host);
	}
	assert_told(&frame, ns_id, trace_type, &e2e, hops, n);

	frame_strip(&frame);
	assert_int_equal(frame.len, d->len);
	assert_memory_equal(frame.bytes, d->bytes, d->len);
	frame_free(&frame);
}

static void what_the_host_sent_comes_back_for_every_trace_type_and_layout(void **state)
{
	(void)state;
	struct draft draft;
	hs_rng_init(&draft.rng, 20);
	for (uint32_t e2e = 0; e2e <= 0xf000; e2e += 0x1000) {
		for (uint32_t hop = 0; hop <= 0xe000; hop += 0x2000) {
			for (unsigned int i = 0; i < ROUNDS; i++) {
				round_trip(&draft, e2e << 16 | hop, HS_LAYOUT_ALIGNED);
				round_trip(&draft, e2e << 16 | hop, HS_LAYOUT_PAPER);
			}
		}
	}
}

static void most_random_packets_are_well_formed(void **state)
{
	(void)state;
	struct draft draft;
	unsigned int malformed = 0;
	unsigned int merged = 0;
	unsigned int flows = 0;
	hs_rng_init(&draft.rng, 20);
	for (unsigned int i = 0; i < 1000; i++) {
		struct hs_packet packet;
		draft_frame(&draft);
		hs_flexint_parse(draft.bytes, draft.len, draft.len, &packet);
		assert_true(packet.flags & HS_PACKET_IPV6);
		malformed += !!(packet.flags & HS_PACKET_MALFORMED);
		merged += !!(packet.flags & HS_PACKET_HBH);
		flows += !!(packet.flags & HS_PACKET_FLOW);
	}
	assert_true(malformed < 10);
	assert_true(merged > 400);
	assert_true(flows > 300);
}

static void a_block_needs_room_in_the_header_and_the_payload(void **state)
{
	(void)state;
	struct hs_packet packet = {.flags = HS_PACKET_IPV6, .l3_bytes = 40 + 100};
	assert_int_equal(hs_flexint_block_growth(&packet, 0), 0);
	assert_int_equal(hs_flexint_block_growth(&packet, 1), 8);
	assert_int_equal(hs_flexint_block_growth(&packet, 6), 8);
	assert_int_equal(hs_flexint_block_growth(&packet, 7), 16);
	assert_int_equal(hs_flexint_block_growth(&packet, 2046), 2048);
	assert_int_equal(hs_flexint_block_growth(&packet, 2047), 0);
	packet.l3_bytes = 40 + 65535 - 2048;
	assert_int_equal(hs_flexint_block_growth(&packet, 2040), 2048);
	packet.l3_bytes++;
	assert_int_equal(hs_flexint_block_growth(&packet, 2040), 0);
	packet = (struct hs_packet){.flags = HS_PACKET_IPV6 | HS_PACKET_HBH,
			.l3_bytes = 40 + 2000,
			.hbh_bytes = 1800};
	assert_int_equal(hs_flexint_block_growth(&packet, 248), 248);
	assert_int_equal(hs_flexint_block_growth(&packet, 249), 0);
	packet.flags |= HS_PACKET_MALFORMED;
	assert_int_equal(hs_flexint_block_growth(&packet, 8), 0);
}

static void a_packet_without_options_has_none_to_take(void **state)
{
	(void)state;
	struct hs_packet packet = {.flags = HS_PACKET_IPV6, .l3_off = 14, .l3_bytes = 40 + 8};
	uint8_t frame[62] = {0};
	assert_int_equal(hs_flexint_take_type(frame, &packet, HS_OPT_REPORT), 0);
}

static void a_full_header_takes_no_telemetry(void **state)
{
	(void)state;
	struct hs_packet packet = {.flags = HS_PACKET_IPV6 | HS_PACKET_HBH,
			.l3_off = 14,
			.hbh_bytes = 2048 - 32,
			.l3_bytes = 40 + 3000};
	assert_int_equal(hs_flexint_source_growth(&packet, 0xF000E000, HS_LAYOUT_PAPER), 0);
	assert_int_equal(hs_flexint_source_growth(&packet, 0x7000E000, HS_LAYOUT_PAPER), 32);
	assert_int_equal(hs_flexint_block_growth(&packet, 33), 0);
	assert_int_equal(hs_flexint_block_growth(&packet, 32), 32);
	assert_int_equal(hs_flexint_block_growth(&packet, 0), 0);
	packet.l3_bytes = 40 + 65535 - 31;
	assert_int_equal(hs_flexint_block_growth(&packet, 32), 0);
	packet.l3_bytes = 40 + 65535 - 32;
	assert_int_equal(hs_flexint_block_growth(&packet, 32), 32);
	packet.hbh_bytes = 0;
	assert_int_equal(hs_flexint_block_growth(&packet, 30), 32);
}

static void what_is_not_understood_takes_no_telemetry(void **state)
{
	(void)state;
	struct hs_packet packet = {.l3_off = 14, .l3_bytes = 40 + 100};
	assert_int_equal(hs_flexint_block_growth(&packet, 32), 0);
	packet.flags = HS_PACKET_IPV6 | HS_PACKET_MALFORMED;
	assert_int_equal(hs_flexint_block_growth(&packet, 32), 0);
	packet.flags = HS_PACKET_IPV6 | HS_PACKET_SHORT;
	assert_int_equal(hs_flexint_source_growth(&packet, 0x7000E000, HS_LAYOUT_PAPER), 0);
	packet.flags = HS_PACKET_IPV6;
	assert_int_equal(hs_flexint_source_growth(&packet, 0x7000E000, HS_LAYOUT_PAPER), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					what_the_host_sent_comes_back_for_every_trace_type_and_layout),
			cmocka_unit_test(most_random_packets_are_well_formed),
			cmocka_unit_test(a_block_needs_room_in_the_header_and_the_payload),
			cmocka_unit_test(a_packet_without_options_has_none_to_take),
			cmocka_unit_test(a_full_header_takes_no_telemetry),
			cmocka_unit_test(what_is_not_understood_takes_no_telemetry),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
