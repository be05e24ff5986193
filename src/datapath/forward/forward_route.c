// SPDX-License-Identifier: BSD-3-Clause
// Forwarding by destination (IPv6: RFC 8200, RFC 4291; IPv4: RFC 1812): the rules of a router
// without its ICMP messages. A packet that may not be passed on is dropped and counted.
#include "fib.h"
#include "fib_cache.h"
#include "forward.h"
#include "ip.h"
#include "ip_sum.h"
#include "packet_fast.h"
#include "room.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <rte_byteorder.h>

static_assert(HS_BURST <= HS_FIB_LOOKUP_MAX, "one look-up for a burst");
static_assert(sizeof(struct hs_next_hop) == 8 && offsetof(struct hs_next_hop, mac) == 0,
		"a hop is written where addresses begin");

#define HOP_LIMIT   7
#define SOURCE	    8
#define DESTINATION 24
#define PASSES	    UINT16_MAX
#define NO_MAC	    UINT64_MAX // no word of an address

static bool is_unicast(const uint8_t mac[6])
{
	return !(mac[0] & 1);
}

// Returns an address in one word, with zeros behind it. Reads two more bytes.
static inline uint64_t mac_word(const uint8_t *mac)
{
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	return rte_le_to_cpu_64(word) << 16;
}

// Returns whether a frame is for the port. A custom port may have no address of its own; it then
// takes every frame.
static bool is_for_port(const struct hs_port *port, const uint8_t mac[6])
{
	static const uint8_t none[6];

	return memcmp(mac, port->mac, 6) == 0 || memcmp(port->mac, none, 6) == 0;
}

// Returns whether an address is multicast, link-local, loopback (::1) or none (::).
static bool stays_on_link(const uint8_t address[16])
{
	static const uint8_t zeros[15];

	if (address[0] == 0xff || (address[0] == 0xfe && (address[1] & 0xc0) == 0x80))
		return true;
	return address[15] <= 1 && memcmp(address, zeros, 15) == 0;
}

// Returns the reason to drop a packet, or PASSES.
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

// ---- IPv4 ----

// Returns whether a header is as RFC 1812 section 5.2.2 asks. The header may be read, because the
// packet is not SHORT.
static bool is_header_right(const struct hs_packet *packet, const uint8_t *ip, size_t frame_bytes)
{
	size_t header = 4u * (ip[0] & 0xfu);

	return header >= HS_IPV4_BYTES && packet->l3_bytes >= header &&
	       packet->l3_off + (size_t)packet->l3_bytes <= frame_bytes &&
	       hs_ip_sum_even(ip, header) == UINT16_MAX; // RFC 1071
}

// Returns whether an address is of "this network", loopback, link-local, multicast, reserved or
// broadcast (RFC 1812 sections 4.2.2.11 and 5.3.7, RFC 3927).
static inline bool stays_here(const uint8_t address[4])
{
	unsigned first = address[0];

	// 0 wraps.
	return first - 1 >= 223 || first == 127 || (first == 169 && address[1] == 254);
}

// Returns the reason to drop an IPv4 packet, or PASSES.
static uint16_t objection_ipv4(const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *ip = frame + packet->l3_off;

	if (unlikely(packet->flags & HS_PACKET_SHORT))
		return HS_DROP_UNREADABLE;
	if (unlikely(packet->vlan_tags))
		return HS_DROP_VLAN_TAGGED;
	if (unlikely(!is_unicast(frame)))
		return HS_DROP_NOT_ROUTABLE;
	if (unlikely(!is_for_port(burst->in, frame)))
		return HS_DROP_OTHER_MAC;
	if (unlikely(!is_header_right(packet, ip, rte_pktmbuf_pkt_len(burst->mbufs[i]))))
		return HS_DROP_BAD_HEADER;
	if (unlikely(stays_here(ip + HS_IPV4_SRC) || stays_here(ip + HS_IPV4_SRC + 4)))
		return HS_DROP_NOT_ROUTABLE;
	if (unlikely(ip[HS_IPV4_TTL] <= 1))
		return HS_DROP_HOP_LIMIT;
	return PASSES;
}

// Returns whether stays_here() is surely false for an IPv4 address, by its first byte.
static inline bool leaves_here(unsigned first)
{
	return first - 1 < 223 && first != 127 && first != 169;
}

// Returns whether the checksum of a header without options is right. The header must not be all
// zeros. The one's complement sum of words that are not all zeros is all ones exactly where 65,535
// divides it.
static inline bool is_sum_right(const uint8_t ip[HS_IPV4_BYTES])
{
	uint64_t sum = hs_ip_sum_eight(hs_ip_sum_eight(0, ip), ip + 8);
	uint32_t last;

	memcpy(&last, ip + 16, sizeof(last));
	return hs_ip_sum_add(sum, last) % UINT16_MAX == 0;
}

