// SPDX-License-Identifier: BSD-3-Clause
// INT-label: the reply to label_get.
#include "controller_label.h"

#include "controller_state.h"

#include "api_label.h"

#include <stdlib.h>

#define US_NS	 1000
#define NOT_SEEN 64 // ports of the first page that were not seen the longest
#define HOTTEST	 16 // ports of the first page with the deepest queues

#define LATENCY "how long its packet was in the node; left out if its times run backwards"

// ---- a port ----

struct shown_value {
	int64_t age_ns;
	uint64_t latency_ns, queue_ns;
	uint32_t has_latency, enqueue_packets;
};

#define VALUE(...) HS_SCHEMA_ROW(struct shown_value, __VA_ARGS__)
static const struct hs_schema_field value_fields[] = {
		VALUE(INT, age_ns, "since the item came"),
		VALUE(UINT, latency_ns, LATENCY, HS_SCHEMA_IF(struct shown_value, has_latency)),
		VALUE(UINT, enqueue_packets, "the depth of the queue that its packet found"),
		VALUE(UINT, queue_ns, "how long its packet waited in the queue"),
		{NULL},
};

static json_t *show_series(
		const struct hs_controller *controller, const struct hs_label_entry *entry)
{
	const struct hs_label_database *database = controller->label->database;
	uint32_t n = controller->label->config->series;
	struct hs_label_value *values = calloc(n, sizeof(*values));
	json_t *list = json_array();

	n = values ? hs_label_database_series(database, entry, values, n) : 0;
	for (uint32_t i = 0; i < n; i++) {
		int64_t latency_us = values[i].latency_us;
		const struct shown_value shown = {
				.age_ns = controller_label_ns(controller) - values[i].received_ns,
				.has_latency = latency_us >= 0,
				.latency_ns = (uint64_t)latency_us * US_NS,
				.queue_ns = (uint64_t)values[i].queue_us * US_NS,
				.enqueue_packets = values[i].queue_packets};
		json_array_append_new(list, hs_schema_print(value_fields, &shown));
	}
	free(values);
	return list;
}

struct shown_port {
	const char *node, *name;
	uint16_t node_id;
	uint32_t id;
	bool active;
	uint64_t missed, items;
	uint32_t has_item, has_latency, has_shift, has_wish;
	int64_t age_ns;
	uint8_t ingress_port;
	uint64_t latency_ns, queue_ns;
	uint32_t enqueue_packets, dequeue_packets;
	uint8_t shift;
	bool confirmed;
	json_t *series; // NULL: not asked for
};

static bool has_series(const void *from)
{
	return ((const struct shown_port *)from)->series;
}

#define PORT(...)     HS_SCHEMA_ROW(struct shown_port, __VA_ARGS__)
#define OF_ITEM	      HS_SCHEMA_IF(struct shown_port, has_item)
#define OF_ITEM_(...) PORT(__VA_ARGS__, OF_ITEM)
static const struct hs_schema_field port_fields[] = {
		PORT(STRING, node, "the node's name; empty of a device that is none"),
		PORT(UINT, node_id, "the node's id", .max = UINT16_MAX),
		PORT(UINT, id,
				"the port's id; until its node has told it, as in items: its low "
				"8 bits"),
		PORT(STRING, name, "the port's name, once its node has told it", .optional = true),
		PORT(BOOL, active, "the port counts for coverage"),
		PORT(UINT, missed, "intervals in a row that ended without an item of it"),
		PORT(UINT, items, "items that were taken"),
		OF_ITEM_(INT, age_ns, "since the latest item came"),
		OF_ITEM_(UINT, ingress_port, "where its packet came in", .max = UINT8_MAX),
		PORT(UINT, latency_ns, LATENCY, HS_SCHEMA_IF(struct shown_port, has_latency)),
		OF_ITEM_(UINT, enqueue_packets, "the depth of the queue that its packet found"),
		OF_ITEM_(UINT, dequeue_packets, "the depth of the queue that its packet left"),
		OF_ITEM_(UINT, queue_ns, "how long its packet waited in the queue"),
		PORT(UINT, shift, "S: as the control loop wants it, else as the node has it",
				.max = HS_API_LABEL_SHIFT,
				HS_SCHEMA_IF(struct shown_port, has_shift)),
		PORT(BOOL, confirmed, "with `pro`: the node has this S",
				HS_SCHEMA_IF(struct shown_port, has_wish)),
		PORT(TAKEN, series, "of a question with `id`: the last values, the newest first",
				.items = value_fields, .given = has_series),
		{NULL},
};

// Returns the id with which an entry is shown.
static uint32_t id_of(const struct hs_controller *controller, const struct hs_label_entry *entry)
{
	int owner = controller_label_owner(controller, entry->node_id);
	const struct label_port *port =
			owner < 0 ? NULL
				  : controller_label_port(
						    &controller->label->nodes[owner], entry->port);

	return port ? port->id : entry->port;
}

