// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"

#include "export_put.h"
#include "rule.h"
#include "stage.h"

uint16_t hs_export_port_name(const struct hs_port *port)
{
	uint32_t id = port ? hs_port_id(port) : HS_EXPORT_UNKNOWN_PORT;

	return (uint16_t)RTE_MIN(id, HS_EXPORT_UNKNOWN_PORT);
}

bool hs_export_is_tracked(
		const struct hs_worker *worker, const struct rte_mbuf *packet, uint32_t slot)
{
	const struct hs_profile *profile = worker->burst.profile;
	struct hs_packet parsed;

	if (slot < worker->flows.n_rules && worker->flows.own[slot].trace_type & HS_RULE_TRACE_INT)
		return true;
	if (!profile->family->watch)
		return false;
	profile->family->parse(profile, rte_pktmbuf_mtod(packet, const uint8_t *),
			rte_pktmbuf_data_len(packet), rte_pktmbuf_pkt_len(packet), &parsed);
	return parsed.flags & HS_PACKET_TELEMETRY && worker->burst.in->side == HS_SIDE_NETWORK;
}

// The numbers that the specification has for drops. A drop that is not named here has no number of
// its own there.
static const uint8_t reasons[HS_DROP_COUNT] = {
		[HS_DROP_NOT_IPV6] = HS_INT_DROP_IP_VERSION,
		[HS_DROP_VLAN_TAGGED] = HS_INT_DROP_PORT_VLAN_MISS,
		[HS_DROP_OTHER_MAC] = HS_INT_DROP_OUTER_ETHERNET_MISS,
		[HS_DROP_NOT_ROUTABLE] = HS_INT_DROP_OUTER_IP_MISS,
		[HS_DROP_NO_ROUTE] = HS_INT_DROP_OUTER_IP_MISS,
		[HS_DROP_HOP_LIMIT] = HS_INT_DROP_TTL_ZERO,
		[HS_DROP_SAME_PORT] = HS_INT_DROP_SAME_INTERFACE,
		[HS_DROP_PORT_DOWN] = HS_INT_DROP_INTERFACE_INDEX,
		[HS_DROP_QUEUE_FULL] = HS_INT_DROP_TRAFFIC_MANAGER,
		[HS_DROP_TX_FULL] = HS_INT_DROP_TRAFFIC_MANAGER,
		[HS_DROP_HOST_TELEMETRY] = HS_INT_DROP_ACL_DENY,
		[HS_DROP_HIDDEN_HEADERS] = HS_INT_DROP_ACL_DENY,
};

void hs_export_drop(struct hs_worker *worker, enum hs_drop reason, const struct rte_mbuf *packet,
		uint32_t slot, const struct hs_port *out)
{
	struct hs_exporter *exporter = worker->exporter;
	const struct hs_burst *burst = &worker->burst;

	// A probe or a replica ends at the sink, as it should.
	if (!exporter->drops || reason == HS_DROP_DISCARDED ||
			!hs_export_is_tracked(worker, packet, slot))
		return;
	struct hs_int_report report = {
			.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS |
			       HS_INT_REPORT_INGRESS_TIME | HS_INT_REPORT_DROP,
			.dropped = true,
			.tracked = true,
			.node_id = worker->node_id,
			.ingress_port = hs_export_port_name(burst->in),
			.egress_port = hs_export_port_name(out),
			.ingress_ns = (uint64_t)burst->now_ns,
			.drop_queue_id = 0,
			.drop_reason = reasons[reason],
	};
	for (unsigned t = 0; t < exporter->n; t++) {
		if (exporter->targets[t].config.drops)
			hs_export_put(worker, &exporter->targets[t], HS_EXPORT_DROP, &report,
					packet, NULL);
	}
}
