// SPDX-License-Identifier: BSD-3-Clause
#include "collector_page.h"

#include "collector_metric.h"
#include "collector_shape.h"

#include "int_report.h"
#include "prometheus.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX	     "hopsight_collector_"
#define AT_ONCE	     16 // entries that one job copies
#define NUMBER_BYTES 24

static const struct hs_prometheus_family
		reports = {PREFIX "exporter_reports_total", "reports of an exporter", NULL,
				HS_PROMETHEUS_COUNTER},
		missing = {PREFIX "exporter_missing", "datagrams of an exporter that are missing",
				NULL, HS_PROMETHEUS_GAUGE},
		restarts = {PREFIX "exporter_restarts_total",
				"times an exporter's numbers began anew", NULL,
				HS_PROMETHEUS_COUNTER},
		last_report = {PREFIX "exporter_last_report_seconds",
				"when an exporter's newest report came, since 1970", "seconds",
				HS_PROMETHEUS_GAUGE},
		hop_latency = {PREFIX "hop_latency_seconds", "latency that a node told last",
				"seconds", HS_PROMETHEUS_GAUGE},
		hop_ticks = {PREFIX "hop_latency_ticks", "latency that a node told last, in ticks",
				"ticks", HS_PROMETHEUS_GAUGE},
		link_ratio = {PREFIX "link_utilisation_ratio", "used share of a link", "ratio",
				HS_PROMETHEUS_GAUGE},
		link_rate = {PREFIX "link_utilisation_bytes_per_second", "used rate of a link",
				NULL, HS_PROMETHEUS_GAUGE},
		congestion = {PREFIX "queue_congestion", "congestion as the node tells it", NULL,
				HS_PROMETHEUS_GAUGE},
		congested = {PREFIX "queue_congested", "1 where the node said congestion last",
				NULL, HS_PROMETHEUS_GAUGE},
		drops = {PREFIX "node_drop_reports_total", "reports of packets that a node dropped",
				NULL, HS_PROMETHEUS_COUNTER},
		flow_latency = {PREFIX "flow_latency_seconds", "latency of a flow's path",
				"seconds", HS_PROMETHEUS_GAUGE};
static const struct hs_prometheus_family occupancies[] = {
		[HS_COLLECTOR_PACKETS] = {PREFIX "queue_occupancy_packets", "occupancy of a queue",
				"packets", HS_PROMETHEUS_GAUGE},
		[HS_COLLECTOR_BYTES] = {PREFIX "queue_occupancy_bytes", "occupancy of a queue",
				"bytes", HS_PROMETHEUS_GAUGE},
		[HS_COLLECTOR_CELLS] = {PREFIX "queue_occupancy_cells", "occupancy of a queue",
				"cells", HS_PROMETHEUS_GAUGE},
		[HS_COLLECTOR_OCCUPANCY_PERCENT] = {PREFIX "queue_occupancy_ratio",
				"occupancy of a queue", "ratio", HS_PROMETHEUS_GAUGE},
};
static const int64_t latency_ns[] = {[HS_COLLECTOR_NS] = 1,
		[HS_COLLECTOR_US] = 1000,
		[HS_COLLECTOR_MS] = 1000000,
		[HS_COLLECTOR_TICKS] = 0};

static const char *number(uint32_t value, char text[NUMBER_BYTES])
{
	snprintf(text, NUMBER_BYTES, "%" PRIu32, value);
	return text;
}

// ---- counters ----

static void add_counter(void *page, const struct hs_collector_metric *metric,
		const struct hs_collector_labels *of, uint64_t value)
{
	const struct hs_prometheus_family family = {metric->name, metric->help, NULL,
			metric->gauge ? HS_PROMETHEUS_GAUGE : HS_PROMETHEUS_COUNTER};

	hs_prometheus_uint(page, &family,
			HS_PROMETHEUS_LABELS({"reason", of->reason}, {"point", of->kind},
					{"cause", of->cause}, {"frame", of->frame},
					{"listener", of->listener}),
			value);
}

// ---- tables ----

