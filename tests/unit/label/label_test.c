// SPDX-License-Identifier: BSD-3-Clause
// The INT database and Pro's control loop, step by step, and against a model that keeps every item.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "label_pro.h"
#include "rng.h"

#define MS INT64_C(1000000)

static const struct hs_label_database_config usual = {
		.ports = 4, .series = 3, .interval_ns = 100 * MS, .age_ns = 1000 * MS};

static struct hs_label_database *make(const struct hs_label_database_config *config)
{
	struct hs_label_database *db;

	assert_int_equal(hs_label_database_create(config, &db), 0);
	return db;
}

static enum hs_label_taken take(struct hs_label_database *db, int64_t now_ns, uint16_t node,
		uint8_t port, uint64_t egress_us)
{
	const struct hs_label_item item = {.node_id = node,
			.egress_port = port,
			.ingress_us = egress_us - 7,
			.egress_us = egress_us,
			.enqueue_packets = (uint32_t)egress_us & 0xff};

	return hs_label_database_take(db, now_ns, &item);
}

// ---- the database ----

static void the_latest_item_of_a_port_is_kept_and_older_ones_are_refused(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);

	assert_int_equal(take(db, 1, 256, 1, 50), HS_LABEL_TAKEN_NEW);
	assert_int_equal(take(db, 2, 0, 1, 40), HS_LABEL_TAKEN_NEW); // another node
	assert_int_equal(take(db, 3, 256, 1, 49), HS_LABEL_TAKEN_OLDER);
	assert_int_equal(take(db, 3, 256, 1, 50), HS_LABEL_TAKEN_OLDER);
	assert_int_equal(hs_label_database_find(db, 256, 1)->received_ns, 1);
	assert_int_equal(take(db, 4, 256, 1, 51), HS_LABEL_TAKEN_NEWER);
	assert_int_equal(hs_label_database_find(db, 256, 1)->item.egress_us, 51);
	assert_int_equal(hs_label_database_find(db, 256, 1)->received_ns, 4);
	// The time of the wire wraps.
	assert_int_equal(take(db, 5, 1, 1, (UINT64_C(1) << 48) - 1), HS_LABEL_TAKEN_NEW);
	assert_int_equal(take(db, 6, 1, 1, 3), HS_LABEL_TAKEN_NEWER);
	assert_null(hs_label_database_find(db, 256, 2));
	hs_label_database_destroy(db);
}

static void a_datagram_is_taken_from_its_oldest_item_on(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);
	uint8_t items[2 * HS_LABEL_ITEM_BYTES];
	const struct hs_label_item newest = {.node_id = 1, .egress_port = 1, .egress_us = 9};
	const struct hs_label_item oldest = {.node_id = 1, .egress_port = 1, .egress_us = 8};
	const struct hs_label_export export = {.n_items = 2, .items = items};

	hs_label_item_write(&newest, items);
	hs_label_item_write(&oldest, items + HS_LABEL_ITEM_BYTES);
	hs_label_database_take_export(db, 1, &export);
	assert_int_equal(hs_label_database_taken(db)[HS_LABEL_TAKEN_NEW], 1);
	assert_int_equal(hs_label_database_taken(db)[HS_LABEL_TAKEN_NEWER], 1);
	hs_label_database_destroy(db);
}

