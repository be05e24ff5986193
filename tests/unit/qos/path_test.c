// SPDX-License-Identifier: BSD-3-Clause
// Paths that no one would build on purpose, and more of them than are remembered.
#include "qos_fixture.h"

#include "rng.h"

#include <errno.h>

static const uint16_t LOOP[] = {3, 4, 3, 4, 3, 4, 3, 4, 3, 4};
#define LOOP_NODES (sizeof(LOOP) / sizeof(LOOP[0]))

// ---- links that a path passes more than once ----

static void a_path_that_passes_a_link_again_and_again_writes_only_what_is_its_own(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 4000; i++) {
		struct hs_report report = plain_report(i, MS / 2, LOOP_NODES, LOOP);
		give(f->qos, &report);
		if (i % 500 == 0)
			assert_non_null(hs_qos_latest(f->qos, 7, 0));
	}
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_int_equal(caught->window.n_hops, LOOP_NODES + 1);
	for (unsigned i = 0; i < caught->window.n_hops; i++) {
		const struct hs_qos_hop *hop = &caught->hops[i];
		assert_int_equal(hop->delay.n, caught->window.reports);
		assert_true(hop->has & HS_QOS_HAS_P999);
		assert_int_equal(hop->delay.p50, MS);
		assert_int_equal(hop->delay.p999, MS);
	}
}

static void each_passage_of_a_link_has_numbers_of_its_own(void **state)
{
	static const uint16_t path[] = {1, 2, 1, 2};
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain_report(i, GAP, 4, path);
		hop_of(&report, 3)->ts_ns += 4 * MS; // slow on the second passage, and lossy
		hop_of(&report, 3)->rx_packets -= (uint16_t)(i / 100);
		hop_of(&report, 3)->tx_packets -= (uint16_t)(i / 100);
		report.sink_ts_ns += 4 * MS;
		report.sink_rx_packets -= i / 100;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	static const uint16_t ends[] = {0, 1, 2, 1, 2, 9};
	assert_int_equal(caught->window.n_hops, 5);
	for (unsigned i = 0; i < 5; i++) {
		const struct hs_qos_hop *hop = &caught->hops[i];
		assert_int_equal(hop->from, ends[i]);
		assert_int_equal(hop->to, ends[i + 1]);
		assert_int_equal(hop->delay.n, 9);
		assert_int_equal(hop->delay.min, i == 3 ? 5 * MS : MS);
		assert_int_equal(hop->delay.p50, hop->delay.min);
		assert_int_equal(hop->delay.max, hop->delay.min);
		assert_int_equal(hop->jitter_ns, 0);
		assert_int_equal(hop->lost_packets, i == 3 ? 8 : 0);
		assert_int_equal(hop->tx_packets, i == 4 ? 792 : 800);
		assert_int_equal(hop->throughput_bps, 562 * 8 * 1000);
	}
	assert_int_equal(caught->window.unattributed_lost_packets, 0);
}

static void nodes_that_were_given_no_id_are_told_apart_by_their_place(void **state)
{
	static const uint16_t path[] = {0, 0, 0};
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 3000; i++) {
		struct hs_report report = plain_report(i, MS / 2, 3, path);
		hop_of(&report, 2)->ts_ns += 7 * MS + (int64_t)(i % 10) * US;
		report.sink_ts_ns += 8 * MS;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_int_equal(caught->window.n_hops, 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct hs_qos_delay *delay = &caught->hops[i].delay;
		assert_true(delay->n > 1000);
		assert_true(delay->min <= delay->p50 && delay->p50 <= delay->max);
		assert_int_equal(delay->min / MS, i == 2 ? 8 : 1);
	}
}

// ---- more links than are remembered ----

