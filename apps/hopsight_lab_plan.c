// SPDX-License-Identifier: BSD-3-Clause
// `hopsight-lab plan`: plans probes over the network of a scenario, by GPINT and by Euler's method.
#include "hopsight_lab.h"

#include "lab_words.h"
#include "scenario_graph.h"
#include "scenario_read.h"
#include "schema.h"
#include "text_table.h"

#include <jansson.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_WIDTH 80 // of the switches of a path

enum {
	GPINT,
	EULER,
	N_PLANS
};
static const char *const plan_names[N_PLANS] = {"GPINT", "Euler"};

struct work {
	const struct lab_options *options;
	const char *file; // NULL: the topology is a word of the command line
	struct hs_scenario scenario;
	struct hs_scenario_graph network;
	struct hs_gpint_wish wish;
	struct hs_gpint_plan plans[N_PLANS];
};

// ---- the network ----

// Reads a topology. The parser needs a whole scenario, whose other members a plan does not use.
static int read_topology(const char *word, struct hs_scenario *scenario, struct hs_error *err)
{
	json_error_t syntax;
	json_t *topology = json_loads(word, JSON_REJECT_DUPLICATES, &syntax);

	if (!topology)
		return hs_schema_syntax_error(&syntax, err);
	json_t *root = json_pack("{s:s, s:i, s:s, s:o}", "name", "plan", "duration_s", 1,
			"forwarding", "shortest_path", "topology", topology);
	char *text = json_dumps(root, JSON_COMPACT);
	int rc = text ? hs_scenario_parse(text, strlen(text), "", NULL, scenario, err) : -ENOMEM;
	free(text);
	json_decref(root);
	return rc;
}

static int parse_topology(const char *word, struct hs_scenario *scenario)
{
	struct hs_error err = {0};

	if (read_topology(word, scenario, &err) == 0)
		return LAB_DONE;
	lab_say_error(NULL, &err);
	return LAB_USAGE;
}

static int load(struct work *work)
{
	static char path[HS_LAB_PATH];

	if (work->options->args[0][0] == '{')
		return parse_topology(work->options->args[0], &work->scenario);
	work->file = path;
	return lab_load(work->options, path, &work->scenario);
}

// ---- plans ----

// Prints the error of a plan. The error names the option of the command line that it is about.
static int say_plan_error(const struct work *work, struct hs_error *err)
{
	static const char *const options[][2] = {{"paths", "--probes"}, {"mtu", "--mtu"}};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(err->path, options[i][0]) == 0) {
			snprintf(err->path, sizeof(err->path), "%s", options[i][1]);
			lab_say_error(NULL, err);
			return LAB_USAGE;
		}
	lab_say_error(work->file, err);
	return LAB_USAGE;
}

static int say_no_memory(void)
{
	fprintf(stderr, "hopsight-lab: no memory for a plan\n");
	return LAB_FAILED;
}

// Makes both plans. By default, they have as many paths as the paper's GPINT-3.
static int make_plans(struct work *work)
{
	const struct lab_options *options = work->options;
	struct hs_error err = {0};

	work->wish = (struct hs_gpint_wish){
			.paths = options->probes ? options->probes
						 : hs_scenario_graph_paths(&work->scenario),
			.mtu = options->mtu ? options->mtu : work->scenario.mtu,
			.seed = options->has_seed ? options->seed : work->scenario.seed};
	int rc = hs_gpint_plan(&work->network.graph, &work->wish, &work->plans[GPINT], &err)
				 ?: hs_gpint_euler(&work->network.graph, &work->wish,
						    &work->plans[EULER], &err);
	if (rc == 0)
		return LAB_DONE;
	if (hs_error_is_set(&err))
		return say_plan_error(work, &err);
	return say_no_memory();
}

static double mean_hops(const struct hs_gpint_plan *plan)
{
	return (double)plan->sum_hops / plan->n_paths;
}

// ---- JSON ----

static json_t *path_json(const struct work *work, const struct hs_gpint_path *path)
{
	json_t *switches = json_array(), *entries = json_array();

	for (uint32_t i = 0; i < path->n_hops; i++) {
		const struct hs_gpint_hop *hop = &path->hops[i];
		json_array_append_new(switches, json_string(work->network.names[hop->at]));
		json_array_append_new(entries,
				json_pack("[i, i, i]", hop->next_port, hop->first, hop->end));
	}
	return json_pack("{s:o, s:o, s:i}", "switches", switches, "entries", entries, "bytes",
			(int)path->bytes);
}

static json_t *plan_json(const struct work *work, const struct hs_gpint_plan *plan)
{
	json_t *probes = json_array();

	for (uint32_t p = 0; p < plan->n_paths; p++)
		json_array_append_new(probes, path_json(work, &plan->paths[p]));
	return json_pack("{s:i, s:{s:i, s:f, s:i}, s:i, s:i, s:I, s:i, s:o}", "paths",
			(int)plan->n_paths, "hops", "min", (int)plan->min_hops, "mean",
			mean_hops(plan), "max", (int)plan->max_hops, "switches_covered",
			(int)plan->covered, "links_covered", (int)plan->covered_links, "overlap",
			(json_int_t)plan->overlap, "max_probe_bytes", (int)plan->max_bytes,
			"probes", probes);
}

