// SPDX-License-Identifier: BSD-3-Clause
// Finds packets that claim INT although a length of IP, UDP, TCP or Geneve is wrong. INT at its
// usual position counts as a claim, whatever the lengths are, because a host may ignore the
// lengths.
#include "int_wire.h"

#include "extension.h"

#define MOST_HEADERS 16 // extension headers of IPv6 that are passed

static bool claims_in_gre(struct hs_int_view *view)
{
	const uint8_t *gre = view->frame + view->l4.off;

	return view->l4.proto == IP_GRE && hs_int_has(view, view->l4.off, GRE_BYTES) &&
	       !(gre[1] & 7) && hs_be16_load(gre + GRE_PROTOCOL) == view->settings->gre_protocol;
}

static bool claims_in_gpe(struct hs_int_view *view, size_t at)
{
	const uint8_t *gpe = view->frame + at;

	return hs_int_has(view, at, GPE_BYTES) && gpe[0] & GPE_P &&
	       gpe[GPE_NEXT] == view->settings->gpe_protocol;
}

// Returns whether an option of Geneve claims INT. After the stated end of the options, the bytes
// may be the inner packet. There an option must be well formed to count.
static bool claims_in_geneve(struct hs_int_view *view, size_t geneve)
{
	size_t at = geneve + GENEVE_BYTES, end = at + 4 * (size_t)GENEVE_MAX_WORDS, bytes;

	if (!hs_int_has(view, geneve, GENEVE_BYTES) || view->frame[geneve] >> 6)
		return false;
	size_t stated = at + 4u * (view->frame[geneve] & 0x3f);
	for (; at < end && hs_int_has(view, at, GENEVE_OPT_HEAD); at += bytes) {
		const uint8_t *option = view->frame + at;
		bytes = GENEVE_OPT_HEAD + 4u * (option[3] & GENEVE_OPT_LENGTH);
		unsigned type = hs_int_geneve_type(view->settings, option);
		if (type && (at < stated || (hs_int_has(view, at, bytes) &&
							    hs_int_is_well_formed(
									    view->settings->version,
									    type,
									    option + GENEVE_OPT_HEAD,
									    bytes - GENEVE_OPT_HEAD))))
			return true;
	}
	return false;
}

static bool claims_by_marker(struct hs_int_view *view)
{
	size_t first = UDP_BYTES, last = UDP_BYTES;

	if (view->l4.proto == HS_IP_TCP) { // at each possible end of its options
		first = TCP_BYTES;
		last = 60;
	}
	for (size_t at = view->l4.off + first; at <= view->l4.off + last; at += 4)
		if (hs_int_has(view, at, MARKER_BYTES) &&
				hs_be64_load(view->frame + at) == view->settings->probe_marker)
			return true;
	return false;
}

static bool claims(struct hs_int_view *view)
{
	const struct hs_int_settings *settings = view->settings;
	bool is_udp = view->l4.proto == HS_IP_UDP, is_tcp = view->l4.proto == HS_IP_TCP;

	if (settings->carrier == HS_INT_GRE)
		return claims_in_gre(view);
	if ((!is_udp && !is_tcp) || !hs_int_has(view, view->l4.off, UDP_DST + 2))
		return false;
	uint16_t port = hs_be16_load(view->frame + view->l4.off + UDP_DST);
	size_t payload = view->l4.off + (size_t)UDP_BYTES;
	if (settings->carrier == HS_INT_VXLAN_GPE)
		return is_udp && port == HS_INT_GPE_PORT && claims_in_gpe(view, payload);
	if (settings->carrier == HS_INT_GENEVE)
		return is_udp && port == HS_INT_GENEVE_PORT && claims_in_geneve(view, payload);
	if (settings->mark == HS_INT_MARK_UDP_PORT)
		return (is_udp || settings->version == HS_INT_0_5) && port == settings->udp_port;
	return claims_by_marker(view);
}

// ---- where TCP, UDP or GRE begins in a malformed packet ----

// Tries each possible end of the options.
static bool claims_in_ipv4(struct hs_int_view *view)
{
	size_t ip = view->packet->l3_off;
	bool found = false;

	view->l4.proto = view->frame[ip + HS_IPV4_PROTOCOL];
	for (size_t header = HS_IPV4_BYTES; header <= 60 && !found; header += 4) {
		view->l4.off = (uint16_t)(ip + header);
		found = claims(view);
	}
	return found;
}

// Returns whether the checksum of an IPv4 header with options is wrong. The fast path takes headers
// without options without checking their checksum, so these are not checked.
static bool is_wrong_ipv4(const struct hs_int_view *view)
{
	const uint8_t *ip = view->frame + view->packet->l3_off;
	size_t header = 4u * (ip[0] & 0xfu);

	return view->packet->flags & HS_PACKET_IPV4 && header > HS_IPV4_BYTES &&
	       hs_ip_sum_even(ip, header) != 0xffff;
}

static bool claims_in_ipv6(struct hs_int_view *view)
{
	size_t at = view->packet->l3_off + (size_t)HS_IPV6_BYTES;
	uint8_t proto = view->frame[view->packet->l3_off + HS_IPV6_NEXT];

	for (unsigned n = 0; n < MOST_HEADERS; n++) {
		if (!hs_extension_is_followed(proto) && proto != HS_IP_HOP_BY_HOP)
			break;
		if (!hs_int_has(view, at, 8))
			return false;
		const uint8_t *header = view->frame + at;
		at += hs_extension_bytes(header, proto);
		proto = header[0];
	}
	if (at > UINT16_MAX)
		return false;
	view->l4.off = (uint16_t)at;
	view->l4.proto = proto;
	return claims(view);
}

void hs_int_claim_anyway(struct hs_int_view *view, size_t frame_len, bool has_l4)
{
	struct hs_packet *packet = view->packet;
	bool found = false;

	view->end = frame_len;
	if (has_l4)
		found = claims(view) || (is_wrong_ipv4(view) && claims_in_ipv4(view));
	else if (packet->flags & (HS_PACKET_SHORT | HS_PACKET_LATER))
		return;
	else if (packet->flags & HS_PACKET_IPV4)
		found = claims_in_ipv4(view);
	else if (packet->flags & HS_PACKET_IPV6)
		found = claims_in_ipv6(view);
	packet->flags |= found ? HS_PACKET_ANY_TELEMETRY : 0;
}
