// SPDX-License-Identifier: BSD-3-Clause
// The fast path of the parser, for nearly every packet: untagged IPv6 with TCP, UDP or ICMPv6
// directly after it, or after the Hop-by-Hop header that nodes of a family write. It is inlined, so
// that the core works on several packets at once. It is tested against hs_packet_parse. For IPv4
// there is hs_packet_parse_fast_ipv4.
//
// Thread rule: any; pure functions.
#pragma once

#include "bytes.h"
#include "ip.h"
#include "packet.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define HS_FAST_L3 HS_ETHER_BYTES		    // where IP begins in an untagged frame
#define HS_FAST_L4 (HS_ETHER_BYTES + HS_IPV6_BYTES) // where the next header begins

// Returns whether a protocol is TCP or UDP, in one branch.
static inline bool hs_packet_fast_has_ports(uint8_t proto)
{
	return proto <= HS_IP_UDP && (1u << HS_IP_TCP | 1u << HS_IP_UDP) >> proto & 1;
}

static inline bool hs_packet_fast_is_l4(uint8_t proto)
{
	return proto == HS_IP_UDP || proto == HS_IP_TCP || proto == HS_IP_ICMPV6;
}

static_assert(offsetof(struct hs_packet, dst_port) == offsetof(struct hs_packet, src_port) + 2,
		"ports are stored as one word");
static inline void hs_packet_fast_put_ports(uint32_t ports, struct hs_packet *packet)
{
	ports = ports << 16 | ports >> 16;
	memcpy((uint8_t *)packet + offsetof(struct hs_packet, src_port), &ports, sizeof(ports));
}

// Sets all members for a packet without telemetry. The flags and offsets are those of `constants`,
// which are copied by one store. `ports` is the transport header's first word, or 0.
static_assert(offsetof(struct hs_packet, dst_port) == 16, "flags and offsets are one vector");
static_assert(offsetof(struct hs_packet, vlan_tags) == offsetof(struct hs_packet, l4_proto) + 1,
		"protocol and tags are stored as one word");
static_assert(offsetof(struct hs_packet, trace_type) == offsetof(struct hs_packet, ns_id) + 4,
		"namespace and trace type are stored as one word");
static inline void hs_packet_fast_put(const struct hs_packet *constants, uint32_t l3_bytes,
		uint8_t proto, uint32_t ports, struct hs_packet *packet)
{
	const uint16_t proto_and_tags = proto;

	memcpy(packet, constants, offsetof(struct hs_packet, dst_port));
	hs_packet_fast_put_ports(ports, packet);
	memcpy(&packet->l4_proto, &proto_and_tags, sizeof(proto_and_tags));
	packet->l3_bytes = l3_bytes;
	memset(&packet->ns_id, 0, 8); // and trace_type
}

static const struct hs_packet hs_packet_fast_ipv6 = {.flags = HS_PACKET_IPV6 | HS_PACKET_FLOW,
		.l3_off = HS_FAST_L3,
		.l4_off = HS_FAST_L4};

// Reads the Hop-by-Hop header after IPv6 and the header that follows it, and sets all members.
// Returns false if the general parser must read the packet.
typedef bool (*hs_packet_fast_hbh_fn)(void *context, const uint8_t *frame, size_t len,
		size_t payload, struct hs_packet *packet);

// Parses a frame with the result of hs_packet_parse. Returns false if hs_packet_parse must parse
// it. `hbh` is a constant function of the family, which is inlined and gets `context`. NULL: the
// family has no fast parser for such a header.
static inline __attribute__((always_inline)) bool hs_packet_parse_fast(const uint8_t *frame,
		size_t len, size_t frame_len, hs_packet_fast_hbh_fn hbh, void *context,
		struct hs_packet *packet)
{
	const uint8_t *ip = frame + HS_FAST_L3;
	const uint32_t ether_and_version = (uint32_t)HS_ETHERTYPE_IPV6 << 16 | 6 << 12;

	if (len < HS_FAST_L4 + 4 ||
			(hs_be32_load(frame + HS_ETHER_TYPE) & 0xfffff000) != ether_and_version)
		return false;
	uint32_t payload = hs_be16_load(ip + HS_IPV6_PAYLOAD);
	// If the payload has fewer than 4 bytes, the first difference wraps. The second one cannot,
	// because frame_len is not less than `len`.
	if (payload - 4 > (uint32_t)frame_len - (HS_FAST_L4 + 4))
		return false;
	uint8_t proto = ip[HS_IPV6_NEXT];
	uint32_t l3_bytes = HS_IPV6_BYTES + payload;
	if (__builtin_expect(hs_packet_fast_has_ports(proto), 1)) {
		hs_packet_fast_put(&hs_packet_fast_ipv6, l3_bytes, proto,
				hs_be32_load(frame + HS_FAST_L4), packet);
		return true;
	}
	if (hbh && proto == HS_IP_HOP_BY_HOP)
		return hbh(context, frame, len, payload, packet);
	if (proto != HS_IP_ICMPV6)
		return false;
	hs_packet_fast_put(&hs_packet_fast_ipv6, l3_bytes, proto, 0, packet);
	return true;
}

// Parses untagged IPv4 without options, no fragment, with TCP, UDP or ICMP, with the result of
// hs_packet_parse. Returns false for other frames. It is not inlined, because that would slow the
// fast path of IPv6.
bool hs_packet_parse_fast_ipv4(
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet);
