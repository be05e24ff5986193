// SPDX-License-Identifier: BSD-3-Clause
#include "int_wire.h"

// ---- TCP and UDP ----

static void found(struct hs_int_view *view, size_t shim, size_t bytes)
{
	struct hs_packet *packet = view->packet;

	packet->flags |= HS_PACKET_TELEMETRY;
	packet->e2e_off = (uint16_t)shim;
	packet->telemetry_bytes = (uint16_t)bytes;
}

// Reads the L4 header before which a source put its own UDP header. In the host's packet, this
// header directly followed IP.
static bool see_inner(struct hs_int_view *view, size_t at, uint8_t proto)
{
	struct hs_packet *packet = view->packet;
	bool is_ipv4 = packet->flags & HS_PACKET_IPV4;
	bool has_ports = proto == HS_IP_TCP || proto == HS_IP_UDP;
	uint16_t flow = packet->flags & HS_PACKET_FLOW;

	packet->flags &= (uint16_t)~HS_PACKET_FLOW;
	packet->l4_off = packet->src_port = packet->dst_port = 0;
	packet->l4_proto = 0;
	if (proto == HS_IP_HOP_BY_HOP) // it must be the first header, so no source put UDP before
				       // it
		return false;
	if (!has_ports && proto != HS_IP_GRE && proto != (is_ipv4 ? HS_IP_ICMP : HS_IP_ICMPV6))
		return true;
	if (!hs_int_has(view, at, 4))
		return false;
	packet->flags |= flow;
	packet->l4_off = (uint16_t)at;
	packet->l4_proto = proto;
	packet->src_port = has_ports ? hs_be16_load(view->frame + at) : 0;
	packet->dst_port = has_ports ? hs_be16_load(view->frame + at + UDP_DST) : 0;
	return true;
}

// Reads a shim of 2.x. The meaning of its last two bytes depends on its NPT.
static void read_new_shim(struct hs_int_view *view, size_t at)
{
	const uint8_t *shim = view->frame + at;
	bool by_port = view->settings->mark == HS_INT_MARK_UDP_PORT;
	unsigned npt = shim[0] >> 2 & 3;
	size_t bytes = SHIM_BYTES + 4u * shim[1], front = 0;
	size_t ip_end = view->packet->l3_off + (size_t)view->packet->l3_bytes;

	if (by_port ? npt != 1 && npt != 2 : npt != 0)
		return;
	if (!hs_int_read_head(view, shim[0] >> 4, at + SHIM_BYTES, bytes - SHIM_BYTES))
		return;
	if (npt == 1)
		view->packet->dst_port = hs_be16_load(shim + 2);
	if (npt == 2) {
		if (view->end != ip_end || !see_inner(view, at + bytes, shim[3]))
			return;
		front = UDP_BYTES;
	}
	front += view->settings->mark == HS_INT_MARK_PROBE ? MARKER_BYTES : 0;
	found(view, at, front + bytes);
}

static void read_old_shim(struct hs_int_view *view, size_t at)
{
	const uint8_t *shim = view->frame + at;
	size_t bytes = 4u * shim[2];
	size_t tail = view->settings->version == HS_INT_0_5 ? TAIL_BYTES : 0;

	if (bytes < SHIM_BYTES + tail || !hs_int_has(view, at, bytes))
		return;
	if (tail && shim[bytes - TAIL_BYTES] != view->l4.proto)
		return;
	if (!hs_int_read_head(view, shim[0], at + SHIM_BYTES, bytes - SHIM_BYTES - tail))
		return;
	if (tail && view->settings->mark == HS_INT_MARK_UDP_PORT)
		view->packet->dst_port = hs_be16_load(shim + bytes - TAIL_BYTES + 1);
	found(view, at, bytes + (view->settings->mark == HS_INT_MARK_PROBE ? MARKER_BYTES : 0));
}

