// SPDX-License-Identifier: BSD-3-Clause
// Every published number beside what it should be.
#include "outcome_fixture.h"

#include "outcome_parts.h"

#include <string.h>

static int setup(void **state)
{
	fixture_setup(state);
	struct fixture *f = *state;
	fixture_send(f);
	return 0;
}

// The windows of fixture_tell_all, and before and after them, so that all reports are in one.
static void tell_everything(struct fixture *f)
{
	fixture_tell(f, (struct told){.end = 1, .a = 5, .b = 10, .reports = 2});
	fixture_tell_all(f);
	fixture_tell(f, (struct told){.end = 4, .a = 30, .b = 40, .reports = 2});
}

static uint64_t mismatches(struct fixture *f)
{
	fixture_compute(f);
	return f->outcome->totals[0].number_mismatches;
}

// Of window 2, as told, after a change to its hop (2: end to end).
static uint32_t mask_of(struct fixture *f, int hop, const char *key, json_t *value)
{
	json_t *root = fixture_window(
			f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 2, .lost = {0, 1}});
	json_t *body = json_object_get(root, "qos_report");
	json_t *at = hop < 2 ? json_array_get(json_object_get(body, "hops"), (size_t)hop)
			     : json_object_get(body, "e2e");
	const char *dot = strchr(key, '.');
	json_t *object = dot ? json_object_get(at, "delay_ns") : at;
	assert_non_null(json_object_get(object, dot ? dot + 1 : key));
	if (value)
		json_object_set_new(object, dot ? dot + 1 : key, value);
	else
		json_object_del(object, dot ? dot + 1 : key);
	tell_everything(f);
	fixture_publish(f, root);
	uint64_t windows = mismatches(f);
	const struct hs_outcome_window *window = &f->outcome->windows[2];
	uint32_t mask = f->outcome->hops[window->first_hop + (size_t)hop].mismatches;
	assert_int_equal(windows, mask != 0);
	return mask;
}

static uint32_t bit_of(const char *name)
{
	for (unsigned i = 0; hs_outcome_match_name(i); i++)
		if (!strcmp(hs_outcome_match_name(i), name))
			return UINT32_C(1) << i;
	fail_msg("no number is called %s", name);
	return 0;
}

static void a_run_that_is_told_exactly_matches(void **state)
{
	struct fixture *f = *state;
	tell_everything(f);
	assert_int_equal(mismatches(f), 0);
}

static void a_percentile_is_exact_up_to_1000_delays_and_within_a_64th_beyond(void **state)
{
	(void)state;
	assert_true(hs_outcome_match_percentile(1000, 5000, 5000, 0));
	assert_false(hs_outcome_match_percentile(1000, 5001, 5000, 0));
	assert_false(hs_outcome_match_percentile(1000, 4999, 5000, 0));
	// 6400 away from the first delay: 100, and 1 for rounding.
	for (int sign = -1; sign <= 1; sign += 2) {
		assert_true(hs_outcome_match_percentile(1001, 7400 + sign * 101, 7400, 1000));
		assert_false(hs_outcome_match_percentile(1001, 7400 + sign * 102, 7400, 1000));
		assert_true(hs_outcome_match_percentile(1001, -5400 + sign * 101, -5400, 1000));
		assert_false(hs_outcome_match_percentile(1001, -5400 + sign * 102, -5400, 1000));
	}
}

static void each_number_that_is_off_by_one_is_named(void **state)
{
	(void)state;
	static const struct {
		const char *key;
		json_int_t value; // true, of the second hop in window 2
	} numbers[] = {{"delay_ns.mean", 20 * MS}, {"delay_ns.min", 20 * MS},
			{"delay_ns.p50", 20 * MS}, {"delay_ns.max", 20 * MS}, {"jitter_ns", 0},
			{"throughput_bps", 9 * 562 * 8}, {"rx_packets", 9}, {"rx_bytes", 9 * 562}};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (int off = 0; off < 2; off++) {
			void *own;
			setup(&own);
			uint32_t mask = mask_of(own, 1, numbers[i].key,
					json_integer(numbers[i].value + off));
			assert_int_equal(mask, off ? bit_of(numbers[i].key) : 0);
			fixture_teardown(&own);
		}
	}
}

static void losses_of_links_and_nodes_are_compared(void **state)
{
	assert_int_equal(mask_of(*state, 0, "node_lost_packets", json_integer(1)),
			bit_of("node_lost_packets"));
}

static void lost_packets_are_compared_end_to_end(void **state)
{
	assert_int_equal(mask_of(*state, 2, "lost_packets", json_integer(2)),
			bit_of("lost_packets"));
}

static void a_number_that_other_windows_have_must_not_be_left_out(void **state)
{
	assert_int_equal(mask_of(*state, 1, "jitter_ns", NULL), bit_of("jitter_ns"));
}

static void a_number_that_no_window_has_is_not_missed(void **state)
{
	struct fixture *f = *state;
	json_t *root = fixture_window(
			f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 2, .lost = {0, 1}});
	json_t *hops = json_object_get(json_object_get(root, "qos_report"), "hops");
	fixture_tell(f, (struct told){.end = 1, .a = 5, .b = 10, .reports = 2, .stale = true});
	json_object_del(json_array_get(hops, 1), "jitter_ns");
	fixture_publish(f, root);
	fixture_compute(f);
	assert_int_equal(f->outcome->hops[f->outcome->windows[1].first_hop + 1].mismatches, 0);
}

