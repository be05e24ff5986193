// SPDX-License-Identifier: BSD-3-Clause
// "export": receivers of telemetry reports.
#include "config_parts.h"

#include "config.h"

#include "int_report.h"
#include "ip_port_text.h"
#include "route_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hs_schema_word hs_config_report_words[] = {
		{"0.5", HS_INT_REPORT_0_5},
		{"1.0", HS_INT_REPORT_1_0},
		{"2.0", HS_INT_REPORT_2_0},
		{NULL, 0},
};
static const struct hs_schema_word format_words[] = {
		{"0.5", HS_INT_REPORT_0_5},
		{"1.0", HS_INT_REPORT_1_0},
		{"2.0", HS_INT_REPORT_2_0},
		{"label", HS_EXPORT_LABEL},
		{NULL, 0},
};
static const struct hs_schema_word on_words[] = {
		{"packet", HS_EXPORT_ON_PACKET},
		{"change", HS_EXPORT_ON_CHANGE},
		{NULL, 0},
};

// ---- addresses ----

#define NOT_OF_A_HOST "is not the address of a host"

// Returns whether no single host has the address: it is unspecified, or that of a group.
static bool is_no_host(const uint8_t address[16])
{
	bool ipv4 = hs_ip_address_is_ipv4(address);

	return hs_ip_address_is_any(address) || (ipv4 ? address[12] >= 224 : address[0] == 0xff);
}

static const char *read_host(const char *text, uint8_t address[16])
{
	const char *wrong = hs_ip_address_read(text, address);

	if (wrong)
		return wrong;
	return is_no_host(address) ? NOT_OF_A_HOST : NULL;
}

// Reads "192.0.2.9:32766" or "[2001:db8::9]:32766".
static const char *parse_to(const char *text, void *at, const char **code)
{
	const struct hs_ip_port *to = at;
	const char *wrong = hs_ip_port_text_parse(text, at, code);

	return !wrong && is_no_host(to->address) ? NOT_OF_A_HOST : wrong;
}

static const char *parse_from(const char *text, void *at, const char **code)
{
	(void)code;
	return read_host(text, at);
}

static void write_from(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	hs_ip_address_write(at, text);
}

static const char *parse_mac(const char *text, void *at, const char **code)
{
	(void)code;
	return hs_route_read_mac(text, at);
}

static void write_mac(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	hs_route_mac_text(at, text);
}

static const struct hs_schema_text to_text = {
		parse_to, hs_ip_port_text_write, HS_IP_PORT_TEXT_SHAPE};
static const struct hs_schema_text from_text = {
		parse_from, write_from, "{'type': 'string', 'pattern': '^[0-9A-Fa-f:.]+$'}"};
static const struct hs_schema_text mac_text = {parse_mac, write_mac,
		"{'type': 'string', 'pattern': '^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$'}"};

// ---- the table ----

static bool has_port(const void *from)
{
	return ((const struct hs_export_item *)from)->port[0];
}

static bool is_report(const void *from)
{
	return ((const struct hs_export_item *)from)->of.format != HS_EXPORT_LABEL;
}

static bool has_from(const void *from)
{
	static const uint8_t none[16];
	return memcmp(((const struct hs_export_item *)from)->of.from, none, sizeof(none)) != 0;
}

static bool is_on_change(const void *from)
{
	return ((const struct hs_export_item *)from)->of.on == HS_EXPORT_ON_CHANGE;
}

static bool has_flows(const void *from)
{
	return ((const struct hs_export_item *)from)->of.flows;
}

static bool has_quota(const void *from)
{
	return ((const struct hs_export_item *)from)->of.quota_per_s;
}

static bool has_queue(const void *from)
{
	return ((const struct hs_export_item *)from)->of.queue_packets;
}

