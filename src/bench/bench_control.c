// SPDX-License-Identifier: BSD-3-Clause
#include "bench_control.h"

#include "bench_frames.h"
#include "bench_reports.h"

#include "eal.h"
#include "rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FLOWS	4096
#define AT_ONCE 1000 // changes between two readings of the time

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// ---- rules ----

static int open_rules(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		struct hs_node **node, struct hs_error *err)
{
	static char *words[] = {"--no-telemetry", "--log-level=*:error"};
	struct hs_node_config node_config = {.id = 1, .n_workers = 1, .rules = spec->rules};
	struct hs_eal_config eal = {
			.memory_bytes = hs_node_bytes(&node_config),
			.control_core = config->control_core,
			.argc = 2,
			.argv = words,
	};
	struct hs_clock *clock;
	int rc;

	snprintf(eal.file_prefix, sizeof(eal.file_prefix), "%s", config->prefix);
	rc = hs_eal_init(&eal, err);
	if (rc == 0)
		rc = hs_clock_create(HS_CLOCK_UTC, &clock);
	return rc == 0 ? hs_node_create(&node_config, clock, NULL, node, err) : rc;
}

static int install(struct hs_flow_table *flows, const struct hs_bench_case *spec, uint32_t index,
		struct hs_error *err)
{
	const struct hs_bench_case rules = {.traffic.flows = FLOWS, .matched = true, .every = 100};
	struct hs_rule rule;
	uint32_t shadowed_by;

	(void)spec;
	hs_bench_rule(&rules, index, &rule);
	return hs_flow_table_install(flows, &rule, &shadowed_by, err);
}

// Removes random rules of the table and installs them again. No worker processes packets meanwhile.
static int change_some(struct hs_flow_table *flows, const struct hs_bench_case *spec,
		struct hs_rng *rng, struct hs_error *err)
{
	for (int i = 0; i < AT_ONCE / 2; i++) {
		uint32_t index = hs_rng_u32(rng) % spec->rules;
		int rc = hs_flow_table_remove(flows, index + 1, err);
		hs_flow_table_reclaim(flows);
		if (rc == 0)
			rc = install(flows, spec, index, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int rule_changes(const struct hs_bench_case *spec,
		const struct hs_bench_child_config *config, double *per_second,
		struct hs_error *err)
{
	struct hs_node *node;
	struct hs_rng rng;
	uint64_t n = 0, begin, limit_ns = (uint64_t)(config->seconds * 1e9);
	int rc = open_rules(spec, config, &node, err);

	if (rc < 0)
		return rc;
	struct hs_flow_table *flows = hs_node_flows(node);
	for (uint32_t i = 0; rc == 0 && i < spec->rules; i++)
		rc = install(flows, spec, i, err);
	// A worker that has never been online delays nothing.
	hs_node_worker_offline(node, 0);
	hs_rng_init(&rng, 1);
	for (begin = own_cpu_ns(); rc == 0 && own_cpu_ns() - begin < limit_ns; n += AT_ONCE)
		rc = change_some(flows, spec, &rng, err);
	*per_second = (double)n * 1e9 / (double)(own_cpu_ns() - begin);
	return rc;
}

int hs_bench_control(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		double *per_second, struct hs_error *err)
{
	switch (spec->kind) {
	case HS_BENCH_RULE_CHANGES:
		return rule_changes(spec, config, per_second, err);
	case HS_BENCH_MONITOR:
	case HS_BENCH_JSON:
		return hs_bench_reports(spec, config, per_second, err);
	default:
		return -EINVAL;
	}
}
