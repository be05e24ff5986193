// SPDX-License-Identifier: BSD-3-Clause
#include "exporter_parts.h"

#include "int_report_writer.h"
#include "ip_address.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#define HOP_LIMIT 64
#define SECOND_NS INT64_C(1000000000)

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

// ---- sending ----

// Frees the datagrams that found no place. Their sequence numbers go to the next datagrams.
static void lose(struct hs_export_target *target, unsigned sent)
{
	rte_pktmbuf_free_bulk(target->mbufs + sent, target->n - sent);
	for (unsigned i = sent; i < target->n; i++) { // the flow's next packet is reported again
		if (target->of[i])
			target->of[i]->n = UINT32_MAX; // no packet has so many
	}
}

static unsigned send_by_port(struct hs_worker *worker, struct hs_export_target *target)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, target->port->index);
	enum hs_drop reason;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < target->n; i++)
		bytes += rte_pktmbuf_pkt_len(target->mbufs[i]);
	unsigned sent = hs_send(worker, target->port, target->mbufs, target->n, bytes, &reason);
	stats->copies += target->n; // reports count like copies of flooded packets
	stats->forwarded += target->n;
	stats->offered += target->n;
	hs_flow_add(&worker->exports_sent, sent);
	if (unlikely(sent < target->n)) {
		stats->drops[reason] += target->n - sent;
		hs_flow_add(reason == HS_DROP_PORT_DOWN ? &worker->exports_lost_port_down
							: &worker->exports_lost_tx_full,
				target->n - sent);
	}
	return sent;
}

static void send(struct hs_worker *worker, struct hs_export_target *target)
{
	unsigned sent = likely(target->port) ? send_by_port(worker, target)
					     : hs_export_hand_over(worker, target);

	if (unlikely(sent < target->n))
		lose(target, sent);
	target->sequence += sent;
	target->n = 0;
}

void hs_export_flush(struct hs_worker *worker)
{
	struct hs_exporter *exporter = worker->exporter;

	for (unsigned t = 0; t < exporter->n; t++) {
		if (exporter->targets[t].n)
			send(worker, &exporter->targets[t]);
	}
}

// ---- making ----

// Returns the bytes of the datagram in a frame that has room for it; 0 where the format cannot
// write the report.
static size_t write_datagram(const struct hs_exporter *exporter,
		const struct hs_export_target *target, const struct hs_int_report *report,
		const struct rte_mbuf *packet, uint8_t *frame)
{
	uint32_t bytes = RTE_MIN(target->config.bytes, rte_pktmbuf_pkt_len(packet));
	uint8_t copy[HS_EXPORT_MAX_BYTES];
	const uint8_t *front = rte_pktmbuf_read(packet, 0, bytes, copy);
	size_t most = hs_int_report_bytes(target->config.format, report) + RTE_ALIGN(bytes, 4u);
	struct hs_int_report_writer writer;

	hs_int_report_begin(&writer, target->config.format, frame + target->front.len, most);
	if (hs_int_report_add(&writer, report, front, bytes) < 0)
		return 0;
	hs_udp_front_write(&target->front, frame, writer.len, exporter->src_port);
	return target->front.len + writer.len;
}

static struct rte_mbuf *make(struct hs_worker *worker, const struct hs_export_target *target,
		const struct hs_int_report *report, const struct rte_mbuf *packet)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(worker->pool);
	size_t room = target->front.len + hs_int_report_bytes(target->config.format, report) +
		      target->config.bytes + 3u;

	if (unlikely(!m))
		return NULL;
	size_t bytes = room <= rte_pktmbuf_tailroom(m)
				       ? write_datagram(worker->exporter, target, report, packet,
							 rte_pktmbuf_mtod(m, uint8_t *))
				       : 0;
	if (unlikely(!bytes)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	m->data_len = (uint16_t)bytes;
	m->pkt_len = (uint32_t)bytes;
	return m;
}

// Returns the values that a format's fixed header holds.
static uint16_t needed(uint8_t format)
{
	return format == HS_INT_REPORT_2_0 ? HS_INT_REPORT_NODE
					   : HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME;
}

static bool take_quota(const struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind)
{
	struct hs_export_quota *quota = &target->quotas[kind];
	int64_t now_ns = hs_burst_steady_ns(&worker->burst);

	if (likely(!target->quota))
		return true;
	if (now_ns - quota->from_ns >= SECOND_NS || now_ns < quota->from_ns) {
		quota->from_ns = now_ns;
		quota->used = 0;
	}
	return quota->used++ < target->quota;
}

bool hs_export_take_place(
		struct hs_worker *worker, struct hs_export_target *target, enum hs_export_kind kind)
{
	if (unlikely(!target->port && !target->outlet))
		return false;
	if (unlikely(!take_quota(worker, target, kind))) {
		hs_flow_add(&worker->exports_over_quota, 1);
		return false;
	}
	if (unlikely(target->n == HS_BURST))
		send(worker, target);
	return true;
}

void hs_export_complete(const struct hs_export_target *target, struct hs_int_report *report)
{
	report->inner = HS_INT_INNER_ETHERNET;
	report->has |= needed(target->config.format);
	report->hw_id = target->hw_id;
	report->sequence = target->sequence + target->n;
}

// Counts a report that got no buffer. A report is like a copy of a flooded packet: it came in at
// the port that sends it.
static void count_no_buffer(struct hs_worker *worker, const struct hs_export_target *target)
{
	hs_flow_add(&worker->exports_lost_no_mbuf, 1);
	if (!target->port)
		return;
	struct hs_port_counters *stats = hs_port_stats_of(worker, target->port->index);
	stats->copies++;
	stats->drops[HS_DROP_NO_MBUF]++;
}

bool hs_export_put_made(struct hs_worker *worker, struct hs_export_target *target,
		struct rte_mbuf *made, struct hs_export_flow *of)
{
	if (unlikely(!made)) {
		count_no_buffer(worker, target);
		return false;
	}
	target->of[target->n] = of;
	target->mbufs[target->n++] = made;
	return true;
}

bool hs_export_put(struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, const struct hs_int_report *told,
		const struct rte_mbuf *packet, struct hs_export_flow *of)
{
	struct hs_int_report own = *told;

	if (!hs_export_take_place(worker, target, kind))
		return false;
	hs_export_complete(target, &own);
	return hs_export_put_made(worker, target, make(worker, target, &own, packet), of);
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
