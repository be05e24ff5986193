// SPDX-License-Identifier: BSD-3-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "index_map.h"

static void an_empty_map_has_nothing(void **state)
{
	(void)state;
	struct hs_index_map map = {0};
	assert_int_equal(hs_index_map_find(&map, 0), HS_INDEX_MAP_NONE);
	hs_index_map_fini(&map);
}

// Keys close together, far apart, and different only in their upper halves.
static uint64_t key_of(uint32_t i)
{
	static const uint64_t steps[] = {1, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(1) << 32};
	return i * steps[i % 3];
}

static void every_key_is_found_however_many_there_are(void **state)
{
	(void)state;
	struct hs_index_map map = {0};
	for (uint32_t i = 0; i < 3000; i++) {
		assert_int_equal(hs_index_map_find(&map, key_of(i)), HS_INDEX_MAP_NONE);
		assert_int_equal(hs_index_map_add(&map, key_of(i), i), 0);
		if (i % 97 == 0 || i < 50)
			for (uint32_t j = 0; j <= i; j++)
				assert_int_equal(hs_index_map_find(&map, key_of(j)), j);
	}
	assert_int_equal(map.count, 3000);
	assert_true(map.slots >= 6000 && map.slots <= 8192);
	hs_index_map_fini(&map);
	assert_int_equal(hs_index_map_find(&map, 1), HS_INDEX_MAP_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_empty_map_has_nothing),
			cmocka_unit_test(every_key_is_found_however_many_there_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
