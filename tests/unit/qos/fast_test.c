// SPDX-License-Identifier: BSD-3-Clause
// The monitor as it is, which takes common reports by a fast path and several at a time, beside one
// that reckons each by the general code: they must not differ in a single number.
#include "qos_test.h"
#include "sim.h"

#include <stdio.h>

#define FLOWS 3

struct pair {
	struct hs_qos *fast, *general;
	struct catcher by_fast, by_general;
	size_t compared;
	struct hs_rng rng;
};

static struct hs_qos *monitor_of(struct catcher *catcher, bool general)
{
	struct hs_qos *qos;
	const struct hs_qos_config config = {
			.max_flows = FLOWS,
			.general = general,
			.on_window = catch_window,
			.user = catcher,
	};
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	return qos;
}

static void pair_init(struct pair *pair, uint64_t seed)
{
	memset(pair, 0, sizeof(*pair));
	pair->fast = monitor_of(&pair->by_fast, false);
	pair->general = monitor_of(&pair->by_general, true);
	hs_rng_init(&pair->rng, seed);
}

static void pair_fini(struct pair *pair)
{
	monitor_free(pair->fast, &pair->by_fast);
	monitor_free(pair->general, &pair->by_general);
}

static char *text_of(const struct hs_qos_window *window)
{
	json_t *json = hs_qos_window_json(window, NULL);
	char *text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	assert_non_null(text);
	return text;
}

static void check_same(const struct hs_qos_window *a, const struct hs_qos_window *b)
{
	assert_int_equal(a != NULL, b != NULL);
	if (!a)
		return;
	char *by_a = text_of(a), *by_b = text_of(b);
	assert_string_equal(by_a, by_b);
	free(by_a);
	free(by_b);
}

static struct hs_qos_window whole(const struct caught *caught)
{
	struct hs_qos_window window = caught->window;
	window.hops = (struct hs_qos_hop *)caught->hops;
	window.path = (uint32_t *)caught->path;
	return window;
}

static void check_windows(struct pair *pair)
{
	assert_int_equal(pair->by_fast.n, pair->by_general.n);
	for (; pair->compared < pair->by_fast.n; pair->compared++) {
		struct hs_qos_window a = whole(&pair->by_fast.windows[pair->compared]);
		struct hs_qos_window b = whole(&pair->by_general.windows[pair->compared]);
		check_same(&a, &b);
	}
}

static void add_up(void *user, const struct hs_report *report)
{
	uint64_t *sum = user;
	*sum = *sum * 31 + report->sink_rx_packets + report->telemetry.n_hops;
}

static void check_counters(struct pair *pair)
{
	struct hs_qos_counters a, b;
	hs_qos_counters(pair->fast, &a);
	hs_qos_counters(pair->general, &b);
	assert_true(a.bytes >= b.bytes); // the short cut adds delays to histograms earlier
	a.bytes = b.bytes;
	assert_memory_equal(&a, &b, sizeof(a));
}

// In the middle of what is placed: each must answer as if nothing were.
static void ask(struct pair *pair, uint32_t ns_id, int64_t now_ns)
{
	uint64_t sums[2] = {0};
	switch (hs_rng_u32(&pair->rng) % 4) {
	case 0:
		check_same(hs_qos_latest(pair->fast, ns_id, 0),
				hs_qos_latest(pair->general, ns_id, 0));
		break;
	case 1:
		check_same(hs_qos_slide(pair->fast, ns_id, now_ns - SECOND / 3, now_ns),
				hs_qos_slide(pair->general, ns_id, now_ns - SECOND / 3, now_ns));
		break;
	case 2:
		assert_int_equal(hs_qos_reports(pair->fast, ns_id, 40, add_up, &sums[0]),
				hs_qos_reports(pair->general, ns_id, 40, add_up, &sums[1]));
		assert_int_equal(sums[0], sums[1]);
		break;
	default:
		check_counters(pair);
	}
}

