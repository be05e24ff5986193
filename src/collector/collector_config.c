// SPDX-License-Identifier: BSD-3-Clause
#include "collector_config.h"

#include "collector_threshold.h"

#include "config_check.h"
#include "config_parts.h"
#include "ip_port_text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_KIB     16384
#define PUSH_NS	       INT64_C(10000000000)
#define CONFIG(member) HS_SCHEMA_MEMBER(struct hs_collector_config, member)

static_assert(offsetof(struct hs_collector_config, base) == 0,
		"tables of src/config count from it");

// ---- where reports come in ----

#define LISTEN(member) HS_SCHEMA_MEMBER(struct hs_collector_listen, member)
static const struct hs_schema_field listen_fields[] = {
		{"udp", HS_SCHEMA_PARSED, LISTEN(udp), .required = true, .text = &hs_ip_port_text,
				.expected = "an address and a port like 127.0.0.1:32766 or "
					    "[::1]:32766"},
		{"buffer_kib", HS_SCHEMA_UINT, LISTEN(buffer_kib), .min = 16, .max = 1048576},
		{NULL},
};

static int check_listen(
		json_t *item, const char *path, void *into, size_t index, struct hs_error *err)
{
	const struct hs_collector_config *config = into;
	char at[48], text[HS_IP_PORT_TEXT];

	(void)item;
	snprintf(at, sizeof(at), "%s.udp", path);
	for (size_t i = 0; i < index; i++) {
		const struct hs_ip_port *udp = &config->listen[i].udp;
		if (hs_ip_ports_collide(udp, &config->listen[index].udp))
			return hs_error_set(err, "duplicate", at, "each address and port once",
					"listen[%zu] takes it already: %s", i,
					hs_ip_port_write(udp, text));
	}
	return 0;
}

static const struct hs_schema_list listen_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = listen_fields},
		HS_SCHEMA_ITEMS(struct hs_collector_config, listen),
		HS_SCHEMA_COUNT(struct hs_collector_config, n_listen),
		.noun = "sockets",
		.fresh = &(const struct hs_collector_listen){.buffer_kib = BUFFER_KIB},
		.check = check_listen,
};

#define PORT(member) HS_SCHEMA_MEMBER(struct hs_collector_port, member)
static const struct hs_schema_field port_fields[] = {
		{"name", HS_SCHEMA_TEXT, PORT(port.name), .demanded = true, .min = 1,
				.max = HS_PORT_NAME_MAX - 1},
		{"iface", HS_SCHEMA_CUSTOM, PORT(port), .read = hs_config_read_iface,
				.print = hs_config_print_iface, .shape = HS_CONFIG_IFACE_SHAPE},
		{"devargs", HS_SCHEMA_CUSTOM, PORT(port), .read = hs_config_read_devargs,
				.print = hs_config_print_devargs, .shape = HS_CONFIG_DEVARGS_SHAPE},
		{"pci", HS_SCHEMA_CUSTOM, PORT(port), .read = hs_config_read_pci,
				.print = hs_config_print_pci, .shape = HS_CONFIG_PCI_SHAPE},
		{"driver", HS_SCHEMA_CUSTOM, PORT(port), .read = hs_config_read_driver,
				.print = hs_config_print_driver, .shape = HS_CONFIG_DRIVER_SHAPE},
		{"mtu", HS_SCHEMA_UINT, PORT(port.mtu), .min = HS_PORT_MTU_MIN,
				.max = HS_PORT_MTU_MAX},
		{"rx_queues", HS_SCHEMA_UINT, PORT(port.rx_queues), .min = 1,
				.max = HS_MAX_WORKERS},
		{"rx_descriptors", HS_SCHEMA_UINT, PORT(port.rx_descriptors), .min = 128,
				.max = 32768},
		{"udp_port", HS_SCHEMA_UINT, PORT(udp_port), .required = true, .min = 1,
				.max = UINT16_MAX},
		{NULL},
};

static const struct hs_schema_list port_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = port_fields},
		HS_SCHEMA_ITEMS(struct hs_collector_config, ports),
		HS_SCHEMA_COUNT(struct hs_collector_config, n_ports),
		.noun = "ports",
		.fresh =
				&(const struct hs_collector_port){
						.port = {.mtu = HS_PORT_MTU_DEFAULT,
								.rx_queues = 1,
								.rx_descriptors = 1024,
								.side = HS_SIDE_NETWORK}},
};

// ---- what is accepted ----

