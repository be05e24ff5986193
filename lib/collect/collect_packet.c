// SPDX-License-Identifier: BSD-3-Clause
// Reads flow and stack of hops from the copy of a packet. The copy may end at any byte.
#include "collect_fast_packet.h"
#include "collect_lenient.h"
#include "collect_stack.h"

#include "ip.h"

#define SHIM_BYTES     4u
#define TAIL_BYTES     4u
#define MARKER_BYTES   8u
#define UDP_BYTES      8u
#define UDP_DST	       2
#define UDP_LENGTH     4
#define GPE_BYTES      8u
#define GPE_P	       0x04
#define GPE_NEXT       3
#define GPE_WAS_PLAIN  0x80 // of the shim
#define GRE_BYTES      4u
#define GRE_OPTIONAL   0xb0 // bits of optional words after the header
#define GRE_ADDED      0x08 // of the shim
#define TCP_BYTES      20u
#define MOST_TCP_BYTES 60u
#define TCP_OFFSET     12
#define MOST_BEHIND_L4 1200    // L4, probe marker, shim and 255 words, a second L4
#define BEYOND	       0x20000 // longer than any packet: missing bytes were cut off

static const size_t ETHER = HS_ETHER_BYTES;

// The bytes to read, and how many of them came.
struct copy {
	const uint8_t *frame;
	size_t len;	       // may be read
	size_t came;	       // the bytes after these are filled in
	const uint8_t *packet; // in the datagram; `frame` is this or its copy, from `shift` on
	size_t shift;
};

// ---- the copy ----

static bool is_tag(uint16_t type)
{
	return type == HS_ETHERTYPE_VLAN || type == HS_ETHERTYPE_QINQ ||
	       type == HS_ETHERTYPE_OLD_QINQ || type == HS_ETHERTYPE_9200 ||
	       type == HS_ETHERTYPE_9300;
}

// Returns the end of the IP packet from its header. Returns 0 if there is no IP header, and
// SIZE_MAX if the header is cut.
static size_t stated_end(uint8_t inner, const uint8_t *packet, size_t bytes)
{
	uint16_t type = inner == HS_INT_INNER_IPV6 ? HS_ETHERTYPE_IPV6 : HS_ETHERTYPE_IPV4;
	size_t at = 0;

	while (inner == HS_INT_INNER_ETHERNET) {
		at += at ? HS_VLAN_BYTES : ETHER;
		if (at > bytes)
			return SIZE_MAX;
		type = hs_be16_load(packet + at - 2);
		if (!is_tag(type))
			break;
	}
	bool is_ipv4 = type == HS_ETHERTYPE_IPV4;
	if (!is_ipv4 && type != HS_ETHERTYPE_IPV6)
		return 0;
	if (at + (is_ipv4 ? HS_IPV4_BYTES : HS_IPV6_BYTES) > bytes)
		return SIZE_MAX;
	return is_ipv4 ? at + hs_be16_load(packet + at + HS_IPV4_TOTAL)
		       : at + HS_IPV6_BYTES + hs_be16_load(packet + at + HS_IPV6_PAYLOAD);
}

// Zeros at the end of a cut packet cannot be told from zeros that fill the last word, so both are
// removed.
size_t hs_collect_without_fill(uint8_t inner, const uint8_t *packet, size_t bytes)
{
	size_t least = bytes < 3 ? 0 : bytes - 3;

	if (!bytes || bytes % 4 || packet[bytes - 1] || stated_end(inner, packet, bytes) <= bytes)
		return bytes;
	while (bytes > least && !packet[bytes - 1])
		bytes--;
	return bytes;
}

// ---- stack ----

