// SPDX-License-Identifier: BSD-3-Clause
#include "packet.h"

#include "bytes.h"
#include "extension.h"
#include "ip.h"

#include <string.h>

#define L4_BYTES 4 // the ports; for ICMP and ICMPv6 type, code and checksum

// A position in a frame that never passes the end of the IP packet.
struct place {
	const uint8_t *frame;
	size_t len; // bytes that may be read
	size_t at;
	size_t end; // of the IP packet; at <= end
	const struct hs_packet_options *options;
};

static bool has(const struct place *place, size_t n, struct hs_packet *packet)
{
	if (n > place->end - place->at) {
		packet->flags |= HS_PACKET_MALFORMED;
		return false;
	}
	if (place->at + n > place->len) {
		packet->flags |= HS_PACKET_SHORT;
		return false;
	}
	return true;
}

static bool is_usual_tag(uint16_t type)
{
	return type == HS_ETHERTYPE_VLAN || type == HS_ETHERTYPE_QINQ ||
	       type == HS_ETHERTYPE_OLD_QINQ;
}

static bool is_tag(uint16_t type)
{
	return is_usual_tag(type) || type == HS_ETHERTYPE_9200 || type == HS_ETHERTYPE_9300;
}

// Returns whether a tag, or IP that may have telemetry, follows LLC and SNAP (RFC 1042, IEEE
// 802.1H). A bridge between media converts such a frame to Ethernet.
static bool hides_in_snap(const uint8_t *llc, const struct hs_packet_options *options)
{
	static const uint8_t rfc1042[] = {0xaa, 0xaa, 0x03, 0, 0, 0};
	static const uint8_t tunnel[] = {0xaa, 0xaa, 0x03, 0, 0, 0xf8};
	uint16_t type = hs_be16_load(llc + 6);
	if (memcmp(llc, rfc1042, sizeof(rfc1042)) != 0 && memcmp(llc, tunnel, sizeof(tunnel)) != 0)
		return false;
	return type == HS_ETHERTYPE_IPV6 || is_tag(type) ||
	       (type == HS_ETHERTYPE_IPV4 && !(options && options->ipv6_alone));
}

// Returns whether rules may match: the frame has at most two tags, and all are of the usual types.
static bool has_usual_tags(const uint8_t *frame, const struct hs_packet *packet)
{
	if (packet->vlan_tags > HS_VLAN_MAX_TAGS)
		return false;
	for (size_t tag = 0; tag < packet->vlan_tags; tag++) {
		if (!is_usual_tag(hs_be16_load(frame + HS_ETHER_TYPE + HS_VLAN_BYTES * tag)))
			return false;
	}
	return true;
}

// Returns whether a whole IP header of the EtherType's version begins at `off` and can be read.
static bool see_ip(const uint8_t *frame, size_t len, size_t frame_len, size_t off, uint16_t type,
		struct hs_packet *packet)
{
	bool is_4 = type == HS_ETHERTYPE_IPV4;
	size_t end = off + (is_4 ? HS_IPV4_BYTES : HS_IPV6_BYTES);
	if (end > len) {
		if (end <= frame_len)
			packet->flags |= HS_PACKET_SHORT | (is_4 ? HS_PACKET_IPV4 : 0);
		return false;
	}
	if (frame[off] >> 4 != (is_4 ? 4 : 6))
		return false;
	packet->flags |= is_4 ? HS_PACKET_IPV4 : HS_PACKET_IPV6;
	packet->l3_off = (uint16_t)off;
	return true;
}

// Finds the IP header. Returns whether it begins at packet->l3_off and can be read.
static bool find_ip(const uint8_t *frame, size_t len, size_t frame_len,
		const struct hs_packet_options *options, struct hs_packet *packet)
{
	size_t off = HS_ETHER_BYTES;
	for (;;) {
		if (off > len)
			goto beyond;
		uint16_t type = hs_be16_load(frame + off - 2);
		if (type == HS_ETHERTYPE_IPV4 || type == HS_ETHERTYPE_IPV6)
			return see_ip(frame, len, frame_len, off, type, packet);
		if (type <= HS_ETHERNET_MAX_LEN) {
			if (off + HS_SNAP_BYTES > len) {
				off += HS_SNAP_BYTES;
				goto beyond;
			}
			packet->flags |= hides_in_snap(frame + off, options) ? HS_PACKET_HIDDEN : 0;
			return false;
		}
		if (!is_tag(type))
			return false;
		if (packet->vlan_tags == HS_VLAN_LOOK_TAGS) {
			packet->flags |= HS_PACKET_HIDDEN;
			return false;
		}
		packet->vlan_tags++;
		off += HS_VLAN_BYTES;
	}

beyond:
	if (off <= frame_len)
		packet->flags |= HS_PACKET_SHORT;
	return false;
}