static int print_json(const struct work *work)
{
	json_t *root = json_pack("{s:s, s:i, s:I, s:i, s:I, s:o, s:o}", "name", work->scenario.name,
			"switches", (int)work->network.graph.n_switches, "links",
			(json_int_t)work->network.graph.n_links, "mtu", (int)work->wish.mtu, "seed",
			(json_int_t)work->wish.seed, "gpint", plan_json(work, &work->plans[GPINT]),
			"euler", plan_json(work, &work->plans[EULER]));
	int rc = root ? json_dumpf(root, stdout,
					isatty(STDOUT_FILENO) ? JSON_INDENT(2) : JSON_COMPACT)
		      : -1;

	json_decref(root);
	putchar('\n');
	return rc;
}

// ---- tables ----

__attribute__((format(printf, 2, 3))) static void add_cell(
		struct hs_text_table *table, const char *format, ...)
{
	char text[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hs_text_table_cell(table, text);
}

static int print_table(struct hs_text_table *table)
{
	char *text = hs_text_table_text(table);

	if (text)
		fputs(text, stdout);
	free(text);
	hs_text_table_destroy(table);
	return text ? 0 : -1;
}

static int print_totals(const struct work *work)
{
	static const char *const columns[] = {"plan", "probes", "hops", "mean", "longest / mean",
			"switches", "links", "overlap", "largest probe"};
	struct hs_text_table *table;

	if (hs_text_table_create(&table) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		hs_text_table_column(table, columns[i], i > 0);
	for (unsigned i = 0; i < N_PLANS; i++) {
		const struct hs_gpint_plan *plan = &work->plans[i];
		add_cell(table, "%s", plan_names[i]);
		add_cell(table, "%u", plan->n_paths);
		add_cell(table, "%u to %u", plan->min_hops, plan->max_hops);
		add_cell(table, "%.2f", mean_hops(plan));
		add_cell(table, "%.2f", plan->max_hops / mean_hops(plan));
		add_cell(table, "%u of %u", plan->covered, plan->n_switches);
		add_cell(table, "%u of %zu", plan->covered_links, work->network.graph.n_links);
		add_cell(table, "%" PRIu64, plan->overlap);
		add_cell(table, "%u bytes", plan->max_bytes);
	}
	return print_table(table);
}

// Adds the switches of a path as lines of the last column.
static int add_switches(struct hs_text_table *table, const struct work *work,
		const struct hs_gpint_path *path)
{
	size_t used = 0, size = (size_t)path->n_hops * sizeof(work->scenario.nodes[0].name) + 1;
	char *text = malloc(size), *rest = text;

	if (!text)
		return -1;
	for (uint32_t i = 0; i < path->n_hops; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
				work->network.names[path->hops[i].at]);
	for (bool first = true; first || *rest; first = false) {
		size_t n = hs_lab_first_line(rest, LIST_WIDTH);
		char line[LIST_WIDTH + 1];
		snprintf(line, sizeof(line), "%.*s", (int)n, rest);
		for (unsigned column = 0; !first && column < 3; column++)
			hs_text_table_cell(table, "");
		hs_text_table_cell(table, line);
		rest += n + (rest[n] == ' ');
	}
	free(text);
	return 0;
}

static int print_paths(const struct work *work, unsigned which)
{
	const struct hs_gpint_plan *plan = &work->plans[which];
	struct hs_text_table *table;
	int rc = 0;

	if (hs_text_table_create(&table) < 0)
		return -1;
	hs_text_table_column(table, plan_names[which], true);
	hs_text_table_column(table, "hops", true);
	hs_text_table_column(table, "bytes", true);
	hs_text_table_column(table, "switches", false);
	for (uint32_t p = 0; p < plan->n_paths && rc == 0; p++) {
		add_cell(table, "%u", p + 1);
		add_cell(table, "%u", plan->paths[p].n_hops);
		add_cell(table, "%u", plan->paths[p].bytes);
		rc = add_switches(table, work, &plan->paths[p]);
	}
	return print_table(table) < 0 ? -1 : rc;
}

// ---- all of it ----

static int print(const struct work *work)
{
	int rc;

	if (work->options->json)
		rc = print_json(work);
	else
		rc = print_totals(work) < 0 || putchar('\n') < 0 ||
						     print_paths(work, work->options->euler
										       ? EULER
										       : GPINT) < 0
				     ? -1
				     : 0;
	return rc < 0 || fflush(stdout) != 0 ? LAB_FAILED : LAB_DONE;
}

int lab_plan(const struct lab_options *options)
{
	struct work work = {.options = options};
	int code = load(&work);

	if (code != LAB_DONE)
		return code;
	code = hs_scenario_graph_init(&work.network, &work.scenario) < 0 ? say_no_memory()
									 : make_plans(&work);
	if (code == LAB_DONE)
		code = print(&work);
	for (unsigned i = 0; i < N_PLANS; i++)
		hs_gpint_plan_fini(&work.plans[i]);
	hs_scenario_graph_fini(&work.network);
	hs_scenario_fini(&work.scenario);
	return code;
}
