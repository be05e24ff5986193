// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_malloc.h>

#define HUGE_BYTES ((size_t)2 << 20)

static size_t dpdk_bytes(void)
{
	struct rte_malloc_socket_stats stats;

	rte_malloc_get_socket_stats(0, &stats);
	return stats.heap_allocsz_bytes;
}

static size_t resident_bytes(void)
{
	size_t pages, resident;
	FILE *file = fopen("/proc/self/statm", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu %zu", &pages, &resident), 2);
	fclose(file);
	return resident * 4096;
}

// Does the kernel keep this address's mapping for huge pages (flag "hg" of smaps)?
static bool asks_for_huge_pages(const void *at)
{
	char line[512];
	bool here = false, found = false;
	FILE *file = fopen("/proc/self/smaps", "re");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		uintptr_t begin, end;
		if (sscanf(line, "%zx-%zx ", &begin, &end) == 2)
			here = (uintptr_t)at >= begin && (uintptr_t)at < end;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			found = strstr(line, " hg") != NULL;
	}
	fclose(file);
	return found;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

static void a_large_table_lies_in_huge_pages_outside_of_dpdk(void **state)
{
	const size_t bytes = 3 * HUGE_BYTES + 12345;
	size_t before = dpdk_bytes();

	(void)state;
	uint8_t *pages = hs_pages_take("large", bytes);
	assert_non_null(pages);
	assert_int_equal((uintptr_t)pages % HUGE_BYTES, 0);
	assert_true(is_zero(pages, bytes));
	assert_int_equal(dpdk_bytes(), before);
	assert_int_equal(hs_pages_dpdk_bytes(bytes), 0);
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0) {
		assert_true(asks_for_huge_pages(pages));
		assert_true(asks_for_huge_pages(pages + bytes - 1));
	}
	hs_pages_give(pages, bytes);
}

static void a_small_table_takes_no_huge_page(void **state)
{
	const size_t bytes = HS_PAGES_LARGE_BYTES - 1;
	size_t before = dpdk_bytes();

	(void)state;
	uint8_t *pages = hs_pages_take("small", bytes);
	assert_non_null(pages);
	assert_int_equal((uintptr_t)pages % 128, 0);
	assert_true(is_zero(pages, bytes));
	assert_in_range(dpdk_bytes() - before, bytes, bytes + 4096);
	assert_int_equal(hs_pages_dpdk_bytes(bytes), bytes);
	hs_pages_give(pages, bytes);
	assert_int_equal(dpdk_bytes(), before);
}

static void what_is_given_back_is_the_systems_again(void **state)
{
	const size_t bytes = 40 * HUGE_BYTES + 1;

	(void)state;
	size_t before = resident_bytes();
	for (int i = 0; i < 3; i++) {
		uint8_t *pages = hs_pages_take("large", bytes);
		memset(pages, 1, bytes);
		assert_true(resident_bytes() >= before + bytes);
		hs_pages_give(pages, bytes);
		assert_true(resident_bytes() < before + bytes / 2);
	}
	hs_pages_give(NULL, bytes);
	hs_pages_give(NULL, 1);
}

static void without_memory_there_is_none(void **state)
{
	(void)state;
	assert_null(hs_pages_take("too much", (size_t)1 << 60));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_large_table_lies_in_huge_pages_outside_of_dpdk),
			cmocka_unit_test(a_small_table_takes_no_huge_page),
			cmocka_unit_test(what_is_given_back_is_the_systems_again),
			cmocka_unit_test(without_memory_there_is_none),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