static int find_stack(const struct hs_collect_dialect *dialect, const struct copy *copy,
		const struct hs_packet *packet, struct hs_collect_view *view)
{
	const struct hs_int_settings *settings = &dialect->packet;
	size_t head = packet->trace_off, fixed = hs_int_head_bytes(settings->version);
	struct hs_int_stack stack;

	if (!head || hs_int_type_of(packet) == HS_INT_TYPE_MX)
		return -1;
	if (head + fixed > copy->came) {
		view->partial = true;
		return -1;
	}
	if (hs_int_stack_open(settings, HS_INT_TYPE_MD, copy->frame + head,
			    hs_int_stack_bytes(settings->version, packet), &stack))
		return HS_COLLECT_REFUSED_STACK;
	stack.hops = copy->packet + (stack.hops - copy->frame) - copy->shift;
	return hs_collect_take_stack(dialect, &stack, false, copy->came - head - fixed, view);
}

// ---- the packet ----

// Fills in the header of the IP packet in a GRE tunnel that the source added. The packet fills the
// tunnel. With this header, the parser can read the stack before it.
static void complete_inner(
		const struct copy *copy, uint8_t *scratch, const struct hs_packet *packet)
{
	size_t shim = packet->l4_off + GRE_BYTES, end = packet->l3_off + (size_t)packet->l3_bytes;

	if (packet->l4_off + GRE_BYTES > copy->came)
		return;
	shim += 4u * (unsigned)__builtin_popcount(scratch[packet->l4_off] & GRE_OPTIONAL);
	if (shim + SHIM_BYTES > copy->came || !(scratch[shim] & GRE_ADDED))
		return;
	size_t at = shim + SHIM_BYTES + 4u * scratch[shim + 1];
	if (at + HS_IPV6_BYTES > HS_COLLECT_SCRATCH || at > end)
		return;
	bool is_ipv4 = hs_be16_load(scratch + shim + 2) == HS_ETHERTYPE_IPV4;
	uint8_t made[HS_IPV6_BYTES] = {is_ipv4 ? 0x45 : 0x60};
	size_t bytes = is_ipv4 ? HS_IPV4_BYTES : HS_IPV6_BYTES;
	size_t came = copy->came > at ? copy->came - at : 0;
	if (is_ipv4)
		hs_be16_store(made + HS_IPV4_TOTAL, (uint16_t)(end - at));
	else
		hs_be16_store(made + HS_IPV6_PAYLOAD, (uint16_t)(end - at - HS_IPV6_BYTES));
	if (came < bytes)
		memcpy(scratch + at + came, made + came, bytes - came);
}

// Makes a copy that is as long as INT may be. In 0.5 the packet's protocol follows the stack, so a
// cut stack is filled with this protocol's number. In tunnels it is filled with zeros, which are no
// INT.
static void complete(
		struct copy *copy, uint8_t *scratch, bool behind_l4, const struct hs_packet *packet)
{
	size_t end = HS_COLLECT_SCRATCH;

	if (copy->came > HS_COLLECT_SCRATCH)
		copy->came = HS_COLLECT_SCRATCH;
	if (behind_l4 && packet->l4_off + (size_t)MOST_BEHIND_L4 < end)
		end = packet->l4_off + (size_t)MOST_BEHIND_L4;
	if (copy->frame != scratch)
		memcpy(scratch, copy->frame, copy->came);
	if (end > copy->came)
		memset(scratch + copy->came, behind_l4 ? packet->l4_proto : 0, end - copy->came);
	if (packet->l4_proto == HS_IP_GRE && !behind_l4)
		complete_inner(copy, scratch, packet);
	copy->frame = scratch;
	copy->len = end > copy->came ? end : copy->came;
}

// Returns the end of a TCP or UDP header, or 0 if the header is malformed or cut. Sets *end to the
// end of its payload.
static size_t pass_l4(const struct copy *copy, const struct hs_packet *packet, size_t *end)
{
	size_t at = packet->l4_off, left = packet->l3_off + (size_t)packet->l3_bytes - at;
	size_t bytes = packet->l4_proto == HS_IP_TCP ? TCP_BYTES : UDP_BYTES;

	*end = at + left;
	if (bytes > left || at + bytes > copy->came)
		return 0;
	if (packet->l4_proto == HS_IP_TCP) {
		bytes = 4u * (copy->frame[at + TCP_OFFSET] >> 4);
		return bytes >= TCP_BYTES && bytes <= left ? at + bytes : 0;
	}
	size_t length = hs_be16_load(copy->frame + at + UDP_LENGTH);
	*end = at + length;
	return length >= UDP_BYTES && length <= left ? at + bytes : 0;
}

