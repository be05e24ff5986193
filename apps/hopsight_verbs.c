// SPDX-License-Identifier: BSD-3-Clause
// What each verb of the command line asks and shows.
#include "hopsight_cli.h"

#include "clean_text.h"
#include "duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wants_json(const struct hs_cli *cli)
{
	return cli->values[HS_CLI_JSON] != NULL;
}

static void show(const struct hs_cli *cli, const json_t *ok, void (*view)(const json_t *ok))
{
	if (wants_json(cli))
		hs_cli_print_json(ok);
	else if (hs_cli_is_controller(ok))
		hs_cli_view_answers(ok, view);
	else
		view(ok);
}

// Returns an integer of the command line, or the text itself, which the node then names in its
// refusal.
static json_t *number_or_text(const char *text)
{
	char *end;
	errno = 0;
	long long integer = strtoll(text, &end, 10);
	if (*text && !*end && !errno)
		return json_integer(integer);
	errno = 0;
	double real = strtod(text, &end);
	json_t *json = *text && !*end && !errno ? json_real(real) : NULL;
	return json ? json : json_string(text); // NaN and infinity are not JSON
}

// Tables show yes and no; JSON shows true and false.
static json_t *value_of(const char *text)
{
	bool yes = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;

	if (strcmp(text, "null") == 0)
		return json_null();
	json_t *object = *text == '{' ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	if (object)
		return object;
	if (yes || strcmp(text, "false") == 0 || strcmp(text, "no") == 0)
		return json_boolean(yes);
	return number_or_text(text);
}

// Reads a namespace id of the command line. Returns false after a usage error.
static bool read_id(const char *text, const char *noun, json_t **id)
{
	*id = number_or_text(text);
	if (json_is_integer(*id))
		return true;
	json_decref(*id);
	hs_cli_usage("%s is no %s", text, noun);
	return false;
}

static bool read_ns(const char *text, json_t **ns_id)
{
	return read_id(text, "namespace id", ns_id);
}

// {verb: content}; takes the content over.
static json_t *request_of(enum hs_api_verb verb, json_t *content)
{
	return json_pack("{s:o}", hs_api_verb_name(verb), content);
}

static int ask_and_show(struct hs_cli *cli, enum hs_api_verb verb, json_t *content,
		void (*view)(const json_t *ok))
{
	json_t *ok;
	int rc = hs_cli_ask(cli, request_of(verb, content), &ok);
	if (rc)
		return rc;
	show(cli, ok, view);
	json_decref(ok);
	return HS_CLI_DONE;
}

// Appends each list of a page to the same list of the pages before.
static void add_page(json_t *all, const json_t *page)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)page, key, value) {
		json_t *list = json_object_get(all, key);
		if (!list)
			json_object_set(all, key, value);
		else if (json_is_array(list))
			json_array_extend(list, value);
	}
}

// Asks page after page and joins the pages. Takes ownership of the content.
static int ask_all(struct hs_cli *cli, enum hs_api_verb verb, json_t *content, json_t **all)
{
	// Events are numbered, and the reply says whether there are more.
	bool numbered = verb == HS_VERB_EVENTS;
	const char *cursor = numbered ? "since" : "offset";

	*all = NULL;
	for (;;) {
		json_t *ok;
		int rc = hs_cli_ask(cli, request_of(verb, json_deep_copy(content)), &ok);
		if (rc) {
			json_decref(*all);
			json_decref(content);
			return rc;
		}
		json_t *next = json_incref(json_object_get(ok, "next"));
		bool more = numbered ? json_is_true(json_object_get(ok, "more")) : next != NULL;
		if (!*all)
			*all = json_incref(ok);
		else
			add_page(*all, ok);
		json_decref(ok);
		// A node whose cursor does not advance would be asked for ever.
		json_int_t before = json_integer_value(json_object_get(content, cursor));
		if (!more || json_integer_value(next) <= before) {
			if (numbered)
				json_object_set(*all, "next", next);
			json_object_del(*all, numbered ? "more" : "next");
			json_decref(next);
			json_decref(content);
			return HS_CLI_DONE;
		}
		json_object_set_new(content, cursor, next);
	}
}

