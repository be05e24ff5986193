// SPDX-License-Identifier: BSD-3-Clause
#include "packet_fast.h"

bool hs_packet_parse_fast_ipv4(
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	static const struct hs_packet constants = {.flags = HS_PACKET_IPV4 | HS_PACKET_FLOW,
			.l3_off = HS_FAST_L3,
			.l4_off = HS_FAST_L3 + HS_IPV4_BYTES};
	const size_t l4 = HS_FAST_L3 + HS_IPV4_BYTES;
	const uint32_t ether_and_header = (uint32_t)HS_ETHERTYPE_IPV4 << 16 | 0x4500;
	const uint8_t *ip = frame + HS_FAST_L3;

	if (len < l4 + 4 || (hs_be32_load(frame + HS_ETHER_TYPE) & 0xffffff00) != ether_and_header)
		return false;
	uint32_t total = hs_be16_load(ip + HS_IPV4_TOTAL);
	uint16_t fragment = hs_be16_load(ip + HS_IPV4_FRAGMENT);
	if (total < HS_IPV4_BYTES + 4 || HS_FAST_L3 + total > frame_len ||
			fragment & (HS_IPV4_MORE | HS_IPV4_OFFSET))
		return false;
	uint8_t proto = ip[HS_IPV4_PROTOCOL];
	if (hs_packet_fast_has_ports(proto))
		hs_packet_fast_put(&constants, total, proto, hs_be32_load(frame + l4), packet);
	else if (proto == HS_IP_ICMP)
		hs_packet_fast_put(&constants, total, proto, 0, packet);
	else
		return false;
	return true;
}
