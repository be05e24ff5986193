// SPDX-License-Identifier: BSD-3-Clause
// What a report costs a collector: datagrams lie ready in memory, one thread reads them. Reports of
// 1.0 with INT 1.0 in Ethernet, IPv4 and UDP, 6 hops and all values, from 1, 100 and 1,000,000
// flows; and datagrams that are refused. bench_collect [rounds] [million reports a round]
//
// A round's time is the thread's own processor time; the best and the median round are printed.
#include "collect.h"

#include "bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOPS	   6
#define BURST	   64
#define MAX_ROUNDS 101
#define READY	   1024 // datagrams at least: more than a burst
#define HOP_BYTES  36
#define BYTES	   (16 + 14 + 20 + 8 + 4 + 8 + HOPS * HOP_BYTES)

static uint64_t n_points;

static void tell(void *context, const struct hs_collect_event *event)
{
	(void)context;
	n_points += event->n_points;
}

// ---- datagrams ----

static uint8_t *put(uint8_t *at, uint64_t value, size_t bytes)
{
	for (size_t i = bytes; i--; value >>= 8)
		at[i] = (uint8_t)value;
	return at + bytes;
}

// The values differ from report to report, within the thresholds.
static uint8_t *put_hop(uint8_t *at, uint32_t number, uint32_t hop)
{
	at = put(at, hop + 1, 4);
	at = put(at, 0x00010002, 4);
	at = put(at, 500 + (number + hop) % 40, 4);
	at = put(at, 0x05000000 | (number + hop) % 16, 4);
	at = put(at, 1000 + number, 4);
	at = put(at, 1500 + number, 4);
	at = put(at, 0x0000000100000002, 8);
	return put(at, 4000 + (number + hop) % 32, 4);
}

static void make(uint8_t *at, uint32_t flow, uint32_t number)
{
	const size_t ip_bytes = BYTES - 16 - 14;

	at = put(at, 0x14000040, 4);
	at = put(at, HOPS, 4);
	at = put(at, 0, 4); // the sequence, as it is taken
	at = put(at, 12345, 4);
	at = put(at, 0x0200000000020200, 8);
	at = put(at, 0x000000010800, 6);
	at = put(at, 0x455c, 2);
	at = put(at, ip_bytes, 2);
	at = put(at, 0x0001000040110000, 8);
	at = put(at, 0x0a000000 + flow, 4);
	at = put(at, 0x14000001, 4);
	at = put(at, 0x13881389, 4);
	at = put(at, (ip_bytes - 20) << 16, 4);
	at = put(at, 0x01000000 | (3 + HOPS * HOP_BYTES / 4) << 8, 4);
	at = put(at, 0x10000902, 4);
	at = put(at, 0xff000000, 4);
	for (uint32_t hop = HOPS; hop--;)
		at = put_hop(at, number, hop);
}

// ---- rounds ----

struct scene {
	const char *name;
	uint32_t flows;
	void (*spoil)(uint8_t *bytes, uint32_t *len);
};

static void unknown_version(uint8_t *bytes, uint32_t *len)
{
	(void)len;
	bytes[0] = 0xf4;
}

static void too_long(uint8_t *bytes, uint32_t *len)
{
	(void)len;
	bytes[0] = 0x1f;
	*len = 40;
}

static void cut(uint8_t *bytes, uint32_t *len)
{
	(void)bytes;
	*len = 16 + 14 + 20 + 8 + 4 + 8 + 3 * HOP_BYTES + 5;
}

static void cut_head(uint8_t *bytes, uint32_t *len)
{
	(void)bytes;
	*len = 16 + 14 + 20 + 8 + 4 + 3;
}

static void wrong_udp(uint8_t *bytes, uint32_t *len)
{
	(void)len;
	bytes[16 + 14 + 20 + 4] = 0xff;
}

static void wrong_stack(uint8_t *bytes, uint32_t *len)
{
	(void)len;
	bytes[16 + 14 + 20 + 8 + 4 + 2] = 0x07;
}

