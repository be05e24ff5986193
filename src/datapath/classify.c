// SPDX-License-Identifier: BSD-3-Clause
#include "room.h"
#include "stage.h"

#include "bytes.h"
#include "ip.h"
#include "ip_address.h"

#include <stddef.h>
#include <string.h>

#include <rte_prefetch.h>

static inline void fill_ipv6_key(const struct hs_burst *burst, unsigned i, struct hs_flow_key *key)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *ip = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *) + packet->l3_off;

	memcpy(key->src_ip, ip + 8, 32); // source and destination lie side by side in both
	key->src_port = packet->src_port;
	key->dst_port = packet->dst_port;
	key->protocol = packet->l4_proto;
	// What IPv6 packets have in no key, and what pads it, as one.
	memset((uint8_t *)key + offsetof(struct hs_flow_key, traits), 0,
			sizeof(*key) - offsetof(struct hs_flow_key, traits));
}

static void fill_ipv4_key(const struct hs_burst *burst, unsigned i, struct hs_flow_key *key)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *ip = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *) + packet->l3_off;

	memset(key, 0, sizeof(*key));
	hs_ip_address_map(ip + HS_IPV4_SRC, key->src_ip);
	hs_ip_address_map(ip + HS_IPV4_SRC + 4, key->dst_ip);
	key->src_port = packet->src_port;
	key->dst_port = packet->dst_port;
	key->protocol = packet->l4_proto;
	key->traits = HS_FLOW_IPV4;
}

// `mixed` is a constant: a burst without IPv4 pays nothing for it.
static inline __attribute__((always_inline)) void fill_keys(const struct hs_burst *burst,
		struct hs_flow_key *keys, const struct hs_flow_key **pointers, bool mixed)
{
	for (unsigned i = 0; i < burst->n; i++) {
		pointers[i] = NULL;
		if (!(burst->packets[i].flags & HS_PACKET_FLOW))
			continue;
		if (mixed && burst->packets[i].flags & HS_PACKET_IPV4)
			fill_ipv4_key(burst, i, &keys[i]);
		else
			fill_ipv6_key(burst, i, &keys[i]);
		pointers[i] = &keys[i];
	}
}

// The upper six bits of the traffic class, or of what was the type of service.
static uint8_t dscp_of(const struct hs_profile *profile, const uint8_t *frame,
		const struct hs_packet *packet)
{
	const uint8_t *ip = frame + packet->l3_off;
	unsigned class = packet->flags & HS_PACKET_IPV4 ? ip[1] : hs_be16_load(ip) >> 4;

	if (packet->flags & HS_PACKET_TELEMETRY && profile->family->dscp)
		return profile->family->dscp(profile, frame, packet);
	return class >> 2 & 0x3f;
}

static void add_dscp(const struct hs_burst *burst, struct hs_flow_key *keys)
{
	for (unsigned i = 0; i < burst->n; i++) {
		const struct hs_packet *packet = &burst->packets[i];
		if (!(packet->flags & HS_PACKET_FLOW))
			continue;
		const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);
		keys[i].traits |= HS_FLOW_DSCP | dscp_of(burst->profile, frame, packet);
	}
}

static void find_rules(
		struct hs_worker *worker, struct hs_burst *burst, const struct hs_flow_masks *masks)
{
	struct hs_flow_key keys[HS_BURST];
	const struct hs_flow_key *pointers[HS_BURST];
	uint32_t all = HS_FLOW_NONE;

	if (likely(!(burst->flags & HS_PACKET_IPV4)))
		fill_keys(burst, keys, pointers, false);
	else
		fill_keys(burst, keys, pointers, true);
	if (unlikely(masks->dscp))
		add_dscp(burst, keys);
	hs_flow_lookup_masked(&worker->flows, masks, pointers, burst->n, burst->slots);
	for (unsigned i = 0; i < burst->n; i++)
		all &= burst->slots[i];
	burst->unmatched = all == HS_FLOW_NONE;
	if (!(burst->flags & HS_PACKET_TELEMETRY) || burst->unmatched)
		return;
	for (unsigned i = 0; i < burst->n; i++) { // what telemetry is compared and counted with
		if (burst->slots[i] != HS_FLOW_NONE)
			rte_prefetch0(&worker->flows.own[burst->slots[i]].ns_id);
	}
}

void hs_classify_rules(struct hs_worker *worker, struct hs_burst *burst)
{
	const struct hs_flow_masks *masks = hs_flow_masks_of(&worker->flows);

	burst->unmatched = true;
	if (!masks->n) {
		for (unsigned i = 0; i < burst->n; i++)
			burst->slots[i] = HS_FLOW_NONE;
		return;
	}
	find_rules(worker, burst, masks);
}

// A copy may be cut into other segments than the original: it is parsed anew.
bool hs_make_changeable(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (likely(hs_room_is_changeable(burst->mbufs[i])))
		return true;
	struct rte_mbuf *copy = rte_pktmbuf_copy(burst->mbufs[i], worker->pool, 0, UINT32_MAX);
	if (!copy)
		return false;
	rte_pktmbuf_free(burst->mbufs[i]);
	burst->mbufs[i] = copy;
	burst->profile->family->parse(burst->profile, rte_pktmbuf_mtod(copy, uint8_t *),
			rte_pktmbuf_data_len(copy), rte_pktmbuf_pkt_len(copy), &burst->packets[i]);
	return true;
}