static void parse_l4(const struct place *place, uint8_t proto, struct hs_packet *packet)
{
	if (!has(place, L4_BYTES, packet))
		return;
	if (proto == HS_IP_TCP || proto == HS_IP_UDP) {
		packet->src_port = hs_be16_load(place->frame + place->at);
		packet->dst_port = hs_be16_load(place->frame + place->at + 2);
	}
	packet->l4_off = (uint16_t)place->at;
	packet->l4_proto = proto;
	packet->flags |= HS_PACKET_FLOW;
}

// Returns the bytes of a Hop-by-Hop header that are in the frame, for any length that the packet
// states.
static size_t cut_hbh_bytes(const struct place *place, size_t frame_len)
{
	size_t left = frame_len - place->at;
	if (left < 2 || place->at + 2 > place->len)
		return left < 2 ? left : 2;
	size_t bytes = 8u * (place->frame[place->at + 1] + 1u);
	return bytes < left ? bytes : left;
}

// Looks for telemetry in a packet that is too short for its Hop-by-Hop header. No node can remove
// telemetry from such a packet, but the header may have telemetry.
static void look_at_cut_hbh(const struct place *place, size_t frame_len, struct hs_packet *packet)
{
	size_t bytes = cut_hbh_bytes(place, frame_len);
	if (place->at + bytes > place->len)
		packet->flags = (packet->flags & (uint16_t)~HS_PACKET_MALFORMED) | HS_PACKET_SHORT;
	else if (bytes > 2 && place->options &&
			place->options->are_there(place->frame + place->at, bytes))
		packet->flags |= HS_PACKET_ANY_TELEMETRY;
}

// Reads the Hop-by-Hop header. Returns whether the chain continues after it. A jumbogram (RFC 2675)
// states a payload of 0, which has no room for a header.
static bool parse_hbh(struct place *place, uint8_t *proto, struct hs_packet *packet)
{
	const uint8_t *hbh = place->frame + place->at;
	if (!has(place, 8, packet))
		return false;
	size_t bytes = 8u * (hbh[1] + 1u);
	if (!has(place, bytes, packet))
		return false;
	packet->hbh_bytes = (uint16_t)bytes;
	packet->flags |= HS_PACKET_HBH;
	*proto = hbh[0];
	place->at += bytes;
	return !place->options || place->options->parse(hbh, packet);
}

// Reads a fragment header. Returns whether the chain continues: it ends at the header of a later
// fragment.
static bool see_fragment(const uint8_t *header, struct hs_packet *packet)
{
	uint16_t offset = hs_be16_load(header + 2) & 0xfff8;
	bool more = header[3] & 1;
	if (offset || more)
		packet->flags |= HS_PACKET_FRAGMENT;
	if (offset)
		packet->flags |= HS_PACKET_LATER;
	return !offset;
}

// Reads one extension header other than Hop-by-Hop. Returns false if the chain ends here.
static bool step(struct place *place, uint8_t *proto, struct hs_packet *packet)
{
	const uint8_t *header = place->frame + place->at;
	if (!has(place, 8, packet))
		return false;
	size_t bytes = hs_extension_bytes(header, *proto);
	if (!has(place, bytes, packet))
		return false;
	if (*proto == HS_IP_FRAGMENT && !see_fragment(header, packet))
		return false;
	*proto = header[0];
	place->at += bytes;
	return true;
}

static void parse_chain(struct place *place, uint8_t proto, struct hs_packet *packet)
{
	// Hop-by-Hop is not counted, so that the result is the same before and after a source added
	// one.
	unsigned int headers = 0;
	if (proto == HS_IP_HOP_BY_HOP && !parse_hbh(place, &proto, packet))
		return;
	while (hs_extension_is_followed(proto)) {
		if (++headers > HS_IPV6_MAX_EXTENSIONS) {
			packet->flags |= HS_PACKET_MALFORMED;
			return;
		}
		if (!step(place, &proto, packet))
			return;
	}
	if (proto == HS_IP_TCP || proto == HS_IP_UDP || proto == HS_IP_ICMPV6 || proto == HS_IP_GRE)
		parse_l4(place, proto, packet);
	else if (proto == HS_IP_HOP_BY_HOP) // not the first header
		packet->flags |= HS_PACKET_MALFORMED;
}

// Sets HS_PACKET_HIDDEN in a malformed chain if a Hop-by-Hop header is not the first header, or if
// there are more headers than are followed. A device that removes a header from the front of the
// chain, as routers do with their Routing header (RFC 8986 section 4.16.1), would make the
// Hop-by-Hop header the first.
static void look_for_hidden(
		struct place place, uint8_t proto, size_t frame_len, struct hs_packet *packet)
{
	const size_t first = place.at;
	unsigned int headers = 0;
	while (hs_extension_is_followed(proto) || proto == HS_IP_HOP_BY_HOP) {
		const uint8_t *header = place.frame + place.at;
		bool hides = proto == HS_IP_HOP_BY_HOP ? place.at != first
						       : ++headers > HS_IPV6_MAX_EXTENSIONS;
		if (hides) {
			packet->flags |= HS_PACKET_HIDDEN;
			return;
		}
		if (place.at + 8 > frame_len)
			return;
		if (place.at + 8 > place.len) {
			packet->flags = (packet->flags & (uint16_t)~HS_PACKET_MALFORMED) |
					HS_PACKET_SHORT;
			return;
		}
		if (proto == HS_IP_FRAGMENT && hs_be16_load(header + 2) & 0xfff8)
			return;
		place.at += hs_extension_bytes(header, proto);
		proto = header[0];
	}
}

