// SPDX-License-Identifier: BSD-3-Clause
#include "bench_child.h"

#include "bench_collect.h"
#include "bench_control.h"
#include "bench_offered.h"

#include "control.h"
#include "log.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_mbuf.h>

#include <jansson.h>

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WORKER_LCORE  1
#define ROUNDS_A_LOOK (8192 / HS_BURST) // rounds of a worker between two readings of the time
#define WARM_PACKETS  1000000
#define WARM_PER_RULE 2
#define WARM_REPORTS  (HS_QOS_REPORTS * 3 / 2) // of a rule, which fill the monitor's memory once
#define WARM_SECONDS  0.1
#define PATIENCE_S    30.0 // the longest wait for the first packets
#define TAKE	      64
#define READ_BYTES    128 // of a report record
#define FEW	      128 // reports of a step, after which control rests
#define REST_NS	      50000
#define LOOK_NS	      1000000 // between two checks of other processes

struct run {
	struct hs_bench_setup setup;
	struct hs_control *control;
	atomic_bool done;
	// The worker writes the following before it reports its end.
	uint64_t packets, cpu_ns, tsc;
	struct hs_worker_counters before; // the measurement
	uint64_t aside_ns;		  // time spent emptying the ring, not in cpu_ns
	bool nothing_came;
};

// ---- the worker ----

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void leave(void *context, const struct hs_report_record *records, unsigned n)
{
	(void)context, (void)records, (void)n;
}

static void empty_ring(struct run *run)
{
	uint64_t begin = own_cpu_ns();

	while (hs_node_visit_reports(run->setup.node, TAKE, leave, NULL))
		;
	run->aside_ns += own_cpu_ns() - begin;
}

// Sends on what the drivers have received, without the node. Returns how many packets were sent.
static unsigned pass_on(struct hs_port *const ports[HS_BENCH_PORTS])
{
	struct rte_mbuf *mbufs[HS_BURST];
	uint16_t n = rte_eth_rx_burst(ports[HS_BENCH_IN]->ethdev_id, 0, mbufs, HS_BURST);
	uint16_t sent = rte_eth_tx_burst(ports[HS_BENCH_OUT]->ethdev_id, 0, mbufs, n);

	rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	return sent;
}

static unsigned poll_once(const struct hs_bench_setup *setup)
{
	return setup->spec->drivers ? pass_on(setup->ports) : hs_node_worker_poll(setup->node, 0);
}

// Polls for a few rounds, which make at most half a ring of reports.
static uint64_t poll_some(struct run *run)
{
	uint64_t packets = 0;

	for (int i = 0; i < ROUNDS_A_LOOK; i++)
		packets += poll_once(&run->setup);
	if (run->setup.spec->drain == HS_BENCH_ASIDE)
		empty_ring(run);
	return packets;
}

// callgrind begins and ends counting at this function.
__attribute__((noinline)) static unsigned counted_poll(const struct hs_bench_setup *setup)
{
	return poll_once(setup);
}

// Processes the packets whose instructions are counted. No report is lost and nothing ends by the
// clock, so that all runs of this number of packets are alike. The special first packet of each
// rule comes before.
static void count_packets(struct run *run)
{
	uint64_t warm = run->setup.spec->traffic.frames;

	while (warm > 0)
		warm -= RTE_MIN(warm, poll_once(&run->setup));
	while (run->packets < run->setup.config->packets) {
		if (run->setup.spec->drain != HS_BENCH_NO_DRAIN)
			empty_ring(run);
		run->packets += counted_poll(&run->setup);
	}
	if (run->setup.spec->drain != HS_BENCH_NO_DRAIN)
		empty_ring(run);
}

// Returns how many reports the ring took.
static uint64_t reports_kept(const struct run *run)
{
	struct hs_worker_counters now;

	hs_node_worker_counters(run->setup.node, 0, &now);
	return now.reports_made - now.reports_lost;
}

