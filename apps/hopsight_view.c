// SPDX-License-Identifier: BSD-3-Clause
// Views of each reply for people. Members that a node leaves out are also left out here.
#include "hopsight_cli.h"

#include "text_table.h"

#include <string.h>

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static void table_or(const json_t *rows, const char *none, const struct hs_cli_column *columns,
		size_t n, bool rest)
{
	if (json_array_size(rows))
		hs_cli_print_table(rows, columns, n, rest);
	else
		printf("%s\n", none);
}

void hs_cli_view_routes(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"prefix", NULL}, {"port", NULL},
			{"next_hop_mac", NULL}, {"via", NULL}, {"neighbour", NULL}};
	table_or(json_object_get(ok, "routes"), "no routes", COLUMNS(columns), false);
}

void hs_cli_view_neighbours(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {
			{"addr", NULL}, {"port", NULL}, {"mac", NULL}, {"routes", NULL}};
	table_or(json_object_get(ok, "neighbours"), "no neighbours", COLUMNS(columns), false);
}

void hs_cli_view_ports(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"name", NULL}, {"side", NULL},
			{"profile", NULL, 1}, {"method", NULL, 1}, {"version", NULL, 1},
			{"mode", NULL, 1}, {"carrier", NULL, 1}, {"driver", NULL, 1},
			{"mtu", NULL, 1}, {"link_up", "link"}, {"usable", NULL, 1},
			{"rx_packets", NULL}, {"rx_bytes", NULL}, {"tx_packets", NULL},
			{"tx_bytes", NULL}, {"rx_missed", NULL}, {"rx_errors", NULL},
			{"tx_errors", NULL}, {"id", NULL, 2}, {"rate_bps", NULL, 1},
			{"queue_packets", NULL, 1}, {"queued", NULL}, {"depth_max", NULL, 1},
			{"drops", NULL, HS_TEXT_CUT}, {"events", NULL, 2}, {"udp_port", NULL},
			{"buffer_kib", NULL, 1}, {"lost", NULL}};
	table_or(json_object_get(ok, "ports"), "no ports", COLUMNS(columns), false);
}

// Prints how many packets ended at ports before the node took them. No drop counter and no equation
// contains these packets. `at` names the member of a port that has the counters, or is NULL.
static void print_lost_before(const json_t *ports, const char *at)
{
	static const char none[] = "lost before the node: no packet (rx_errors 0, rx_missed 0)\n";
	bool some = false, known = false;
	json_t *port;
	size_t i;

	json_array_foreach (ports, i, port) {
		const json_t *device = at ? json_object_get(port, at) : port;
		json_int_t errors = json_integer_value(json_object_get(device, "rx_errors"));
		json_int_t missed = json_integer_value(json_object_get(device, "rx_missed"));
		known |= json_object_get(device, "rx_missed") != NULL;
		if (!errors && !missed)
			continue;
		some = true;
		printf("lost before the node: at port %s rx_errors %" JSON_INTEGER_FORMAT
		       ", rx_missed %" JSON_INTEGER_FORMAT "\n",
				json_string_value(json_object_get(port, "name")), errors, missed);
	}
	if (known && !some)
		printf("%s", none);
}

void hs_cli_view_drops(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"port", NULL}, {"node_id", "node"},
			{"packets", NULL}, {"reports", NULL}, {"reason_id", NULL, 1},
			{"reason", NULL}, {"text", "meaning", HS_TEXT_CUT}};
	json_t *some = json_array(), *drop;
	size_t i;

	json_array_foreach (json_object_get(ok, "drops"), i, drop) {
		const json_t *packets = json_object_get(drop, "packets");
		if (!packets || json_integer_value(packets) != 0)
			json_array_append(some, drop);
	}
	table_or(some, "no drops", COLUMNS(columns), false);
	json_decref(some);
	print_lost_before(json_object_get(ok, "ports"), NULL);
}

// Returns the name of a counter with its further members, for example port and reason.
static json_t *series_of(const json_t *stat)
{
	static const char *const named[] = {"name", "kind", "value", "unit", "help"};
	const char *name = json_string_value(json_object_get(stat, "name"));
	json_t *series = json_string(name ? name : ""), *value;
	char text[HS_CLI_TEXT];
	const char *key;

	json_object_foreach ((json_t *)stat, key, value) {
		size_t i = 0;
		while (i < sizeof(named) / sizeof(named[0]) && strcmp(named[i], key) != 0)
			i++;
		if (i < sizeof(named) / sizeof(named[0]))
			continue;
		hs_cli_format(key, value, text);
		json_t *longer = json_sprintf("%s %s=%s", json_string_value(series), key, text);
		json_decref(series);
		series = longer;
	}
	return series;
}

