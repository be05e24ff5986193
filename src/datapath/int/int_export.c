// SPDX-License-Identifier: BSD-3-Clause
#include "int_export.h"

#include "egress.h"
#include "exporter.h"
#include "flow_sampling.h"
#include "int.h"
#include "int_ask.h"
#include "int_local.h"
#include "stage.h"

#include <string.h>

#include <rte_hash_crc.h>

#define ALL 0xFFFE // values that the node knows, as bits of an instruction bitmap of 2.1

// ---- what this node knows ----

static uint16_t has_of(const struct hs_int_values *values)
{
	static const struct {
		uint32_t value;
		uint16_t report;
	} pairs[] = {
			{HS_INT_HAS_NODE_ID, HS_INT_REPORT_NODE},
			{HS_INT_HAS_INGRESS_PORT, HS_INT_REPORT_PORTS},
			{HS_INT_HAS_HOP_LATENCY, HS_INT_REPORT_LATENCY},
			{HS_INT_HAS_QUEUE_PACKETS, HS_INT_REPORT_QUEUE},
			{HS_INT_HAS_INGRESS_NS, HS_INT_REPORT_INGRESS_TIME},
			{HS_INT_HAS_EGRESS_NS, HS_INT_REPORT_EGRESS_TIME},
			{HS_INT_HAS_INGRESS_PORT_L2, HS_INT_REPORT_PORTS_L2},
			{HS_INT_HAS_UTILISATION, HS_INT_REPORT_UTILISATION},
			{HS_INT_HAS_BUFFER_USED, HS_INT_REPORT_BUFFER},
	};
	uint16_t has = 0;

	for (unsigned k = 0; k < RTE_DIM(pairs); k++)
		has |= values->has & pairs[k].value ? pairs[k].report : 0;
	return has;
}

// The instruction bits of 2.1 are those of a report, but for the last one.
_Static_assert(HS_INT_REPORT_NODE == 0x8000 && HS_INT_REPORT_BUFFER == 0x0080, "as in 2.1");

// Reads the values of a packet that will have so many bytes. At a border, the packet is not parsed
// for the other side yet, so that the values of its egress queue are not known.
static void know(struct hs_worker *worker, struct hs_burst *burst, const struct hs_port *out,
		uint32_t bytes, struct hs_int_values *v)
{
	if (out && likely(!hs_is_border(worker, burst, out))) {
		hs_int_local(worker, burst, out, bytes, v);
		return;
	}
	*v = (struct hs_int_values){
			.has = HS_INT_HAS_NODE_ID | HS_INT_HAS_INGRESS_PORT | HS_INT_HAS_INGRESS_NS,
			.node_id = worker->node_id,
			.ingress_ns = (uint64_t)burst->now_ns,
	};
}

// ---- changes ----

static uint32_t flow_hash(const uint8_t *frame, const struct hs_packet *packet)
{
	uint64_t addresses[4]; // of IPv6; aligned, as the hash needs
	uint32_t hash = 0;

	if (packet->flags & (HS_PACKET_IPV4 | HS_PACKET_IPV6)) {
		bool ipv4 = packet->flags & HS_PACKET_IPV4;
		uint32_t len = ipv4 ? 8 : 32;
		memcpy(addresses, frame + packet->l3_off + (ipv4 ? 12 : 8), len);
		hash = rte_hash_crc(addresses, len, packet->l4_proto);
	}
	return rte_hash_crc_4byte((uint32_t)packet->src_port << 16 | packet->dst_port, hash);
}

// Adds the path and the latencies of the nodes on the way, where the packet has them.
static void add_hops(const struct hs_int_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, struct hs_export_flow *flow)
{
	struct hs_int_values hop;
	struct hs_int_stack stack;

	if (!packet->trace_off || hs_int_type_of(packet) != HS_INT_TYPE_MD ||
			hs_int_stack_open(settings, HS_INT_TYPE_MD, frame + packet->trace_off,
					hs_int_stack_bytes(settings->version, packet), &stack) < 0)
		return;
	flow->path = rte_hash_crc_4byte(stack.n_hops, flow->path);
	for (unsigned h = 0; h < stack.n_hops; h++) {
		if (hs_int_stack_hop(&stack, h, &hop) < 0)
			return;
		if (hop.has & HS_INT_HAS_NODE_ID)
			flow->path = rte_hash_crc_4byte(hop.node_id, flow->path);
		if (hop.has & HS_INT_HAS_INGRESS_PORT)
			flow->path = rte_hash_crc_4byte(hop.ingress_port, flow->path);
		if (hop.has & HS_INT_HAS_EGRESS_PORT)
			flow->path = rte_hash_crc_4byte(hop.egress_port, flow->path);
		if (hop.has & HS_INT_HAS_HOP_LATENCY && flow->n < HS_EXPORT_HOPS)
			flow->latency_ns[flow->n++] =
					(uint32_t)RTE_MIN(hop.hop_latency_ns, UINT32_MAX);
	}
}