static bool is_marker(const struct hs_int_settings *settings, const struct copy *copy, size_t at)
{
	return at + MARKER_BYTES <= copy->came &&
	       hs_be64_load(copy->frame + at) == settings->probe_marker;
}

// Returns whether the mark that the parser saw is no mark: a port that is not the destination port,
// or a marker that does not directly follow TCP or UDP. If the length of TCP or UDP is wrong, the
// marker may be at any later word.
static bool is_elsewhere(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet)
{
	bool is_tcp = packet->l4_proto == HS_IP_TCP;
	size_t last = is_tcp ? MOST_TCP_BYTES : UDP_BYTES, end;

	if (settings->carrier != HS_INT_TCP_UDP || !packet->l4_off)
		return false;
	if (settings->mark == HS_INT_MARK_UDP_PORT)
		return packet->dst_port != settings->udp_port;
	if (settings->mark != HS_INT_MARK_PROBE)
		return false;
	size_t at = pass_l4(copy, packet, &end);
	if (at)
		return at + MARKER_BYTES > end || !is_marker(settings, copy, at);
	for (size_t bytes = is_tcp ? TCP_BYTES : UDP_BYTES; bytes <= last; bytes += 4)
		if (is_marker(settings, copy, packet->l4_off + bytes))
			return false;
	return true;
}

// Returns whether the packet has a mark of INT, but its INT is malformed.
static bool claims_in_vain(const struct hs_int_settings *settings, const struct hs_packet *packet)
{
	bool by_dscp = settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP;
	bool has_ports = packet->l4_proto == HS_IP_TCP || packet->l4_proto == HS_IP_UDP;

	if (packet->flags & (HS_PACKET_TELEMETRY | HS_PACKET_SHORT | HS_PACKET_FRAGMENT))
		return false;
	return packet->flags & HS_PACKET_ANY_TELEMETRY && (has_ports || !by_dscp);
}

// Returns where a shim after TCP or UDP begins, or 0: there is none. If the TCP or UDP header is
// cut, returns the first position where the shim may begin.
static size_t shim_at(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet)
{
	size_t at = packet->l4_off, bytes = UDP_BYTES;

	if (settings->carrier != HS_INT_TCP_UDP || !at)
		return 0;
	if (packet->l4_proto == HS_IP_TCP)
		bytes = at + TCP_BYTES > copy->came ? TCP_BYTES
						    : 4u * (copy->frame[at + TCP_OFFSET] >> 4);
	return at + bytes + (settings->mark == HS_INT_MARK_PROBE ? MARKER_BYTES : 0u);
}

// Returns the end of the payload by the UDP header, or by the IP header if there is no whole UDP
// header.
static size_t end_of(const struct copy *copy, const struct hs_packet *packet)
{
	if (packet->l4_proto == HS_IP_UDP && packet->l4_off + UDP_BYTES <= copy->came)
		return packet->l4_off +
		       (size_t)hs_be16_load(copy->frame + packet->l4_off + UDP_LENGTH);
	return packet->l3_off + (size_t)packet->l3_bytes;
}

static unsigned type_of(const struct hs_int_settings *settings, const uint8_t *shim)
{
	return settings->version == HS_INT_2_1 ? shim[0] >> 4 : shim[0];
}

