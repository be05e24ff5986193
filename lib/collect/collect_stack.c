// SPDX-License-Identifier: BSD-3-Clause
#include "collect_stack.h"

#include "extension.h"
#include "ip.h"
#include "l4.h"

// ---- flow ----

// Returns whether the extension headers of IPv6 go beyond their packet. If the copy ends before
// them, the parser reports them as cut.
static bool goes_beyond(const uint8_t *frame, size_t came, const struct hs_packet *packet)
{
	size_t at = packet->l3_off + (size_t)HS_IPV6_BYTES;
	size_t end = packet->l3_off + (size_t)packet->l3_bytes;
	uint8_t protocol = frame[packet->l3_off + HS_IPV6_NEXT];

	while (hs_extension_is_followed(protocol) || protocol == HS_IP_HOP_BY_HOP) {
		const uint8_t *header = frame + at;
		if (at + 8 > end)
			return true;
		if (at + 8 > came ||
				(protocol == HS_IP_FRAGMENT && hs_be16_load(header + 2) & 0xfff8))
			return false;
		at += protocol == HS_IP_HOP_BY_HOP ? 8u * (header[1] + 1u)
						   : hs_extension_bytes(header, protocol);
		protocol = header[0];
	}
	return at > end;
}

bool hs_collect_is_malformed(const uint8_t *frame, size_t came, const struct hs_packet *packet)
{
	const uint16_t cut = HS_PACKET_SHORT | HS_PACKET_IPV6;

	if (packet->flags & HS_PACKET_MALFORMED)
		return true;
	return (packet->flags & cut) == cut && !packet->l4_off && goes_beyond(frame, came, packet);
}

static void set_addresses(const uint8_t *ip, bool is_ipv4, struct hs_collect_flow_key *key)
{
	size_t bytes = is_ipv4 ? 4 : 16;
	const uint8_t *src = ip + (is_ipv4 ? HS_IPV4_SRC : HS_IPV6_SRC);

	memcpy(key->src, src, bytes);
	memcpy(key->dst, src + bytes, bytes);
	key->is_ipv4 = is_ipv4;
}

// Returns the protocol of a later fragment. The parser has read its headers up to the fragment
// header.
static uint8_t behind_fragment(const uint8_t *frame, const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off, *header = ip + HS_IPV6_BYTES;
	uint8_t protocol = ip[HS_IPV6_NEXT];

	while (protocol != HS_IP_FRAGMENT || !(hs_be16_load(header + 2) & 0xfff8)) {
		size_t bytes = protocol == HS_IP_HOP_BY_HOP ? 8u * (header[1] + 1u)
							    : hs_extension_bytes(header, protocol);
		protocol = header[0];
		header += bytes;
	}
	return header[0];
}

static uint8_t protocol_of(const uint8_t *frame, const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;
	struct hs_l4 l4;

	if (packet->l4_off)
		return packet->l4_proto;
	if (packet->flags & HS_PACKET_IPV4)
		return ip[HS_IPV4_PROTOCOL];
	if (packet->flags & HS_PACKET_LATER)
		return behind_fragment(frame, packet);
	return hs_l4_find(frame, packet, &l4) ? l4.proto : ip[HS_IPV6_NEXT];
}

bool hs_collect_flow_of(const uint8_t *frame, size_t came, const struct hs_packet *packet,
		struct hs_collect_flow_key *key)
{
	if (!packet->l3_off)
		return false;
	bool is_ipv4 = packet->flags & HS_PACKET_IPV4;
	if (packet->l3_off + (size_t)(is_ipv4 ? HS_IPV4_BYTES : HS_IPV6_BYTES) > came)
		return false;
	if (packet->l4_off ? packet->l4_off + 4u > came : packet->flags & HS_PACKET_SHORT)
		return false;
	set_addresses(frame + packet->l3_off, is_ipv4, key);
	key->protocol = protocol_of(frame, packet);
	key->src_port = packet->src_port;
	key->dst_port = packet->dst_port;
	if (packet->vlan_tags)
		key->vlan = hs_be16_load(frame + HS_ETHER_BYTES) & 0xfff;
	return true;
}

// ---- stack ----

// Returns whether the bit of the stack's bottom is set in the last word of the last hop, and in no
// other word.
static bool has_bottom(const struct hs_int_stack *stack, unsigned whole)
{
	size_t words = (size_t)stack->hop_words * stack->n_hops;

	for (size_t i = 0; i < (size_t)stack->hop_words * whole; i++)
		if (stack->hops[4 * i] >> 7 != (i + 1 == words))
			return false;
	return true;
}

int hs_collect_take_stack(const struct hs_collect_dialect *dialect,
		const struct hs_int_stack *stack, bool narrow, size_t came,
		struct hs_collect_view *view)
{
	const struct hs_collect_layout *layout = &dialect->layouts[narrow][stack->bitmap >> 8];
	size_t bytes = 4u * stack->hop_words, whole = stack->n_hops;
	size_t needed = hs_collect_layout_bytes(layout, stack->bitmap);

	if (stack->n_hops > HS_COLLECT_MAX_HOPS)
		return HS_COLLECT_REFUSED_HOPS;
	// Only a domain may add words that the bitmap does not name, because the position of other
	// words is not known.
	if (whole && (!bytes || needed > bytes || (needed < bytes && !stack->domain_id)))
		return HS_COLLECT_REFUSED_STACK;
	if (whole && came / bytes < whole) {
		whole = came / bytes;
		view->partial = true;
	}
	if (stack->version == HS_INT_2016_06 && !has_bottom(stack, (unsigned)whole))
		return HS_COLLECT_REFUSED_STACK;
	view->has_stack = whole || !view->partial;
	view->incomplete = view->has_stack && stack->flags & (HS_INT_FLAG_E | HS_INT_FLAG_M);
	view->n_hops = (uint8_t)whole;
	view->hop_bytes = (uint8_t)bytes;
	view->hops = stack->hops;
	view->layout = layout;
	return -1;
}
