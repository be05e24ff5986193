// SPDX-License-Identifier: BSD-3-Clause
#include "api_verbs.h"

#include "api_label.h"
#include "duration.h"
#include "route_text.h"

#include <stdio.h>
#include <string.h>

// ---- kinds of text ----

// The lengths of windows, from the configuration of this process.
static int64_t window_ns[HS_API_WINDOWS] = {1000000000, 10000000000, 60000000000};
static char window_allowed[HS_API_WINDOWS * (HS_DURATION_BYTES + 2) + 8] = "1s, 10s, 60s or run";

static bool is_window(int64_t ns)
{
	for (size_t i = 0; i < HS_API_WINDOWS && window_ns[i]; i++)
		if (window_ns[i] == ns)
			return true;
	return false;
}

void hs_api_set_windows(const int64_t lengths_ns[HS_API_WINDOWS])
{
	size_t size = sizeof(window_allowed);
	size_t used = hs_duration_list(lengths_ns, HS_API_WINDOWS, ", ", window_allowed, size);

	memcpy(window_ns, lengths_ns, sizeof(window_ns));
	snprintf(window_allowed + used, size - used, " or run");
}

static const char *parse_window(const char *text, void *at, const char **code)
{
	int64_t ns = HS_API_WINDOW_RUN;

	*code = "out_of_range";
	if (strcmp(text, "run") != 0 && (hs_duration_read(text, &ns) < 0 || !is_window(ns)))
		return "there is no such window";
	memcpy(at, &ns, sizeof(ns));
	return NULL;
}

static const char *parse_prefix(const char *text, void *at, const char **code)
{
	struct hs_route_entry *route = at;

	(void)code;
	return hs_route_read_prefix(text, route->prefix, &route->depth);
}

static const char *parse_mac(const char *text, void *at, const char **code)
{
	(void)code;
	return hs_route_read_mac(text, at);
}

static const char *parse_port(const char *text, void *at, const char **code)
{
	(void)code;
	if (!text[0] || strlen(text) > HS_API_MAX_PORT_NAME)
		return "is no port's name";
	strcpy(at, text);
	return NULL;
}

static const char *parse_node(const char *text, void *at, const char **code)
{
	(void)code;
	if (!text[0] || strlen(text) > HS_API_MAX_NODE_NAME)
		return "is no node's name";
	strcpy(at, text);
	return NULL;
}

static const struct hs_schema_text window_text = {.parse = parse_window,
		.hidden = true,
		.shape = "{'type': 'string', 'pattern': '^(run|[0-9]+(ms|s|m|h))$'}"};
static const struct hs_schema_text prefix_text = {.parse = parse_prefix,
		.shape = "{'type': 'string', 'pattern': '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$'}"};
static const struct hs_schema_text mac_text = {.parse = parse_mac,
		.shape = "{'type': 'string', 'pattern': '^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$'}"};
static const struct hs_schema_text port_text = {
		.parse = parse_port, .shape = "{'type': 'string', 'minLength': 1}"};
static const struct hs_schema_text node_text = {
		.parse = parse_node, .shape = "{'type': 'string', 'minLength': 1}"};

// ---- the tables ----

#define IN_ARGS(member)	 HS_SCHEMA_MEMBER(struct hs_api_args, member)
#define TEXT_OF(number)	 TEXT_OF_(number)
#define TEXT_OF_(number) #number

#define OFFSET                                                                                     \
	{                                                                                          \
		"offset", HS_SCHEMA_UINT, IN_ARGS(offset),                                         \
				.max = UINT32_MAX, .allowed = "0 to 4294967295", .fallback = "0",  \
				.help = "how many to leave out; the `next` of the reply before"    \
	}
#define LIMIT                                                                                      \
	{                                                                                          \
		"limit", HS_SCHEMA_UINT, IN_ARGS(limit),                                           \
				.min = 1, .max = HS_API_MAX_PAGE,                                  \
				.allowed = "1 to " TEXT_OF(HS_API_MAX_PAGE),                       \
				.fallback = TEXT_OF(HS_API_PAGE), .help = "how many at most"       \
	}
#define NS_ID(is_required, text)                                                                   \
	{                                                                                          \
		"ns_id", HS_SCHEMA_UINT, IN_ARGS(ns_id),                                           \
				.required = is_required, .min = 1, .max = UINT32_MAX,              \
				.allowed = "1 to 4294967295", .help = text                         \
	}

