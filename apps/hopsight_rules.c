// SPDX-License-Identifier: BSD-3-Clause
// The verbs of rules. `rule add` completes what its options leave out.
#include "hopsight_cli.h"

#include "duration.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ADDRESSES "an IPv6 or IPv4 address, or with method int or label a prefix or any"
const struct hs_cli_rule_option hs_cli_rule_options[] = {
		{"ns", 0, "N", "ns_id", false, "by the flow: alike at each node where it is free"},
		{"app", 0, "N", "app_id", false},
		{"src", 's', "ADDRESS", "src_ip", true, NULL, ADDRESSES},
		{"dst", 'd', "ADDRESS", "dst_ip", true, NULL, ADDRESSES},
		{"sport", 0, "PORT", "src_port", false},
		{"dport", 0, "PORT", "dst_port", false},
		{"proto", 0, "NAME", "protocol", true, "any"},
		{"trace", 0, "HEX|NAME,...", "trace_type", true, "all",
				HS_CLI_TRACE_NAMES
				"0x and 1 to 8 hex digits, bits of 0xF000E000 only"},
		{"mode", 0, "NAME", "mode", true, "count"},
		{"setting", 0, "N", "mode_setting", false, "100 with mode count"},
		{"transmit-report", 0, "BOOL", "transmit_report", false},
		{"piggyback-report", 0, "BOOL", "piggyback_report", false},
		{"extract-report", 0, "BOOL", "extract_report", false},
		{"hop-enabled", 0, "BOOL", "hop_enabled", false},
		{"in-band", 0, "BOOL", "in_band", false},
		{"fields", 0, "JSON", "fields", false},
		{"owner", 0, "NAME", "owner", true},
		{"revision", 0, "N", "revision", false},
		{"method", 0, "NAME", "method", true, "that of the nodes' ports"},
		{"instructions", 0, "NAME,...", "instructions", false,
				"all that the nodes' ports have"},
		{"instruction-bitmap", 0, "HEX", "instruction_bitmap", true},
		{"dscp", 0, "N", "dscp", false},
};

// ---- changes ----

// Returns "node_id,queue" as a list.
static json_t *names_value(const char *text)
{
	json_t *list = json_array();

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, ",");
		json_array_append_new(list, json_stringn(text, (size_t)(end - text)));
	}
	return list;
}

// Returns the value of a rule's field as JSON. The name of an owner may look like a number.
static json_t *field_value(const char *field, const char *text)
{
	bool is_text = false;

	if (strcmp(field, "instructions") == 0 && text[0] != '[')
		return names_value(text);
	if (strcmp(field, "trace_type") == 0)
		return json_string(hs_cli_trace_hex(text));
	for (unsigned i = 0; i < HS_CLI_RULE_END - HS_CLI_RULE; i++)
		if (strcmp(hs_cli_rule_options[i].field, field) == 0)
			is_text = hs_cli_rule_options[i].is_text;
	return is_text && strcmp(text, "null") != 0 ? json_string(text) : hs_cli_value(text);
}

static int change_rule(struct hs_cli *cli, enum hs_api_verb verb, json_t *content, const char *done)
{
	const json_t *ns_id = json_object_get(content, "ns_id");
	char name[24];

	snprintf(name, sizeof(name), "%" JSON_INTEGER_FORMAT, json_integer_value(ns_id));
	return hs_cli_change(cli, verb, content, "rule", ns_id ? name : NULL, done);
}

// ---- what the options leave out ----

static int refuse_every(const char *text)
{
	char *unit;

	if (strtod(text, &unit) > 0 && strchr(text, '.') && strcmp(unit, "ms") == 0)
		return hs_cli_usage("--every: %s is no whole number of milliseconds; write "
				    "--mode frequency --setting %.*s",
				text, (int)(unit - text), text);
	return hs_cli_usage("--every: %s is neither a number of packets, such as 100, nor a whole "
			    "number of ms, s, m or h, such as 20ms",
			text);
}

// Reads "100" as one packet of 100, and "20ms" as one packet in 20 ms.
static int read_every(const char *text, json_t *content)
{
	bool count = text[0] && text[strspn(text, "0123456789")] == '\0';
	int64_t ns;

	if (!count && hs_duration_read(text, &ns) < 0)
		return refuse_every(text);
	json_object_set_new(content, "mode", json_string(count ? "count" : "frequency"));
	json_object_set_new(content, "mode_setting",
			count ? hs_cli_number_or_text(text) : json_integer(ns / 1000000));
	return HS_CLI_DONE;
}