int hs_cli_list(struct hs_cli *cli, enum hs_api_verb verb, json_t *content,
		void (*view)(const json_t *ok))
{
	json_t *all;
	int rc = ask_all(cli, verb, content, &all);

	if (rc)
		return rc;
	show(cli, all, view);
	json_decref(all);
	return HS_CLI_DONE;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

int hs_cli_change(struct hs_cli *cli, enum hs_api_verb verb, json_t *content, const char *noun,
		const char *name, const char *done)
{
	bool dry_run = cli->values[HS_CLI_DRY_RUN] != NULL;
	json_t *request = request_of(verb, content), *ok, *untold;
	size_t i;

	if (dry_run)
		json_object_set_new(request, "dry_run", json_true());
	int rc = hs_cli_ask(cli, request, &ok);
	if (rc)
		return rc;
	json_t *shadow = json_object_get(ok, "shadowed_by"); // of a rule
	if (wants_json(cli))
		hs_cli_print_json(ok);
	else
		printf("%s %s %s\n", noun, name, dry_run ? "would be accepted" : done);
	json_array_foreach (json_object_get(ok, "not_told"), i, untold)
		if (!wants_json(cli))
			printf("its trace type does not tell %s of %s: %s (needs %s)\n",
					text_of(untold, "metric"), text_of(untold, "of"),
					text_of(untold, "text"), text_of(untold, "needs"));
	if (shadow && !wants_json(cli))
		printf("but rule %" JSON_INTEGER_FORMAT " takes all of its packets\n",
				json_integer_value(shadow));
	json_decref(ok);
	return HS_CLI_DONE;
}

// ---- rules ----

const struct hs_cli_rule_option hs_cli_rule_options[] = {
		{"ns", "N", "ns_id", false},
		{"app", "N", "app_id", false},
		{"src", "ADDRESS", "src_ip", true},
		{"dst", "ADDRESS", "dst_ip", true},
		{"sport", "PORT", "src_port", false},
		{"dport", "PORT", "dst_port", false},
		{"proto", "NAME", "protocol", true},
		{"trace", "HEX", "trace_type", true},
		{"mode", "NAME", "mode", true},
		{"setting", "N", "mode_setting", false},
		{"transmit-report", "BOOL", "transmit_report", false},
		{"piggyback-report", "BOOL", "piggyback_report", false},
		{"extract-report", "BOOL", "extract_report", false},
		{"hop-enabled", "BOOL", "hop_enabled", false},
		{"in-band", "BOOL", "in_band", false},
		{"fields", "JSON", "fields", false},
		{"owner", "NAME", "owner", true},
		{"revision", "N", "revision", false},
		{"method", "NAME", "method", true},
		{"instructions", "NAME,...", "instructions", false},
		{"instruction-bitmap", "HEX", "instruction_bitmap", true},
		{"dscp", "N", "dscp", false},
};

#define RULE_WORDS                                                                                 \
	"--ns N [--app N] --src ADDRESS --dst ADDRESS [--sport PORT] [--dport PORT] "              \
	"--proto NAME (--trace HEX | --method int --instructions NAME,...) "                       \
	"--mode NAME --setting N"

// "node_id,queue" as a list.
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
	for (unsigned i = 0; i < HS_CLI_RULE_END - HS_CLI_RULE; i++)
		if (strcmp(hs_cli_rule_options[i].field, field) == 0)
			is_text = hs_cli_rule_options[i].is_text;
	return is_text && strcmp(text, "null") != 0 ? json_string(text) : value_of(text);
}

static int change_rule(struct hs_cli *cli, enum hs_api_verb verb, json_t *content, const char *done)
{
	json_int_t ns_id = json_integer_value(json_object_get(content, "ns_id"));
	char name[24];

	snprintf(name, sizeof(name), "%" JSON_INTEGER_FORMAT, ns_id);
	return hs_cli_change(cli, verb, content, "rule", name, done);
}

static int rule_add(struct hs_cli *cli)
{
	bool some = false;
	for (unsigned i = HS_CLI_RULE; i < HS_CLI_RULE_END; i++)
		some |= cli->values[i] != NULL;
	if (!some)
		return hs_cli_usage("rule add needs %s", RULE_WORDS);
	json_t *content = json_object();
	for (unsigned i = 0; i < HS_CLI_RULE_END - HS_CLI_RULE; i++) {
		const char *text = cli->values[HS_CLI_RULE + i];
		const char *field = hs_cli_rule_options[i].field;
		if (text)
			json_object_set_new(content, field, field_value(field, text));
	}
	json_t *on = hs_cli_on(cli);
	if (on)
		json_object_set_new(content, "on", on);
	return change_rule(cli, HS_VERB_INT_REQUEST, content, "installed");
}

