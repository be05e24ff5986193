// SPDX-License-Identifier: BSD-3-Clause
#include "top_rows.h"

#include "text_table.h"

#include <stdlib.h>
#include <string.h>

#define KEY  ".key"  // the same for a row in both rounds
#define BOOT ".boot" // the boot id of the process that counted

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static const struct hs_cli_column ports[] = {{"node", "node"}, {"name", "port"},
		{"link_up", "link"}, {"rx_bps", "rx"}, {"tx_bps", "tx"}, {"rx_pps", "rx packets"},
		{"tx_pps", "tx packets"}, {"drop_pps", "drops"}, {"lost_pps", "lost"},
		{"queued", "queued"}, {"side", "side", 1}, {"rx_packets", "rx total", 2},
		{"tx_packets", "tx total", 2}, {"dropped", "drops total", 2}};
static const struct hs_cli_column rules[] = {{"ns_id", "ns"}, {"node", "node"}, {"rx_bps", "rate"},
		{"rx_pps", "packets"}, {"loss_ratio", "loss"}, {"p99_ns", "p99 delay"},
		{"jitter_ns", "jitter"}, {"path", "path", HS_TEXT_CUT}, {"int_pps", "telemetry", 1},
		{"report_pps", "reports", 1}, {"state", "state", 1}, {"flow", "flow", 1},
		{"app_id", "app", 2}};
static const struct hs_cli_column hops[] = {{"ns_id", "ns"}, {"hop", "hop"},
		{"throughput_bps", "rate"}, {"loss_ratio", "loss"}, {"p99_ns", "p99 delay"},
		{"delay_ns.mean", "mean delay"}, {"jitter_ns", "jitter"},
		{"hop_latency_ns.p99", "p99 in hop", 1}, {"queue_packets.max", "queue max", 1},
		{"lost_packets", "lost", 1}, {"window_ns", "window", 2}};
static const struct hs_cli_column flows[] = {{"src_ip", "src"}, {"src_port", "sport"},
		{"dst_ip", "dst"}, {"dst_port", "dport"}, {"protocol", "proto", 1},
		{"report_pps", "reports"}, {"latency", "latency"}, {"path", "path", HS_TEXT_CUT},
		{"age_ns", "age"}};
static const struct hs_cli_column queues[] = {{"node_id", "node"}, {"queue_id", "queue"},
		{"occupancy", "occupancy"}, {"congestion", "congestion"},
		{"congested", "congested"}, {"age_ns", "age"}};
static const struct hs_cli_column links[] = {{"node_id", "node"}, {"port", "port"},
		{"utilisation", "utilisation"}, {"age_ns", "age"}};
static const struct hs_cli_column exporters[] = {{"address", "address"},
		{"listener", "listener", 1}, {"node_id", "node"}, {"hw_id", "hw", 1},
		{"report_pps", "reports"}, {"datagram_pps", "datagrams"},
		{"missing_pps", "missing"}, {"missing", "missing total", 1},
		{"restarts", "restarts", 1}, {"age_ns", "age"}};

const struct top_columns top_columns[TOP_VIEWS] = {
		[TOP_PORTS] = {"ports", "no ports", COLUMNS(ports), 2},
		[TOP_RULES] = {"rules", "no rules", COLUMNS(rules), 2},
		[TOP_HOPS] = {"hops", "no windows: they are made at the sink, where a flow leaves",
				COLUMNS(hops), 2},
		[TOP_FLOWS] = {"flows", "no flows", COLUMNS(flows), 5},
		[TOP_QUEUES] = {"queues", "no queues", COLUMNS(queues), 2},
		[TOP_LINKS] = {"links", "no links", COLUMNS(links), 2},
		[TOP_EXPORTERS] = {"exporters", "no exporters", COLUMNS(exporters), 4},
};

// ---- parts of a round ----

const json_t *top_answer(const json_t *round, const char *verb)
{
	return json_object_get(json_object_get(round, verb), "ok");
}

bool top_is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

static json_t *time_of(const json_t *round, const char *verb)
{
	return json_object_get(json_object_get(round, verb), "at_ns");
}

static bool at_controller(const json_t *round)
{
	return top_is_true(top_answer(round, "hello"), "controller");
}