// Completes mode and setting. Without a mode, the mode is count. With mode count and no setting,
// the setting is 100. Other modes have no default setting.
static int complete_mode(json_t *content)
{
	const json_t *given = json_object_get(content, "mode");
	const char *mode = given ? json_string_value(given) : "count";

	if (!given)
		json_object_set_new(content, "mode", json_string(mode));
	if (!mode) // null: the node says what is wrong
		return HS_CLI_DONE;
	if (json_object_get(content, "mode_setting"))
		return HS_CLI_DONE;
	if (strcmp(mode, "frequency") == 0)
		return hs_cli_usage("--mode frequency needs --setting MILLISECONDS, or write "
				    "--every 20ms");
	if (strcmp(mode, "probability") == 0)
		return hs_cli_usage("--mode probability needs --setting PERCENT");
	json_object_set_new(content, "mode_setting", json_integer(100));
	return HS_CLI_DONE;
}

static int read_sampling(const struct hs_cli *cli, json_t *content)
{
	const char *every = cli->values[HS_CLI_EVERY], *percent = cli->values[HS_CLI_PERCENT];
	bool given = json_object_get(content, "mode") || json_object_get(content, "mode_setting");

	if ((every != NULL) + (percent != NULL) + given > 1)
		return hs_cli_usage("--every, --percent, and --mode with --setting cannot stand "
				    "together");
	if (percent) {
		json_t *number = hs_cli_number_or_text(percent);
		bool right = json_is_number(number);
		json_object_set_new(content, "mode", json_string("probability"));
		json_object_set_new(content, "mode_setting", number);
		if (!right)
			return hs_cli_usage("--percent: %s is no number", percent);
	}
	if (given)
		return complete_mode(content);
	return percent ? HS_CLI_DONE : read_every(every ? every : "100", content);
}

// The methods and instructions that the nodes of a rule have in common.
struct common {
	unsigned n, n_flexint, n_int,
			n_label; // n: nodes with network ports; others: those with a port of this
				 // method
	json_t *instructions;	 // of all nodes of method int; NULL: there was none so far
	bool of_controller;
};

// Returns the method of a port, or "". A network port without a profile has method flexint.
static const char *method_of(const json_t *port)
{
	const char *method = json_string_value(json_object_get(port, "method"));
	const char *side = json_string_value(json_object_get(port, "side"));

	return method ? method : side && strcmp(side, "network") == 0 ? "flexint" : "";
}

static void keep_common(struct common *common, json_t *instructions)
{
	const char *name;
	json_t *value;
	void *next;

	if (!common->instructions) {
		common->instructions = json_incref(instructions);
		return;
	}
	json_object_foreach_safe (common->instructions, next, name, value)
		if (!json_object_get(instructions, name))
			json_object_del(common->instructions, name);
}

// Takes the answer of a node to ports_get.
static void look_at_node(const json_t *answer, struct common *common)
{
	json_t *instructions = json_object(), *port, *value;
	bool flexint = false, is_int = false, label = false;
	size_t i, j;

	json_array_foreach (json_object_get(answer, "ports"), i, port) {
		flexint |= strcmp(method_of(port), "flexint") == 0;
		is_int |= strcmp(method_of(port), "int") == 0;
		label |= strcmp(method_of(port), "label") == 0;
		json_array_foreach (json_object_get(port, "instructions"), j, value)
			json_object_set_new(instructions, json_string_value(value), json_true());
	}
	common->n += flexint || is_int || label;
	common->n_flexint += flexint;
	common->n_int += is_int;
	common->n_label += label;
	if (is_int)
		keep_common(common, instructions);
	json_decref(instructions);
}

// Returns whether a rule belongs to a node. For a rule on a path, all nodes count, because only the
// controller knows the nodes of a path.
static bool is_on(const json_t *on, const char *name)
{
	const char *source = json_string_value(json_object_get(on, "source"));
	const json_t *nodes = json_object_get(on, "nodes");
	json_t *one;
	size_t i;

	json_array_foreach (nodes, i, one)
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	return !nodes && (!source || strcmp(source, name) == 0);
}

