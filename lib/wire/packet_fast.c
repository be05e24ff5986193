// SPDX-License-Identifier: BSD-3-Clause
#include "packet_fast.h"

bool hs_packet_parse_fast_ipv4(
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	const size_t l4 = HS_ETHER_BYTES + HS_IPV4_BYTES;
	const uint32_t ether_and_header = HS_ETHERTYPE_IPV4 << 8 | 0x45;
	const uint8_t *ip = frame + HS_ETHER_BYTES;

	if (len < l4 + 4 || hs_be32_load(frame + HS_ETHER_TYPE) >> 8 != ether_and_header)
		return false;
	size_t total = hs_be16_load(ip + HS_IPV4_TOTAL);
	uint16_t fragment = hs_be16_load(ip + HS_IPV4_FRAGMENT);
	if (total < HS_IPV4_BYTES + 4 || HS_ETHER_BYTES + total > frame_len ||
			fragment & (HS_IPV4_MORE | HS_IPV4_OFFSET))
		return false;
	uint8_t proto = ip[HS_IPV4_PROTOCOL];
	if (proto != HS_IP_UDP && proto != HS_IP_TCP && proto != HS_IP_ICMP)
		return false;
	*packet = (struct hs_packet){
			.flags = HS_PACKET_IPV4 | HS_PACKET_FLOW,
			.l3_off = HS_ETHER_BYTES,
			.l4_off = (uint16_t)l4,
			.l4_proto = proto,
			.l3_bytes = (uint32_t)total,
	};
	if (proto != HS_IP_ICMP)
		hs_packet_fast_put_ports(hs_be32_load(frame + l4), packet);
	return true;
}
