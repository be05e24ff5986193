// SPDX-License-Identifier: BSD-3-Clause
#include "collect_parts.h"

#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/mman.h>

// ---- configuration ----

void hs_collect_config_init(struct hs_collect_config *config)
{
	static const enum hs_int_version versions[] = {HS_INT_0_5, HS_INT_1_0, HS_INT_2_1};

	*config = (struct hs_collect_config){.max_flows = 100000,
			.max_queues = 3000,
			.max_links = 3000,
			.max_exporters = 1000,
			.max_drops = 1000,
			.new_keys_per_s = 10000,
			.gap_ns = HS_COLLECT_SECOND_NS,
			.push_ns = 10 * HS_COLLECT_SECOND_NS};
	for (unsigned i = 0; i < 3; i++) {
		config->formats[i].taken = true;
		hs_int_settings_init(&config->formats[i].packet, versions[i], HS_INT_TCP_UDP);
	}
	config->thresholds[HS_COLLECT_FLOW_LATENCY].absolute = 1000;
	config->thresholds[HS_COLLECT_HOP_LATENCY].absolute = 1000;
	config->thresholds[HS_COLLECT_QUEUE_OCCUPANCY].absolute = 16;
	config->thresholds[HS_COLLECT_QUEUE_CONGESTION].absolute = 16;
	config->thresholds[HS_COLLECT_LINK_UTILISATION].absolute = 50;
}

static int check(const struct hs_collect_config *config, struct hs_error *err)
{
	const struct {
		const char *name;
		uint32_t value;
	} numbers[] = {{"max_flows", config->max_flows}, {"max_queues", config->max_queues},
			{"max_links", config->max_links}, {"max_exporters", config->max_exporters},
			{"max_drops", config->max_drops},
			{"new_keys_per_s", config->new_keys_per_s}};
	const uint32_t most = UINT32_C(1) << 28;

	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!numbers[i].value || numbers[i].value > most)
			return hs_error_set(err, "out_of_range", numbers[i].name, "1 to 268435456",
					"%s is %u", numbers[i].name, numbers[i].value);
	if (config->gap_ns < 0)
		return hs_error_set(err, "out_of_range", "gap_ns", "0 or more", "gap_ns is %lld",
				(long long)config->gap_ns);
	if (config->push_ns < 0)
		return hs_error_set(err, "out_of_range", "push_ns", "0 or more", "push_ns is %lld",
				(long long)config->push_ns);
	if (!config->formats[0].taken && !config->formats[1].taken && !config->formats[2].taken)
		return hs_error_set(err, "missing", "formats", "at least one of 0.5, 1.0, 2.0",
				"no format is taken");
	return 0;
}

// ---- create ----

static void set_formats(struct hs_collect *c)
{
	for (unsigned i = 0; i < 3; i++) {
		const struct hs_collect_format *format = &c->config.formats[i];
		bool lenient = c->config.intercollector && i != HS_INT_REPORT_2_0;
		if (!format->taken)
			continue;
		c->takes |= (uint16_t)(HS_INT_REPORT_TAKE_0_5 << i);
		hs_collect_dialect_init(&c->dialects[i], &format->packet, lenient);
	}
	c->plain_1_0 = c->config.formats[HS_INT_REPORT_1_0].taken && !c->config.intercollector;
}

static int make_tables(struct hs_collect *c)
{
	const struct hs_collect_config *config = &c->config;
	struct hs_collect_counters *n = &c->counters;
	const struct {
		struct hs_collect_table *table;
		uint32_t capacity;
		uint64_t *known, *evicted, *refused;
	} tables[] = {{&c->flows, config->max_flows, &n->flows, &n->flows_evicted,
				      &n->flows_refused},
			{&c->queues, config->max_queues, &n->queues, &n->queues_evicted,
					&n->queues_refused},
			{&c->links, config->max_links, &n->links, &n->links_evicted,
					&n->links_refused},
			{&c->drops, config->max_drops, &n->drops, &n->drops_evicted,
					&n->drops_refused},
			{&c->exporters, config->max_exporters, &n->exporters, &n->exporters_evicted,
					&n->exporters_refused}};

	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct hs_collect_table *table = tables[i].table;
		table->known = tables[i].known;
		table->evicted = tables[i].evicted;
		table->refused = tables[i].refused;
		// Flows come and go. The other entries are parts of the network. Forged keys must
		// not replace them.
		table->keep_s = table == &c->flows ? 0 : HS_COLLECT_KEEP_S;
		if (hs_collect_table_init(table, tables[i].capacity, config->new_keys_per_s) < 0)
			return -ENOMEM;
	}
	return 0;
}

