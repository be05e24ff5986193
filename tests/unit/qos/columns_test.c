// SPDX-License-Identifier: BSD-3-Clause
// Values of given ranks in a column beside those of a sorted copy.
#include "qos_parts.h"
#include "qos_ranks.h"
#include "qos_test.h"
#include "rng.h"

#define MOST 1000

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

// Shapes that fill few buckets or many: narrow, wide, steps, one far off, the whole range.
static int64_t draw(struct hs_rng *rng, unsigned shape)
{
	uint64_t any = hs_rng_u64(rng);
	switch (shape) {
	case 0:
		return 77;
	case 1:
		return 1000000 + (int64_t)(any % 40);
	case 2:
		return (int64_t)(any % 1000000) - 500000;
	case 3:
		return (int64_t)(any % 4) << 40;
	case 4:
		return any % 500 ? (int64_t)(any % 7000) : INT64_MAX - 5;
	case 5:
		return any % 500 ? -(int64_t)(any % 7000) : INT64_MIN;
	default:
		return (int64_t)any;
	}
}

static void check_column(struct hs_qos_columns *columns, struct hs_rng *rng, unsigned n,
		unsigned shape, int64_t off)
{
	static int64_t sorted[MOST];
	for (unsigned i = 0; i < n; i++)
		hs_qos_column(columns, 0)[i] = sorted[i] = draw(rng, shape);
	columns->n[0] = n;
	qsort(sorted, n, sizeof(sorted[0]), compare);
	uint32_t a = hs_rng_u32(rng) % n, b = a + hs_rng_u32(rng) % (n - a);
	const uint32_t ranks[] = {a, b, n - 1};
	int64_t found[3], low = sorted[0], high = sorted[n - 1];
	low += off > 0 && low < INT64_MAX - off ? off : 0;
	high += off < 0 && high > INT64_MIN - off ? off : 0;
	hs_qos_ranks_find(columns, 0, low, low < high ? high : low, 3, ranks, found);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(found[i], sorted[ranks[i]]);
}

static void with_columns(int64_t off)
{
	struct hs_qos_columns columns = {.capacity = 1};
	struct hs_rng rng;
	hs_rng_init(&rng, 17);
	columns.values = calloc(2 * HS_QOS_RING_MAX, sizeof(int64_t));
	for (unsigned i = 0; i < 20000; i++) {
		unsigned most = i % 3 ? 40 : MOST;
		check_column(&columns, &rng, 1 + hs_rng_u32(&rng) % most, i % 7, off);
	}
	hs_qos_columns_fini(&columns);
}

static void check_narrow(struct hs_qos_columns *columns, struct hs_rng *rng, unsigned n)
{
	static int64_t sorted[MOST];
	int32_t *values = hs_qos_column_narrow(columns, 0);
	unsigned bits = hs_rng_u32(rng) % 31;
	columns->base_ns[0] = (int64_t)hs_rng_u64(rng) >> 1;
	for (unsigned i = 0; i < n; i++) {
		values[i] = (int32_t)(hs_rng_u32(rng) & ((1u << bits) - 1));
		sorted[i] = columns->base_ns[0] + values[i];
	}
	qsort(sorted, n, sizeof(sorted[0]), compare);
	columns->n[0] = n;
	columns->most[0] = (int32_t)(sorted[n - 1] - columns->base_ns[0]);
	uint32_t a = hs_rng_u32(rng) % n, b = a + hs_rng_u32(rng) % (n - a);
	const uint32_t ranks[] = {a, b, n - 1};
	int64_t found[3];
	hs_qos_ranks_find(columns, 0, sorted[0], sorted[n - 1], 3, ranks, found);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(found[i], sorted[ranks[i]]);
}

static void so_it_has_in_a_narrow_column(void **state)
{
	(void)state;
	struct hs_qos_columns columns = {.capacity = 1, .narrow = true};
	struct hs_rng rng;
	hs_rng_init(&rng, 18);
	columns.values = calloc(2 * HS_QOS_RING_MAX, sizeof(int64_t));
	for (unsigned i = 0; i < 20000; i++)
		check_narrow(&columns, &rng, 1 + hs_rng_u32(&rng) % (i % 3 ? 40 : MOST));
	hs_qos_columns_fini(&columns);
}

static void a_rank_has_the_value_of_a_sorted_column(void **state)
{
	(void)state;
	with_columns(0);
}

