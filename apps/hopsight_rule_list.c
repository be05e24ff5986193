// SPDX-License-Identifier: BSD-3-Clause
// The table of rules for people.
#include "hopsight_cli.h"

#include "text_table.h"

#include <string.h>

// Adds to each rule the rule that takes its packets, if there is one.
static void add_shadows(const json_t *ok)
{
	const json_t *shadowed = json_object_get(ok, "shadowed"), *of;
	json_t *rule;
	size_t i, j;

	json_array_foreach (shadowed, i, of)
		json_array_foreach (json_object_get(ok, "rules"), j, rule)
			if (json_equal(json_object_get(rule, "ns_id"),
					    json_object_get(of, "ns_id")))
				json_object_set(rule, "shadowed_by",
						json_object_get(of, "shadowed_by"));
}

static const char *ns_key(const json_t *ns_id, char key[24])
{
	snprintf(key, 24, "%" JSON_INTEGER_FORMAT, json_integer_value(ns_id));
	return key;
}

// Adds the origin of each rule. The rules of a controller have none.
static void add_origins(const json_t *ok)
{
	static const struct {
		const char *list, *origin;
	} origins[] = {{"in_band", "in-band"}, {"config", "configuration"}, {"state", "state"}};
	json_t *by_ns = json_object(), *rule, *ns_id;
	size_t i, j;
	char key[24];

	for (i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
		json_array_foreach (json_object_get(ok, origins[i].list), j, ns_id)
			json_object_set_new(
					by_ns, ns_key(ns_id, key), json_string(origins[i].origin));
	json_array_foreach (json_object_get(ok, "rules"), i, rule) {
		json_t *origin =
				json_object_get(by_ns, ns_key(json_object_get(rule, "ns_id"), key));
		if (!json_object_get(rule, "nodes")) // of a node
			json_object_set_new(rule, "origin",
					origin ? json_incref(origin) : json_string("api"));
	}
	json_decref(by_ns);
}

static void add_trace_names(json_t *rules)
{
	json_t *rule;
	size_t i;

	json_array_foreach (rules, i, rule) {
		const char *hex = json_string_value(json_object_get(rule, "trace_type"));
		if (hex)
			json_object_set_new(rule, "trace", hs_cli_trace_names(hex));
	}
}

// Adds how packets are chosen, in the words of `rule add`: every 100, every 20 ms or 5 %.
static void add_sampling(json_t *rules)
{
	char setting[HS_CLI_TEXT], text[HS_CLI_TEXT + 16];
	json_t *rule;
	size_t i;

	json_array_foreach (rules, i, rule) {
		const char *mode = json_string_value(json_object_get(rule, "mode"));
		bool chance = mode && strcmp(mode, "probability") == 0;
		bool in_time = mode && strcmp(mode, "frequency") == 0;
		if (!mode)
			continue;
		hs_cli_format("mode_setting", json_object_get(rule, "mode_setting"), setting);
		snprintf(text, sizeof(text), "%s%s%s", chance ? "" : "every ", setting,
				chance	  ? " %"
				: in_time ? " ms"
					  : "");
		json_object_set_new(rule, "sampling", json_string(text));
	}
}

void hs_cli_view_rules(const json_t *ok)
{
	static const struct hs_cli_column columns[] = {{"ns_id", "ns"}, {"app_id", "app", 3},
			{"protocol", NULL}, {"src_ip", NULL}, {"src_port", "sport", 2},
			{"dst_ip", NULL}, {"dst_port", "dport"}, {"sampling", NULL},
			{"method", NULL}, {"trace", NULL}, {"instructions", NULL, HS_TEXT_CUT},
			{"instruction_bitmap", NULL, 3}, {"dscp", NULL, 1},
			{"hop_enabled", "hop_enabled", 3},
			{"transmit_report", "transmit_report", 3}, {"origin", NULL, 1},
			{"owner", NULL, 2}, {"shadowed_by", "shadowed_by"}, {"at", NULL}};
	json_t *rules = json_object_get(ok, "rules");

	add_shadows(ok);
	add_origins(ok);
	add_trace_names(rules);
	add_sampling(rules);
	hs_cli_add_where(rules);
	if (json_array_size(rules))
		hs_cli_print_table(rules, columns, sizeof(columns) / sizeof(columns[0]), false);
	else
		printf("no rules\n");
}
