// SPDX-License-Identifier: BSD-3-Clause
// From the copy of a packet to its flow and its stack of hops. The copy may end at any byte.
#include "collect_fast.h"
#include "collect_lenient.h"
#include "collect_stack.h"

#include "ip.h"

#define SHIM_BYTES     4u
#define MOST_BEHIND_L4 1200    // L4, probe marker, shim and 255 words, L4 again
#define BEYOND	       0x20000 // more than any packet: what is not there was cut off

static const size_t ETHER = HS_ETHER_BYTES;

// What is read, and what of it came.
struct copy {
	const uint8_t *frame;
	size_t len;	       // may be read
	size_t came;	       // the rest is made up
	const uint8_t *packet; // of the datagram; frame is a copy of it from `shift` on, or itself
	size_t shift;
};

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

// Makes a copy that is as long as INT may be. 0.5 has the packet's protocol behind the stack, so
// that is what a cut stack goes on with.
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
		memset(scratch + copy->came, packet->l4_proto, end - copy->came);
	copy->frame = scratch;
	copy->len = end > copy->came ? end : copy->came;
}

// Whether the packet says that it has INT, which is malformed.
static bool claims_in_vain(const struct hs_int_settings *settings, const struct hs_packet *packet)
{
	bool by_dscp = settings->carrier == HS_INT_TCP_UDP && settings->mark == HS_INT_MARK_DSCP;
	bool has_ports = packet->l4_proto == HS_IP_TCP || packet->l4_proto == HS_IP_UDP;

	if (packet->flags & (HS_PACKET_TELEMETRY | HS_PACKET_SHORT | HS_PACKET_FRAGMENT))
		return false;
	return packet->flags & HS_PACKET_ANY_TELEMETRY && (has_ports || !by_dscp);
}

// Ports that stood in what was cut off: 0.5 has them in its tail, 2.1 in the shim or behind the
// stack.
static bool lacks_ports(const struct hs_int_settings *settings, const struct copy *copy,
		const struct hs_packet *packet)
{
	const uint8_t *shim = copy->frame + packet->e2e_off;
	size_t end = packet->e2e_off + (size_t)packet->telemetry_bytes;

	if (!(packet->flags & HS_PACKET_TELEMETRY) || settings->carrier != HS_INT_TCP_UDP ||
			settings->mark != HS_INT_MARK_UDP_PORT)
		return false;
	if (settings->version == HS_INT_2_1)
		end = packet->e2e_off + SHIM_BYTES <= copy->came && (shim[0] >> 2 & 3) == 1
				      ? packet->e2e_off + SHIM_BYTES
				      : end + 4;
	return end > copy->came;
}

static int read_tracked(struct hs_collect *c, const struct hs_collect_dialect *dialect,
		struct copy *copy, struct hs_collect_view *view)
{
	const struct hs_int_settings *settings = &dialect->packet;
	struct hs_packet packet;

	hs_int_parse(settings, copy->frame, copy->len, BEYOND, &packet);
	if (packet.flags & HS_PACKET_MALFORMED)
		return HS_COLLECT_REFUSED_PACKET;
	if (claims_in_vain(settings, &packet))
		return HS_COLLECT_REFUSED_STACK;
	bool cut = packet.flags & HS_PACKET_SHORT && packet.l4_off;
	bool is_completed = cut && packet.flags & HS_PACKET_ANY_TELEMETRY;
	if (is_completed) {
		complete(copy, c->scratch, settings->carrier == HS_INT_TCP_UDP, &packet);
		hs_int_parse(settings, copy->frame, copy->len, BEYOND, &packet);
	}
	view->has_flow = hs_collect_flow_of(copy->frame, copy->came, &packet, &view->key) &&
			 !lacks_ports(settings, copy, &packet);
	int refused = find_stack(dialect, copy, &packet, view);
	view->partial |= is_completed && !view->has_stack;
	return refused;
}

static int read_plain(const struct copy *copy, struct hs_collect_view *view)
{
	struct hs_packet packet;

	hs_packet_parse(copy->frame, copy->len, BEYOND, NULL, &packet);
	if (packet.flags & HS_PACKET_MALFORMED)
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
