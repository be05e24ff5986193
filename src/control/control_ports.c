// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as replies.
#include "control_ports.h"
#include "control_mtu.h"

#include "int_ask.h"
#include "int_fields.h"
#include "route_text.h"
#include "rule_admission.h"
#include "rule_instructions.h"

static const struct hs_schema_word sides[] = {
		{"host", HS_SIDE_HOST}, {"network", HS_SIDE_NETWORK}, {NULL, 0}};

// ---- ports ----

struct shown_port {
	struct hs_metric_view view; // the rows of metrics count from it
	const char *name, *driver, *device, *profile;
	char mac[HS_ROUTE_TEXT];
	const char *method, *version, *mode, *carrier; // of the profile
	unsigned index, id;
	uint32_t mtu_needed_bytes;
	uint64_t rate_bps, queue_packets;
	json_t *instructions; // printing takes them over
	uint8_t side;
};

#define PORT(...) HS_SCHEMA_ROW(struct shown_port, __VA_ARGS__)
static const struct hs_schema_field shown_port_fields[] = {
		PORT(STRING, name, "the port's name"),
		PORT(UINT, index, "the port's number in counters and masks"),
		PORT(WORD, side, "what the port leads to", .words = sides),
		PORT(STRING, driver, "DPDK's driver"),
		PORT(STRING, device, "what the port is made of, as the configuration names it",
				.optional = true),
		PORT(STRING, profile, "the name of the port's profile, if it has one",
				.optional = true),
		PORT(STRING, method, "the profile's method", .optional = true),
		PORT(STRING, version, "of method int: the version", .optional = true),
		PORT(STRING, mode, "of method int: what packets carry", .optional = true),
		PORT(STRING, carrier, "of method int: where INT is in a packet", .optional = true),
		PORT(TAKEN, instructions, "of method int: what a rule may ask the version for",
				.optional = true, .shape = hs_rule_instructions_shape),
		PORT(UINT, id, "the port's number in INT"),
		PORT(TEXT, mac, "the MAC address of its interface or device", .required = true),
		PORT(UINT, rate_bps, "the rate of the port's egress queue, if it has one",
				.optional = true),
		PORT(UINT, queue_packets, "how many packets may wait in the egress queue",
				.optional = true),
		PORT(UINT, mtu_needed_bytes,
				"of a network port: the MTU with which every field of a whole path "
				"fits "
				"a host's packet of full size",
				.optional = true),
		{HS_METRIC_MEMBERS(port)},
		{"drops", HS_SCHEMA_OBJECT, .fields = hs_metric_drops,
				.help = "packets that went no further, by reason"},
		{"events", HS_SCHEMA_OBJECT, .fields = hs_metric_events,
				.help = "what happened to packets that went on"},
		{NULL},
};
const struct hs_schema_field hs_control_ports_fields[] = {
		{"ports", HS_SCHEMA_TAKEN, .items = shown_port_fields,
				.help = "each port with its counters; stats_get explains them"},
		{NULL},
};

// Returns the instructions of a version. The checksum complement is left out, because it is no
// value.
static json_t *instructions_of(enum hs_int_version version)
{
	const uint32_t all = HS_RULE_TRACE_INT | (UINT16_MAX & ~HS_RULE_ASKS_checksum_complement);
	uint32_t known;
	uint16_t lacks;

	hs_int_ask(version, all, &lacks);
	known = all & ~(uint32_t)lacks;
	return hs_rule_print_instructions(&known);
}

static void show_profile(const struct hs_profile *profile, struct shown_port *port)
{
	const struct hs_int_settings *settings = hs_profile_int(profile);

	if (!profile->family)
		return;
	port->method = hs_profile_probe(profile) ? "probe"
						 : hs_rule_method_name(hs_profile_method(profile));
	if (!settings)
		return;
	port->version = hs_int_version_name(settings->version);
	port->mode = hs_int_mode_name(settings->mode);
	port->carrier = hs_int_carrier_name(settings->carrier);
	port->instructions = instructions_of(settings->version);
}

json_t *hs_control_ports(const struct hs_node *node)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	json_t *list = json_array();

	hs_node_snapshot(node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		const struct hs_port *of = hs_node_port(node, i);
		struct shown_port port = {.name = of->config.name,
				.driver = of->driver_name,
				.device = of->config.device,
				.profile = of->config.profile,
				.index = i,
				.id = hs_port_id(of),
				.rate_bps = of->config.rate_bps,
				.queue_packets = of->config.rate_bps ? of->config.queue_packets : 0,
				.side = of->side,
				.mtu_needed_bytes = hs_control_mtu_of_port(node, i)};
		hs_route_mac_text(of->mac, port.mac);
		show_profile(&hs_node_config(node)->profiles[i], &port);
		hs_metric_view_port(node, i, &ports[i], &port.view);
		json_array_append_new(list, hs_schema_print(shown_port_fields, &port));
	}
	return hs_schema_print(hs_control_ports_fields, &list);
}

// ---- drops ----

struct shown_drop {
	const char *port, *reason, *text;
	uint64_t packets;
};

