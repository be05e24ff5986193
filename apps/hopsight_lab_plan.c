// SPDX-License-Identifier: BSD-3-Clause
// `hopsight-lab plan`: plans probes over the network of a scenario, by GPINT and by Euler's method.
#include "hopsight_lab.h"

#include "lab_words.h"
#include "scenario_graph.h"
#include "schema.h"

#include <jansson.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int load(struct work *work)
{
	static char path[HS_LAB_PATH];
	const char *word = work->options->args[0];
	struct hs_error err = {0};

	if (word[0] != '{') {
		work->file = path;
		return lab_load(work->options, path, &work->scenario);
	}
	if (read_topology(word, &work->scenario, &err) == 0)
		return LAB_DONE;
	lab_say_error(NULL, &err);
	return LAB_USAGE;
}

// ---- plans ----

// Prints the error of a plan. The error names the option of the command line that it is about.
static int say_plan_error(const struct work *work, struct hs_error *err)
{
	bool of_option = strcmp(err->path, "paths") == 0 || strcmp(err->path, "mtu") == 0;

	if (of_option)
		strcpy(err->path, err->path[0] == 'p' ? "--probes" : "--mtu");
	lab_say_error(of_option ? NULL : work->file, err);
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
			.paths = (uint32_t)options->probes
						 ?: hs_scenario_graph_paths(&work->scenario),
			.mtu = (uint32_t)options->mtu ?: work->scenario.mtu,
			.seed = options->override.has_seed ? options->override.seed
							   : work->scenario.seed};
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
	int rc = lab_dump(root, stdout, 0);

	json_decref(root);
	return rc;
}

// ---- tables ----

static int print_totals(const struct work *work)
{
	static const char *const columns[] = {"plan", "probes", "hops", "mean", "longest / mean",
			"switches", "links", "overlap", "largest probe"};
	struct hs_text_table *table = hs_lab_table_begin("lrrrrrrrr", columns);

	for (unsigned i = 0; i < N_PLANS; i++) {
		const struct hs_gpint_plan *plan = &work->plans[i];
		hs_lab_cell(table, "%s", plan_names[i]);
		hs_lab_cell(table, "%u", plan->n_paths);
		hs_lab_cell(table, "%u to %u", plan->min_hops, plan->max_hops);
		hs_lab_cell(table, "%.2f", mean_hops(plan));
		hs_lab_cell(table, "%.2f", plan->max_hops / mean_hops(plan));
		hs_lab_cell(table, "%u of %u", plan->covered, plan->n_switches);
		hs_lab_cell(table, "%u of %zu", plan->covered_links, work->network.graph.n_links);
		hs_lab_cell(table, "%" PRIu64, plan->overlap);
		hs_lab_cell(table, "%u bytes", plan->max_bytes);
	}
	return hs_lab_table_end(stdout, "", table);
}

// Adds the switches of a path as lines of the last column.
static int add_switches(struct hs_text_table *table, const struct work *work,
		const struct hs_gpint_path *path)
{
	size_t used = 0, size = (size_t)path->n_hops * sizeof(work->scenario.nodes[0].name) + 1;
	char *text = malloc(size);

	if (!text)
		return -ENOMEM;
	for (uint32_t i = 0; i < path->n_hops; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
				work->network.names[path->hops[i].at]);
	hs_lab_wrapped_cell(table, 3, text, LIST_WIDTH);
	free(text);
	return 0;
}

static int print_paths(const struct work *work)
{
	unsigned which = work->options->euler ? EULER : GPINT;
	const struct hs_gpint_plan *plan = &work->plans[which];
	const char *const columns[] = {plan_names[which], "hops", "bytes", "switches"};
	struct hs_text_table *table = hs_lab_table_begin("rrrl", columns);
	int rc = 0;

	for (uint32_t p = 0; p < plan->n_paths && rc == 0; p++) {
		hs_lab_cell(table, "%u", p + 1);
		hs_lab_cell(table, "%u", plan->paths[p].n_hops);
		hs_lab_cell(table, "%u", plan->paths[p].bytes);
		rc = add_switches(table, work, &plan->paths[p]);
	}
	return hs_lab_table_end(stdout, "\n", table) ?: rc;
}

// ---- all of it ----

static int print(const struct work *work)
{
	int rc = work->options->json ? print_json(work) : print_totals(work) ?: print_paths(work);

	return rc < 0 ? LAB_FAILED : LAB_DONE;
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
