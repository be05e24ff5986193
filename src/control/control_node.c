// SPDX-License-Identifier: BSD-3-Clause
#include "control_node.h"
#include "control_config.h"
#include "control_mtu.h"

#include "api_reply.h"
#include "node.h"

json_t *hs_control_hello(const struct hs_control_config *config, struct hs_node *node)
{
	static const char *const features[] = {"flexint", "qos", "transactions", "events",
			"in_band", "piggyback", "owner"};
	const struct hs_node_config *of = hs_node_config(node);
	struct hs_fib *fib = hs_node_fib(node);
	const struct hs_api_hello hello = {
			.version = HS_VERSION,
			.name = of->name,
			.boot_id = config->boot_id,
			.node_id = of->id,
			.verbs = HS_API_NODE_VERBS,
			.n_features = sizeof(features) / sizeof(features[0]),
			.features = features,
			.rules = hs_flow_table_capacity(hs_node_flows(node)),
			.monitored_rules = config->monitored_rules,
			.routes = fib ? hs_fib_capacity(fib) : 0,
			.connection = config->connection,
	};
	return hs_api_hello(&hello);
}

// ---- workers ----

// The counters print the view, which stands first.
struct shown_worker {
	struct hs_metric_view view;
	unsigned worker, n_ports;
	const char *ports[HS_MAX_PORTS];
};

static const struct hs_schema_list port_list = {
		.item = {.kind = HS_SCHEMA_STRING},
		HS_SCHEMA_ITEMS(struct shown_worker, ports),
		HS_SCHEMA_COUNT(struct shown_worker, n_ports),
};

#define WORKER(...) HS_SCHEMA_ROW(struct shown_worker, __VA_ARGS__)
static const struct hs_schema_field worker_fields[] = {
		WORKER(UINT, worker, "the worker's number"),
		WORKER(LIST, ports, "the ports that it receives from", .list = &port_list),
		{HS_METRIC_MEMBERS(worker)},
		{NULL},
};

static json_t *workers_of(const struct hs_node *node)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < hs_node_config(node)->n_workers; i++) {
		struct hs_port *ports[HS_MAX_PORTS];
		struct shown_worker shown = {
				.worker = i, .n_ports = hs_node_worker_ports(node, i, ports)};
		for (unsigned p = 0; p < shown.n_ports; p++)
			shown.ports[p] = ports[p]->config.name;
		hs_node_worker_counters(node, i, &shown.view.worker);
		json_array_append_new(list, hs_schema_print(worker_fields, &shown));
	}
	return list;
}

// ---- the node ----

static const struct hs_schema_word forwarding_words[] = {
		{"patch", HS_FORWARD_PATCH},
		{"bridge", HS_FORWARD_BRIDGE},
		{"route", HS_FORWARD_ROUTE},
		{NULL, 0},
};

#define SETTING(key, shape_, text)                                                                 \
	{                                                                                          \
		key, HS_SCHEMA_JSON, .optional = true, .shape = shape_, .help = text               \
	}
#define CONFIGURED(key)                                                                            \
	SETTING(key, "{'$ref': 'node.json#/properties/" key "'}", "as it is configured")
#define STRINGS "{'type': 'array', 'items': {'type': 'string'}}"
// The members that the daemon adds (hs_control_config.settings).
static const struct hs_schema_field setting_fields[] = {
		SETTING("dpdk", "{'type': 'string'}", "the version of DPDK"),
		SETTING("worker_cores", "{'$ref': 'node.json#/properties/workers'}",
				"the core of each worker"),
		CONFIGURED("polling"),
		CONFIGURED("worker_scheduling"),
		CONFIGURED("cpu_latency_us"),
		CONFIGURED("workers_help_monitor"),
		SETTING("control_core", "{'type': 'integer'}", "the core of the control thread"),
		CONFIGURED("memory"),
		CONFIGURED("profiles"),
		CONFIGURED("export"),
		CONFIGURED("telemetry"),
		CONFIGURED("state"),
		SETTING("bind", STRINGS, "where requests are answered"),
		SETTING("publish_to", STRINGS, "the controllers to publish to"),
		SETTING("publish_bind", STRINGS, "where listeners connect"),
		SETTING("pairs", "{'type': 'array', 'items': " STRINGS "}",
				"the ports of each pair"),
		SETTING("sandbox",
				"{'type': 'object', 'properties': {'enabled': {'type': 'boolean', "
				"'description': 'as it is configured'}, "
				"'filtered': {'type': 'boolean', 'description': "
				"'system calls are filtered'}, 'capabilities': {'description': "
				"'what the process may still do', 'type': 'array', "
				"'items': {'type': 'string'}}}, "
				"'required': ['enabled', 'filtered', 'capabilities'], "
				"'additionalProperties': false}",
				"what the process has given up"),
		{NULL},
};

static const struct hs_schema_field clock_fields[] = {{HS_METRIC_MEMBERS(clock)}, {NULL}};

// The counters print the view, which stands first.
struct shown_node {
	struct hs_metric_view view;
	uint16_t id;
	const char *name, *boot_id, *version;
	uint32_t forwarding, monitored_rules;
	json_t *settings, *workers;
	struct hs_api_mtu_need mtu;
};

#define NODE(...) HS_SCHEMA_ROW(struct shown_node, __VA_ARGS__)
const struct hs_schema_field hs_control_node_fields[] = {
		NODE(UINT, id, "the node's id; 0 without one", .max = UINT16_MAX),
		NODE(STRING, name, "the node's name"),
		NODE(STRING, boot_id, "changes with every start"),
		NODE(STRING, version, "of the program"),
		NODE(WORD, forwarding, "how the node forwards", .words = forwarding_words),
		NODE(JSON_MEMBERS, settings, NULL, .fields = setting_fields),
		{HS_METRIC_MEMBERS(node)},
		NODE(MEMBERS, mtu, NULL, .fields = hs_api_mtu_need_fields),
		NODE(UINT, monitored_rules, "rules that may have a monitor"),
		{"clock", HS_SCHEMA_OBJECT, .fields = clock_fields, .help = "the node's clock"},
		NODE(TAKEN, workers, "each worker with its counters", .items = worker_fields),
		{NULL},
};

json_t *hs_control_node(const struct hs_control_config *config, struct hs_node *node,
		const struct hs_node_totals *totals)
{
	const struct hs_node_config *of = hs_node_config(node);
	struct shown_node shown = {
			.view.node = *totals,
			.id = of->id,
			.name = of->name,
			.boot_id = config->boot_id,
			.version = HS_VERSION,
			.forwarding = of->forwarding,
			.monitored_rules = config->monitored_rules,
			.settings = config->settings,
			.workers = workers_of(node),
	};
	hs_control_mtu_need(node, NULL, &shown.mtu);
	return hs_schema_print(hs_control_node_fields, &shown);
}
