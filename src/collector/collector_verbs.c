// SPDX-License-Identifier: BSD-3-Clause
#include "collector_verbs.h"

#include "collector_metric.h"
#include "collector_shape.h"

#include "api_reply.h"
#include "bus_told_limits.h"
#include "ip_address.h"
#include "os_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE	 16 // entries that one job copies
#define PAGE_NS	 INT64_C(10000000)
#define KEPT_MAX 2048 // bytes of a refused datagram

// ---- pages of tables ----

// An entry of any table.
union entry {
	struct hs_collect_flow flow;
	struct hs_collect_queue queue;
	struct hs_collect_link link;
	struct hs_collect_drop drop;
	struct hs_collect_exporter exporter;
};

struct table {
	const char *key; // of the list in the reply
	unsigned (*read)(const struct hs_collect *collect, uint64_t *cursor, union entry *out);
	// Returns NULL if the filter of the request leaves the entry out.
	json_t *(*show)(const struct hs_collector *collector, const struct hs_api_args *args,
			const union entry *entry);
};

struct page_job {
	const struct table *table;
	uint64_t at[AT_ONCE + 1]; // cursor of each entry, and of the end
	unsigned n;
	union entry entries[AT_ONCE];
};

static void copy_entries(void *context, struct hs_collect *collect)
{
	struct page_job *job = context;

	for (job->n = 0; job->n < AT_ONCE; job->n++) {
		uint64_t cursor = job->at[job->n];
		if (job->table->read(collect, &cursor, &job->entries[job->n]) == 0)
			return;
		job->at[job->n + 1] = cursor;
	}
}

struct page {
	json_t *list;
	uint64_t next;
};

// Fills a page from the table of the collecting thread, some entries at a time. An entry that stays
// is listed once, whatever entries come and go meanwhile.
static struct page fill_page(struct hs_collector *collector, const struct table *table,
		const struct hs_api_args *args)
{
	int64_t end_ns = hs_os_clock_ns(CLOCK_MONOTONIC) + PAGE_NS;
	struct page page = {.list = json_array()};
	struct page_job job = {.table = table, .at = {args->offset}};
	size_t used = 0;

	for (;;) {
		hs_collector_worker_run(&collector->worker, copy_entries, &job);
		for (unsigned i = 0; i < job.n; i++) {
			json_t *entry = table->show(collector, args, &job.entries[i]);
			page.next = job.at[i];
			if (entry && (json_array_size(page.list) >= args->limit ||
						     !hs_api_page_add(args, page.list, entry,
								     &used))) {
				if (json_array_size(page.list) >= args->limit)
					json_decref(entry);
				return page;
			}
		}
		page.next = job.n == AT_ONCE ? job.at[AT_ONCE] : 0;
		if (job.n < AT_ONCE || hs_os_clock_ns(CLOCK_MONOTONIC) >= end_ns)
			return page;
		job.at[0] = job.at[AT_ONCE];
	}
}

#define PAGE_FIELDS(name, items_of, text)                                                          \
	static const struct hs_schema_field name##_page_fields[] = {                               \
			{#name, HS_SCHEMA_TAKEN, HS_SCHEMA_MEMBER(struct page, list),              \
					.items = items_of, .help = text},                          \
			{"next", HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct page, next),              \
					.optional = true, .help = "the offset of the next page"},  \
			{NULL},                                                                    \
	}