// Returns whether TCP or UDP has a mark of INT. Moves *at after a probe marker.
static bool is_signalled(struct hs_int_view *view, size_t *at)
{
	const struct hs_int_settings *settings = view->settings;

	if (settings->mark == HS_INT_MARK_DSCP)
		return view->packet->flags & HS_PACKET_ANY_TELEMETRY;
	if (settings->mark == HS_INT_MARK_PROBE) {
		if (!hs_int_has(view, *at, MARKER_BYTES) ||
				hs_be64_load(view->frame + *at) != settings->probe_marker)
			return false;
		*at += MARKER_BYTES;
		return true;
	}
	bool may = view->l4.proto == HS_IP_UDP ||
		   (view->l4.proto == HS_IP_TCP && settings->version == HS_INT_0_5);
	return may && hs_be16_load(view->frame + view->l4.off + UDP_DST) == settings->udp_port;
}

static void find_tcp_udp(struct hs_int_view *view)
{
	size_t at = hs_int_pass_l4(view);

	if (!at) {
		// The port can be read even if the header is malformed after it.
		if (view->settings->mark == HS_INT_MARK_UDP_PORT && view->packet->l4_off &&
				is_signalled(view, &at))
			view->packet->flags |= HS_PACKET_ANY_TELEMETRY;
		return;
	}
	if (!is_signalled(view, &at))
		return;
	view->packet->flags |= HS_PACKET_ANY_TELEMETRY;
	if (view->packet->flags & HS_PACKET_FRAGMENT || !hs_int_has(view, at, SHIM_BYTES))
		return;
	if (view->settings->version == HS_INT_2_1)
		read_new_shim(view, at);
	else
		read_old_shim(view, at);
}

// ---- all carriers ----

static void find(struct hs_int_view *view)
{
	switch (view->settings->carrier) {
	case HS_INT_GRE:
		hs_int_find_gre(view);
		return;
	case HS_INT_VXLAN_GPE:
		hs_int_find_gpe(view);
		return;
	case HS_INT_GENEVE:
		hs_int_find_geneve(view);
		return;
	default:
		find_tcp_udp(view);
	}
}

static void find_at_l4(struct hs_int_view *view)
{
	struct hs_packet *packet = view->packet, before = *packet;

	view->end = packet->l3_off + (size_t)packet->l3_bytes;
	find(view);
	if (packet->flags & HS_PACKET_TELEMETRY)
		return;
	// If INT is malformed, the flow is that of the unchanged packet. If INT is cut off, the
	// flow is not known.
	uint16_t flags = packet->flags;
	*packet = before;
	packet->flags |= flags & (HS_PACKET_ANY_TELEMETRY | HS_PACKET_SHORT);
}

static bool claims_by_dscp(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	return settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP &&
	       hs_int_is_marked(settings, frame + packet->l3_off, packet);
}

void hs_int_parse(const struct hs_int_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet)
{
	bool by_dscp = settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP;
	struct hs_int_view view = {
			.settings = settings, .frame = frame, .len = len, .packet = packet};

	hs_packet_parse(frame, len, frame_len, NULL, packet);
	// A DSCP can be read whatever headers follow it.
	if ((by_dscp && packet->l3_off) || settings->mode == HS_INT_XD)
		packet->flags &= (uint16_t)~HS_PACKET_HIDDEN;
	if (!packet->l3_off || settings->mode == HS_INT_XD)
		return;
	if (claims_by_dscp(settings, frame, packet))
		packet->flags |= HS_PACKET_ANY_TELEMETRY;
	bool has_l4 = hs_l4_find(frame, packet, &view.l4);
	if (has_l4)
		find_at_l4(&view);
	if (!by_dscp && !(packet->flags & HS_PACKET_ANY_TELEMETRY))
		hs_int_claim_anyway(&view, frame_len, has_l4);
	if (packet->flags & HS_PACKET_SHORT)
		packet->flags &= (uint16_t)~HS_PACKET_FLOW;
}

bool hs_int_is_certain(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	// Reserved bits of the shim. 2.1 and 1.0 have the host's DSCP in the last byte; 0.5 has it
	// in the tail.
	static const uint32_t reserved[] = {0, 0x00ff00ff, 0x00ff0003, 0x0300ff03};

	if (settings->carrier != HS_INT_TCP_UDP || settings->mark != HS_INT_MARK_DSCP)
		return true;
	return packet->trace_off &&
	       !(hs_be32_load(frame + packet->e2e_off) & reserved[settings->version]) &&
	       hs_int_is_plain(settings->version, hs_int_type_of(packet),
			       frame + packet->trace_off);
}