// Processes packets until caches, rings, branch predictors and the monitor are warm. Returns false
// if no packet came.
static bool warm_up(struct run *run)
{
	uint64_t hz = rte_get_tsc_hz(), begin = rte_rdtsc(), packets = 0, reports = 0;
	uint64_t enough = WARM_PACKETS + (uint64_t)WARM_PER_RULE * run->setup.spec->rules;
	uint64_t least = begin + (uint64_t)(WARM_SECONDS * (double)hz);
	uint64_t last = begin + (uint64_t)(PATIENCE_S * (double)hz);

	if (run->setup.spec->shared_cores)
		enough = WARM_PACKETS;
	if (run->setup.spec->drain == HS_BENCH_TO_MONITOR)
		reports = (uint64_t)WARM_REPORTS * run->setup.spec->rules;
	while (packets < enough || rte_rdtsc() < least || reports_kept(run) < reports) {
		packets += poll_some(run);
		if (rte_rdtsc() > last)
			return packets > 0;
	}
	return true;
}

static void measure_time(struct run *run)
{
	run->nothing_came = !warm_up(run);
	run->aside_ns = 0;
	hs_node_worker_counters(run->setup.node, 0, &run->before);
	uint64_t begin = rte_rdtsc(), cpu_ns = own_cpu_ns();
	uint64_t end = begin + (uint64_t)(run->setup.config->seconds * (double)rte_get_tsc_hz());
	while (rte_rdtsc() < end && !run->nothing_came)
		run->packets += poll_some(run);
	run->cpu_ns = own_cpu_ns() - cpu_ns - run->aside_ns;
	run->tsc = rte_rdtsc() - begin;
}

static int work(void *context)
{
	struct run *run = context;

	hs_node_worker_online(run->setup.node, 0);
	if (run->setup.config->packets)
		count_packets(run);
	else
		measure_time(run);
	hs_node_worker_offline(run->setup.node, 0);
	atomic_store(&run->done, true);
	return 0;
}

// ---- the other core ----

// Reads one word of each cache line of a report of two hops. The worker then writes into lines that
// another core has had, as with a monitor. The reading is fast enough to keep the ring from
// filling.
static void look_at(void *context, const struct hs_report_record *records, unsigned n)
{
	uint64_t *sum = context;

	for (unsigned i = 0; i < n; i++)
		for (unsigned at = 0; at < READ_BYTES; at += RTE_CACHE_LINE_SIZE)
			*sum += *(const volatile uint32_t *)((const char *)&records[i] + at);
}

// Control of a node rests where few reports wait, too. It would otherwise take each record from the
// worker while the worker writes the next one, which slows both.
static unsigned step_control(struct hs_control *control, int64_t now_ns)
{
	const struct timespec rest = {.tv_nsec = REST_NS};
	unsigned taken = hs_control_step(control, now_ns);

	if (taken < FEW)
		nanosleep(&rest, NULL);
	return taken;
}

static unsigned take_reports(struct run *run)
{
	static uint64_t sum;

	if (run->control)
		return step_control(run->control, hs_clock_now(run->setup.clock));
	return hs_node_visit_reports(run->setup.node, TAKE, look_at, &sum);
}

static unsigned take_packets(struct run *run)
{
	struct rte_mbuf *mbufs[TAKE];
	uint16_t n = rte_eth_rx_burst(run->setup.ports[HS_BENCH_OUT]->ethdev_id, 0, mbufs, TAKE);

	rte_pktmbuf_free_bulk(mbufs, n);
	return n;
}

static void look_at_links(struct run *run)
{
	for (int p = 0; p < HS_BENCH_PORTS; p++)
		hs_port_look(run->setup.ports[p]);
}

static void attend(struct run *run)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	const struct hs_bench_case *spec = run->setup.spec;

	while (!atomic_load(&run->done)) {
		if (run->setup.config->packets)
			nanosleep(&pause, NULL);
		else if (spec->drain == HS_BENCH_DISCARD || spec->drain == HS_BENCH_TO_MONITOR)
			take_reports(run);
		else if (spec->target == HS_BENCH_RING)
			take_packets(run);
		else
			nanosleep(&pause, NULL);
		if (spec->target == HS_BENCH_MEMIF)
			look_at_links(run);
	}
}

static int open_monitor(struct run *run)
{
	const struct hs_control_config config = {
			.boot_id = "0123456789abcdef",
			.monitored_rules = run->setup.spec->rules,
			.workers_help = true,
	};
	const struct hs_control_output output = {0};

	return hs_control_create(&config, run->setup.node, run->setup.clock, &output,
			hs_clock_now(run->setup.clock), &run->control);
}