// Returns whether a whole shim, or the header after it, is malformed for any missing bytes.
static bool is_wrong_shim(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet, size_t at)
{
	const uint8_t *shim = copy->frame + at;
	bool is_2_1 = settings->version == HS_INT_2_1,
	     by_port = settings->mark == HS_INT_MARK_UDP_PORT;
	unsigned type = type_of(settings, shim), npt = is_2_1 ? shim[0] >> 2 & 3 : by_port;
	size_t end = end_of(copy, packet);
	size_t bytes = is_2_1 ? SHIM_BYTES + 4u * shim[1] : 4u * shim[2];
	size_t head = SHIM_BYTES + hs_int_head_bytes(settings->version);

	if (by_port ? npt != 1 && npt != 2 : npt)
		return true;
	if (type < HS_INT_TYPE_MD || type > (is_2_1 ? HS_INT_TYPE_MX : HS_INT_TYPE_DESTINATION) ||
			at + bytes > end)
		return true;
	if (type == HS_INT_TYPE_DESTINATION && settings->version != HS_INT_0_5)
		return false;
	size_t tail = settings->version == HS_INT_0_5 ? TAIL_BYTES : 0;
	return bytes < head + tail || at + head <= copy->came;
}

// Returns whether INT is malformed for any missing bytes. `at` is where the shim is in a completed
// copy, in which the parser found no well-formed INT.
static bool is_wrong(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet, size_t at)
{
	if (at + SHIM_BYTES > copy->came)
		return at + SHIM_BYTES > end_of(copy, packet);
	return is_wrong_shim(settings, copy, packet, at);
}

// Finds the packet's own ports if a port marks INT. They are in the shim, after the stack, or in
// the tail of 0.5. Returns false if they were cut off.
static bool find_ports(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet, size_t at, struct hs_collect_flow_key *key)
{
	bool found = packet->flags & HS_PACKET_TELEMETRY;
	const uint8_t *shim = copy->frame + at;

	if (settings->carrier != HS_INT_TCP_UDP || settings->mark != HS_INT_MARK_UDP_PORT ||
			!(packet->flags & HS_PACKET_ANY_TELEMETRY) ||
			packet->flags & HS_PACKET_FRAGMENT)
		return true;
	if (!at || at + SHIM_BYTES > copy->came)
		return false;
	if (settings->version != HS_INT_2_1) // the last byte is not part of the ports
		return found && at + packet->telemetry_bytes - 1 <= copy->came;
	if ((shim[0] >> 2 & 3) == 1) {
		key->dst_port = hs_be16_load(shim + 2);
		return true;
	}
	if (found && !packet->l4_off)
		key->protocol = shim[3];
	return found;
}

// Sets the destination port of VXLAN that the source changed to VXLAN-GPE, which the shim shows.
// Returns false if the shim was cut off.
static bool find_vxlan(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet, struct hs_collect_flow_key *key)
{
	size_t gpe = packet->l4_off + (size_t)UDP_BYTES, shim = gpe + GPE_BYTES;
	const uint8_t *udp = copy->frame + packet->l4_off;

	if (settings->carrier != HS_INT_VXLAN_GPE || !packet->l4_off ||
			packet->l4_proto != HS_IP_UDP || packet->flags & HS_PACKET_FRAGMENT ||
			hs_be16_load(udp + UDP_DST) != HS_INT_GPE_PORT)
		return true;
	if (shim > copy->came)
		return packet->l3_off + (size_t)packet->l3_bytes < shim;
	if (!(copy->frame[gpe] & GPE_P) || copy->frame[gpe + GPE_NEXT] != settings->gpe_protocol)
		return true;
	shim += settings->version == HS_INT_2_1 ? 2 : 1;
	if (shim >= copy->came)
		return false;
	key->dst_port = copy->frame[shim] & GPE_WAS_PLAIN ? HS_INT_VXLAN_PORT : HS_INT_GPE_PORT;
	return true;
}

static int read_tracked(struct hs_collect *c, const struct hs_collect_dialect *dialect,
		struct copy *copy, struct hs_collect_view *view)
{
	const struct hs_int_settings *settings = &dialect->packet;
	struct hs_packet packet;

