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

int hs_cli_show(const struct hs_cli *cli, const json_t *ok, void (*view)(const json_t *ok))
{
	if (wants_json(cli))
		hs_cli_print_json(ok);
	else if (hs_cli_is_controller(ok))
		hs_cli_view_answers(ok, view);
	else
		view(ok);
	return hs_cli_answered(ok);
}

json_t *hs_cli_number_or_text(const char *text)
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

json_t *hs_cli_value(const char *text)
{
	bool yes = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;

	if (strcmp(text, "null") == 0)
		return json_null();
	json_t *object = *text == '{' ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	if (object)
		return object;
	if (yes || strcmp(text, "false") == 0 || strcmp(text, "no") == 0)
		return json_boolean(yes);
	return hs_cli_number_or_text(text);
}

// Reads an id of the command line. Returns false after a usage error.
static bool read_id(const char *text, const char *noun, json_t **id)
{
	*id = hs_cli_number_or_text(text);
	if (json_is_integer(*id))
		return true;
	json_decref(*id);
	hs_cli_usage("%s is no %s", text, noun);
	return false;
}

bool hs_cli_read_ns(const char *text, json_t **ns_id)
{
	return read_id(text, "namespace id", ns_id);
}

// Returns {verb: content}. Takes ownership of the content.
static json_t *request_of(enum hs_api_verb verb, json_t *content)
{
	return json_pack("{s:o}", hs_api_verb_name(verb), content);
}

int hs_cli_ask_and_show(struct hs_cli *cli, enum hs_api_verb verb, json_t *content,
		void (*view)(const json_t *ok))
{
	json_t *ok;
	int rc = hs_cli_ask(cli, request_of(verb, content), &ok);
	if (rc)
		return rc;
	rc = hs_cli_show(cli, ok, view);
	json_decref(ok);
	return rc;
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
	rc = hs_cli_show(cli, all, view);
	json_decref(all);
	return rc;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

// Prints what a rule needs whose telemetry does not fit into full-size packets of hosts.
static void print_mtu_need(json_t *ok)
{
	json_t *name, *below = json_object_get(ok, "ports_below_mtu");
	size_t i;

	if (!below)
		return;
	printf("but full-size packets need an MTU of %" JSON_INTEGER_FORMAT
	       " to carry telemetry (or TCP needs telemetry.mss_clamp). Ports with less:",
			json_integer_value(json_object_get(ok, "mtu_needed_bytes")));
	json_array_foreach (below, i, name)
		printf("%s %s", i ? "," : "", json_string_value(name));
	printf("\n");
}

// Prints that a change was made. A controller answers before it tells the nodes, which may refuse.
static void print_done(const json_t *ok, const char *noun, const char *name, const char *done)
{
	const json_t *nodes = json_object_get(ok, "nodes");

	if (json_is_integer(nodes))
		printf("%s %s wanted at %" JSON_INTEGER_FORMAT
		       " node%s; `rule list` says where it is present\n",
				noun, name, json_integer_value(nodes),
				json_integer_value(nodes) == 1 ? "" : "s");
	else
		printf("%s%s%s %s\n", noun, name[0] ? " " : "", name, done);
}

static void print_untold(const struct hs_cli *cli, const json_t *untold)
{
	json_t *needs = hs_cli_trace_needs(cli, text_of(untold, "needs"));

	printf("its trace type does not tell %s of %s: %s (--trace needs %s)\n",
			text_of(untold, "metric"), text_of(untold, "of"), text_of(untold, "text"),
			json_string_value(needs));
	json_decref(needs);
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
	json_t *shadow = json_object_get(ok, "shadowed_by"), *ns_id = json_object_get(ok, "ns_id");
	char chosen[24] = "";
	if (ns_id)
		snprintf(chosen, sizeof(chosen), "%" JSON_INTEGER_FORMAT,
				json_integer_value(ns_id));
	name = name ? name : chosen; // of a rule
	if (wants_json(cli))
		hs_cli_print_json(ok);
	else
		print_done(ok, noun, name, dry_run ? "would be accepted" : done);
	json_array_foreach (json_object_get(ok, "not_told"), i, untold)
		if (!wants_json(cli))
			print_untold(cli, untold);
	if (shadow && !wants_json(cli))
		printf("but rule %" JSON_INTEGER_FORMAT " takes all of its packets\n",
				json_integer_value(shadow));
	if (json_is_true(json_object_get(ok, "no_port_of_method")) && !wants_json(cli))
		printf("but no network port has its method, so that packets get no telemetry "
		       "here\n");
	if (!wants_json(cli))
		print_mtu_need(ok);
	json_decref(ok);
	return HS_CLI_DONE;
}

// ---- queries ----

static int hello(struct hs_cli *cli)
{
	return hs_cli_ask_and_show(cli, HS_VERB_HELLO, json_object(), hs_cli_print_object);
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
	return hs_cli_ask_and_show(cli, HS_VERB_NODE_GET, json_object(), view_node);
}

static int ports(struct hs_cli *cli)
{
	return hs_cli_ask_and_show(cli, HS_VERB_PORTS_GET, json_object(), hs_cli_view_ports);
}

static int drops(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_DROPS_GET, json_object(), hs_cli_view_drops);
}

