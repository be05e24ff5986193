// SPDX-License-Identifier: BSD-3-Clause
#include "api_verbs.h"

#include "duration.h"
#include "route_text.h"
#include "rule_field.h"
#include "rule_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define IN_ARGS(member)                                                                            \
	.offset = offsetof(struct hs_api_args, member),                                            \
	.bytes = sizeof(((struct hs_api_args *)0)->member)
#define TEXT_OF(number)	 TEXT_OF_(number)
#define TEXT_OF_(number) #number

#define OFFSET                                                                                     \
	{                                                                                          \
		"offset", HS_API_NUMBER, IN_ARGS(offset),                                          \
				.max = UINT32_MAX, .allowed = "0 to 4294967295", .fallback = "0",  \
				.help = "how many to leave out; the `next` of the reply before"    \
	}
#define LIMIT                                                                                      \
	{                                                                                          \
		"limit", HS_API_NUMBER, IN_ARGS(limit),                                            \
				.min = 1, .max = HS_API_MAX_PAGE,                                  \
				.allowed = "1 to " TEXT_OF(HS_API_MAX_PAGE),                       \
				.fallback = TEXT_OF(HS_API_PAGE), .help = "how many at most"       \
	}
#define NS_ID(is_required, text)                                                                   \
	{                                                                                          \
		"ns_id", HS_API_NUMBER, IN_ARGS(ns_id), .required = is_required, .min = 1,         \
							.max = UINT32_MAX,                         \
							.allowed = "1 to 4294967295", .help = text \
	}

#define PREFIX                                                                                     \
	{                                                                                          \
		"prefix", HS_API_PREFIX, IN_ARGS(route.prefix),                                    \
				.required = true, .allowed = "an IPv6 prefix like 2001:db8::/32",  \
				.help = "destinations; without a length, one address"              \
	}
#define NEIGHBOUR                                                                                  \
	{                                                                                          \
		"addr", HS_API_ADDRESS, IN_ARGS(route.prefix), .required = true,                   \
							       .allowed = "an IPv6 address",       \
							       .help = "the neighbour"             \
	}
#define MAC_TEXT "a station's, like 02:00:00:00:00:01"

// The lengths that the configuration of this process gives.
static int64_t window_ns[HS_API_WINDOWS] = {1000000000, 10000000000, 60000000000};
static char window_allowed[HS_API_WINDOWS * (HS_DURATION_BYTES + 2) + 8] = "1s, 10s, 60s or run";

static const struct hs_api_field route_fields[] = {
		PREFIX,
		{"port", HS_API_NAME, IN_ARGS(port), .allowed = "the name of a port",
				.help = "where packets leave; with next_hop_mac"},
		{"next_hop_mac", HS_API_MAC, IN_ARGS(route.mac), .allowed = MAC_TEXT,
				.help = "whom they are sent to; with port"},
		{"via", HS_API_ADDRESS, IN_ARGS(route.via), .allowed = "the address of a neighbour",
				.help = "in place of both: that neighbour's port and MAC address"},
};
static const struct hs_api_field route_name_fields[] = {PREFIX};
static const struct hs_api_field neighbour_fields[] = {
		NEIGHBOUR,
		{"port", HS_API_NAME, IN_ARGS(port), .required = true,
				.allowed = "the name of a port", .help = "where it is"},
		{"mac", HS_API_MAC, IN_ARGS(route.mac), .required = true, .allowed = MAC_TEXT,
				.help = "its MAC address"},
};
static const struct hs_api_field neighbour_name_fields[] = {NEIGHBOUR};
static const struct hs_api_field name_fields[] = {NS_ID(true, "the rule")};
static const struct hs_api_field list_fields[] = {OFFSET, LIMIT};
static const struct hs_api_field qos_fields[] = {
		NS_ID(false, "only this rule; all rules without it"),
		{"app_id", HS_API_NUMBER, IN_ARGS(app_id), .min = 1, .max = UINT32_MAX,
				.allowed = "1 to 4294967295",
				.help = "in place of it all: the flows of this application "
					"together, over one window (10s without it)"},
		{"window", HS_API_WINDOW, IN_ARGS(window_ns), .allowed = window_allowed,
				.help = "only windows of this length (`telemetry.windows_ms`), "
					"written "
					"as `100ms`, `1s` or `1m`; of all lengths without it"},
		{"start_ns", HS_API_NUMBER, IN_ARGS(start_ns), .max = INT64_MAX,
				.allowed = "0 to 9223372036854775807",
				.help = "with end_ns and ns_id: a window of any place and length, "
					"from "
					"the newest 1000 reports"},
		{"end_ns", HS_API_NUMBER, IN_ARGS(end_ns), .min = 1, .max = INT64_MAX,
				.allowed = "1 to 9223372036854775807, above start_ns",
				.help = "the end of that window"},
		OFFSET,
		LIMIT,
};
static const struct hs_api_field event_fields[] = {
		{"since", HS_API_NUMBER, IN_ARGS(since), .max = INT64_MAX,
				.allowed = "0 to 9223372036854775807", .fallback = "0",
				.help = "only events with a greater `seq`"},
};