static json_t *show_port(const struct hs_controller *controller, const struct hs_label_entry *entry,
		bool with_series)
{
	const struct controller_label *label = controller->label;
	const struct hs_label_item *item = &entry->item;
	int owner = controller_label_owner(controller, entry->node_id);
	const struct label_port *port =
			owner < 0 ? NULL : controller_label_port(&label->nodes[owner], entry->port);
	bool pro = label->config->pro.on && owner >= 0;
	int64_t latency_us = hs_label_item_latency_us(item);
	const struct shown_port shown = {
			.node = owner < 0 ? "" : controller->config->nodes[owner].name,
			.name = port ? port->name : NULL,
			.node_id = entry->node_id,
			.id = id_of(controller, entry),
			.active = entry->active,
			.missed = entry->missed,
			.items = entry->items,
			.has_item = entry->seen,
			.age_ns = controller_label_ns(controller) - entry->received_ns,
			.ingress_port = item->ingress_port,
			.has_latency = entry->seen && latency_us >= 0,
			.latency_ns = (uint64_t)latency_us * US_NS,
			.queue_ns = (uint64_t)item->queue_us * US_NS,
			.enqueue_packets = item->enqueue_packets,
			.dequeue_packets = item->dequeue_packets,
			.has_shift = pro || port,
			.has_wish = pro,
			.shift = pro	? entry->wish.shift
				 : port ? port->shift
					: 0,
			.confirmed = entry->wish.confirmed,
			.series = with_series ? show_series(controller, entry) : NULL,
	};

	return hs_schema_print(port_fields, &shown);
}

// ---- the first of an order ----

typedef uint64_t rank_fn(const struct hs_label_entry *entry); // 0: has no place

static uint64_t by_missed(const struct hs_label_entry *entry)
{
	return entry->missed;
}

static uint64_t by_depth(const struct hs_label_entry *entry)
{
	return entry->seen ? entry->item.enqueue_packets : 0;
}

// Shows the entries of the highest ranks, at most `most`. Returns how many have a rank.
static uint32_t show_first(
		const struct hs_controller *controller, rank_fn *rank, unsigned most, json_t *list)
{
	const struct hs_label_database *database = controller->label->database;
	const struct hs_label_entry *first[NOT_SEEN];
	unsigned n = 0;
	uint32_t ranked = 0;

	for (uint32_t i = 0; i < hs_label_database_count(database); i++) {
		const struct hs_label_entry *entry = hs_label_database_entry(database, i);
		unsigned at = n;
		if (!rank(entry))
			continue;
		ranked++;
		while (at > 0 && rank(entry) > rank(first[at - 1]))
			at--;
		if (at == most)
			continue;
		n += n < most;
		for (unsigned j = n - 1; j > at; j--)
			first[j] = first[j - 1];
		first[at] = entry;
	}
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, show_port(controller, first[i], false));
	return ranked;
}

// ---- coverage ----

static bool has_intervals(const void *coverage)
{
	return ((const struct hs_label_coverage *)coverage)->intervals;
}

static json_t *print_mean(const void *at)
{
	const struct hs_label_coverage *coverage = at;
	return json_real(coverage->sum / (double)coverage->intervals);
}

static bool has_last(const void *coverage)
{
	return ((const struct hs_label_coverage *)coverage)->last_ports;
}

static json_t *print_last(const void *at)
{
	const struct hs_label_coverage *coverage = at;
	return json_real((double)coverage->last_seen / coverage->last_ports);
}

#define SHARE	      "{'type': 'number', 'minimum': 0, 'maximum': 1}"
#define COVERAGE(...) HS_SCHEMA_ROW(struct hs_label_coverage, __VA_ARGS__)
static const struct hs_schema_field coverage_fields[] = {
		COVERAGE(UINT, intervals, "that ended with active ports"),
		COVERAGE(UINT, whole, "of these, with an item of each active port"),
		{"mean", HS_SCHEMA_CUSTOM, .print = print_mean, .given = has_intervals,
				.shape = SHARE,
				.help = "the share of active ports that were seen, of all "
					"intervals"},
		COVERAGE(REAL, min, "the share of the worst interval", .given = has_intervals),
		{"last", HS_SCHEMA_CUSTOM, .print = print_last, .given = has_last, .shape = SHARE,
				.help = "the share of the last interval, if it had active ports"},
		COVERAGE(UINT, last_ports, "active ports of the last interval"),
		COVERAGE(UINT, last_seen, "of these, seen"),
		{NULL},
};

// ---- counters ----

#define COUNTED(member, text) HS_SCHEMA_ROW(struct controller_label_counters, UINT, member, text),
static const struct hs_schema_field counter_fields[] = {
#define HS_LABEL_COUNT(member, name, unit, sentence, help) COUNTED(member, help)
#define HS_LABEL_REPLY_COUNT(member, help)		   COUNTED(member, help)
#include "controller_counter.def"
		{NULL},
};

struct taken {
	uint64_t items[HS_LABEL_N_TAKEN];
	uint64_t forgotten;
};