static void memory_holds_so_many_ports_and_forgets_old_ones(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);

	for (uint8_t port = 1; port <= 4; port++)
		assert_int_equal(take(db, port * MS, 1, port, 10u * port), HS_LABEL_TAKEN_NEW);
	assert_int_equal(take(db, 5 * MS, 1, 5, 50), HS_LABEL_TAKEN_NO_ROOM);
	assert_int_equal(hs_label_database_set_active(db, 5 * MS, 1, 5, true), -ENOSPC);
	hs_label_database_step(db, 1001 * MS); // exactly as old as may be
	assert_int_equal(hs_label_database_count(db), 4);
	hs_label_database_step(db, 1002 * MS + 1);
	assert_int_equal(hs_label_database_count(db), 2);
	assert_int_equal(hs_label_database_forgotten(db), 2);
	assert_null(hs_label_database_find(db, 1, 1));
	assert_null(hs_label_database_find(db, 1, 2));
	// Those that moved have their own values.
	for (uint8_t port = 3; port <= 4; port++) {
		struct hs_label_value value;
		struct hs_label_entry *entry = hs_label_database_find(db, 1, port);
		assert_int_equal(entry->item.egress_us, 10u * port);
		assert_int_equal(hs_label_database_series(db, entry, &value, 1), 1);
		assert_int_equal(value.queue_packets, 10u * port);
		assert_int_equal(value.latency_us, 7);
	}
	// A node whose clock went back is heard after it was forgotten.
	assert_int_equal(take(db, 1003 * MS, 1, 1, 1), HS_LABEL_TAKEN_NEW);
	hs_label_database_destroy(db);
}

static void a_series_has_the_newest_values(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);
	struct hs_label_value values[8];

	for (unsigned i = 1; i <= 5; i++) {
		take(db, i, 1, 1, i);
		struct hs_label_entry *entry = hs_label_database_find(db, 1, 1);
		uint32_t n = hs_label_database_series(db, entry, values, 8);
		assert_int_equal(n, i < 3 ? i : 3);
		for (uint32_t v = 0; v < n; v++)
			assert_int_equal(values[v].received_ns, i - v);
		assert_int_equal(hs_label_database_series(db, entry, values, 1), 1);
	}
	hs_label_database_destroy(db);
}

static void coverage_counts_active_ports_of_each_interval(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);
	const struct hs_label_coverage *coverage = hs_label_database_coverage(db);

	hs_label_database_step(db, 250 * MS); // nothing is known: no interval counts
	hs_label_database_step(db, 450 * MS);
	assert_int_equal(coverage->intervals, 0);
	take(db, 510 * MS, 1, 1, 1);
	take(db, 520 * MS, 1, 2, 1);
	hs_label_database_step(db, 600 * MS); // 2 of 2
	assert_int_equal(coverage->intervals, 1);
	assert_int_equal(coverage->whole, 1);
	take(db, 600 * MS, 1, 1, 2);
	take(db, 699 * MS, 1, 2, 1); // older: not seen
	take(db, 700 * MS, 1, 2, 2); // 1 of 2 before it, then 1 of 2
	assert_int_equal(coverage->intervals, 2);
	assert_int_equal(coverage->last_seen, 1);
	assert_int_equal(hs_label_database_set_active(db, 750 * MS, 1, 1, false), 0);
	hs_label_database_step(db, 800 * MS); // 1 of 1
	assert_int_equal(coverage->last_ports, 1);
	assert_int_equal(hs_label_database_set_active(db, 800 * MS, 1, 3, true), 0);
	assert_int_equal(hs_label_database_set_active(db, 800 * MS, 9, 9, false), 0);
	hs_label_database_step(db, 1100 * MS); // 0 of 2, three times
	assert_int_equal(coverage->intervals, 6);
	assert_int_equal(coverage->whole, 2);
	assert_int_equal((int)(coverage->sum * 1000), 2500);
	assert_int_equal((int)(coverage->min * 1000), 0);
	hs_label_database_destroy(db);
}

