// SPDX-License-Identifier: BSD-3-Clause
#include "bench_collect.h"

#include "bench_datagrams.h"
#include "bench_garbage.h"

#include "bytes.h"
#include "collect.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <time.h>

#define BURST	     32
#define LEARN_STRIDE 100003 // prime, so that the order of the table is not that of the datagrams
#define OFFERED_RATE 1200000.0
#define EVENT_FLOWS  2000
#define EVENTS_APART 1200 // reports: 1,000 events a second
#define USUAL_RATE   10e6
#define START_NS     INT64_C(1700000000000000000)

struct scene {
	const struct hs_bench_case *spec;
	const struct hs_bench_child_config *config;
	struct hs_bench_datagrams datagrams;
	struct hs_collect *collect;
	const struct hs_bench_garbage *garbage; // NULL: good reports
	uint32_t sequence;
	bool changing;	   // paths change
	uint64_t prepared; // reports since paths change
	uint64_t changes;
	int64_t now_ns;
	int64_t burst_ns; // between two bursts
	uint64_t points;
	uint64_t learned;     // reports that were events while the collector learned the flows
	uint64_t reports, ns; // measured
};

// Returns whether the case is one of the paper's section V-D, with node ids only and with events.
static bool changes_paths(const struct hs_bench_case *spec)
{
	return spec->reported == EVENT_FLOWS;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void tell(void *context, const struct hs_collect_event *event)
{
	((struct scene *)context)->points += event->n_points;
}

// ---- bursts ----

// Takes a burst. callgrind begins and ends counting at this function.
__attribute__((noinline)) static void counted_take(
		struct scene *scene, const struct hs_collect_datagram *burst, uint32_t n)
{
	hs_collect_take(scene->collect, burst, n, scene->now_ns);
}

// Takes `n` datagrams, from *at on in steps of `step`.
static void take_burst(struct scene *scene, uint32_t *at, uint32_t step, uint32_t n)
{
	const struct hs_bench_datagrams *datagrams = &scene->datagrams;
	struct hs_collect_datagram burst[BURST];

	for (uint32_t i = 0; i < n; i++) {
		burst[i] = (struct hs_collect_datagram){.bytes = hs_bench_datagram(datagrams, *at),
				.len = hs_bench_datagram_len(datagrams, *at),
				.is_ipv4 = true,
				.address = {10, 0, 0, 1}};
		*at += step;
		*at -= *at >= datagrams->n ? datagrams->n : 0;
	}
	scene->now_ns += scene->burst_ns;
	counted_take(scene, burst, n);
	scene->reports += n;
}

static void take_all(struct scene *scene, uint32_t stride)
{
	uint32_t at = 0, step = stride % scene->datagrams.n;

	for (uint32_t left = scene->datagrams.n, n; left; left -= n) {
		n = left < BURST ? left : BURST;
		take_burst(scene, &at, step, n);
	}
}

// Changes what an exporter changes from report to report.
static void renew(struct scene *scene, uint32_t at)
{
	uint8_t *bytes = hs_bench_datagram(&scene->datagrams, at);

	hs_bench_number(bytes, scene->sequence++);
	if (scene->garbage && scene->garbage->other_flow)
		hs_be32_store(bytes + HS_BENCH_INNER_SOURCE, scene->sequence);
	if (scene->changing && ++scene->prepared % EVENTS_APART == 0) {
		hs_bench_change_path(bytes);
		scene->changes++;
	}
}

// Renews all datagrams in the order in which they are taken.
static void prepare(struct scene *scene, uint32_t stride)
{
	uint32_t at = 0, step = stride % scene->datagrams.n;

	for (uint32_t i = 0; i < scene->datagrams.n; i++) {
		renew(scene, at);
		at += step;
		at -= at >= scene->datagrams.n ? scene->datagrams.n : 0;
	}
}

static void measure_all(struct scene *scene)
{
	prepare(scene, 1);
	uint64_t begin = own_cpu_ns();
	take_all(scene, 1);
	scene->ns += own_cpu_ns() - begin;
}

// ---- the scene ----

// Returns the number of reports in a second of the collector's time, which is a simulated time.
static double rate_of(const struct hs_bench_case *spec)
{
	if (spec->kind == HS_BENCH_COLLECT_EVENTS)
		return OFFERED_RATE;
	return spec->least_per_second > 0 ? spec->least_per_second : USUAL_RATE;
}

static int open_collect(struct scene *scene, struct hs_error *err)
{
	struct hs_collect_config config;
	uint32_t flows = scene->spec->reported;

	scene->burst_ns = (int64_t)(BURST * 1e9 / rate_of(scene->spec));
	scene->now_ns = START_NS;
	hs_collect_config_init(&config);
	if (flows > config.max_flows || scene->spec->kind == HS_BENCH_COLLECT_GARBAGE)
		config.max_flows = flows;
	// Only changes are events.
	config.gap_ns = 0;
	config.push_ns = 0;
	return hs_collect_create(&config, tell, scene, &scene->collect, err);
}

static int open_datagrams(struct scene *scene)
{
	bool ids = changes_paths(scene->spec);

	return hs_bench_datagrams_of(&scene->datagrams, scene->spec->reported,
			ids ? HS_BENCH_NODE_IDS : HS_BENCH_ALL_VALUES);
}

static void run(struct scene *scene, double seconds, uint64_t reports)
{
	prepare(scene, LEARN_STRIDE);
	take_all(scene, LEARN_STRIDE);
	scene->learned = hs_collect_counters(scene->collect)->event_reports;
	scene->changing = changes_paths(scene->spec);
	measure_all(scene); // warms up
	scene->ns = scene->reports = 0;
	if (!reports) {
		while ((double)scene->ns < seconds * 1e9)
			measure_all(scene);
	}
	while (scene->reports < reports)
		measure_all(scene);
}

// ---- what has come of it ----

static int expect(const char *what, uint64_t is, uint64_t should, struct hs_error *err)
{
	if (is == should)
		return 0;
	return hs_error_set(
			err, "counters", what, "", "%" PRIu64 " instead of %" PRIu64, is, should);
}

static int check_good(const struct scene *scene, struct hs_error *err)
{
	const struct hs_collect_counters *n = hs_collect_counters(scene->collect);
	int rc = expect("reports read", n->reports_read, scene->sequence, err);

	if (rc == 0)
		rc = expect("reports without a flow", n->reports_without_flow, 0, err);
	if (rc == 0)
		rc = expect("reports cut", n->reports_partial, 0, err);
	if (rc == 0)
		rc = expect("reports missing", n->reports_missing, 0, err);
	if (rc == 0)
		rc = expect("flows", n->flows, scene->spec->reported, err);
	return rc == 0 ? expect("events", n->event_reports - scene->learned, scene->changes, err)
		       : rc;
}

static int measure_good(
		struct scene *scene, struct hs_bench_collected *collected, struct hs_error *err)
{
	run(scene, scene->config->seconds, scene->config->packets);
	collected->reports = scene->reports;
	collected->per_second = (double)scene->reports * 1e9 / (double)scene->ns;
	return check_good(scene, err);
}

// ---- garbage ----

static uint64_t refused(const struct scene *scene)
{
	const struct hs_collect_counters *n = hs_collect_counters(scene->collect);
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < HS_COLLECT_REFUSALS; reason++)
		sum += n->refused[reason];
	return sum;
}

