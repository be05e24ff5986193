// SPDX-License-Identifier: BSD-3-Clause
// Copies the entries of the tables.
#include "collect_parts.h"

void hs_collect_copy_flow(const struct hs_collect *c, uint32_t number, struct hs_collect_flow *out)
{
	const struct hs_collect_flow_entry *flow = &c->flow[number];

	out->key = flow->key;
	out->reports = flow->reports;
	out->first_ns = flow->first_ns;
	out->last_ns = flow->last_ns;
	out->event_ns = flow->event_ns;
	out->has_latency = flow->has_latency;
	out->latency = flow->latency;
	out->entries_missing = hs_collect_lacks_hops(flow);
	out->n_hops = flow->n_hops;
	for (unsigned i = 0; i < out->n_hops; i++) {
		const struct hs_collect_hop_entry *hop = hs_collect_hop_at(c, number, i);
		out->hops[i] = (struct hs_collect_hop){.node_id = hs_collect_hop_node(hop),
				.latency = hop->latency,
				.has_latency = flow->with_latency >> i & 1};
	}
}

static void copy_queue(const struct hs_collect *c, uint32_t number, struct hs_collect_queue *out)
{
	const struct hs_collect_queue_entry *queue = &c->queue[number];
	bool knows_q = hs_collect_knows_q(queue);

	*out = (struct hs_collect_queue){.node_id = hs_collect_key_node(queue->key),
			.queue_id = hs_collect_key_id(queue->key),
			.has_occupancy = queue->has_occupancy,
			.has_congestion = queue->has_congestion,
			.was_congested = knows_q,
			.congested = knows_q && queue->congested,
			.occupancy = queue->occupancy,
			.congestion = queue->congestion,
			.last_ns = queue->last_ns,
			.device_ns = hs_collect_device_ns(queue->after_device_ns)};
}

static void copy_link(const struct hs_collect *c, uint32_t number, struct hs_collect_link *out)
{
	const struct hs_collect_link_entry *link = &c->link[number];

	*out = (struct hs_collect_link){.node_id = hs_collect_key_node(link->key),
			.port = hs_collect_key_id(link->key),
			.utilisation = link->utilisation,
			.last_ns = link->last_ns,
			.device_ns = hs_collect_device_ns(link->after_device_ns)};
}

static void copy_drop(const struct hs_collect *c, uint32_t number, struct hs_collect_drop *out)
{
	const struct hs_collect_drop_entry *drop = &c->drop[number];

	*out = (struct hs_collect_drop){.node_id = drop->node_id,
			.reason = drop->reason,
			.reports = drop->reports,
			.first_ns = drop->first_ns,
			.last_ns = drop->last_ns};
}

static void copy_exporter(
		const struct hs_collect *c, uint32_t number, struct hs_collect_exporter *out)
{
	const struct hs_collect_exporter_entry *e = &c->exporter[number];

	*out = (struct hs_collect_exporter){.is_ipv4 = e->key.is_ipv4,
			.has_node = e->has_node,
			.node_id = e->node_id,
			.hw_id = e->key.hw_id,
			.listener = e->key.listener,
			.version = e->version,
			.sequence = e->sequence,
			.datagrams = e->datagrams,
			.reports = e->reports,
			.missing = e->missing,
			.late = e->late,
			.duplicates = e->duplicates,
			.restarts = e->restarts,
			.first_ns = e->first_ns,
			.last_ns = e->last_ns};
	memcpy(out->address, e->key.address, sizeof(out->address));
}

#define READER(name, table, kind, copy)                                                            \
	unsigned name(const struct hs_collect *collect, uint64_t *cursor, struct kind *out,        \
			unsigned n)                                                                \
	{                                                                                          \
		unsigned i = 0;                                                                    \
		for (; i < n && *cursor < collect->table.n; i++)                                   \
			copy(collect, (uint32_t)(*cursor)++, &out[i]);                             \
		return i;                                                                          \
	}
READER(hs_collect_flows, flows, hs_collect_flow, hs_collect_copy_flow)
READER(hs_collect_queues, queues, hs_collect_queue, copy_queue)
READER(hs_collect_links, links, hs_collect_link, copy_link)
READER(hs_collect_drops, drops, hs_collect_drop, copy_drop)
READER(hs_collect_exporters, exporters, hs_collect_exporter, copy_exporter)

const struct hs_collect_counters *hs_collect_counters(const struct hs_collect *collect)
{
	return &collect->counters;
}

const uint8_t *hs_collect_first_refused(const struct hs_collect *collect,
		enum hs_collect_refusal reason, size_t *len, size_t *whole_len)
{
	if (!collect->first_refused[reason].any)
		return NULL;
	*len = collect->first_refused[reason].len;
	*whole_len = collect->first_refused[reason].whole_len;
	return collect->first_refused[reason].bytes;
}
