// SPDX-License-Identifier: BSD-3-Clause
#include "gso.h"

#include "checksum.h"
#include "hex.h"

#include <stdlib.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define MAX_BYTES 4096
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

// Frames and packets are scapy's; a frame has the pseudo header's sum in its checksum.
struct vector {
	const char *name;
	uint8_t type;
	uint16_t payload, start, offset;
	const char *frame;
	const char *packets[5];
};

static const struct vector vectors[] = {
		{"tcp over ipv4, at the wrap of identification and sequence",
				VIRTIO_NET_HDR_GSO_TCPV4, 20, 34, 16,
				"02000000000b02000000000a080045020066ffff40004006b68cc0000201c00002"
				"0203e8"
				"07d0fffffff00000004d801801f5845c00000101080a0000000500000006010203"
				"040506"
				"0708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627"
				"28292a"
				"2b2c2d2e2f303132",
				{"02000000000b02000000000a080045020048ffff40004006b6aac0000201c0000"
				 "20203e8"
				 "07d0fffffff00000004d801001f5804100000101080a000000050000000601020"
				 "3040506"
				 "0708090a0b0c0d0e0f1011121314",
						"02000000000b02000000000a080045020048000040004006b6"
						"aac0000201c000020203e8"
						"07d0000000040000004d801001f5b76500000101080a000000"
						"050000000615161718191a"
						"1b1c1d1e1f202122232425262728",
						"02000000000b02000000000a08004502003e000140004006b6"
						"b3c0000201c000020203e8"
						"07d0000000180000004d801801f502a400000101080a000000"
						"0500000006292a2b2c2d2e"
						"2f303132"}},
		{"tcp over ipv6, whole packets only", VIRTIO_NET_HDR_GSO_TCPV6, 25, 54, 16,
				"02000000000b02000000000a86dd600123450046063f20010db800000000000000"
				"000000"
				"000120010db800000000000000000000000203e807d0fffffff00000004d501901"
				"f55bc1"
				"00000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
				"202122"
				"232425262728292a2b2c2d2e2f303132",
				{"02000000000b02000000000a86dd60012345002d063f20010db80000000000000"
				 "0000000"
				 "000120010db800000000000000000000000203e807d0fffffff00000004d50100"
				 "1f59cbf"
				 "00000102030405060708090a0b0c0d0e0f10111213141516171819",
						"02000000000b02000000000a86dd60012345002d063f20010d"
						"b800000000000000000000"
						"000120010db800000000000000000000000203e807d0000000"
						"090000004d501901f55671"
						"00001a1b1c1d1e1f202122232425262728292a2b2c2d2e2f30"
						"3132"}},
		{"tcp over ipv4 with options, and a window reduced once",
				VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN, 16, 38, 16,
				"02000000000b02000000000a08004600005e000900004006f38bc0000201c00002"
				"020101"
				"010103e807d0fffffff00000004d509001f5845000000102030405060708090a0b"
				"0c0d0e"
				"0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
				"303132",
				{"02000000000b02000000000a08004600003c000900004006f3adc0000201c0000"
				 "2020101"
				 "010103e807d0fffffff00000004d509001f5dd0d00000102030405060708090a0"
				 "b0c0d0e"
				 "0f10",
						"02000000000b02000000000a08004600003c000a00004006f3"
						"acc0000201c00002020101"
						"010103e807d0000000000000004d501001f55cfe0000111213"
						"1415161718191a1b1c1d1e"
						"1f20",
						"02000000000b02000000000a08004600003c000b00004006f3"
						"abc0000201c00002020101"
						"010103e807d0000000100000004d501001f5dc6d0000212223"
						"2425262728292a2b2c2d2e"
						"2f30",
						"02000000000b02000000000a08004600002e000c00004006f3"
						"b8c0000201c00002020101"
						"010103e807d0000000200000004d501001f5ec820000313"
						"2"}},
		{"tcp over ipv6 behind two tags", VIRTIO_NET_HDR_GSO_TCPV6, 30, 62, 16,
				"02000000000b02000000000a88a800058100000686dd600000000052064020010d"
				"b80000"
				"0000000000000000000120010db800000000000000000000000203e807d0ffffff"
				"f00000"
				"004d801801f55bcd00000101080a00000005000000060102030405060708090a0b"
				"0c0d0e"
				"0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
				"303132",
				{"02000000000b02000000000a88a800058100000686dd60000000003e064020010"
				 "db80000"
				 "0000000000000000000120010db800000000000000000000000203e807d0fffff"
				 "ff00000"
				 "004d801001f52b4400000101080a00000005000000060102030405060708090a0"
				 "b0c0d0e"
				 "0f101112131415161718191a1b1c1d1e",
						"02000000000b02000000000a88a800058100000686dd600000"
						"000034064020010db80000"
						"0000000000000000000120010db80000000000000000000000"
						"0203e807d00000000e0000"
						"004d801801f57b7e00000101080a00000005000000061f2021"
						"22232425262728292a2b2c"
						"2d2e2f303132"}},
		{"tcp behind options of ipv6", VIRTIO_NET_HDR_GSO_TCPV6, 20, 78, 16,
				"02000000000b02000000000a86dd60000000005e004020010db800000000000000"
				"000000"
				"000120010db80000000000000000000000023c000104313233340601010c313233"
				"343536"
				"37383930313203e807d0fffffff00000004d501801f55bc1000001020304050607"
				"08090a"
				"0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b"
				"2c2d2e"
				"2f303132",
				{"02000000000b02000000000a86dd600000000040004020010db80000000000000"
				 "0000000"
				 "000120010db80000000000000000000000023c000104313233340601010c31323"
				 "3343536"
				 "37383930313203e807d0fffffff00000004d501001f5e1f200000102030405060"
				 "708090a"
				 "0b0c0d0e0f1011121314",
						"02000000000b02000000000a86dd600000000040004020010d"
						"b800000000000000000000"
						"000120010db80000000000000000000000023c000104313233"
						"340601010c313233343536"
						"37383930313203e807d0000000040000004d501001f5191700"
						"0015161718191a1b1c1d1e"
						"1f202122232425262728",
						"02000000000b02000000000a86dd600000000036004020010d"
						"b800000000000000000000"
						"000120010db80000000000000000000000023c000104313233"
						"340601010c313233343536"
						"37383930313203e807d0000000180000004d501801f5645500"
						"00292a2b2c2d2e2f303132"}},
		{"udp over ipv4", VIRTIO_NET_HDR_GSO_UDP_L4, 20, 34, 6,
				"02000000000b02000000000a08004502004e000740004011b692c0000201c00002"
				"0203e8"
				"07d0003a844f0102030405060708090a0b0c0d0e0f101112131415161718191a1b"
				"1c1d1e"
				"1f202122232425262728292a2b2c2d2e2f303132",
				{"02000000000b02000000000a080045020030000740004011b6b0c0000201c0000"
				 "20203e8"
				 "07d0001c0b8c0102030405060708090a0b0c0d0e0f1011121314",
						"02000000000b02000000000a080045020030000840004011b6"
						"afc0000201c000020203e8"
						"07d0001c42c315161718191a1b1c1d1e1f2021222324252627"
						"28",
						"02000000000b02000000000a080045020026000940004011b6"
						"b8c0000201c000020203e8"
						"07d000128e27292a2b2c2d2e2f303132"}},
		{"udp over ipv6", VIRTIO_NET_HDR_GSO_UDP_L4, 49, 54, 6,
				"02000000000b02000000000a86dd60012345003a113f20010db800000000000000"
				"000000"
				"000120010db800000000000000000000000203e807d0003a5bc001020304050607"
				"08090a"
				"0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b"
				"2c2d2e"
				"2f303132",
				{"02000000000b02000000000a86dd600123450039113f20010db80000000000000"
				 "0000000"
				 "000120010db800000000000000000000000203e807d0003924f50102030405060"
				 "708090a"
				 "0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2"
				 "b2c2d2e"
				 "2f3031",
						"02000000000b02000000000a86dd600123450009113f20010d"
						"b800000000000000000000"
						"000120010db800000000000000000000000203e807d0000966"
						"af32"}},
		{"one packet", VIRTIO_NET_HDR_GSO_TCPV6, 50, 54, 16,
				"02000000000b02000000000a86dd600123450052063f20010db800000000000000"
				"000000"
				"000120010db800000000000000000000000203e807d0fffffff00000004d801801"
				"f55bcd"
				"00000101080a00000005000000060102030405060708090a0b0c0d0e0f10111213"
				"141516"
				"1718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132",
				{"02000000000b02000000000a86dd600123450052063f20010db80000000000000"
				 "0000000"
				 "000120010db800000000000000000000000203e807d0fffffff00000004d80180"
				 "1f5998c"
				 "00000101080a00000005000000060102030405060708090a0b0c0d0e0f1011121"
				 "3141516"
				 "1718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132"}},
};

