// SPDX-License-Identifier: BSD-3-Clause
// Reports per second into windows: 4,096 flows in turn, four hops each, 10,000 packets/s a flow of
// which every hundredth is sampled, in the steady state: every flow has its memory. Prints one
// line; `meson test --benchmark` runs it.
#include "flexint.h"
#include "qos.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND	    1000000000ll
#define T0	    (1700000040ll * SECOND)
#define WARM_ROUNDS 1400

static uint64_t n_windows;

static void count_window(void *user, const struct hs_qos_window *window)
{
	(void)user;
	(void)window;
	n_windows++;
}

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void make_report(struct hs_report *report, uint64_t number, unsigned n_hops)
{
	struct hs_decoded *telemetry = &report->telemetry;
	uint64_t ts = (uint64_t)T0 + number * 100000;
	telemetry->family = &hs_flexint_family;
	telemetry->trace_type = 0x7000E000;
	telemetry->e2e = (struct hs_e2e){0x7000, 0, ts, (uint32_t)number, (uint32_t)(number * 562)};
	telemetry->n_hops = (uint16_t)n_hops;
	for (unsigned i = 0; i < n_hops; i++) {
		ts += 1000000 + number * 7919 % 5000;
		telemetry->hops[n_hops - 1 - i] = (struct hs_hop){(uint16_t)(i + 1), 0xE000,
				(uint16_t)number, (uint16_t)number, ts, (uint32_t)(number * 562),
				(uint32_t)(number * 562)};
	}
	report->sink_ts_ns = (int64_t)ts + 1000000;
	report->sink_rx_packets = number;
	report->sink_rx_bytes = number * 562;
}

static void feed(struct hs_qos *qos, uint32_t flows, unsigned hops, uint64_t from, uint64_t rounds)
{
	struct hs_report report = {0};
	for (uint64_t round = from; round < from + rounds; round++) {
		make_report(&report, 100 + round * 100, hops);
		hs_qos_advance(qos, report.sink_ts_ns);
		for (uint32_t flow = 1; flow <= flows; flow++) {
			struct hs_qos_key key = {flow, 1, 1, 9};
			hs_qos_report(qos, &key, &report);
		}
	}
}

int main(int argc, char **argv)
{
	uint32_t flows = argc > 1 ? (uint32_t)atoi(argv[1]) : 4096;
	unsigned hops = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	uint64_t rounds = 4000000 / flows;
	struct hs_qos_config config = {.max_flows = flows, .on_window = count_window};
	struct hs_report report = {0};
	struct hs_qos *qos;
	struct hs_qos_counters counters;
	if (hs_qos_create(&config, &qos))
		return 1;
	feed(qos, flows, hops, 0, WARM_ROUNDS);
	double made = now();
	for (uint64_t round = 0; round < rounds; round++)
		make_report(&report, round * 100, hops);
	made = now() - made;
	double start = now();
	feed(qos, flows, hops, WARM_ROUNDS, rounds);
	double took = now() - start - made;
	double reports = (double)(rounds * flows);
	hs_qos_counters(qos, &counters);
	printf("%" PRIu32 " flows, %u hops: %.0f reports/s, %.0f ns each, %" PRIu64
	       " windows, %" PRIu64 " KiB a flow\n",
			flows, hops, reports / took, took * 1e9 / reports, n_windows,
			counters.bytes / flows / 1024);
	hs_qos_destroy(qos);
	return 0;
}