bool top_has_view(const json_t *round, enum top_view view)
{
	bool collected = view >= TOP_FLOWS;

	return view == TOP_PORTS ||
	       collected == top_is_true(top_answer(round, "hello"), "collector");
}

// Returns the boot id of a node of a controller or, if `node` is NULL, of the program that answers.
static json_t *boot_of(const json_t *round, const char *node)
{
	json_t *one;
	size_t i;

	if (!node)
		return json_object_get(top_answer(round, "hello"), "boot_id");
	json_t *name = json_string(node), *found = NULL;
	json_array_foreach (json_object_get(top_answer(round, "node_get"), "nodes"), i, one)
		if (json_equal(json_object_get(one, "name"), name))
			found = json_object_get(one, "boot_id");
	json_decref(name);
	return found;
}

// ---- rates ----

struct rate {
	const char *rate, *counter;
	double factor;
};

static const struct rate rates[] = {{"rx_pps", "rx_packets", 1}, {"tx_pps", "tx_packets", 1},
		{"rx_bps", "rx_bytes", 8}, {"tx_bps", "tx_bytes", 8}, {"drop_pps", "dropped", 1},
		{"lost_pps", "missed", 1}, {"int_pps", "int_packets", 1},
		{"report_pps", "reports", 1}, {"report_pps", "reports_made", 1},
		{"datagram_pps", "datagrams", 1}, {"missing_pps", "missing", 1}};

static json_t *rate_of(const struct rate *rate, const json_t *row, const json_t *before)
{
	const json_t *now = json_object_get(row, rate->counter),
		     *then = json_object_get(before, rate->counter),
		     *since = json_object_get(before, TOP_AT);
	json_int_t difference = json_integer_value(now) - json_integer_value(then);
	json_int_t ns = json_integer_value(json_object_get(row, TOP_AT)) -
			json_integer_value(since);

	if (!then || !since || difference < 0 || ns <= 0 ||
			!json_equal(json_object_get(row, BOOT), json_object_get(before, BOOT)))
		return json_null();
	return json_real((double)difference * rate->factor * 1e9 / (double)ns);
}