// Late reports by paths of their own do not move the newest path, but need links. The paths have
// no node in common, so nothing but delays can be told of their links.
static void links_of_the_newest_path_are_not_given_away(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 600; i++) {
		struct hs_report report = plain_report(i, 10 * MS, 2, PATH);
		give(f->qos, &report);
		if (i < 300 || i >= 500)
			continue;
		const uint16_t other[] = {(uint16_t)(1000 + 2 * i), (uint16_t)(1001 + 2 * i)};
		struct hs_report late = plain_report(i - 5, 10 * MS, 2, other);
		late.sink_ts_ns = report.sink_ts_ns;
		late.sink_rx_packets = i;
		give(f->qos, &late);
	}
	hs_qos_advance(f->qos, T0 + 8 * SECOND);
	for (int64_t second = 2; second <= 6; second++) {
		const struct caught *caught =
				caught_ending(&f->catcher, SECOND, T0 + second * SECOND);
		static const uint16_t ends[] = {0, 1, 2, 9};
		bool alone = second <= 3;
		assert_int_equal(caught->window.flags, alone ? 0 : HS_QOS_MULTIPATH);
		for (unsigned i = 0; i < 3; i++) {
			assert_int_equal(caught->hops[i].from, ends[i]);
			assert_int_equal(caught->hops[i].to, ends[i + 1]);
			assert_int_equal(caught->hops[i].delay.n, 100);
			assert_int_equal(caught->hops[i].delay.p50, MS);
			assert_int_equal(!!(caught->hops[i].has & HS_QOS_HAS_LOSS), alone);
			assert_int_equal(caught->hops[i].rx_packets, alone ? 100 : 0);
			assert_int_equal(caught->hops[i].lost_packets, 0);
		}
	}
}

// A link that made room and came back has only what was measured since.
static void a_link_that_comes_back_has_as_many_percentiles_as_delays(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 90; i++) {
		bool again = i <= 5 || i > 80;
		const uint16_t other[] = {(uint16_t)(10 + 3 * i), (uint16_t)(11 + 3 * i),
				(uint16_t)(12 + 3 * i)};
		struct hs_report report =
				plain_report(i, 10 * MS, again ? 2 : 3, again ? PATH : other);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_window *window = hs_qos_latest(f->qos, 7, SECOND);
	unsigned found = 0;
	for (unsigned i = 0; i < window->n_hops; i++) {
		const struct hs_qos_hop *hop = &window->hops[i];
		assert_true(!hop->delay.n || hop->has & HS_QOS_HAS_P50);
		if (hop->from != 1 || hop->to != 2)
			continue;
		found++;
		assert_int_equal(hop->delay.n, 10);
		assert_int_equal(hop->delay.p50, MS);
	}
	assert_int_equal(found, 1);
}

// ---- memory ----

static struct hs_report on_random_path(struct hs_rng *rng, uint64_t number)
{
	uint16_t path[8];
	unsigned n = 1 + hs_rng_u32(rng) % 8;
	for (unsigned i = 0; i < n; i++)
		path[i] = (uint16_t)hs_rng_u32(rng);
	return plain_report(number, GAP, n, path);
}

// Hostile flows send each report by a path of its own; usual ones come before, between and behind.
static void random_paths_push_nobody_out_and_keep_to_the_limit(void **state)
{
	(void)state;
	enum {
		USUAL = 20,
		HOSTILE = 40,
		FLOWS = USUAL + HOSTILE
	};
	const struct hs_qos_config config = {.max_flows = FLOWS, .memory_bytes = 16 << 20};
	struct hs_qos_memory memory;
	struct hs_qos *qos;
	struct hs_rng rng;
	hs_rng_init(&rng, 3);
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint64_t i = 1; i <= 3000; i++) {
		for (uint32_t flow = 1; flow <= FLOWS; flow++) {
			struct hs_qos_key key = {flow, 1, 1, 9};
			bool hostile = flow % 3;
			struct hs_report report = hostile ? on_random_path(&rng, i) : plain(i);
			if (flow > FLOWS / 2 && i < 1000)
				continue; // comes when there is no memory left
			int rc = hs_qos_report(qos, &key, &report);
			assert_true(!rc || (hostile && rc == -ENOSPC));
		}
		hs_qos_memory(qos, &memory);
		assert_true(memory.bytes <= memory.limit_bytes);
	}
	assert_true(memory.evicted > 0);
	for (uint32_t flow = 3; flow <= FLOWS; flow += 3) {
		const struct hs_qos_window *run = hs_qos_latest(qos, flow, 0);
		assert_int_equal(run->reports, flow > FLOWS / 2 ? 2001 : 3000);
		assert_int_equal(run->flags, 0);
		assert_int_equal(run->e2e.lost_packets, 0);
	}
	struct hs_qos_counters counters;
	hs_qos_counters(qos, &counters);
	hs_qos_memory(qos, &memory);
	assert_true(counters.bytes <= memory.limit_bytes + (1 << 20));
	hs_qos_destroy(qos);
}