void hs_cli_view_stats(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"name", NULL, HS_TEXT_CUT}, {"value", NULL},
			{"unit", NULL, 1}, {"help", "meaning", HS_TEXT_CUT}};
	json_t *stats = json_deep_copy(json_object_get(ok, "stats")), *stat;
	size_t i;

	json_array_foreach (stats, i, stat)
		json_object_set_new(stat, "name", series_of(stat));
	table_or(stats, "no counters", COLUMNS(columns), false);
	json_decref(stats);
}

void hs_cli_view_events(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"seq", NULL, 1}, {"ts_ns", "time"},
			{"kind", NULL}, {"message", NULL, HS_TEXT_CUT}};
	json_int_t lost = json_integer_value(json_object_get(ok, "lost"));

	if (lost)
		printf("%" JSON_INTEGER_FORMAT " events were lost before these\n", lost);
	table_or(json_object_get(ok, "events"), "no events", COLUMNS(columns), true);
}

void hs_cli_view_audit(const json_t *ok)
{
	static const struct hs_cli_column equations[] = {{"name", NULL}, {"ok", NULL},
			{"port", NULL}, {"left", NULL}, {"right", NULL},
			{"text", "equation", HS_TEXT_CUT}, {"terms", NULL, 1}};
	const char *key;
	json_t *value;

	printf("%s\n", json_is_true(json_object_get(ok, "ok")) ? "everything adds up"
							       : "something does NOT add up");
	print_lost_before(json_object_get(ok, "ports"), "device");
	json_object_foreach ((json_t *)ok, key, value) {
		if (!json_is_array(value) || !json_array_size(value))
			continue;
		printf("\n%s\n", key);
		if (strcmp(key, "equations") == 0)
			hs_cli_print_table(value, COLUMNS(equations), false);
		else
			hs_cli_print_table(value, NULL, 0, true);
	}
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

void hs_cli_view_explain(const json_t *ok)
{
	const json_t *reasons = json_object_get(ok, "reasons");
	json_t *reason;
	size_t i;

	printf("rule %" JSON_INTEGER_FORMAT " at node %s: %" JSON_INTEGER_FORMAT
	       " packets, %" JSON_INTEGER_FORMAT " reports\n",
			number_of(ok, "ns_id"), json_string_value(json_object_get(ok, "name")),
			number_of(ok, "packets"), number_of(ok, "reports"));
	if (json_array_size(reasons) == 0)
		printf("  nothing keeps the rule from measuring here\n");
	json_array_foreach (reasons, i, reason) {
		const char *text = json_string_value(json_object_get(reason, "text"));
		printf("  ");
		hs_cli_print_text(2, text ? text : "?");
	}
}

// ---- metrics ----

static bool is_stale(const json_t *report)
{
	return json_is_true(json_object_get(report, "stale"));
}

static const char *window_name(const json_t *report, char text[HS_CLI_TEXT])
{
	const json_t *window = json_object_get(report, "window_ns");
	if (!window || json_integer_value(window) <= 0)
		return "whole run";
	hs_cli_format("window_ns", window, text);
	return text;
}

static void write_heading(FILE *out, const json_t *report)
{
	char text[HS_CLI_TEXT];
	const json_t *flags = json_object_get(report, "flags");

	fprintf(out, "%s", window_name(report, text));
	hs_cli_format("end_ns", json_object_get(report, "end_ns"), text);
	if (text[0])
		fprintf(out, " to %s", text);
	fprintf(out, "  %" JSON_INTEGER_FORMAT " reports  path ",
			json_integer_value(json_object_get(report, "reports")));
	hs_cli_path_text(json_object_get(report, "path"), text);
	fprintf(out, "%s", is_stale(report) ? "–" : text[0] ? text : "unknown");
	if (json_is_true(json_object_get(report, "path_changed")))
		fprintf(out, "  path changed");
	if (is_stale(report)) {
		hs_cli_format("age_ns", json_object_get(report, "age_ns"), text);
		fprintf(out, "  %s%s%s", text[0] ? "last report " : "stale", text,
				text[0] ? " ago" : "");
	}
	hs_cli_format("flags", flags, text);
	fprintf(out, "%s%s", text[0] ? "  " : "", text);
}

static void print_heading(const json_t *report)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	write_heading(out, report);
	int indent = printf("rule %" JSON_INTEGER_FORMAT "  ",
			json_integer_value(json_object_get(report, "ns_id")));
	if (fclose(out) == 0)
		hs_cli_print_text((size_t)indent, text);
	free(text);
}

