// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours on the command line.
#include "hopsight_cli.h"

static void add_text(json_t *content, const char *key, const char *text)
{
	if (text)
		json_object_set_new(content, key, json_string(text));
}

int hs_cli_route_list(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_ROUTE_LIST, json_object(), hs_cli_view_routes);
}

int hs_cli_route_add(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "prefix", cli->args[0]);
	add_text(content, "port", cli->values[HS_CLI_PORT]);
	add_text(content, "next_hop_mac", cli->values[HS_CLI_MAC]);
	add_text(content, "via", cli->values[HS_CLI_VIA]);
	return hs_cli_change(cli, HS_VERB_ROUTE_ADD, content, "route", cli->args[0], "added");
}

int hs_cli_route_del(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "prefix", cli->args[0]);
	return hs_cli_change(cli, HS_VERB_ROUTE_DELETE, content, "route", cli->args[0], "removed");
}

int hs_cli_neighbour_list(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_NEIGHBOUR_LIST, json_object(), hs_cli_view_neighbours);
}

int hs_cli_neighbour_add(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "addr", cli->args[0]);
	add_text(content, "port", cli->values[HS_CLI_PORT]);
	add_text(content, "mac", cli->values[HS_CLI_MAC]);
	return hs_cli_change(
			cli, HS_VERB_NEIGHBOUR_ADD, content, "neighbour", cli->args[0], "added");
}

int hs_cli_neighbour_del(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "addr", cli->args[0]);
	return hs_cli_change(cli, HS_VERB_NEIGHBOUR_DELETE, content, "neighbour", cli->args[0],
			"removed");
}