#define EXPORT(member) HS_SCHEMA_MEMBER(struct hs_export_item, member)
static const struct hs_schema_field export_fields[] = {
		{"format", HS_SCHEMA_WORD, EXPORT(of.format), .words = format_words},
		{"to", HS_SCHEMA_PARSED, EXPORT(of.to), .required = true, .text = &to_text,
				.expected = "like 192.0.2.9:32766 or [2001:db8::9]:32766"},
		{"port", HS_SCHEMA_TEXT, EXPORT(port), .min = 1, .max = HS_PORT_NAME_MAX - 1,
				.given = has_port},
		{"from", HS_SCHEMA_PARSED, EXPORT(of.from), .text = &from_text,
				.expected = "an IPv4 or IPv6 address", .given = has_from},
		{"mac", HS_SCHEMA_PARSED, EXPORT(of.mac), .text = &mac_text,
				.expected = "like 02:00:00:00:00:09", .given = has_port},
		{"hw_id", HS_SCHEMA_UINT, EXPORT(of.hw_id), .max = HS_INT_REPORT_MAX_HW_ID,
				.given = is_report},
		{"bytes", HS_SCHEMA_UINT, EXPORT(of.bytes), .min = HS_EXPORT_MIN_BYTES,
				.max = HS_EXPORT_MAX_BYTES, .given = is_report},
		{"flows", HS_SCHEMA_BOOL, EXPORT(of.flows), .given = is_report},
		{"on", HS_SCHEMA_WORD, EXPORT(of.on), .words = on_words, .given = has_flows},
		{"latency_change_ns", HS_SCHEMA_UINT, EXPORT(of.latency_change_ns),
				.max = UINT32_MAX, .given = is_on_change},
		{"drops", HS_SCHEMA_BOOL, EXPORT(of.drops), .given = is_report},
		{"queue_packets", HS_SCHEMA_UINT, EXPORT(of.queue_packets), .min = 1,
				.max = HS_PORT_QUEUE_MAX, .given = has_queue},
		{"queue_quota", HS_SCHEMA_UINT, EXPORT(of.queue_quota), .min = 1, .max = UINT32_MAX,
				.given = has_queue},
		{"quota_per_s", HS_SCHEMA_UINT, EXPORT(of.quota_per_s), .min = 1, .max = UINT32_MAX,
				.given = has_quota},
		{NULL},
};

// Requires the keys that a receiver with a port needs. A socket finds these values out by itself.
static void check_port_keys(json_t *item, const char *path, struct hs_errors *errors)
{
	static const char *const keys[] = {"from", "mac"};
	char at[96];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (json_object_get(item, keys[i]))
			continue;
		snprintf(at, sizeof(at), "%s.%s", path, keys[i]);
		hs_errors_add(errors, "missing_field", at, "",
				"there is no \"%s\", which a port needs", keys[i]);
	}
}

// Refuses keys without a use: each of these keys may only stand beside the key that it belongs to.
static void check_item(
		json_t *item, const char *path, void *into, size_t index, struct hs_errors *errors)
{
	static const struct {
		const char *key, *beside;
		bool (*is_used)(const void *from);
		const char *why;
	} rules[] = {
			{"mac", "port", has_port, ": without port, the kernel finds the receiver"},
			{"hw_id", "a format of reports", is_report},
			{"bytes", "a format of reports", is_report},
			{"flows", "a format of reports", is_report},
			{"drops", "a format of reports", is_report},
			{"queue_packets", "a format of reports", is_report},
			{"on", "flows", has_flows},
			{"latency_change_ns", "on: change", is_on_change},
			{"queue_quota", "queue_packets", has_queue},
	};
	struct hs_export_item *export = &((struct hs_config *)into)->exports[index];
	unsigned before = errors->n;
	char at[96], only[64];

	if (!is_report(export)) // this format has no reports
		export->of.flows = false;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!json_object_get(item, rules[i].key) || rules[i].is_used(export))
			continue;
		snprintf(at, sizeof(at), "%s.%s", path, rules[i].key);
		snprintf(only, sizeof(only), "only beside %s", rules[i].beside);
		hs_errors_add(errors, "conflict", at, only, "%s has no use here%s", rules[i].key,
				rules[i].why ? rules[i].why : "");
	}
	if (has_port(export))
		check_port_keys(item, path, errors);
	if (errors->n == before && is_report(export) && !export->of.flows && !export->of.drops &&
			!export->of.queue_packets)
		hs_errors_add(errors, "missing_field", path, "flows, drops or queue_packets",
				"the receiver would get no report");
}

const struct hs_schema_list hs_config_export_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = export_fields},
		HS_SCHEMA_ITEMS(struct hs_config, exports),
		HS_SCHEMA_COUNT(struct hs_config, node.n_exports),
		.noun = "receivers",
		.fresh = &(const struct hs_export_item){.of = {.format = HS_INT_REPORT_2_0,
									.flows = true,
									.bytes = HS_EXPORT_BYTES,
									.latency_change_ns = 1000,
									.queue_quota = 1}},
		.check_all = check_item,
};

// ---- checks ----

// Returns whether an address is link-local. A socket would also need the name of an interface.
static bool is_link_local(const uint8_t address[16])
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

