// SPDX-License-Identifier: BSD-3-Clause
// `hopsight stats`, as a table or in the text format of Prometheus.
#include "hopsight_cli.h"
#include "prometheus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL "_total"

static const char *text_of(const json_t *stat, const char *key)
{
	const char *text = json_string_value(json_object_get(stat, key));

	return text ? text : "";
}

static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text))
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

static enum hs_prometheus_type type_of(const json_t *stat, const char *name)
{
	size_t n = strlen(name), tail = strlen(TOTAL);
	bool total = n > tail && strcmp(name + n - tail, TOTAL) == 0;

	return total && strcmp(text_of(stat, "kind"), "counter") == 0 ? HS_PROMETHEUS_COUNTER
								      : HS_PROMETHEUS_GAUGE;
}

// Reads the labels of a series: all members that do not describe its family.
static void read_labels(const json_t *stat, const char *node, struct hs_prometheus_labels *labels)
{
	static const char *const others[] = {"name", "kind", "unit", "help"};
	const char *key;
	json_t *value;

	labels->n = 0;
	if (node)
		labels->of[labels->n++] = (struct hs_prometheus_label){"node", node};
	json_object_foreach ((json_t *)stat, key, value) {
		bool is_label = json_is_string(value) && is_name(key) && strcmp(key, "node") != 0;
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			is_label &= strcmp(key, others[i]) != 0;
		if (is_label && labels->n < HS_PROMETHEUS_MAX_LABELS)
			labels->of[labels->n++] =
					(struct hs_prometheus_label){key, json_string_value(value)};
	}
}

static void add_stats(struct hs_prometheus *page, const json_t *answer, const char *node)
{
	struct hs_prometheus_labels labels;
	json_t *stat;
	size_t i;

	json_array_foreach (json_object_get(answer, "stats"), i, stat) {
		const char *name = text_of(stat, "name");
		const json_t *value = json_object_get(stat, "value");
		const struct hs_prometheus_family family = {name, text_of(stat, "help"),
				text_of(stat, "unit"), type_of(stat, name)};
		if (!is_name(name))
			continue;
		read_labels(stat, node, &labels);
		if (json_is_integer(value))
			hs_prometheus_int(page, &family, &labels, json_integer_value(value));
		else if (json_is_real(value))
			hs_prometheus_real(page, &family, &labels, json_real_value(value));
	}
}

// Names the nodes without an answer, which have no series.
static void say_missing(const json_t *ok)
{
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach (json_object_get(ok, "errors"), name, value)
		fprintf(stderr, "hopsight: %s: %s\n", name, text_of(value, "message"));
	json_array_foreach (json_object_get(ok, "unreachable"), i, value)
		fprintf(stderr, "hopsight: %s does not answer\n", json_string_value(value));
}

static int print_page(const json_t *ok)
{
	const struct hs_prometheus_config config = {.max_series = UINT32_MAX};
	struct hs_prometheus *page = hs_prometheus_begin(&config);
	const char *name;
	json_t *answer;
	size_t len;

	if (!hs_cli_is_controller(ok))
		add_stats(page, ok, NULL);
	json_object_foreach (json_object_get(ok, "nodes"), name, answer)
		add_stats(page, answer, name);
	char *text = page ? hs_prometheus_end(page, &len) : NULL;
	if (!text) {
		fprintf(stderr, "hopsight: memory is out\n");
		return HS_CLI_REFUSED;
	}
	fwrite(text, 1, len, stdout);
	free(text);
	say_missing(ok);
	return hs_cli_answered(ok);
}

int hs_cli_stats(struct hs_cli *cli)
{
	json_t *ok;

	if (!cli->values[HS_CLI_PROMETHEUS])
		return hs_cli_ask_and_show(
				cli, HS_VERB_STATS_GET, json_object(), hs_cli_view_stats);
	if (cli->values[HS_CLI_JSON])
		return hs_cli_usage("--prometheus and --json cannot stand together");
	int rc = hs_cli_ask(cli, json_pack("{s:{}}", hs_api_verb_name(HS_VERB_STATS_GET)), &ok);
	if (rc)
		return rc;
	rc = print_page(ok);
	json_decref(ok);
	return rc;
}