#define FIELDS(table) .fields = table, .n_fields = sizeof(table) / sizeof(table[0])

const struct hs_api_verb_row hs_api_verbs[HS_VERB_COUNT] = {
		[HS_VERB_HELLO] = {"hello", "who answers: API version, node, limits, verbs"},
		[HS_VERB_INT_REQUEST] = {"int_request", "install a rule: monitor a flow",
				.changes = true, .content = HS_API_RULE},
		[HS_VERB_INT_UPDATE] = {"int_update", "change switches or sampling of a rule",
				.changes = true, .content = HS_API_UPDATE},
		[HS_VERB_INT_DELETE] = {"int_delete", "remove a rule", .changes = true,
				FIELDS(name_fields)},
		[HS_VERB_INT_LIST] = {"int_list", "rules, page by page", FIELDS(list_fields)},
		[HS_VERB_INT_GET] = {"int_get", "one rule with its counters and state",
				FIELDS(name_fields), .light = true},
		[HS_VERB_QOS_GET] = {"qos_get", "newest metrics of each rule and window",
				FIELDS(qos_fields)},
		[HS_VERB_ROUTE_ADD] = {"route_add", "add a route, or replace the one of its prefix",
				.changes = true, FIELDS(route_fields)},
		[HS_VERB_ROUTE_DELETE] = {"route_delete", "remove a route", .changes = true,
				FIELDS(route_name_fields)},
		[HS_VERB_ROUTE_LIST] = {"route_list",
				"routes in order of prefix, page by page, neighbours among them",
				FIELDS(list_fields)},
		[HS_VERB_NEIGHBOUR_ADD] = {"neighbour_add",
				"add a neighbour and a route to it, or replace it: routes via it "
				"follow",
				.changes = true, FIELDS(neighbour_fields)},
		[HS_VERB_NEIGHBOUR_DELETE] = {"neighbour_delete",
				"remove a neighbour that no route goes via", .changes = true,
				FIELDS(neighbour_name_fields)},
		[HS_VERB_NEIGHBOUR_LIST] = {"neighbour_list",
				"neighbours in order of address, page by page",
				FIELDS(list_fields)},
		[HS_VERB_NODE_GET] = {"node_get",
				"the node: name, configuration in force, clock, workers"},
		[HS_VERB_PORTS_GET] = {"ports_get", "ports with their counters"},
		[HS_VERB_STATS_GET] = {"stats_get", "every counter with unit and meaning"},
		[HS_VERB_DROPS_GET] = {"drops_get", "dropped packets by port and reason"},
		[HS_VERB_EVENTS] = {"events", "what happened, oldest first", FIELDS(event_fields)},
		[HS_VERB_AUDIT] = {"audit", "does every packet and every report add up"},
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
	return which == HS_API_ALL || hs_api_verbs[verb].changes == (which == HS_API_CHANGES);
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

// ---- reading ----

static int fail(struct hs_error *err, const char *code, const struct hs_api_field *field,
		const char *what)
{
	return hs_error_set(err, code, field->name, field->allowed, "%s: %s", field->name, what);
}

static int read_number(const struct hs_api_field *field, const json_t *json,
		struct hs_api_args *args, struct hs_error *err)
{
	char what[64];
	json_int_t value = json_integer_value(json);

	if (!json_is_integer(json))
		return fail(err, "wrong_type", field, "the value is not of type integer");
	if (value < 0 || (uint64_t)value < field->min || (uint64_t)value > field->max) {
		snprintf(what, sizeof(what), "%lld is out of range", (long long)value);
		return fail(err, "out_of_range", field, what);
	}
	char *to = (char *)args + field->offset;
	if (field->bytes == sizeof(uint32_t))
		memcpy(to, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
	else
		memcpy(to, &(uint64_t){(uint64_t)value}, sizeof(uint64_t));
	return 0;
}

static bool is_window(int64_t ns)
{
	for (size_t i = 0; i < HS_API_WINDOWS && window_ns[i]; i++)
		if (window_ns[i] == ns)
			return true;
	return false;
}

void hs_api_set_windows(const int64_t lengths_ns[HS_API_WINDOWS])
{
	size_t used = 0;

	memset(window_ns, 0, sizeof(window_ns));
	for (size_t i = 0; i < HS_API_WINDOWS && lengths_ns[i]; i++) {
		char text[HS_DURATION_BYTES];
		window_ns[i] = lengths_ns[i];
		hs_duration_write(lengths_ns[i], text);
		used += (size_t)snprintf(window_allowed + used, sizeof(window_allowed) - used,
				"%s%s", i ? ", " : "", text);
	}
	snprintf(window_allowed + used, sizeof(window_allowed) - used, " or run");
}

static int read_window(const struct hs_api_field *field, const json_t *json,
		struct hs_api_args *args, struct hs_error *err)
{
	int64_t ns = 0;

	if (!json_is_string(json))
		return fail(err, "wrong_type", field, "the value is not of type string");
	if (strcmp(json_string_value(json), "run") == 0)
		ns = HS_API_WINDOW_RUN;
	else if (hs_duration_read(json_string_value(json), &ns) < 0 || !is_window(ns))
		return fail(err, "out_of_range", field, "there is no such window");
	args->window_ns = ns;
	return 0;
}

static const char *read_text(
		const struct hs_api_field *field, const char *text, struct hs_api_args *args)
{
	char *to = (char *)args + field->offset;

	switch (field->kind) {
	case HS_API_PREFIX:
		return hs_route_read_prefix(text, (uint8_t *)to, &args->route.depth);
	case HS_API_ADDRESS:
		return hs_route_read_address(text, (uint8_t *)to);
	case HS_API_MAC:
		return hs_route_read_mac(text, (uint8_t *)to);
	default:
		if (!text[0] || strlen(text) >= field->bytes)
			return "is no port's name";
		memcpy(to, text, strlen(text) + 1);
		return NULL;
	}
}

static bool is_wrong_family(const struct hs_api_field *field, const char *text)
{
	return (field->kind == HS_API_PREFIX || field->kind == HS_API_ADDRESS) &&
	       hs_route_is_ipv4(text);
}

static int read_words(const struct hs_api_field *field, const json_t *json,
		struct hs_api_args *args, struct hs_error *err)
{
	char what[128];

	if (!json_is_string(json))
		return fail(err, "wrong_type", field, "the value is not of type string");
	const char *objection = read_text(field, json_string_value(json), args);
	if (!objection)
		return 0;
	if (is_wrong_family(field, json_string_value(json))) {
		const char *kind = field->kind == HS_API_PREFIX ? "prefix" : "address";
		snprintf(what, sizeof(what), "\"%.64s\" is an IPv4 %s where an IPv6 %s is needed",
				json_string_value(json), kind, kind);
		return fail(err, "wrong_family", field, what);
	}
	snprintf(what, sizeof(what), "\"%.64s\" %s", json_string_value(json), objection);
	return fail(err, "bad_value", field, what);
}

static int read_field(const struct hs_api_field *field, const json_t *json,
		struct hs_api_args *args, struct hs_error *err)
{
	switch (field->kind) {
	case HS_API_NUMBER:
		return read_number(field, json, args, err);
	case HS_API_WINDOW:
		return read_window(field, json, args, err);
	default:
		return read_words(field, json, args, err);
	}
}

static int refuse_unknown(
		const struct hs_api_verb_row *row, const json_t *content, struct hs_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)content, key, value) {
		char path[100], expected[sizeof(err->expected)] = "no fields";
		size_t i, used = 0;
		for (i = 0; i < row->n_fields && strcmp(row->fields[i].name, key) != 0; i++)
			;
		if (i < row->n_fields)
			continue;
		for (i = 0; i < row->n_fields; i++)
			used += (size_t)snprintf(expected + used, sizeof(expected) - used, "%s%s",
					i ? ", " : "", row->fields[i].name);
		hs_rule_json_path(path, sizeof(path), key);
		return hs_error_set(err, "unknown_field", path, expected, "%s is not a field of %s",
				path, row->name);
	}
	return 0;
}