static int rule_set(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!read_ns(cli->args[0], &ns_id))
		return HS_CLI_USAGE;
	json_t *content = json_pack("{s:o}", "ns_id", ns_id);
	for (int i = 1; i < cli->n_args; i++) {
		char *equals = strchr(cli->args[i], '=');
		if (!equals) {
			json_decref(content);
			return hs_cli_usage("%s is not of the form key=value", cli->args[i]);
		}
		*equals = '\0';
		json_object_set_new(content, cli->args[i], field_value(cli->args[i], equals + 1));
		*equals = '=';
	}
	return change_rule(cli, HS_VERB_INT_UPDATE, content, "changed");
}

static int rule_del(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!read_ns(cli->args[0], &ns_id))
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

static int rule_show(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!read_ns(cli->args[0], &ns_id))
		return HS_CLI_USAGE;
	return ask_and_show(cli, HS_VERB_INT_GET, json_pack("{s:o}", "ns_id", ns_id), view_rule);
}

static int rule_list(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_INT_LIST, json_object(), hs_cli_view_rules);
}

// ---- queries ----

static int hello(struct hs_cli *cli)
{
	return ask_and_show(cli, HS_VERB_HELLO, json_object(), hs_cli_print_object);
}

static void view_node(const json_t *ok)
{
	if (json_object_get(ok, "controller"))
		hs_cli_view_controller(ok);
	else
		hs_cli_print_object(ok);
}

static int node(struct hs_cli *cli)
{
	return ask_and_show(cli, HS_VERB_NODE_GET, json_object(), view_node);
}

static int ports(struct hs_cli *cli)
{
	return ask_and_show(cli, HS_VERB_PORTS_GET, json_object(), hs_cli_view_ports);
}

static int drops(struct hs_cli *cli)
{
	return ask_and_show(cli, HS_VERB_DROPS_GET, json_object(), hs_cli_view_drops);
}

static int stats(struct hs_cli *cli)
{
	return ask_and_show(cli, HS_VERB_STATS_GET, json_object(), hs_cli_view_stats);
}

static int events(struct hs_cli *cli)
{
	json_t *content = json_object();
	const char *text = cli->values[HS_CLI_SINCE];
	json_t *since = text ? number_or_text(text) : NULL;

	if (since && (!json_is_integer(since) || json_integer_value(since) < 0)) {
		json_decref(since);
		json_decref(content);
		return hs_cli_usage("--since: %s is no event number", text);
	}
	if (since)
		json_object_set_new(content, "since", since);
	return hs_cli_list(cli, HS_VERB_EVENTS, content, hs_cli_view_events);
}

// The exit code says whether everything adds up.
static int audit(struct hs_cli *cli)
{
	json_t *ok;
	int rc = hs_cli_ask(cli, request_of(HS_VERB_AUDIT, json_object()), &ok);
	if (rc)
		return rc;
	show(cli, ok, hs_cli_view_audit);
	rc = json_is_true(json_object_get(ok, "ok")) ? HS_CLI_DONE : HS_CLI_REFUSED;
	json_decref(ok);
	return rc;
}

// The node knows whether it has windows of this length.
static bool is_window(const char *text)
{
	int64_t ns;

	return strcmp(text, "run") == 0 || hs_duration_read(text, &ns) == 0;
}

static int qos(struct hs_cli *cli)
{
	const char *window = cli->values[HS_CLI_WINDOW], *app = cli->values[HS_CLI_APP];
	if (window && !is_window(window))
		return hs_cli_usage("--window: %s is no length such as 100ms, 10s or 1m, nor run",
				window);
	if (app && cli->n_args)
		return hs_cli_usage("--app and a rule cannot stand together");
	json_t *content = json_object(), *id;
	const char *key = app ? "app_id" : "ns_id";
	if (app || cli->n_args) {
		if (app ? !read_id(app, "application id", &id) : !read_ns(cli->args[0], &id)) {
			json_decref(content);
			return HS_CLI_USAGE;
		}
		json_object_set_new(content, key, id);
	}
	if (window)
		json_object_set_new(content, "window", json_string(window));
	if (app)
		return ask_and_show(cli, HS_VERB_QOS_GET, content, hs_cli_view_applications);
	return hs_cli_list(cli, HS_VERB_QOS_GET, content, hs_cli_view_qos);
}

