// SPDX-License-Identifier: BSD-3-Clause
#include "flow_worker.h"

#include "ip_address.h"

#include <netinet/in.h>
#include <string.h>

#include "u32_map.h"

void hs_flow_mark_seen(const struct hs_flow_view *view, uint32_t slot)
{
	atomic_fetch_or_explicit(&view->shared[slot].workers, UINT32_C(1) << view->worker,
			memory_order_relaxed);
	view->own[slot].seen |= HS_FLOW_SEEN;
	for (unsigned w = 0; w < view->n_workers; w++) {
		if (w != view->worker)
			atomic_store_explicit(
					&view->workers[w][slot].others, 1, memory_order_relaxed);
	}
}

#define READ_TRIES 16

void hs_flow_read(const struct hs_flow_worker *w, struct hs_flow_sums *sums)
{
	uint64_t packets, bytes, tx_packets, tx_bytes;
	uint64_t again = __atomic_load_n(&w->tx_packets, __ATOMIC_ACQUIRE);

	// What was taken back is read first: a sum without packets that it takes back could be
	// below 0. If more was taken back meanwhile, the sum would count these packets as sent, so
	// that all is read again. After the last try, the sum is too high by them, until the next
	// read.
	for (unsigned tries = 0; tries < READ_TRIES; tries++) {
		tx_packets = again;
		tx_bytes = __atomic_load_n(&w->tx_bytes, __ATOMIC_ACQUIRE);
		packets = __atomic_load_n(&w->through_packets, __ATOMIC_ACQUIRE);
		bytes = __atomic_load_n(&w->through_bytes, __ATOMIC_ACQUIRE);
		again = __atomic_load_n(&w->tx_packets, __ATOMIC_ACQUIRE);
		if ((int64_t)(again - tx_packets) >= 0)
			break;
	}
	sums->rx_packets += packets + __atomic_load_n(&w->rx_packets, __ATOMIC_RELAXED);
	sums->rx_bytes += bytes + __atomic_load_n(&w->rx_bytes, __ATOMIC_RELAXED);
	sums->tx_packets += packets + tx_packets;
	sums->tx_bytes += bytes + tx_bytes;
	sums->int_packets += __atomic_load_n(&w->int_packets, __ATOMIC_RELAXED);
}

static void read_others(const struct hs_flow_view *view, uint32_t slot, struct hs_flow_sums *sums)
{
	uint32_t workers = atomic_load_explicit(&view->shared[slot].workers, memory_order_relaxed);

	memset(sums, 0, sizeof(*sums));
	workers &= ~(UINT32_C(1) << view->worker);
	for (; workers; workers &= workers - 1) {
		const struct hs_flow_worker *w = &view->workers[__builtin_ctz(workers)][slot];
		hs_flow_read(w, sums);
	}
}

const struct hs_flow_sums *hs_flow_sum_others(const struct hs_flow_view *view, uint32_t slot)
{
	struct hs_flow_others *others = view->others;
	struct hs_flow_others_place *place = &others->places[slot % HS_FLOW_OTHERS];

	uint32_t generation = view->own[slot].generation;
	// The age is unsigned, so that it is large if the clock was set back.
	uint64_t age_ns = (uint64_t)(others->now_ns - place->read_ns);

	if (place->slot != slot || place->generation != generation || age_ns >= HS_FLOW_OTHERS_NS) {
		read_others(view, slot, &place->sums);
		place->read_ns = others->now_ns;
		place->slot = slot;
		place->generation = generation;
	}
	return &place->sums;
}

uint32_t hs_flow_named(const struct hs_flow_view *view, uint32_t ns_id)
{
	uint32_t slot = hs_u32_map_find(view->names, ns_id);

	return slot != HS_U32_MAP_NONE && hs_flow_is_of(view, slot, ns_id) ? slot : HS_FLOW_NONE;
}

static bool same_or_any(unsigned a, unsigned b)
{
	return a == b || !a || !b;
}

// Returns whether some packets have ports that match both keys. Only ICMP and ICMPv6 have no ports.
static bool same_ports(const struct hs_flow_key *a, const struct hs_flow_key *b)
{
	const struct hs_flow_key *known = a->protocol ? a : b;
	bool none = known->protocol == IPPROTO_ICMPV6 || known->protocol == IPPROTO_ICMP;

	if (none)
		return !a->src_port && !a->dst_port && !b->src_port && !b->dst_port;
	return same_or_any(a->src_port, b->src_port) && same_or_any(a->dst_port, b->dst_port);
}

static bool same_class(uint8_t a, uint8_t b)
{
	return !((a ^ b) & HS_FLOW_IPV4) && (!(a & b & HS_FLOW_DSCP) || a == b);
}

static bool same_prefix(const uint8_t *a, uint8_t a_bits, const uint8_t *b, uint8_t b_bits)
{
	return a_bits >= b_bits ? hs_ip_prefix_has(a, a_bits, b) : hs_ip_prefix_has(b, b_bits, a);
}

bool hs_flow_overlap(const struct hs_flow_view *view, uint32_t a, uint32_t b)
{
	struct hs_flow_key one = {0}, other = {0};

	memcpy(&one, view->own[a].key, sizeof(view->own[a].key));
	memcpy(&other, view->own[b].key, sizeof(view->own[b].key));
	return same_class(one.traits, other.traits) && same_or_any(one.protocol, other.protocol) &&
	       same_ports(&one, &other) &&
	       same_prefix(one.src_ip, one.src_host_bits, other.src_ip, other.src_host_bits) &&
	       same_prefix(one.dst_ip, one.dst_host_bits, other.dst_ip, other.dst_host_bits);
}
