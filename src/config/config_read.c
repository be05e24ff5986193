// SPDX-License-Identifier: BSD-3-Clause
#include "config_read.h"

#include "config_check.h"
#include "config_partial.h"
#include "config_parts.h"

#include "api.h"
#include "flexint.h"
#include "qos_lengths.h"

#include <stdio.h>
#include <string.h>

const struct hs_schema_word hs_config_polling_words[] = {
		{"adaptive", true}, {"busy", false}, {NULL, 0}};
static const struct hs_schema_word class_words[] = {
		{"normal", HS_SCHEDULING_NORMAL},
		{"rr", HS_SCHEDULING_RR},
		{"fifo", HS_SCHEDULING_FIFO},
		{NULL, 0},
};
static const struct hs_schema_word clock_words[] = {
		{"utc", HS_CLOCK_UTC},
		{"tai", HS_CLOCK_TAI},
		{NULL, 0},
};
static const struct hs_schema_word policy_words[] = {
		{"strip", HS_HOST_STRIP},
		{"drop", HS_HOST_DROP},
		{NULL, 0},
};
static const struct hs_schema_word forwarding_words[] = {
		{"patch", HS_FORWARD_PATCH},
		{"bridge", HS_FORWARD_BRIDGE},
		{"route", HS_FORWARD_ROUTE},
		{NULL, 0},
};

static int read_port_name(json_t *name, const char *at, void *into, struct hs_error *err)
{
	if (!json_is_string(name))
		return hs_schema_wrong_type(name, at, "the name of a port", err);
	if (json_string_length(name) >= HS_PORT_NAME_MAX)
		return hs_error_set(err, "unknown_port", at, "the name of a port",
				"no port is called \"%.64s\"", json_string_value(name));
	snprintf(into, HS_PORT_NAME_MAX, "%s", json_string_value(name));
	return 0;
}

static json_t *print_port_name(const void *from)
{
	return json_string(from);
}

const struct hs_schema_list hs_config_worker_list = {
		.item = {.kind = HS_SCHEMA_UINT, .size = sizeof(uint16_t), .max = 1023},
		HS_SCHEMA_ITEMS(struct hs_config, workers),
		HS_SCHEMA_COUNT(struct hs_config, node.n_workers),
		.noun = "cores",
};

#define PORT_NAME                                                                                  \
	{                                                                                          \
		.kind = HS_SCHEMA_CUSTOM, .read = read_port_name, .print = print_port_name,        \
		.shape = "{'type': 'string', 'description': 'the name of a port'}"                 \
	}
static const struct hs_schema_list side_list = {
		.item = PORT_NAME,
		HS_SCHEMA_ITEMS(struct hs_pair_names, side),
		.noun = "port names",
		.bounds = "two port names",
};
static const struct hs_schema_list pair_list = {
		.item = {.kind = HS_SCHEMA_LIST,
				.min = 2,
				.max = 2,
				.expected = "a list of two port names",
				.list = &side_list},
		HS_SCHEMA_ITEMS(struct hs_config, pairs),
		HS_SCHEMA_COUNT(struct hs_config, n_pairs),
		.noun = "pairs",
};
static const struct hs_schema_list in_band_port_list = {
		.item = PORT_NAME,
		HS_SCHEMA_ITEMS(struct hs_config, in_band_ports),
		HS_SCHEMA_COUNT(struct hs_config, n_in_band_ports),
		.noun = "ports",
};

static bool is_patch(const void *from)
{
	return ((const struct hs_config *)from)->node.forwarding == HS_FORWARD_PATCH;
}

static bool names_ports(const void *from)
{
	return ((const struct hs_config *)from)->in_band.ports != UINT32_MAX;
}

static bool has_profiles(const void *from)
{
	return ((const struct hs_config *)from)->n_profiles > 0;
}

static bool has_exports(const void *from)
{
	return ((const struct hs_config *)from)->node.n_exports > 0;
}

static bool is_scraped(const void *from)
{
	return ((const struct hs_config *)from)->prometheus.on;
}