// ---- IPv4 ----

// Passes the options. Returns false if they are malformed or cut off.
static bool pass_options(struct place *place, size_t bytes, struct hs_packet *packet)
{
	const uint8_t *options = place->frame + place->at;
	size_t at = 0;
	if (!has(place, bytes, packet))
		return false;
	while (at < bytes && options[at] != HS_IPV4_OPTIONS_END) {
		size_t left = bytes - at;
		size_t option = 1;
		if (options[at] != HS_IPV4_NO_OPERATION)
			option = left < 2 || options[at + 1] < 2 ? left + 1 : options[at + 1];
		if (option > left) {
			packet->flags |= HS_PACKET_MALFORMED;
			return false;
		}
		at += option;
	}
	place->at += bytes;
	return true;
}

static void see_ipv4_payload(const struct place *place, uint8_t proto, struct hs_packet *packet)
{
	if (proto == HS_IP_TCP || proto == HS_IP_UDP || proto == HS_IP_ICMP || proto == HS_IP_GRE)
		parse_l4(place, proto, packet);
}

static void parse_ipv4(const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;
	size_t header = 4u * (ip[0] & 0xfu);
	uint16_t fragment = hs_be16_load(ip + HS_IPV4_FRAGMENT);
	uint8_t proto = ip[HS_IPV4_PROTOCOL];
	packet->l3_bytes = hs_be16_load(ip + HS_IPV4_TOTAL);
	struct place place = {
			.frame = frame,
			.len = len,
			.at = packet->l3_off + (size_t)HS_IPV4_BYTES,
			.end = packet->l3_off + (size_t)packet->l3_bytes,
	};
	if (header < HS_IPV4_BYTES || packet->l3_bytes < header || place.end > frame_len) {
		packet->flags |= HS_PACKET_MALFORMED;
		return;
	}
	if (fragment & (HS_IPV4_MORE | HS_IPV4_OFFSET))
		packet->flags |= HS_PACKET_FRAGMENT;
	if (fragment & HS_IPV4_OFFSET)
		packet->flags |= HS_PACKET_LATER;
	if (!pass_options(&place, header - HS_IPV4_BYTES, packet) || fragment & HS_IPV4_OFFSET)
		return;
	see_ipv4_payload(&place, proto, packet);
}

// ---- IPv6 ----

static void parse_ipv6(const uint8_t *frame, size_t len, size_t frame_len,
		const struct hs_packet_options *options, struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;
	uint8_t proto = ip[HS_IPV6_NEXT];
	size_t at = packet->l3_off + (size_t)HS_IPV6_BYTES;
	packet->l3_bytes = HS_IPV6_BYTES + hs_be16_load(ip + HS_IPV6_PAYLOAD);
	struct place place = {
			.frame = frame,
			.len = len,
			.at = at,
			.end = packet->l3_off + (size_t)packet->l3_bytes,
			.options = options,
	};
	if (place.end > frame_len)
		packet->flags |= HS_PACKET_MALFORMED;
	else
		parse_chain(&place, proto, packet);
	bool cut = packet->flags & HS_PACKET_MALFORMED && !(packet->flags & HS_PACKET_HBH);
	if (cut && proto == HS_IP_HOP_BY_HOP)
		look_at_cut_hbh(&place, frame_len, packet);
	if (packet->flags & HS_PACKET_MALFORMED) {
		place.at = at;
		look_for_hidden(place, proto, frame_len, packet);
	}
}

void hs_packet_parse(const uint8_t *frame, size_t len, size_t frame_len,
		const struct hs_packet_options *options, struct hs_packet *packet)
{
	*packet = (struct hs_packet){0};
	if (!find_ip(frame, len, frame_len, options, packet))
		return;
	if (packet->flags & HS_PACKET_IPV4)
		parse_ipv4(frame, len, frame_len, packet);
	else
		parse_ipv6(frame, len, frame_len, options, packet);
	if (packet->vlan_tags && !has_usual_tags(frame, packet))
		packet->flags &= (uint16_t)~HS_PACKET_FLOW;
}

void hs_packet_parse_l4(const uint8_t *frame, size_t len, size_t at, uint8_t proto,
		struct hs_packet *packet)
{
	struct place place = {
			.frame = frame,
			.len = len,
			.at = at,
			.end = packet->l3_off + (size_t)packet->l3_bytes,
	};

	see_ipv4_payload(&place, proto, packet);
	if (packet->vlan_tags && !has_usual_tags(frame, packet))
		packet->flags &= (uint16_t)~HS_PACKET_FLOW;
}
