// SPDX-License-Identifier: BSD-3-Clause
// Views of a controller's answers: nodes, rules at nodes, and each node's answer.
#include "hopsight_cli.h"

#include <string.h>

#define COLUMNS(table) table, sizeof(table) / sizeof(table[0])

bool hs_cli_is_controller(const json_t *ok)
{
	return json_is_object(json_object_get(ok, "nodes"));
}

int hs_cli_answered(const json_t *ok)
{
	bool asked = json_object_size(json_object_get(ok, "errors")) > 0 ||
		     json_array_size(json_object_get(ok, "unreachable")) > 0;

	return hs_cli_is_controller(ok) && asked &&
					       json_object_size(json_object_get(ok, "nodes")) == 0
			       ? HS_CLI_REFUSED
			       : HS_CLI_DONE;
}

static void print_unreachable(const json_t *ok)
{
	const json_t *list = json_object_get(ok, "unreachable");

	if (!json_array_size(list))
		return;
	printf("\nunreachable:");
	for (size_t i = 0; i < json_array_size(list); i++)
		printf(" %s", json_string_value(json_array_get(list, i)));
	printf("\n");
}

void hs_cli_view_answers(const json_t *ok, void (*view)(const json_t *ok))
{
	const char *name;
	json_t *answer, *message;
	bool first = true;

	json_object_foreach (json_object_get(ok, "nodes"), name, answer) {
		printf("%s%s:\n", first ? "" : "\n", name);
		view(answer);
		first = false;
	}
	json_object_foreach (json_object_get(ok, "errors"), name, answer) {
		message = json_object_get(answer, "message");
		printf("%s%s: %s\n", first ? "" : "\n", name,
				message ? json_string_value(message) : "refused");
		first = false;
	}
	print_unreachable(ok);
}

void hs_cli_view_controller(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"name", NULL}, {"node_id", "id"},
			{"reachable", NULL}, {"boot_id", "boot"}, {"last_seen_ns", "last seen"},
			{"down_ns", "down"}, {"rules_wanted", "wanted"},
			{"rules_present", "present"}, {"rules_conflicting", "conflicts"},
			{"rules_refused", "refused"}, {"rules_removing", "removing"},
			{"rules_foreign", "foreign"}, {"restarts", NULL}, {"repairs", NULL},
			{"published", NULL}, {"publish_missed", "missed"}};
	json_t *rest = json_copy((json_t *)ok), *monitor = json_object_get(ok, "monitor");

	json_object_del(rest, "nodes");
	json_object_del(rest, "monitor");
	hs_cli_print_object(rest);
	json_decref(rest);
	printf("\nmonitor\n");
	hs_cli_print_object(monitor);
	printf("\n");
	hs_cli_print_table(json_object_get(ok, "nodes"), COLUMNS(columns), false);
}

static size_t count_state(const json_t *nodes, const char *state)
{
	const char *name;
	json_t *value;
	size_t n = 0;

	json_object_foreach ((json_t *)nodes, name, value)
		n += strcmp(json_string_value(value), state) == 0;
	return n;
}

// Writes "3 of 4, d missing, e conflict". All states are shown if a rule is not yet at all of its
// nodes.
static json_t *where(const json_t *nodes)
{
	char text[HS_CLI_TEXT];
	const char *name;
	json_t *value;
	size_t used = (size_t)snprintf(text, sizeof(text), "%zu of %zu",
			count_state(nodes, "present"), json_object_size(nodes));

	json_object_foreach ((json_t *)nodes, name, value) {
		if (used < sizeof(text) && strcmp(json_string_value(value), "present") != 0)
			used += (size_t)snprintf(text + used, sizeof(text) - used, ", %s %s", name,
					json_string_value(value));
	}
	return json_string(text);
}

void hs_cli_add_where(json_t *rules)
{
	size_t i;
	json_t *rule;

	json_array_foreach (rules, i, rule) {
		const json_t *nodes = json_object_get(rule, "nodes");
		if (nodes)
			json_object_set_new(rule, "at", where(nodes));
	}
}

// ---- where a rule belongs ----

static json_t *list_of(const char *text)
{
	json_t *list = json_array();
	size_t len;

	for (; *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		json_array_append_new(list, json_stringn(text, len));
	}
	return list;
}

json_t *hs_cli_on(const struct hs_cli *cli)
{
	const char *path = cli->values[HS_CLI_ON_PATH], *nodes = cli->values[HS_CLI_ON],
		   *source = cli->values[HS_CLI_AT];

	if (path)
		return json_pack("{s:s}", "path", path);
	if (nodes)
		return json_pack("{s:o}", "nodes", list_of(nodes));
	return source ? json_pack("{s:s}", "source", source) : NULL;
}

int hs_cli_check_where(const struct hs_cli *cli)
{
	const char *nodes = cli->values[HS_CLI_ON];

	if ((cli->values[HS_CLI_ON_PATH] != NULL) + (nodes != NULL) +
					(cli->values[HS_CLI_AT] != NULL) >
			1)
		return hs_cli_usage("--on-path, --on and --at cannot stand together");
	return nodes && !nodes[0] ? hs_cli_usage("--on: a node's name is missing") : HS_CLI_DONE;
}

static bool is_known(const json_t *answer, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(answer, "unreachable"), i, one)
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	return json_object_get(json_object_get(answer, "nodes"), name) ||
	       json_object_get(json_object_get(answer, "errors"), name);
}

int hs_cli_check_names(const json_t *answer, const json_t *on)
{
	const char *source = json_string_value(json_object_get(on, "source"));
	json_t *one;
	size_t i;

	if (!hs_cli_is_controller(answer))
		return HS_CLI_DONE;
	if (source && !is_known(answer, source))
		return hs_cli_usage("--at: no node is called \"%s\"", source);
	json_array_foreach (json_object_get(on, "nodes"), i, one)
		if (!is_known(answer, json_string_value(one)))
			return hs_cli_usage(
					"--on: no node is called \"%s\"", json_string_value(one));
	return HS_CLI_DONE;
}
