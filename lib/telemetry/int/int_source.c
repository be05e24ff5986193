// SPDX-License-Identifier: BSD-3-Clause
#include "int_wire.h"

// ---- size of the insertion ----

static size_t ip_end(const struct hs_packet *packet)
{
	return packet->l3_off + (size_t)packet->l3_bytes;
}

static size_t head_bytes(const struct hs_int_settings *settings,
		const struct hs_int_request *request, bool own)
{
	size_t words = own ? hs_int_request_words(settings, request) : 0;

	if (settings->version == HS_INT_2_1 && (own || settings->mode == HS_INT_MX))
		words += request->source_words;
	return hs_int_head_bytes(settings->version) + 4 * words;
}

static int refusal_of_request(const struct hs_int_settings *settings,
		const struct hs_int_request *request, bool own)
{
	unsigned words = hs_int_request_words(settings, request);
	bool reserved = request->bitmap & (uint16_t)~hs_int_known(settings->version);

	if (settings->mode == HS_INT_XD)
		return HS_INT_NOT_ASKED;
	if (reserved && hs_int_counts_hops(settings->version))
		return HS_INT_RESERVED;
	if (words > MAX_HOP_WORDS || request->source_words > HS_INT_MAX_SOURCE_WORDS)
		return HS_INT_NO_ROOM;
	bool none = own && words && !hs_int_hop_limit(settings, request, words);
	return none ? HS_INT_HOP_LIMIT : 0;
}

// Returns whether the sink can restore the checksums. After an incremental change, a checksum of
// 0xffff cannot be told from 0. No host computes 0xffff.
static bool is_restorable(const uint8_t *frame, const struct hs_packet *packet,
		const struct hs_int_plan *plan)
{
	const uint8_t *header = frame + plan->l4.off;

	if (packet->flags & HS_PACKET_IPV4 &&
			hs_be16_load(frame + packet->l3_off + HS_IPV4_CHECKSUM) == 0xffff)
		return false;
	if (plan->adds_header) // the bytes after it do not change, and need not be whole
		return true;
	if (plan->l4.proto == HS_IP_TCP)
		return hs_be16_load(header + TCP_CHECKSUM) != 0xffff;
	return plan->l4.proto != IP_GRE || !(header[0] & GRE_C) ||
	       hs_be16_load(header + GRE_CHECKSUM) != 0xffff;
}

// ---- place of the insertion ----

static bool plan_tcp_udp(const struct hs_int_settings *settings, struct hs_int_view *view,
		struct hs_int_plan *plan)
{
	bool by_port = settings->mark == HS_INT_MARK_UDP_PORT;

	plan->bytes = SHIM_BYTES + (settings->version == HS_INT_0_5 ? TAIL_BYTES : 0);
	if (by_port && settings->version == HS_INT_2_1 && view->l4.proto != HS_IP_UDP) {
		plan->adds_header = true;
		plan->at = view->l4.off;
		plan->front = UDP_BYTES;
	} else {
		plan->at = hs_int_pass_l4(view);
		plan->front = settings->mark == HS_INT_MARK_PROBE ? MARKER_BYTES : 0;
	}
	return plan->at && view->l4.proto != HS_IP_HOP_BY_HOP;
}

static bool plan_gre(const struct hs_int_settings *settings, struct hs_int_view *view,
		struct hs_int_plan *plan)
{
	const uint8_t *gre = view->frame + view->l4.off;

	plan->bytes = SHIM_BYTES;
	if (view->l4.proto == IP_GRE) {
		if (!hs_int_has(view, view->l4.off, GRE_BYTES) || gre[1] & 7 ||
				gre[0] & GRE_ROUTING ||
				!hs_int_has(view, view->l4.off, hs_int_gre_bytes(gre)))
			return false;
		plan->at = view->l4.off + hs_int_gre_bytes(gre);
		return true;
	}
	plan->adds_header = true;
	plan->at = view->packet->l3_off;
	plan->front = (settings->gre_ipv6 ? HS_IPV6_BYTES : HS_IPV4_BYTES) + GRE_BYTES;
	return settings->gre_adds_tunnel;
}