static int events(struct hs_cli *cli)
{
	json_t *content = json_object();
	const char *text = cli->values[HS_CLI_SINCE];
	json_t *since = text ? hs_cli_number_or_text(text) : NULL;

	if (since && (!json_is_integer(since) || json_integer_value(since) < 0)) {
		json_decref(since);
		json_decref(content);
		return hs_cli_usage("--since: %s is no event number", text);
	}
	if (since)
		json_object_set_new(content, "since", since);
	return hs_cli_list(cli, HS_VERB_EVENTS, content, hs_cli_view_events);
}

// Shows an audit. The exit code says whether everything adds up.
static int audit(struct hs_cli *cli)
{
	json_t *ok;
	int rc = hs_cli_ask(cli, request_of(HS_VERB_AUDIT, json_object()), &ok);
	if (rc)
		return rc;
	hs_cli_show(cli, ok, hs_cli_view_audit);
	rc = json_is_true(json_object_get(ok, "ok")) ? HS_CLI_DONE : HS_CLI_REFUSED;
	json_decref(ok);
	return rc;
}

static int explain(struct hs_cli *cli)
{
	json_t *ns_id;
	if (!hs_cli_read_ns(cli->args[0], &ns_id))
		return HS_CLI_USAGE;
	return hs_cli_ask_and_show(cli, HS_VERB_EXPLAIN, json_pack("{s:o}", "ns_id", ns_id),
			hs_cli_view_explain);
}

// Returns whether the text is "run" or a length, of which the node may have no windows.
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
		if (app ? !read_id(app, "application id", &id)
			: !hs_cli_read_ns(cli->args[0], &id)) {
			json_decref(content);
			return HS_CLI_USAGE;
		}
		json_object_set_new(content, key, id);
	}
	if (window)
		json_object_set_new(content, "window", json_string(window));
	if (app)
		return hs_cli_ask_and_show(cli, HS_VERB_QOS_GET, content, hs_cli_view_applications);
	bool run = window && strcmp(window, "run") == 0;
	return hs_cli_list(cli, HS_VERB_QOS_GET, content, run ? hs_cli_view_run : hs_cli_view_qos);
}

// ---- reports ----

// Finds the endpoint at which listeners may subscribe to the node. The caller frees *endpoint.
static int find_publisher(struct hs_cli *cli, char **endpoint)
{
	json_t *ok;
	int rc = hs_cli_ask(cli, request_of(HS_VERB_NODE_GET, json_object()), &ok);
	if (rc)
		return rc;
	const char *first =
			json_string_value(json_array_get(json_object_get(ok, "publish_bind"), 0));
	const char *other = json_object_get(ok, "collector")	? "collector"
			    : json_object_get(ok, "controller") ? "controller"
								: NULL;
	*endpoint = first && !other ? strdup(first) : NULL;
	json_decref(ok);
	if (*endpoint)
		return HS_CLI_DONE;
	if (other)
		fprintf(stderr, "hopsight: a %s publishes no reports of rules: ask a node\n",
				other);
	else
		fprintf(stderr, "hopsight: the node publishes to no local endpoint "
				"(control.publish_bind); name one with --from\n");
	return HS_CLI_REFUSED;
}