static int read_fields(const struct hs_api_verb_row *row, const json_t *content,
		struct hs_api_args *args, struct hs_error *err)
{
	int rc = refuse_unknown(row, content, err);

	for (size_t i = 0; i < row->n_fields && rc == 0; i++) {
		const struct hs_api_field *field = &row->fields[i];
		const json_t *json = json_object_get(content, field->name);
		if (!json && field->required)
			rc = fail(err, "missing_field", field, "is missing");
		else if (json)
			rc = read_field(field, json, args, err);
	}
	args->has_ns_id = args->ns_id != 0;
	return rc;
}

// A window of any place needs both its ends and one rule, and has no other length.
static int check_own_window(
		const json_t *content, const struct hs_api_args *args, struct hs_error *err)
{
	static const char *const needed[] = {"start_ns", "end_ns", "ns_id"};

	if (!json_object_get(content, "start_ns") && !json_object_get(content, "end_ns"))
		return 0;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (!json_object_get(content, needed[i]))
			return hs_error_set(err, "missing_field", needed[i],
					"start_ns, end_ns and ns_id together", "%s is missing",
					needed[i]);
	}
	if (json_object_get(content, "window"))
		return hs_error_set(err, "unknown_field", "window", "start_ns, end_ns and ns_id",
				"window has a length of its own");
	if (args->end_ns <= args->start_ns)
		return hs_error_set(err, "out_of_range", "end_ns", "above start_ns",
				"the window ends at %lld, before it starts",
				(long long)args->end_ns);
	return 0;
}