static void feed(struct pair *pair, const struct sim_result *truth)
{
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct hs_report *report = &truth->reports[i].report;
		// Of one in ten a stretch is missing, so that counts wrap between two reports.
		const struct hs_qos_key key = {1 + (uint32_t)(i % FLOWS), 1, 1, 9};
		if (i / 3000 % 10 == 9 && i % 3000 < 2000)
			continue;
		hs_qos_advance(pair->fast, report->sink_ts_ns);
		hs_qos_advance(pair->general, report->sink_ts_ns);
		assert_int_equal(hs_qos_report(pair->fast, &key, report),
				hs_qos_report(pair->general, &key, report));
		if (hs_rng_u32(&pair->rng) % 500 == 0)
			ask(pair, key.ns_id, report->sink_ts_ns);
		check_windows(pair);
	}
	flush_all(pair->fast);
	flush_all(pair->general);
	check_windows(pair);
	check_counters(pair);
}

static uint32_t draw(struct hs_rng *rng, uint32_t one_in, uint32_t most)
{
	return hs_rng_u32(rng) % one_in ? 0 : hs_rng_u32(rng) % most;
}

// Something of everything that may happen to a flow, most of it now and then only.
static struct sim_config any_network(uint64_t seed)
{
	struct sim_config config = sim_defaults(seed);
	struct hs_rng rng;
	hs_rng_init(&rng, seed + 1000);
	config.n_nodes = hs_rng_u32(&rng) % 6;
	config.sample_every = 1 + hs_rng_u32(&rng) % 12;
	config.duration_ns = 3 * SECOND + SECOND / 7;
	config.source_packets = hs_rng_u64(&rng);
	config.source_bytes = hs_rng_u64(&rng);
	config.other_id = 99;
	config.other_at = config.n_nodes ? hs_rng_u32(&rng) % config.n_nodes : 0;
	config.other_ppm = config.n_nodes ? draw(&rng, 4, 20000) : 0;
	config.e2e_bitmap = seed % 9 ? config.e2e_bitmap : (uint16_t)(hs_rng_u32(&rng) & 0xF000);
	config.source_reset_ns = draw(&rng, 6, 2) ? SECOND : 0;
	for (unsigned i = 0; i <= config.n_nodes; i++) {
		config.links[i].loss_ppm = draw(&rng, 2, 20000);
		config.links[i].duplicate_ppm = draw(&rng, 8, 5000);
		config.links[i].jitter_ns = draw(&rng, 3, 3 * MS);
	}
	for (unsigned i = 0; i < config.n_nodes; i++) {
		config.nodes[i].loss_ppm = draw(&rng, 4, 5000);
		config.nodes[i].first_packets = hs_rng_u64(&rng);
		config.nodes[i].first_bytes = hs_rng_u64(&rng);
		config.nodes[i].offset_ns = (int64_t)draw(&rng, 5, 40 * MS) - 20 * MS;
		config.nodes[i].reset_ns = draw(&rng, 10, 2) ? 2 * SECOND : 0;
		config.nodes[i].blind_ppm = draw(&rng, 12, 2000);
		if (seed % 7 == 3)
			config.nodes[i].bitmap &= (uint16_t)hs_rng_u32(&rng);
	}
	return config;
}

static void reports_taken_together_by_the_short_cut_leave_the_numbers_of_one_by_one(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed += SIM_STEP) {
		struct sim_config config = any_network(seed);
		struct sim_result truth;
		struct pair pair;
		sim_run(&config, &truth);
		pair_init(&pair, seed);
		feed(&pair, &truth);
		pair_fini(&pair);
		sim_free(&truth);
	}
}

static bool chance(struct hs_rng *rng, uint32_t one_in)
{
	return hs_rng_u32(rng) % one_in == 0;
}

static void count_on(struct hs_rng *rng, struct hs_report *report)
{
	struct hs_decoded *telemetry = &report->telemetry;
	uint32_t big = chance(rng, 40) ? 1u << (8 + hs_rng_u32(rng) % 24) : 100;
	uint32_t step = 1 + hs_rng_u32(rng) % big;
	uint32_t bytes = step * (chance(rng, 30) ? hs_rng_u32(rng) % 90000 : 562);
	telemetry->e2e.tx_packets += step;
	telemetry->e2e.tx_bytes += bytes;
	report->sink_rx_packets += step;
	report->sink_rx_bytes += chance(rng, 30) ? 150ull * bytes : bytes;
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		telemetry->hops[i].rx_packets = (uint16_t)(telemetry->hops[i].rx_packets + step);
		telemetry->hops[i].tx_packets = (uint16_t)(telemetry->hops[i].tx_packets + step);
		telemetry->hops[i].rx_bytes += bytes;
		telemetry->hops[i].tx_bytes += bytes;
	}
}