struct bytes {
	uint8_t at[MAX_BYTES];
	size_t len;
};

static struct bytes bytes_of(const char *hex)
{
	struct bytes bytes;

	bytes.len = unhex(hex, bytes.at);
	return bytes;
}

static struct virtio_net_hdr vnet_of(const struct vector *v)
{
	return (struct virtio_net_hdr){.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
			.gso_type = v->type,
			.gso_size = v->payload,
			.csum_start = v->start,
			.csum_offset = v->offset};
}

// Cuts packet i out of a frame, as a port does.
static struct bytes cut(const struct hs_gso *gso, const uint8_t *frame, uint32_t i)
{
	struct bytes packet;

	packet.len = (size_t)gso->header + hs_gso_payload_of(gso, i);
	memcpy(packet.at, frame, gso->header);
	memcpy(packet.at + gso->header, frame + gso->header + i * gso->payload,
			hs_gso_payload_of(gso, i));
	hs_gso_finish_packet(gso, i, packet.at);
	return packet;
}

static void a_frame_is_cut_into_the_packets_of_a_wire(void **state)
{
	(void)state;
	for (size_t v = 0; v < COUNT(vectors); v++) {
		struct bytes frame = bytes_of(vectors[v].frame);
		struct virtio_net_hdr vnet = vnet_of(&vectors[v]);
		struct hs_gso gso;
		uint32_t n = 0;

		print_message("%s\n", vectors[v].name);
		assert_true(hs_gso_read(&vnet, frame.at, frame.len, frame.len, &gso));
		for (; vectors[v].packets[n]; n++) {
			struct bytes want = bytes_of(vectors[v].packets[n]);
			struct bytes got = cut(&gso, frame.at, n);

			assert_int_equal(got.len, want.len);
			assert_memory_equal(got.at, want.at, want.len);
		}
		assert_int_equal(hs_gso_packets(&gso), n);
	}
}

