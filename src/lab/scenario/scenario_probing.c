// SPDX-License-Identifier: BSD-3-Clause
// The monitoring host of a scenario with probes, and what it needs of the network.
#include "scenario_draft.h"

#include "port.h"
#include "probe_state.h"
#include "rule_admission.h"

static const struct hs_schema_word planner_words[] = {
		{"gpint", HS_LAB_GPINT}, {"euler", HS_LAB_EULER}, {NULL, 0}};

#define PROBING(member) HS_SCHEMA_MEMBER(struct hs_draft, scenario.probing.member)
#define TIME(member)	PROBING(member), .least = 0.000001, .most = HS_DRAFT_MAX_S
const struct hs_schema_field hs_draft_probing_fields[] = {
		{"planner", HS_SCHEMA_WORD, PROBING(planner), .words = planner_words},
		{"k", HS_SCHEMA_UINT, PROBING(paths), .min = 1, .max = 1200},
		{"mtu", HS_SCHEMA_UINT, PROBING(mtu), .min = 64, .max = HS_PORT_MTU_MAX},
		{"recovery", HS_SCHEMA_BOOL, PROBING(recovery)},
		{"adaptive", HS_SCHEMA_BOOL, PROBING(tuning.adaptive)},
		{"t_f_s", HS_SCHEMA_SECONDS, TIME(tuning.feedback_ns)},
		{"t_ro_s", HS_SCHEMA_SECONDS, TIME(tuning.resolution_ns)},
		{"r_a", HS_SCHEMA_UINT, PROBING(tuning.attempts), .max = 1000},
		{"concurrency", HS_SCHEMA_UINT, PROBING(tuning.concurrent), .min = 1, .max = 1200},
		{"start_s", HS_SCHEMA_SECONDS, PROBING(start_ns), .most = HS_DRAFT_MAX_S},
		{"period_s", HS_SCHEMA_SECONDS, TIME(period_ns)},
		{"sessions", HS_SCHEMA_UINT, PROBING(sessions), .max = 1000000},
		{"wait_s", HS_SCHEMA_SECONDS, TIME(wait_ns)},
		{"delay_ns", HS_SCHEMA_UINT, PROBING(delay_ns), .max = UINT64_C(3600000000000)},
		{NULL},
};

static int refuse(const struct hs_draft *draft, const char *what, const char *expected)
{
	return hs_error_set(draft->err, "conflict", "probing", expected, "%s", what);
}

static int check_profiles(const struct hs_draft *draft)
{
	const struct hs_scenario *s = &draft->scenario;

	for (size_t i = 0; i < s->n_links; i++) {
		struct hs_profile profiles[HS_MAX_PORTS] = {0};
		hs_scenario_profiles(s, s->links[i].from, profiles, draft->err);
		if (!s->links[i].profile || !hs_profile_probe(&profiles[0]))
			return refuse(draft, "a link has no profile of method probe",
					"a profile of method probe at each link");
	}
	return s->n_links ? 0 : refuse(draft, "the network has no links", "links");
}

int hs_draft_check_probing(struct hs_draft *draft)
{
	const struct hs_scenario *s = &draft->scenario;

	if (!s->probing.given)
		return 0;
	if (s->forwarding != HS_LAB_SHORTEST_PATH)
		return refuse(draft, "the nodes do not route", "forwarding shortest_path");
	for (size_t i = 0; i < s->n_nodes; i++) {
		const struct hs_scenario_node *node = &s->nodes[i];
		if (node->n_links + node->n_hosts >= HS_MAX_PORTS)
			return refuse(draft, "a node has no port left for the monitoring host",
					"at most 31 links and hosts at a node");
	}
	if (s->probing.paths > s->n_nodes)
		return hs_error_set(draft->err, "out_of_range", "probing.k",
				"at most as many paths as nodes", "%u paths for %zu nodes",
				s->probing.paths, s->n_nodes);
	return check_profiles(draft);
}