static const struct hs_schema_list format_list = {
		.item = {.kind = HS_SCHEMA_WORD,
				.size = sizeof(uint8_t),
				.words = hs_config_report_words},
		HS_SCHEMA_ITEMS(struct hs_collector_config, formats),
		HS_SCHEMA_COUNT(struct hs_collector_config, n_formats),
		.noun = "formats",
};

static const char *format_name(unsigned format)
{
	return hs_config_report_words[format].text;
}

static int format_of(const char *name)
{
	for (int i = 0; i < HS_COLLECTOR_FORMATS; i++)
		if (strcmp(format_name((unsigned)i), name) == 0)
			return i;
	return -1;
}

static void check_profile(
		json_t *item, const char *path, void *into, size_t index, struct hs_errors *errors)
{
	struct hs_profile_config *profile = &((struct hs_collector_config *)into)->profiles[index];
	char at[96];

	(void)item;
	snprintf(at, sizeof(at), "%s.method", path);
	if (format_of(profile->name) < 0)
		hs_errors_add(errors, "bad_value", path, "0.5, 1.0 or 2.0",
				"\"%s\" is no format of reports", profile->name);
	if (profile->method == HS_METHOD_INT)
		hs_config_check_profile(profile, path, errors);
	else
		hs_errors_add(errors, "conflict", at, "int",
				"packets in telemetry reports carry INT");
}

static const struct hs_schema_list profile_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = hs_config_profile_fields},
		HS_SCHEMA_ITEMS(struct hs_collector_config, profiles),
		.name = offsetof(struct hs_profile_config, name),
		.name_bytes = HS_PORT_NAME_MAX,
		HS_SCHEMA_COUNT(struct hs_collector_config, n_profiles),
		.noun = "profiles",
		.check_all = check_profile,
		.fresh = &hs_config_profile_fresh,
};

static const struct hs_schema_word lenient_words[] = {{"intcollector", true}, {NULL, 0}};

static bool is_lenient(const void *from)
{
	return ((const struct hs_collector_config *)from)->collect.intercollector;
}

static bool has_profiles(const void *from)
{
	return ((const struct hs_collector_config *)from)->n_profiles > 0;
}

static const struct hs_schema_field accept_fields[] = {
		{"formats", HS_SCHEMA_LIST, CONFIG(formats), .min = 1, .max = HS_COLLECTOR_FORMATS,
				.expected = "a list of formats of reports", .list = &format_list},
		{"lenient", HS_SCHEMA_WORD, CONFIG(collect.intercollector), .words = lenient_words,
				.given = is_lenient},
		{"profiles", HS_SCHEMA_MAP, CONFIG(profiles), .max = HS_COLLECTOR_FORMATS,
				.expected = "an object with a profile for each format",
				.list = &profile_list, .given = has_profiles},
		{NULL},
};

// ---- tables, events, units ----

#define ENTRIES(most) .min = 1, .max = (most)
static const struct hs_schema_field memory_fields[] = {
		{"flows", HS_SCHEMA_UINT, CONFIG(collect.max_flows), ENTRIES(16777216)},
		{"queues", HS_SCHEMA_UINT, CONFIG(collect.max_queues), ENTRIES(16777216)},
		{"links", HS_SCHEMA_UINT, CONFIG(collect.max_links), ENTRIES(16777216)},
		{"exporters", HS_SCHEMA_UINT, CONFIG(collect.max_exporters), ENTRIES(1048576)},
		{"drops", HS_SCHEMA_UINT, CONFIG(collect.max_drops), ENTRIES(1048576)},
		{"huge_pages", HS_SCHEMA_BOOL, CONFIG(base.huge_pages)},
		{"mbufs", HS_SCHEMA_UINT, CONFIG(base.mbufs), .min = 1024, .max = 4194304},
		{NULL},
};

