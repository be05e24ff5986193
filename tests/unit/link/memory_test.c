// SPDX-License-Identifier: BSD-3-Clause
// What a link takes of memory, and what it does where there is none. Links with --wrap=calloc and
// --wrap=malloc.
#include "link_test.h"

#include <errno.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

static size_t taken;
static bool exhausted;

void *__wrap_malloc(size_t size)
{
	taken += exhausted ? 0 : size;
	return exhausted ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	taken += exhausted ? 0 : n * size;
	return exhausted ? NULL : __real_calloc(n, size);
}

static void a_link_takes_less_than_a_kilobyte_until_frames_wait(void **state)
{
	(void)state;
	taken = 0;
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 1000000000, .queue_packets = 10000000},
			1);
	for (int64_t i = 0; i < 1000; i++)
		send(link, i * MS, 562);
	assert_in_range(taken, 1, 1000);
	for (int i = 0; i < 1000; i++)
		send(link, S, 562);
	assert_in_range(taken, 16000, 64000);
	hs_link_destroy(link);
}

static void without_memory_the_queue_has_no_room(void **state)
{
	(void)state;
	struct hs_link *link = NULL;
	const struct hs_link_config config = {.rate_bps = 1000000000, .queue_packets = 100};
	exhausted = true;
	assert_int_equal(hs_link_create(&config, 1, &link), -ENOMEM);
	assert_null(link);
	exhausted = false;
	link = create(config, 1);
	exhausted = true;
	assert_true(send(link, 0, 100).departs_ns == 800);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_LOST_QUEUE);
	exhausted = false;
	for (int i = 1; i <= 16; i++)
		assert_true(send(link, 0, 100).departs_ns == 800 * (i + 1));
	exhausted = true;
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_LOST_QUEUE);
	exhausted = false;
	assert_true(send(link, 0, 100).departs_ns == 800 * 18);
	assert_true(counters_of(link).delivered_packets == 18);
	hs_link_destroy(link);
	hs_link_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_link_takes_less_than_a_kilobyte_until_frames_wait),
			cmocka_unit_test(without_memory_the_queue_has_no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
