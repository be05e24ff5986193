// SPDX-License-Identifier: BSD-3-Clause
#include "qos_test.h"
#include "qos_hist.h"

#include "rng.h"

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static uint64_t away(int64_t value, int64_t origin)
{
	return value < origin ? (uint64_t)origin - (uint64_t)value
			      : (uint64_t)value - (uint64_t)origin;
}

static int64_t random_value(struct hs_rng *rng, int64_t origin)
{
	int64_t deviation = (int64_t)(hs_rng_u64(rng) >> (12 + hs_rng_u32(rng) % 50));
	return hs_rng_u32(rng) & 1 ? origin + deviation : origin - deviation;
}

static void every_rank_is_within_a_64th_of_its_deviation(void **state)
{
	(void)state;
	enum {
		N = 5000
	};
	static int64_t values[N];
	struct hs_rng rng;
	hs_rng_init(&rng, 3);
	for (unsigned round = 0; round < 20; round++) {
		struct hs_qos_hist hist = {0};
		int64_t origin = (int64_t)(hs_rng_u64(&rng) >> 20) - (1ll << 43);
		hs_qos_hist_clear(&hist, origin);
		for (unsigned i = 0; i < N; i++) {
			values[i] = random_value(&rng, origin);
			assert_int_equal(hs_qos_hist_add(&hist, values[i]), 0);
		}
		qsort(values, N, sizeof(values[0]), by_value);
		for (unsigned i = 0; i < N; i++) {
			uint64_t error = away(hs_qos_hist_value(&hist, i + 1), values[i]);
			assert_true(error <= away(values[i], origin) / 64);
		}
		hs_qos_hist_fini(&hist);
	}
}

static void merged_histograms_are_the_histogram_of_all(void **state)
{
	(void)state;
	struct hs_qos_hist a = {0}, b = {0}, all = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 4);
	hs_qos_hist_clear(&a, 1000);
	hs_qos_hist_clear(&b, 1000);
	hs_qos_hist_clear(&all, 1000);
	for (unsigned i = 0; i < 2000; i++) {
		int64_t value = random_value(&rng, 1000);
		hs_qos_hist_add(i % 3 ? &a : &b, value);
		hs_qos_hist_add(&all, value);
	}
	assert_int_equal(hs_qos_hist_merge(&a, &b), 0);
	assert_int_equal(a.n, 2000);
	for (uint64_t rank = 1; rank <= 2000; rank++)
		assert_int_equal(hs_qos_hist_value(&a, rank), hs_qos_hist_value(&all, rank));
	hs_qos_hist_fini(&a);
	hs_qos_hist_fini(&b);
	hs_qos_hist_fini(&all);
}

static void histograms_of_two_epochs_keep_their_values_when_merged(void **state)
{
	(void)state;
	struct hs_qos_hist a = {0}, b = {0};
	hs_qos_hist_clear(&a, 0);
	hs_qos_hist_clear(&b, 1000000);
	for (int64_t i = 0; i < 100; i++) {
		hs_qos_hist_add(&a, i * 100);
		hs_qos_hist_add(&b, 1000000 + i * 100);
	}
	assert_int_equal(hs_qos_hist_merge(&a, &b), 0);
	assert_int_equal(a.n, 200);
	assert_true(llabs(hs_qos_hist_value(&a, 150) - 1004900) <= 1004900 / 64 + 100);
	hs_qos_hist_fini(&a);
	hs_qos_hist_fini(&b);
}

static void extremes_do_not_overflow(void **state)
{
	(void)state;
	struct hs_qos_hist hist = {0};
	hs_qos_hist_clear(&hist, INT64_MIN);
	assert_int_equal(hs_qos_hist_add(&hist, INT64_MAX), 0);
	assert_int_equal(hs_qos_hist_add(&hist, INT64_MIN), 0);
	assert_int_equal(hs_qos_hist_value(&hist, 1), INT64_MIN);
	assert_true(hs_qos_hist_value(&hist, 2) > 0);
	assert_true(hs_qos_hist_bytes(&hist) <= 16384);
	hs_qos_hist_fini(&hist);
}

// Four at a time, around origins near and far, at and around the borders of buckets.
static void narrow_values_go_where_each_of_them_goes(void **state)
{
	(void)state;
	struct hs_rng rng;
	int32_t values[103];
	hs_rng_init(&rng, 5);
	for (unsigned round = 0; round < 3000; round++) {
		struct hs_qos_hist a = {0}, b = {0};
		unsigned n = hs_rng_u32(&rng) % 103, bits = 1 + hs_rng_u32(&rng) % 30;
		int64_t base = (int64_t)hs_rng_u64(&rng) >> round % 60, origin = base;
		int32_t most = 0;
		__builtin_add_overflow(base, (int32_t)hs_rng_u32(&rng) >> round % 32, &origin);
		hs_qos_hist_clear(&a, origin);
		hs_qos_hist_clear(&b, origin);
		if (base > INT64_MAX - HS_QOS_NARROW_MOST)
			continue;
		for (unsigned i = 0; i < n; i++) {
			uint32_t power = 1u << hs_rng_u32(&rng) % bits;
			uint32_t any = i % 3 ? hs_rng_u32(&rng) : power - hs_rng_u32(&rng) % 2;
			values[i] = (int32_t)(any & ((1u << bits) - 1));
			most = values[i] > most ? values[i] : most;
		}
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(hs_qos_hist_add(&a, base + values[i]), 0);
		hs_qos_hist_add_narrow(&b, base, most, values, n);
		assert_int_equal(a.n, b.n);
		for (uint64_t rank = 1; rank <= n; rank++)
			assert_int_equal(hs_qos_hist_value(&a, rank), hs_qos_hist_value(&b, rank));
		hs_qos_hist_fini(&a);
		hs_qos_hist_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_rank_is_within_a_64th_of_its_deviation),
			cmocka_unit_test(merged_histograms_are_the_histogram_of_all),
			cmocka_unit_test(histograms_of_two_epochs_keep_their_values_when_merged),
			cmocka_unit_test(extremes_do_not_overflow),
			cmocka_unit_test(narrow_values_go_where_each_of_them_goes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
