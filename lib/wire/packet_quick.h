// SPDX-License-Identifier: BSD-3-Clause
// The parser for what nearly every packet is: untagged IPv6 with TCP, UDP or ICMPv6 directly behind
// it, or behind the Hop-by-Hop header that our own source and transit nodes write. Inlined, so that
// several packets are under way at once; hs_packet_parse is what it is tested against.
//
// Thread rule: any; pure functions.
#pragma once

#include "bytes.h"
#include "hbh.h"
#include "ip.h"
#include "packet.h"

#include <string.h>

#define HS_QUICK_L3 HS_ETHER_BYTES		     // where IPv6 begins in an untagged frame
#define HS_QUICK_L4 (HS_ETHER_BYTES + HS_IPV6_BYTES) // what follows it

static inline bool hs_quick_is_l4(uint8_t proto)
{
	return proto == HS_IP_UDP || proto == HS_IP_TCP || proto == HS_IP_ICMPV6;
}

static inline void hs_quick_ports(
		const uint8_t *frame, size_t at, uint8_t proto, struct hs_packet *packet)
{
	uint32_t ports = hs_be32_load(frame + at);

	ports = proto == HS_IP_ICMPV6 ? 0 : ports;
	packet->src_port = (uint16_t)(ports >> 16);
	packet->dst_port = (uint16_t)ports;
	packet->l4_off = (uint16_t)at;
	packet->l4_proto = proto;
}

// The options 0x31 and 0x11, in this order, alone but for padding: exactly what hs_hbh_parse takes
// without a walk. `bytes` is the whole header, at least 8.
static inline bool hs_quick_options(const uint8_t *hbh, size_t bytes, struct hs_packet *packet)
{
	size_t trace = HS_HBH_OPTIONS;
	if (hbh[trace] == HS_OPT_PADN && hbh[trace + 1] == 0)
		trace += 2;
	size_t e2e = trace + 2u + hbh[trace + 1];

	if (hbh[trace] != HS_OPT_TRACE || hbh[trace + 1] < 8 || e2e + 2 > bytes)
		return false;
	size_t end = e2e + 2u + hbh[e2e + 1];
	if (hbh[e2e] != HS_OPT_E2E || hbh[e2e + 1] < 2 || end > bytes)
		return false;
	if (end != bytes && (bytes - end < 2 || hbh[end] != HS_OPT_PADN ||
					    end + 2u + hbh[end + 1] != bytes))
		return false;
	packet->trace_off = (uint16_t)(HS_QUICK_L4 + trace);
	packet->e2e_off = (uint16_t)(HS_QUICK_L4 + e2e);
	packet->ns_id = hs_be32_load(hbh + trace + 2);
	packet->trace_type = hs_be32_load(hbh + trace + 6);
	packet->hbh_bytes = (uint16_t)bytes;
	packet->telemetry_bytes = (uint16_t)bytes;
	packet->flags |= HS_PACKET_HBH | HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY;
	return true;
}

static inline bool hs_quick_hbh(
		const uint8_t *frame, size_t len, size_t payload, struct hs_packet *packet)
{
	const uint8_t *hbh = frame + HS_QUICK_L4;

	if (len < HS_QUICK_L4 + 8)
		return false;
	size_t bytes = 8u * (hbh[1] + 1u);
	if (bytes + 4 > payload || HS_QUICK_L4 + bytes + 4 > len || !hs_quick_is_l4(hbh[0]))
		return false;
	if (!hs_quick_options(hbh, bytes, packet))
		return false;
	hs_quick_ports(frame, HS_QUICK_L4 + bytes, hbh[0], packet);
	return true;
}

// The same as hs_packet_parse where it says true; where it says false, that one has to be asked.
static inline bool hs_packet_parse_quick(
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	*packet = (struct hs_packet){0};
	if (len < HS_QUICK_L4 + 4 || hs_be16_load(frame + HS_ETHER_TYPE) != HS_ETHERTYPE_IPV6 ||
			frame[HS_QUICK_L3] >> 4 != 6)
		return false;
	const uint8_t *ip = frame + HS_QUICK_L3;
	size_t payload = hs_be16_load(ip + HS_IPV6_PAYLOAD);
	if (payload < 4 || HS_QUICK_L4 + payload > frame_len)
		return false;
	uint8_t proto = ip[HS_IPV6_NEXT];
	packet->flags = HS_PACKET_IPV6 | HS_PACKET_FLOW;
	packet->l3_off = HS_QUICK_L3;
	packet->payload_bytes = (uint16_t)payload;
	if (hs_quick_is_l4(proto)) {
		hs_quick_ports(frame, HS_QUICK_L4, proto, packet);
		return true;
	}
	return proto == HS_IP_HOP_BY_HOP && hs_quick_hbh(frame, len, payload, packet);
}
