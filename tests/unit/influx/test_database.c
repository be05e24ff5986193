// SPDX-License-Identifier: BSD-3-Clause
// One database in virtual time: when lines are sent, what becomes of them, and what the log hears.
#include "influx_database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static const struct hs_influx_config config = {
		.url = "http://db:8086", .database = "x", .queue_bytes = 64u << 10};
static struct influx_database target;
static struct influx_says says;
static int64_t now_ns, due_ns;

static int setup(void **state)
{
	(void)state;
	influx_database_init(&target, &config, 1);
	now_ns = 1000 * S;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	influx_database_fini(&target);
	return 0;
}

// Lines made are never anywhere else.
static struct hs_influx_counters counters(void)
{
	struct hs_influx_counters c;
	uint64_t dropped = 0;

	influx_database_counters(&target, &c);
	for (unsigned i = 0; i < HS_INFLUX_DROPS; i++)
		dropped += c.dropped[i];
	assert_int_equal(c.made, c.written + c.waiting + dropped);
	return c;
}

static bool add(unsigned n)
{
	return influx_database_add(&target, "m f=1i 1\n", 9, n);
}

static struct influx_batch *next(void)
{
	return influx_database_next(&target, now_ns, &due_ns);
}

static void answer(long status, const char *body, int64_t retry_ns)
{
	struct influx_answer it = {
			.status = status, .error = "", .body = body, .retry_ns = retry_ns};

	says = (struct influx_says){0};
	influx_database_answer(&target, now_ns, &it, &says);
	counters();
}

// Sends what is due, and answers it.
static void serve(long status, const char *body)
{
	assert_non_null(next());
	answer(status, body, 0);
}

static void lines_wait_for_each_other_for_a_second(void **state)
{
	(void)state;
	assert_true(add(1));
	assert_null(next());
	assert_int_equal(due_ns, now_ns + S);
	now_ns += 999 * MS;
	assert_false(add(1));
	assert_null(next());
	now_ns += MS;
	struct influx_batch *batch = next();
	assert_non_null(batch);
	assert_int_equal(batch->lines, 2);
	assert_memory_equal(batch->bytes, "m f=1i 1\nm f=1i 1\n", 18);
	assert_int_equal(batch->len, 18);
	assert_null(next()); // it is under way
	answer(204, "", 0);
	assert_int_equal(counters().written, 2);
	assert_int_equal(says.text[0], 0);
	assert_null(next());
	assert_int_equal(due_ns, INT64_MAX);
}

static void a_full_batch_is_sent_at_once(void **state)
{
	(void)state;
	add(1);
	assert_null(next());
	for (unsigned i = 1; i < INFLUX_BATCH_LINES - 1; i++)
		assert_false(influx_database_add(&target, "m\n", 2, 1));
	assert_true(influx_database_add(&target, "m\n", 2, 1));
	assert_true(influx_database_add(&target, "n\n", 2, 1)); // of the next batch
	assert_int_equal(next()->lines, INFLUX_BATCH_LINES);
	answer(204, "", 0);
	assert_null(next());
	assert_int_equal(due_ns, now_ns + S);
}

static void what_comes_while_a_batch_is_under_way_waits(void **state)
{
	(void)state;
	add(3);
	next();
	now_ns += S;
	assert_int_equal(next()->lines, 3);
	add(4);
	assert_int_equal(counters().waiting, 7);
	answer(204, "", 0);
	assert_int_equal(counters().waiting, 4);
	assert_null(next());
	now_ns += S;
	assert_int_equal(next()->lines, 4);
}

