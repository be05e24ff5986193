// SPDX-License-Identifier: BSD-3-Clause
#include "u32_map.h"

#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void an_empty_map_has_nothing(void **state)
{
	(void)state;
	struct hs_u32_map map = {0};
	assert_int_equal(hs_u32_map_find(&map, 0), HS_U32_MAP_NONE);
	hs_u32_map_fini(&map);
}

// Keys close together, far apart, and different only in their upper halves.
static uint32_t key_of(uint32_t i)
{
	static const uint32_t steps[] = {1, UINT32_C(0x9e3779b9), UINT32_C(1) << 16};
	return i / 3 * steps[i % 3] * 3 + i % 3;
}

static void every_key_is_found_however_many_there_are(void **state)
{
	(void)state;
	struct hs_u32_map map = {0};
	for (uint32_t i = 0; i < 3000; i++) {
		assert_int_equal(hs_u32_map_find(&map, key_of(i)), HS_U32_MAP_NONE);
		assert_int_equal(hs_u32_map_add(&map, key_of(i), i), 0);
		if (i % 97 == 0 || i < 50)
			for (uint32_t j = 0; j <= i; j++)
				assert_int_equal(hs_u32_map_find(&map, key_of(j)), j);
	}
	assert_int_equal(map.count, 3000);
	assert_int_equal(map.mask, 8191);
	hs_u32_map_fini(&map);
	assert_int_equal(hs_u32_map_find(&map, 1), HS_U32_MAP_NONE);
}

static void a_map_with_room_does_not_grow(void **state)
{
	(void)state;
	static const uint32_t capacities[] = {1, 2, 3, 4, 5, 1000, 1024};
	for (unsigned c = 0; c < sizeof(capacities) / sizeof(capacities[0]); c++) {
		struct hs_u32_map map;
		assert_int_equal(hs_u32_map_init(&map, capacities[c]), 0);
		const struct hs_u32_place *places = map.places;
		for (uint32_t i = 0; i < capacities[c]; i++)
			assert_int_equal(hs_u32_map_add(&map, i, i), 0);
		assert_ptr_equal(map.places, places);
		assert_int_equal(hs_u32_map_find(&map, capacities[c]), HS_U32_MAP_NONE);
		hs_u32_map_fini(&map);
	}
}

static void a_key_may_have_several_values(void **state)
{
	(void)state;
	struct hs_u32_map map = {0};
	uint32_t probe = 0, sum = 0, value;
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(hs_u32_map_add(&map, i % 10, i), 0);
	hs_u32_map_erase(&map, 3, 53);
	hs_u32_map_replace(&map, 3, 63, 1000);
	while ((value = hs_u32_map_next(&map, 3, &probe)) != HS_U32_MAP_NONE)
		sum += value;
	assert_int_equal(sum, 480 - 53 - 63 + 1000);
	hs_u32_map_fini(&map);
}

// Many keys that fall on few places, in and out in random order, beside a plain array.
static void the_map_knows_what_was_put_in_and_not_taken_out(void **state)
{
	struct hs_u32_map map;
	struct hs_rng rng;
	static uint32_t values[4096];
	(void)state;
	hs_rng_init(&rng, 3);
	assert_int_equal(hs_u32_map_init(&map, 2048), 0);
	memset(values, 0xff, sizeof(values));
	for (unsigned i = 0, n = 0; i < 200000; i++) {
		uint32_t key = hs_rng_u32(&rng) % 4096;
		assert_int_equal(hs_u32_map_find(&map, key), values[key]);
		if (values[key] != UINT32_MAX) {
			hs_u32_map_erase(&map, key, values[key]);
			values[key] = UINT32_MAX;
			n--;
		} else if (n < 2048) {
			values[key] = hs_rng_u32(&rng) >> 1;
			hs_u32_map_add(&map, key, values[key]);
			n++;
		}
	}
	hs_u32_map_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_empty_map_has_nothing),
			cmocka_unit_test(every_key_is_found_however_many_there_are),
			cmocka_unit_test(a_map_with_room_does_not_grow),
			cmocka_unit_test(a_key_may_have_several_values),
			cmocka_unit_test(the_map_knows_what_was_put_in_and_not_taken_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