// In Accurate ECN (RFC 9768), CWR is a bit of a counter that each packet has. Linux says which of
// both by the virtio header.
static void the_flag_cwr_stays_where_it_is_no_signal_of_one_packet(void **state)
{
	static const struct {
		uint8_t ecn, flags[4];
	} cases[] = {{VIRTIO_NET_HDR_GSO_ECN, {0x90, 0x10, 0x10, 0x10}},
			{0, {0x90, 0x90, 0x90, 0x90}}};
	struct bytes frame = bytes_of(vectors[2].frame);

	(void)state;
	for (size_t c = 0; c < COUNT(cases); c++) {
		struct virtio_net_hdr vnet = vnet_of(&vectors[2]);
		struct hs_gso gso;

		vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV4 | cases[c].ecn;
		assert_true(hs_gso_read(&vnet, frame.at, frame.len, frame.len, &gso));
		for (uint32_t i = 0; i < hs_gso_packets(&gso); i++)
			assert_int_equal(cut(&gso, frame.at, i).at[38 + 13], cases[c].flags[i]);
	}
}

// ---- what lies ----

static bool reads(const struct virtio_net_hdr *vnet, const struct bytes *frame)
{
	struct hs_gso gso;

	return hs_gso_read(vnet, frame->at, frame->len, frame->len, &gso);
}

