// SPDX-License-Identifier: BSD-3-Clause
// There is one interrupt thread in a process: the tests follow each other on it, in this order.
#include "dpdk_env.h"
#include "interrupts.h"

#include <rte_alarm.h>
#include <rte_interrupts.h>

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_MS 5000

// A driver's interrupt.
static struct source {
	struct rte_intr_handle *handle;
	int fd;
	atomic_uint taken;
} sources[2];

static atomic_uint alarms;

static void take(void *context)
{
	struct source *source = context;
	uint64_t count;

	assert_int_equal(read(source->fd, &count, sizeof(count)), sizeof(count));
	atomic_fetch_add(&source->taken, 1);
}

static void open_source(struct source *source)
{
	source->fd = eventfd(0, EFD_CLOEXEC);
	source->handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	rte_intr_type_set(source->handle, RTE_INTR_HANDLE_EXT);
	rte_intr_fd_set(source->handle, source->fd);
	assert_int_equal(rte_intr_callback_register(source->handle, take, source), 0);
}

static void interrupt(struct source *source)
{
	uint64_t one = 1;

	assert_int_equal(write(source->fd, &one, sizeof(one)), sizeof(one));
}

static bool shows(int timeout_ms)
{
	struct pollfd fd = {.fd = hs_interrupts_fd(), .events = POLLIN};

	return poll(&fd, 1, timeout_ms) > 0;
}

// Until nothing waits any more: what the thread does first is its own choice.
static void pass_all(void)
{
	for (unsigned i = 0; shows(0); i++) {
		assert_true(i < 1000);
		hs_interrupts_pass();
	}
}

static void a_thread_that_is_not_held_has_no_descriptor_and_nothing_to_pass(void **state)
{
	(void)state;
	assert_int_equal(hs_interrupts_fd(), -1);
	hs_interrupts_pass();
}

static void interrupts_of_a_held_thread_wait_and_show(void **state)
{
	(void)state;
	open_source(&sources[0]);
	assert_int_equal(hs_interrupts_hold(), 0);
	assert_int_equal(hs_interrupts_hold(), 0); // again: nothing
	assert_true(hs_interrupts_fd() >= 0);
	pass_all(); // the news of what was registered
	assert_int_equal(sources[0].taken, 0);
	for (unsigned i = 0; i < 100; i++) {
		interrupt(&sources[0]);
		assert_true(shows(LIMIT_MS));
		assert_int_equal(sources[0].taken, i);
		pass_all();
		assert_int_equal(sources[0].taken, i + 1);
		assert_false(shows(0));
	}
}

static void what_is_registered_while_it_is_held_shows_after_the_next_pass(void **state)
{
	(void)state;
	open_source(&sources[1]);
	assert_true(shows(LIMIT_MS)); // the list has changed
	pass_all();
	interrupt(&sources[1]);
	interrupt(&sources[0]);
	assert_true(shows(LIMIT_MS));
	assert_int_equal(sources[1].taken, 0);
	pass_all();
	assert_int_equal(sources[1].taken, 1);
	assert_int_equal(sources[0].taken, 101);
}

static void count_alarm(void *context)
{
	(void)context;
	atomic_fetch_add(&alarms, 1);
}

static void alarms_wait_like_everything_else(void **state)
{
	(void)state;
	assert_int_equal(rte_eal_alarm_set(1, count_alarm, NULL), 0);
	assert_true(shows(LIMIT_MS));
	assert_int_equal(alarms, 0);
	pass_all();
	assert_int_equal(alarms, 1);
}

static int setup(void **state)
{
	(void)state;
	dpdk_env_init("64");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_thread_that_is_not_held_has_no_descriptor_and_nothing_to_pass),
			cmocka_unit_test(interrupts_of_a_held_thread_wait_and_show),
			cmocka_unit_test(
					what_is_registered_while_it_is_held_shows_after_the_next_pass),
			cmocka_unit_test(alarms_wait_like_everything_else),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
