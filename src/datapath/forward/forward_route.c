// SPDX-License-Identifier: BSD-3-Clause
// Forwarding by IPv6 destination (RFC 8200, RFC 4291): the rules of a router without the messages
// of one. What it may not pass on is counted, nobody is told.
#include "forward.h"
#include "fib.h"
#include "packet_fast.h"
#include "room.h"

#include <string.h>

#include <rte_byteorder.h>

#define HOP_LIMIT   7
#define SOURCE	    8
#define DESTINATION 24
#define PASSES	    UINT16_MAX
#define NO_MAC	    UINT64_MAX // no address has so many bits

static bool is_unicast(const uint8_t mac[6])
{
	return !(mac[0] & 1);
}

// An address in one word; two more bytes are read.
static inline uint64_t mac_word(const uint8_t *mac)
{
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	return rte_be_to_cpu_64(word) >> 16;
}

// A custom port may have no address of its own; it takes what comes.
static bool is_for_port(const struct hs_port *port, const uint8_t mac[6])
{
	static const uint8_t none[6];

	return memcmp(mac, port->mac, 6) == 0 || memcmp(port->mac, none, 6) == 0;
}

// Group and link-local addresses, loopback (::1) and none (::).
static bool stays_on_link(const uint8_t address[16])
{
	static const uint8_t zeros[15];

	if (address[0] == 0xff || (address[0] == 0xfe && (address[1] & 0xc0) == 0x80))
		return true;
	return address[15] <= 1 && memcmp(address, zeros, 15) == 0;
}

// The reason to drop a packet, or PASSES.
static uint16_t objection(const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *ip = frame + packet->l3_off;

	if (unlikely(!(packet->flags & HS_PACKET_IPV6)))
		return packet->flags & HS_PACKET_SHORT ? HS_DROP_UNREADABLE : HS_DROP_NOT_IPV6;
	if (unlikely(packet->vlan_tags))
		return HS_DROP_VLAN_TAGGED;
	if (unlikely(!is_unicast(frame)))
		return HS_DROP_NOT_ROUTABLE;
	if (unlikely(!is_for_port(burst->in, frame)))
		return HS_DROP_OTHER_MAC;
	if (unlikely(stays_on_link(ip + SOURCE) || stays_on_link(ip + DESTINATION)))
		return HS_DROP_NOT_ROUTABLE;
	if (unlikely(ip[HOP_LIMIT] <= 1))
		return HS_DROP_HOP_LIMIT;
	return PASSES;
}

// Addresses of 2000::/3, and of fc00::/7: of all that stays on a link, none is among them.
static inline bool is_far(uint8_t first)
{
	return (first & 0xe0) == 0x20 || (first & 0xfe) == 0xfc;
}

// Nearly every packet, in few steps: true where objection() has none. False says nothing.
static inline bool is_fast(const struct hs_burst *burst, unsigned i, uint64_t port_mac)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *ip = frame + HS_FAST_L3;

	return packet->flags & HS_PACKET_IPV6 && packet->l3_off == HS_FAST_L3 &&
	       mac_word(frame) == port_mac && is_far(ip[SOURCE]) && is_far(ip[DESTINATION]) &&
	       ip[HOP_LIMIT] > 1;
}

// What a destination is compared with; NO_MAC where the port takes any, or none.
static uint64_t fast_mac(const struct hs_port *port)
{
	static const uint8_t none[6];
	uint8_t padded[8] = {0};

	if (!is_unicast(port->mac) || memcmp(port->mac, none, 6) == 0)
		return NO_MAC;
	memcpy(padded, port->mac, 6);
	return mac_word(padded);
}

static void rewrite(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_next_hop *next)
{
	const struct hs_port *out = worker->ports[next->port];

	if (unlikely(!hs_room_is_changeable(burst->mbufs[i])) &&
			!hs_make_changeable(worker, burst, i)) {
		burst->out[i] = HS_OUT_DROP | HS_DROP_NO_MBUF;
		return;
	}
	uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);
	memcpy(frame, next->mac, 6);
	memcpy(frame + 6, out->mac, 6);
	frame[burst->packets[i].l3_off + HOP_LIMIT]--;
	burst->out[i] = next->port;
	if (unlikely(out == burst->in))
		hs_event(worker, burst, HS_EVENT_ROUTED_BACK);
}

void hs_forward_route(struct hs_worker *worker, struct hs_burst *burst)
{
	const uint8_t *destinations[HS_BURST];
	struct hs_next_hop next[HS_BURST];
	uint16_t index[HS_BURST];
	uint64_t port_mac = worker->general ? NO_MAC : fast_mac(burst->in);
	unsigned n = 0;

	for (unsigned i = 0; i < burst->n; i++) {
		uint16_t reason = PASSES;
		if (unlikely(!is_fast(burst, i, port_mac)))
			reason = objection(burst, i);
		if (unlikely(reason != PASSES)) {
			burst->out[i] = HS_OUT_DROP | reason;
			continue;
		}
		destinations[n] = rte_pktmbuf_mtod_offset(burst->mbufs[i], const uint8_t *,
				burst->packets[i].l3_off + DESTINATION);
		index[n++] = (uint16_t)i;
	}
	if (unlikely(!n))
		return;
	hs_fib_lookup(worker->fib, destinations, n, next);
	for (unsigned k = 0; k < n; k++) {
		if (likely(next[k].port < worker->n_ports))
			rewrite(worker, burst, index[k], &next[k]);
		else
			burst->out[index[k]] = HS_OUT_DROP | HS_DROP_NO_ROUTE;
	}
}