// Then they are no bounds of its values.
static void so_it_has_where_the_sum_knows_less_than_the_column(void **state)
{
	(void)state;
	with_columns(3);
	with_columns(-1000);
}

// The entries are shorter than usual ones, and those of the last report end where its memory does.
static void entries_with_few_fields_are_not_read_beyond(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {11, 12, 13, 14};
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (unsigned i = 1; i <= HS_QOS_RING_CHUNK; i++) {
		struct hs_report report = plain_report(i, SECOND, 4, nodes);
		for (unsigned k = 0; k < 4; k++)
			report.telemetry.hops[k].bitmap = HS_HOP_TIMESTAMP;
		give(qos, &report);
	}
	flush_all(qos);
	assert_int_equal(caught_at(&catcher, SECOND, 0)->window.e2e.delay.p50, 5 * MS);
	monitor_free(qos, &catcher);
}

// Such values would be in a bucket behind the last.
static void a_column_beyond_the_bounds_of_the_sum_is_not_narrow(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {11, 12};
	struct catcher catcher;
	struct hs_qos_columns columns = {0};
	struct hs_qos *qos = monitor_new(&catcher);
	for (unsigned i = 1; i <= 50; i++) {
		struct hs_report report = plain_report(i, MS, 2, nodes);
		report.sink_ts_ns += i * US;
		give(qos, &report);
	}
	struct hs_qos_flow *flow = hs_qos_find(qos, KEY.ns_id);
	hs_qos_settle(qos, flow);
	struct hs_qos_sum *sum = &flow->sums[HS_QOS_CURRENT];
	for (int64_t less = 0; less <= US; less += US) {
		sum->links[0].delay_max -= less;
		assert_int_equal(
				hs_qos_columns_collect(&columns, flow, sum->tag - 1, sum->tag, sum),
				0);
		assert_int_equal(columns.narrow, less == 0);
		assert_int_equal(hs_qos_columns_count(&columns, 0), 50);
	}
	hs_qos_columns_fini(&columns);
	monitor_free(qos, &catcher);
}

// Windows that end early, and others of the same time behind them: each has its own delays.
static void of_windows_of_the_same_time_each_has_its_own(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {11, 12};
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (unsigned i = 1; i <= 50; i++) {
		struct hs_report report = plain_report(i, 10 * MS, 2, nodes);
		report.sink_ts_ns += i <= 30 ? 50 * MS : i == 50 ? 100 * MS : 0;
		if (i == 31)
			flush_all(qos);
		give(qos, &report);
	}
	flush_all(qos);
	assert_int_equal(caught_at(&catcher, 10 * SECOND, 0)->window.e2e.delay.p50, 53 * MS);
	assert_int_equal(caught_at(&catcher, 10 * SECOND, 1)->window.e2e.delay.p50, 3 * MS);
	monitor_free(qos, &catcher);
}

// When a window closes, reports of the next one are in the ring already. This one has more reports
// than are kept, so that their delays go into its histogram. The window before has few.
static void the_first_reports_of_a_long_window_are_in_its_percentiles(void **state)
{
	(void)state;
	static const uint16_t nodes[] = {11, 12};
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (unsigned i = 1; i < 8000; i++) {
		struct hs_report report = plain_report(i, MS / 2, 2, nodes);
		unsigned window = (i + 5) / 2000, at = (i + 5) % 2000;
		report.telemetry.e2e.ts_ns -= at < 3 ? 40 * MS : 0;
		if (window % 2 == 0 && at % 4)
			continue;
		hs_qos_advance(qos, report.sink_ts_ns);
		give(qos, &report);
	}
	flush_all(qos);
	for (size_t i = 1; i <= 3; i += 2) {
		const struct hs_qos_window *window = &caught_at(&catcher, SECOND, i)->window;
		assert_int_equal(window->e2e.delay.n, 2000);
		assert_true(window->e2e.delay.p999 > 42 * MS);
	}
	monitor_free(qos, &catcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_rank_has_the_value_of_a_sorted_column),
			cmocka_unit_test(so_it_has_in_a_narrow_column),
			cmocka_unit_test(so_it_has_where_the_sum_knows_less_than_the_column),
			cmocka_unit_test(entries_with_few_fields_are_not_read_beyond),
			cmocka_unit_test(a_column_beyond_the_bounds_of_the_sum_is_not_narrow),
			cmocka_unit_test(of_windows_of_the_same_time_each_has_its_own),
			cmocka_unit_test(the_first_reports_of_a_long_window_are_in_its_percentiles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