#define TAKEN(name, what, text)                                                                    \
	HS_SCHEMA_ROW_AS(struct taken, UINT, name, items[HS_LABEL_TAKEN_##what], text)
static const struct hs_schema_field taken_fields[] = {
		TAKEN("new", NEW, "items of ports that were not known"),
		TAKEN("newer", NEWER, "items that took the place of older ones"),
		TAKEN("older", OLDER, "items that were refused: not newer than the latest"),
		TAKEN("no_room", NO_ROOM, "items that were refused: `label.ports` ports are known"),
		HS_SCHEMA_ROW(struct taken, UINT, forgotten,
				"ports that were forgotten after `label.age_ms`"),
		{NULL},
};

// ---- the whole ----

struct shown {
	int64_t interval_ns;
	const struct hs_label_coverage *coverage;
	const struct controller_label_counters *counters;
	struct taken taken;
	json_t *ports, *not_seen, *hottest;
	uint32_t is_first, known, ports_not_seen;
	uint64_t next;
};

#define SHOWN(...) HS_SCHEMA_ROW(struct shown, __VA_ARGS__)
#define OF_FIRST   HS_SCHEMA_IF(struct shown, is_first)
const struct hs_schema_field controller_label_fields[] = {
		SHOWN(TAKEN, ports, "ports in order of node id and port id, page by page",
				.items = port_fields),
		SHOWN(UINT, next, "the offset of the next page", .optional = true),
		SHOWN(UINT, known, "how many ports are known"),
		SHOWN(INT, interval_ns, "the interval of coverage"),
		SHOWN(OBJECT, coverage, "active ports of which items came", .behind = true,
				.fields = coverage_fields),
		SHOWN(OBJECT, counters, "what came, and what nodes were told", .behind = true,
				.fields = counter_fields),
		SHOWN(OBJECT, taken, "what became of items", .fields = taken_fields),
		SHOWN(UINT, ports_not_seen, "active ports that the last interval missed", OF_FIRST),
		SHOWN(TAKEN, not_seen, "on the first page: up to 64 of them, the longest first",
				.items = port_fields, .optional = true),
		SHOWN(TAKEN, hottest, "on the first page: up to 16 ports with the deepest queues",
				.items = port_fields, .optional = true),
		{NULL},
};

// The keys of the ports that a question is about.
struct keys {
	uint64_t first, behind;
};

static struct keys keys_of(const struct hs_controller *controller, const struct hs_api_args *args)
{
	struct keys keys = {0, UINT64_C(1) << 24};

	if (args->node[0]) {
		int i = hs_controller_config_node(controller->config, args->node);
		keys.first = (uint64_t)controller->config->nodes[i].id << 8;
		keys.behind = keys.first + HS_LABEL_MAX_PORT + 1;
	}
	if (args->label_id) {
		keys.first += (uint8_t)args->label_id;
		keys.behind = keys.first + 1;
	}
	return keys;
}

// Fills a page. The offset is the key of the page's first entry, so that an entry that stays is
// shown exactly once, whatever entries come and go between two pages.
static void fill_page(const struct hs_controller *controller, const struct hs_api_args *args,
		struct shown *shown)
{
	const struct hs_label_database *database = controller->label->database;
	struct keys keys = keys_of(controller, args);
	size_t used = 0;

	if (keys.first < args->offset)
		keys.first = args->offset;
	for (uint64_t key = keys.first; key < keys.behind; key++) {
		uint16_t node_id = (uint16_t)(key >> 8);
		if (controller_label_owner(controller, node_id) < 0 &&
				!controller_label_is_device(controller, node_id)) {
			key |= HS_LABEL_MAX_PORT;
			continue;
		}
		const struct hs_label_entry *entry =
				hs_label_database_find(database, node_id, (uint8_t)key);
		if (!entry || (args->label_id && args->label_id != id_of(controller, entry)))
			continue;
		if (json_array_size(shown->ports) < args->limit &&
				hs_api_page_add(args, shown->ports,
						show_port(controller, entry, args->label_id),
						&used))
			continue;
		shown->next = key;
		return;
	}
}

int controller_label_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	const struct controller_label *label = controller->label;

	if (!label)
		return hs_error_set(err, "unsupported", "", "label in the configuration",
				"the controller's configuration has no label");
	struct shown shown = {
			.interval_ns = label->config->interval_ms * MS_NS,
			.coverage = hs_label_database_coverage(label->database),
			.counters = &label->counters,
			.taken.forgotten = hs_label_database_forgotten(label->database),
			.known = hs_label_database_count(label->database),
			.ports = json_array(),
			.not_seen = json_array(),
			.hottest = json_array(),
			.is_first = args->offset == 0,
	};
	for (unsigned i = 0; i < HS_LABEL_N_TAKEN; i++)
		shown.taken.items[i] = hs_label_database_taken(label->database)[i];
	if (shown.is_first) {
		shown.ports_not_seen = show_first(controller, by_missed, NOT_SEEN, shown.not_seen);
		show_first(controller, by_depth, HOTTEST, shown.hottest);
	}
	fill_page(controller, args, &shown);
	*result = hs_schema_print(controller_label_fields, &shown);
	return 0;
}