#define THRESHOLD(NAME)                                                                            \
	CONFIG(collect.thresholds[HS_COLLECT_##NAME]), .read = hs_collector_threshold_read,        \
						       .print = hs_collector_threshold_print,      \
						       .shape = HS_COLLECTOR_THRESHOLD_SHAPE
static const struct hs_schema_field event_fields[] = {
		{"flow_latency", HS_SCHEMA_CUSTOM, THRESHOLD(FLOW_LATENCY)},
		{"hop_latency", HS_SCHEMA_CUSTOM, THRESHOLD(HOP_LATENCY)},
		{"queue_occupancy", HS_SCHEMA_CUSTOM, THRESHOLD(QUEUE_OCCUPANCY)},
		{"queue_congestion", HS_SCHEMA_CUSTOM, THRESHOLD(QUEUE_CONGESTION)},
		{"link_utilisation", HS_SCHEMA_CUSTOM, THRESHOLD(LINK_UTILISATION)},
		{"gap_ns", HS_SCHEMA_INT, CONFIG(collect.gap_ns), .min = 0, .max = INT64_MAX},
		{"interval", HS_SCHEMA_UINT, CONFIG(collect.interval), .min = 0, .max = INT64_MAX},
		{"new_keys_per_s", HS_SCHEMA_UINT, CONFIG(collect.new_keys_per_s),
				ENTRIES(100000000)},
		{NULL},
};

static int check_units(
		json_t *item, const char *path, void *into, size_t index, struct hs_error *err)
{
	const struct hs_collector_config *config = into;
	char at[48];

	(void)item;
	snprintf(at, sizeof(at), "%s.node_id", path);
	for (size_t i = 0; i < index; i++) {
		if (config->units[i].node_id == config->units[index].node_id)
			return hs_error_set(err, "duplicate", at,
					"each node once, and once no node_id",
					"units[%zu] is of the same nodes", i);
	}
	return 0;
}

static const struct hs_schema_list unit_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = hs_collector_unit_fields},
		HS_SCHEMA_ITEMS(struct hs_collector_config, units),
		HS_SCHEMA_COUNT(struct hs_collector_config, n_units),
		.noun = "entries",
		.fresh = &(const struct hs_collector_units){.node_id = UINT32_MAX},
		.check = check_units,
};

const struct hs_collector_units *hs_collector_units_of(
		const struct hs_collector_config *config, uint32_t node_id)
{
	static const struct hs_collector_units ours = {.node_id = UINT32_MAX};
	const struct hs_collector_units *found = &ours;

	for (unsigned i = 0; i < config->n_units; i++) {
		if (config->units[i].node_id == node_id)
			return &config->units[i];
		if (config->units[i].node_id == UINT32_MAX)
			found = &config->units[i];
	}
	return found;
}

// ---- the whole ----

static bool has_ports(const void *from)
{
	return ((const struct hs_collector_config *)from)->n_ports > 0;
}

static bool has_listen(const void *from)
{
	return ((const struct hs_collector_config *)from)->n_listen > 0;
}

static bool has_units(const void *from)
{
	return ((const struct hs_collector_config *)from)->n_units > 0;
}

static bool keeps_state(const void *from)
{
	return ((const struct hs_collector_config *)from)->base.state_file[0];
}

static bool is_scraped(const void *from)
{
	return ((const struct hs_collector_config *)from)->prometheus.on;
}

static const struct hs_schema_field prometheus_fields[] = {
		{"bind", HS_SCHEMA_PARSED, CONFIG(prometheus.bind), HS_SCRAPE_BIND},
		{"max_series", HS_SCHEMA_UINT, CONFIG(prometheus.max_series), .min = 100,
				.max = 1000000},
		{"flows", HS_SCHEMA_BOOL, CONFIG(flow_series)},
		{NULL},
};

static const struct hs_schema_field state_fields[] = {
		{"file", HS_SCHEMA_TEXT, CONFIG(base.state_file), .required = true, .min = 1,
				.max = HS_STATE_FILE_BYTES - 1},
		{NULL},
};

static const struct hs_schema_field fields[] = {
		{"name", HS_SCHEMA_TEXT, CONFIG(base.node.name), .min = 1, .max = 31},
		{"listen", HS_SCHEMA_LIST, CONFIG(listen), .max = HS_COLLECT_MAX_LISTENERS,
				.expected = "a list of sockets like {\"udp\": \"127.0.0.1:32766\"}",
				.list = &listen_list, .given = has_listen},
		{"ports", HS_SCHEMA_LIST, CONFIG(ports), .max = HS_COLLECT_MAX_LISTENERS,
				.expected = "a list of ports", .list = &port_list,
				.given = has_ports},
		{"workers", HS_SCHEMA_LIST, CONFIG(base.workers), .min = 1, .max = HS_MAX_WORKERS,
				.expected = "a list of one core number",
				.list = &hs_config_worker_list},
		{"control_core", HS_SCHEMA_UINT, CONFIG(base.control_core), .min = 0, .max = 1023},
		{"polling", HS_SCHEMA_WORD, CONFIG(base.adaptive), .words = hs_config_polling_words,
				.expected = "busy or adaptive"},
		{"latency_us", HS_SCHEMA_UINT, CONFIG(latency_us), .min = 0, .max = 10000},
		{"accept", HS_SCHEMA_OBJECT, .fields = accept_fields},
		{"memory", HS_SCHEMA_OBJECT, .fields = memory_fields},
		{"events", HS_SCHEMA_OBJECT, .fields = event_fields},
		{"units", HS_SCHEMA_LIST, CONFIG(units), .max = HS_COLLECTOR_MAX_UNITS,
				.expected = "a list of units of nodes", .list = &unit_list,
				.given = has_units},
		{"push_interval_s", HS_SCHEMA_SECONDS, CONFIG(collect.push_ns), .least = 0,
				.most = 86400},
		{"prometheus", HS_SCHEMA_OBJECT, .fields = prometheus_fields, .given = is_scraped},
		{"influx", HS_SCHEMA_LIST,
				HS_INFLUX_COLLECTOR_LIST(struct hs_collector_config, base.influx)},
		{"control", HS_SCHEMA_OBJECT, .fields = hs_config_control_fields},
		{"state", HS_SCHEMA_OBJECT, .fields = state_fields, .given = keeps_state},
		{"sandbox", HS_SCHEMA_BOOL, CONFIG(base.sandbox)},
		{NULL},
};