// Takes the answer of a node, or of all nodes of a controller.
static void look_at_nodes(const json_t *answer, const json_t *on, struct common *common)
{
	const char *name;
	json_t *node;

	if (!hs_cli_is_controller(answer)) {
		look_at_node(answer, common);
		return;
	}
	json_object_foreach (json_object_get(answer, "nodes"), name, node)
		if (is_on(on, name))
			look_at_node(node, common);
}

// Asks for the ports of all nodes. *waits gets whether some nodes of a controller have not
// answered.
static int ask_ports(struct hs_cli *cli, struct common *common, bool *waits)
{
	static const char request[] = "{\"ports_get\":{}}";
	json_t *reply, *ok, *on = hs_cli_on(cli);
	char *text;
	int rc = hs_cli_send(cli, request, strlen(request), &text);

	if (rc == HS_CLI_DONE) {
		reply = json_loads(text, 0, NULL);
		ok = json_object_get(reply, "ok");
		common->of_controller = hs_cli_is_controller(ok);
		*waits = json_array_size(json_object_get(ok, "unreachable")) > 0;
		look_at_nodes(ok, on, common);
		rc = hs_cli_check_names(ok, on);
		json_decref(reply);
		free(text);
	}
	json_decref(on);
	return rc;
}

// Asks until a node answered, for at most two seconds: a controller that has just started does not
// reach its nodes at once.
static int ask_nodes(struct hs_cli *cli, struct common *common)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	bool waits = false;
	int rc = ask_ports(cli, common, &waits);

	for (int i = 0; i < 20 && rc == HS_CLI_DONE && waits && !common->n; i++) {
		nanosleep(&pause, NULL);
		rc = ask_ports(cli, common, &waits);
	}
	return rc;
}

static void set_instructions(json_t *content, json_t *instructions)
{
	json_t *list = json_array(), *value;
	const char *name;

	json_object_foreach (instructions, name, value)
		json_array_append_new(list, json_string(name));
	if (json_array_size(list) == 0) // the node says what it lacks
		json_array_append_new(list, json_string("node_id"));
	json_object_set_new(content, "method", json_string("int"));
	json_object_set_new(content, "instructions", list);
}

// Chooses every value that all nodes of the rule can carry. The method is that of the nodes'
// network ports. If all nodes have ports of method flexint, the method is flexint, except for IPv4,
// which flexint does not measure.
static int choose_values(struct hs_cli *cli, json_t *content, bool only_int)
{
	struct common common = {.instructions = NULL};
	int rc = ask_nodes(cli, &common);
	bool flexint = common.n_flexint == common.n, is_int = common.n_int == common.n;
	bool label = common.n_label == common.n && !is_int && (only_int || !flexint) &&
		     !json_object_get(content, "method");

	if (rc == HS_CLI_DONE && common.of_controller && !common.n)
		rc = hs_cli_usage("no node of the rule tells the method of its ports: name "
				  "--method flexint, or --method int with --instructions");
	else if (rc == HS_CLI_DONE && label)
		json_object_set_new(content, "method", json_string("label"));
	else if (rc == HS_CLI_DONE && !only_int && !flexint && !is_int)
		rc = hs_cli_usage(
				"some nodes have ports of method flexint only, and some of method "
				"int only: name --method, or with --on the nodes of one method");
	else if (rc == HS_CLI_DONE && (only_int || !flexint))
		set_instructions(content, common.instructions);
	else if (rc == HS_CLI_DONE)
		json_object_set_new(content, "trace_type", json_string(hs_cli_trace_hex("all")));
	json_decref(common.instructions);
	return rc;
}

static bool is_ipv4(const json_t *content, const char *key)
{
	const char *address = json_string_value(json_object_get(content, key));

	return address && strchr(address, '.') && !strchr(address, ':');
}

// Replaces "any" by the prefix of all addresses of the other end's version of IP.
static int read_any(json_t *content)
{
	static const char *const ends[] = {"src_ip", "dst_ip"};

	for (int i = 0; i < 2; i++) {
		const char *text = json_string_value(json_object_get(content, ends[i]));
		const char *other = json_string_value(json_object_get(content, ends[!i]));
		if (!text || strcmp(text, "any") != 0)
			continue;
		if (other && strcmp(other, "any") == 0)
			return hs_cli_usage("any at both ends says no version of IP: write ::/0 or "
					    "0.0.0.0/0 for --src");
		json_object_set_new(content, ends[i],
				json_string(is_ipv4(content, ends[!i]) ? "0.0.0.0/0" : "::/0"));
	}
	return HS_CLI_DONE;
}

