// SPDX-License-Identifier: BSD-3-Clause
#include "bench_control.h"

#include "bench_frames.h"

#include "eal.h"
#include "qos.h"
#include "report_json.h"
#include "rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FLOWS	    4096
#define HOPS	    4
#define WARM_ROUNDS 1100 // a flow's thousand reports are all in place then
#define START_NS    1700000040000000000LL
#define PACKETS	    100 // between two reports of a flow
#define PACKET_NS   100000
#define FRAME_BYTES 562
#define AT_ONCE	    1000 // changes or texts, between two looks at the time

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

// Takes rules out and puts them back, anywhere in the table; nobody is in a burst.
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
	// A worker that has never been online holds nothing back.
	hs_node_worker_offline(node, 0);
	hs_rng_init(&rng, 1);
	for (begin = own_cpu_ns(); rc == 0 && own_cpu_ns() - begin < limit_ns; n += AT_ONCE)
		rc = change_some(flows, spec, &rng, err);
	*per_second = (double)n * 1e9 / (double)(own_cpu_ns() - begin);
	return rc;
}

// ---- reports ----

static void make_report(struct hs_report *report, uint64_t number)
{
	struct hs_flexint *telemetry = &report->telemetry;
	uint64_t ts_ns = (uint64_t)START_NS + number * PACKET_NS;
	uint32_t bytes = (uint32_t)(number * FRAME_BYTES);

	telemetry->trace_type = HS_BENCH_TRACE_TYPE;
	telemetry->e2e = (struct hs_flexint_e2e){
			HS_BENCH_TRACE_TYPE >> 16, 0, ts_ns, (uint32_t)number, bytes};
	telemetry->n_hops = HOPS;
	for (unsigned i = 0; i < HOPS; i++) {
		ts_ns += 1000000 + number * 7919 % 5000;
		telemetry->hops[HOPS - 1 - i] = (struct hs_flexint_hop){(uint16_t)(i + 1),
				(uint16_t)HS_BENCH_TRACE_TYPE, (uint16_t)number, (uint16_t)number,
				ts_ns, bytes, bytes};
	}
	report->sink_ts_ns = (int64_t)ts_ns + 1000000;
	report->sink_rx_packets = number;
	report->sink_rx_bytes = number * FRAME_BYTES;
}

// One report of each flow.
static void feed(struct hs_qos *qos, uint64_t round)
{
	static struct hs_report report;

	make_report(&report, (round + 1) * PACKETS);
	hs_qos_advance(qos, report.sink_ts_ns);
	for (uint32_t flow = 1; flow <= FLOWS; flow++) {
		const struct hs_qos_key key = {flow, 1, 1, 9};
		hs_qos_report(qos, &key, &report);
	}
}

static void count_window(void *user, const struct hs_qos_window *window)
{
	(void)window;
	++*(uint64_t *)user;
}

static int monitor_reports(double seconds, double *per_second, struct hs_error *err)
{
	uint64_t windows = 0, round = 0, n, begin;
	const struct hs_qos_config config = {
			.max_flows = FLOWS,
			.on_window = count_window,
			.user = &windows,
	};
	struct hs_qos_counters counters;
	struct hs_qos *qos;
	int rc = hs_qos_create(&config, &qos);

	if (rc < 0)
		return rc;
	while (round < WARM_ROUNDS)
		feed(qos, round++);
	for (begin = own_cpu_ns(), n = 0;
			(double)(own_cpu_ns() - begin) < seconds * 1e9 || round % PACKETS;
			n += FLOWS)
		feed(qos, round++);
	*per_second = (double)n * 1e9 / (double)(own_cpu_ns() - begin);
	hs_qos_counters(qos, &counters);
	if (counters.reports != round * FLOWS || !windows)
		return hs_error_set(err, "counters", "reports", "", "not all were taken");
	return 0;
}

static int json_reports(double seconds, double *per_second, struct hs_error *err)
{
	static char text[HS_REPORT_TEXT_BYTES];
	static struct hs_report report;
	const struct hs_report_origin origin = {1, 9, "0123456789abcdef"};
	uint64_t n = 0, begin = own_cpu_ns();

	while ((double)(own_cpu_ns() - begin) < seconds * 1e9) {
		for (int i = 0; i < AT_ONCE; i++) {
			make_report(&report, ++n);
			if (hs_report_text(&report, 1, 9, &origin, text, sizeof(text)) <= 0)
				return hs_error_set(err, "counters", "texts", "", "none was made");
		}
	}
	*per_second = (double)n * 1e9 / (double)(own_cpu_ns() - begin);
	return 0;
}

int hs_bench_control(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		double *per_second, struct hs_error *err)
{
	switch (spec->kind) {
	case HS_BENCH_RULE_CHANGES:
		return rule_changes(spec, config, per_second, err);
	case HS_BENCH_MONITOR:
		return monitor_reports(config->seconds, per_second, err);
	case HS_BENCH_JSON:
		return json_reports(config->seconds, per_second, err);
	default:
		return -EINVAL;
	}
}