// ---- reports ----

// Fills the report of packet i, which grows by so many bytes.
static void tell(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, uint16_t asked, int growth, struct hs_int_report *report)
{
	struct hs_int_values v;

	know(worker, burst, out, (uint32_t)((int)rte_pktmbuf_pkt_len(burst->mbufs[i]) + growth),
			&v);
	*report = (struct hs_int_report){
			.has = has_of(&v) & asked & ALL,
			.tracked = true,
			.node_id = v.node_id,
			.ingress_port = hs_export_port_name(burst->in),
			.egress_port = hs_export_port_name(out),
			.hop_latency_ns = (uint32_t)RTE_MIN(v.hop_latency_ns, UINT32_MAX),
			.queue_id = (uint8_t)v.queue_id,
			.queue_packets = v.queue_packets,
			.ingress_ns = v.ingress_ns,
			.egress_ns = v.egress_ns,
			.ingress_port_l2 = v.ingress_port_l2,
			.egress_port_l2 = v.egress_port_l2,
			.link_utilisation = v.link_utilisation,
			.buffer_id = (uint8_t)v.buffer_id,
			.buffer_used = v.buffer_used,
	};
}

static void export(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, uint16_t asked, int growth)
{
	const struct hs_int_settings *settings = burst->profile->settings;
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	struct hs_export_flow flow;
	struct hs_int_report report;

	tell(worker, burst, i, out, asked, growth, &report);
	if (likely(!hs_export_wants_changes(worker->exporter))) {
		hs_export_flow(worker, &report, burst->mbufs[i], NULL);
		return;
	}
	flow.hash = flow_hash(frame, &burst->packets[i]);
	flow.path = rte_hash_crc_4byte(
			(uint32_t)report.ingress_port << 16 | report.egress_port, UINT32_MAX);
	flow.latency_ns[0] = report.hop_latency_ns;
	flow.n = 1;
	add_hops(settings, frame, &burst->packets[i], &flow);
	hs_export_flow(worker, &report, burst->mbufs[i], &flow);
}

static inline bool is_wanted(const struct hs_worker *worker)
{
	return unlikely(worker->exporter) && hs_export_wants_flows(worker->exporter);
}

void hs_int_export_source(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, uint16_t asked, size_t growth)
{
	if (is_wanted(worker))
		export(worker, burst, i, out, asked, (int)growth);
}

void hs_int_export_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];

	if (is_wanted(worker) && hs_int_type_of(packet) == HS_INT_TYPE_MX)
		export(worker, burst, i, out, (uint16_t)(packet->trace_type >> 16), 0);
}

bool hs_int_export_may_run(const struct hs_worker *worker, const struct hs_port *out)
{
	return !hs_egress_of(worker, out) &&
	       !(is_wanted(worker) && hs_export_wants_changes(worker->exporter));
}

bool hs_int_export_wants_run(const struct hs_worker *worker)
{
	return is_wanted(worker);
}

void hs_int_export_run(struct hs_worker *worker, struct hs_burst *burst, const struct hs_port *out,
		const struct hs_int_export_run *run)
{
	struct hs_int_report report;

	if (!run->n)
		return;
	tell(worker, burst, run->first, out, run->asked, 0, &report);
	hs_export_run(worker, &report, run->packets, run->n);
}

void hs_int_export_end(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	bool mx = hs_int_type_of(packet) == HS_INT_TYPE_MX;

	if (is_wanted(worker))
		export(worker, burst, i, out, mx ? (uint16_t)(packet->trace_type >> 16) : ALL,
				-(int)packet->telemetry_bytes);
}

// ---- INT-XD ----

void hs_int_export_watched(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *flow = &worker->flows.own[slot];

	if (!is_wanted(worker) || !(flow->trace_type & HS_RULE_TRACE_INT) ||
			hs_flow_is_off(flow, HS_RULE_TRACE_INT) ||
			!hs_flow_claim(&worker->flows, slot, hs_burst_steady_ns(burst)))
		return;
	export(worker, burst, i, out, hs_int_ask(HS_INT_2_1, flow->trace_type, NULL), 0);
}

void hs_int_watch(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	const struct hs_int_settings *settings = burst->profile->settings;

	if (!is_wanted(worker) || !settings || settings->mode != HS_INT_XD)
		return;
	for (unsigned i = first; i < end; i++) {
		uint32_t slot = burst->slots[i];
		if (slot >= worker->flows.n_rules)
			continue;
		struct hs_flow_worker *flow = &worker->flows.own[slot];
		if (hs_flow_due(flow, &worker->rng, hs_burst_steady_ns(burst)))
			hs_int_export_watched(worker, burst, i, out);
	}
}
