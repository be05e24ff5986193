// SPDX-License-Identifier: BSD-3-Clause
#include "control_totals.h"
#include "control_clock.h"
#include "control_parts.h"
#include "control_route.h"
#include "control_rule.h"
#include "control_state.h"

static void add_workers(const struct hs_control *control, struct hs_node_totals *totals)
{
	for (unsigned i = 0; i < hs_node_config(control->node)->n_workers; i++) {
		struct hs_worker_counters worker;
		hs_node_worker_counters(control->node, i, &worker);
#define HS_WORKER_COUNTER(name, unit, text)
#define HS_WORKER_SUM(name, unit, text) totals->name += worker.name;
#include "worker_counter.def"
#undef HS_WORKER_COUNTER
	}
}

void hs_control_totals(const struct hs_control *control, struct hs_node_totals *totals)
{
	*totals = control->counts;
	totals->uptime_ns = (uint64_t)(control->now_ns - control->start_ns);
	hs_control_rule_totals(&control->rules, totals);
	hs_control_route_totals(&control->routes, totals);
	totals->rules_in_band = hs_in_band_rules(control->in_band);
	totals->reports_piggyback_waiting = hs_in_band_reports_waiting(control->in_band);
	struct hs_qos_memory memory;
	hs_qos_memory(control->qos, &memory);
	totals->monitor_bytes = memory.bytes;
	totals->monitors_evicted = memory.evicted;
	totals->monitor_reports_refused = memory.refused;
	totals->probes_held = hs_node_probes_held(control->node);
	add_workers(control, totals);
	hs_control_state_totals(control, totals);
	hs_control_clock_totals(&control->clock, totals);
	if (control->output.totals)
		control->output.totals(control->output.context, totals);
}
