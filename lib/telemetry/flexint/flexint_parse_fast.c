// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_parse_fast.h"
#include "hbh.h"

static void keep(struct hs_flexint_template *template, const uint8_t *frame,
		const struct hs_packet *packet)
{
	size_t end = packet->e2e_off + 2u + frame[packet->e2e_off + 1];

	if (end == packet->l4_off)
		end = packet->e2e_off;
	template->key = hs_flexint_template_key(frame + HS_FAST_L4);
	template->ports_end = packet->l4_off + 4u;
	template->ports_mask = packet->l4_proto == HS_IP_ICMPV6 ? 0 : UINT32_MAX;
	template->trace = hs_flexint_template_word(frame + packet->trace_off);
	template->e2e = hs_flexint_template_word(frame + packet->e2e_off);
	template->padding = hs_flexint_template_word(frame + end);
	template->padding_off = (uint16_t)end;
	template->packet = *packet;
}

bool hs_flexint_template_make(struct hs_flexint_templates *templates, const uint8_t *frame,
		size_t len, size_t payload, struct hs_packet *packet)
{
	const uint8_t *hbh = frame + HS_FAST_L4;
	uint8_t proto = hbh[0];
	size_t bytes = 8u * (hbh[1] + 1u), at = HS_FAST_L4 + bytes;

	if (bytes + 4 > payload || at + 4 > len || !hs_packet_fast_is_l4(proto))
		return false;
	uint32_t ports = proto == HS_IP_ICMPV6 ? 0 : hs_be32_load(frame + at);
	hs_packet_fast_put(&hs_packet_fast_ipv6, (uint32_t)(HS_IPV6_BYTES + payload), proto, ports,
			packet);
	packet->l4_off = (uint16_t)at;
	packet->flags |= HS_PACKET_HBH;
	packet->hbh_bytes = (uint16_t)bytes;
	if (!hs_hbh_parse_own(hbh, packet))
		return false;
	keep(hs_flexint_template_of(templates, hbh), frame, packet);
	return true;
}