// A port that a caller expects does not leave the coverage by being silent.
static void a_silent_port_that_is_expected_stays_and_is_not_seen(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);
	const struct hs_label_coverage *coverage = hs_label_database_coverage(db);

	assert_int_equal(hs_label_database_set_active(db, 0, 1, 1, true), 0);
	assert_int_equal(hs_label_database_set_active(db, 0, 1, 2, true), 0);
	take(db, 10 * MS, 1, 1, 900);
	take(db, 20 * MS, 1, 3, 900);
	hs_label_database_step(db, 2000 * MS); // twice age_ns
	assert_int_equal(hs_label_database_count(db), 2);
	assert_null(hs_label_database_find(db, 1, 3));
	const struct hs_label_entry *entry = hs_label_database_find(db, 1, 1);
	assert_false(entry->seen);
	assert_int_equal(entry->missed, 19);
	assert_int_equal(hs_label_database_find(db, 1, 2)->missed, 20);
	assert_int_equal(coverage->last_ports, 3); // of which the one that went was still known
	hs_label_database_step(db, 2100 * MS);
	assert_int_equal(coverage->last_ports, 2);
	assert_int_equal(coverage->last_seen, 0);
	assert_int_equal(hs_label_database_find(db, 1, 2)->missed, 21);
	// Its item has aged: a clock that went back is heard.
	assert_int_equal(take(db, 2110 * MS, 1, 1, 5), HS_LABEL_TAKEN_NEW);
	hs_label_database_step(db, 2200 * MS);
	assert_int_equal(hs_label_database_find(db, 1, 1)->missed, 0);
	assert_int_equal(coverage->last_seen, 1);
	// No packets leave by it any more: it goes as others do.
	assert_int_equal(hs_label_database_set_active(db, 2200 * MS, 1, 2, false), 0);
	hs_label_database_step(db, 2300 * MS);
	assert_null(hs_label_database_find(db, 1, 2));
	assert_int_equal(coverage->last_ports, 1);
	hs_label_database_set_unknown(db, 2300 * MS, 2); // another node
	hs_label_database_step(db, 4000 * MS);
	assert_non_null(hs_label_database_find(db, 1, 1));
	hs_label_database_set_unknown(db, 4000 * MS, 1);
	hs_label_database_step(db, 4100 * MS);
	assert_int_equal(hs_label_database_count(db), 0);
	uint64_t intervals = coverage->intervals;
	hs_label_database_step(db, 4200 * MS); // without an active port, it does not count
	assert_int_equal(coverage->intervals, intervals);
	assert_int_equal(coverage->last_ports, 0);
	assert_int_equal(coverage->last_seen, 0);
	hs_label_database_destroy(db);
}

// The model: every item that was accepted, and all sums anew.
#define MODEL_NODES 6
#define MODEL_STEPS 20000

struct model {
	bool seen;
	uint64_t egress_us;
	int64_t received_ns;
};

static void random_items_leave_what_a_simple_model_says(void **state)
{
	(void)state;
	const struct hs_label_database_config config = {
			.ports = 32, .series = 2, .interval_ns = 100 * MS, .age_ns = 400 * MS};
	struct hs_label_database *db = make(&config);
	struct model model[MODEL_NODES][4] = {0};
	const struct hs_label_coverage *coverage = hs_label_database_coverage(db);
	int64_t now = 0, interval = 0;
	uint64_t intervals = 0, older = 0, forgotten = 0;
	double sum = 0;
	struct hs_rng rng;

	hs_rng_init(&rng, 8);
	for (unsigned i = 0; i < MODEL_STEPS; i++) {
		now += hs_rng_u32(&rng) % (i % 5000 > 4900 ? 60 * MS : 3 * MS);
		for (; interval < now / config.interval_ns; interval++) {
			unsigned ports = 0, seen = 0;
			for (unsigned m = 0; m < MODEL_NODES * 4; m++) {
				struct model *at = &model[m / 4][m % 4];
				ports += at->seen;
				seen += at->seen &&
					at->received_ns / config.interval_ns == interval;
			}
			intervals += ports > 0;
			sum += ports ? (double)seen / ports : 0;
		}
		hs_label_database_step(db, now);
		for (unsigned m = 0; m < MODEL_NODES * 4; m++) {
			struct model *at = &model[m / 4][m % 4];
			if (!at->seen || now - at->received_ns <= config.age_ns)
				continue;
			at->seen = false;
			forgotten++;
		}
		uint16_t node = (uint16_t)(hs_rng_u32(&rng) % MODEL_NODES);
		uint8_t port = (uint8_t)(hs_rng_u32(&rng) % (node + 1) % 4);
		struct model *at = &model[node][port];
		uint64_t us = (uint64_t)now / 1000 + hs_rng_u32(&rng) % 20000;
		enum hs_label_taken should = !at->seen		  ? HS_LABEL_TAKEN_NEW
					     : us > at->egress_us ? HS_LABEL_TAKEN_NEWER
								  : HS_LABEL_TAKEN_OLDER;
		assert_int_equal(take(db, now, node, port, us), should);
		older += should == HS_LABEL_TAKEN_OLDER;
		if (should != HS_LABEL_TAKEN_OLDER)
			*at = (struct model){true, us, now};
		const struct hs_label_entry *entry = hs_label_database_find(db, node, port);
		assert_int_equal(entry->item.egress_us, at->egress_us);
		assert_int_equal(entry->received_ns, at->received_ns);
	}
	assert_int_equal(coverage->intervals, intervals);
	assert_true(coverage->sum > sum - 1e-6 && coverage->sum < sum + 1e-6);
	assert_int_equal(hs_label_database_taken(db)[HS_LABEL_TAKEN_OLDER], older);
	assert_int_equal(hs_label_database_forgotten(db), forgotten);
	assert_true(older > 100 && forgotten > 10 && intervals > 100);
	hs_label_database_destroy(db);
}