#define PREFIX                                                                                     \
	{                                                                                          \
		"prefix", HS_SCHEMA_PARSED, IN_ARGS(route),                                        \
				.text = &prefix_text, .required = true,                            \
				.allowed = "an IP prefix like 2001:db8::/32 or 10.0.0.0/8",        \
				.help = "destinations; without a length, one address"              \
	}
#define NEIGHBOUR                                                                                  \
	{                                                                                          \
		"addr", HS_SCHEMA_PARSED, IN_ARGS(route.prefix),                                   \
				.text = &hs_rule_address_text, .required = true,                   \
				.allowed = "an IPv6 or IPv4 address", .help = "the neighbour"      \
	}
#define MAC_TEXT "a station's, like 02:00:00:00:00:01"

static const struct hs_schema_field route_fields[] = {
		PREFIX,
		{"port", HS_SCHEMA_PARSED, IN_ARGS(port), .text = &port_text,
				.allowed = "the name of a port",
				.help = "where packets leave; with next_hop_mac"},
		{"next_hop_mac", HS_SCHEMA_PARSED, IN_ARGS(route.mac), .text = &mac_text,
				.allowed = MAC_TEXT, .help = "whom they are sent to; with port"},
		{"via", HS_SCHEMA_PARSED, IN_ARGS(route.via), .text = &hs_rule_address_text,
				.allowed = "the address of a neighbour",
				.help = "in place of both: that neighbour's port and MAC address"},
		{NULL},
};
static const struct hs_schema_field route_name_fields[] = {PREFIX, {NULL}};
static const struct hs_schema_field neighbour_fields[] = {
		NEIGHBOUR,
		{"port", HS_SCHEMA_PARSED, IN_ARGS(port), .text = &port_text, .required = true,
				.allowed = "the name of a port", .help = "where it is"},
		{"mac", HS_SCHEMA_PARSED, IN_ARGS(route.mac), .text = &mac_text, .required = true,
				.allowed = MAC_TEXT, .help = "its MAC address"},
		{NULL},
};
static const struct hs_schema_field neighbour_name_fields[] = {NEIGHBOUR, {NULL}};
static const struct hs_schema_field name_fields[] = {NS_ID(true, "the rule"), {NULL}};
static const struct hs_schema_field list_fields[] = {OFFSET, LIMIT, {NULL}};
static const struct hs_schema_field qos_fields[] = {
		NS_ID(false, "only this rule; all rules without it"),
		{"app_id", HS_SCHEMA_UINT, IN_ARGS(app_id), .min = 1, .max = UINT32_MAX,
				.allowed = "1 to 4294967295",
				.help = "in place of it all: the flows of this application "
					"together, over one window (10s without it)"},
		{"window", HS_SCHEMA_PARSED, IN_ARGS(window_ns), .text = &window_text,
				.allowed = window_allowed,
				.help = "only windows of this length (`telemetry.windows_ms`), "
					"written "
					"as `100ms`, `1s` or `1m`; of all lengths without it"},
		{"start_ns", HS_SCHEMA_UINT, IN_ARGS(start_ns), .max = INT64_MAX,
				.allowed = "0 to 9223372036854775807",
				.help = "with end_ns and ns_id: a window of any place and length, "
					"from the newest 1000 reports; it begins with the oldest "
					"of these at the earliest"},
		{"end_ns", HS_SCHEMA_UINT, IN_ARGS(end_ns), .min = 1, .max = INT64_MAX,
				.allowed = "1 to 9223372036854775807, above start_ns",
				.help = "the end of that window"},
		OFFSET,
		LIMIT,
		{NULL},
};
#define FILTER_IP(key, meaning)                                                                    \
	{                                                                                          \
#key, HS_SCHEMA_PARSED, IN_ARGS(flow.key), .text = &hs_rule_address_text,          \
							   .allowed = "an IPv6 or IPv4 address",   \
							   .help = meaning                         \
	}
#define FILTER_NUMBER(key, most, text)                                                             \
	{                                                                                          \
#key, HS_SCHEMA_UINT, IN_ARGS(flow.key), .min = 1, .max = most,                    \
							 .allowed = "1 to " #most, .help = text    \
	}
