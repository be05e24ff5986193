// SPDX-License-Identifier: BSD-3-Clause
#include "classify.h"
#include "room.h"

#include "bytes.h"
#include "ip.h"
#include "ip_address.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include <rte_prefetch.h>

// The 5-tuples of a burst, and the places of their packets in the burst.
struct search {
	unsigned n;
	uint8_t at[HS_BURST];
	struct hs_flow_tuple tuples[HS_BURST];
	uint32_t named[HS_BURST]; // the rules that telemetry names
	uint8_t mapped[HS_BURST][32];
};

// Ports and protocol stand side by side in a packet, in the order of a key. A key's last word has
// traits behind them, then the numbers of host bits, which are 0 for a packet.
static_assert(offsetof(struct hs_packet, dst_port) == offsetof(struct hs_packet, src_port) + 2 &&
				offsetof(struct hs_packet, l4_proto) ==
						offsetof(struct hs_packet, src_port) + 4,
		"ports and protocol are read as one word");
static_assert(offsetof(struct hs_flow_tuple, traits) == offsetof(struct hs_flow_tuple, last) + 5,
		"traits are the sixth byte");
static_assert(HS_BURST <= HS_FLOW_LOOKUP_MAX, "one look-up for a burst");
static_assert(HS_BURST <= UINT8_MAX, "places of a burst in a byte");
#define PORTS_AND_PROTOCOL UINT64_C(0xffffffffff)
#define IPV4_TRAITS	   ((uint64_t)HS_FLOW_IPV4 << 40)

// Returns the last word of a packet's key, without traits.
static inline uint64_t key_last(const struct hs_packet *packet)
{
	uint64_t last;

	memcpy(&last, (const uint8_t *)packet + offsetof(struct hs_packet, src_port), sizeof(last));
	return last & PORTS_AND_PROTOCOL;
}

static inline struct hs_flow_tuple ipv6_tuple(const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *ip = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *) + packet->l3_off;

	return (struct hs_flow_tuple){.addresses = ip + HS_IPV6_SRC, .last = key_last(packet)};
}

static inline __attribute__((always_inline)) struct hs_flow_tuple ipv4_tuple(
		const struct hs_burst *burst, unsigned i, uint8_t mapped[32])
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *ip = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *) + packet->l3_off;

	hs_ip_address_map(ip + HS_IPV4_SRC, mapped);
	hs_ip_address_map(ip + HS_IPV4_SRC + 4, mapped + 16);
	return (struct hs_flow_tuple){
			.addresses = mapped,
			.last = key_last(packet) | IPV4_TRAITS,
	};
}

static inline uint32_t named_rule(const struct hs_flow_view *view, const struct hs_packet *packet)
{
	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return HS_FLOW_NONE;
	uint32_t slot = hs_flow_by_name_find(&view->by_name, packet->ns_id);
	if (likely(slot != HS_FLOW_NONE))
		rte_prefetch0_write(&view->own[slot]);
	return slot;
}

// Fills `search` with the 5-tuples of a burst. `mixed` and `named` are constants: a burst without
// IPv4, or without telemetry, runs no code for it.
static inline __attribute__((always_inline)) void fill(const struct hs_flow_view *view,
		struct hs_burst *burst, struct search *search, bool mixed, bool named)
{
	const unsigned n_packets = burst->n;
	unsigned n = 0;

	for (unsigned i = 0; i < n_packets; i++) {
		const struct hs_packet *packet = &burst->packets[i];
		if (unlikely(!(packet->flags & HS_PACKET_FLOW))) {
			burst->slots[i] = HS_FLOW_NONE;
			continue;
		}
		if (mixed && packet->flags & HS_PACKET_IPV4)
			search->tuples[n] = ipv4_tuple(burst, i, search->mapped[n]);
		else
			search->tuples[n] = ipv6_tuple(burst, i);
		if (named)
			search->named[n] = named_rule(view, packet);
		search->at[n++] = (uint8_t)i;
	}
	search->n = n;
}