// ---- Pro ----

static const struct hs_label_pro pro = {
		.patience_ns = 100 * MS, .repeat_ns = 30 * MS, .max_shift = 3};

// What was told last, and whether the way to the nodes is open.
struct way {
	unsigned n;
	uint8_t shift;
	bool closed;
};

static bool tell(void *context, uint16_t node_id, uint8_t port, uint8_t shift)
{
	struct way *way = context;

	assert_int_equal(node_id, 1);
	assert_int_equal(port, 2);
	way->n++;
	way->shift = shift;
	return !way->closed;
}

static void step_tells(struct hs_label_database *db, int64_t now_ns, int shift)
{
	struct way way = {0};

	assert_int_equal(hs_label_pro_step(&pro, db, now_ns, tell, &way), shift >= 0);
	assert_int_equal(way.n, shift >= 0);
	if (shift < 0)
		return;
	assert_int_equal(way.shift, shift);
	hs_label_pro_confirm(db, 1, 2, (uint8_t)shift);
}

static void shift_goes_up_without_items_and_down_with_them(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);

	take(db, 0, 1, 2, 1);
	step_tells(db, 0, 0); // whatever a controller before said
	step_tells(db, 100 * MS, -1);
	step_tells(db, 101 * MS, 1);
	step_tells(db, 201 * MS, -1); // not sooner than k x T after the last change
	step_tells(db, 202 * MS, 2);
	step_tells(db, 303 * MS, 3);
	step_tells(db, 404 * MS, -1); // the greatest
	take(db, 450 * MS, 1, 2, 2);
	step_tells(db, 460 * MS, 2);
	take(db, 550 * MS, 1, 2, 3);
	step_tells(db, 560 * MS, -1);
	step_tells(db, 561 * MS, 1);
	take(db, 650 * MS, 1, 2, 4);
	step_tells(db, 670 * MS, 0);
	take(db, 760 * MS, 1, 2, 5);
	step_tells(db, 780 * MS, -1);
	assert_int_equal(hs_label_database_set_active(db, 780 * MS, 1, 2, false), 0);
	step_tells(db, 1500 * MS, -1); // no packets leave by it
	// When packets leave by it again, it has k x T to be heard.
	assert_int_equal(hs_label_database_set_active(db, 1510 * MS, 1, 2, true), 0);
	step_tells(db, 1520 * MS, -1);
	step_tells(db, 1611 * MS, 1);
	hs_label_database_destroy(db);
}