static bool is_scheduled(const void *from)
{
	return ((const struct hs_config *)from)->worker_scheduling.given;
}

static bool demands_cpu_latency(const void *from)
{
	return ((const struct hs_config *)from)->cpu_latency_us != HS_CPU_LATENCY_ANY_US;
}

static bool keeps_state(const void *from)
{
	return ((const struct hs_config *)from)->state_file[0];
}

// Lists that lib/api reads.
#define LIST_OF(name)  "{'type': 'array', 'items': {'$ref': 'request.json#/$defs/" name "'}}"
#define CONFIG(member) HS_SCHEMA_MEMBER(struct hs_config, member)
static const struct hs_schema_field node_fields[] = {
		{"id", HS_SCHEMA_UINT, CONFIG(node.id), .min = 0, .max = UINT16_MAX},
		{"name", HS_SCHEMA_TEXT, CONFIG(node.name), .min = 1, .max = 31},
		{NULL},
};

static const struct hs_schema_field scheduling_fields[] = {
		{"class", HS_SCHEMA_WORD, CONFIG(worker_scheduling.class), .words = class_words},
		{"priority", HS_SCHEMA_UINT, CONFIG(worker_scheduling.priority), .min = 1,
				.max = 99, .optional = true},
		{"nice", HS_SCHEMA_INT, CONFIG(worker_scheduling.nice), .min = (uint64_t)-20,
				.max = 19, .optional = true},
		{NULL},
};

static const struct hs_schema_field memory_fields[] = {
		{"huge_pages", HS_SCHEMA_BOOL, CONFIG(huge_pages)},
		{"mbufs", HS_SCHEMA_UINT, CONFIG(mbufs), .min = 1024, .max = 4194304},
		{"rules", HS_SCHEMA_UINT, CONFIG(node.rules), .min = 1,
				.max = HS_CONFIG_MOST_RULES},
		{"routes", HS_SCHEMA_UINT, CONFIG(node.routes), .min = 1,
				.max = HS_CONFIG_MOST_ROUTES},
		{"monitored_rules", HS_SCHEMA_UINT, CONFIG(monitored_rules), .min = 0,
				.max = 4194304},
		{"monitor_mib", HS_SCHEMA_UINT, CONFIG(monitor_mib), .min = 1, .max = 1048576},
		{NULL},
};

static const struct hs_schema_field forwarding_fields[] = {
		{"mode", HS_SCHEMA_WORD, CONFIG(node.forwarding), .words = forwarding_words},
		{"pairs", HS_SCHEMA_LIST, CONFIG(pairs), .max = HS_MAX_PORTS / 2,
				.expected = "a list of pairs of port names", .list = &pair_list,
				.given = is_patch},
		{"neighbours", HS_SCHEMA_KEPT, CONFIG(neighbours),
				.shape = LIST_OF("neighbour_add"),
				.look = hs_api_look_at_neighbour},
		{"routes", HS_SCHEMA_KEPT, CONFIG(routes), .shape = LIST_OF("route_add"),
				.look = hs_api_look_at_route},
		{"mac_age_s", HS_SCHEMA_UINT, CONFIG(node.mac_age_s), .min = 1, .max = 86400},
		{NULL},
};

