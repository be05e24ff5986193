// SPDX-License-Identifier: BSD-3-Clause
// A monitor that takes records as a worker makes them, without decoding those that it can place,
// beside one that is given all of them decoded: they must not differ in a single number. The same
// with other threads that help the former.
#include "qos_test.h"
#include "bytes.h"
#include "rng.h"
#include "sim.h"

#include <pthread.h>
#include <stdio.h>

#define ROUNDS 4
#define FLOWS  3 // all with the same reports, where threads help

enum help {
	NONE,
	IN_TURN, // at random times, by the owner's thread
	BESIDE,	 // by threads of their own
};

struct pair {
	struct hs_qos *by_record, *decoded;
	struct catcher records, decodes;
	struct hs_rng rng;
	enum help help;
	size_t placed, bad;
	_Atomic size_t helped;
	atomic_bool done;
};

static uint8_t *put_2(uint8_t *at, bool there, uint32_t value)
{
	hs_be16_store(at, (uint16_t)value);
	return there ? at + 2 : at;
}

static uint8_t *put_4(uint8_t *at, bool there, uint32_t value)
{
	hs_be32_store(at, value);
	return there ? at + 4 : at;
}

static uint8_t *put_8(uint8_t *at, bool there, uint64_t value)
{
	hs_be64_store(at, value);
	return there ? at + 8 : at;
}

static uint8_t *put_hop(uint8_t *at, const struct hs_hop *hop)
{
	at = put_2(at, true, hop->node_id);
	at = put_2(at, true, hop->bitmap);
	at = put_2(at, hop->bitmap & HS_HOP_PACKETS, hop->tx_packets);
	at = put_2(at, hop->bitmap & HS_HOP_PACKETS, hop->rx_packets);
	at = put_8(at, hop->bitmap & HS_HOP_TIMESTAMP, hop->ts_ns);
	at = put_4(at, hop->bitmap & HS_HOP_BYTES, hop->tx_bytes);
	return put_4(at, hop->bitmap & HS_HOP_BYTES, hop->rx_bytes);
}

static uint8_t *put_e2e(uint8_t *at, const struct hs_e2e *e2e)
{
	at = put_2(at, true, e2e->bitmap);
	at = put_4(at, e2e->bitmap & HS_E2E_INT_PACKETS, e2e->int_packets);
	at = put_8(at, e2e->bitmap & HS_E2E_TIMESTAMP, e2e->ts_ns);
	at = put_4(at, e2e->bitmap & HS_E2E_TX_PACKETS, e2e->tx_packets);
	return put_4(at, e2e->bitmap & HS_E2E_TX_BYTES, e2e->tx_bytes);
}

static void make_record(const struct hs_report *report, struct hs_report_record *record)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	uint8_t *at;
	*record = (struct hs_report_record){.sink_ts_ns = report->sink_ts_ns,
			.sink_rx_packets = report->sink_rx_packets,
			.sink_rx_bytes = report->sink_rx_bytes,
			.family = HS_TELEMETRY_FLEXINT};
	at = put_4(record->data, true, 7);
	at = put_4(at, true, telemetry->trace_type);
	for (unsigned i = 0; i < telemetry->n_hops; i++)
		at = put_hop(at, &telemetry->hops[i]);
	record->trace_len = (uint8_t)(at - record->data);
	record->e2e_len = (uint8_t)(put_e2e(at, &telemetry->e2e) - at);
}

// Some have other fields, another order of nodes, other bytes, or end early.
static void change(struct pair *pair, struct hs_report *report, struct hs_report_record *record)
{
	uint32_t any = hs_rng_u32(&pair->rng);
	struct hs_decoded *telemetry = &report->telemetry;
	struct hs_hop *hop = &telemetry->hops[any / 64 % (telemetry->n_hops + 1u)];
	switch (any % 64) {
	case 0:
		hop->bitmap &= (uint16_t)(any >> 16);
		break;
	case 1:
		telemetry->e2e.bitmap ^= HS_E2E_INT_PACKETS;
		break;
	case 2:
		telemetry->e2e.bitmap &= (uint16_t)(any >> 16);
		break;
	case 3:
		hop->node_id ^= 1;
		break;
	case 4:
		telemetry->n_hops -= telemetry->n_hops > 0;
		break;
	}
	make_record(report, record);
	if (any % 64 == 5)
		record->trace_len -= (uint8_t)(1 + (any >> 8) % 40);
	if (any % 64 == 6)
		record->e2e_len = (uint8_t)(any >> 8);
	if (any % 64 == 7)
		record->data[(any >> 8) % 120] ^= (uint8_t)(1u << (any >> 16) % 8);
}