// T is 100 ms and k 0.2: a port that labels once in T is silent for longer than k x T, so S goes up
// until its items come in time.
static void shift_settles_where_items_come_within_a_part_of_the_interval(void **state)
{
	(void)state;
	static const struct hs_label_pro soon = {
			.patience_ns = 20 * MS, .repeat_ns = 30 * MS, .max_shift = 6};
	struct hs_label_database *db = make(&usual);
	struct way way = {0};
	uint64_t us = 1;
	int64_t labelled_ns = 0;

	for (int64_t now_ns = 0; now_ns < 2000 * MS; now_ns += MS) {
		unsigned n = way.n;
		if (now_ns - labelled_ns > 100 * MS >> way.shift) {
			take(db, now_ns, 1, 2, us++);
			labelled_ns = now_ns;
		}
		hs_label_pro_step(&soon, db, now_ns, tell, &way);
		if (way.n != n)
			hs_label_pro_confirm(db, 1, 2, (uint8_t)way.shift);
		if (now_ns < 500 * MS)
			continue;
		assert_in_range(way.shift, 1, 3); // not 0: 100 ms are too long
		assert_true(now_ns - labelled_ns <= 51 * MS);
	}
	assert_in_range(us, 1500 / 51, 2000 / 13);
	hs_label_database_destroy(db);
}

static void what_others_set_is_gone_on_from_or_told_again(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);

	take(db, 0, 1, 2, 1);
	step_tells(db, 0, 0);
	hs_label_pro_set(db, 50 * MS, 1, 2, 2);
	hs_label_pro_set(db, 50 * MS, 9, 9, 2); // nobody
	take(db, 140 * MS, 1, 2, 2);
	step_tells(db, 150 * MS, -1);
	step_tells(db, 151 * MS, 1);
	hs_label_pro_doubt(db, 1, 2, 1); // as it was told
	hs_label_pro_doubt(db, 9, 9, 1);
	step_tells(db, 152 * MS, -1);
	hs_label_pro_doubt(db, 1, 2, 3);
	step_tells(db, 153 * MS, 1);
	hs_label_database_destroy(db);
}

static void what_a_node_does_not_confirm_is_told_again(void **state)
{
	(void)state;
	struct hs_label_database *db = make(&usual);
	struct way way = {.closed = true};

	take(db, 0, 1, 2, 1);
	assert_int_equal(hs_label_pro_step(&pro, db, 0, tell, &way), 0);
	assert_int_equal(hs_label_pro_step(&pro, db, 1, tell, &way), 0);
	assert_int_equal(way.n, 2); // asked each time while the way is closed
	way.closed = false;
	assert_int_equal(hs_label_pro_step(&pro, db, 2 * MS, tell, &way), 1);
	assert_int_equal(hs_label_pro_step(&pro, db, 31 * MS, tell, &way), 0);
	assert_int_equal(hs_label_pro_step(&pro, db, 32 * MS, tell, &way), 1);
	hs_label_pro_confirm(db, 1, 2, 1); // of another change
	hs_label_pro_confirm(db, 9, 9, 0); // of nobody
	assert_int_equal(hs_label_pro_step(&pro, db, 62 * MS, tell, &way), 1);
	hs_label_pro_confirm(db, 1, 2, 0);
	assert_int_equal(hs_label_pro_step(&pro, db, 99 * MS, tell, &way), 0);
	hs_label_pro_restart(db, 2);
	assert_int_equal(hs_label_pro_step(&pro, db, 99 * MS, tell, &way), 0);
	hs_label_pro_restart(db, 1);
	assert_int_equal(hs_label_pro_step(&pro, db, 99 * MS, tell, &way), 1);
	hs_label_database_destroy(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					the_latest_item_of_a_port_is_kept_and_older_ones_are_refused),
			cmocka_unit_test(a_datagram_is_taken_from_its_oldest_item_on),
			cmocka_unit_test(memory_holds_so_many_ports_and_forgets_old_ones),
			cmocka_unit_test(a_series_has_the_newest_values),
			cmocka_unit_test(coverage_counts_active_ports_of_each_interval),
			cmocka_unit_test(a_silent_port_that_is_expected_stays_and_is_not_seen),
			cmocka_unit_test(random_items_leave_what_a_simple_model_says),
			cmocka_unit_test(shift_goes_up_without_items_and_down_with_them),
			cmocka_unit_test(
					shift_settles_where_items_come_within_a_part_of_the_interval),
			cmocka_unit_test(what_others_set_is_gone_on_from_or_told_again),
			cmocka_unit_test(what_a_node_does_not_confirm_is_told_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