static int resolve_socket(struct hs_export_config *export, unsigned index, struct hs_error *err)
{
	bool ipv4 = hs_ip_address_is_ipv4(export->to.address); // `from` is refused for its version
	const char *wrong = is_link_local(export->to.address)	   ? "to"
			    : is_link_local(export->from) && !ipv4 ? "from"
								   : NULL;
	char at[48];

	export->port = HS_EXPORT_NO_PORT;
	if (!wrong)
		return 0;
	snprintf(at, sizeof(at), "export[%u].%s", index, wrong);
	return hs_error_set(err, "conflict", at, "beside port, or an address with routes",
			"a link-local address says no interface");
}

static int resolve_port(struct hs_config *config, unsigned index, struct hs_error *err)
{
	struct hs_export_item *export = &config->exports[index];
	int port = hs_config_port_index(config, export->port);
	char at[48];

	if (!has_port(export))
		return resolve_socket(&export->of, index, err);
	snprintf(at, sizeof(at), "export[%u].port", index);
	if (port < 0)
		return hs_error_set(err, "unknown_port", at, "the name of a port",
				"no port is called \"%s\"", export->port);
	if (config->ports[port].rate_bps)
		return hs_error_set(err, "conflict", at, "a port without rate_bps",
				"port \"%s\" has an egress queue, which reports do not wait in",
				export->port);
	export->of.port = (uint16_t)port;
	return 0;
}

static int check_hw_ids(struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_export_config *export = &config->exports[index].of;
	unsigned n = config->node.n_workers, most = HS_INT_REPORT_MAX_HW_ID + 1 - n;
	char at[48], allowed[32];

	if (!is_report(&config->exports[index])) // only reports have a hw_id
		return 0;
	snprintf(at, sizeof(at), "export[%u].hw_id", index);
	snprintf(allowed, sizeof(allowed), "0 to %u", most);
	if (export->hw_id > most)
		return hs_error_set(err, "out_of_range", at, allowed,
				"%u workers have the hw_ids from %u on", n, export->hw_id);
	for (unsigned i = 0; i < index; i++) {
		const struct hs_export_config *other = &config->node.exports[i];
		int apart = export->hw_id - other->hw_id;
		if (other->format == HS_EXPORT_LABEL ||
				memcmp(&other->to, &export->to, sizeof(export->to)) != 0 ||
				abs(apart) >= (int)n)
			continue;
		return hs_error_set(err, "duplicate", at, "hw_ids of its own, one for each worker",
				"export[%u] sends to the same receiver with the same hw_id: their "
				"sequence numbers would mix",
				i);
	}
	return 0;
}

static int check_queue(struct hs_config *config, unsigned index, struct hs_error *err)
{
	uint32_t depth = config->exports[index].of.queue_packets, longest = 0;
	char at[48], allowed[64];

	for (unsigned p = 0; p < config->n_ports; p++) {
		uint32_t places = config->ports[p].queue_packets;
		longest = places > longest ? places : longest;
	}
	if (depth <= longest)
		return 0;
	snprintf(at, sizeof(at), "export[%u].queue_packets", index);
	if (!longest)
		return hs_error_set(err, "conflict", at, "only where a port has queue_packets",
				"no port of the node has an egress queue");
	snprintf(allowed, sizeof(allowed), "1 to %u", longest);
	return hs_error_set(err, "out_of_range", at, allowed, "no queue of a port is that deep");
}

static int check_versions(struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_export_config *export = &config->exports[index].of;
	bool ipv4 = hs_ip_address_is_ipv4(export->to.address);
	char at[48];

	snprintf(at, sizeof(at), "export[%u].from", index);
	if (has_from(&config->exports[index]) && hs_ip_address_is_ipv4(export->from) != ipv4)
		return hs_error_set(err, "conflict", at,
				ipv4 ? "an IPv4 address" : "an IPv6 address",
				"from and to are of one version of IP");
	return 0;
}

void hs_config_resolve_exports(struct hs_config *config, struct hs_errors *errors)
{
	static int (*const checks[])(struct hs_config *, unsigned, struct hs_error *) = {
			check_versions, resolve_port, check_hw_ids, check_queue};
	struct hs_error err;
	char at[32];

	for (unsigned i = 0; i < config->node.n_exports; i++) {
		snprintf(at, sizeof(at), "export[%u]", i);
		if (hs_errors_touch_one(errors, at))
			continue;
		for (size_t c = 0; c < sizeof(checks) / sizeof(checks[0]); c++)
			if (checks[c](config, i, &err) < 0)
				hs_errors_keep(errors, &err);
		config->node.exports[i] = config->exports[i].of;
	}
}
