// SPDX-License-Identifier: BSD-3-Clause
// Inserts and removes INT in GRE, VXLAN-GPE and Geneve.
#include "int_wire.h"

// ---- GRE ----

// Returns the tunnel's traffic class. ECN is not copied (RFC 6040, compatibility mode), because a
// mark on the tunnel would be lost.
static uint8_t outer_tclass(const uint8_t *ip, const struct hs_packet *packet)
{
	return hs_int_tclass(ip, packet) & 0xfc;
}

// Writes the tunnel's IPv4 header. It has the identification and the Don't Fragment bit of an inner
// IPv4 packet (RFC 2003 section 3.1).
static void write_outer_ipv4(const struct hs_int_settings *settings, uint8_t *outer,
		const uint8_t *ip, const struct hs_packet *packet, size_t bytes)
{
	const uint8_t may_not = 0x40;
	bool is_ipv4 = packet->flags & HS_PACKET_IPV4;

	memset(outer, 0, HS_IPV4_BYTES);
	outer[0] = 0x45;
	outer[1] = outer_tclass(ip, packet);
	hs_be16_store(outer + HS_IPV4_TOTAL, (uint16_t)bytes);
	if (is_ipv4)
		memcpy(outer + HS_IPV4_ID, ip + HS_IPV4_ID, 2);
	outer[HS_IPV4_FRAGMENT] = is_ipv4 ? ip[HS_IPV4_FRAGMENT] & may_not : may_not;
	outer[HS_IPV4_TTL] = settings->gre_ttl;
	outer[HS_IPV4_PROTOCOL] = IP_GRE;
	memcpy(outer + HS_IPV4_SRC, settings->gre_src, 4);
	memcpy(outer + HS_IPV4_SRC + 4, settings->gre_dst, 4);
	hs_be16_store(outer + HS_IPV4_CHECKSUM, (uint16_t)~hs_ip_sum_even(outer, HS_IPV4_BYTES));
}

static void write_outer_ipv6(const struct hs_int_settings *settings, uint8_t *outer,
		const uint8_t *ip, const struct hs_packet *packet, size_t bytes)
{
	uint32_t label = packet->flags & HS_PACKET_IPV4 ? 0 : hs_be32_load(ip) & 0xfffff;

	hs_be32_store(outer, 6u << 28 | (uint32_t)outer_tclass(ip, packet) << 20 | label);
	hs_be16_store(outer + HS_IPV6_PAYLOAD, (uint16_t)(bytes - HS_IPV6_BYTES));
	outer[HS_IPV6_NEXT] = IP_GRE;
	outer[HS_IPV6_HOPS] = settings->gre_ttl;
	memcpy(outer + HS_IPV6_SRC, settings->gre_src, 16);
	memcpy(outer + HS_IPV6_SRC + 16, settings->gre_dst, 16);
}

static void insert_tunnel(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own)
{
	uint8_t *outer = frame + plan->at, *shim = outer + plan->front, *gre = shim - GRE_BYTES;
	const uint8_t *ip = outer + plan->bytes;
	size_t bytes = plan->bytes + packet->l3_bytes;

	memmove(frame, frame + plan->bytes, plan->at);
	uint16_t inner = hs_be16_load(outer - 2);
	hs_be16_store(outer - 2, settings->gre_ipv6 ? HS_ETHERTYPE_IPV6 : HS_ETHERTYPE_IPV4);
	if (settings->gre_ipv6)
		write_outer_ipv6(settings, outer, ip, packet, bytes);
	else
		write_outer_ipv4(settings, outer, ip, packet, bytes);
	hs_be32_store(gre, settings->gre_protocol);
	hs_int_write_shim(
			settings, shim, plan->bytes - plan->front - SHIM_BYTES, SHIM_G_GRE, inner);
	hs_int_write_head(settings, request, shim + SHIM_BYTES, own);
}

void hs_int_insert_gre(const struct hs_int_settings *settings, const struct hs_int_request *request,
		uint8_t *frame, const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own)
{
	uint8_t *shim = frame + plan->at, *protocol = frame + plan->l4.off + GRE_PROTOCOL;
	struct hs_int_before before;

	if (plan->adds_header) {
		insert_tunnel(settings, request, frame, packet, plan, own);
		return;
	}
	hs_int_note_before(frame + plan->bytes, packet, &plan->l4, plan->at, &before);
	memmove(frame, frame + plan->bytes, plan->at);
	hs_int_write_shim(settings, shim, plan->bytes - SHIM_BYTES, 0, hs_be16_load(protocol));
	hs_be16_store(protocol, settings->gre_protocol);
	hs_int_write_head(settings, request, shim + SHIM_BYTES, own);
	hs_int_finish(frame, packet, &plan->l4, plan->at + plan->bytes, (int)plan->bytes, &before);
}