// Returns the DSCP: the upper six bits of the traffic class, or of the former type of service.
static uint8_t dscp_of(const struct hs_profile *profile, const uint8_t *frame,
		const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;
	unsigned class = packet->flags & HS_PACKET_IPV4 ? ip[1] : hs_be16_load(ip) >> 4;

	if (packet->flags & HS_PACKET_TELEMETRY && profile->family->dscp)
		return profile->family->dscp(profile, frame, packet);
	return class >> 2 & 0x3f;
}

static void add_dscp(const struct hs_burst *burst, struct search *search)
{
	for (unsigned k = 0; k < search->n; k++) {
		unsigned i = search->at[k];
		const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);
		search->tuples[k].traits |=
				HS_FLOW_DSCP | dscp_of(burst->profile, frame, &burst->packets[i]);
	}
}

// Returns whether any packet has a rule.
static bool look_up(const struct hs_flow_view *view, const struct hs_flow_masks *masks,
		const struct search *search, bool named, struct hs_burst *burst)
{
	const uint32_t *names = named ? search->named : NULL;
	uint32_t found[HS_BURST];

	if (likely(search->n == burst->n))
		return hs_flow_lookup(view, masks, search->tuples, names, search->n, burst->slots);
	bool any = hs_flow_lookup(view, masks, search->tuples, names, search->n, found);
	for (unsigned k = 0; k < search->n; k++)
		burst->slots[search->at[k]] = found[k];
	return any;
}

static void find_rules(
		struct hs_worker *worker, struct hs_burst *burst, const struct hs_flow_masks *masks)
{
	bool telemetry = burst->flags & HS_PACKET_TELEMETRY;
	bool named = telemetry && burst->profile->family->names_rules && !worker->general;
	struct search search;

	bool mixed = burst->flags & HS_PACKET_IPV4;
	if (mixed && named)
		fill(&worker->flows, burst, &search, true, true);
	else if (mixed)
		fill(&worker->flows, burst, &search, true, false);
	else if (named)
		fill(&worker->flows, burst, &search, false, true);
	else
		fill(&worker->flows, burst, &search, false, false);
	if (unlikely(masks->dscp))
		add_dscp(burst, &search);
	burst->unmatched = !look_up(&worker->flows, masks, &search, named, burst);
	if (likely(!telemetry || named || burst->unmatched))
		return;
	for (unsigned i = 0; i < burst->n; i++) { // the line in which telemetry is counted
		if (burst->slots[i] != HS_FLOW_NONE)
			rte_prefetch0(&worker->flows.own[burst->slots[i]].ns_id);
	}
}

void hs_classify_rules(struct hs_worker *worker, struct hs_burst *burst)
{
	const struct hs_flow_masks *masks = hs_flow_masks_of(&worker->flows);

	burst->unmatched = true;
	if (!masks->n) {
		memset(burst->slots, 0xff, burst->n * sizeof(burst->slots[0])); // HS_FLOW_NONE
		return;
	}
	find_rules(worker, burst, masks);
}

// Parses the copy anew, because a copy may be cut into other segments than the original.
bool hs_make_changeable(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (likely(hs_is_changeable(burst, i)))
		return true;
	struct rte_mbuf *copy = rte_pktmbuf_copy(burst->mbufs[i], worker->pool, 0, UINT32_MAX);
	if (!copy)
		return false;
	rte_pktmbuf_free(burst->mbufs[i]);
	burst->mbufs[i] = copy;
	hs_parse_anew(burst, i);
	return true;
}

// Without the telemetry, the first segment may be too short for the headers that are looked for
// now.
bool hs_end_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t taken)
{
	struct hs_packet *packet = &burst->packets[i];

	rte_pktmbuf_adj(burst->mbufs[i], (uint16_t)taken);
	hs_parse_anew(burst, i);
	if (unlikely(packet->flags & HS_PACKET_SHORT))
		hs_classify_join(worker, burst, i);
	if (likely(!(packet->flags & HS_STAGE_SUSPECT)))
		return true;
	packet->flags |= HS_PACKET_TELEMETRY; // the packet is not as it came
	return false;
}

void hs_classify_general(struct hs_worker *worker, struct hs_burst *burst)
{
	hs_classify_end(worker, burst,
			hs_classify_parse(worker, burst, NULL, burst->profile->family->parse));
}
