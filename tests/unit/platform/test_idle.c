// SPDX-License-Identifier: BSD-3-Clause
#include "eal_env.h"
#include "idle.h"
#include "port_private.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static struct hs_idle *adaptive(void)
{
	struct hs_idle *idle;

	assert_int_equal(hs_idle_create(true, &idle), 0);
	return idle;
}

static uint16_t no_packets(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

static struct hs_port *silent_port(void)
{
	struct hs_port_config config = {.name = "silent"};
	struct hs_port *port;

	assert_int_equal(
			hs_port_open_custom(no_packets, no_packets, NULL, &config, 0, 1, &port), 0);
	return port;
}

// Empty rounds until it wants to sleep; how long that took.
static int64_t until_it_arms(struct hs_idle *idle)
{
	int64_t from = now_ns();

	while (hs_idle_next(idle) != HS_PACE_SLEEP)
		assert_true(now_ns() - from < 2000 * MS);
	return now_ns() - from;
}

static void a_busy_worker_never_wants_to_sleep(void **state)
{
	struct hs_idle *idle = adaptive();

	(void)state;
	for (unsigned i = 0; i < 1000000; i++) {
		hs_idle_work(idle, 1);
		assert_int_equal(hs_idle_next(idle), HS_PACE_SPIN);
	}
	hs_idle_destroy(idle);
	hs_idle_destroy(NULL);
}

static void an_idle_worker_spins_a_little_before_it_sleeps(void **state)
{
	struct hs_idle *idle = adaptive();
	int64_t least = INT64_MAX;

	(void)state;
	// After some more looks that bring nothing, the worker would no longer look.
	for (unsigned i = 0; i < 10; i++) {
		int64_t took;

		hs_idle_sleep(idle, 2 * MS); // afterwards, the worker may spin again
		hs_idle_work(idle, 1);
		took = until_it_arms(idle);
		least = took < least ? took : least;
	}
	// The clock is not the TSC: leave it some slack.
	assert_in_range(least, 45000, 200000);
	hs_idle_destroy(idle);
}

static void a_worker_that_is_told_to_spin_never_sleeps(void **state)
{
	struct hs_idle *idle;
	int64_t from = now_ns();

	(void)state;
	assert_int_equal(hs_idle_create(false, &idle), 0);
	while (now_ns() - from < 5 * MS)
		assert_int_equal(hs_idle_next(idle), HS_PACE_SPIN);
	hs_idle_destroy(idle);
}

static void a_port_without_a_wake_up_bounds_the_sleep(void **state)
{
	struct hs_idle *idle = adaptive();
	struct hs_port *port = silent_port();
	int64_t from = now_ns(), shortest = INT64_MAX;

	(void)state;
	assert_int_equal(hs_idle_add_port(idle, port), 0);
	hs_idle_arm(idle);
	hs_idle_sleep(idle, INT64_MAX); // takes the news of the port
	until_it_arms(idle);
	while (now_ns() - from < 50 * MS) {
		int64_t before = now_ns(), took;

		hs_idle_next(idle);
		hs_idle_sleep(idle, INT64_MAX);
		took = now_ns() - before;
		assert_true(took >= HS_PACE_LOOK_SOON_US * 900);
		shortest = took < shortest ? took : shortest;
	}
	assert_true(shortest < 2 * MS);
	hs_idle_destroy(idle);
	hs_port_close(port);
}

static void packets_end_no_rest_and_a_wake_up_does(void **state)
{
	struct hs_idle *idle = adaptive();
	struct hs_port *port = silent_port();
	int64_t from = now_ns();

	(void)state;
	hs_idle_add_port(idle, port);
	hs_idle_rest(idle, INT64_MAX); // takes the news of the port
	for (unsigned i = 0; i < 20; i++) {
		from = now_ns();
		hs_idle_rest(idle, INT64_MAX);
		assert_true(now_ns() - from >= HS_PACE_REST_US * 900);
		from = now_ns();
		hs_idle_rest(idle, HS_PACE_REST_US * 500);
		assert_true(now_ns() - from >= HS_PACE_REST_US * 450);
	}
	hs_idle_wake(idle);
	hs_idle_rest(idle, INT64_MAX);
	hs_idle_rest(idle, 1000); // nearer than a rest is long
	hs_idle_destroy(idle);
	hs_port_close(port);
}

// Sleeps 20 times, never for less than least_ns. Returns how long the shortest sleep took: on a
// busy machine, any single one may take much longer than its limit.
static int64_t shortest_sleep(struct hs_idle *idle, int64_t limit_ns, int64_t least_ns)
{
	int64_t shortest = INT64_MAX;

	for (unsigned i = 0; i < 20; i++) {
		int64_t from = now_ns(), took;

		hs_idle_sleep(idle, limit_ns);
		took = now_ns() - from;
		assert_true(took >= least_ns);
		shortest = took < shortest ? took : shortest;
	}
	return shortest;
}

static void a_limit_bounds_the_sleep(void **state)
{
	struct hs_idle *idle = adaptive();

	(void)state;
	hs_idle_arm(idle);
	assert_true(shortest_sleep(idle, 2 * MS, 2 * MS * 9 / 10) < 90 * MS);
	assert_true(shortest_sleep(idle, 1000, 0) < MS); // nearer than a sleep is long
	hs_idle_destroy(idle);
}

static void after_a_sleep_that_nothing_ended_it_sleeps_again_at_once(void **state)
{
	struct hs_idle *idle = adaptive();
	struct hs_port *port = silent_port();

	(void)state;
	hs_idle_add_port(idle, port);
	hs_idle_sleep(idle, INT64_MAX);
	until_it_arms(idle);
	hs_idle_arm(idle);
	hs_idle_sleep(idle, INT64_MAX);
	assert_int_equal(hs_idle_next(idle), HS_PACE_SLEEP);
	hs_idle_work(idle, 1);
	assert_int_equal(hs_idle_next(idle), HS_PACE_SPIN);
	hs_idle_destroy(idle);
	hs_port_close(port);
}

static void a_wake_up_before_the_sleep_is_not_lost(void **state)
{
	struct hs_idle *idle = adaptive();
	int64_t from = now_ns();

	(void)state;
	hs_idle_wake(idle);
	hs_idle_sleep(idle, INT64_MAX);
	assert_true(now_ns() - from < 90 * MS);
	// It is taken by that one sleep.
	from = now_ns();
	hs_idle_sleep(idle, INT64_MAX);
	assert_true(now_ns() - from > 90 * MS);
	hs_idle_destroy(idle);
}

struct sleeper {
	struct hs_idle *idle;
	atomic_uint sleeps;
	atomic_bool stop;
};

static void *sleep_on(void *arg)
{
	struct sleeper *sleeper = arg;

	while (!sleeper->stop) {
		hs_idle_sleep(sleeper->idle, INT64_MAX);
		sleeper->sleeps++;
	}
	return NULL;
}

static void another_thread_ends_the_sleep(void **state)
{
	struct sleeper sleeper = {.idle = adaptive()};
	int64_t from = now_ns();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_on, &sleeper), 0);
	for (unsigned i = 1; i <= 50; i++) {
		hs_idle_wake(sleeper.idle);
		while (sleeper.sleeps < i)
			sched_yield();
	}
	assert_true(now_ns() - from < 50 * 50 * MS); // 100 ms each without the wake-up
	sleeper.stop = true;
	hs_idle_wake(sleeper.idle);
	pthread_join(thread, NULL);
	hs_idle_destroy(sleeper.idle);
}