static int complete(struct hs_cli *cli, json_t *content)
{
	const char *method = json_string_value(json_object_get(content, "method"));
	bool named = json_object_get(content, "instructions") ||
		     json_object_get(content, "instruction_bitmap");
	bool is_int = method && strcmp(method, "int") == 0;
	bool only_int = is_int || is_ipv4(content, "src_ip") || is_ipv4(content, "dst_ip");
	int rc = read_sampling(cli, content);

	if (!json_object_get(content, "protocol"))
		json_object_set_new(content, "protocol", json_string("any"));
	if (named && !method)
		json_object_set_new(content, "method", json_string("int"));
	if (rc || named || json_object_get(content, "trace_type") ||
			(method && strcmp(method, "label") == 0))
		return rc;
	if (!method || is_int)
		return choose_values(cli, content, only_int);
	json_object_set_new(content, "trace_type", json_string(hs_cli_trace_hex("all")));
	return HS_CLI_DONE;
}

int hs_cli_rule_add(struct hs_cli *cli)
{
	json_t *content = json_object();
	bool some = cli->values[HS_CLI_EVERY] || cli->values[HS_CLI_PERCENT];
	const char *trace = cli->values[HS_CLI_TRACE];
	int rc = hs_cli_check_where(cli);

	if (rc == HS_CLI_DONE && trace)
		rc = hs_cli_trace_check(trace);
	for (unsigned i = 0; i < HS_CLI_RULE_END - HS_CLI_RULE; i++) {
		const char *text = cli->values[HS_CLI_RULE + i];
		const char *field = hs_cli_rule_options[i].field;
		some |= text != NULL;
		if (text)
			json_object_set_new(content, field, field_value(field, text));
	}
	if (rc == HS_CLI_DONE && !some)
		rc = hs_cli_usage("rule add needs %s", HS_CLI_RULE_WORDS);
	else if (rc == HS_CLI_DONE)
		rc = read_any(content);
	if (rc == HS_CLI_DONE && json_object_get(content, "src_ip") &&
			json_object_get(content, "dst_ip"))
		rc = complete(cli, content); // otherwise the node says what is missing
	if (rc) {
		json_decref(content);
		return rc;
	}
	json_t *on = hs_cli_on(cli);
	if (on)
		json_object_set_new(content, "on", on);
	return change_rule(cli, HS_VERB_INT_REQUEST, content, "installed");
}

// Adds a change such as "mode_setting=10" to the content, which already names the rule.
static int add_change(char *word, json_t *content)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return hs_cli_usage("%s is not of the form key=value", word);
	*equals = '\0';
	if (strcmp(word, "ns_id") == 0)
		return hs_cli_usage("ns_id names the rule and cannot be changed");
	if (json_object_get(content, word))
		return hs_cli_usage("%s is given twice", word);
	json_object_set_new(content, word, field_value(word, equals + 1));
	return HS_CLI_DONE;
}

int hs_cli_rule_set(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!hs_cli_read_ns(cli->args[0], &ns_id))
		return HS_CLI_USAGE;
	json_t *content = json_pack("{s:o}", "ns_id", ns_id);
	for (int i = 1; i < cli->n_args; i++) {
		if (add_change(cli->args[i], content)) {
			json_decref(content);
			return HS_CLI_USAGE;
		}
	}
	return change_rule(cli, HS_VERB_INT_UPDATE, content, "changed");
}

int hs_cli_rule_del(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!hs_cli_read_ns(cli->args[0], &ns_id))
		return HS_CLI_USAGE;
	return change_rule(cli, HS_VERB_INT_DELETE, json_pack("{s:o}", "ns_id", ns_id), "removed");
}

static void view_rule(const json_t *ok)
{
	const char *key;
	json_t *value;
	bool first = true;

	json_object_foreach ((json_t *)ok, key, value) {
		printf("%s%s\n", first ? "" : "\n", key);
		hs_cli_print_object(value);
		first = false;
	}
}

int hs_cli_rule_show(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!hs_cli_read_ns(cli->args[0], &ns_id))
		return HS_CLI_USAGE;
	return hs_cli_ask_and_show(
			cli, HS_VERB_INT_GET, json_pack("{s:o}", "ns_id", ns_id), view_rule);
}

int hs_cli_rule_list(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_INT_LIST, json_object(), hs_cli_view_rules);
}