static void pauses_grow_and_differ_and_have_a_bound(void **state)
{
	int64_t bound = INFLUX_RETRY_NS;
	bool half = true;
	(void)state;

	add(1);
	next();
	now_ns += S;
	for (unsigned i = 0; i < 40; i++) {
		serve(0, "Connection refused");
		assert_null(next());
		int64_t pause = due_ns - now_ns;
		assert_in_range(pause, bound / 2, bound);
		half &= pause == bound / 2;
		bound = 2 * bound < INFLUX_LONGEST_NS ? 2 * bound : INFLUX_LONGEST_NS;
		now_ns = due_ns;
	}
	assert_false(half);
	serve(204, "");
	assert_int_equal(counters().written, 1);
	assert_int_equal(counters().failures, 40);
	assert_int_equal(counters().requests, 41);
	// The next trouble begins with the first pause again.
	add(1);
	next();
	now_ns += S;
	serve(503, "");
	next();
	assert_in_range(due_ns - now_ns, INFLUX_RETRY_NS / 2, INFLUX_RETRY_NS);
}

static void a_server_can_ask_for_a_pause_but_not_for_any(void **state)
{
	(void)state;
	add(1);
	next();
	now_ns += S;
	assert_non_null(next());
	answer(429, "slow down", 7 * S);
	assert_null(next());
	assert_int_equal(due_ns, now_ns + 7 * S);
	now_ns = due_ns;
	assert_non_null(next());
	answer(503, "", 86400 * S);
	assert_null(next());
	assert_int_equal(due_ns, now_ns + INFLUX_OBEY_NS);
}

static void what_is_refused_is_dropped_and_said_once_a_minute(void **state)
{
	unsigned said = 0;
	(void)state;

	for (unsigned i = 0; i < 150; i++) {
		add(2);
		next();
		now_ns += S;
		serve(404, "{\"error\":\"database not found: \\\"x\\\"\"}");
		said += says.text[0] != 0;
		if (i == 0)
			assert_string_equal(says.text,
					"http://db:8086: the database refuses lines: HTTP 404: "
					"database not found: \"x\"; 2 lines were dropped for this "
					"reason so far");
		assert_false(says.is_good_news);
	}
	assert_int_equal(said, 3);
	assert_int_equal(counters().dropped[HS_INFLUX_REFUSED], 300);
	assert_int_equal(counters().refusals, 150);
	add(1);
	next();
	now_ns += S;
	serve(204, "");
	assert_true(says.is_good_news);
	assert_string_equal(says.text, "http://db:8086: lines are written again; 0 wait");
	add(1);
	next();
	now_ns += S;
	serve(204, "");
	assert_int_equal(says.text[0], 0);
}

static void a_partial_write_counts_what_the_server_left_out(void **state)
{
	(void)state;
	add(5);
	next();
	now_ns += S;
	serve(400, "{\"error\":\"partial write: field type conflict: input field \\\"f\\\" on "
		   "measurement \\\"m\\\" is type float, already exists as type integer "
		   "dropped=2\"}");
	assert_int_equal(counters().written, 3);
	assert_int_equal(counters().dropped[HS_INFLUX_REFUSED], 2);
	assert_non_null(strstr(says.text, "refuses some lines: HTTP 400: partial write: field"));
	add(4);
	next();
	now_ns += S;
	serve(400, "{\"error\":\"partial write: unable to parse 'a': missing fields\\nunable to "
		   "parse 'b': bad timestamp dropped=0\"}");
	assert_int_equal(counters().written, 5);
	assert_int_equal(counters().dropped[HS_INFLUX_REFUSED], 4);
	// It cannot leave out more than there was.
	add(1);
	next();
	now_ns += S;
	serve(422, "{\"code\":\"unprocessable entity\",\"message\":\"failure writing points: "
		   "partial write: points beyond retention policy dropped=7\"}");
	assert_int_equal(counters().dropped[HS_INFLUX_REFUSED], 5);
}