static void a_port_is_removed_from_under_a_sleeper(void **state)
{
	struct sleeper sleeper = {.idle = adaptive()};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_on, &sleeper), 0);
	for (unsigned i = 0; i < 200; i++) {
		struct hs_port *port = silent_port();

		assert_int_equal(hs_idle_add_port(sleeper.idle, port), 0);
		hs_idle_remove_port(sleeper.idle, port);
		// If the sleeper still looked at it, a sanitizer would say so.
		memset(port, 0xff, offsetof(struct hs_port, private_data));
		port->config.kind = HS_PORT_CUSTOM;
		port->tx_keep = NULL;
		hs_port_close(port);
	}
	sleeper.stop = true;
	hs_idle_wake(sleeper.idle);
	pthread_join(thread, NULL);
	hs_idle_destroy(sleeper.idle);
}

static void a_worker_may_have_all_queues_of_all_ports(void **state)
{
	struct hs_idle *idle = adaptive();
	struct hs_port *ports[HS_MAX_PORTS];
	int ready = eventfd(1, EFD_CLOEXEC), silent = eventfd(0, EFD_CLOEXEC);

	(void)state;
	for (unsigned p = 0; p < HS_MAX_PORTS; p++) {
		ports[p] = silent_port();
		ports[p]->rx_queues = PORT_MAX_QUEUES;
		ports[p]->needs_timed_poll = false;
		for (uint16_t q = 0; q < PORT_MAX_QUEUES; q++) {
			port_private(ports[p])->wake_fds[q] = silent;
			assert_int_equal(hs_idle_add_queue(idle, ports[p], q), 0);
		}
	}
	port_private(ports[HS_MAX_PORTS - 1])->wake_fds[PORT_MAX_QUEUES - 1] = ready;
	hs_idle_sleep(idle, INT64_MAX); // the additions end this one
	int64_t from = now_ns();
	for (unsigned i = 0; i < 20; i++)
		hs_idle_sleep(idle, INT64_MAX);
	assert_true(now_ns() - from < 1000 * MS); // 100 ms each without the last queue
	for (unsigned p = 0; p < HS_MAX_PORTS; p++)
		hs_port_close(ports[p]);
	hs_idle_destroy(idle);
	close(ready);
	close(silent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_busy_worker_never_wants_to_sleep),
			cmocka_unit_test(an_idle_worker_spins_a_little_before_it_sleeps),
			cmocka_unit_test(a_worker_that_is_told_to_spin_never_sleeps),
			cmocka_unit_test(a_port_without_a_wake_up_bounds_the_sleep),
			cmocka_unit_test(packets_end_no_rest_and_a_wake_up_does),
			cmocka_unit_test(a_limit_bounds_the_sleep),
			cmocka_unit_test(after_a_sleep_that_nothing_ended_it_sleeps_again_at_once),
			cmocka_unit_test(a_wake_up_before_the_sleep_is_not_lost),
			cmocka_unit_test(another_thread_ends_the_sleep),
			cmocka_unit_test(a_port_is_removed_from_under_a_sleeper),
			cmocka_unit_test(a_worker_may_have_all_queues_of_all_ports),
	};

	return cmocka_run_group_tests_name("idle", tests, eal_env_start, eal_env_stop);
}
