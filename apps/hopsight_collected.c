// SPDX-License-Identifier: BSD-3-Clause
// What a collector knows, on the command line: flows, queues, links, exporters, refused reports.
#include "hopsight_cli.h"

#include "text_table.h"

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static void table_or(
		const json_t *rows, const char *none, const struct hs_cli_column *columns, size_t n)
{
	if (json_array_size(rows))
		hs_cli_print_table(rows, columns, n, false);
	else
		printf("%s\n", none);
}

static void view_flows(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"src_ip", NULL}, {"src_port", "sport"},
			{"dst_ip", NULL}, {"dst_port", "dport"}, {"protocol", NULL},
			{"vlan", NULL, 1}, {"reporter", NULL, 1}, {"reports", NULL, 1},
			{"latency", NULL}, {"path", NULL, HS_TEXT_CUT},
			{"last_ns", "last report", 2}};
	json_t *flow;
	size_t i;

	json_array_foreach (json_object_get(ok, "flows"), i, flow) {
		json_object_set_new(flow, "path", hs_cli_told_path(flow));
		hs_cli_add_unit(flow, "latency");
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
		hs_cli_add_unit(queue, "occupancy");
	table_or(json_object_get(ok, "queues"), "no queues", COLUMNS(columns));
}

static void view_links(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"node_id", "node"}, {"port", NULL},
			{"utilisation", NULL}, {"last_ns", "last value"}};
	json_t *link;
	size_t i;

	json_array_foreach (json_object_get(ok, "links"), i, link)
		hs_cli_add_unit(link, "utilisation");
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
			{"datagram_bytes", "first", 1}, {"datagram", "its beginning", HS_TEXT_CUT},
			{"text", "meaning", HS_TEXT_CUT}};
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