void hs_int_strip_gre(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4)
{
	const uint8_t *shim = frame + packet->e2e_off;
	size_t taken = packet->telemetry_bytes, at = packet->e2e_off;
	uint16_t next = hs_be16_load(shim + 2);
	struct hs_int_before before;

	if (shim[0] & SHIM_G_GRE) {
		frame = hs_int_take(frame, packet->l3_off, taken);
		hs_be16_store(frame + packet->l3_off - 2, next);
		return;
	}
	hs_int_note_before(frame, packet, l4, at + taken, &before);
	frame = hs_int_take(frame, at, taken);
	hs_be16_store(frame + l4->off + GRE_PROTOCOL, next);
	hs_int_finish(frame, packet, l4, at, -(int)packet->telemetry_bytes, &before);
}

// ---- VXLAN-GPE ----

void hs_int_insert_gpe(const struct hs_int_settings *settings, const struct hs_int_request *request,
		uint8_t *frame, const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own)
{
	uint8_t *shim = frame + plan->at, *gpe = shim - GPE_BYTES;
	bool was_plain = packet->dst_port == HS_INT_VXLAN_PORT;
	struct hs_int_before before;

	hs_int_note_before(frame + plan->bytes, packet, &plan->l4, plan->at, &before);
	memmove(frame, frame + plan->bytes, plan->at);
	uint8_t next = was_plain ? GPE_ETHERNET : gpe[GPE_NEXT];
	hs_int_write_shim(settings, shim, plan->bytes - SHIM_BYTES, 0, next);
	if (was_plain) {
		hs_be16_store(frame + plan->l4.off + UDP_DST, HS_INT_GPE_PORT);
		gpe[0] |= GPE_P;
		shim[settings->version == HS_INT_2_1 ? 2 : 1] |= SHIM_G_GPE;
	}
	gpe[GPE_NEXT] = settings->gpe_protocol;
	hs_int_write_head(settings, request, shim + SHIM_BYTES, own);
	hs_int_finish(frame, packet, &plan->l4, plan->at + plan->bytes, (int)plan->bytes, &before);
}

void hs_int_strip_gpe(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4)
{
	size_t at = packet->e2e_off, end = at + packet->telemetry_bytes;
	struct hs_int_gpe_shim shim;
	struct hs_int_before before;

	for (size_t i = at; i < end; i += shim.bytes) // the last one has the next protocol
		shim = hs_int_gpe_shim_at(settings->version, frame + i);
	hs_int_note_before(frame, packet, l4, end, &before);
	frame = hs_int_take(frame, at, packet->telemetry_bytes);
	uint8_t *gpe = frame + at - GPE_BYTES;
	gpe[GPE_NEXT] = shim.next;
	if (packet->dst_port == HS_INT_VXLAN_PORT) {
		hs_be16_store(frame + l4->off + UDP_DST, HS_INT_VXLAN_PORT);
		gpe[0] &= (uint8_t)~GPE_P;
		gpe[GPE_NEXT] = 0;
	}
	hs_int_finish(frame, packet, l4, at, -(int)packet->telemetry_bytes, &before);
}

// ---- Geneve ----

void hs_int_insert_geneve(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own)
{
	uint8_t *option = frame + plan->at, *geneve = option - GENEVE_BYTES;
	struct hs_int_before before;

	hs_int_note_before(frame + plan->bytes, packet, &plan->l4, plan->at, &before);
	memmove(frame, frame + plan->bytes, plan->at);
	geneve[0] = (uint8_t)(geneve[0] + plan->bytes / 4);
	hs_be16_store(option, settings->geneve_class);
	option[2] = (uint8_t)(settings->geneve_type +
			      (settings->mode == HS_INT_MX ? HS_INT_TYPE_MX - HS_INT_TYPE_MD : 0));
	option[3] = (uint8_t)((plan->bytes - GENEVE_OPT_HEAD) / 4);
	hs_int_write_head(settings, request, option + GENEVE_OPT_HEAD, own);
	hs_int_finish(frame, packet, &plan->l4, plan->at + plan->bytes, (int)plan->bytes, &before);
}

void hs_int_strip_geneve(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4)
{
	size_t geneve = l4->off + (size_t)UDP_BYTES, first = geneve + GENEVE_BYTES;
	size_t end = first + 4u * (frame[geneve] & 0x3f), taken = packet->telemetry_bytes;
	uint8_t kept[4 * GENEVE_MAX_WORDS];
	size_t n = 0, bytes;
	struct hs_int_before before;

	hs_int_note_before(frame, packet, l4, end, &before);
	for (size_t at = first; at < end; at += bytes) {
		const uint8_t *option = frame + at;
		bytes = GENEVE_OPT_HEAD + 4u * (option[3] & GENEVE_OPT_LENGTH);
		if (hs_int_geneve_type(settings, option))
			continue;
		memcpy(kept + n, option, bytes);
		n += bytes;
	}
	frame = hs_int_take(frame, first, taken);
	memcpy(frame + first, kept, n);
	frame[geneve] = (uint8_t)(frame[geneve] - taken / 4);
	hs_int_finish(frame, packet, l4, first + n, -(int)packet->telemetry_bytes, &before);
}