static void a_window_that_nobody_published_counts(void **state)
{
	struct fixture *f = *state;
	fixture_tell_all(f); // the first and the fourth second have reports too
	assert_int_equal(mismatches(f), 2);
}

static void other_reports_than_arrived_count(void **state)
{
	struct fixture *f = *state;
	tell_everything(f);
	fixture_tell(f, (struct told){.end = 4, .a = 30, .b = 40, .reports = 3});
	assert_int_equal(mismatches(f), 1);
}

static void a_stale_window_with_reports_counts(void **state)
{
	struct fixture *f = *state;
	tell_everything(f);
	fixture_tell(f, (struct told){.end = 4, .a = 30, .b = 40, .stale = true});
	assert_int_equal(mismatches(f), 1);
}

static void a_way_without_its_last_hop_counts(void **state)
{
	struct fixture *f = *state;
	json_t *root = fixture_window(
			f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 2, .lost = {0, 1}});
	json_array_remove(json_object_get(json_object_get(root, "qos_report"), "hops"), 1);
	tell_everything(f);
	fixture_publish(f, root);
	assert_int_equal(mismatches(f), 1);
	assert_true(f->outcome->windows[2].way_differs);
}

static void a_hop_may_stand_for_two_links(void **state)
{
	struct fixture *f = *state;
	json_t *root = fixture_window(
			f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 2, .lost = {0, 1}});
	json_t *hops = json_object_get(json_object_get(root, "qos_report"), "hops");
	json_array_remove(hops, 1);
	json_object_set_new(json_array_get(hops, 0), "to", json_integer(9));
	fixture_publish(f, root);
	fixture_compute(f);
	assert_false(f->outcome->windows[0].way_differs);
}

// A window whose second hop received fewer than none.
static void tell_negative(struct fixture *f, const char *flag)
{
	json_t *root = fixture_window(f, (struct told){.end = 3,
							 .a = 20,
							 .b = 30,
							 .reports = 2,
							 .lost = {0, 1},
							 .flag = flag});
	json_t *hops = json_object_get(json_object_get(root, "qos_report"), "hops");
	json_object_set_new(json_array_get(hops, 1), "rx_packets", json_integer(-1));
	fixture_publish(f, root);
	fixture_compute(f);
}

static void a_negative_count_without_a_flag_fails_every_scenario(void **state)
{
	struct fixture *f = *state;
	tell_negative(f, NULL);
	assert_int_equal(f->outcome->totals[0].negative, 1);
	assert_string_equal(hs_outcome_broken(f->outcome, 0)->metric, "negative_windows");
	assert_int_equal(hs_outcome_unmet(f->outcome), 1);
	fixture_teardown(state);
	setup(state);
	f = *state;
	tell_negative(f, "epoch");
	assert_int_equal(f->outcome->totals[0].negative, 0);
	assert_null(hs_outcome_broken(f->outcome, 0));
	assert_int_equal(hs_outcome_unmet(f->outcome), 0);
}

static void a_run_that_lost_what_links_did_not_fails_every_scenario(void **state)
{
	struct fixture *f = *state;
	tell_everything(f);
	fixture_tell_run(f, (struct told){.end = 4, .a = 5, .b = 40, .reports = 8, .lost = {1, 9}});
	fixture_compute(f);
	assert_int_equal(f->outcome->totals[0].run_mismatches, 2);
	assert_null(hs_outcome_broken(f->outcome, 0));
	assert_string_equal(hs_outcome_broken(f->outcome, 1)->metric, "run_mismatches");
	assert_int_equal(hs_outcome_unmet(f->outcome), 1);
}

static void windows_with_flags_are_marked(void **state)
{
	struct fixture *f = *state;
	tell_everything(f);
	fixture_tell(f, (struct told){.end = 4, .a = 30, .b = 40, .reports = 2, .flag = "epoch"});
	fixture_compute(f);
	assert_int_equal(f->outcome->totals[0].marked, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
			TEST(a_run_that_is_told_exactly_matches),
			TEST(each_number_that_is_off_by_one_is_named),
			TEST(a_percentile_is_exact_up_to_1000_delays_and_within_a_64th_beyond),
			TEST(a_negative_count_without_a_flag_fails_every_scenario),
			TEST(a_run_that_lost_what_links_did_not_fails_every_scenario),
			TEST(losses_of_links_and_nodes_are_compared),
			TEST(lost_packets_are_compared_end_to_end),
			TEST(a_number_that_other_windows_have_must_not_be_left_out),
			TEST(a_number_that_no_window_has_is_not_missed),
			TEST(a_window_that_nobody_published_counts),
			TEST(other_reports_than_arrived_count),
			TEST(a_stale_window_with_reports_counts),
			TEST(a_way_without_its_last_hop_counts),
			TEST(a_hop_may_stand_for_two_links),
			TEST(windows_with_flags_are_marked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