// Returns true for nearly every packet to which objection_ipv4() has no objection, and for no other
// packet.
static inline bool is_fast_ipv4(const struct hs_burst *burst, unsigned i, uint64_t port_mac)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *ip = frame + HS_FAST_L3;

	return (packet->flags & (HS_PACKET_IPV4 | HS_PACKET_SHORT)) == HS_PACKET_IPV4 &&
	       packet->l3_off == HS_FAST_L3 && mac_word(frame) == port_mac && ip[0] == 0x45 &&
	       packet->l3_bytes >= HS_IPV4_BYTES &&
	       HS_FAST_L3 + (size_t)packet->l3_bytes <= rte_pktmbuf_pkt_len(burst->mbufs[i]) &&
	       ip[HS_IPV4_TTL] > 1 && leaves_here(ip[HS_IPV4_SRC]) &&
	       leaves_here(ip[HS_IPV4_SRC + 4]) && is_sum_right(ip);
}

// Decrements the TTL and adjusts the checksum as equation 3 of RFC 1624 does: the word of TTL and
// protocol becomes less by 0x0100, so the checksum becomes more by 0x0100, and 0 where it would be
// 0xffff. The byte order of the sum does not matter.
static inline void decrement_ttl(uint8_t *ip)
{
	uint16_t word;

	memcpy(&word, ip + HS_IPV4_CHECKSUM, sizeof(word));
	uint32_t sum = word + (uint32_t)RTE_BE16(0x0100);
	word = (uint16_t)(sum + (sum >= UINT16_MAX));
	memcpy(ip + HS_IPV4_CHECKSUM, &word, sizeof(word));
	ip[HS_IPV4_TTL]--;
}

// ---- a burst ----

// Returns whether an address is in 2000::/3 or fc00::/7, by its first byte. No address that stays
// on a link is in either.
static inline bool is_far(uint8_t first)
{
	return (first & 0xe0) == 0x20 || (first & 0xfe) == 0xfc;
}

// Returns whether both addresses of a packet are far. Not inlined, because nearly all are global.
static __attribute__((noinline)) bool are_far(const uint8_t *ip)
{
	return is_far(ip[SOURCE]) && is_far(ip[DESTINATION]);
}

// Returns whether both addresses of a packet are in 2000::/3.
static inline bool are_global(const uint8_t *ip)
{
	return (((ip[SOURCE] ^ 0x20) | (ip[DESTINATION] ^ 0x20)) & 0xe0) == 0;
}

// Returns true for nearly every packet to which objection() has no objection, and for no other
// packet.
static inline bool is_fast(const struct hs_burst *burst, unsigned i, uint64_t port_mac)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *ip = frame + HS_FAST_L3;

	return packet->flags & HS_PACKET_IPV6 && packet->l3_off == HS_FAST_L3 &&
	       mac_word(frame) == port_mac && ip[HOP_LIMIT] > 1 &&
	       (likely(are_global(ip)) || are_far(ip));
}

// Returns the word that a destination MAC is compared with, or NO_MAC where the port takes any, or
// none.
static uint64_t fast_mac(const struct hs_port *port)
{
	static const uint8_t none[6];
	uint8_t padded[8] = {0};

	if (!is_unicast(port->mac) || memcmp(port->mac, none, 6) == 0)
		return NO_MAC;
	memcpy(padded, port->mac, 6);
	return mac_word(padded);
}

static inline bool is_ipv4(const struct hs_burst *burst, unsigned i)
{
	return burst->packets[i].flags & HS_PACKET_IPV4;
}

// Writes the new MAC addresses and hop limit. `l3_off` is the packet's.
static inline __attribute__((always_inline)) void rewrite(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, const struct hs_next_hop *next, size_t l3_off,
		bool mixed)
{
	const uint16_t port = next->port;
	const struct hs_port *out = worker->ports[port];

	if (unlikely(!hs_is_changeable(burst, i)) && !hs_make_changeable(worker, burst, i)) {
		burst->out[i] = HS_OUT_DROP | HS_DROP_NO_MBUF;
		return;
	}
	uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);
	memcpy(frame, next, sizeof(*next)); // two bytes more than an address, in one store
	memcpy(frame + 6, out->mac, 6);
	if (mixed && is_ipv4(burst, i))
		decrement_ttl(frame + l3_off);
	else
		frame[l3_off + HOP_LIMIT]--;
	burst->out[i] = port;
	if (unlikely(out == burst->in))
		hs_event(worker, burst, HS_EVENT_ROUTED_BACK);
}