static void take(struct pair *pair, const struct hs_report_record *record, uint32_t ns_id)
{
	struct hs_report report;
	struct hs_qos_key key = KEY;
	bool good = hs_report_decode(record, &hs_flexint_family, &report) == 0;
	uint32_t expected = hs_qos_expect(pair->by_record, ns_id);
	key.ns_id = ns_id;
	hs_qos_expect_next(pair->by_record, expected, record->sink_ts_ns);
	if (hs_qos_place(pair->by_record, expected, &key, record, &hs_flexint_family)) {
		assert_true(good);
		pair->placed++;
	} else if (good) {
		assert_int_equal(hs_qos_report(pair->by_record, &key, &report), 0);
	}
	pair->bad += !good;
	if (good)
		assert_int_equal(hs_qos_report(pair->decoded, &key, &report), 0);
}

// ---- help ----

static void *help_beside(void *context)
{
	struct pair *pair = context;
	while (!atomic_load(&pair->done))
		pair->helped += hs_qos_help(pair->by_record);
	return NULL;
}

// What is asked in the middle of offers must be as if there were none.
static void help_or_ask(struct pair *pair, int64_t now_ns)
{
	uint32_t any = hs_rng_u32(&pair->rng), ns_id = 7 + any / 1024 % FLOWS;
	if (pair->help == IN_TURN && any % 8 == 0)
		pair->helped += hs_qos_help(pair->by_record);
	if (any % 256 == 1)
		hs_qos_want_help(pair->by_record, any % 2048 > 256);
	if (any % 1024 == 2) {
		const struct hs_qos_window *a =
				hs_qos_slide(pair->by_record, ns_id, now_ns - SECOND / 4, now_ns);
		const struct hs_qos_window *b =
				hs_qos_slide(pair->decoded, ns_id, now_ns - SECOND / 4, now_ns);
		assert_int_equal(a ? a->reports : 0, b ? b->reports : 0);
	}
	if (any % 4096 == 3)
		assert_int_equal(hs_qos_remove(pair->by_record, ns_id),
				hs_qos_remove(pair->decoded, ns_id));
}

