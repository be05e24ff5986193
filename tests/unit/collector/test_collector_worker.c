// SPDX-License-Identifier: BSD-3-Clause
// What the collecting thread does in a round, whatever the clock shows.
#include "collector_record.h"
#include "collector_worker.h"

#include "collect_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct hs_collector_worker worker;

static unsigned pushed(void)
{
	struct hs_collect_event event;
	unsigned n = 0;

	while (hs_collector_record_take(worker.ring, &event)) {
		n += event.points[0].cause == HS_COLLECT_PUSH;
		hs_collector_record_drop(worker.ring);
	}
	return n;
}

static unsigned pushed_from(int64_t from_ns, int64_t to_ns)
{
	for (int64_t at_ns = from_ns; at_ns < to_ns; at_ns += SECOND / 4)
		hs_collector_worker_round(&worker, at_ns);
	return pushed();
}

static void a_clock_that_was_set_back_does_not_silence_values(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hop = {1, 10, 1, 2, 3, 4};
	struct hs_error err = {0};
	struct bytes b;

	(void)state;
	config.push_ns = 10 * SECOND;
	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	put_report(&b, 9, 1, 1, &hop, 1);
	take(worker.collect, b.at, b.n, 5000 * SECOND);
	assert_true(pushed_from(5000 * SECOND, 5031 * SECOND) >= 3);
	assert_true(pushed_from(1000 * SECOND, 1031 * SECOND) >= 3);
	hs_collector_worker_fini(&worker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_clock_that_was_set_back_does_not_silence_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