static int check_application(
		const json_t *content, const struct hs_api_args *args, struct hs_error *err)
{
	static const char *const others[] = {"ns_id", "start_ns", "end_ns", "offset"};

	for (size_t i = 0; args->app_id && i < sizeof(others) / sizeof(others[0]); i++) {
		if (json_object_get(content, others[i]))
			return hs_error_set(err, "unknown_field", others[i],
					"app_id, window and limit", "%s does not go with app_id",
					others[i]);
	}
	return 0;
}

// A request names a next hop in one of two ways.
static int check_next_hop(const json_t *content, struct hs_api_args *args, struct hs_error *err)
{
	static const char *const direct[] = {"port", "next_hop_mac"};
	static const char allowed[] = "via, or port and next_hop_mac";
	bool via = json_object_get(content, "via") != NULL;

	args->route.kind = via ? HS_ROUTE_VIA : HS_ROUTE_DIRECT;
	for (size_t i = 0; i < sizeof(direct) / sizeof(direct[0]); i++) {
		bool there = json_object_get(content, direct[i]) != NULL;
		if (via && there)
			return hs_error_set(err, "conflict", direct[i], allowed,
					"%s: the neighbour has its own", direct[i]);
		if (!via && !there)
			return hs_error_set(err, "missing_field", direct[i], allowed,
					"%s: is missing", direct[i]);
	}
	return 0;
}

// Group addresses, loopback and the unspecified address belong to no neighbour.
static int check_neighbour(struct hs_api_args *args, struct hs_error *err)
{
	static const uint8_t zeros[15];
	const uint8_t *addr = args->route.prefix;

	args->route.kind = HS_ROUTE_NEIGHBOUR;
	args->route.depth = 128;
	if (addr[0] == 0xff || (addr[15] <= 1 && memcmp(addr, zeros, sizeof(zeros)) == 0))
		return hs_error_set(err, "bad_value", "addr", "the address of one station",
				"addr: no neighbour can have this address");
	return 0;
}