static void check_same(const struct caught *a, const struct caught *b)
{
	struct hs_qos_window windows[] = {a->window, b->window};
	char *texts[2];
	windows[0].hops = (struct hs_qos_hop *)a->hops;
	windows[0].path = (uint32_t *)a->path;
	windows[1].hops = (struct hs_qos_hop *)b->hops;
	windows[1].path = (uint32_t *)b->path;
	for (unsigned i = 0; i < 2; i++) {
		json_t *json = hs_qos_window_json(&windows[i], NULL);
		texts[i] = json_dumps(json, JSON_COMPACT);
		json_decref(json);
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

static struct hs_qos *helped_monitor(struct catcher *catcher)
{
	struct hs_qos_config config = {
			.max_flows = 16, .help = true, .on_window = catch_window, .user = catcher};
	struct hs_qos *qos;
	memset(catcher, 0, sizeof(*catcher));
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	hs_qos_want_help(qos, true);
	return qos;
}

static void begin(struct pair *pair, uint64_t seed)
{
	pair->by_record = pair->help ? helped_monitor(&pair->records) : monitor_new(&pair->records);
	pair->decoded = monitor_new(&pair->decodes);
	hs_rng_init(&pair->rng, seed);
}

static void advance(struct pair *pair, int64_t now_ns)
{
	hs_qos_advance(pair->by_record, now_ns);
	hs_qos_advance(pair->decoded, now_ns);
}

static void take_of_each_flow(struct pair *pair, const struct hs_report_record *record)
{
	for (unsigned flow = 0; flow < (pair->help ? FLOWS : 1); flow++)
		take(pair, record, KEY.ns_id + flow);
}

static void end(struct pair *pair)
{
	flush_all(pair->by_record);
	flush_all(pair->decoded);
	assert_int_equal(pair->records.n, pair->decodes.n);
	assert_true(pair->records.n > 10);
	for (size_t i = 0; i < pair->records.n; i++)
		check_same(&pair->records.windows[i], &pair->decodes.windows[i]);
	monitor_free(pair->by_record, &pair->records);
	monitor_free(pair->decoded, &pair->decodes);
}

static void with_seed(struct pair *pair, uint64_t seed, bool changed)
{
	struct sim_config config = sim_defaults(seed);
	struct sim_result truth;
	pthread_t threads[2];
	sim_run(&config, &truth);
	begin(pair, seed);
	for (unsigned i = 0; pair->help == BESIDE && i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, help_beside, pair), 0);
	for (size_t i = 0; i < truth.n_reports; i++) {
		struct hs_report_record record;
		struct hs_report *report = &truth.reports[i].report;
		advance(pair, report->sink_ts_ns);
		if (changed)
			change(pair, report, &record);
		else
			make_record(report, &record);
		take_of_each_flow(pair, &record);
		if (pair->help)
			help_or_ask(pair, report->sink_ts_ns);
	}
	flush_all(pair->by_record); // while others help
	atomic_store(&pair->done, true);
	for (unsigned i = 0; pair->help == BESIDE && i < 2; i++)
		pthread_join(threads[i], NULL);
	end(pair);
	sim_free(&truth);
}

static void records_tell_what_decoded_reports_tell(void **state)
{
	(void)state;
	struct pair pair = {0};
	with_seed(&pair, 1, false);
	assert_true(pair.placed > 9000);
	assert_int_equal(pair.bad, 0);
}

static void so_they_do_where_some_are_not_usual_or_damaged(void **state)
{
	(void)state;
	struct pair pair = {0};
	for (uint64_t seed = 2; seed < 2 + ROUNDS; seed++)
		with_seed(&pair, seed, true);
	assert_true(pair.placed > 1000);
	assert_true(pair.bad > 100);
}

static void help_changes_no_number(void **state)
{
	(void)state;
	for (uint64_t seed = 2; seed < 2 + 2 * ROUNDS; seed++) {
		struct pair pair = {.help = IN_TURN};
		with_seed(&pair, seed, seed % 2);
		assert_true(pair.helped > (seed % 2 ? 0 : 2000));
	}
}

static void nor_does_help_by_other_threads(void **state)
{
	(void)state;
	size_t helped = 0;
	for (uint64_t seed = 2; seed < 2 + ROUNDS; seed++) {
		struct pair pair = {.help = BESIDE};
		with_seed(&pair, seed, seed % 2);
		helped += pair.helped;
	}
	assert_true(helped > 0);
}

// ---- windows that begin and end ----

static bool one_in(struct pair *pair, uint32_t n)
{
	return hs_rng_u32(&pair->rng) % n == 0;
}

// A report after a time that is sometimes longer than two windows. Sometimes the sink's clock
// steps.
static void go_on(struct pair *pair, struct hs_report *report, int64_t *sink_ns)
{
	static const uint16_t nodes[] = {1, 2};
	uint64_t number = report->sink_rx_packets + 1 + hs_rng_u32(&pair->rng) % 3;
	int64_t source_ns = (int64_t)report->telemetry.e2e.ts_ns;
	source_ns += one_in(pair, 60) ? hs_rng_u32(&pair->rng) % (2500 * MS)
				      : hs_rng_u32(&pair->rng) % (3 * MS);
	if (one_in(pair, 400))
		*sink_ns += (int64_t)(hs_rng_u32(&pair->rng) % (6 * SECOND)) - 3 * SECOND;
	if (one_in(pair, 10)) // windows end and close at such times
		source_ns += 100 * MS - (source_ns + 3 * MS + *sink_ns) % (100 * MS);
	*report = plain_report(number, 0, 2, nodes);
	report->telemetry.e2e.ts_ns = (uint64_t)source_ns;
	for (unsigned i = 0; i < 2; i++)
		hop_of(report, i)->ts_ns = (uint64_t)(source_ns + (i + 1) * MS);
	report->sink_ts_ns = source_ns + 3 * MS + *sink_ns;
}

// What changes the windows that are open.
static void mark_or_step(struct pair *pair, struct hs_qos_clock *clock)
{
	if (one_in(pair, 100)) {
		hs_qos_mark(pair->by_record, KEY.ns_id, HS_QOS_RULES_DIFFER);
		hs_qos_mark(pair->decoded, KEY.ns_id, HS_QOS_RULES_DIFFER);
	}
	if (one_in(pair, 100)) {
		clock->steps++;
		hs_qos_set_clock(pair->by_record, clock);
		hs_qos_set_clock(pair->decoded, clock);
	}
}

// Reports come at any time: with windows between, late, and whether or not the windows of the time
// before were closed.
static void windows_begin_and_end_alike(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3 * ROUNDS; seed++) {
		struct pair pair = {.help = seed % 2 ? NONE : IN_TURN};
		struct hs_qos_clock clock = {.known = true};
		struct hs_report report = plain_report(1, 0, 0, NULL), held = {0};
		struct hs_report_record record;
		int64_t sink_ns = 0;
		begin(&pair, seed);
		for (unsigned i = 0; i < 6000; i++) {
			go_on(&pair, &report, &sink_ns);
			make_record(&report, &record);
			take_of_each_flow(&pair, &record);
			if (held.sink_rx_packets && one_in(&pair, 20)) {
				make_record(&held, &record);
				take_of_each_flow(&pair, &record);
				held = (struct hs_report){0};
			}
			if (one_in(&pair, 40))
				held = report;
			if (one_in(&pair, seed % 3 ? 4 : 1000))
				advance(&pair, report.sink_ts_ns);
			mark_or_step(&pair, &clock);
			if (pair.help)
				help_or_ask(&pair, report.sink_ts_ns);
		}
		assert_true(pair.placed > 2000);
		end(&pair);
	}
}