// ---- one line ----

static int say(json_t *line)
{
	int rc = json_object_get(line, "error") ? -EINVAL : 0;

	json_dumpf(line, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(line);
	return rc;
}

static json_t *failure(const struct hs_error *err, int rc)
{
	char text[HS_ERROR_TEXT];

	return json_pack("{s:s}", "error",
			hs_error_is_set(err) ? hs_error_text(err, text) : strerror(-rc));
}

static json_t *packets_line(const struct run *run, const struct hs_bench_outcome *outcome)
{
	return json_pack("{s:I, s:I, s:f, s:I, s:I, s:I}", "packets", (json_int_t)run->packets,
			"cpu_ns", (json_int_t)run->cpu_ns, "tsc_ghz",
			(double)rte_get_tsc_hz() / 1e9, "tx_full_packets",
			(json_int_t)outcome->tx_full, "reports_made",
			(json_int_t)(outcome->reports_made - run->before.reports_made),
			"reports_lost",
			(json_int_t)(outcome->reports_lost - run->before.reports_lost));
}

static int check(const struct run *run, struct hs_bench_outcome *outcome, struct hs_error *err)
{
	struct rte_eth_stats in, out;

	if (!run->setup.spec->drivers)
		return hs_bench_setup_check(&run->setup, outcome, err);
	*outcome = (struct hs_bench_outcome){.received = run->packets};
	rte_eth_stats_get(run->setup.ports[HS_BENCH_IN]->ethdev_id, &in);
	rte_eth_stats_get(run->setup.ports[HS_BENCH_OUT]->ethdev_id, &out);
	if (out.opackets == in.ipackets)
		return 0;
	return hs_error_set(err, "counters", "packets sent on", "",
			"%" PRIu64 " instead of %" PRIu64, out.opackets, in.ipackets);
}

static json_t *measure_packets(const struct hs_bench_case *spec,
		const struct hs_bench_child_config *config, struct hs_error *err)
{
	static struct run run;
	struct hs_bench_outcome outcome;
	int rc = hs_bench_setup_open(&run.setup, spec, config, err);

	if (rc == 0 && spec->drain == HS_BENCH_TO_MONITOR)
		rc = open_monitor(&run);
	if (rc == 0)
		rc = rte_eal_remote_launch(work, &run, WORKER_LCORE);
	if (rc < 0)
		return failure(err, rc);
	attend(&run);
	rte_eal_wait_lcore(WORKER_LCORE);
	if (run.nothing_came || !run.packets)
		return json_pack("{s:s}", "error", "no packets came");
	rc = check(&run, &outcome, err);
	return rc < 0 ? failure(err, rc) : packets_line(&run, &outcome);
}

static json_t *measure_collect(const struct hs_bench_case *spec,
		const struct hs_bench_child_config *config, struct hs_error *err)
{
	struct hs_bench_collected collected;
	bool sleeps = spec->kind == HS_BENCH_COLLECT_IDLE;
	int rc = sleeps ? hs_bench_offered(spec, config, &collected, err)
			: hs_bench_collect(spec, config, &collected, err);

	if (rc < 0)
		return failure(err, rc);
	return json_pack("{s:f, s:I, s:f, s:f, s:s*}", "per_second", collected.per_second,
			"packets", (json_int_t)collected.reports, "share_of_core", collected.share,
			"left_out", collected.left_out, "kind", collected.kind);
}

int hs_bench_child_run(const struct hs_bench_case *spec, const struct hs_bench_child_config *config)
{
	struct hs_error err = {0};
	double per_second = 0;

	hs_log_setup(HS_LOG_ERROR, false);
	if (spec->kind == HS_BENCH_PACKETS)
		return say(measure_packets(spec, config, &err));
	if (hs_bench_case_collects(spec))
		return say(measure_collect(spec, config, &err));
	int rc = hs_bench_control(spec, config, &per_second, &err);
	return say(rc < 0 ? failure(&err, rc)
			  : json_pack("{s:f, s:I}", "per_second", per_second, "packets",
					    (json_int_t)config->packets));
}