static json_t *hop_row(const json_t *hop, bool stale)
{
	char name[64];
	json_t *row = hs_cli_unless_stale(hop, stale);

	hs_cli_hop_name(hop, name, sizeof(name));
	json_object_set_new(row, "hop", json_string(name));
	return row;
}

static void print_qos(const json_t *report)
{
	static const struct hs_cli_column columns[] = {{"hop", NULL}, {"throughput_bps", NULL},
			{"window_throughput_bps", "in window", 1}, {"delay_ns.mean", "delay mean"},
			{"delay_ns.min", "min", 1}, {"delay_ns.p50", "p50", 1},
			{"delay_ns.p99", "p99"}, {"delay_ns.max", "max", 1}, {"jitter_ns", NULL},
			{"loss_ratio", NULL}, {"lost_packets", "lost", 1},
			{"node_lost_packets", "in node", 2},
			{"unattributed_lost_packets", "unattributed", 2}, {"tx_packets", NULL, 2},
			{"rx_packets", NULL, 2}, {"hop_latency_ns.mean", "hop latency mean"},
			{"hop_latency_ns.p50", "p50", 1}, {"hop_latency_ns.p99", "p99"},
			{"hop_latency_ns.max", "max", 1}, {"queue_packets.mean", "queue mean"},
			{"queue_packets.max", "max", 1},
			{"link_utilisation_ratio.mean", "link used mean"},
			{"link_utilisation_ratio.max", "max", 1}};
	const json_t *e2e = json_object_get(report, "e2e");
	json_t *rows = json_array(), *hop;
	size_t i;

	json_array_foreach (json_object_get(report, "hops"), i, hop)
		json_array_append_new(rows, hop_row(hop, is_stale(report)));
	if (e2e) {
		json_t *row = hs_cli_unless_stale(e2e, is_stale(report));
		json_object_set_new(row, "hop", json_string("end to end"));
		json_array_append_new(rows, row);
	}
	print_heading(report);
	hs_cli_print_table(rows, COLUMNS(columns), false);
	json_decref(rows);
}

static void view_windows(const json_t *ok, const char *none)
{
	const json_t *list = json_object_get(ok, "qos");
	json_t *item;
	size_t i;

	if (json_array_size(list) == 0)
		hs_cli_print_text(0, none);
	json_array_foreach (list, i, item) {
		const json_t *inner = json_object_get(item, "qos_report");
		printf("%s", i ? "\n" : "");
		print_qos(inner ? inner : item);
	}
}

void hs_cli_view_qos(const json_t *ok)
{
	view_windows(ok, "no metrics: they are made from the reports of the node where a flow "
			 "leaves, and none came here lately; `--window run` shows the whole run, "
			 "and `hopsight explain NS` says why there are none");
}

void hs_cli_view_run(const json_t *ok)
{
	view_windows(ok, "no metrics of the whole run: ask the node where the flow leaves, because "
			 "a controller has them only where it computes metrics itself; `hopsight "
			 "explain NS` says whether the node has reports");
}

// ---- applications ----

// Returns the row of a flow, whose member "flow" is like "2001:db8::2 → 2001:db8::1".
static json_t *flow_row(const json_t *flow)
{
	char name[128];
	json_t *row = hs_cli_unless_stale(json_object_get(flow, "e2e"), is_stale(flow));
	if (!row)
		row = json_object();
	snprintf(name, sizeof(name), "%s → %s", json_string_value(json_object_get(flow, "from")),
			json_string_value(json_object_get(flow, "to")));
	json_object_set(row, "rule", json_object_get(flow, "ns_id"));
	json_object_set(row, "direction", json_object_get(flow, "direction"));
	json_object_set(row, "reports", json_object_get(flow, "reports"));
	json_object_set_new(row, "flow", json_string(name));
	return row;
}

// Returns whether some flow of the application has a window that is not stale.
static bool is_heard_of(const json_t *application)
{
	json_t *flow;
	size_t i;

	json_array_foreach (json_object_get(application, "flows"), i, flow)
		if (json_object_get(flow, "e2e") && !is_stale(flow))
			return true;
	return false;
}

