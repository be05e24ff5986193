// SPDX-License-Identifier: BSD-3-Clause
#include "event_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct hs_event_log event_log;

__attribute__((format(printf, 2, 3))) static json_t *add(json_t *details, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	json_t *event = hs_event_log_add(&event_log, 5, "kind", details, format, args);
	va_end(args);
	return event;
}

static void fill(unsigned n)
{
	hs_event_log_init(&event_log);
	for (unsigned i = 1; i <= n; i++)
		json_decref(add(json_pack("{s:i}", "number", i), "text"));
}

static void an_event_is_published_with_its_number_and_details(void **state)
{
	(void)state;
	fill(1);
	json_t *event = add(json_pack("{s:i}", "number", 9), "of %s", "mine");
	json_t *expected = json_pack("{s:i, s:s, s:s, s:i, s:i, s:i}", "ts_ns", 5, "kind", "kind",
			"message", "of mine", "number", 9, "seq", 2, "event_seq", 2);
	assert_true(json_equal(event, expected));
	json_object_del(expected, "event_seq");
	json_t *reply = hs_event_log_since(&event_log, &(struct hs_api_args){.since = 1});
	assert_true(json_equal(json_array_get(json_object_get(reply, "events"), 0), expected));
	json_decref(reply);
	json_decref(expected);
	json_decref(event);
	hs_event_log_fini(&event_log);
}

static void assert_since(uint64_t since, unsigned n, uint64_t first, uint64_t lost, uint64_t next)
{
	json_t *reply = hs_event_log_since(&event_log, &(struct hs_api_args){.since = since});
	json_t *list = json_object_get(reply, "events");
	assert_int_equal(json_array_size(list), n);
	if (n > 0) {
		json_t *seq = json_object_get(json_array_get(list, 0), "seq");
		assert_int_equal(json_integer_value(seq), first);
	}
	assert_int_equal(json_integer_value(json_object_get(reply, "lost")), lost);
	assert_int_equal(json_integer_value(json_object_get(reply, "next")), next);
	json_decref(reply);
}

static void an_empty_log_has_nothing_and_lost_nothing(void **state)
{
	(void)state;
	fill(0);
	assert_since(0, 0, 0, 0, 0);
	hs_event_log_fini(&event_log);
}

static void events_after_a_number_are_given_oldest_first(void **state)
{
	(void)state;
	fill(5);
	assert_since(0, 5, 1, 0, 5);
	assert_since(3, 2, 4, 0, 5);
	assert_since(5, 0, 0, 0, 5);
	hs_event_log_fini(&event_log);
}

static void what_the_ring_no_longer_has_is_counted_as_lost(void **state)
{
	(void)state;
	fill(HS_EVENT_LOG_EVENTS + 10);
	assert_since(0, HS_EVENT_LOG_EVENTS, 11, 10, HS_EVENT_LOG_EVENTS + 10);
	assert_since(4, HS_EVENT_LOG_EVENTS, 11, 6, HS_EVENT_LOG_EVENTS + 10);
	assert_since(10, HS_EVENT_LOG_EVENTS, 11, 0, HS_EVENT_LOG_EVENTS + 10);
	assert_since(11, HS_EVENT_LOG_EVENTS - 1, 12, 0, HS_EVENT_LOG_EVENTS + 10);
	hs_event_log_fini(&event_log);
}

static void a_full_ring_has_lost_nothing_yet(void **state)
{
	(void)state;
	fill(HS_EVENT_LOG_EVENTS);
	assert_since(0, HS_EVENT_LOG_EVENTS, 1, 0, HS_EVENT_LOG_EVENTS);
	hs_event_log_fini(&event_log);
}

static void a_number_from_before_a_restart_asks_for_everything(void **state)
{
	(void)state;
	fill(3);
	assert_since(500, 3, 1, 0, 3);
	hs_event_log_fini(&event_log);
}

static void a_page_of_events_ends_where_its_bytes_do_and_says_that_there_is_more(void **state)
{
	static const uint64_t next_of[] = {10, 20, 25};
	static const char one[] = "{\"ts_ns\":5,\"kind\":\"kind\",\"message\":\"text\","
				  "\"number\":10,\"seq\":10},";
	struct hs_api_args args = {.room = 10 * strlen(one)};
	(void)state;
	fill(25);
	for (unsigned n = 0, from; args.since < 25; n++) {
		json_t *reply = hs_event_log_since(&event_log, &args);
		from = (unsigned)args.since;
		args.since = (uint64_t)json_integer_value(json_object_get(reply, "next"));
		assert_int_equal(args.since, next_of[n]);
		assert_int_equal(json_array_size(json_object_get(reply, "events")),
				args.since - from);
		assert_int_equal(json_is_true(json_object_get(reply, "more")), args.since < 25);
		assert_int_equal(json_integer_value(json_object_get(reply, "lost")), 0);
		json_decref(reply);
	}
	hs_event_log_fini(&event_log);
}

#define SECOND INT64_C(1000000000)

static void once_and_then_once_a_minute(void **state)
{
	struct hs_event_limit limit = {0};
	uint64_t grown = 0;

	(void)state;
	assert_false(hs_event_limit(&limit, SECOND, 0, &grown));
	assert_true(hs_event_limit(&limit, SECOND, 5, &grown));
	assert_int_equal(grown, 5);
	assert_false(hs_event_limit(&limit, 60 * SECOND, 7, &grown));
	assert_true(hs_event_limit(&limit, 61 * SECOND, 7, &grown));
	assert_int_equal(grown, 2);
	assert_false(hs_event_limit(&limit, 200 * SECOND, 7, &grown));
}

// The times of nodes and controllers are those of the system's clock.
static void a_clock_that_was_set_back_silences_nothing(void **state)
{
	struct hs_event_limit limit = {0};
	uint64_t grown = 0;

	(void)state;
	assert_true(hs_event_limit(&limit, 7200 * SECOND, 5, &grown));
	assert_false(hs_event_limit(&limit, 7199 * SECOND, 6, &grown));
	assert_true(hs_event_limit(&limit, 3600 * SECOND, 8, &grown));
	assert_int_equal(grown, 3);
	assert_false(hs_event_limit(&limit, 3659 * SECOND, 9, &grown));
	assert_true(hs_event_limit(&limit, 3660 * SECOND, 9, &grown));
}

// A datagram that comes late is no longer missing.
static void what_shrinks_is_no_event(void **state)
{
	struct hs_event_limit limit = {0};
	uint64_t grown = 0;

	(void)state;
	assert_true(hs_event_limit(&limit, SECOND, 10, &grown));
	assert_false(hs_event_limit(&limit, 100 * SECOND, 4, &grown));
	assert_true(hs_event_limit(&limit, 101 * SECOND, 6, &grown));
	assert_int_equal(grown, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_event_is_published_with_its_number_and_details),
			cmocka_unit_test(once_and_then_once_a_minute),
			cmocka_unit_test(a_clock_that_was_set_back_silences_nothing),
			cmocka_unit_test(what_shrinks_is_no_event),
			cmocka_unit_test(an_empty_log_has_nothing_and_lost_nothing),
			cmocka_unit_test(events_after_a_number_are_given_oldest_first),
			cmocka_unit_test(what_the_ring_no_longer_has_is_counted_as_lost),
			cmocka_unit_test(a_full_ring_has_lost_nothing_yet),
			cmocka_unit_test(a_number_from_before_a_restart_asks_for_everything),
			cmocka_unit_test(
					a_page_of_events_ends_where_its_bytes_do_and_says_that_there_is_more),
	};
	return cmocka_run_group_tests_name("event_log", tests, NULL, NULL);
}