static void add_exporter(struct hs_collector *collector, struct hs_prometheus *page,
		const struct hs_collect_exporter *exporter)
{
	char address[HS_COLLECTOR_ADDRESS_TEXT], node[NUMBER_BYTES], hw_id[NUMBER_BYTES],
			listener[HS_SCHEMA_TEXT_BYTES];
	const struct hs_prometheus_labels *labels = HS_PROMETHEUS_LABELS(
			{"exporter", inet_ntop(exporter->is_ipv4 ? AF_INET : AF_INET6,
						     exporter->address, address, sizeof(address))},
			{"listener", hs_collector_listener_name(collector->config,
						     exporter->listener, listener)},
			{"node_id", exporter->has_node ? number(exporter->node_id, node) : NULL},
			{"hw_id", number(exporter->hw_id, hw_id)},
			// The sequence numbers belong to the address alone, whatever node the
			// reports name.
			{"format", exporter->version == HS_INT_REPORT_0_5 ? "0.5" : NULL});

	hs_prometheus_uint(page, &reports, labels, exporter->reports);
	hs_prometheus_uint(page, &missing, labels, exporter->missing);
	hs_prometheus_uint(page, &restarts, labels, exporter->restarts);
	hs_prometheus_ns(page, &last_report, labels, exporter->last_ns);
}

// Returns whether a value is so old that it may be wrong: nobody has told it for a minute, and for
// usual_ns, if nodes tell it only so often.
static bool is_old(const struct hs_collector *collector, int64_t told_ns, int64_t usual_ns)
{
	int64_t age_ns = llabs(collector->now_ns - told_ns); // the clock may be set

	return age_ns >= HS_COLLECTOR_OLD_NS + usual_ns;
}

static void add_queue(struct hs_collector *collector, struct hs_prometheus *page,
		const struct hs_collect_queue *queue)
{
	unsigned unit = hs_collector_units_of(collector->config, queue->node_id)->occupancy;
	char node[NUMBER_BYTES], id[NUMBER_BYTES];
	const struct hs_prometheus_labels *labels = HS_PROMETHEUS_LABELS(
			{"node_id", number(queue->node_id, node)},
			{"queue_id", queue->queue_id == UINT32_MAX ? NULL
								   : number(queue->queue_id, id)});

	if (is_old(collector, queue->last_ns, 0))
		return;
	if (queue->has_occupancy && unit == HS_COLLECTOR_OCCUPANCY_PERCENT)
		hs_prometheus_real(page, &occupancies[unit], labels, queue->occupancy / 100.0);
	else if (queue->has_occupancy)
		hs_prometheus_uint(page, &occupancies[unit], labels, queue->occupancy);
	if (queue->has_congestion)
		hs_prometheus_uint(page, &congestion, labels, queue->congestion);
	if (queue->was_congested)
		hs_prometheus_uint(page, &congested, labels, queue->congested);
}

static void add_link(struct hs_collector *collector, struct hs_prometheus *page,
		const struct hs_collect_link *link)
{
	unsigned unit = hs_collector_units_of(collector->config, link->node_id)->utilisation;
	char node[NUMBER_BYTES], port[NUMBER_BYTES];
	const struct hs_prometheus_labels *labels =
			HS_PROMETHEUS_LABELS({"node_id", number(link->node_id, node)},
					{"port", number(link->port, port)});

	if (is_old(collector, link->last_ns, 0))
		return;
	if (unit == HS_COLLECTOR_BPS)
		hs_prometheus_real(page, &link_rate, labels, link->utilisation / 8.0);
	else
		hs_prometheus_real(page, &link_ratio, labels,
				link->utilisation / (unit == HS_COLLECTOR_PERCENT ? 1e2 : 1e4));
}

static void add_drop(struct hs_collector *collector, struct hs_prometheus *page,
		const struct hs_collect_drop *drop)
{
	char node[NUMBER_BYTES], reason[NUMBER_BYTES];

	(void)collector;
	hs_prometheus_uint(page, &drops,
			HS_PROMETHEUS_LABELS(
					{"node_id", drop->node_id == UINT32_MAX
									? NULL
									: number(drop->node_id,
											  node)},
					{"reason_id", number(drop->reason, reason)},
					{"reason", hs_int_drop_reason_word(drop->reason)}),
			drop->reports);
}