// Allocates zeroed pages. They use no physical memory until they are written.
static void *pages(uint64_t n, size_t each, size_t *bytes, bool huge)
{
	void *at = MAP_FAILED;

	*bytes = n * each;
	if (*bytes / each == n)
		at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	if (huge)
		madvise(at, *bytes, MADV_HUGEPAGE); // a failure only costs speed
	return at;
}

static void free_pages(void *at, size_t bytes)
{
	if (at)
		munmap(at, bytes);
}

static int make_entries(struct hs_collect *c)
{
	const struct hs_collect_config *config = &c->config;
	uint64_t queues = config->max_queues + 1u, links = config->max_links + 1u;

	c->flow = pages(config->max_flows, sizeof(*c->flow), &c->flow_bytes, true);
	c->far = pages(config->max_flows, sizeof(*c->far), &c->far_bytes, false);
	c->queue = pages(queues, sizeof(*c->queue), &c->queue_bytes, true);
	c->link = pages(links, sizeof(*c->link), &c->link_bytes, true);
	c->drop = calloc(config->max_drops, sizeof(*c->drop));
	c->exporter = config->exporter_memory ? config->exporter_memory
					      : calloc(config->max_exporters, sizeof(*c->exporter));
	if (!c->flow || !c->far || !c->queue || !c->link || !c->drop || !c->exporter)
		return -ENOMEM;
	for (unsigned i = 0; i < HS_COLLECT_MAX_HOPS; i++)
		c->strangers[i] = (struct hs_collect_hint){config->max_queues, config->max_links};
	// The last entries belong to no node, because the values of a node without id are not kept.
	c->queue[config->max_queues].key = c->link[config->max_links].key = UINT64_MAX;
	return 0;
}

int hs_collect_create(const struct hs_collect_config *config, hs_collect_emit *emit, void *context,
		struct hs_collect **collect, struct hs_error *err)
{
	int rc = check(config, err);

	if (rc < 0)
		return rc;
	struct hs_collect *c = aligned_alloc(alignof(struct hs_collect), sizeof(*c));
	if (!c)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->config = *config;
	c->emit = emit;
	c->context = context;
	hs_collect_secret_init(&c->secret, config->secret);
	set_formats(c);
	rc = make_tables(c);
	if (!rc)
		rc = make_entries(c);
	if (!rc)
		rc = hs_collect_restore_exporters(c);
	if (rc < 0) {
		hs_collect_destroy(c);
		return rc;
	}
	*collect = c;
	return 0;
}

void hs_collect_destroy(struct hs_collect *collect)
{
	if (!collect)
		return;
	hs_collect_table_fini(&collect->flows);
	hs_collect_table_fini(&collect->queues);
	hs_collect_table_fini(&collect->links);
	hs_collect_table_fini(&collect->drops);
	hs_collect_table_fini(&collect->exporters);
	free_pages(collect->flow, collect->flow_bytes);
	free_pages(collect->far, collect->far_bytes);
	free_pages(collect->queue, collect->queue_bytes);
	free_pages(collect->link, collect->link_bytes);
	free(collect->drop);
	if (!collect->config.exporter_memory)
		free(collect->exporter);
	free(collect);
}

uint64_t hs_collect_exporter_bytes(const struct hs_collect_config *config)
{
	return config->max_exporters * sizeof(struct hs_collect_exporter_entry);
}

uint64_t hs_collect_bytes(const struct hs_collect_config *config)
{
	const struct {
		uint32_t n;
		uint64_t bytes;
	} tables[] = {{config->max_flows, sizeof(struct hs_collect_flow_entry) +
							  sizeof(struct hs_collect_far_hops)},
			{config->max_queues, sizeof(struct hs_collect_queue_entry)},
			{config->max_links, sizeof(struct hs_collect_link_entry)},
			{config->max_drops, sizeof(struct hs_collect_drop_entry)},
			{config->max_exporters, sizeof(struct hs_collect_exporter_entry)}};
	uint64_t bytes = sizeof(struct hs_collect);

	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		bytes += tables[i].n * tables[i].bytes + hs_collect_table_bytes(tables[i].n);
	return bytes;
}

// ---- events ----

void hs_collect_emit_points(struct hs_collect *c, const struct hs_collect_point *points, unsigned n,
		const struct hs_collect_flow *flow, int64_t told_ns)
{
	struct hs_collect_event event = {.time_ns = c->now_ns,
			.told_ns = told_ns,
			.flow = flow,
			.points = points,
			.n_points = n};

	if (!n)
		return;
	c->counters.points += n;
	for (unsigned i = 0; i < n; i++)
		c->counters.events[points[i].kind][points[i].cause]++;
	c->emit(c->context, &event);
}
