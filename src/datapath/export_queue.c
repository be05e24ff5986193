// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"

#include "egress.h"
#include "export_put.h"
#include "stage.h"

// Returns whether a packet that found this depth is to be reported to a receiver.
static bool is_congested(struct hs_export_target *target, uint16_t port, uint32_t depth)
{
	uint32_t *seen = &target->congested[port];

	if (!target->config.queue_packets || depth < target->config.queue_packets) {
		*seen = 0;
		return false;
	}
	if (*seen >= target->config.queue_quota)
		return false;
	++*seen;
	return true;
}

static void report_queue(const struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, const struct hs_egress_values *values,
		struct hs_int_report *report)
{
	*report = (struct hs_int_report){
			.has = HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS | HS_INT_REPORT_LATENCY |
			       HS_INT_REPORT_QUEUE | HS_INT_REPORT_INGRESS_TIME |
			       HS_INT_REPORT_EGRESS_TIME | HS_INT_REPORT_UTILISATION,
			.node_id = worker->node_id,
			.ingress_port = hs_export_port_name(burst->in),
			.egress_port = hs_export_port_name(out),
			.hop_latency_ns = (uint32_t)RTE_MIN(
					values->departs_ns - burst->now_ns, UINT32_MAX),
			.queue_packets = values->depth,
			.ingress_ns = (uint64_t)burst->now_ns,
			.egress_ns = (uint64_t)values->departs_ns,
			.link_utilisation = values->utilisation,
	};
}

void hs_export_queue(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	struct hs_exporter *exporter = worker->exporter;
	const struct rte_mbuf *packet = burst->mbufs[i];
	struct hs_egress_values values;
	struct hs_int_report report;
	bool made = false;

	if (!exporter->queues ||
			!hs_egress_read(worker, burst, out, rte_pktmbuf_pkt_len(packet), &values))
		return;
	for (unsigned t = 0; t < exporter->n; t++) {
		struct hs_export_target *target = &exporter->targets[t];
		if (!is_congested(target, out->index, values.depth))
			continue;
		if (!made) {
			report_queue(worker, burst, out, &values, &report);
			report.tracked = hs_export_is_tracked(worker, packet, burst->slots[i]);
			made = true;
		}
		hs_export_put(worker, target, HS_EXPORT_QUEUE, &report, packet, NULL);
	}
}