static const struct hs_schema_field in_band_fields[] = {
		{"accept", HS_SCHEMA_BOOL, CONFIG(in_band.accept)},
		{"ports", HS_SCHEMA_LIST, CONFIG(in_band_ports), .max = HS_MAX_PORTS,
				.expected = "a list of port names", .list = &in_band_port_list,
				.given = names_ports},
		{"max_rules", HS_SCHEMA_UINT, CONFIG(in_band.max_rules), .min = 0, .max = 4194304},
		{"new_rules_per_s", HS_SCHEMA_UINT, CONFIG(in_band.new_rules_per_s), .min = 1,
				.max = 1000000},
		{"missed_repeats", HS_SCHEMA_UINT, CONFIG(in_band.missed_repeats), .min = 1,
				.max = 1000},
		{"key_file", HS_SCHEMA_TEXT, CONFIG(key_file), .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{"max_age_s", HS_SCHEMA_UINT, CONFIG(in_band.max_age_s), .min = 0, .max = 86400},
		{NULL},
};

static const struct hs_schema_field telemetry_fields[] = {
		{"clock", HS_SCHEMA_WORD, CONFIG(clock), .words = clock_words},
		{"clock_step_ms", HS_SCHEMA_UINT, CONFIG(clock_step_ms), .min = 10,
				.max = HS_CLOCK_STEP_MAX_NS / 1000000},
		{"layout", HS_SCHEMA_WORD, CONFIG(node.layout), .words = hs_config_layout_words},
		{"max_hops", HS_SCHEMA_UINT, CONFIG(node.max_hops), .min = 1, .max = 255},
		{"mss_clamp", HS_SCHEMA_BOOL, CONFIG(node.mss_clamp)},
		{"request_interval_s", HS_SCHEMA_UINT, CONFIG(in_band.interval_s), .min = 1,
				.max = 86400},
		{"request_schedule_s", HS_SCHEMA_CUSTOM, CONFIG(in_band),
				.read = hs_in_band_read_repeats, .print = hs_in_band_print_repeats,
				.shape = HS_IN_BAND_REPEATS_SHAPE},
		{"in_band", HS_SCHEMA_OBJECT, .fields = in_band_fields},
		{"host_side_policy", HS_SCHEMA_WORD, CONFIG(node.host_side_policy),
				.words = policy_words},
		{"fields", HS_SCHEMA_OBJECT, CONFIG(node.partial), .fields = hs_partial_fields},
		{"windows_ms", HS_SCHEMA_CUSTOM, CONFIG(window_ns), .read = hs_qos_lengths_read,
				.print = hs_qos_lengths_print, .shape = HS_QOS_LENGTHS_SHAPE},
		{NULL},
};

static const struct hs_schema_field state_fields[] = {
		{"file", HS_SCHEMA_TEXT, CONFIG(state_file), .required = true, .min = 1,
				.max = HS_STATE_FILE_BYTES - 1},
		{"sync", HS_SCHEMA_BOOL, CONFIG(state_sync)},
		{NULL},
};

static const struct hs_schema_field fields[] = {
		{"node", HS_SCHEMA_OBJECT, .fields = node_fields},
		{"workers", HS_SCHEMA_LIST, CONFIG(workers), .min = 1, .max = HS_MAX_WORKERS,
				.expected = "a list of core numbers",
				.list = &hs_config_worker_list},
		{"control_core", HS_SCHEMA_UINT, CONFIG(control_core), .min = 0, .max = 1023},
		{"polling", HS_SCHEMA_WORD, CONFIG(adaptive), .words = hs_config_polling_words,
				.expected = "busy or adaptive"},
		{"worker_scheduling", HS_SCHEMA_OBJECT, .fields = scheduling_fields,
				.given = is_scheduled},
		{"cpu_latency_us", HS_SCHEMA_UINT, CONFIG(cpu_latency_us), .min = 0,
				.max = HS_CPU_LATENCY_ANY_US, .given = demands_cpu_latency},
		{"workers_help_monitor", HS_SCHEMA_BOOL, CONFIG(workers_help_monitor)},
		{"memory", HS_SCHEMA_OBJECT, .fields = memory_fields},
		{"profiles", HS_SCHEMA_MAP, CONFIG(profiles), .max = HS_MAX_PORTS,
				.expected = "an object with a profile for each name",
				.list = &hs_config_profile_list, .given = has_profiles},
		{"ports", HS_SCHEMA_LIST, CONFIG(ports), .demanded = true, .max = HS_MAX_PORTS,
				.list = &hs_config_port_list},
		{"export", HS_SCHEMA_LIST, CONFIG(exports), .max = HS_MAX_EXPORTS,
				.expected = "a list of receivers of reports",
				.list = &hs_config_export_list, .given = has_exports},
		{"forwarding", HS_SCHEMA_OBJECT, .fields = forwarding_fields},
		{"telemetry", HS_SCHEMA_OBJECT, .fields = telemetry_fields},
		{"control", HS_SCHEMA_OBJECT, .fields = hs_config_control_fields},
		{"influx", HS_SCHEMA_LIST, HS_INFLUX_LIST(struct hs_config, influx)},
		{"state", HS_SCHEMA_OBJECT, .fields = state_fields, .given = keeps_state},
		{"prometheus", HS_SCHEMA_OBJECT, CONFIG(prometheus), .fields = hs_scrape_fields,
				.given = is_scraped},
		{"sandbox", HS_SCHEMA_BOOL, CONFIG(sandbox)},
		{"requests", HS_SCHEMA_KEPT, CONFIG(requests), .expected = "a list of requests",
				.shape = LIST_OF("change"), .look = hs_api_look_at_request},
		{NULL},
};

static void set_defaults(struct hs_config *config, const cpu_set_t *cores)
{

	*config = (struct hs_config){
			.node = {.rules = 65536,
					.forwarding = HS_FORWARD_PATCH,
					.mac_age_s = 300,
					.routes = 1024,
					.layout = HS_LAYOUT_ALIGNED,
					.max_hops = HS_NODE_MAX_HOPS,
					.host_side_policy = HS_HOST_STRIP},
			.adaptive = true,
			.cpu_latency_us = HS_CPU_LATENCY_ANY_US,
			.mbufs = 16384,
			.monitored_rules = 4096,
			.monitor_mib = 1024,
			.window_ns = HS_QOS_DEFAULT_LENGTHS,
			.clock = HS_CLOCK_UTC,
			.clock_step_ms = HS_CLOCK_STEP_NS / 1000000,
			.publish_queue = 1000,
			.prometheus = HS_SCRAPE_SETTINGS(HS_SCRAPE_PORT_NODE),
			.sandbox = true,
			.requests = json_array(),
	};
	hs_config_choose_cores(config, cores);
	hs_in_band_init(&config->in_band);
}

// Sets defaults that come from other values.
static void derive_defaults(struct hs_config *config, json_t *root)
{
	if (!config->node.name[0])
		snprintf(config->node.name, sizeof(config->node.name), "node%u", config->node.id);
	// The bits are set from the names once the ports are known.
	if (json_object_get(json_object_get(json_object_get(root, "telemetry"), "in_band"),
			    "ports"))
		config->in_band.ports = 0;
	config->worker_scheduling.given =
			json_object_size(json_object_get(root, "worker_scheduling")) > 0;
	config->prometheus.on = json_object_get(root, "prometheus") != NULL;
	if (!json_object_get(json_object_get(root, "control"), "bind")) {
		snprintf(config->bind.text[0], HS_ENDPOINT_BYTES, "ipc:///run/hopsight/%s.api",
				config->node.name);
		config->bind.n = 1;
	}
}

// Takes over `root`.
static int take_root(json_t *root, const cpu_set_t *cores, struct hs_config *config,
		struct hs_errors *errors)
{
	cpu_set_t own;

	if (!cores)
		cores = hs_config_own_cores(&own);
	set_defaults(config, cores);
	hs_schema_read_all(fields, root, "", config, errors);
	derive_defaults(config, root);
	int rc = hs_config_check(config, cores, errors);
	json_decref(root);
	if (rc < 0)
		hs_config_fini(config);
	return rc;
}

int hs_config_load(const char *file, const cpu_set_t *cores, struct hs_config *config,
		struct hs_errors *errors)
{
	struct hs_error err = {0};
	json_t *root;
	int rc = hs_schema_load_file(file, &root, &err);

	if (rc < 0)
		hs_errors_keep(errors, &err);
	return rc < 0 ? rc : take_root(root, cores, config, errors);
}

json_t *hs_config_print(const struct hs_config *config)
{
	return hs_schema_print(fields, config);
}

json_t *hs_config_schema(void)
{
	return hs_schema_describe(fields);
}