// ---- reports ----

// Finds where listeners may subscribe at the node. The caller frees *endpoint.
static int find_publisher(struct hs_cli *cli, char **endpoint)
{
	json_t *ok;
	int rc = hs_cli_ask(cli, request_of(HS_VERB_NODE_GET, json_object()), &ok);
	if (rc)
		return rc;
	const char *first =
			json_string_value(json_array_get(json_object_get(ok, "publish_bind"), 0));
	*endpoint = first ? strdup(first) : NULL;
	json_decref(ok);
	if (*endpoint)
		return HS_CLI_DONE;
	fprintf(stderr, "hopsight: the node publishes to no local endpoint (control.publish_bind); "
			"name one with --from\n");
	return HS_CLI_REFUSED;
}

static void print_report(const struct hs_cli *cli, const struct hs_bus_message *message)
{
	json_t *report = json_loadb(message->json, message->len, 0, NULL);
	if (!report)
		fprintf(stderr, "hopsight: a message cannot be parsed\n");
	else if (wants_json(cli))
		hs_cli_print_line(report);
	else
		hs_cli_view_report(report);
	fflush(stdout);
	json_decref(report);
}

static int stream(struct hs_cli *cli, const char *endpoint, const char *topic)
{
	struct hs_bus_subscriber *subscriber;
	struct hs_bus_message message;
	struct hs_error err = {0};
	sigset_t caught;

	hs_cli_catch_signals(NULL, &caught);
	if (hs_bus_subscriber_open(endpoint, topic, false, hs_cli_keys(cli), &subscriber, &err)) {
		fprintf(stderr, "hopsight: %s\n", err.message);
		return HS_CLI_UNREACHABLE;
	}
	while (!hs_cli_is_stopped() && !ferror(stdout)) {
		int rc = hs_bus_subscriber_next(subscriber, 1000, &message);
		// A subscription is a prefix: report.7 also selects report.77.
		if (rc == 0 && (topic[strlen(topic) - 1] == '.' ||
					       strcmp(message.topic, topic) == 0))
			print_report(cli, &message);
		if (rc == 0)
			free(message.json);
	}
	hs_bus_subscriber_close(subscriber);
	return HS_CLI_DONE;
}

static int reports(struct hs_cli *cli)
{
	char topic[64] = "report.", *endpoint = NULL;
	json_t *ns_id;

	if (cli->n_args) {
		if (!read_ns(cli->args[0], &ns_id))
			return HS_CLI_USAGE;
		snprintf(topic, sizeof(topic), "report.%" JSON_INTEGER_FORMAT,
				json_integer_value(ns_id));
		json_decref(ns_id);
	}
	if (cli->values[HS_CLI_FROM])
		return stream(cli, cli->values[HS_CLI_FROM], topic);
	int rc = find_publisher(cli, &endpoint);
	if (rc == HS_CLI_DONE)
		rc = stream(cli, endpoint, topic);
	free(endpoint);
	return rc;
}

// ---- raw requests ----

static char *read_all(const char *name, size_t *len)
{
	FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
	size_t room = HS_API_MAX_BYTES + 1;
	char *text = file ? malloc(room) : NULL;

	*len = text ? fread(text, 1, room, file) : 0;
	if (file && file != stdin)
		fclose(file);
	return text;
}

// Text that is not JSON may contain anything.
static void print_foreign(const char *reply)
{
	char *clean = hs_clean_dup(reply);

	printf("%s\n", clean ? clean : "");
	free(clean);
}

static int call(struct hs_cli *cli)
{
	size_t len;
	char *text = read_all(cli->args[0], &len), *reply;
	if (!text)
		return hs_cli_usage("%s: %s", cli->args[0], strerror(errno));
	int rc = hs_cli_send(cli, text, len, &reply);
	free(text);
	if (rc)
		return rc;
	json_t *json = json_loads(reply, 0, NULL);
	if (json)
		hs_cli_print_json(json);
	else
		print_foreign(reply);
	rc = json_object_get(json, "ok") ? HS_CLI_DONE : HS_CLI_REFUSED;
	json_decref(json);
	free(reply);
	return rc;
}

// ---- the table ----

#define OPTIONS(...)                                                                               \
	(const enum hs_cli_option[])                                                               \
	{                                                                                          \
		__VA_ARGS__, HS_CLI_OPTIONS                                                        \
	}
#define NO_OPTIONS NULL

