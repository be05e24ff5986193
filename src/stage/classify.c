// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_quick.h"
#include "stage.h"

#include <string.h>

#include <rte_prefetch.h>

// Headers split over segments: one linear copy, so that everything behind can read and change them.
static void join_headers(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(burst->mbufs[i], worker->pool, 0, UINT32_MAX);

	if (!copy)
		return;
	rte_pktmbuf_free(burst->mbufs[i]);
	burst->mbufs[i] = copy;
	hs_flexint_parse(rte_pktmbuf_mtod(copy, uint8_t *), rte_pktmbuf_data_len(copy),
			rte_pktmbuf_pkt_len(copy), &burst->packets[i]);
}

static void parse_burst(struct hs_worker *worker, struct hs_burst *burst)
{
	uint16_t faults = 0;

	for (unsigned i = 0; i < burst->n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(burst->mbufs[i], void *));
	for (unsigned i = 0; i < burst->n; i++) {
		struct rte_mbuf *m = burst->mbufs[i];
		const uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
		struct hs_packet *packet = &burst->packets[i];
		if (worker->plain || !hs_flexint_parse_quick(frame, rte_pktmbuf_data_len(m),
						     rte_pktmbuf_pkt_len(m), packet))
			hs_flexint_parse(frame, rte_pktmbuf_data_len(m), rte_pktmbuf_pkt_len(m),
					packet);
		faults |= burst->packets[i].flags;
	}
	burst->flags = faults;
	if (likely(!(faults & (HS_PACKET_SHORT | HS_PACKET_MALFORMED))))
		return;
	for (unsigned i = 0; i < burst->n; i++) {
		if (burst->packets[i].flags & HS_PACKET_SHORT)
			join_headers(worker, burst, i);
		if (burst->packets[i].flags & HS_PACKET_MALFORMED)
			hs_event(worker, burst, HS_EVENT_MALFORMED);
		burst->flags |= burst->packets[i].flags;
	}
}

static void fill_key(const struct hs_burst *burst, unsigned i, struct hs_flow_key *key)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *ip = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *) + packet->l3_off;

	memcpy(key->src_ip, ip + 8, 32); // source and destination lie side by side in both
	key->src_port = packet->src_port;
	key->dst_port = packet->dst_port;
	key->protocol = packet->l4_proto;
	memset(key->zero, 0, sizeof(key->zero));
}

static void find_rules(struct hs_worker *worker, struct hs_burst *burst)
{
	struct hs_flow_key keys[HS_BURST];
	const struct hs_flow_key *pointers[HS_BURST];
	uint32_t all = HS_FLOW_NONE;

	for (unsigned i = 0; i < burst->n; i++) {
		pointers[i] = NULL;
		if (!(burst->packets[i].flags & HS_PACKET_FLOW))
			continue;
		fill_key(burst, i, &keys[i]);
		pointers[i] = &keys[i];
	}
	hs_flow_lookup_burst(&worker->flows, pointers, burst->n, burst->slots);
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

void hs_classify(struct hs_worker *worker, struct hs_burst *burst)
{
	parse_burst(worker, burst);
	burst->unmatched = true;
	if (hs_flow_view_empty(&worker->flows)) {
		for (unsigned i = 0; i < burst->n; i++)
			burst->slots[i] = HS_FLOW_NONE;
		return;
	}
	find_rules(worker, burst);
}