static void disturb_counts(struct hs_rng *rng, struct hs_report *report)
{
	struct hs_hop *hop = &report->telemetry.hops[hs_rng_u32(rng) % 3];
	if (chance(rng, 20))
		hop->rx_packets++;
	if (chance(rng, 60))
		hop->rx_packets = (uint16_t)(hop->rx_packets - hs_rng_u32(rng) % 40000);
	if (chance(rng, 60))
		hop->rx_bytes ^= 1u << 31;
	if (chance(rng, 60))
		hop->rx_bytes = hs_rng_u32(rng) >> 1;
	if (chance(rng, 60))
		report->sink_rx_packets -= hs_rng_u32(rng) % 300;
	if (chance(rng, 60))
		report->sink_rx_packets += hs_rng_u32(rng) % 300;
}

static void stamp(struct hs_rng *rng, int64_t now_ns, struct hs_report *report)
{
	struct hs_decoded *telemetry = &report->telemetry;
	telemetry->e2e.ts_ns = (uint64_t)now_ns;
	for (unsigned i = 0; i < 3; i++)
		telemetry->hops[2 - i].ts_ns = (uint64_t)(now_ns + (i + 1) * MS);
	report->sink_ts_ns = now_ns + 4 * MS;
	if (chance(rng, 200))
		telemetry->e2e.ts_ns -= hs_rng_u32(rng) % (20 * MS);
	if (chance(rng, 200))
		telemetry->hops[1].ts_ns += hs_rng_u64(rng) % (20 * SECOND);
	// Rings of several workers: what comes from one may be older.
	if (chance(rng, 20))
		report->sink_ts_ns -= hs_rng_u32(rng) % (150 * MS);
	telemetry->e2e.bitmap = chance(rng, 50) ? HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES : 0x7000;
}

static void feed_nonsense(struct pair *pair, unsigned n)
{
	static const uint16_t nodes[] = {1, 2, 3};
	struct hs_report report = plain_report(1, MS, 3, nodes);
	struct hs_qos_key key = {1, 1, 1, 9};
	int64_t now_ns = T0;
	for (unsigned i = 0; i < n; i++) {
		now_ns += chance(&pair->rng, 60) ? 150 * MS : MS;
		count_on(&pair->rng, &report);
		disturb_counts(&pair->rng, &report);
		stamp(&pair->rng, now_ns, &report);
		key.generation += chance(&pair->rng, 1500);
		hs_qos_advance(pair->fast, now_ns);
		hs_qos_advance(pair->general, now_ns);
		assert_int_equal(hs_qos_report(pair->fast, &key, &report),
				hs_qos_report(pair->general, &key, &report));
		if (chance(&pair->rng, 300))
			ask(pair, key.ns_id, now_ns);
		check_windows(pair);
	}
}

// Counts that no network makes, at and beyond the bounds within which the short cut is right.
static void nonsense_counts_are_reckoned_alike_by_both_ways(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed += SIM_STEP) {
		struct pair pair;
		pair_init(&pair, seed);
		feed_nonsense(&pair, 4000);
		flush_all(pair.fast);
		flush_all(pair.general);
		check_windows(&pair);
		check_counters(&pair);
		pair_fini(&pair);
	}
}

// ---- runs ----

#define HOPS 12

// A number at a bound of what counts as alike, or near it.
static uint64_t near_bound(struct hs_rng *rng)
{
	static const uint64_t bounds[] = {1, 4096, 16384, 32767, 65535, MS, 1u << 26, 1u << 27,
			1u << 25, SECOND / 2, SECOND, 1u << 30, 1ull << 31, 1ull << 32, 1ull << 62};
	return bounds[hs_rng_u32(rng) % (sizeof(bounds) / sizeof(bounds[0]))] +
	       hs_rng_u32(rng) % 5 - 2;
}

