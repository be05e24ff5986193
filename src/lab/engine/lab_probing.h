// SPDX-License-Identifier: BSD-3-Clause
// What lab_probe.c and lab_monitor.c share.
//
// Thread rule: owner.
#pragma once

#include "lab_parts.h"

#include "probe_profile.h"
#include "scenario_graph.h"

#define LAB_PROBE_IDS (HS_PROBE_MAX_ID + 1)

struct lab_probing {
	struct hs_probing_counts counts;
	struct hs_probe_profile *profiles; // of each node
	struct hs_scenario_graph network;
	struct hs_gpint_plan plan;
	struct hs_gpint_prober *prober; // NULL: without recovery
	// The session.
	bool running;
	int64_t began_ns, newest_ns; // newest: arrival of the newest whole probe
	uint32_t sent, back;
	uint16_t first_id;	      // without recovery: of the request over the first path
	int64_t *sent_ns;	      // without recovery: of each path
	bool returned[LAB_PROBE_IDS]; // by request ID
	bool *covered;		      // of each node: its values came
	bool *was_dead; // of each port: no frame could leave by it when the session began
};