const struct hs_cli_verb hs_cli_verbs[] = {
		{"hello", "", "who answers", 0, 0, NO_OPTIONS, true, hello},
		{"rule add", RULE_WORDS, "install a rule: monitor a flow", 0, 0,
				OPTIONS(HS_CLI_RULE, HS_CLI_ON_PATH, HS_CLI_ON, HS_CLI_AT,
						HS_CLI_DRY_RUN),
				false, rule_add},
		{"rule list", "", "all rules", 0, 0, NO_OPTIONS, true, rule_list},
		{"rule show", "NS", "one rule with its counters and state", 1, 1, NO_OPTIONS, true,
				rule_show},
		{"rule set", "NS KEY=VALUE...", "change switches or sampling of a rule", 2, 64,
				OPTIONS(HS_CLI_DRY_RUN), false, rule_set},
		{"rule del", "NS", "remove a rule", 1, 1, OPTIONS(HS_CLI_DRY_RUN), false, rule_del},
		{"route list", "", "routes in order of prefix", 0, 0, NO_OPTIONS, true,
				hs_cli_route_list},
		{"route add", "PREFIX --port PORT --mac MAC | --via ADDRESS",
				"add a route, or replace the route of this prefix", 1, 1,
				OPTIONS(HS_CLI_PORT, HS_CLI_MAC, HS_CLI_VIA, HS_CLI_DRY_RUN), false,
				hs_cli_route_add},
		{"route del", "PREFIX", "remove a route", 1, 1, OPTIONS(HS_CLI_DRY_RUN), false,
				hs_cli_route_del},
		{"neighbour list", "", "neighbours that routes go via", 0, 0, NO_OPTIONS, true,
				hs_cli_neighbour_list},
		{"neighbour add", "ADDRESS --port PORT --mac MAC",
				"add or replace a neighbour; routes via it change too", 1, 1,
				OPTIONS(HS_CLI_PORT, HS_CLI_MAC, HS_CLI_DRY_RUN), false,
				hs_cli_neighbour_add},
		{"neighbour del", "ADDRESS", "remove a neighbour", 1, 1, OPTIONS(HS_CLI_DRY_RUN),
				false, hs_cli_neighbour_del},
		{"qos", "[NS] | --app N",
				"throughput, delay, jitter and loss; --app: also round trip, worst "
				"hop",
				0, 1, OPTIONS(HS_CLI_WINDOW, HS_CLI_APP), true, qos},
		{"reports", "[NS]", "raw reports as they arrive, until interrupted", 0, 1,
				OPTIONS(HS_CLI_FROM), false, reports},
		{"node", "", "the node: configuration in force, clock, workers", 0, 0, NO_OPTIONS,
				true, node},
		{"ports", "", "ports with their counters", 0, 0, NO_OPTIONS, true, ports},
		{"drops", "", "dropped packets by port and reason", 0, 0, NO_OPTIONS, true, drops},
		{"stats", "", "every counter", 0, 0, NO_OPTIONS, true, stats},
		{"events", "", "events, oldest first", 0, 0, OPTIONS(HS_CLI_SINCE), true, events},
		{"audit", "", "whether every packet and report adds up (exit code 1: no)", 0, 0,
				NO_OPTIONS, true, audit},
		{"flow", "", "at a collector: flows with their paths and latencies", 0, 0,
				NO_OPTIONS, true, hs_cli_flow},
		{"queue", "", "at a collector: the newest values of queues", 0, 0, NO_OPTIONS, true,
				hs_cli_queue},
		{"link", "", "at a collector: the newest values of links", 0, 0, NO_OPTIONS, true,
				hs_cli_link},
		{"exporter", "", "at a collector: who sends reports, and which are missing", 0, 0,
				NO_OPTIONS, true, hs_cli_exporter},
		{"refused", "", "at a collector: what was refused, and the first of each kind", 0,
				0, NO_OPTIONS, true, hs_cli_refused},
		{"keygen", "NAME", "make a pair of keys: NAME.secret and NAME.pub", 1, 1,
				OPTIONS(HS_CLI_DIR, HS_CLI_READ_ONLY), false, hs_cli_keygen},
		{"call", "FILE|-", "send a request unchanged and print the reply", 1, 1, NO_OPTIONS,
				true, call},
};
const size_t hs_cli_n_verbs = sizeof(hs_cli_verbs) / sizeof(hs_cli_verbs[0]);