static void options(uint8_t *bytes, uint32_t *len)
{
	(void)len;
	bytes[16 + 14] = 0x4f;
}

static const struct scene scenes[] = {
		{"1 flow", 1, NULL},
		{"100 flows", 100, NULL},
		{"1000000 flows", 1000000, NULL},
		{"unknown version", 100, unknown_version},
		{"length beyond", 100, too_long},
		{"cut stack", 100, cut},
		{"cut header", 100, cut_head},
		{"wrong UDP length", 100, wrong_udp},
		{"wrong stack", 100, wrong_stack},
		{"wrong IP header", 100, options},
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void run(struct hs_collect *c, struct hs_collect_datagram *datagrams, uint32_t n,
		uint64_t reports)
{
	struct hs_collect_datagram burst[BURST];
	static uint32_t sequence;
	uint32_t at = 0;

	for (uint64_t done = 0; done < reports; done += BURST) {
		for (unsigned i = 0; i < BURST; i++) {
			burst[i] = datagrams[at];
			put((uint8_t *)burst[i].bytes + 8, sequence++, 4);
			at = at + 1 < n ? at + 1 : 0;
		}
		hs_collect_take(c, burst, BURST, (int64_t)(seconds(CLOCK_MONOTONIC) * 1e9));
	}
}

static void measure(const struct scene *scene, unsigned rounds, uint64_t reports)
{
	struct hs_collect_config config;
	struct hs_collect *c;
	uint32_t n_datagrams =
			scene->flows < READY ? READY / scene->flows * scene->flows : scene->flows;
	struct hs_collect_datagram *datagrams = calloc(n_datagrams, sizeof(*datagrams));
	uint8_t *bytes = calloc(n_datagrams, BYTES);
	double ns[MAX_ROUNDS];

	hs_collect_config_init(&config);
	config.max_flows = scene->flows;
	config.gap_ns = config.push_ns = 0;
	if (!datagrams || !bytes || hs_collect_create(&config, tell, NULL, &c, NULL)) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	for (uint32_t i = 0; i < n_datagrams; i++) {
		datagrams[i] = (struct hs_collect_datagram){.bytes = bytes + (size_t)i * BYTES,
				.len = BYTES,
				.is_ipv4 = true,
				.address = {10, 1, 1, 1}};
		make(bytes + (size_t)i * BYTES, i % scene->flows, i);
		if (scene->spoil)
			scene->spoil(bytes + (size_t)i * BYTES, &datagrams[i].len);
	}
	run(c, datagrams, n_datagrams, n_datagrams);
	uint64_t before = n_points;
	for (unsigned i = 0; i < rounds; i++) {
		double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
		run(c, datagrams, n_datagrams, reports);
		ns[i] = (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e9 / (double)reports;
	}
	qsort(ns, rounds, sizeof(ns[0]), by_number);
	const struct hs_collect_counters *n = hs_collect_counters(c);
	printf("%-18s best %6.1f ns, %5.2f M/s   median %6.1f ns, %5.2f M/s   read %llu of %llu, "
	       "%llu points\n",
			scene->name, ns[0], 1e3 / ns[0], ns[rounds / 2], 1e3 / ns[rounds / 2],
			(unsigned long long)n->reports_read, (unsigned long long)n->datagrams,
			(unsigned long long)(n_points - before));
	fflush(stdout);
	hs_collect_destroy(c);
	free(datagrams);
	free(bytes);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 7;
	double million = argc > 2 ? atof(argv[2]) : 2;

	if (rounds < 1 || rounds > MAX_ROUNDS || million < 0.001) {
		fprintf(stderr, "bench_collect [rounds, 1 to %d] [million reports a round]\n",
				MAX_ROUNDS);
		return 2;
	}
	for (unsigned i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (argc < 4 || strstr(scenes[i].name, argv[3]))
			measure(&scenes[i], rounds, (uint64_t)(million * 1e6));
	return 0;
}