static void one_flow_takes_no_more_than_is_said(void **state)
{
	struct fixture *f = *state;
	struct hs_qos_counters counters;
	struct hs_rng rng;
	hs_rng_init(&rng, 5);
	for (uint64_t i = 1; i <= 20000; i++) {
		struct hs_report report = on_random_path(&rng, i);
		for (unsigned j = 0; j < report.telemetry.n_hops; j++)
			report.telemetry.hops[j].ts_ns = hs_rng_u64(&rng);
		give(f->qos, &report);
	}
	hs_qos_counters(f->qos, &counters);
	assert_true(counters.bytes > 512 << 10);
	assert_true(counters.bytes <= hs_qos_most_bytes());
}

// The packets take another path, and their source starts again if `anew`, after a window has ended
// and before it closes.
static void change_path_before_closing(struct fixture *f, bool anew)
{
	static const uint16_t other[] = {1, 5};
	for (uint64_t i = 1; i <= 1010; i++) {
		bool later = i >= 1000; // at 10 s
		struct hs_report report = plain_report(i, 10 * MS, 2, later ? other : PATH);
		if (later && anew) {
			report.telemetry.e2e.tx_packets = (uint32_t)(i - 999);
			report.telemetry.e2e.tx_bytes = (uint32_t)(i - 999) * 562;
		}
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 12 * SECOND);
}

static void a_window_has_the_path_of_its_own_reports(void **state)
{
	struct fixture *f = *state;
	for (int anew = 0; anew <= 1; anew++) {
		change_path_before_closing(f, anew);
		for (int64_t length = SECOND; length <= 10 * SECOND; length += 9 * SECOND) {
			const struct caught *caught =
					caught_ending(&f->catcher, length, T0 + 10 * SECOND);
			assert_non_null(caught);
			assert_int_equal(caught->window.n_path, 4);
			assert_int_equal(caught->path[2], PATH[1]);
			assert_int_equal(caught->window.n_hops, 3);
			assert_int_equal(caught->hops[2].from, PATH[1]);
			assert_false(caught->window.path_changed);
		}
		assert_int_equal(second_ending(f, 11)->path[2], 5);
		monitor_free(f->qos, &f->catcher);
		f->qos = monitor_new(&f->catcher);
	}
}

static void give_from(struct fixture *f, uint64_t from, uint64_t to, const uint16_t *path)
{
	for (uint64_t i = from; i < to; i++) {
		struct hs_report report = plain_report(i, 10 * MS, 2, path);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + (int64_t)to * 10 * MS + SECOND);
}

// No report comes in the last seconds of the window, and one comes after its end, before it closes.
static void a_window_has_its_own_path_after_a_gap(void **state)
{
	static const uint16_t second[] = {1, 5}, third[] = {1, 6};
	struct fixture *f = *state;
	give_from(f, 1, 350, PATH);
	give_from(f, 510, 550, second);
	struct hs_report report = plain_report(1001, 10 * MS, 2, third);
	give(f->qos, &report);
	hs_qos_advance(f->qos, T0 + 12 * SECOND);
	const struct caught *caught = caught_ending(&f->catcher, 10 * SECOND, T0 + 10 * SECOND);
	assert_non_null(caught);
	assert_int_equal(caught->path[2], second[1]);
	assert_true(caught->window.path_changed);
	assert_int_equal(second_ending(f, 11)->path[2], third[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_path_that_passes_a_link_again_and_again_writes_only_what_is_its_own),
			TEST(each_passage_of_a_link_has_numbers_of_its_own),
			TEST(nodes_that_were_given_no_id_are_told_apart_by_their_place),
			TEST(links_of_the_newest_path_are_not_given_away),
			cmocka_unit_test(random_paths_push_nobody_out_and_keep_to_the_limit),
			TEST(one_flow_takes_no_more_than_is_said),
			TEST(a_link_that_comes_back_has_as_many_percentiles_as_delays),
			TEST(a_window_has_the_path_of_its_own_reports),
			TEST(a_window_has_its_own_path_after_a_gap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
