// SPDX-License-Identifier: BSD-3-Clause
// Probes on the command line, at a controller: sessions, nodes and links.
#include "hopsight_cli.h"

#include <time.h>

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])
#define LOOK_NS	       50000000 // interval between two checks whether a session is over

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void print_session(const json_t *ok)
{
	const json_t *session = json_object_get(ok, "session");
	char took[HS_CLI_TEXT];

	if (!session) {
		printf("no session is over yet\n");
		return;
	}
	hs_cli_format("elapsed_ns", json_object_get(session, "elapsed_ns"), took);
	printf("session %" JSON_INTEGER_FORMAT "%s: %s; %" JSON_INTEGER_FORMAT
	       " probes, %" JSON_INTEGER_FORMAT " lost; nodes: %" JSON_INTEGER_FORMAT
	       " answered, %" JSON_INTEGER_FORMAT " unavailable; links: %" JSON_INTEGER_FORMAT
	       " unavailable, %" JSON_INTEGER_FORMAT " congested\n",
			number_of(session, "number"),
			json_is_true(json_object_get(session, "failed")) ? " failed" : "", took,
			number_of(session, "probes_sent"), number_of(session, "probes_lost"),
			number_of(session, "nodes_covered"),
			number_of(session, "nodes_unavailable"),
			number_of(session, "links_unavailable"),
			number_of(session, "links_congested"));
}

static void view_status(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"id", "node"}, {"name", NULL},
			{"state", NULL}, {"since_ns", "since", 1}, {"session", NULL, 1},
			{"age_ns", "age"}, {"depth", "queue"}, {"first", NULL, 1},
			{"values", NULL}};

	print_session(ok);
	printf("\n");
	hs_cli_print_table(json_object_get(ok, "nodes"), COLUMNS(columns), true);
}

static void view_links(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"node_id", "node"}, {"node", "name", 1},
			{"port", NULL}, {"peer_id", "to"}, {"peer", "name", 1}, {"state", NULL},
			{"since_ns", "since"}, {"planned", NULL}, {"use", "routes", 1}};

	hs_cli_print_table(json_object_get(ok, "links"), COLUMNS(columns), true);
}

static void view_routes(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"prefix", NULL}, {"node_id", "node"},
			{"node", "name", 1}, {"port", NULL, 1}, {"peer_id", "to", 1},
			{"peer", "name", 1}, {"state", NULL}};

	hs_cli_print_table(json_object_get(ok, "routes"), COLUMNS(columns), true);
}

int hs_cli_probe_status(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_PROBE_STATUS, json_object(), view_status);
}

int hs_cli_probe_links(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_PROBE_LINKS, json_object(), view_links);
}

int hs_cli_probe_routes(struct hs_cli *cli)
{
	return hs_cli_list(cli, HS_VERB_PROBE_ROUTES, json_object(), view_routes);
}

static int ask(struct hs_cli *cli, enum hs_api_verb verb, json_t **ok)
{
	return hs_cli_ask(cli, json_pack("{s:{}}", hs_api_verb_name(verb)), ok);
}

// Says that the session does not end. A controller that restarts forgets the session, and counts
// from 1 again.
static int say_gone(json_int_t session)
{
	fprintf(stderr,
			"hopsight: session %" JSON_INTEGER_FORMAT
			" does not end: the controller has restarted\n",
			session);
	return HS_CLI_REFUSED;
}

int hs_cli_probe_run(struct hs_cli *cli)
{
	json_t *ok;
	int rc = ask(cli, HS_VERB_PROBE_RUN, &ok);

	if (rc)
		return rc;
	json_int_t session = number_of(ok, "session"), over = 0;
	json_decref(ok);
	while (over < session) {
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		rc = ask(cli, HS_VERB_PROBE_STATUS, &ok);
		if (rc)
			return rc;
		over = number_of(json_object_get(ok, "session"), "number");
		bool runs = json_is_true(json_object_get(ok, "running"));
		json_decref(ok);
		if (over < session && !runs)
			return say_gone(session);
	}
	return hs_cli_probe_status(cli);
}