static void a_virtio_header_that_does_not_fit_its_frame_is_refused(void **state)
{
	struct bytes frame = bytes_of(vectors[0].frame);
	const struct virtio_net_hdr right = vnet_of(&vectors[0]);
	const struct virtio_net_hdr lies[] = {
			{right.flags, right.gso_type, 0, 0, right.csum_start, right.csum_offset},
			{0, right.gso_type, 0, 20, right.csum_start, right.csum_offset},
			{right.flags, VIRTIO_NET_HDR_GSO_NONE, 0, 20, right.csum_start, 16},
			{right.flags, VIRTIO_NET_HDR_GSO_UDP, 0, 20, right.csum_start, 16},
			{right.flags, VIRTIO_NET_HDR_GSO_TCPV6, 0, 20, right.csum_start, 16},
			{right.flags, VIRTIO_NET_HDR_GSO_UDP_L4, 0, 20, right.csum_start, 16},
			{right.flags, 0x7f, 0, 20, right.csum_start, right.csum_offset},
			{right.flags, right.gso_type, 0, 20, 14, right.csum_offset},
			{right.flags, right.gso_type, 0, 20, 54, right.csum_offset},
			{right.flags, right.gso_type, 0, 20, 65535, right.csum_offset},
			{right.flags, right.gso_type, 0, 20, right.csum_start, 6},
			{right.flags, right.gso_type, 0, 20, right.csum_start, 65535},
	};

	(void)state;
	assert_true(reads(&right, &frame));
	for (size_t i = 0; i < COUNT(lies); i++) {
		print_message("lie %zu\n", i);
		assert_false(reads(&lies[i], &frame));
	}
	frame.len++; // longer than the IP header says
	assert_false(reads(&right, &frame));
}

static void more_packets_than_a_port_takes_are_refused(void **state)
{
	static uint8_t frame[66 + HS_GSO_MAX_PACKETS + 1];
	struct virtio_net_hdr vnet = vnet_of(&vectors[0]);
	struct hs_gso gso;

	(void)state;
	unhex("02000000000b02000000000a0800450204200000400040060000c0000201c0000202"
	      "03e807d0fffffff00000004d801801f5845c00000101080a0000000500000006",
			frame);
	vnet.gso_size = 1;
	frame[16] = (52 + HS_GSO_MAX_PACKETS) >> 8, frame[17] = (52 + HS_GSO_MAX_PACKETS) & 255;
	assert_true(hs_gso_read(&vnet, frame, sizeof(frame) - 1, sizeof(frame) - 1, &gso));
	assert_int_equal(hs_gso_packets(&gso), HS_GSO_MAX_PACKETS);
	frame[17]++;
	assert_false(hs_gso_read(&vnet, frame, sizeof(frame), sizeof(frame), &gso));
}

// Any byte may lie, and the frame's beginning may end anywhere: ASan finds a read behind it.
static void hostile_frames_are_read_within_their_bounds(void **state)
{
	(void)state;
	for (size_t v = 0; v < COUNT(vectors); v++) {
		struct bytes frame = bytes_of(vectors[v].frame);
		struct virtio_net_hdr vnet = vnet_of(&vectors[v]);

		for (size_t seen = 0; seen <= frame.len; seen++) {
			uint8_t *exact = malloc(seen ? seen : 1);
			struct hs_gso gso;

			for (size_t at = 0; at < seen && at < 100; at++) {
				memcpy(exact, frame.at, seen);
				exact[at] ^= (uint8_t)(1u << (at + seen) % 8);
				if (hs_gso_read(&vnet, exact, seen, frame.len, &gso))
					assert_in_range(gso.header, gso.l4 + 8, seen);
				exact[at] = 0xff;
				hs_gso_read(&vnet, exact, seen, frame.len, &gso);
			}
			free(exact);
		}
	}
}

// ---- joining ----

static const struct vector *const joined[] = {&vectors[0], &vectors[1]};

static void packets_that_follow_each_other_become_their_frame(void **state)
{
	(void)state;
	for (size_t v = 0; v < COUNT(joined); v++) {
		struct bytes want = bytes_of(joined[v]->frame), got, packet;
		struct bytes first = bytes_of(joined[v]->packets[0]);
		struct virtio_net_hdr vnet;
		struct hs_join join;

		assert_true(hs_join_begin(&join, first.at, first.len));
		got.len = join.header;
		memcpy(got.at + got.len, first.at + join.header, first.len - join.header);
		got.len = first.len;
		for (size_t i = 1; joined[v]->packets[i]; i++) {
			packet = bytes_of(joined[v]->packets[i]);
			assert_true(hs_join_add(&join, packet.at, packet.len, 65535));
			memcpy(got.at + got.len, packet.at + join.header, packet.len - join.header);
			got.len += packet.len - join.header;
		}
		// The last one has PSH, or less payload.
		assert_false(hs_join_add(&join, packet.at, packet.len, 65535));
		hs_join_finish(&join, &vnet, got.at);
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.at, want.at, want.len);
		struct virtio_net_hdr wanted = vnet_of(joined[v]);
		wanted.hdr_len = join.header;
		assert_memory_equal(&vnet, &wanted, sizeof(vnet));
	}
}

