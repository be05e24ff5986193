// SPDX-License-Identifier: BSD-3-Clause
// What a collector knows, on the command line: flows, queues, links, exporters, refused reports.
#include "hopsight_cli.h"

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static void table_or(
		const json_t *rows, const char *none, const struct hs_cli_column *columns, size_t n)
{
	if (json_array_size(rows))
		hs_cli_print_table(rows, columns, n, false);
	else
		printf("%s\n", none);
}

// Writes a value and its unit, "400 ns".
static void add_with_unit(json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key), *unit = json_object_get(row, "unit");
	char text[128];

	if (!value || !unit)
		return;
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT " %s", json_integer_value(value),
			json_string_value(unit));
	json_object_set_new(row, key, json_string(text));
}

// Writes "1 → 2 (400) → 9": nodes, and the latencies that they told.
static json_t *path_of(const json_t *flow)
{
	char text[HS_CLI_TEXT] = "";
	size_t used = 0, i;
	json_t *hop;

	json_array_foreach (json_object_get(flow, "hops"), i, hop) {
		const json_t *node = json_object_get(hop, "node_id");
		const json_t *latency = json_object_get(hop, "latency");
		char id[24] = "?", own[32] = "";
		if (node)
			snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT, json_integer_value(node));
		if (latency)
			snprintf(own, sizeof(own), " (%" JSON_INTEGER_FORMAT ")",
					json_integer_value(latency));
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s",
					i ? " → " : "", id, own);
	}
	return json_string(text);
}

static void view_flows(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"src_ip", NULL}, {"src_port", "sport"},
			{"dst_ip", NULL}, {"dst_port", "dport"}, {"protocol", NULL}, {"vlan", NULL},
			{"reporter", NULL}, {"reports", NULL}, {"latency", NULL}, {"path", NULL},
			{"last_ns", "last report"}};
	json_t *flow;
	size_t i;

	json_array_foreach (json_object_get(ok, "flows"), i, flow) {
		json_object_set_new(flow, "path", path_of(flow));
		add_with_unit(flow, "latency");
	}
	table_or(json_object_get(ok, "flows"), "no flows", COLUMNS(columns));
}

static void view_queues(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"node_id", "node"}, {"queue_id", "queue"},
			{"occupancy", NULL}, {"congestion", NULL}, {"congested", NULL},
			{"last_ns", "last value"}};
	json_t *queue;
	size_t i;

	json_array_foreach (json_object_get(ok, "queues"), i, queue)
		add_with_unit(queue, "occupancy");
	table_or(json_object_get(ok, "queues"), "no queues", COLUMNS(columns));
}

static void view_links(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"node_id", "node"}, {"port", NULL},
			{"utilisation", NULL}, {"last_ns", "last value"}};
	json_t *link;
	size_t i;

	json_array_foreach (json_object_get(ok, "links"), i, link)
		add_with_unit(link, "utilisation");
	table_or(json_object_get(ok, "links"), "no links", COLUMNS(columns));
}

static void view_exporters(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"address", NULL}, {"listener", NULL},
			{"node_id", "node"}, {"hw_id", NULL}, {"version", NULL},
			{"datagrams", NULL}, {"reports", NULL}, {"missing", NULL}, {"late", NULL},
			{"duplicates", NULL}, {"restarts", NULL}, {"last_ns", "last report"}};
	table_or(json_object_get(ok, "exporters"), "no exporters", COLUMNS(columns));
}

static void view_refused(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"reason", NULL}, {"count", NULL},
			{"datagram_bytes", "first"}, {"datagram", "its beginning"},
			{"text", "meaning"}};
	table_or(json_object_get(ok, "refused"), "nothing was refused", COLUMNS(columns));
}

int hs_cli_flow(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_FLOW_GET, json_object(), view_flows);
}

int hs_cli_queue(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_QUEUE_GET, json_object(), view_queues);
}

int hs_cli_link(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_LINK_GET, json_object(), view_links);
}

int hs_cli_exporter(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_EXPORTER_GET, json_object(), view_exporters);
}

int hs_cli_refused(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_REFUSED_GET, json_object(), view_refused);
}
