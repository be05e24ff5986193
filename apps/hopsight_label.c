// SPDX-License-Identifier: BSD-3-Clause
// INT-label on the command line: ports that label at a node, coverage and queues at a controller.
#include "hopsight_cli.h"

#include <string.h>

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

static const struct hs_cli_column columns[] = {{"node", NULL}, {"id", "port"}, {"name", NULL},
		{"active", NULL}, {"missed", NULL}, {"items", NULL, 1}, {"age_ns", "age"},
		{"latency_ns", "latency"}, {"enqueue_packets", "queue"}, {"queue_ns", "waited"},
		{"shift", "S"}, {"confirmed", NULL, 1}};

static double share_of(const json_t *coverage, const char *key)
{
	return 100 * json_number_value(json_object_get(coverage, key));
}

static void print_coverage(const json_t *ok, const json_t *coverage)
{
	json_int_t intervals = json_integer_value(json_object_get(coverage, "intervals"));
	char length[HS_CLI_TEXT], now[HS_CLI_TEXT] = "no active port now";

	hs_cli_format("interval_ns", json_object_get(ok, "interval_ns"), length);
	if (json_object_get(coverage, "last"))
		snprintf(now, sizeof(now),
				"%.2f %% now (%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
				" ports)",
				share_of(coverage, "last"),
				json_integer_value(json_object_get(coverage, "last_seen")),
				json_integer_value(json_object_get(coverage, "last_ports")));
	if (!intervals)
		printf("coverage: no interval of %s ended with active ports\n", length);
	else
		printf("coverage: %.2f %% mean, %.2f %% least, %s; %" JSON_INTEGER_FORMAT
		       " of %" JSON_INTEGER_FORMAT " intervals of %s were whole\n",
				share_of(coverage, "mean"), share_of(coverage, "min"), now,
				json_integer_value(json_object_get(coverage, "whole")), intervals,
				length);
}

static void print_ports(const json_t *ok, const char *key, const char *heading)
{
	const json_t *rows = json_object_get(ok, key);
	json_t *row;
	size_t i;

	if (!json_array_size(rows))
		return;
	json_array_foreach (rows, i, row)
		if (json_string_length(json_object_get(row, "node")) == 0) // it has no name
			json_object_set(row, "node", json_object_get(row, "node_id"));
	printf("\n%s\n", heading);
	hs_cli_print_table(rows, COLUMNS(columns), false);
}

static void view_label(const json_t *ok)
{
	const json_t *coverage = json_object_get(ok, "coverage");
	const json_t *rows = json_object_get(ok, "ports");

	if (!coverage) { // a node
		if (json_array_size(rows))
			hs_cli_print_table(rows, COLUMNS(columns), true);
		else
			printf("no ports that label\n");
		return;
	}
	const json_t *series = json_object_get(json_array_get(rows, 0), "series");
	if (series) {
		print_ports(ok, "ports", "the port");
		printf("\nits last items\n");
		hs_cli_print_table(series, COLUMNS(columns), false);
		return;
	}
	print_coverage(ok, coverage);
	print_ports(ok, "not_seen", "not seen in the last interval");
	print_ports(ok, "hottest", "deepest queues");
	print_ports(ok, "ports", "all ports");
}

// Asks for one port, and shows it. Takes ownership of the content.
static int show_one(struct hs_cli *cli, json_t *content)
{
	json_t *ok;
	int rc = hs_cli_ask(
			cli, json_pack("{s:o}", hs_api_verb_name(HS_VERB_LABEL_GET), content), &ok);

	if (rc)
		return rc;
	if (json_array_size(json_object_get(ok, "ports"))) {
		rc = hs_cli_show(cli, ok, view_label);
	} else {
		fprintf(stderr, "hopsight: no item of a port %s of node %s came\n", cli->args[1],
				cli->args[0]);
		rc = HS_CLI_REFUSED;
	}
	json_decref(ok);
	return rc;
}

int hs_cli_label(struct hs_cli *cli)
{
	json_t *content = json_object();

	if (cli->n_args > 0)
		json_object_set_new(content, "node", json_string(cli->args[0]));
	if (cli->n_args > 1) {
		json_object_set_new(content, "id", hs_cli_number_or_text(cli->args[1]));
		return show_one(cli, content);
	}
	return hs_cli_list(cli, HS_VERB_LABEL_GET, content, view_label);
}

static void view_set(const json_t *ok)
{
	hs_cli_print_table(json_object_get(ok, "ports"), COLUMNS(columns), false);
}

// Reads PORT=SHIFT.
static json_t *read_port(const char *word)
{
	const char *equals = strchr(word, '=');
	char id[24];

	if (!equals || (size_t)(equals - word) >= sizeof(id))
		return NULL;
	snprintf(id, sizeof(id), "%.*s", (int)(equals - word), word);
	return json_pack("{s:o, s:o}", "id", hs_cli_number_or_text(id), "shift",
			hs_cli_number_or_text(equals + 1));
}

int hs_cli_label_set(struct hs_cli *cli)
{
	json_t *ports = json_array(), *ok;
	const char *node = cli->values[HS_CLI_AT];

	for (int i = 0; i < cli->n_args; i++) {
		json_t *port = read_port(cli->args[i]);
		if (!port) {
			json_decref(ports);
			return hs_cli_usage("%s is not PORT=S", cli->args[i]);
		}
		json_array_append_new(ports, port);
	}
	json_t *content = json_pack("{s:o}", "ports", ports);
	if (node)
		json_object_set_new(content, "node", json_string(node));
	int rc = hs_cli_ask(
			cli, json_pack("{s:o}", hs_api_verb_name(HS_VERB_LABEL_SET), content), &ok);
	if (rc)
		return rc;
	rc = hs_cli_show(cli, ok, view_set);
	json_decref(ok);
	return rc;
}