static void a_wrong_checksum_is_seen_in_each_bit(void **state)
{
	(void)state;
	for (size_t v = 0; v < COUNT(joined); v++) {
		struct bytes packet = bytes_of(joined[v]->packets[0]);

		assert_true(hs_join_verify(packet.at, packet.len));
		for (size_t bit = joined[v]->start * 8; bit < packet.len * 8; bit++) {
			packet.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_false(hs_join_verify(packet.at, packet.len));
			packet.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	struct bytes udp = bytes_of(vectors[COUNT(vectors) - 2].packets[0]);
	assert_false(hs_join_verify(udp.at, udp.len));
}

static void a_frame_is_no_longer_than_the_limit(void **state)
{
	struct bytes a = bytes_of(vectors[0].packets[0]), b = bytes_of(vectors[0].packets[1]);
	struct hs_join join;

	(void)state;
	assert_true(hs_join_begin(&join, a.at, a.len));
	assert_false(hs_join_add(&join, b.at, b.len, 66 + 39));
	assert_true(hs_join_add(&join, b.at, b.len, 66 + 40));
}

// Whatever is joined, cutting gives it back. Only a checksum of TCP, which a port knows to be
// right, is made anew.
static void no_difference_between_packets_is_lost(void **state)
{
	(void)state;
	for (size_t v = 0; v < COUNT(joined); v++) {
		struct bytes a = bytes_of(joined[v]->packets[0]);
		struct bytes b = bytes_of(joined[v]->packets[1]), packet, frame;
		size_t header = a.len - joined[v]->payload;
		unsigned taken = 0;

		for (size_t bit = 0; bit < header * 8; bit++) {
			struct virtio_net_hdr vnet;
			struct hs_join join;
			struct hs_gso gso;

			packet = b;
			packet.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_true(hs_join_begin(&join, a.at, a.len));
			if (!hs_join_add(&join, packet.at, packet.len, 65535))
				continue;
			taken++;
			hs_join_finish(&join, &vnet, frame.at);
			memcpy(frame.at + header, a.at + header, a.len - header);
			memcpy(frame.at + a.len, packet.at + header, packet.len - header);
			frame.len = a.len + packet.len - header;
			assert_true(hs_gso_read(&vnet, frame.at, frame.len, frame.len, &gso));
			memset(packet.at + joined[v]->start + 16, 0, 2);
			struct bytes again = cut(&gso, frame.at, 1);
			memset(again.at + joined[v]->start + 16, 0, 2);
			assert_memory_equal(again.at, packet.at, packet.len);
			again = cut(&gso, frame.at, 0);
			assert_memory_equal(again.at, a.at, a.len);
		}
		assert_int_equal(taken, 16 + 2); // the bits of the checksum, PSH and FIN
	}
}

// Finds the payload with which a packet's sum comes out as 0: TCP sends 0x0000 then. 0xffff is
// right, too, but would not come back.
static void a_checksum_that_cutting_would_write_otherwise_is_not_joined(void **state)
{
	(void)state;
	for (size_t v = 0; v < COUNT(joined); v++) {
		struct bytes a = bytes_of(joined[v]->packets[0]),
			     b = bytes_of(joined[v]->packets[1]);
		uint8_t *field = b.at + joined[v]->start + 16, *word = b.at + joined[v]->start + 32;
		struct hs_join join;

		// The checksum is one of the summed words: moving the checksum's value into the
		// payload leaves 0.
		uint32_t moved = (uint32_t)(word[0] << 8 | word[1]) + (field[0] << 8 | field[1]);
		moved = (moved & 0xffff) + (moved >> 16);
		word[0] = (uint8_t)(moved >> 8), word[1] = (uint8_t)moved;
		for (unsigned byte = 0; byte <= 0xff; byte += 0xff) {
			field[0] = field[1] = (uint8_t)byte;
			assert_int_equal(hs_join_verify(b.at, b.len), byte == 0);
			assert_true(hs_join_begin(&join, a.at, a.len));
			assert_int_equal(hs_join_add(&join, b.at, b.len, 65535), byte == 0);
		}
		field[0] = field[1] = 0;
		struct virtio_net_hdr vnet;
		struct bytes frame;
		struct hs_gso gso;
		assert_true(hs_join_begin(&join, a.at, a.len));
		assert_true(hs_join_add(&join, b.at, b.len, 65535));
		hs_join_finish(&join, &vnet, frame.at);
		memcpy(frame.at + join.header, a.at + join.header, join.payload);
		memcpy(frame.at + a.len, b.at + join.header, b.len - join.header);
		assert_true(hs_gso_read(&vnet, frame.at, join.bytes, join.bytes, &gso));
		struct bytes again = cut(&gso, frame.at, 1);
		assert_memory_equal(again.at, b.at, b.len);
	}
}

// Makes an address of the packet such that the checksum of IPv4 is this one.
static void set_ipv4_checksum(struct bytes *packet, uint16_t checksum)
{
	uint8_t *ip = packet->at + 14;

	memset(ip + 10, 0, 4);
	uint16_t sum = (uint16_t)~hs_checksum_fold(hs_checksum_add(0, ip, 20));
	memcpy(ip + 12, &sum, sizeof(sum));
	memcpy(ip + 10, &checksum, sizeof(checksum));
}

// The same of IPv4: there, too, 0xffff stands for the sum of 0x0000.
static void a_checksum_of_ipv4_that_cutting_would_write_otherwise_is_not_joined(void **state)
{
	(void)state;
	for (uint32_t checksum = 0; checksum <= UINT16_MAX; checksum += UINT16_MAX) {
		struct bytes a = bytes_of(joined[0]->packets[0]),
			     b = bytes_of(joined[0]->packets[1]);
		struct hs_join join;

		set_ipv4_checksum(&b, (uint16_t)checksum);
		memcpy(a.at + 14 + 12, b.at + 14 + 12, 2);
		memset(a.at + 14 + 10, 0, 2); // its identification, 0xffff, adds nothing
		assert_true(hs_join_begin(&join, a.at, a.len));
		assert_int_equal(hs_join_add(&join, b.at, b.len, 65535), checksum == 0);
	}
}

static void packets_of_other_kinds_are_not_joined(void **state)
{
	struct hs_join join;

	(void)state;
	for (size_t v = 2; v < COUNT(vectors); v++) {
		for (size_t i = 0; vectors[v].packets[i]; i++) {
			struct bytes packet = bytes_of(vectors[v].packets[i]);

			assert_false(hs_join_begin(&join, packet.at, packet.len));
		}
	}
	for (size_t v = 0; v < COUNT(joined); v++) {
		struct bytes packet = bytes_of(joined[v]->packets[0]);

		for (size_t len = 0; len < packet.len; len++) {
			uint8_t *exact = malloc(len ? len : 1); // ASan finds a read behind it

			memcpy(exact, packet.at, len);
			assert_false(hs_join_begin(&join, exact, len));
			free(exact);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_frame_is_cut_into_the_packets_of_a_wire),
			cmocka_unit_test(the_flag_cwr_stays_where_it_is_no_signal_of_one_packet),
			cmocka_unit_test(a_virtio_header_that_does_not_fit_its_frame_is_refused),
			cmocka_unit_test(more_packets_than_a_port_takes_are_refused),
			cmocka_unit_test(hostile_frames_are_read_within_their_bounds),
			cmocka_unit_test(packets_that_follow_each_other_become_their_frame),
			cmocka_unit_test(a_wrong_checksum_is_seen_in_each_bit),
			cmocka_unit_test(a_frame_is_no_longer_than_the_limit),
			cmocka_unit_test(no_difference_between_packets_is_lost),
			cmocka_unit_test(
					a_checksum_that_cutting_would_write_otherwise_is_not_joined),
			cmocka_unit_test(
					a_checksum_of_ipv4_that_cutting_would_write_otherwise_is_not_joined),
			cmocka_unit_test(packets_of_other_kinds_are_not_joined),
	};
	return cmocka_run_group_tests_name("gso", tests, NULL, NULL);
}