#define DROP(...) HS_SCHEMA_ROW(struct shown_drop, __VA_ARGS__)
static const struct hs_schema_field shown_drop_fields[] = {
		DROP(STRING, port, "the port that counts the drop"),
		DROP(STRING, reason, "a word for scripts"),
		DROP(STRING, text, "the reason as a sentence"),
		DROP(UINT, packets, "how many so far"),
		{NULL},
};

struct shown_lost {
	const char *name;
	struct hs_port_device_stats device;
};

#define LOST(...)   HS_SCHEMA_ROW(struct shown_lost, __VA_ARGS__)
#define DEVICE(...) HS_SCHEMA_ROW_AS(struct shown_lost, UINT, __VA_ARGS__)
static const struct hs_schema_field shown_lost_fields[] = {
		LOST(STRING, name, "the port's name"),
		DEVICE("rx_missed", device.rx_missed,
				"packets lost before the node could take them"),
		DEVICE("rx_errors", device.rx_errors, "packets that could not be received"),
		{NULL},
};

struct shown_drops {
	json_t *drops, *ports;
};

#define DROPS(...) HS_SCHEMA_ROW(struct shown_drops, TAKEN, __VA_ARGS__)
const struct hs_schema_field hs_control_drops_fields[] = {
		DROPS(drops, "each port and reason with dropped packets",
				.items = shown_drop_fields),
		DROPS(ports, "what ended at each port before the node could count it as received",
				.items = shown_lost_fields),
		{NULL},
};

static json_t *lost_before(const struct hs_node *node)
{
	json_t *list = json_array();

	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		struct hs_port *port = hs_node_port(node, i);
		struct shown_lost lost = {.name = port->config.name};
		hs_port_device_stats(port, &lost.device);
		json_array_append_new(list, hs_schema_print(shown_lost_fields, &lost));
	}
	return list;
}

json_t *hs_control_drops(const struct hs_node *node)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	struct shown_drops shown = {json_array(), lost_before(node)};

	hs_node_snapshot(node, ports);
	for (unsigned at = 0; at < hs_node_port_count(node) * HS_DROP_COUNT; at++) {
		uint16_t i = (uint16_t)(at / HS_DROP_COUNT);
		unsigned reason = at % HS_DROP_COUNT;
		const struct shown_drop drop = {hs_node_port(node, i)->config.name,
				hs_drop_name(reason), hs_drop_text(reason), ports[i].drops[reason]};
		if (drop.packets)
			json_array_append_new(
					shown.drops, hs_schema_print(shown_drop_fields, &drop));
	}
	return hs_schema_print(hs_control_drops_fields, &shown);
}

// ---- all counters ----

struct stat {
	const struct hs_metric *metric;
	int64_t value;
	struct hs_metric_labels labels;
};

static bool is_time(const void *stat)
{
	return ((const struct stat *)stat)->metric->nanoseconds;
}

static bool is_no_time(const void *stat)
{
	return !is_time(stat);
}

static const struct hs_schema_word kinds[] = {
		{"counter", HS_METRIC_COUNTER}, {"gauge", HS_METRIC_GAUGE}, {NULL, 0}};

#define METRIC(...) HS_SCHEMA_ROW(struct hs_metric, __VA_ARGS__)
static const struct hs_schema_field metric_rows[] = {
		METRIC(STRING, name, "as other programs know it"),
		METRIC(WORD, kind, "whether the number only grows", .words = kinds),
		METRIC(STRING, unit, "packets, bytes, seconds, ..."),
		{"help", HS_SCHEMA_STRING, HS_SCHEMA_MEMBER(struct hs_metric, field.help),
				.help = "what the number means"},
		{NULL},
};
#define LABEL(key, ...)                                                                            \
	HS_SCHEMA_ROW_AS(struct stat, STRING, #key, labels.key, __VA_ARGS__, .optional = true)
#define STAT(...) HS_SCHEMA_ROW(struct stat, __VA_ARGS__)
static const struct hs_schema_field stat_fields[] = {
		STAT(MEMBERS, metric, NULL, .behind = true, .fields = metric_rows),
		STAT(INT, value, NULL, .given = is_no_time),
		STAT(SECONDS, value, "the number now; times in seconds", .given = is_time,
				.required = true),
		LABEL(port, "of this port"),
		LABEL(reason, "of a drop"),
		LABEL(event, "of packets that went on"),
		LABEL(worker, "of this worker"),
		{NULL},
};
const struct hs_schema_field hs_control_stats_fields[] = {
		{"stats", HS_SCHEMA_TAKEN, .items = stat_fields, .help = "each counter and gauge"},
		{NULL},
};

static void add_stat(void *list, const struct hs_metric *metric,
		const struct hs_metric_labels *labels, int64_t value)
{
	const struct stat stat = {metric, value, *labels};

	json_array_append_new(list, hs_schema_print(stat_fields, &stat));
}

json_t *hs_control_stats(const struct hs_node *node, const struct hs_node_totals *totals)
{
	json_t *list = json_array();

	hs_metrics_visit(node, totals, add_stat, list);
	return hs_schema_print(hs_control_stats_fields, &list);
}