static void set_defaults(struct hs_collector_config *config, const cpu_set_t *cores)
{
	*config = (struct hs_collector_config){
			.base = {.adaptive = true,
					.mbufs = 16384,
					.publish_queue = 1000,
					.sandbox = true},
			.prometheus = HS_SCRAPE_SETTINGS(HS_SCRAPE_PORT_COLLECTOR),
			.latency_us = 1000,
			.n_formats = HS_COLLECTOR_FORMATS,
			.formats = {HS_INT_REPORT_0_5, HS_INT_REPORT_1_0, HS_INT_REPORT_2_0},
	};
	hs_collect_config_init(&config->collect);
	config->collect.push_ns = PUSH_NS;
	snprintf(config->base.node.name, sizeof(config->base.node.name), "collector");
	hs_config_choose_cores(&config->base, cores);
}

// Sets defaults that come from other values.
static void derive_defaults(struct hs_collector_config *config, json_t *root)
{
	struct hs_config *base = &config->base;

	config->prometheus.on = json_object_get(root, "prometheus") != NULL;
	base->n_ports = config->n_ports;
	for (unsigned i = 0; i < config->n_ports; i++)
		base->ports[i] = config->ports[i].port;
	if (!json_object_get(json_object_get(root, "control"), "bind")) {
		snprintf(base->bind.text[0], HS_ENDPOINT_BYTES, "ipc:///run/hopsight/%s.api",
				base->node.name);
		base->bind.n = 1;
	}
}

static int check_formats(struct hs_collector_config *config, struct hs_error *err)
{
	char at[48];

	for (unsigned i = 0; i < HS_COLLECTOR_FORMATS; i++)
		config->collect.formats[i].taken = false;
	for (unsigned i = 0; i < config->n_formats; i++) {
		struct hs_collect_format *format = &config->collect.formats[config->formats[i]];
		snprintf(at, sizeof(at), "accept.formats[%u]", i);
		if (format->taken)
			return hs_error_set(err, "duplicate", at, "each format once",
					"%s stands there already", format_name(config->formats[i]));
		format->taken = true;
	}
	for (unsigned i = 0; i < config->n_profiles; i++) {
		const struct hs_profile_config *profile = &config->profiles[i];
		struct hs_collect_format *format =
				&config->collect.formats[format_of(profile->name)];
		snprintf(at, sizeof(at), "accept.profiles.%s", profile->name);
		if (!format->taken)
			return hs_error_set(err, "conflict", at, "a format of accept.formats",
					"reports %s are not accepted", profile->name);
		format->packet = profile->settings;
	}
	return 0;
}

static int check_ways_in(struct hs_collector_config *config, struct hs_error *err)
{
	if (config->n_listen + config->n_ports == 0)
		return hs_error_set(err, "missing_field", "listen",
				"at least one entry of listen or ports",
				"there is no way in for reports");
	if (config->n_listen + config->n_ports > HS_COLLECT_MAX_LISTENERS)
		return hs_error_set(err, "out_of_range", "ports", "at most 16 with those of listen",
				"%u sockets and %u ports are too many", config->n_listen,
				config->n_ports);
	return 0;
}

