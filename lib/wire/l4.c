// SPDX-License-Identifier: BSD-3-Clause
#include "l4.h"

#include "bytes.h"
#include "extension.h"

// Follows the extension headers. hs_packet_parse has checked that they lie within the packet.
static void follow(const uint8_t *frame, struct hs_l4 *l4)
{
	while (hs_extension_is_followed(l4->proto)) {
		const uint8_t *header = frame + l4->off;

		l4->off = (uint16_t)(l4->off + hs_extension_bytes(header, l4->proto));
		l4->proto_at = (uint16_t)(header - frame);
		l4->proto = header[0];
	}
}

bool hs_l4_find(const uint8_t *frame, const struct hs_packet *packet, struct hs_l4 *l4)
{
	const uint16_t no = HS_PACKET_MALFORMED | HS_PACKET_SHORT | HS_PACKET_LATER;
	const uint8_t *ip = frame + packet->l3_off;

	if (packet->flags & no || !(packet->flags & (HS_PACKET_IPV4 | HS_PACKET_IPV6)))
		return false;
	if (packet->flags & HS_PACKET_IPV4) {
		l4->off = (uint16_t)(packet->l3_off + 4u * (ip[0] & 0xfu));
		l4->proto_at = (uint16_t)(packet->l3_off + HS_IPV4_PROTOCOL);
		l4->proto = ip[HS_IPV4_PROTOCOL];
		return true;
	}
	l4->off = (uint16_t)(packet->l3_off + HS_IPV6_BYTES);
	l4->proto_at = (uint16_t)(packet->l3_off + HS_IPV6_NEXT);
	l4->proto = ip[HS_IPV6_NEXT];
	if (packet->hbh_bytes) {
		l4->proto_at = l4->off;
		l4->proto = frame[l4->off];
		l4->off = (uint16_t)(l4->off + packet->hbh_bytes);
	}
	follow(frame, l4);
	return true;
}