	hs_int_parse(settings, copy->frame, copy->len, BEYOND, &packet);
	if (hs_collect_is_malformed(copy->frame, copy->came, &packet))
		return HS_COLLECT_REFUSED_PACKET;
	if (!(packet.flags & HS_PACKET_TELEMETRY) && is_elsewhere(settings, copy, &packet))
		packet.flags &= (uint16_t)~HS_PACKET_ANY_TELEMETRY;
	if (claims_in_vain(settings, &packet))
		return HS_COLLECT_REFUSED_STACK;
	bool cut = packet.flags & HS_PACKET_SHORT && packet.l4_off;
	bool is_completed = cut && packet.flags & HS_PACKET_ANY_TELEMETRY &&
			    !(packet.flags & HS_PACKET_FRAGMENT);
	if (is_completed) {
		complete(copy, c->scratch, settings->carrier == HS_INT_TCP_UDP, &packet);
		hs_int_parse(settings, copy->frame, copy->len, BEYOND, &packet);
	}
	bool found = packet.flags & HS_PACKET_TELEMETRY;
	size_t shim = found ? packet.e2e_off : is_completed ? shim_at(settings, copy, &packet) : 0;
	if (!found && shim && is_wrong(settings, copy, &packet, shim))
		return HS_COLLECT_REFUSED_STACK;
	if (shim + SHIM_BYTES > copy->came)
		shim = 0;
	view->has_flow = hs_collect_flow_of(copy->frame, copy->came, &packet, &view->key) &&
			 find_ports(settings, copy, &packet, shim, &view->key) &&
			 find_vxlan(settings, copy, &packet, &view->key);
	view->partial = is_completed &&
			(!shim || (!found && type_of(settings, copy->frame + shim) ==
								  HS_INT_TYPE_MD));
	return find_stack(dialect, copy, &packet, view);
}

static int read_plain(const struct copy *copy, struct hs_collect_view *view)
{
	struct hs_packet packet;

	hs_packet_parse(copy->frame, copy->len, BEYOND, NULL, &packet);
	if (hs_collect_is_malformed(copy->frame, copy->came, &packet))
		return HS_COLLECT_REFUSED_PACKET;
	view->has_flow = hs_collect_flow_of(copy->frame, copy->came, &packet, &view->key);
	return -1;
}

// Puts an Ethernet header before an IP packet.
static void put_ethernet(struct copy *copy, uint8_t *scratch, uint8_t inner)
{
	uint16_t type = inner == HS_INT_INNER_IPV4 ? HS_ETHERTYPE_IPV4 : HS_ETHERTYPE_IPV6;
	size_t room = HS_COLLECT_SCRATCH - ETHER;
	size_t bytes = copy->came < room ? copy->came : room;

	memset(scratch, 0, ETHER);
	hs_be16_store(scratch + HS_ETHER_TYPE, type);
	memcpy(scratch + ETHER, copy->packet, bytes);
	*copy = (struct copy){scratch, ETHER + bytes, ETHER + bytes, copy->packet, ETHER};
}

int hs_collect_read_packet(struct hs_collect *c, enum hs_int_report_version version, uint8_t inner,
		bool tracked, const uint8_t *packet, size_t bytes, struct hs_collect_view *view)
{
	const struct hs_collect_dialect *dialect = &c->dialects[version];
	struct copy copy = {packet, bytes, bytes, packet, 0};

	if (!c->general) {
		int rc = hs_collect_fast_packet(dialect, inner, tracked, packet, bytes, view);
		if (rc != HS_COLLECT_FAST_NOT)
			return rc;
	}
	if (inner == HS_INT_INNER_IPV4 || inner == HS_INT_INNER_IPV6)
		put_ethernet(&copy, c->scratch, inner);
	if (!tracked)
		return read_plain(&copy, view);
	if (dialect->lenient)
		return hs_collect_read_lenient(
				dialect, copy.frame, copy.came, copy.packet - copy.shift, view);
	return read_tracked(c, dialect, &copy, view);
}