static void add_rates(json_t *rows, const json_t *before)
{
	json_t *by_key = json_object(), *row;
	size_t i, r;

	json_array_foreach (before, i, row)
		json_object_set(by_key, json_string_value(json_object_get(row, KEY)), row);
	json_array_foreach (rows, i, row) {
		const json_t *then = json_object_get(
				by_key, json_string_value(json_object_get(row, KEY)));
		for (r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
			if (json_object_get(row, rates[r].counter))
				json_object_set_new(
						row, rates[r].rate, rate_of(&rates[r], row, then));
	}
	json_decref(by_key);
}

// ---- rows ----

// Adds a row. `parts` distinguish the row from the others of a round. Takes ownership of `row` and
// `parts`.
static void add_row(json_t *rows, json_t *row, json_t *at_ns, json_t *boot, json_t *parts)
{
	char *key = json_dumps(parts, JSON_COMPACT | JSON_ENCODE_ANY);

	if (key)
		json_object_set_new(row, KEY, json_string(key));
	json_object_set(row, TOP_AT, at_ns);
	json_object_set(row, BOOT, boot);
	json_array_append_new(rows, row);
	free(key);
	json_decref(parts);
}

// Sums members of an object, or all of them without keys.
static json_t *sum_of(const json_t *object, const char *const *keys)
{
	json_int_t sum = 0;
	const char *key;
	json_t *value;

	for (; keys && *keys; keys++)
		sum += json_integer_value(json_object_get(object, *keys));
	if (!keys)
		json_object_foreach ((json_t *)object, key, value)
			sum += json_integer_value(value);
	return json_integer(sum);
}

static void add_ports(json_t *rows, const json_t *round, const char *node, const json_t *ok)
{
	static const char *const missed[] = {"rx_missed", "rx_errors", "tx_errors", "lost", NULL};
	json_t *port;
	size_t i;

	json_array_foreach (json_object_get(ok, "ports"), i, port) {
		json_t *row = json_copy(port), *drops = json_object_get(port, "drops");
		if (node)
			json_object_set_new(row, "node", json_string(node));
		if (drops)
			json_object_set_new(row, "dropped", sum_of(drops, NULL));
		json_object_set_new(row, "missed", sum_of(port, missed));
		add_row(rows, row, time_of(round, "ports_get"), boot_of(round, node),
				json_pack("[s?, O]", node, json_object_get(port, "name")));
	}
}

static void port_rows(json_t *rows, const json_t *round)
{
	const json_t *ok = top_answer(round, "ports_get");
	const char *node;
	json_t *one;

	if (!at_controller(round))
		add_ports(rows, round, NULL, ok);
	json_object_foreach (at_controller(round) ? json_object_get(ok, "nodes") : NULL, node, one)
		add_ports(rows, round, node, one);
}

// Returns the shortest window of a rule, which says most about the present, or NULL.
static const json_t *window_of(const json_t *round, const json_t *ns_id)
{
	const json_t *found = NULL;
	json_int_t shortest = 0;
	json_t *window;
	size_t i;

	json_array_foreach (json_object_get(top_answer(round, "qos_get"), "qos"), i, window) {
		json_int_t length = json_integer_value(json_object_get(window, "window_ns"));
		if (!json_equal(json_object_get(window, "ns_id"), ns_id) ||
				(found && length >= shortest))
			continue;
		found = window;
		shortest = length;
	}
	return found;
}

// Sets a value of a row. A value that is missing, or that a stale window has, is unknown (null).
static void set_or_null(json_t *row, const char *key, const json_t *value, bool stale)
{
	if (value && !stale)
		json_object_set(row, key, (json_t *)value);
	else
		json_object_set_new(row, key, json_null());
}

static void add_window(json_t *row, const json_t *window)
{
	const json_t *e2e = json_object_get(window, "e2e");
	bool stale = top_is_true(window, "stale");
	char text[HS_CLI_TEXT];

	set_or_null(row, "loss_ratio", json_object_get(e2e, "loss_ratio"), stale);
	set_or_null(row, "jitter_ns", json_object_get(e2e, "jitter_ns"), stale);
	set_or_null(row, "p99_ns", json_object_get(json_object_get(e2e, "delay_ns"), "p99"), stale);
	set_or_null(row, "path", NULL, true);
	if (!stale && json_object_get(window, "path")) {
		hs_cli_path_text(json_object_get(window, "path"), text);
		json_object_set_new(row, "path", json_string(text));
	}
}

// Writes "2001:db8::1 → 2001:db8::2:5001 udp".
static json_t *flow_text(const json_t *rule)
{
	static const char *const keys[] = {"src_ip", "src_port", "dst_ip", "dst_port", "protocol"};
	char values[5][HS_CLI_TEXT], text[HS_CLI_TEXT];

	for (size_t i = 0; i < 5; i++)
		hs_cli_format("", json_object_get(rule, keys[i]), values[i]);
	for (size_t i = 1; i < 5; i += 2)
		if (strcmp(values[i], "0") == 0)
			values[i][0] = '\0';
	snprintf(text, sizeof(text), "%.60s%s%.8s → %.60s%s%.8s %.16s", values[0],
			values[1][0] ? " " : "", values[1], values[2], values[3][0] ? " " : "",
			values[3], values[4]);
	return json_string(text);
}

// Adds the row of a rule at the node that answers, or at a node of a controller. `got` is the
// node's int_get, of
// the time `at_ns`.
static void add_rule(json_t *rows, const json_t *round, const json_t *rule, const char *node,
		const json_t *got, json_t *at_ns)
{
	json_t *ns_id = json_object_get(rule, "ns_id"), *row = json_object();
	const json_t *state = node ? json_object_get(json_object_get(rule, "nodes"), node) : NULL;

	json_object_update(row, json_object_get(got, "counters"));
	json_object_set(row, "ns_id", ns_id);
	json_object_set(row, "app_id", json_object_get(rule, "app_id"));
	json_object_set_new(row, "flow", flow_text(rule));
	if (node)
		json_object_set_new(row, "node", json_string(node));
	if (state)
		json_object_set(row, "state", (json_t *)state);
	// Reports and windows are made at the sink, where the flow leaves.
	const json_t *window = window_of(round, ns_id);
	if (window && (!node || json_integer_value(json_object_get(row, "sink_packets")) > 0))
		add_window(row, window);
	add_row(rows, row, at_ns, boot_of(round, node), json_pack("[s?, O]", node, ns_id));
}

static void rule_rows(json_t *rows, const json_t *round)
{
	const json_t *all = json_object_get(round, "int_get");
	bool many = at_controller(round);
	const char *node;
	json_t *rule, *state;
	size_t i;

	json_array_foreach (json_object_get(top_answer(round, "int_list"), "rules"), i, rule) {
		char id[24];
		snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT,
				json_integer_value(json_object_get(rule, "ns_id")));
		const json_t *got = top_answer(all, id);
		json_t *at_ns = time_of(all, id);
		if (!many)
			add_rule(rows, round, rule, NULL, got, at_ns);
		json_object_foreach (many ? json_object_get(rule, "nodes") : NULL, node, state)
			add_rule(rows, round, rule, node,
					json_object_get(json_object_get(got, "nodes"), node),
					at_ns);
	}
}

