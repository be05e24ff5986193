// SPDX-License-Identifier: BSD-3-Clause
#include "int_wire.h"

// ---- GRE ----

size_t hs_int_gre_bytes(const uint8_t *gre)
{
	return GRE_BYTES + 4u * (!!(gre[0] & GRE_C) + !!(gre[0] & GRE_K) + !!(gre[0] & GRE_S));
}

// Returns whether an IP packet is in the tunnel that the source added, and nothing follows it.
static bool is_inner_ip(const struct hs_int_view *view, size_t at, uint16_t ethertype)
{
	const uint8_t *ip = view->frame + at;
	size_t bytes = view->end - at;

	if (ethertype == HS_ETHERTYPE_IPV4)
		return hs_int_has(view, at, HS_IPV4_BYTES) && ip[0] >> 4 == 4 &&
		       hs_be16_load(ip + HS_IPV4_TOTAL) == bytes;
	return ethertype == HS_ETHERTYPE_IPV6 && hs_int_has(view, at, HS_IPV6_BYTES) &&
	       ip[0] >> 4 == 6 && hs_be16_load(ip + HS_IPV6_PAYLOAD) == bytes - HS_IPV6_BYTES;
}

void hs_int_find_gre(struct hs_int_view *view)
{
	struct hs_packet *packet = view->packet;
	size_t at = view->l4.off;
	const uint8_t *gre = view->frame + at;

	if (view->l4.proto != IP_GRE || !hs_int_has(view, at, GRE_BYTES) || gre[1] & 7 ||
			!hs_int_has(view, at, hs_int_gre_bytes(gre)) ||
			hs_be16_load(gre + GRE_PROTOCOL) != view->settings->gre_protocol)
		return;
	packet->flags |= HS_PACKET_ANY_TELEMETRY;
	at += hs_int_gre_bytes(gre);
	if (gre[0] & GRE_ROUTING || packet->flags & HS_PACKET_FRAGMENT ||
			!hs_int_has(view, at, SHIM_BYTES))
		return;
	const uint8_t *shim = view->frame + at;
	size_t bytes = 4u * shim[1];
	if (shim[0] >> 4 == HS_INT_TYPE_DESTINATION ||
			!hs_int_read_head(view, shim[0] >> 4, at + SHIM_BYTES, bytes))
		return;
	size_t taken = SHIM_BYTES + bytes;
	if (shim[0] & SHIM_G_GRE) {
		if (!is_inner_ip(view, at + taken, hs_be16_load(shim + 2)))
			return;
		taken += at - packet->l3_off;
	}
	packet->flags |= HS_PACKET_TELEMETRY;
	packet->e2e_off = (uint16_t)at;
	packet->telemetry_bytes = (uint16_t)taken;
}

// ---- VXLAN-GPE ----

struct hs_int_gpe_shim hs_int_gpe_shim_at(unsigned version, const uint8_t *shim)
{
	if (version == HS_INT_2_1)
		return (struct hs_int_gpe_shim){.type = shim[0] >> 4,
				.bytes = SHIM_BYTES + 4u * shim[1],
				.was_plain = shim[2] & SHIM_G_GPE,
				.next = shim[3]};
	return (struct hs_int_gpe_shim){.type = shim[0],
			.bytes = 4u * shim[2],
			.was_plain = shim[1] & SHIM_G_GPE,
			.next = shim[3]};
}

void hs_int_find_gpe(struct hs_int_view *view)
{
	const struct hs_int_settings *settings = view->settings;
	struct hs_packet *packet = view->packet;
	size_t gpe = hs_int_pass_l4(view);

	if (!gpe || view->l4.proto != HS_IP_UDP || !hs_int_has(view, gpe, GPE_BYTES) ||
			packet->dst_port != HS_INT_GPE_PORT || !(view->frame[gpe] & GPE_P) ||
			view->frame[gpe + GPE_NEXT] != settings->gpe_protocol)
		return;
	packet->flags |= HS_PACKET_ANY_TELEMETRY;
	if (packet->flags & HS_PACKET_FRAGMENT || view->frame[gpe] & GPE_VERSION)
		return;
	size_t first = gpe + GPE_BYTES, at = first;
	struct hs_int_gpe_shim shim = {.next = settings->gpe_protocol};
	bool was_plain = false;
	while (shim.next == settings->gpe_protocol) {
		if (!hs_int_has(view, at, SHIM_BYTES))
			return;
		shim = hs_int_gpe_shim_at(settings->version, view->frame + at);
		if (shim.bytes < SHIM_BYTES || !hs_int_read_head(view, shim.type, at + SHIM_BYTES,
							       shim.bytes - SHIM_BYTES))
			return;
		was_plain |= at == first && shim.was_plain;
		at += shim.bytes;
	}
	// Plain VXLAN carries only Ethernet.
	if (was_plain && shim.next != GPE_ETHERNET)
		return;
	if (was_plain)
		packet->dst_port = HS_INT_VXLAN_PORT;
	packet->flags |= HS_PACKET_TELEMETRY;
	packet->e2e_off = (uint16_t)first;
	packet->telemetry_bytes = (uint16_t)(at - first);
}

// ---- Geneve ----

unsigned hs_int_geneve_type(const struct hs_int_settings *settings, const uint8_t *option)
{
	unsigned type = option[2] - (unsigned)settings->geneve_type + HS_INT_TYPE_MD;
	unsigned last = settings->version == HS_INT_2_1 ? HS_INT_TYPE_MX : HS_INT_TYPE_DESTINATION;

	if (hs_be16_load(option) != settings->geneve_class)
		return 0;
	return type >= HS_INT_TYPE_MD && type <= last ? type : 0;
}

void hs_int_find_geneve(struct hs_int_view *view)
{
	struct hs_packet *packet = view->packet;
	size_t geneve = hs_int_pass_l4(view);

	if (!geneve || view->l4.proto != HS_IP_UDP || packet->dst_port != HS_INT_GENEVE_PORT ||
			!hs_int_has(view, geneve, GENEVE_BYTES) || view->frame[geneve] >> 6)
		return;
	size_t at = geneve + GENEVE_BYTES;
	size_t end = at + 4u * (view->frame[geneve] & 0x3f);
	size_t first = 0, taken = 0;
	bool broken = packet->flags & HS_PACKET_FRAGMENT;
	if (end > view->end || !hs_int_has(view, at, end - at))
		return;
	while (at < end) {
		const uint8_t *option = view->frame + at;
		size_t bytes = GENEVE_OPT_HEAD + 4u * (option[3] & GENEVE_OPT_LENGTH);
		unsigned type = hs_int_geneve_type(view->settings, option);
		packet->flags |= type ? HS_PACKET_ANY_TELEMETRY : 0;
		if (bytes > end - at)
			return;
		if (type) {
			broken |= !hs_int_read_head(
					view, type, at + GENEVE_OPT_HEAD, bytes - GENEVE_OPT_HEAD);
			first = first ? first : at;
			taken += bytes;
		}
		at += bytes;
	}
	if (broken || !first)
		return;
	packet->flags |= HS_PACKET_TELEMETRY;
	packet->e2e_off = (uint16_t)first;
	packet->telemetry_bytes = (uint16_t)taken;
}
