// SPDX-License-Identifier: BSD-3-Clause
#include "punt_record.h"
#include "flexint.h"
#include "flexint_steps.h"
#include "report_cbor.h"

#include <string.h>

#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

static const uint8_t *frame_of(const struct hs_burst *burst, unsigned i)
{
	return rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
}

static unsigned count_parts(const struct hs_burst *burst, unsigned i, uint8_t type)
{
	const uint8_t *data;
	size_t cursor = 0, len;
	unsigned n = 0;

	while (n <= HS_PUNT_PARTS && hs_flexint_option_next(frame_of(burst, i), &burst->packets[i],
						     type, &cursor, &data, &len))
		n++;
	return n;
}

static struct hs_punt *place_at(const struct rte_ring_zc_data *places, unsigned k)
{
	if (k < places->n1)
		return (struct hs_punt *)places->ptr1 + k;
	return (struct hs_punt *)places->ptr2 + (k - places->n1);
}

static void fill(const struct hs_burst *burst, unsigned i, const struct hs_punt *head,
		const struct rte_ring_zc_data *places)
{
	size_t cursor = 0, len;
	const uint8_t *data;

	for (unsigned part = 0; part < head->parts; part++) {
		struct hs_punt *to = place_at(places, part);
		hs_flexint_option_next(frame_of(burst, i), &burst->packets[i], head->type, &cursor,
				&data, &len);
		memcpy(to, head, offsetof(struct hs_punt, data));
		to->part = (uint8_t)part;
		to->len = (uint8_t)len;
		memcpy(to->data, data, len);
	}
}

// Hands up the options of one type. Returns false if none of them was handed up.
static bool hand_up(struct hs_worker *worker, struct hs_burst *burst, unsigned i, uint8_t type,
		bool taken)
{
	struct rte_ring_zc_data places;
	unsigned n = count_parts(burst, i, type);
	struct hs_punt head = {
			// the same for all parts of a packet
			.rx_ns = burst->now_ns,
			.port = burst->in->index,
			.type = type,
			.parts = (uint8_t)n,
			.taken = taken,
	};

	if (unlikely(n > HS_PUNT_PARTS)) {
		hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
		return false;
	}
	hs_flow_add(&worker->signals_made, n);
	if (unlikely(!rte_ring_enqueue_zc_bulk_elem_start(
			    worker->punts, sizeof(head), n, &places, NULL))) {
		hs_flow_add(&worker->signals_lost, n);
		return false;
	}
	fill(burst, i, &head, &places);
	rte_ring_enqueue_zc_elem_finish(worker->punts, n);
	return true;
}

void hs_flexint_punt_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint16_t flags = burst->packets[i].flags;

	if (flags & HS_PACKET_REQUEST)
		hand_up(worker, burst, i, HS_OPT_REQUEST, true);
	if (flags & HS_PACKET_REPORT)
		hand_up(worker, burst, i, HS_OPT_REPORT, true);
}

// ---- transit ----

// Returns the rule whose reports this packet carries back to its source.
static const struct hs_flow_worker *reverse_rule(
		const struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *ip = frame_of(burst, i) + packet->l3_off;
	struct hs_flow_key key = {
			.src_port = packet->dst_port,
			.dst_port = packet->src_port,
			.protocol = packet->l4_proto,
	};

	if (!(packet->flags & HS_PACKET_FLOW))
		return NULL;
	memcpy(key.src_ip, ip + 24, 16);
	memcpy(key.dst_ip, ip + 8, 16);
	uint32_t slot = hs_flow_lookup_one(&worker->flows, &key);
	return slot < worker->flows.n_rules ? &worker->flows.own[slot] : NULL;
}

static bool is_extracted(const struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_flow_worker *rule = reverse_rule(worker, burst, i);
	size_t cursor = 0, len;
	const uint8_t *data;

	if (!rule || !hs_flow_extracts(rule) ||
			!hs_flexint_option_next(frame_of(burst, i), &burst->packets[i],
					HS_OPT_REPORT, &cursor, &data, &len))
		return false;
	return hs_report_cbor_ns_id(data, len) == rule->ns_id;
}

static void take_reports(struct hs_burst *burst, unsigned i)
{
	struct rte_mbuf *m = burst->mbufs[i];
	size_t taken = hs_flexint_take_type(
			rte_pktmbuf_mtod(m, uint8_t *), &burst->packets[i], HS_OPT_REPORT);

	rte_pktmbuf_adj(m, (uint16_t)taken);
	hs_parse_anew(burst, i);
}

// Takes out the reports that this node extracts. Reports that control does not get stay in the
// packet, so that the next node may extract them.
static void pass_reports(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	bool takes = is_extracted(worker, burst, i) && hs_make_changeable(worker, burst, i) &&
		     burst->packets[i].flags & HS_PACKET_REPORT;

	if (hand_up(worker, burst, i, HS_OPT_REPORT, takes) && takes)
		take_reports(burst, i);
}

void hs_flexint_punt_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (burst->packets[i].flags & HS_PACKET_REQUEST)
		hand_up(worker, burst, i, HS_OPT_REQUEST, false);
	if (burst->packets[i].flags & HS_PACKET_REPORT)
		pass_reports(worker, burst, i);
}