static int check_together(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err)
{
	switch (verb) {
	case HS_VERB_QOS_GET:
		if (check_application(content, args, err))
			return -EINVAL;
		return check_own_window(content, args, err);
	case HS_VERB_ROUTE_ADD:
		return check_next_hop(content, args, err);
	case HS_VERB_NEIGHBOUR_ADD:
	case HS_VERB_NEIGHBOUR_DELETE:
		return check_neighbour(args, err);
	default:
		return 0;
	}
}

// "on" says where the rule belongs. All other members belong to the rule.
static int read_rule(const json_t *content, struct hs_api_args *args, struct hs_error *err)
{
	json_t *rest = NULL;

	args->on = json_object_get(content, "on");
	if (args->on) {
		rest = json_copy((json_t *)content);
		json_object_del(rest, "on");
	}
	int rc = hs_rule_from_json(rest ? rest : content, &args->rule, err);
	args->ns_id = args->rule.ns_id;
	json_decref(rest);
	return rc;
}

int hs_api_args_from_json(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err)
{
	int rc;

	memset(args, 0, sizeof(*args));
	args->verb = verb;
	args->limit = HS_API_PAGE;
	if (!json_is_object(content))
		return hs_error_set(err, "wrong_type", "", "an object",
				"the content of %s is not an object", hs_api_verbs[verb].name);

	switch (hs_api_verbs[verb].content) {
	case HS_API_RULE:
		rc = read_rule(content, args, err);
		break;
	case HS_API_UPDATE:
		rc = hs_rule_update_from_json(content, &args->ns_id, &args->update, err);
		break;
	default:
		rc = read_fields(&hs_api_verbs[verb], content, args, err);
		return rc ? rc : check_together(verb, content, args, err);
	}
	args->has_ns_id = rc == 0;
	return rc;
}

// ---- describing ----

static json_t *describe_field(const char *name, const char *type, bool required,
		const char *fallback, const char *allowed, const char *help)
{
	json_t *field = json_pack("{s:s, s:s, s:b, s:s, s:s}", "name", name, "type", type,
			"required", (int)required, "allowed", allowed, "help", help);
	if (field && fallback)
		json_object_set_new(field, "default", json_string(fallback));
	return field;
}

static json_t *describe_rule_fields(bool update)
{
	json_t *fields = json_array();
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		bool names_it = strcmp(field->name, "ns_id") == 0;
		if (!update || field->update_has || field->label || names_it)
			json_array_append_new(
					fields, describe_field(field->name, field->type,
								update ? names_it : field->required,
								update ? NULL : field->fallback,
								field->allowed, field->help));
	}
	return fields;
}

static json_t *describe_fields(const struct hs_api_verb_row *row)
{
	if (row->content != HS_API_FIELDS)
		return describe_rule_fields(row->content == HS_API_UPDATE);
	json_t *fields = json_array();
	for (size_t i = 0; i < row->n_fields; i++) {
		const struct hs_api_field *field = &row->fields[i];
		json_array_append_new(fields,
				describe_field(field->name,
						field->kind == HS_API_NUMBER ? "integer" : "string",
						field->required, field->fallback, field->allowed,
						field->help));
	}
	return fields;
}

json_t *hs_api_describe(void)
{
	json_t *verbs = json_array();
	for (size_t i = 0; i < HS_VERB_COUNT; i++)
		json_array_append_new(verbs,
				json_pack("{s:s, s:s, s:b, s:o}", "verb", hs_api_verbs[i].name,
						"help", hs_api_verbs[i].help, "changes",
						(int)hs_api_verbs[i].changes, "fields",
						describe_fields(&hs_api_verbs[i])));
	return json_pack("{s:s, s:o}", "version", HS_API_VERSION, "verbs", verbs);
}

json_t *hs_api_hello(void)
{
	json_t *verbs = json_array();
	for (size_t i = 0; i < HS_VERB_COUNT; i++)
		json_array_append_new(verbs, json_string(hs_api_verbs[i].name));
	return json_pack("{s:s, s:o, s:{s:i, s:i, s:i, s:i}}", "api_version", HS_API_VERSION,
			"verbs", verbs, "limits", "message_bytes", (int)HS_API_MAX_BYTES, "depth",
			HS_API_MAX_DEPTH, "transaction_verbs", HS_API_MAX_VERBS, "page",
			HS_API_MAX_PAGE);
}