static void a_full_queue_counts_what_it_does_not_take(void **state)
{
	static char lines[6000]; // ten
	unsigned taken = 0;
	(void)state;

	memset(lines, 'x', sizeof(lines));
	for (unsigned i = 599; i < sizeof(lines); i += 600)
		lines[i] = '\n';
	for (unsigned i = 0; i < 20; i++) {
		influx_database_add(&target, lines, sizeof(lines), 10);
		taken = (unsigned)counters().waiting;
	}
	assert_int_equal(taken, 109); // 65,400 of 65,536 bytes
	assert_int_equal(counters().dropped[HS_INFLUX_QUEUE_FULL], 91);
	assert_int_equal(counters().waiting_bytes, 65400);
	says = (struct influx_says){0};
	influx_database_look(&target, now_ns, &says);
	assert_string_equal(says.text, "http://db:8086: the queue of 65536 bytes is full; 91 "
				       "lines were dropped for this reason so far");
	says = (struct influx_says){0};
	influx_database_look(&target, now_ns + 61 * S, &says);
	assert_int_equal(says.text[0], 0); // no more lines than those
	assert_non_null(next());	   // it does not wait to fill
	answer(204, "", 0);
	assert_int_equal(counters().written, 109);
	assert_true(add(1));
}

static void at_the_end_nothing_waits_and_the_rest_is_counted(void **state)
{
	(void)state;
	add(3);
	next();
	now_ns += S;
	serve(0, "Connection refused");
	add(2);
	influx_database_flush(&target);
	serve(0, "Connection refused");
	assert_null(next());
	assert_true(due_ns - now_ns <= 200 * MS);
	now_ns = due_ns;
	serve(204, "");
	assert_int_equal(next()->lines, 2);
	assert_false(influx_database_is_empty(&target));
	says = (struct influx_says){0};
	influx_database_abort(&target, &says);
	assert_true(influx_database_is_empty(&target));
	assert_int_equal(counters().dropped[HS_INFLUX_SHUTDOWN], 2);
	assert_string_equal(says.text, "http://db:8086: no time to write the last 2 lines");
}

static void words_of_a_server_cannot_break_a_line_of_the_log(void **state)
{
	static const struct influx_answer hostile = {
			.status = 400, .error = "", .body = "bad\n\x1b[31mred\r\n"};
	struct influx_verdict verdict = influx_judge(&hostile, 1);
	(void)state;

	assert_int_equal(verdict.fate, INFLUX_REFUSED);
	assert_null(strpbrk(verdict.words, "\n\r\x1b"));
	assert_memory_equal(verdict.words, "HTTP 400: bad", 13);
}

static void each_status_has_a_fate(void **state)
{
	static const struct {
		long status;
		enum influx_fate fate;
	} fates[] = {{0, INFLUX_UNREACHABLE}, {200, INFLUX_WRITTEN}, {204, INFLUX_WRITTEN},
			{301, INFLUX_REFUSED}, {400, INFLUX_REFUSED}, {401, INFLUX_REFUSED},
			{403, INFLUX_REFUSED}, {404, INFLUX_REFUSED}, {408, INFLUX_BUSY},
			{413, INFLUX_REFUSED}, {429, INFLUX_BUSY}, {500, INFLUX_BUSY},
			{503, INFLUX_BUSY}};
	(void)state;

	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		struct influx_answer it = {.status = fates[i].status, .error = "", .body = ""};
		assert_int_equal(influx_judge(&it, 1).fate, fates[i].fate);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(lines_wait_for_each_other_for_a_second),
			TEST(a_full_batch_is_sent_at_once),
			TEST(what_comes_while_a_batch_is_under_way_waits),
			TEST(pauses_grow_and_differ_and_have_a_bound),
			TEST(a_server_can_ask_for_a_pause_but_not_for_any),
			TEST(what_is_refused_is_dropped_and_said_once_a_minute),
			TEST(a_partial_write_counts_what_the_server_left_out),
			TEST(a_full_queue_counts_what_it_does_not_take),
			TEST(at_the_end_nothing_waits_and_the_rest_is_counted),
			TEST(words_of_a_server_cannot_break_a_line_of_the_log),
			TEST(each_status_has_a_fate),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
