// SPDX-License-Identifier: BSD-3-Clause
// A scenario's network as the planner of probes sees it. A probe takes the counter of each port of
// a switch. Ports are links in their order, then hosts; their ids count from 1.
//
// Thread rule: owner.
#pragma once

#include "gpint_plan.h"
#include "scenario.h"

struct hs_scenario_graph {
	struct hs_gpint_graph graph;
	struct hs_gpint_link *links;
	const char **names;
	uint8_t *values;
};

// Makes the graph, which refers to the scenario. Returns 0 or -ENOMEM. Call fini in either case.
int hs_scenario_graph_init(struct hs_scenario_graph *graph, const struct hs_scenario *scenario);
void hs_scenario_graph_fini(struct hs_scenario_graph *graph);

// Returns k of the paper's GPINT-3: three paths for ten switches.
uint32_t hs_scenario_graph_paths(const struct hs_scenario *scenario);
