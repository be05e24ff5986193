// SPDX-License-Identifier: BSD-3-Clause
#include "int_wire.h"

// ---- TCP and UDP ----

uint8_t hs_int_host_dscp(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	const uint8_t *shim = frame + packet->e2e_off;

	if (settings->carrier != HS_INT_TCP_UDP || settings->mark != HS_INT_MARK_DSCP ||
			!(packet->flags & HS_PACKET_TELEMETRY))
		return (uint8_t)(hs_int_tclass(frame + packet->l3_off, packet) >> 2);
	if (settings->version != HS_INT_0_5)
		return shim[3] >> 2;
	return shim[packet->telemetry_bytes - 1u] & 0x3f; // last byte of the tail
}

static void strip_udp(uint8_t *frame, const struct hs_packet *packet, const struct hs_l4 *l4,
		uint8_t proto)
{
	struct hs_l4 none = {.off = l4->off};
	struct hs_int_before before;

	hs_int_note_before(frame, packet, &none, l4->off, &before);
	frame = hs_int_take(frame, l4->off, packet->telemetry_bytes);
	frame[l4->proto_at] = proto;
	hs_int_correct_lengths(frame, packet, &none, -(int)packet->telemetry_bytes, &before);
}

static void strip_tcp_udp(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4)
{
	size_t taken = packet->telemetry_bytes;
	size_t at = packet->e2e_off -
		    (settings->mark == HS_INT_MARK_PROBE ? (size_t)MARKER_BYTES : 0);
	const uint8_t *shim = frame + packet->e2e_off;
	uint8_t dscp = hs_int_host_dscp(settings, frame, packet);
	struct hs_int_before before;

	if (settings->version == HS_INT_2_1 && (shim[0] >> 2 & 3) == 2) {
		strip_udp(frame, packet, l4, shim[3]);
		return;
	}
	hs_int_note_before(frame, packet, l4, at + taken, &before);
	frame = hs_int_take(frame, at, taken);
	if (settings->mark == HS_INT_MARK_DSCP)
		hs_int_set_dscp(frame + packet->l3_off, packet, dscp);
	if (settings->mark == HS_INT_MARK_UDP_PORT)
		hs_be16_store(frame + l4->off + UDP_DST, packet->dst_port);
	hs_int_finish(frame, packet, l4, at, -(int)taken, &before);
}

// ---- all carriers ----

size_t hs_int_strip(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet)
{
	struct hs_l4 l4;

	if (!(packet->flags & HS_PACKET_TELEMETRY) || !hs_l4_find(frame, packet, &l4))
		return 0;
	switch (settings->carrier) {
	case HS_INT_TCP_UDP:
		strip_tcp_udp(settings, frame, packet, &l4);
		break;
	case HS_INT_GRE:
		hs_int_strip_gre(frame, packet, &l4);
		break;
	case HS_INT_VXLAN_GPE:
		hs_int_strip_gpe(settings, frame, packet, &l4);
		break;
	default:
		hs_int_strip_geneve(settings, frame, packet, &l4);
	}
	return packet->telemetry_bytes;
}

bool hs_int_is_discarded(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	static const uint8_t bits[] = {0x08, 0x02, 0x02, 0x08};

	return packet->flags & HS_PACKET_TELEMETRY && packet->trace_off &&
	       frame[packet->trace_off] & bits[settings->version];
}

bool hs_int_clear_mark(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet)
{
	uint8_t *ip = frame + packet->l3_off;

	if (settings->carrier != HS_INT_TCP_UDP || settings->mark != HS_INT_MARK_DSCP ||
			settings->mode == HS_INT_XD || !packet->l3_off ||
			!hs_int_is_marked(settings, ip, packet))
		return false;
	uint16_t was = hs_be16_load(ip);
	uint8_t dscp = (uint8_t)(hs_int_tclass(ip, packet) >> 2 & ~settings->dscp_mask);
	hs_int_set_dscp(ip, packet, dscp);
	if (packet->flags & HS_PACKET_IPV4) {
		uint32_t change = hs_sum_change(was, hs_be16_load(ip));
		uint8_t *checksum = ip + HS_IPV4_CHECKSUM;
		hs_be16_store(checksum, hs_checksum_changed(hs_be16_load(checksum), change));
	}
	return true;
}
