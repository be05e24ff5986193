// SPDX-License-Identifier: BSD-3-Clause
// Routes and neighbours on the command line.
#include "hopsight_cli.h"

static void add_text(json_t *content, const char *key, const char *text)
{
	if (text)
		json_object_set_new(content, key, json_string(text));
}

// Sends a change and says that it was done.
static int change(struct hs_cli *cli, enum hs_api_verb verb, json_t *content, const char *what,
		const char *done)
{
	bool dry_run = cli->values[HS_CLI_DRY_RUN] != NULL;
	json_t *request = hs_cli_request(verb, content), *ok;

	if (dry_run)
		json_object_set_new(request, "dry_run", json_true());
	int rc = hs_cli_ask(cli, request, &ok);
	if (rc)
		return rc;
	if (cli->values[HS_CLI_JSON])
		hs_cli_print_json(ok);
	else
		printf("%s %s %s\n", what, cli->args[0], dry_run ? "would be accepted" : done);
	json_decref(ok);
	return HS_CLI_DONE;
}

static int list(struct hs_cli *cli, enum hs_api_verb verb, const char *key,
		void (*view)(const json_t *ok))
{
	json_t *all;
	int rc = hs_cli_ask_all(cli, verb, json_object(), key, &all);

	if (rc)
		return rc;
	if (cli->values[HS_CLI_JSON])
		hs_cli_print_json(all);
	else
		view(all);
	json_decref(all);
	return HS_CLI_DONE;
}

int hs_cli_route_list(struct hs_cli *cli)
{
	return list(cli, HS_VERB_ROUTE_LIST, "routes", hs_cli_view_routes);
}

int hs_cli_route_add(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "prefix", cli->args[0]);
	add_text(content, "port", cli->values[HS_CLI_PORT]);
	add_text(content, "next_hop_mac", cli->values[HS_CLI_MAC]);
	add_text(content, "via", cli->values[HS_CLI_VIA]);
	return change(cli, HS_VERB_ROUTE_ADD, content, "route", "added");
}

int hs_cli_route_del(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "prefix", cli->args[0]);
	return change(cli, HS_VERB_ROUTE_DELETE, content, "route", "removed");
}

int hs_cli_neighbour_list(struct hs_cli *cli)
{
	return list(cli, HS_VERB_NEIGHBOUR_LIST, "neighbours", hs_cli_view_neighbours);
}

int hs_cli_neighbour_add(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "addr", cli->args[0]);
	add_text(content, "port", cli->values[HS_CLI_PORT]);
	add_text(content, "mac", cli->values[HS_CLI_MAC]);
	return change(cli, HS_VERB_NEIGHBOUR_ADD, content, "neighbour", "added");
}

int hs_cli_neighbour_del(struct hs_cli *cli)
{
	json_t *content = json_object();

	add_text(content, "addr", cli->args[0]);
	return change(cli, HS_VERB_NEIGHBOUR_DELETE, content, "neighbour", "removed");
}
