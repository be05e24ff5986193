// SPDX-License-Identifier: BSD-3-Clause
// A network of switches that forward probes, in virtual time: the truth for tests of recovery. It
// shares no code with lib/gpint.
#pragma once

#include "gpint_graphs.h"
#include "gpint_prober.h"

#define NET_SWITCHES 128

struct network {
	struct test_graph *graph;
	struct hs_gpint_prober *prober;
	struct hs_rng rng;
	int64_t now_ns;
	double loss;		      // of each link, in each direction
	double monitor_loss;	      // between the monitor and each switch, in each direction
	int64_t feedback_ns;	      // t_f of the switches
	bool dead[NET_SWITCHES];      // switches
	bool cut[GRAPH_LINKS][2];     // links, by the end that sends
	bool delivered[NET_SWITCHES]; // the monitor has the values of the switch
	int64_t dies_ns;	      // when a switch dies; INT64_MAX: none
	uint32_t dying;		      // this one
	uint32_t most_at_once;	      // probes that one step sent
	uint32_t answers[3];	      // that the monitor got, by enum hs_gpint_answer
};

void network_init(struct network *net, struct test_graph *graph, uint64_t seed,
		const struct hs_gpint_prober_config *config);
void network_fini(struct network *net);
// Runs a session over the plan to its end, of at most an hour. All sessions together have fewer
// than 32,768 probes, because switches remember the requests.
void network_session(struct network *net, const struct hs_gpint_plan *plan);
// Returns whether nothing crosses a link in this direction.
bool network_is_dead(const struct network *net, uint32_t from, uint32_t to);