// Sends packet i to its next hop, if there is a route.
static inline __attribute__((always_inline)) void take(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, const struct hs_next_hop *next, size_t l3_off,
		bool mixed)
{
	if (likely(next->port < worker->n_ports))
		rewrite(worker, burst, i, next, l3_off, mixed);
	else
		burst->out[i] = HS_OUT_DROP | HS_DROP_NO_ROUTE;
}

static inline void look_up(struct hs_worker *worker, const struct hs_burst *burst,
		const uint8_t *const *destinations, const uint32_t *slots, unsigned n,
		struct hs_next_hop *next)
{
	if (worker->general)
		hs_fib_lookup(worker->fib, destinations, n, next);
	else if (burst->unmatched)
		hs_fib_cache_lookup_unmatched(
				worker->fib_cache, worker->fib, destinations, n, next);
	else
		hs_fib_cache_lookup(worker->fib_cache, worker->fib, destinations, slots, n, next);
}

// Routes a burst of one IP version of which no packet has an objection, as nearly every burst:
// entry i of each array is packet i. `keys` is for the destinations of IPv4, and a constant NULL
// for IPv6. Returns false if nothing was done.
static inline __attribute__((always_inline)) bool route_all(
		struct hs_worker *worker, struct hs_burst *burst, uint8_t (*keys)[16])
{
	const uint8_t *destinations[HS_BURST];
	struct hs_next_hop next[HS_BURST];
	const uint64_t port_mac = fast_mac(burst->in);
	const unsigned n = burst->n;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *ip = rte_pktmbuf_mtod_offset(
				burst->mbufs[i], const uint8_t *, HS_FAST_L3);
		if (unlikely(!(keys ? is_fast_ipv4(burst, i, port_mac)
				    : is_fast(burst, i, port_mac))))
			return false;
		destinations[i] = ip + DESTINATION;
		if (keys) {
			hs_fib_ipv4_key(ip + HS_IPV4_SRC + 4, keys[i]);
			destinations[i] = keys[i];
		}
	}
	look_up(worker, burst, destinations, burst->slots, n, next);
	for (unsigned i = 0; i < n; i++)
		take(worker, burst, i, &next[i], HS_FAST_L3, keys != NULL);
	return true;
}

// Routes a burst. `keys` is for IPv4 destinations. A constant NULL says that the burst has none,
// and removes the code for them.
static inline __attribute__((always_inline)) void route(
		struct hs_worker *worker, struct hs_burst *burst, uint8_t (*keys)[16])
{
	const uint8_t *destinations[HS_BURST];
	struct hs_next_hop next[HS_BURST];
	uint32_t slots[HS_BURST];
	uint8_t index[HS_BURST];
	uint64_t port_mac = worker->general ? NO_MAC : fast_mac(burst->in);
	unsigned n = 0;

	for (unsigned i = 0; i < burst->n; i++) {
		uint16_t reason = PASSES;
		if (keys && is_ipv4(burst, i)) {
			if (unlikely(!is_fast_ipv4(burst, i, port_mac)))
				reason = objection_ipv4(burst, i);
		} else if (unlikely(!is_fast(burst, i, port_mac))) {
			reason = objection(burst, i);
		}
		if (unlikely(reason != PASSES)) {
			burst->out[i] = HS_OUT_DROP | reason;
			continue;
		}
		const uint8_t *ip = rte_pktmbuf_mtod_offset(
				burst->mbufs[i], const uint8_t *, burst->packets[i].l3_off);
		destinations[n] = ip + DESTINATION;
		if (keys && is_ipv4(burst, i)) {
			hs_fib_ipv4_key(ip + HS_IPV4_SRC + 4, keys[n]);
			destinations[n] = keys[n];
		}
		slots[n] = burst->slots[i];
		index[n++] = (uint8_t)i;
	}
	if (unlikely(!n))
		return;
	look_up(worker, burst, destinations, slots, n, next);
	for (unsigned k = 0; k < n; k++)
		take(worker, burst, index[k], &next[k], burst->packets[index[k]].l3_off,
				keys != NULL);
}

void hs_forward_route(struct hs_worker *worker, struct hs_burst *burst)
{
	uint8_t keys[HS_BURST][16];

	if (burst->flags & HS_PACKET_IPV4) {
		if (worker->general || unlikely(!route_all(worker, burst, keys)))
			route(worker, burst, keys);
	} else if (worker->general || unlikely(!route_all(worker, burst, NULL))) {
		route(worker, burst, NULL);
	}
}