static void print_round_trip(const json_t *application)
{
	static const char *const keys[] = {"mean", "min", "p50", "p99", "max"};
	const json_t *trip = json_object_get(application, "round_trip_ns");
	const json_t *sum = json_object_get(application, "one_way_sum_ns");
	char text[HS_CLI_TEXT];

	if (!is_heard_of(application)) {
		printf("%s", trip ? "round trip  –\n" : "");
		return;
	}
	for (size_t i = 0; trip && i < sizeof(keys) / sizeof(keys[0]); i++) {
		hs_cli_format("round_trip_ns", json_object_get(trip, keys[i]), text);
		if (text[0])
			printf("%s%s %s", i ? "  " : "round trip  ", keys[i], text);
	}
	if (trip)
		printf("  (%" JSON_INTEGER_FORMAT " pairs)\n",
				json_integer_value(
						json_object_get(application, "round_trip_pairs")));
	hs_cli_format("one_way_sum_ns", sum, text);
	if (sum)
		printf("one-way delays add up to %s%s\n", text,
				json_is_true(json_object_get(application, "clocks_differ"))
						? ", but the clocks differ"
						: "");
}

static void print_worst(const json_t *worst, const char *why, const char *key, const char *words)
{
	const json_t *hop = json_object_get(worst, why);
	char text[HS_CLI_TEXT], name[64];

	if (!hop)
		return;
	hs_cli_format(key, json_object_get(hop, key), text);
	hs_cli_hop_name(hop, name, sizeof(name));
	printf("%s: %s of rule %" JSON_INTEGER_FORMAT ", %s\n", words, name,
			json_integer_value(json_object_get(hop, "ns_id")), text);
}

static void print_application(const json_t *application)
{
	static const struct hs_cli_column columns[] = {{"rule", NULL}, {"direction", NULL},
			{"flow", NULL}, {"reports", NULL}, {"throughput_bps", NULL},
			{"delay_ns.mean", "delay mean"}, {"jitter_ns", NULL}, {"loss_ratio", NULL}};
	const json_t *worst = json_object_get(application, "worst_hop");
	json_t *rows = json_array(), *flow;
	size_t i;

	json_array_foreach (json_object_get(application, "flows"), i, flow)
		json_array_append_new(rows, flow_row(flow));
	printf("application %" JSON_INTEGER_FORMAT "\n",
			json_integer_value(json_object_get(application, "app_id")));
	hs_cli_print_table(rows, COLUMNS(columns), false);
	json_decref(rows);
	print_round_trip(application);
	print_worst(worst, "loss", "loss_ratio", "most loss");
	print_worst(worst, "delay", "delay_ns", "longest delay");
}

void hs_cli_view_applications(const json_t *ok)
{
	const json_t *list = json_object_get(ok, "applications");
	json_t *application;
	size_t i;

	if (json_array_size(list) == 0)
		printf("no metrics: no report of this application's flows came to this node\n");
	json_array_foreach (list, i, application)
		print_application(application);
}

// ---- raw reports ----

// Prints one line: the counts at both ends, and the delay of each hop.
void hs_cli_view_report(const json_t *message)
{
	const json_t *report = json_object_get(message, "int_report");
	const json_t *source = json_object_get(report, "e2e"),
		     *sink = json_object_get(report, "sink"),
		     *sent = json_object_get(source, "tx_packets");
	json_int_t before = json_integer_value(json_object_get(source, "ts_ns"));
	char text[HS_CLI_TEXT];
	json_t *hop;
	size_t i;

	hs_cli_format("ts_ns", json_object_get(sink, "ts_ns"), text);
	printf("%s  rule %" JSON_INTEGER_FORMAT " ", text,
			json_integer_value(json_object_get(report, "ns_id")));
	if (sent) // INT counts nothing
		printf(" sent %" JSON_INTEGER_FORMAT, json_integer_value(sent));
	printf(" received %" JSON_INTEGER_FORMAT "  source",
			json_integer_value(json_object_get(sink, "rx_packets")));
	for (i = 0; i <= json_array_size(json_object_get(report, "hops")); i++) {
		hop = json_array_get(json_object_get(report, "hops"), i);
		const json_t *ts = json_object_get(hop ? hop : sink, "ts_ns");
		json_t *delay = json_integer(json_integer_value(ts) - before);
		hs_cli_format("delay_ns", delay, text);
		json_decref(delay);
		printf(" → %s%s", ts && before ? text : "", ts && before ? " → " : "");
		printf(hop ? "%" JSON_INTEGER_FORMAT : "sink %" JSON_INTEGER_FORMAT,
				json_integer_value(json_object_get(hop ? hop : sink, "node_id")));
		before = json_integer_value(ts);
	}
	printf("\n");
}
