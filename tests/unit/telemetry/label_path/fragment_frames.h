// SPDX-License-Identifier: BSD-3-Clause
// Fragments of IPv4 packets, cut and changed by hand.
#pragma once

#include "bytes.h"
#include "label_stand.h"

#define FRAGMENT_ROOM 2048
#define FRAGMENTS     16
#define IP	      14 // of an untagged frame
#define MORE	      0x2000

struct fragment {
	uint8_t bytes[FRAGMENT_ROOM];
	size_t len;
};

static inline void set_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	hs_be16_store(ip + 10, 0);
	for (unsigned i = 0; i < 4u * (ip[0] & 15); i += 2)
		sum += hs_be16_load(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	hs_be16_store(ip + 10, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
}

// The bytes [from, to) of what is behind the header of an untagged packet.
static inline void cut(
		const uint8_t *frame, size_t from, size_t to, bool more, struct fragment *out)
{
	size_t header = 4u * (frame[IP] & 15);

	memcpy(out->bytes, frame, IP + header);
	memcpy(out->bytes + IP + header, frame + IP + header + from, to - from);
	out->len = IP + header + to - from;
	hs_be16_store(out->bytes + IP + 2, (uint16_t)(header + to - from));
	hs_be16_store(out->bytes + IP + 6, (uint16_t)(from / 8 + (more ? MORE : 0)));
	set_checksum(out->bytes + IP);
}

// Cuts the packet into parts of `part` bytes, a multiple of eight. Returns how many.
static inline unsigned cut_all(
		const uint8_t *frame, size_t len, size_t part, struct fragment *fragments)
{
	size_t bytes = len - IP - 4u * (frame[IP] & 15);
	unsigned n = 0;

	for (size_t at = 0; at < bytes; at += part, n++) {
		size_t end = at + part < bytes ? at + part : bytes;
		assert_true(n < FRAGMENTS);
		cut(frame, at, end, end < bytes, &fragments[n]);
	}
	return n;
}

// UDP4 with a payload of so many bytes and an item of node 9. `plain` is what the host sent.
static inline size_t make_labelled(
		size_t payload, uint8_t *frame, uint8_t *plain, size_t *plain_len)
{
	const struct hs_label_settings wire = {HS_LABEL_IP_PROTOCOL, HS_LABEL_MAX_HOPS};
	const struct hs_label_item item = {.node_id = 9};
	struct hs_packet packet;

	unhex(UDP4, plain);
	*plain_len = IP + 28 + payload;
	for (size_t i = 0; i < payload; i++)
		plain[IP + 28 + i] = (uint8_t)(i * 7 + i / 256);
	hs_be16_store(plain + IP + 2, (uint16_t)(28 + payload));
	hs_be16_store(plain + IP + 24, (uint16_t)(8 + payload));
	set_checksum(plain + IP);
	hs_label_parse(&wire, plain, *plain_len, *plain_len, &packet);
	size_t growth = (size_t)hs_label_growth(&wire, plain, &packet);
	memcpy(frame + growth, plain, *plain_len);
	hs_label_item_write(&item, hs_label_insert(&wire, frame, &packet, growth, false));
	return *plain_len + growth;
}