// Warns if no rule has this namespace: there are no reports until one is installed.
static void warn_without_rule(struct hs_cli *cli, long long ns)
{
	char request[64], *reply = NULL;

	snprintf(request, sizeof(request), "{\"int_get\":{\"ns_id\":%lld}}", ns);
	if (hs_cli_send(cli, request, strlen(request), &reply) == HS_CLI_DONE) {
		json_t *json = json_loads(reply, 0, NULL);
		const char *code = json_string_value(
				json_object_get(json_object_get(json, "error"), "code"));
		if (code && strcmp(code, "no_such_rule") == 0)
			fprintf(stderr,
					"hopsight: no rule has namespace %lld yet: there are no "
					"reports until one is installed\n",
					ns);
		json_decref(json);
	}
	free(reply);
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
	long long ns = 0;
	json_t *ns_id;

	if (cli->n_args) {
		if (!hs_cli_read_ns(cli->args[0], &ns_id))
			return HS_CLI_USAGE;
		ns = json_integer_value(ns_id);
		snprintf(topic, sizeof(topic), "report.%lld", ns);
		json_decref(ns_id);
	}
	if (cli->values[HS_CLI_FROM])
		return stream(cli, cli->values[HS_CLI_FROM], topic);
	int rc = find_publisher(cli, &endpoint);
	if (rc == HS_CLI_DONE && cli->n_args)
		warn_without_rule(cli, ns);
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
	if (text && ferror(file)) {
		free(text);
		text = NULL;
	}
	int error = errno;
	if (file && file != stdin)
		fclose(file);
	errno = error;
	return text;
}

// Prints a reply that is not JSON. Its control characters are escaped.
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
		{"rule add", HS_CLI_RULE_WORDS, "install a rule: monitor a flow", 0, 0,
				OPTIONS(HS_CLI_EVERY, HS_CLI_PERCENT, HS_CLI_RULE, HS_CLI_ON_PATH,
						HS_CLI_ON, HS_CLI_AT, HS_CLI_DRY_RUN),
				false, hs_cli_rule_add},
		{"rule list", "", "all rules", 0, 0, NO_OPTIONS, true, hs_cli_rule_list},
		{"rule show", "NS", "one rule with its counters and state", 1, 1, NO_OPTIONS, true,
				hs_cli_rule_show},
		{"rule set", "NS KEY=VALUE...", "change switches or sampling of a rule", 2, 64,
				OPTIONS(HS_CLI_DRY_RUN), false, hs_cli_rule_set},
		{"rule del", "NS", "remove a rule", 1, 1, OPTIONS(HS_CLI_DRY_RUN), false,
				hs_cli_rule_del},
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
		{"stats", "", "every counter", 0, 0, OPTIONS(HS_CLI_PROMETHEUS), true,
				hs_cli_stats},
		{"top", "", "live view: rates of ports, rules and hops; at a collector, of flows",
				0, 0, OPTIONS(HS_CLI_INTERVAL, HS_CLI_WINDOW), false, hs_cli_top},
		{"events", "", "events, oldest first", 0, 0, OPTIONS(HS_CLI_SINCE), true, events},
		{"audit", "", "whether every packet and report adds up (exit code 1: no)", 0, 0,
				NO_OPTIONS, true, audit},
		{"explain", "NS", "why a rule measures nothing", 1, 1, NO_OPTIONS, true, explain},
		{"label set", "[--at NODE] PORT=S...",
				"INT-label: ports label after T / 2^S; --at: at a controller, this "
				"node's",
				1, 256, OPTIONS(HS_CLI_AT), false, hs_cli_label_set},
		{"label", "[NODE [PORT]]",
				"INT-label: coverage, ports not seen, deepest queues; at a node "
				"its ports",
				0, 2, NO_OPTIONS, true, hs_cli_label},
		{"probe run", "", "at a controller: begin a session of probes and show its result",
				0, 0, NO_OPTIONS, false, hs_cli_probe_run},
		{"probe status", "", "at a controller: the last session and what probes read", 0, 0,
				NO_OPTIONS, true, hs_cli_probe_status},
		{"probe links", "", "at a controller: whether probes cross links", 0, 0, NO_OPTIONS,
				true, hs_cli_probe_links},
		{"probe routes", "", "at a controller: routes around bad links", 0, 0, NO_OPTIONS,
				true, hs_cli_probe_routes},
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