// Returns whether plain VXLAN can be restored: all bits that VXLAN-GPE uses must be as in RFC 7348.
static bool is_plain_vxlan(const uint8_t *vxlan)
{
	return hs_be32_load(vxlan) == (uint32_t)GPE_I << 24;
}

static bool plan_gpe(const struct hs_int_settings *settings, struct hs_int_view *view,
		struct hs_int_plan *plan)
{
	size_t at = hs_int_pass_l4(view);
	const uint8_t *gpe = view->frame + at;

	if (!at || view->l4.proto != HS_IP_UDP || !hs_int_has(view, at, GPE_BYTES))
		return false;
	plan->bytes = SHIM_BYTES;
	plan->at = at + GPE_BYTES;
	if (view->packet->dst_port == HS_INT_VXLAN_PORT)
		return settings->upgrade_vxlan && is_plain_vxlan(gpe);
	return view->packet->dst_port == HS_INT_GPE_PORT && gpe[0] & GPE_P &&
	       !(gpe[0] & GPE_VERSION);
}

static bool are_options_whole(const struct hs_int_view *view, size_t geneve)
{
	size_t at = geneve + GENEVE_BYTES, end = at + 4u * (view->frame[geneve] & 0x3f);

	if (end > view->end)
		return false;
	while (at < end)
		at += GENEVE_OPT_HEAD + 4u * (view->frame[at + 3] & GENEVE_OPT_LENGTH);
	return at == end;
}

static bool plan_geneve(const struct hs_int_settings *settings, struct hs_int_view *view,
		struct hs_int_plan *plan)
{
	size_t at = hs_int_pass_l4(view);

	(void)settings;
	if (!at || view->l4.proto != HS_IP_UDP || view->packet->dst_port != HS_INT_GENEVE_PORT ||
			!hs_int_has(view, at, GENEVE_BYTES) || view->frame[at] >> 6 ||
			!are_options_whole(view, at))
		return false;
	plan->bytes = GENEVE_OPT_HEAD;
	plan->at = at + GENEVE_BYTES;
	return true;
}

static bool fits_geneve(const struct hs_int_plan *plan, const uint8_t *frame)
{
	size_t words = plan->bytes / 4;

	return words - 1 <= GENEVE_OPT_WORDS &&
	       (frame[plan->at - GENEVE_BYTES] & 0x3f) + words <= GENEVE_MAX_WORDS;
}

static bool plan_carrier(const struct hs_int_settings *settings, struct hs_int_view *view,
		struct hs_int_plan *plan)
{
	switch (settings->carrier) {
	case HS_INT_GRE:
		return plan_gre(settings, view, plan);
	case HS_INT_VXLAN_GPE:
		return plan_gpe(settings, view, plan);
	case HS_INT_GENEVE:
		return plan_geneve(settings, view, plan);
	default:
		return plan_tcp_udp(settings, view, plan);
	}
}

static size_t most_l3_bytes(const struct hs_int_settings *settings, const struct hs_packet *packet,
		const struct hs_int_plan *plan)
{
	bool is_ipv4 = packet->flags & HS_PACKET_IPV4;

	if (settings->carrier == HS_INT_GRE && plan->adds_header)
		is_ipv4 = !settings->gre_ipv6;
	return is_ipv4 ? UINT16_MAX : HS_IPV6_MAX_BYTES;
}

static int make_plan(const struct hs_int_settings *settings, const struct hs_int_request *request,
		const uint8_t *frame, const struct hs_packet *packet, bool own,
		struct hs_int_plan *plan)
{
	struct hs_packet unchanged = *packet;
	struct hs_int_view view = {.settings = settings,
			.frame = frame,
			.len = SIZE_MAX, // the headers are whole: the packet was parsed
			.packet = &unchanged,
			.end = ip_end(packet)};

	*plan = (struct hs_int_plan){0};
	if (packet->flags & HS_PACKET_ANY_TELEMETRY)
		return HS_INT_MARKED;
	if (packet->flags & HS_PACKET_FRAGMENT || !hs_l4_find(frame, packet, &view.l4) ||
			!plan_carrier(settings, &view, plan))
		return HS_INT_NO_CARRIER;
	plan->l4 = view.l4;
	if (!is_restorable(frame, packet, plan))
		return HS_INT_NO_CARRIER;
	int refusal = refusal_of_request(settings, request, own);
	if (refusal)
		return refusal;
	plan->bytes += plan->front + head_bytes(settings, request, own);
	bool fits = packet->l3_bytes + plan->bytes <= most_l3_bytes(settings, packet, plan) &&
		    (settings->carrier != HS_INT_GENEVE || fits_geneve(plan, frame));
	return fits ? (int)plan->bytes : HS_INT_NO_ROOM;
}