// ---- the limit of memory ----

static bool place(struct hs_qos *qos, const struct hs_report *report)
{
	struct hs_report_record record;
	make_record(report, &record);
	return hs_qos_place(qos, hs_qos_expect(qos, KEY.ns_id), &KEY, &record, &hs_flexint_family);
}

// Gives a monitor the first `n` reports of a flow, which is offered then. Adding up may remove
// flows from now on.
static struct hs_qos *offered_at_limit(struct catcher *catcher, uint64_t n)
{
	struct hs_qos *qos = helped_monitor(catcher);
	struct hs_report report = plain_report(1, MS, 2, (const uint16_t[]){1, 2});
	give(qos, &report);
	for (uint64_t i = 2; i <= n; i++) {
		report = plain_report(i, MS, 2, (const uint16_t[]){1, 2});
		if (!place(qos, &report))
			give(qos, &report);
	}
	hs_qos_want_help(qos, false);
	qos->memory.limit_bytes = 1;
	return qos;
}

// The ring is due then: further reports would be added up.
static void no_flow_is_removed_before_its_report_is_placed(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = offered_at_limit(&catcher, 256);
	struct hs_report report = plain_report(1010, MS, 2, (const uint16_t[]){1, 2});
	assert_true(hs_qos_find(qos, KEY.ns_id)->place->offered);
	place(qos, &report);
	assert_int_equal(qos->counters.flows, 1);
	monitor_free(qos, &catcher);
}

static void a_flow_may_be_removed_after_its_report(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = offered_at_limit(&catcher, 255);
	struct hs_report report = plain_report(3000, MS, 2, (const uint16_t[]){1, 2});
	give(qos, &report);
	assert_int_equal(qos->counters.flows, 0);
	assert_int_equal(qos->memory.evicted, 1);
	monitor_free(qos, &catcher);
}

// Where a window has more reports than memory holds, delays go into histograms while the reports
// are at hand: also after one that is added alone, and in the windows that follow.
static void delays_of_long_windows_are_folded_as_they_come(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {1, 2};
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (uint64_t i = 1; i <= 20000; i++) {
		uint64_t lost = i >= 8010;
		struct hs_report report = plain_report(i, SECOND / 5000, 2, nodes);
		report.telemetry.e2e.tx_packets += (uint32_t)lost;
		hs_qos_advance(qos, report.sink_ts_ns);
		give(qos, &report);
		if (i % 100)
			continue;
		struct hs_qos_flow *flow = hs_qos_find(qos, KEY.ns_id);
		hs_qos_settle(qos, flow);
		if (i >= 2000 && i != 8100) // the next hundred make up for those behind the loss
			assert_int_equal(flow->unfolded, flow->ring.next);
	}
	monitor_free(qos, &catcher);
}

// Delays that differ by 60 ms from that of the first report, always or in turn: over a run, the
// differences add up to more than 32 bits hold.
static void delays_of_a_run_add_up_to_more_than_32_bits(void **state)
{
	(void)state;
	static const int64_t minute[HS_QOS_WINDOWS] = {60 * SECOND};
	for (unsigned in_turn = 0; in_turn < 2; in_turn++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_with(&catcher, minute);
		int64_t sum = 0, jitter = 0, before = 70 * MS;
		for (unsigned i = 1; i <= 60; i++) {
			struct hs_report report = plain_report(i, 125 * MS, 0, NULL);
			int64_t ns = i == 1 ? before : in_turn && i % 2 ? 10 * MS : 130 * MS;
			report.sink_ts_ns = (int64_t)report.telemetry.e2e.ts_ns + ns;
			give(qos, &report);
			sum += ns;
			jitter += llabs(ns - before);
			before = ns;
		}
		flush_all(qos);
		const struct hs_qos_hop *e2e = &caught_at(&catcher, minute[0], 0)->window.e2e;
		assert_int_equal(e2e->delay.mean, sum / 60);
		assert_int_equal(e2e->jitter_ns, (jitter + 29) / 59);
		monitor_free(qos, &catcher);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(records_tell_what_decoded_reports_tell),
			cmocka_unit_test(so_they_do_where_some_are_not_usual_or_damaged),
			cmocka_unit_test(help_changes_no_number),
			cmocka_unit_test(nor_does_help_by_other_threads),
			cmocka_unit_test(windows_begin_and_end_alike),
			cmocka_unit_test(no_flow_is_removed_before_its_report_is_placed),
			cmocka_unit_test(a_flow_may_be_removed_after_its_report),
			cmocka_unit_test(delays_of_long_windows_are_folded_as_they_come),
			cmocka_unit_test(delays_of_a_run_add_up_to_more_than_32_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
