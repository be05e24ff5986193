// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"

#include "export_outlet.h"
#include "export_put.h"

#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#define HOP_LIMIT 64

// ---- setting up ----

static int set_up(struct hs_export_target *target, const struct hs_export_config *config,
		unsigned worker, unsigned n_workers)
{
	target->config = *config;
	target->hw_id = (uint8_t)(config->hw_id + worker);
	if (config->quota_per_s) // at least one for each worker
		target->quota = RTE_MAX(
				1u, config->quota_per_s / n_workers +
						    (worker < config->quota_per_s % n_workers));
	if (config->port == HS_EXPORT_NO_PORT) {
		target->outlet = hs_export_outlet_create();
		if (!target->outlet)
			return -1;
	}
	if (config->on != HS_EXPORT_ON_CHANGE)
		return 0;
	target->flows = rte_zmalloc("export flows", HS_EXPORT_FLOWS * sizeof(*target->flows),
			RTE_CACHE_LINE_SIZE);
	return target->flows ? 0 : -1;
}

struct hs_exporter *hs_exporter_create(const struct hs_export_config *configs, unsigned n,
		unsigned worker, unsigned n_workers)
{
	struct hs_exporter *exporter =
			rte_zmalloc("exporter", sizeof(*exporter), RTE_CACHE_LINE_SIZE);

	if (!exporter)
		return NULL;
	exporter->n = n;
	exporter->src_port = (uint16_t)(HS_EXPORT_SRC_PORT + worker);
	for (unsigned t = 0; t < n; t++) {
		if (set_up(&exporter->targets[t], &configs[t], worker, n_workers) < 0) {
			hs_exporter_destroy(exporter);
			return NULL;
		}
		exporter->flows |= configs[t].flows;
		exporter->drops |= configs[t].drops;
		exporter->queues |= configs[t].queue_packets != 0;
		exporter->changes |= configs[t].on == HS_EXPORT_ON_CHANGE;
	}
	return exporter;
}

void hs_exporter_destroy(struct hs_exporter *exporter)
{
	for (unsigned t = 0; exporter && t < exporter->n; t++) {
		hs_export_outlet_destroy(exporter->targets[t].outlet);
		rte_free(exporter->targets[t].flows);
	}
	rte_free(exporter);
}

uint64_t hs_exporter_bytes(const struct hs_export_config *configs, unsigned n)
{
	uint64_t bytes = n ? sizeof(struct hs_exporter) + 4096 : 0;

	for (unsigned t = 0; t < n; t++) {
		if (configs[t].on == HS_EXPORT_ON_CHANGE)
			bytes += HS_EXPORT_FLOWS * sizeof(struct hs_export_flow);
		if (configs[t].port == HS_EXPORT_NO_PORT)
			bytes += HS_EXPORT_RING * sizeof(struct rte_mbuf *) + 4096;
	}
	return bytes;
}

static void copy_address(const uint8_t address[16], uint8_t to[16])
{
	if (hs_ip_address_is_ipv4(address))
		memcpy(to, address + 12, 4);
	else
		memcpy(to, address, 16);
}

void hs_exporter_add_port(struct hs_exporter *exporter, struct hs_port *port)
{
	for (unsigned t = 0; t < exporter->n; t++) {
		struct hs_export_target *target = &exporter->targets[t];
		const struct hs_export_config *config = &target->config;
		struct hs_udp_front_settings front = {
				.ipv6 = !hs_ip_address_is_ipv4(config->to.address),
				.dst_port = config->to.port,
				.hop_limit = HOP_LIMIT,
		};

		if (config->port != port->index)
			continue;
		memcpy(front.src_mac, port->mac, sizeof(front.src_mac));
		memcpy(front.dst_mac, config->mac, sizeof(front.dst_mac));
		copy_address(config->from, front.src_ip);
		copy_address(config->to.address, front.dst_ip);
		hs_udp_front_init(&target->front, &front);
		target->port = port;
	}
}

void hs_export_flush(struct hs_worker *worker)
{
	struct hs_exporter *exporter = worker->exporter;

	for (unsigned t = 0; t < exporter->n; t++) {
		if (exporter->targets[t].n)
			hs_export_send(worker, &exporter->targets[t]);
	}
}

// ---- flows ----

bool hs_export_wants_flows(const struct hs_exporter *exporter)
{
	return exporter->flows;
}

bool hs_export_wants_queues(const struct hs_exporter *exporter)
{
	return exporter->queues;
}

bool hs_export_wants_changes(const struct hs_exporter *exporter)
{
	return exporter->changes;
}

static bool is_changed(const struct hs_export_flow *before, const struct hs_export_flow *now,
		uint32_t latency_change_ns)
{
	if (before->hash != now->hash || before->path != now->path || before->n != now->n)
		return true;
	for (uint32_t k = 0; k < now->n; k++) {
		if (llabs((int64_t)before->latency_ns[k] - now->latency_ns[k]) > latency_change_ns)
			return true;
	}
	return false;
}

// Reports a flow that changed. Two flows that share a place replace each other: a change is then
// reported too often, but is never missed.
static void put_change(struct hs_worker *worker, struct hs_export_target *target,
		const struct hs_int_report *report, const struct rte_mbuf *packet,
		const struct hs_export_flow *flow)
{
	struct hs_export_flow *before = &target->flows[flow->hash & (HS_EXPORT_FLOWS - 1)];

	if (!is_changed(before, flow, target->config.latency_change_ns)) {
		hs_flow_add(&worker->exports_unchanged, 1);
		return;
	}
	if (hs_export_put(worker, target, HS_EXPORT_FLOW, report, packet, before))
		*before = *flow;
}

void hs_export_flow(struct hs_worker *worker, const struct hs_int_report *report,
		const struct rte_mbuf *packet, const struct hs_export_flow *flow)
{
	struct hs_exporter *exporter = worker->exporter;

	for (unsigned t = 0; t < exporter->n; t++) {
		struct hs_export_target *target = &exporter->targets[t];
		if (!target->config.flows)
			continue;
		if (target->flows && flow)
			put_change(worker, target, report, packet, flow);
		else
			hs_export_put(worker, target, HS_EXPORT_FLOW, report, packet, NULL);
	}
}