// A descriptor of a device's receive queue holds a buffer. Packet sockets have no descriptors.
static int check_buffers(struct hs_collector_config *config, struct hs_error *err)
{
	uint32_t n_descriptors = 0;
	char expected[48];

	for (unsigned i = 0; i < config->n_ports; i++) {
		const struct hs_port_config *port = &config->ports[i].port;
		if (port->kind != HS_PORT_IFACE || strcmp(port->driver, "af_xdp") == 0)
			n_descriptors += port->rx_queues * port->rx_descriptors;
	}
	if (config->base.mbufs > n_descriptors)
		return 0;
	snprintf(expected, sizeof(expected), "more than %u", n_descriptors);
	return hs_error_set(err, "conflict", "memory.mbufs", expected,
			"%u buffers are too few: the receive queues of all ports have "
			"%u descriptors, each of which holds a buffer",
			config->base.mbufs, n_descriptors);
}

// Allows one worker, because each table has one owner.
static void check_workers(const struct hs_collector_config *config, const cpu_set_t *cores,
		struct hs_errors *errors)
{
	if (config->base.node.n_workers > 1)
		hs_errors_add(errors, "out_of_range", "workers", "one core",
				"%u workers: a collector has one; start another collector with "
				"listeners of its own for each further core",
				config->base.node.n_workers);
	else
		hs_config_check_cores(&config->base, cores, errors);
}

static int check_name(struct hs_collector_config *config, struct hs_error *err)
{
	return hs_schema_check_name(config->base.node.name, "name", err);
}

// A check of members whose values are right alone. NULL ends the list of members.
static const struct part {
	const char *of[3];
	int (*check)(struct hs_collector_config *, struct hs_error *);
} parts[] = {
		{{"name"}, check_name},
		{{"listen", "ports"}, check_ways_in},
		{{"ports", "memory.mbufs"}, check_buffers},
		{{"accept"}, check_formats},
};

static int check(struct hs_collector_config *config, const cpu_set_t *cores,
		struct hs_errors *errors)
{
	static const char *const of_cores[] = {"workers", "control_core", NULL};
	static const char *const of_control[] = {"control.insecure", "control.keys", NULL};
	struct hs_error err = {0};
	unsigned n = errors->n; // errors that were found before

	if (!hs_errors_touch(errors, n, of_cores))
		check_workers(config, cores, errors);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!hs_errors_touch(errors, n, parts[i].of) && parts[i].check(config, &err) < 0)
			hs_errors_keep(errors, &err);
	hs_influx_check(&config->base.influx, errors);
	hs_config_check_ports(&config->base, errors);
	if (!hs_errors_touch(errors, n, of_control))
		hs_config_check_control(&config->base, errors);
	return errors->n ? -EINVAL : 0;
}

// Takes over `root`.
static int take_root(json_t *root, const cpu_set_t *cores, struct hs_collector_config *config,
		struct hs_errors *errors)
{
	cpu_set_t own;

	if (!cores)
		cores = hs_config_own_cores(&own);
	set_defaults(config, cores);
	hs_schema_read_all(fields, root, "", config, errors);
	derive_defaults(config, root);
	int rc = check(config, cores, errors);
	json_decref(root);
	if (rc < 0)
		hs_collector_config_fini(config);
	return rc;
}

int hs_collector_config_load(const char *file, const cpu_set_t *cores,
		struct hs_collector_config *config, struct hs_errors *errors)
{
	struct hs_error err = {0};
	json_t *root;
	int rc = hs_schema_load_file(file, &root, &err);

	if (rc < 0)
		hs_errors_keep(errors, &err);
	return rc < 0 ? rc : take_root(root, cores, config, errors);
}

void hs_collector_config_fini(struct hs_collector_config *config)
{
	hs_config_fini(&config->base);
}

json_t *hs_collector_config_print(const struct hs_collector_config *config)
{
	return hs_schema_print(fields, config);
}

json_t *hs_collector_config_schema(void)
{
	return hs_schema_describe(fields);
}

void hs_collector_config_eal(const struct hs_collector_config *config, struct hs_eal_config *eal)
{
	const struct hs_config *base = &config->base;

	*eal = (struct hs_eal_config){
			.huge_pages = base->huge_pages,
			.memory_bytes = hs_pool_bytes(
					hs_config_mbufs(base), hs_config_mbuf_bytes(base)),
			.control_core = base->control_core,
			.n_workers = 1,
			.worker_cores = {base->workers[0]},
	};
	snprintf(eal->file_prefix, sizeof(eal->file_prefix), "hopsight-%s", base->node.name);
	for (unsigned i = 0; i < base->n_ports; i++)
		eal->pci |= base->ports[i].kind == HS_PORT_PCI;
}