int hs_int_source_growth(const struct hs_int_settings *settings,
		const struct hs_int_request *request, const uint8_t *frame,
		const struct hs_packet *packet, bool own)
{
	struct hs_int_plan plan;

	return make_plan(settings, request, frame, packet, own, &plan);
}

// Returns the most bytes before the header of INT that a packet needs.
static size_t most_front_bytes(const struct hs_int_settings *settings)
{
	size_t bytes = SHIM_BYTES; // an option's head is as long

	if (settings->carrier == HS_INT_GRE && settings->gre_adds_tunnel)
		bytes += (settings->gre_ipv6 ? HS_IPV6_BYTES : HS_IPV4_BYTES) + GRE_BYTES;
	if (settings->carrier != HS_INT_TCP_UDP)
		return bytes;
	if (settings->mark == HS_INT_MARK_PROBE)
		bytes += MARKER_BYTES;
	if (settings->mark == HS_INT_MARK_UDP_PORT && settings->version == HS_INT_2_1)
		bytes += UDP_BYTES; // of packets without a UDP header
	return bytes;
}

size_t hs_int_most_path_growth(
		const struct hs_int_settings *settings, const struct hs_int_request *request)
{
	bool old_shim = settings->carrier != HS_INT_GENEVE && settings->version != HS_INT_2_1;
	size_t tail = settings->carrier == HS_INT_TCP_UDP && settings->version == HS_INT_0_5
				      ? TAIL_BYTES
				      : 0;
	size_t source = head_bytes(settings, request, true) + tail;
	unsigned words = hs_int_request_words(settings, request);
	size_t further = words ? hs_int_hop_limit(settings, request, words) : 0;

	if (refusal_of_request(settings, request, true))
		return 0;
	size_t room = MAX_SHIM_WORDS - old_shim - source / 4;
	if (further)
		further = further - 1 < room / words ? further - 1 : room / words;
	return most_front_bytes(settings) + source + 4 * words * further;
}

// ---- writing ----

// Writes the mark of INT. Returns the shim's last two bytes, which hold the value that the sink
// restores.
static uint16_t mark_tcp_udp(const struct hs_int_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_l4 *l4)
{
	uint8_t *ip = frame + packet->l3_off;
	uint8_t dscp = hs_int_tclass(ip, packet) >> 2;
	uint8_t *port = frame + l4->off + UDP_DST;

	if (settings->mark == HS_INT_MARK_PROBE)
		return 0;
	if (settings->mark == HS_INT_MARK_DSCP) {
		hs_int_set_dscp(ip, packet,
				(uint8_t)((dscp & ~settings->dscp_mask) |
						(settings->dscp & settings->dscp_mask)));
		return (uint16_t)(dscp << 2);
	}
	uint16_t was = hs_be16_load(port);
	hs_be16_store(port, settings->udp_port);
	return was;
}

static void write_tail(const struct hs_int_settings *settings, uint8_t *tail, uint8_t proto,
		uint16_t port, uint16_t last)
{
	bool by_dscp = settings->mark == HS_INT_MARK_DSCP;

	tail[0] = proto;
	hs_be16_store(tail + 1, port);
	tail[3] = by_dscp ? (uint8_t)(last >> 2) : 0;
}

