// SPDX-License-Identifier: BSD-3-Clause
#include "stream_frame.h"

#include "bytes.h"
#include "ip.h"

#include <string.h>

#define L3	  HS_ETHER_BYTES
#define L4	  (HS_ETHER_BYTES + HS_IPV6_BYTES)
#define HOP_LIMIT 64

enum {
	ICMPV6_ECHO_REQUEST = 128,
	ICMPV6_ECHO_REPLY = 129,
	TCP_PSH = 0x08,
	TCP_ACK = 0x10,
};

static const struct {
	uint8_t protocol;
	uint8_t bytes;	  // of the header
	uint8_t checksum; // offset of the field in it
} headers[] = {
		{HS_IP_UDP, 8, 6},
		{HS_IP_TCP, 20, 16},
		{HS_IP_ICMPV6, 8, 2},
};

static unsigned header_of(uint8_t protocol)
{
	for (unsigned i = 1; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (headers[i].protocol == protocol)
			return i;
	return 0;
}

uint32_t hs_stream_template_overhead(uint8_t protocol)
{
	return L4 + headers[header_of(protocol)].bytes;
}

static uint32_t sum_of(const uint8_t *bytes, uint32_t len)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i + 1 < len; i += 2)
		sum += hs_be16_load(bytes + i);
	if (len % 2)
		sum += (uint32_t)bytes[len - 1] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void write_l2_l3(uint8_t *at, const struct hs_stream_flow *flow, uint32_t l4_bytes)
{
	memcpy(at, flow->dst_mac, 6);
	memcpy(at + 6, flow->src_mac, 6);
	hs_be16_store(at + HS_ETHER_TYPE, HS_ETHERTYPE_IPV6);
	hs_be32_store(at + L3, UINT32_C(6) << 28);
	hs_be16_store(at + L3 + HS_IPV6_PAYLOAD, (uint16_t)l4_bytes);
	at[L3 + HS_IPV6_NEXT] = flow->protocol;
	at[L3 + 7] = HOP_LIMIT;
	memcpy(at + L3 + 8, flow->src_addr, 16);
	memcpy(at + L3 + 24, flow->dst_addr, 16);
}

static void write_l4(uint8_t *at, const struct hs_stream_flow *flow, uint32_t l4_bytes)
{
	hs_be16_store(at, flow->src_port);
	hs_be16_store(at + 2, flow->dst_port);
	switch (flow->protocol) {
	case HS_IP_TCP:
		at[12] = 20 / 4 << 4;
		at[13] = TCP_ACK | (flow->payload_bytes ? TCP_PSH : 0);
		hs_be16_store(at + 14, UINT16_MAX);
		break;
	case HS_IP_ICMPV6:
		at[0] = flow->echo_reply ? ICMPV6_ECHO_REPLY : ICMPV6_ECHO_REQUEST;
		at[1] = 0;
		hs_be16_store(at + 2, 0);
		hs_be16_store(at + 4, flow->src_port);
		break;
	default:
		hs_be16_store(at + 4, (uint16_t)l4_bytes);
		break;
	}
}

void hs_stream_template_init(struct hs_stream_template *template, const struct hs_stream_flow *flow)
{
	uint32_t headers_end = hs_stream_template_overhead(flow->protocol);
	uint32_t l4_bytes = headers_end - L4 + flow->payload_bytes;

	memset(template->bytes, 0, headers_end);
	template->protocol = flow->protocol;
	template->len = headers_end + flow->payload_bytes;
	write_l2_l3(template->bytes, flow, l4_bytes);
	write_l4(template->bytes + L4, flow, l4_bytes);
	for (uint32_t i = 0; i < flow->payload_bytes; i++)
		template->bytes[headers_end + i] = (uint8_t)i;
	// The addresses stand before the transport header, and length and protocol complete the
	// pseudo header. With at most 9,000 bytes, 32 bits never overflow.
	template->sum = sum_of(template->bytes + L3 + 8, template->len - L3 - 8) + l4_bytes +
			flow->protocol;
	hs_stream_template_number(template, 0, 0);
}

static uint32_t halves(uint32_t v)
{
	return (v >> 16) + (v & 0xffff);
}

void hs_stream_template_number(struct hs_stream_template *template, uint32_t seq, uint32_t ack)
{
	uint8_t *at = template->bytes + L4;
	uint32_t sum = template->sum;

	if (template->protocol == HS_IP_TCP) {
		hs_be32_store(at + 4, seq);
		hs_be32_store(at + 8, ack);
		sum += halves(seq) + halves(ack);
	} else if (template->protocol == HS_IP_ICMPV6) {
		hs_be16_store(at + 6, (uint16_t)seq);
		sum += seq & 0xffff;
	}
	uint16_t checksum = fold(sum);
	// RFC 8200 section 8.1: a UDP checksum of zero would mean that there is no checksum.
	if (template->protocol == HS_IP_UDP && !checksum)
		checksum = UINT16_MAX;
	hs_be16_store(at + headers[header_of(template->protocol)].checksum, checksum);
}

uint32_t hs_stream_template_seq(const uint8_t *bytes)
{
	return hs_be32_load(bytes + L4 + 4);
}

uint32_t hs_stream_template_ack(const uint8_t *bytes)
{
	return hs_be32_load(bytes + L4 + 8);
}

// Returns the offset of the byte that every router changes, or `len` if the frame has none.
static uint32_t hop_limit_at(const uint8_t *bytes, uint32_t len)
{
	uint32_t type = HS_ETHER_TYPE;
	for (int tags = 0; type + 2 + 8 <= len; tags++, type += HS_VLAN_BYTES) {
		uint16_t ethertype = hs_be16_load(bytes + type);
		if (ethertype == HS_ETHERTYPE_IPV6)
			return type + 2 + 7;
		bool tag = ethertype == HS_ETHERTYPE_VLAN || ethertype == HS_ETHERTYPE_QINQ ||
			   ethertype == HS_ETHERTYPE_OLD_QINQ;
		if (!tag || tags == HS_VLAN_MAX_TAGS)
			break;
	}
	return len;
}

bool hs_stream_frame_equal(const uint8_t *sent, const uint8_t *arrived, uint32_t len)
{
	uint32_t hop_limit = hop_limit_at(sent, len);
	if (memcmp(sent + HS_ETHER_TYPE, arrived + HS_ETHER_TYPE, hop_limit - HS_ETHER_TYPE) != 0)
		return false;
	return hop_limit == len ||
	       memcmp(sent + hop_limit + 1, arrived + hop_limit + 1, len - hop_limit - 1) == 0;
}

// Hashes eight bytes a step by multiplying and mixing. The hash only needs to detect an altered
// byte. The odd multiplier and the xor-shift are one to one, so that a single altered word is
// always detected.
static uint64_t hash_on(uint64_t hash, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i += 8) {
		uint64_t word = 0;
		memcpy(&word, bytes + i, len - i < 8 ? len - i : 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

uint64_t hs_stream_frame_hash(const uint8_t *bytes, uint32_t len)
{
	uint32_t hop_limit = hop_limit_at(bytes, len);
	uint64_t hash = hash_on(len, bytes + HS_ETHER_TYPE, hop_limit - HS_ETHER_TYPE);
	if (hop_limit < len)
		hash = hash_on(hash, bytes + hop_limit + 1, len - hop_limit - 1);
	return hash;
}