// Adds the series of a flow whose hops have one unit, which is a time.
static void add_flow(struct hs_collector *collector, struct hs_prometheus *page,
		const struct hs_collect_flow *flow)
{
	const struct hs_collect_flow_key *key = &flow->key;
	int family = key->is_ipv4 ? AF_INET : AF_INET6;
	char src[HS_COLLECTOR_ADDRESS_TEXT], dst[HS_COLLECTOR_ADDRESS_TEXT], texts[5][NUMBER_BYTES];
	int64_t unit = 0;

	for (unsigned i = 0; i < flow->n_hops; i++) {
		int64_t own = latency_ns[hs_collector_units_of(
				collector->config, flow->hops[i].node_id)
							 ->latency];
		if (!own || (i > 0 && own != unit))
			return;
		unit = own;
	}
	if (!flow->has_latency || is_old(collector, flow->last_ns, 0))
		return;
	hs_prometheus_ns(page, &flow_latency,
			HS_PROMETHEUS_LABELS(
					{"src_ip", inet_ntop(family, key->src, src, sizeof(src))},
					{"dst_ip", inet_ntop(family, key->dst, dst, sizeof(dst))},
					{"src_port", number(key->src_port, texts[0])},
					{"dst_port", number(key->dst_port, texts[1])},
					{"protocol", number(key->protocol, texts[2])},
					{"vlan", key->vlan ? number(key->vlan, texts[3]) : NULL},
					{"reporter", key->reporter == UINT32_MAX
									? NULL
									: number(key->reporter,
											  texts[4])}),
			(int64_t)flow->latency * unit);
}

// Copies entries between two bursts, and adds their series. Entries without room are not read, but
// counted: each would have `series` of them.
#define TABLE(name, type, add, series)                                                             \
	struct name##_job {                                                                        \
		uint64_t cursor;                                                                   \
		unsigned n;                                                                        \
		struct type entries[AT_ONCE];                                                      \
	};                                                                                         \
	static void copy_##name(void *context, struct hs_collect *collect)                         \
	{                                                                                          \
		struct name##_job *job = context;                                                  \
		job->n = hs_collect_##name(collect, &job->cursor, job->entries, AT_ONCE);          \
	}                                                                                          \
	static void add_##name(struct hs_collector *collector, struct hs_prometheus *page)         \
	{                                                                                          \
		struct name##_job job = {.n = AT_ONCE};                                            \
		while (job.n == AT_ONCE && hs_prometheus_room(page) > 0) {                         \
			hs_collector_worker_run(&collector->worker, copy_##name, &job);            \
			for (unsigned i = 0; i < job.n; i++)                                       \
				add(collector, page, &job.entries[i]);                             \
		}                                                                                  \
		uint64_t known = hs_collect_counters(collector->worker.collect)->name;             \
		if (known > job.cursor && job.n == AT_ONCE)                                        \
			hs_prometheus_leave_out(page, (series) * (known - job.cursor));            \
	}
TABLE(exporters, hs_collect_exporter, add_exporter, 4)
TABLE(queues, hs_collect_queue, add_queue, 2)
TABLE(links, hs_collect_link, add_link, 1)
TABLE(drops, hs_collect_drop, add_drop, 1)
TABLE(flows, hs_collect_flow, add_flow, 1)

static void add_hops(struct hs_collector *collector, struct hs_prometheus *page)
{
	const int64_t push_ns = collector->config->collect.push_ns;

	hs_prometheus_leave_out(page, collector->hops.left_out);
	collector->hops.left_out = 0;
	for (unsigned i = 0; i < collector->hops.n; i++) {
		const struct hs_collector_hop *hop = &collector->hops.of[i];
		int64_t unit = latency_ns[hs_collector_units_of(collector->config, hop->node_id)
							  ->latency];
		char node[NUMBER_BYTES];
		const struct hs_prometheus_labels *labels =
				HS_PROMETHEUS_LABELS({"node_id", number(hop->node_id, node)});
		// A value that stays as it is comes with pushes only.
		if (push_ns && is_old(collector, hop->time_ns, push_ns))
			continue;
		if (unit)
			hs_prometheus_ns(page, &hop_latency, labels, (int64_t)hop->latency * unit);
		else
			hs_prometheus_uint(page, &hop_ticks, labels, hop->latency);
	}
}

void hs_collector_page(struct hs_collector *collector, struct hs_prometheus *page)
{
	hs_collector_metrics_visit(collector, add_counter, page);
	add_exporters(collector, page);
	add_hops(collector, page);
	add_links(collector, page);
	add_queues(collector, page);
	add_drops(collector, page);
	if (collector->config->flow_series)
		add_flows(collector, page);
}