static int measure_kind(struct scene *scene, const struct hs_bench_garbage *garbage,
		struct hs_bench_collected *collected, struct hs_error *err)
{
	const struct hs_collect_counters *n = hs_collect_counters(scene->collect);
	const struct hs_bench_child_config *config = scene->config;
	uint64_t all = refused(scene), of_reason = 0, read = n->reports_read, taken;
	bool is_read = garbage->reason == HS_COLLECT_REFUSALS;
	uint32_t first = scene->sequence;
	int rc = open_datagrams(scene);

	if (rc < 0)
		return rc;
	if (!is_read)
		of_reason = n->refused[garbage->reason];
	for (uint32_t i = 0; i < scene->datagrams.n; i++)
		hs_bench_datagram_cut(&scene->datagrams, i,
				garbage->spoil(hs_bench_datagram(&scene->datagrams, i),
						hs_bench_datagram_len(&scene->datagrams, i), i));
	scene->garbage = garbage;
	run(scene, config->seconds / (double)hs_bench_n_garbage, config->packets);
	hs_bench_datagrams_free(&scene->datagrams);
	double per_second = (double)scene->reports * 1e9 / (double)scene->ns;
	collected->reports += scene->reports;
	if (!collected->kind || per_second < collected->per_second) {
		collected->per_second = per_second;
		collected->kind = garbage->name;
	}
	taken = scene->sequence - first;
	if (is_read)
		return refused(scene) != all
				       ? hs_error_set(err, "counters", garbage->name, "", "refused")
				       : expect(garbage->name, n->reports_read - read, taken, err);
	return expect(garbage->name, n->refused[garbage->reason] - of_reason, taken, err);
}

// Measures each kind alone, so that cheap kinds do not hide expensive ones.
static int measure_garbage(
		struct scene *scene, struct hs_bench_collected *collected, struct hs_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < hs_bench_n_garbage; i++)
		rc = measure_kind(scene, &hs_bench_garbage[i], collected, err);
	return rc;
}

// ---- the case ----

static int stay_on(int core, struct hs_error *err)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET((size_t)core, &cores);
	if (sched_setaffinity(0, sizeof(cores), &cores) == 0)
		return 0;
	return hs_error_set(err, "core", "worker", "", "core %d cannot be had", core);
}

int hs_bench_collect(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		struct hs_bench_collected *collected, struct hs_error *err)
{
	static struct scene scene;
	int rc = stay_on(config->worker_core, err);

	scene = (struct scene){.spec = spec, .config = config};
	*collected = (struct hs_bench_collected){0};
	if (rc == 0)
		rc = open_collect(&scene, err);
	if (rc == 0 && spec->kind == HS_BENCH_COLLECT_GARBAGE)
		return measure_garbage(&scene, collected, err);
	if (rc == 0)
		rc = open_datagrams(&scene);
	return rc == 0 ? measure_good(&scene, collected, err) : rc;
}