static void add_hops(json_t *rows, const json_t *round, const json_t *window)
{
	bool stale = top_is_true(window, "stale");
	char name[64];
	json_t *hop;
	size_t i;

	json_array_foreach (json_object_get(window, "hops"), i, hop) {
		json_t *row = hs_cli_unless_stale(hop, stale);
		hs_cli_hop_name(hop, name, sizeof(name));
		json_object_set(row, "ns_id", json_object_get(window, "ns_id"));
		json_object_set_new(row, "hop", json_string(name));
		json_object_set(row, "window_ns", json_object_get(window, "window_ns"));
		set_or_null(row, "p99_ns", json_object_get(json_object_get(hop, "delay_ns"), "p99"),
				stale);
		// The counters of a window are of this window only, so that they have no rates.
		json_object_del(row, "rx_packets");
		json_object_del(row, "tx_packets");
		json_object_del(row, "rx_bytes");
		add_row(rows, row, time_of(round, "qos_get"), NULL,
				json_pack("[O, s]", json_object_get(window, "ns_id"), name));
	}
}

static void hop_rows(json_t *rows, const json_t *round)
{
	json_t *window;
	size_t i;

	json_array_foreach (json_object_get(top_answer(round, "qos_get"), "qos"), i, window)
		if (window_of(round, json_object_get(window, "ns_id")) == window)
			add_hops(rows, round, window);
}

// ---- a collector's ----

// Shows a number with its unit, and keeps the number for sorting.
static void add_measured(json_t *row, const char *key)
{
	char hidden[32];

	snprintf(hidden, sizeof(hidden), ".%s", key);
	json_object_set(row, hidden, json_object_get(row, key));
	hs_cli_add_unit(row, key);
}

static void collected_rows(json_t *rows, const json_t *round, const char *verb, const char *list,
		int64_t wall_ns)
{
	static const char *const names[] = {"src_ip", "src_port", "dst_ip", "dst_port", "protocol",
			"vlan", "reporter", "node_id", "queue_id", "port", "address", "hw_id",
			"listener"};
	static const char *const measured[] = {"latency", "occupancy", "utilisation"};
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(top_answer(round, verb), list), i, one) {
		json_t *row = json_copy(one), *parts = json_object();
		int64_t age_ns = wall_ns - json_integer_value(json_object_get(one, "last_ns"));
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			json_object_set(parts, names[n], json_object_get(one, names[n]));
		json_object_set_new(row, "age_ns", json_integer(age_ns > 0 ? age_ns : 0));
		if (json_object_get(one, "hops"))
			json_object_set_new(row, "path", hs_cli_told_path(one));
		for (size_t n = 0; n < sizeof(measured) / sizeof(measured[0]); n++)
			add_measured(row, measured[n]);
		add_row(rows, row, time_of(round, verb), boot_of(round, NULL), parts);
	}
}

json_t *top_rows(enum top_view view, const json_t *round, const json_t *before, int64_t wall_ns)
{
	static const char *const verbs[] = {[TOP_FLOWS] = "flow_get",
			[TOP_QUEUES] = "queue_get",
			[TOP_LINKS] = "link_get",
			[TOP_EXPORTERS] = "exporter_get"};
	json_t *rows = json_array();

	if (view == TOP_PORTS)
		port_rows(rows, round);
	else if (view == TOP_RULES)
		rule_rows(rows, round);
	else if (view == TOP_HOPS)
		hop_rows(rows, round);
	else
		collected_rows(rows, round, verbs[view], top_columns[view].name, wall_ns);
	add_rates(rows, before);
	return rows;
}