// One node, the source or the sink is off, from now on or in this report only.
static void disturb(struct hs_rng *rng, struct hs_report *next, struct hs_report *report)
{
	unsigned what = hs_rng_u32(rng) % 14;
	// What changes the path or the fields is rare, and soon over: the flow is no common one
	// then.
	bool unusual = what < 3;
	struct hs_report *at = !unusual && chance(rng, 2) ? next : report;
	struct hs_decoded *telemetry = &at->telemetry;
	struct hs_hop none = {0};
	struct hs_hop *hop = telemetry->n_hops
					     ? &telemetry->hops[hs_rng_u32(rng) % telemetry->n_hops]
					     : &none;
	uint64_t by = near_bound(rng);
	by = chance(rng, 2) ? by : 0 - by;
	switch (what) {
	case 0:
		hop->node_id = (uint16_t)(hop->node_id ^ (chance(rng, 8) ? 1u << 5 : 0));
		break;
	case 1:
		hop->bitmap ^= chance(rng, 8) ? HS_HOP_TIMESTAMP : 0;
		break;
	case 2:
		telemetry->e2e.bitmap ^= chance(rng, 4) ? HS_E2E_TX_BYTES : 0;
		break;
	case 3:
		hop->rx_bytes += (uint32_t)by;
		break;
	case 4:
		hop->rx_packets = (uint16_t)(hop->rx_packets + by);
		break;
	case 5:
		hop->tx_packets = (uint16_t)(hop->tx_packets + by);
		break;
	case 6:
		telemetry->e2e.ts_ns += by;
		break;
	case 7:
		telemetry->e2e.tx_packets += (uint32_t)by;
		break;
	case 8:
		telemetry->e2e.tx_bytes += (uint32_t)by;
		break;
	case 9:
		report->sink_ts_ns += (int64_t)by % SECOND;
		break;
	case 10:
		at->sink_rx_packets += at->sink_rx_packets + by < 1ull << 60 ? by : 0;
		break;
	case 11:
		at->sink_rx_bytes += at->sink_rx_bytes + by < 1ull << 60 ? by : 0;
		break;
	case 12:
		telemetry->e2e.tx_packets = (uint32_t)(by % 70000);
		break;
	default:
		hop->ts_ns += by;
	}
}

// As many packets of one size at each node, whose stamps differ by what queues make of it. A fast
// flow's bytes pass 2^32 within a run.
static void go_on(struct hs_rng *rng, bool fast, struct hs_report *report)
{
	int64_t elapsed_ns = fast || !chance(rng, 4) ? MS / 2 + hs_rng_u32(rng) % (5 * MS) : 0;
	uint32_t sent = 1 + hs_rng_u32(rng) % (chance(rng, 50) ? 33000 : 100) + 15000u * fast;
	uint32_t bytes = sent * (chance(rng, 50) ? hs_rng_u32(rng) % 70000 : 562u + 4000u * fast);
	struct hs_decoded *telemetry = &report->telemetry;
	telemetry->e2e.ts_ns += (uint64_t)elapsed_ns;
	telemetry->e2e.tx_packets += sent;
	telemetry->e2e.tx_bytes += bytes;
	report->sink_rx_packets += sent;
	report->sink_rx_bytes += bytes;
	report->sink_ts_ns += elapsed_ns;
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		struct hs_hop *hop = &telemetry->hops[i];
		hop->rx_packets = (uint16_t)(hop->rx_packets + sent);
		hop->tx_packets = (uint16_t)(hop->tx_packets + sent);
		hop->rx_bytes += bytes;
		hop->tx_bytes += bytes;
		hop->ts_ns += (uint64_t)elapsed_ns;
	}
}

static void scatter(struct hs_rng *rng, struct hs_report *report)
{
	for (unsigned i = 0; i < report->telemetry.n_hops; i++)
		report->telemetry.hops[i].ts_ns += hs_rng_u32(rng) % 5000;
}

static void feed_one(struct pair *pair, const struct hs_report *report)
{
	const struct hs_qos_key key = {1, 1, 1, 9};
	assert_int_equal(hs_qos_report(pair->fast, &key, report),
			hs_qos_report(pair->general, &key, report));
}