static const struct hs_schema_field flow_fields[] = {
		FILTER_IP(src_ip, "only flows from this address"),
		FILTER_IP(dst_ip, "only flows to this address"),
		FILTER_NUMBER(src_port, 65535, "only flows from this port"),
		FILTER_NUMBER(dst_port, 65535, "only flows to this port"),
		FILTER_NUMBER(protocol, 255, "only flows of this protocol: 6 is TCP, 17 is UDP"),
		OFFSET,
		LIMIT,
		{NULL},
};
static const struct hs_schema_field event_fields[] = {
		{"since", HS_SCHEMA_UINT, IN_ARGS(since), .max = INT64_MAX,
				.allowed = "0 to 9223372036854775807", .fallback = "0",
				.help = "only events with a greater `seq`; all, if no event has "
					"this number yet"},
		{NULL},
};

static const struct hs_schema_field label_fields[] = {
		{"node", HS_SCHEMA_PARSED, IN_ARGS(node), .text = &node_text,
				.allowed = "the name of a node",
				.help = "at a controller, which needs it: whose ports they are"},
		{"ports", HS_SCHEMA_CUSTOM, IN_ARGS(labels), .read = hs_api_read_labels,
				.shape = HS_API_LABELS_SHAPE, .required = true,
				.allowed = "1 to 256 of {`id`, `shift`}, shift 0 to 62",
				.help = "ports by their numbers in items, and S of each; all or "
					"none are set"},
		{NULL},
};

static const struct hs_schema_field label_get_fields[] = {
		{"node", HS_SCHEMA_PARSED, IN_ARGS(node), .text = &node_text,
				.allowed = "the name of a node",
				.help = "at a controller: only ports of this node"},
		{"id", HS_SCHEMA_UINT, IN_ARGS(label_id), .min = 1, .max = UINT32_MAX,
				.allowed = "1 to 4294967295, with node",
				.help = "only this port, with its last values"},
		OFFSET,
		LIMIT,
		{NULL},
};

const struct hs_api_verb_row hs_api_verbs[HS_VERB_COUNT] = {
		[HS_VERB_HELLO] = {"hello", "who answers: API version, node, limits, verbs"},
		[HS_VERB_INT_REQUEST] = {"int_request", "install a rule: monitor a flow",
				.changes = true},
		[HS_VERB_INT_UPDATE] = {"int_update", "change switches or sampling of a rule",
				.changes = true},
		[HS_VERB_INT_DELETE] = {"int_delete", "remove a rule", .changes = true,
				.fields = name_fields},
		[HS_VERB_INT_LIST] = {"int_list", "rules, page by page", .fields = list_fields},
		[HS_VERB_INT_GET] = {"int_get", "one rule with its counters and state",
				.fields = name_fields, .light = true},
		[HS_VERB_QOS_GET] = {"qos_get", "newest metrics of each rule and window",
				.fields = qos_fields},
		[HS_VERB_ROUTE_ADD] = {"route_add", "add a route, or replace the one of its prefix",
				.changes = true, .fields = route_fields},
		[HS_VERB_ROUTE_DELETE] = {"route_delete", "remove a route", .changes = true,
				.fields = route_name_fields},
		[HS_VERB_ROUTE_LIST] = {"route_list",
				"routes in order of prefix, page by page, neighbours among them",
				.fields = list_fields},
		[HS_VERB_NEIGHBOUR_ADD] = {"neighbour_add",
				"add a neighbour and a route to it, or replace it: routes via it "
				"follow",
				.changes = true, .fields = neighbour_fields},
		[HS_VERB_NEIGHBOUR_DELETE] = {"neighbour_delete",
				"remove a neighbour that no route goes via", .changes = true,
				.fields = neighbour_name_fields},
		[HS_VERB_NEIGHBOUR_LIST] = {"neighbour_list",
				"neighbours in order of address, page by page",
				.fields = list_fields},
		[HS_VERB_NODE_GET] = {"node_get",
				"the node: name, configuration in force, clock, workers"},
		[HS_VERB_PORTS_GET] = {"ports_get", "ports with their counters"},
		[HS_VERB_STATS_GET] = {"stats_get", "every counter with unit and meaning"},
		[HS_VERB_DROPS_GET] = {"drops_get",
				"dropped packets by port and reason; at a collector by node and "
				"reason, page by page",
				.fields = list_fields},
		[HS_VERB_EVENTS] = {"events", "what happened, oldest first",
				.fields = event_fields},
		[HS_VERB_AUDIT] = {"audit", "does every packet and every report add up"},
		[HS_VERB_EXPLAIN] = {"explain", "why a rule measures nothing here, or not all",
				.fields = name_fields},
		[HS_VERB_LABEL_SET] = {"label_set",
				"divide the interval of ports with INT-label by 2^S, until the "
				"node ends",
				.changes = true, .passing = true, .fields = label_fields},
		[HS_VERB_LABEL_GET] = {"label_get",
				"ports with INT-label: S and their labels; at a controller their "
				"latest items and coverage, page by page",
				.fields = label_get_fields},
		[HS_VERB_PROBE_RUN] = {"probe_run",
				"at a controller: begin a session of probes now", .changes = true,
				.passing = true},
		[HS_VERB_PROBE_STATUS] = {"probe_status",
				"at a controller: the last session of probes and what it says of "
				"nodes, page by page",
				.fields = list_fields},
		[HS_VERB_PROBE_LINKS] = {"probe_links",
				"at a controller: whether probes cross links, page by page",
				.fields = list_fields},
		[HS_VERB_PROBE_ROUTES] = {"probe_routes",
				"at a controller: routes around links that probes find bad, page "
				"by page",
				.fields = list_fields},
		[HS_VERB_FLOW_GET] = {"flow_get",
				"at a collector: flows with their paths and latencies, page by "
				"page",
				.fields = flow_fields},
		[HS_VERB_QUEUE_GET] = {"queue_get",
				"at a collector: the newest values of queues, page by page",
				.fields = list_fields},
		[HS_VERB_LINK_GET] = {"link_get",
				"at a collector: the newest values of links, page by page",
				.fields = list_fields},
		[HS_VERB_EXPORTER_GET] = {"exporter_get",
				"at a collector: who sends reports, and which are missing, page by "
				"page",
				.fields = list_fields},
		[HS_VERB_REFUSED_GET] = {"refused_get",
				"at a collector: the first datagram that was refused for each "
				"reason"},
};