#define PAGE(name, member)                                                                         \
	static unsigned read_##name(                                                               \
			const struct hs_collect *collect, uint64_t *cursor, union entry *out)      \
	{                                                                                          \
		return hs_collect_##name(collect, cursor, &out->member, 1);                        \
	}                                                                                          \
	static int get_##name(struct hs_collector *collector, const struct hs_api_args *args,      \
			json_t **result, struct hs_error *err)                                     \
	{                                                                                          \
		static const struct table table = {#name, read_##name, show_##member};             \
		const struct page page = fill_page(collector, &table, args);                       \
		(void)err;                                                                         \
		*result = hs_schema_print(name##_page_fields, &page);                              \
		return 0;                                                                          \
	}

static bool has_address(const uint8_t wanted[16], const uint8_t address[16], bool is_ipv4)
{
	static const uint8_t any[16];

	if (memcmp(wanted, any, sizeof(any)) == 0)
		return true;
	if (hs_ip_address_is_ipv4(wanted) != is_ipv4)
		return false;
	return is_ipv4 ? memcmp(wanted + 12, address, 4) == 0 : memcmp(wanted, address, 16) == 0;
}

static bool is_wanted(const struct hs_api_flow *filter, const struct hs_collect_flow_key *key)
{
	return (!filter->src_port || filter->src_port == key->src_port) &&
	       (!filter->dst_port || filter->dst_port == key->dst_port) &&
	       (!filter->protocol || filter->protocol == key->protocol) &&
	       has_address(filter->src_ip, key->src, key->is_ipv4) &&
	       has_address(filter->dst_ip, key->dst, key->is_ipv4);
}

static json_t *show_flow(const struct hs_collector *collector, const struct hs_api_args *args,
		const union entry *entry)
{
	return is_wanted(&args->flow, &entry->flow.key)
			       ? hs_collector_flow_json(collector->config, &entry->flow)
			       : NULL;
}

static json_t *show_queue(const struct hs_collector *collector, const struct hs_api_args *args,
		const union entry *entry)
{
	(void)args;
	return hs_collector_queue_json(collector->config, &entry->queue);
}

static json_t *show_link(const struct hs_collector *collector, const struct hs_api_args *args,
		const union entry *entry)
{
	(void)args;
	return hs_collector_link_json(collector->config, &entry->link);
}

static json_t *show_drop(const struct hs_collector *collector, const struct hs_api_args *args,
		const union entry *entry)
{
	(void)collector, (void)args;
	return hs_collector_drop_json(&entry->drop);
}

static json_t *show_exporter(const struct hs_collector *collector, const struct hs_api_args *args,
		const union entry *entry)
{
	(void)args;
	return hs_collector_exporter_json(collector->config, &entry->exporter);
}

PAGE_FIELDS(flows, hs_collector_flow_fields, "flows that reports told of");
PAGE_FIELDS(queues, hs_collector_queue_fields, "queues that reports told of");
PAGE_FIELDS(links, hs_collector_link_fields, "links that reports told of");
PAGE_FIELDS(drops, hs_collector_drop_fields, "nodes and reasons that reports of drops told of");
PAGE_FIELDS(exporters, hs_collector_exporter_fields, "who sends reports");
PAGE(flows, flow)
PAGE(queues, queue)
PAGE(links, link)
PAGE(drops, drop)
PAGE(exporters, exporter)

// ---- what was refused ----

struct refused {
	const char *reason, *text;
	uint64_t count;
	const char *datagram;
	uint64_t datagram_bytes;
};

static bool is_kept(const void *from)
{
	return ((const struct refused *)from)->datagram;
}

#define REFUSED(...) HS_SCHEMA_ROW(struct refused, __VA_ARGS__)
static const struct hs_schema_field refused_fields[] = {
		REFUSED(STRING, reason, "a word for scripts"),
		REFUSED(STRING, text, "the reason as a sentence"),
		REFUSED(UINT, count, "datagrams or reports that were refused so far"),
		REFUSED(STRING, datagram, "the beginning of the first of them, in hex",
				.given = is_kept),
		REFUSED(UINT, datagram_bytes, "how long it was", .given = is_kept),
		{NULL},
};
static const struct hs_schema_field refused_page_fields[] = {
		{"refused", HS_SCHEMA_TAKEN, .items = refused_fields,
				.help = "each reason for which something was refused"},
		{NULL},
};

struct refused_job {
	unsigned reason;
	size_t len, whole_len;
	uint64_t count;
	uint8_t bytes[KEPT_MAX];
};

static void copy_refused(void *context, struct hs_collect *collect)
{
	struct refused_job *job = context;
	const uint8_t *first =
			hs_collect_first_refused(collect, job->reason, &job->len, &job->whole_len);

	job->count = hs_collect_counters(collect)->refused[job->reason];
	job->len = !first ? 0 : job->len < KEPT_MAX ? job->len : KEPT_MAX;
	if (first)
		memcpy(job->bytes, first, job->len);
	else
		job->whole_len = 0;
}

static json_t *get_refused(struct hs_collector *collector)
{
	static const char digits[] = "0123456789abcdef";
	struct refused_job job;
	json_t *list = json_array();
	char hex[2 * KEPT_MAX + 1];

	for (unsigned i = 0; i < HS_COLLECT_REFUSALS; i++) {
		job.reason = i;
		hs_collector_worker_run(&collector->worker, copy_refused, &job);
		if (!job.count)
			continue;
		for (size_t j = 0; j < job.len; j++) {
			hex[2 * j] = digits[job.bytes[j] >> 4];
			hex[2 * j + 1] = digits[job.bytes[j] & 15];
		}
		hex[2 * job.len] = '\0';
		const struct refused refused = {hs_collector_refusal_name(i),
				hs_collector_refusal_text(i), job.count, hex, job.whole_len};
		json_array_append_new(list, hs_schema_print(refused_fields, &refused));
	}
	return hs_schema_print(refused_page_fields, &list);
}

// ---- the collector ----

static uint32_t answered(void);

static json_t *hello(struct hs_collector *collector)
{
	static const char *const features[] = {"collector", "events"};
	const struct hs_api_connection_limits limits =
			hs_bus_told_limits(collector->config->base.publish_queue);
	const struct hs_api_hello said = {
			.version = HS_VERSION,
			.name = collector->config->base.node.name,
			.boot_id = collector->boot_id,
			.collector = true,
			.verbs = answered(),
			.n_features = sizeof(features) / sizeof(features[0]),
			.features = features,
			.connection = &limits,
	};
	return hs_api_hello(&said);
}

struct shown {
	const char *collector, *boot_id, *version;
	int64_t uptime_ns;
	json_t *publish_bind, *settings;
};

#define SHOWN(...) HS_SCHEMA_ROW(struct shown, __VA_ARGS__)
static const struct hs_schema_field node_fields[] = {
		SHOWN(STRING, collector, "the collector's name"),
		SHOWN(STRING, boot_id, "changes with every start"),
		SHOWN(STRING, version, "of the program"),
		SHOWN(INT, uptime_ns, "since the process began"),
		SHOWN(TAKEN, publish_bind, "where listeners may subscribe",
				.shape = "{'type': 'array', 'items': {'type': 'string'}}"),
		SHOWN(TAKEN, settings, "the configuration in force",
				.shape = "{'$ref': 'collector.json'}"),
		{NULL},
};

static json_t *node_get(struct hs_collector *collector)
{
	json_t *settings = hs_collector_config_print(collector->config);
	json_t *bind = json_object_get(json_object_get(settings, "control"), "publish_bind");
	const struct shown shown = {collector->config->base.node.name, collector->boot_id,
			HS_VERSION, hs_os_clock_ns(CLOCK_MONOTONIC) - collector->start_ns,
			json_incref(bind), settings};

	return hs_schema_print(node_fields, &shown);
}

struct shown_port {
	const char *name, *driver, *device;
	uint32_t udp_port, buffer_kib;
	bool link_up, usable;
	uint64_t lost;
	struct hs_port_device_stats stats;
};

static bool is_port(const void *from)
{
	return ((const struct shown_port *)from)->driver;
}

static bool is_socket(const void *from)
{
	return !is_port(from);
}

#define SHOWN_PORT(...) HS_SCHEMA_ROW_AS(struct shown_port, __VA_ARGS__)
static const struct hs_schema_field port_fields[] = {
		SHOWN_PORT(STRING, "name", name, "of a port, or a socket's address"),
		SHOWN_PORT(STRING, "driver", driver, "that receives packets", .given = is_port),
		SHOWN_PORT(STRING, "device", device, "interface, devargs or PCI address",
				.given = is_port),
		SHOWN_PORT(UINT, "udp_port", udp_port, "where reports come"),
		SHOWN_PORT(BOOL, "link_up", link_up, "whether the link is up", .given = is_port),
		SHOWN_PORT(BOOL, "usable", usable, "false while the device is gone",
				.given = is_port),
		SHOWN_PORT(UINT, "rx_packets", stats.rx_packets, "that the device received",
				.given = is_port),
		SHOWN_PORT(UINT, "rx_missed", stats.rx_missed,
				"that were lost because the device's ring was full",
				.given = is_port),
		SHOWN_PORT(UINT, "rx_errors", stats.rx_errors, "too long or broken",
				.given = is_port),
		SHOWN_PORT(UINT, "buffer_kib", buffer_kib, "what the kernel may hold",
				.given = is_socket),
		SHOWN_PORT(UINT, "lost", lost, "datagrams that the kernel dropped",
				.given = is_socket),
		{NULL},
};
static const struct hs_schema_field ports_fields[] = {
		{"ports", HS_SCHEMA_TAKEN, .items = port_fields, .help = "each way in for reports"},
		{NULL},
};

static json_t *ports_get(struct hs_collector *collector)
{
	const struct hs_collector_worker *worker = &collector->worker;
	json_t *list = json_array();
	char text[HS_SCHEMA_TEXT_BYTES];

	for (unsigned i = 0; i < worker->n_sockets; i++) {
		const struct shown_port socket = {
				hs_collector_listener_name(collector->config, i, text),
				.udp_port = collector->config->listen[i].udp.port,
				.buffer_kib = collector->buffer_kib[i],
				.lost = hs_collector_udp_lost(worker->sockets[i])};
		json_array_append_new(list, hs_schema_print(port_fields, &socket));
	}
	for (unsigned i = 0; i < worker->n_ports; i++) {
		const struct hs_port *of = worker->ports[i];
		struct shown_port port = {of->config.name, of->driver_name, of->config.device,
				.udp_port = worker->udp_ports[i], .link_up = hs_port_link_up(of),
				.usable = of->usable};
		hs_port_device_stats(worker->ports[i], &port.stats);
		json_array_append_new(list, hs_schema_print(port_fields, &port));
	}
	return hs_schema_print(ports_fields, &list);
}

static int events(struct hs_collector *collector, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	*result = hs_event_log_since(&collector->events, args);
	return 0;
}

HS_API_VERBS(struct hs_collector, verbs) = {
		[HS_VERB_HELLO] = {hs_api_hello_fields, .show = hello},
		[HS_VERB_NODE_GET] = {node_fields, .show = node_get},
		[HS_VERB_PORTS_GET] = {ports_fields, .show = ports_get},
		[HS_VERB_STATS_GET] = {hs_collector_stats_fields, .show = hs_collector_stats},
		[HS_VERB_DROPS_GET] = {drops_page_fields, get_drops},
		[HS_VERB_EVENTS] = {hs_event_log_fields, events},
		[HS_VERB_AUDIT] = {hs_collector_audit_fields, .show = hs_collector_audit},
		[HS_VERB_FLOW_GET] = {flows_page_fields, get_flows},
		[HS_VERB_QUEUE_GET] = {queues_page_fields, get_queues},
		[HS_VERB_LINK_GET] = {links_page_fields, get_links},
		[HS_VERB_EXPORTER_GET] = {exporters_page_fields, get_exporters},
		[HS_VERB_REFUSED_GET] = {refused_page_fields, .show = get_refused},
};

static uint32_t answered(void)
{
	uint32_t bits = 0;

	for (unsigned verb = 0; verb < HS_VERB_COUNT; verb++)
		bits |= verbs[verb].fields ? 1u << verb : 0;
	return bits;
}

const struct hs_schema_field *hs_collector_reply_fields(enum hs_api_verb verb)
{
	return verbs[verb].fields;
}

// ---- the backend of the API ----

static int run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	if (!verbs[args->verb].show)
		return verbs[args->verb].run(context, args, result, err);
	*result = verbs[args->verb].show(context);
	return 0;
}

static int answers(void *context, const struct hs_api_args *args, struct hs_error *err)
{
	(void)context;
	return verbs[args->verb].fields ? 0 : hs_api_refuse_verb(args->verb, err);
}

// A collector has no rules.
static bool ns_exists(void *context, uint32_t ns_id)
{
	(void)context, (void)ns_id;
	return false;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	(void)context, (void)ns_id;
	return NULL;
}

static uint32_t rules_free(void *context)
{
	(void)context;
	return 0;
}

static uint64_t generation(void *context)
{
	(void)context;
	return 0;
}

void hs_collector_open_verbs(struct hs_collector *collector)
{
	collector->backend = (struct hs_api_backend){
			.context = collector,
			.run = run_verb,
			.ns_exists = ns_exists,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.generation = generation,
			.answers = answers,
			.spent_ns = hs_os_clock_spent_ns,
	};
}

char *hs_collector_request(
		struct hs_collector *collector, const char *message, size_t len, bool may_change)
{
	return hs_api_handle(&collector->backend, message, len, may_change);
}