static void insert_tcp_udp(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *frame,
		const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own)
{
	bool by_port = settings->mark == HS_INT_MARK_UDP_PORT;
	size_t tail = settings->version == HS_INT_0_5 ? TAIL_BYTES : 0;
	uint8_t *at = frame + plan->at, *shim = at + plan->front;
	struct hs_int_before before;

	hs_int_note_before(frame + plan->bytes, packet, &plan->l4, plan->at, &before);
	memmove(frame, frame + plan->bytes, plan->at);
	uint16_t port = hs_be16_load(frame + plan->l4.off + UDP_DST);
	uint16_t last = mark_tcp_udp(settings, frame, packet, &plan->l4);
	if (plan->front)
		hs_be64_store(at, settings->probe_marker);
	hs_int_write_shim(settings, shim, plan->bytes - plan->front - SHIM_BYTES,
			by_port ? 1 << 2 : 0, last);
	if (tail)
		shim[1] = shim[3] = 0;
	uint8_t *end = hs_int_write_head(settings, request, shim + SHIM_BYTES, own);
	if (tail)
		write_tail(settings, end, plan->l4.proto, port, last);
	int growth = (int)plan->bytes;
	hs_int_correct_lengths(frame, packet, &plan->l4, growth, &before);
	hs_int_correct_checksum(frame, &plan->l4,
			hs_int_l4_change(
					frame, &plan->l4, plan->at + plan->bytes, growth, &before));
}

// Returns a source port of the dynamic range that depends only on the flow, so that all packets of
// a flow take the same path.
static uint16_t entropy_of(const uint8_t *frame, const struct hs_packet *packet, uint8_t proto)
{
	bool is_ipv4 = packet->flags & HS_PACKET_IPV4;
	const uint8_t *ip = frame + packet->l3_off;
	const uint8_t *at = ip + (is_ipv4 ? HS_IPV4_SRC : HS_IPV6_SRC);
	uint32_t hash = (uint32_t)packet->src_port << 16 | packet->dst_port;

	hash = (hash ^ proto) * 0x9e3779b1u;
	for (size_t i = 0; i < (is_ipv4 ? 8u : 32u); i += 4)
		hash = ((hash << 5 | hash >> 27) ^ hs_be32_load(at + i)) * 0x9e3779b1u;
	return (uint16_t)(0xc000 | hash >> 18);
}

// Inserts a new UDP header before the packet's L4 header (NPT 2).
static void insert_udp(const struct hs_int_settings *settings, const struct hs_int_request *request,
		uint8_t *frame, const struct hs_packet *packet, const struct hs_int_plan *plan,
		const struct hs_int_values *own)
{
	uint8_t *udp = frame + plan->at;
	struct hs_l4 none = {.off = (uint16_t)plan->at};
	struct hs_int_before before;

	hs_int_note_before(frame + plan->bytes, packet, &none, plan->at, &before);
	memmove(frame, frame + plan->bytes, plan->at);
	hs_be16_store(udp, entropy_of(frame, packet, plan->l4.proto));
	hs_be16_store(udp + UDP_DST, settings->udp_port);
	hs_be16_store(udp + UDP_LENGTH, (uint16_t)(ip_end(packet) - plan->at + plan->bytes));
	hs_be16_store(udp + UDP_CHECKSUM, 0);
	hs_int_write_shim(settings, udp + UDP_BYTES, plan->bytes - UDP_BYTES - SHIM_BYTES, 2 << 2,
			plan->l4.proto);
	hs_int_write_head(settings, request, udp + UDP_BYTES + SHIM_BYTES, own);
	frame[plan->l4.proto_at] = HS_IP_UDP;
	hs_int_correct_lengths(frame, packet, &none, (int)plan->bytes, &before);
}

void hs_int_source_insert(const struct hs_int_settings *settings,
		const struct hs_int_request *request, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, const struct hs_int_values *own)
{
	struct hs_int_plan plan;

	if (settings->mode == HS_INT_MX)
		own = NULL;
	if (make_plan(settings, request, frame + growth, packet, own, &plan) < 0)
		return;
	switch (settings->carrier) {
	case HS_INT_TCP_UDP:
		if (plan.adds_header)
			insert_udp(settings, request, frame, packet, &plan, own);
		else
			insert_tcp_udp(settings, request, frame, packet, &plan, own);
		return;
	case HS_INT_GRE:
		hs_int_insert_gre(settings, request, frame, packet, &plan, own);
		return;
	case HS_INT_VXLAN_GPE:
		hs_int_insert_gpe(settings, request, frame, packet, &plan, own);
		return;
	default:
		hs_int_insert_geneve(settings, request, frame, packet, &plan, own);
	}
}