const char *hs_api_verb_name(enum hs_api_verb verb)
{
	return hs_api_verbs[verb].name;
}

int hs_api_verb_find(const char *name)
{
	for (int i = 0; i < HS_VERB_COUNT; i++)
		if (strcmp(hs_api_verbs[i].name, name) == 0)
			return i;
	return -1;
}

bool hs_api_verb_is(enum hs_api_verb verb, enum hs_api_which which)
{
	const struct hs_api_verb_row *row = &hs_api_verbs[verb];

	if (which == HS_API_CHANGES)
		return row->changes && !row->passing;
	return which == HS_API_ALL || !row->changes;
}

void hs_api_verb_list(char *text, size_t size, enum hs_api_which which)
{
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < HS_VERB_COUNT && used < size; i++)
		if (hs_api_verb_is((enum hs_api_verb)i, which))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
					hs_api_verbs[i].name);
}

// Fills in the fields of a rule that is to be installed: the ns_id is optional.
static void request_fields(struct hs_schema_field fields[HS_RULE_ROWS + 1])
{
	memcpy(fields, hs_rule_fields, sizeof(hs_rule_fields));
	fields[HS_RULE_NS_ID].required = false;
	fields[HS_RULE_NS_ID].fallback = "a free one, 100000 to 999999, by the flow";
}

const struct hs_schema_field *hs_api_verb_fields(
		enum hs_api_verb verb, struct hs_schema_field of_rule[HS_RULE_ROWS + 1])
{
	static const struct hs_schema_field none = {NULL};

	if (verb == HS_VERB_INT_UPDATE)
		hs_rule_update_fields(of_rule);
	if (verb == HS_VERB_INT_REQUEST)
		request_fields(of_rule);
	return verb == HS_VERB_INT_UPDATE || verb == HS_VERB_INT_REQUEST ? of_rule
	       : hs_api_verbs[verb].fields				 ? hs_api_verbs[verb].fields
									 : &none;
}

// ---- refusing ----

int hs_api_refuse_routes(struct hs_error *err)
{
	return hs_error_set(err, "unsupported", "", "forwarding.mode route",
			"forwarding.mode is not route: the node has no routes");
}

int hs_api_refuse_verb(enum hs_api_verb verb, struct hs_error *err)
{
	const char *who = verb >= HS_VERB_OF_COLLECTORS	   ? "a collector"
			  : verb >= HS_VERB_OF_CONTROLLERS ? "a controller"
							   : "a node or a controller";

	return hs_error_set(
			err, "unsupported", "", who, "%s is for %s", hs_api_verbs[verb].name, who);
}