// Some reports come twice, or behind others: also behind others of the next window.
static void feed_runs(struct pair *pair, unsigned hops, unsigned n)
{
	static const uint16_t nodes[HOPS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct hs_report next = plain_report(1, MS, hops, nodes), held = next;
	uint32_t one_in = 20 + hs_rng_u32(&pair->rng) % 200;
	bool fast = chance(&pair->rng, 4);
	for (unsigned i = 0; i < n; i++) {
		go_on(&pair->rng, fast, &next);
		struct hs_report report = next;
		scatter(&pair->rng, &report);
		if (chance(&pair->rng, one_in))
			disturb(&pair->rng, &next, &report);
		hs_qos_advance(pair->fast, next.sink_ts_ns);
		hs_qos_advance(pair->general, next.sink_ts_ns);
		feed_one(pair, &report);
		if (chance(&pair->rng, one_in))
			feed_one(pair, &held);
		if (chance(&pair->rng, 10))
			held = report;
		if (chance(&pair->rng, 700))
			ask(pair, 1, next.sink_ts_ns);
		check_windows(pair);
	}
}

static void runs_end_before_the_first_report_that_is_not_like_the_others(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 240; seed += SIM_STEP) {
		struct pair pair;
		pair_init(&pair, seed);
		feed_runs(&pair, (unsigned)(seed % (HOPS + 1)), 6000);
		flush_all(pair.fast);
		flush_all(pair.general);
		check_windows(&pair);
		check_counters(&pair);
		pair_fini(&pair);
	}
}

// ---- what no run and no common report is ----

// An epoch begins with the sink's; its first stamp is half of all stamps ago. So reports that
// follow become older than it, by serial arithmetic, in the middle of what is placed.
static void a_run_ends_where_stamps_are_of_the_life_before(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {1};
	struct pair pair;
	pair_init(&pair, 1);
	for (uint64_t i = 1; i <= 100; i++) {
		struct hs_report report = plain_report(i, MS, 1, nodes);
		report.sink_rx_packets += i < 40 ? 1ull << 41 : 0;
		if (i == 40)
			report.telemetry.e2e.ts_ns = (uint64_t)(T0 + 70 * MS) - (1ull << 63);
		feed_one(&pair, &report);
	}
	check_same(hs_qos_latest(pair.fast, 1, 0), hs_qos_latest(pair.general, 1, 0));
	check_counters(&pair);
	pair_fini(&pair);
}

// A run is longer than what is remembered of the source's order. Its oldest report that is
// remembered is a neighbour of one that comes late.
static void a_late_report_finds_its_neighbours_in_a_long_run(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {1};
	for (uint64_t late = 30; late <= 42; late++) {
		struct pair pair;
		pair_init(&pair, late);
		for (uint64_t i = 1; i <= 101; i++) {
			struct hs_report report = plain_report(i <= 100 ? i : late, MS, 1, nodes);
			report.sink_ts_ns += (int64_t)(report.sink_rx_packets % 7 * US);
			if (i != late)
				feed_one(&pair, &report);
		}
		check_same(hs_qos_latest(pair.fast, 1, 0), hs_qos_latest(pair.general, 1, 0));
		check_counters(&pair);
		pair_fini(&pair);
	}
}

// Where nodes tell of themselves, the source has an id, and paths of the same nodes in between may
// begin at different ones.
static void delays_are_those_of_the_link_from_their_own_source(void **state)
{
	(void)state;
	static const struct hs_telemetry_family tells = {
			.name = "tells", .packet_bits = 32, .has_locals = true};
	for (uint64_t n = 600; n <= 2400; n += 1800) {
		struct pair pair;
		pair_init(&pair, n);
		for (uint64_t i = 1; i <= n; i++) {
			struct hs_report report = plain_report(i, MS / 4, 0, NULL);
			report.telemetry.family = &tells;
			report.telemetry.e2e.node_id = 5 + (uint32_t)(i / 7 % 2);
			report.sink_ts_ns += (int64_t)(i / 7 % 2 * 500 * US + i % 100 * US);
			feed_one(&pair, &report);
		}
		check_same(hs_qos_latest(pair.fast, 1, 0), hs_qos_latest(pair.general, 1, 0));
		flush_all(pair.fast);
		flush_all(pair.general);
		check_windows(&pair);
		pair_fini(&pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					reports_taken_together_by_the_short_cut_leave_the_numbers_of_one_by_one),
			cmocka_unit_test(nonsense_counts_are_reckoned_alike_by_both_ways),
			cmocka_unit_test(
					runs_end_before_the_first_report_that_is_not_like_the_others),
			cmocka_unit_test(a_run_ends_where_stamps_are_of_the_life_before),
			cmocka_unit_test(a_late_report_finds_its_neighbours_in_a_long_run),
			cmocka_unit_test(delays_are_those_of_the_link_from_their_own_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
