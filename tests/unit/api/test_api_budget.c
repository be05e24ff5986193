// SPDX-License-Identifier: BSD-3-Clause
// What one message may cost: before it is read, while it is answered, and beside changes.
#include "api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <cmocka.h>

// A node that has rules 1 to RULES and nothing else; each answer takes processor time.
#define RULES 5000

static struct {
	unsigned runs, changes;
	int64_t spent_ns, ns_per_run;
	size_t entry_bytes; // of what its lists list
	struct hs_rule rule;
} node;

static json_t *entry_of(size_t bytes)
{
	char text[4000];

	memset(text, 'x', sizeof(text));
	return json_stringn(text, bytes < sizeof(text) ? bytes : sizeof(text));
}

static json_t *page_of(const struct hs_api_args *args)
{
	json_t *page = json_array();
	size_t used = 0;
	uint64_t at = args->offset, end = args->offset + args->limit;

	while (at < RULES && at < end &&
			hs_api_page_add(args, page, entry_of(node.entry_bytes), &used))
		at++;
	return json_pack("{s:o, s:I}", "rules", page, "next", (json_int_t)at);
}

static int run(void *context, const struct hs_api_args *args, json_t **result, struct hs_error *err)
{
	(void)context, (void)err;
	node.runs++;
	node.spent_ns += node.ns_per_run;
	node.changes += args->verb == HS_VERB_INT_DELETE || args->verb == HS_VERB_INT_UPDATE;
	*result = args->verb == HS_VERB_INT_LIST ? page_of(args)
						 : json_pack("{s:o}", "it", entry_of(100));
	return 0;
}

static bool ns_exists(void *context, uint32_t ns_id)
{
	(void)context;
	return ns_id <= RULES;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	return ns_exists(context, ns_id) ? &node.rule : NULL;
}

static uint32_t rules_free(void *context)
{
	(void)context;
	return 1;
}

static uint64_t generation(void *context)
{
	(void)context;
	return node.changes;
}

static int64_t spent_ns(void)
{
	return node.spent_ns;
}

static json_t *ask_text(const char *text, size_t len)
{
	const struct hs_api_backend backend = {.run = run,
			.ns_exists = ns_exists,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.generation = generation,
			.spent_ns = spent_ns};
	char *reply = hs_api_handle(&backend, text, len, true);
	assert_non_null(reply);
	assert_true(strlen(reply) <= HS_API_MAX_REPLY + 64 * 1024 || node.changes);
	json_t *json = json_loads(reply, 0, NULL);
	assert_non_null(json);
	free(reply);
	return json;
}

static void node_init(void)
{
	memset(&node, 0, sizeof(node));
	hs_rule_init(&node.rule);
	node.rule.ns_id = 7;
	node.rule.src_ip[15] = node.rule.dst_ip[15] = 1;
	node.rule.protocol = IPPROTO_UDP;
	node.rule.trace_type = 0x7000E000;
	node.rule.mode = HS_MODE_COUNT;
	node.rule.mode_setting = 100;
	node.entry_bytes = 300;
}

// `head`, n times `item`, `tail`, with commas between.
static json_t *ask_list(const char *head, const char *item, size_t n, const char *tail)
{
	size_t size = strlen(head) + n * (strlen(item) + 1) + strlen(tail) + 3, at = 0;
	char *text = malloc(size);

	assert_non_null(text);
	at += (size_t)snprintf(text, size, "[%s", head);
	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", i || head[0] ? "," : "", item);
	at += (size_t)snprintf(text + at, size - at, "%s]", tail);
	json_t *reply = ask_text(text, at);
	free(text);
	return reply;
}

static void assert_refused(json_t *reply, const char *code, const char *path)
{
	json_t *error = json_object_get(reply, "error");

	assert_non_null(error);
	assert_string_equal(json_string_value(json_object_get(error, "code")), code);
	if (path)
		assert_string_equal(json_string_value(json_object_get(error, "path")), path);
	assert_non_null(json_object_get(error, "expected"));
	json_decref(reply);
}

static void assert_answered(json_t *reply, size_t n)
{
	assert_int_equal(json_array_size(json_object_get(reply, "ok")), n);
	json_decref(reply);
}

static void a_list_of_questions_ends_where_its_answers_have_their_bytes(void **state)
{
	(void)state;
	node_init();
	// Of 303 bytes each: the third page is cut, the fourth has one entry that is too many.
	assert_refused(ask_list("", "{\"int_list\":{\"limit\":400}}", 5, ""), "too_large", "[4]");
	node_init();
	assert_answered(ask_list("", "{\"int_list\":{\"limit\":400}}", 3, ""), 3);
	assert_int_equal(node.runs, 3);
}

static void a_list_of_questions_ends_where_its_answers_took_their_time(void **state)
{
	(void)state;
	node_init();
	node.ns_per_run = HS_API_MAX_REPLY_NS / 5;
	assert_answered(ask_list("", "{\"int_get\":{\"ns_id\":7}}", 5, ""), 5);
	assert_refused(ask_list("", "{\"int_get\":{\"ns_id\":7}}", 6, ""), "too_large", "[5]");
	assert_int_equal(node.runs, 10);
}

// Whoever spent time before: the budget is of this list.
static void a_question_alone_is_answered_whatever_it_costs(void **state)
{
	static const char text[] = "{\"int_list\":{\"limit\":10000}}";
	(void)state;
	node_init();
	node.spent_ns = node.ns_per_run = 100 * HS_API_MAX_REPLY_NS;
	json_t *reply = ask_text(text, strlen(text)), *ok = json_object_get(reply, "ok");
	size_t n = json_array_size(json_object_get(ok, "rules"));
	assert_in_range(n, HS_API_MAX_REPLY / 310, HS_API_MAX_REPLY / 303);
	assert_int_equal(json_integer_value(json_object_get(ok, "next")), n);
	json_decref(reply);
}

static void a_page_has_one_entry_however_large_it_is(void **state)
{
	(void)state;
	struct hs_api_args args = {.room = 1};
	json_t *page = json_array();
	size_t used = 0;
	assert_true(hs_api_page_add(&args, page, entry_of(1000), &used));
	assert_false(hs_api_page_add(&args, page, entry_of(1), &used));
	assert_true(hs_api_page_extend(&args, page, json_array(), &used));
	assert_int_equal(json_array_size(page), 1);
	json_decref(page);
}

static void changes_have_no_budget_and_are_made_as_a_whole(void **state)
{
	(void)state;
	node_init();
	node.ns_per_run = HS_API_MAX_REPLY_NS;
	assert_answered(ask_list("", "{\"int_update\":{\"ns_id\":7,\"hop_enabled\":true}}",
					HS_API_MAX_VERBS, ""),
			HS_API_MAX_VERBS);
	assert_int_equal(node.changes, HS_API_MAX_VERBS);
}

static void a_list_of_changes_that_asks_for_too_much_is_refused_before_anything_is_changed(
		void **state)
{
	static const char delete[] = "{\"int_delete\":{\"ns_id\":7}}",
			  after[] = ",{\"int_delete\":{\"ns_id\":7}}";
	(void)state;
	node_init();
	assert_refused(ask_list(delete, "{\"stats_get\":{}}", 17, ""), "too_large",
			"[17].stats_get");
	assert_refused(ask_list("", "{\"stats_get\":{}}", 17, after), "too_large",
			"[17].int_delete");
	assert_refused(ask_list(delete, "{\"int_get\":{\"ns_id\":8}}", 257, ""), "too_large",
			"[257].int_get");
	assert_int_equal(node.runs, 0);
	assert_answered(ask_list(delete, "{\"int_get\":{\"ns_id\":8}}", 256, ""), 257);
	assert_answered(ask_list(delete, "{\"int_list\":{}}", 16, ""), 17);
	assert_int_equal(node.changes, 2);
}

static void what_no_list_of_work_can_hold_is_refused_unread(void **state)
{
	char name[HS_API_MAX_STRING + 64];
	(void)state;
	node_init();
	assert_refused(ask_list("", "{\"stats_get\":{}}", HS_API_MAX_QUESTIONS + 1, ""),
			"too_large", "");
	assert_refused(ask_list("", "{}", HS_API_MAX_VERBS + 1, ""), "too_large", "");
	assert_refused(ask_list("", "[[],[],[],[],[],[],[],[],[]]", 8000, ""), "too_large", "");
	memset(name, 'x', sizeof(name));
	snprintf(name, sizeof(name), "{\"int_get\":{\"ns_id\":\"%*s\"}}", HS_API_MAX_STRING + 1,
			"");
	assert_refused(ask_text(name, strlen(name)), "too_large", "");
	snprintf(name, sizeof(name), "{\"int_get\":{\"ns_id\":\"%*s\"}}", HS_API_MAX_STRING, "");
	assert_refused(ask_text(name, strlen(name)), "wrong_type", "int_get.ns_id");
	int begin = snprintf(name, sizeof(name), "{\"int_get\":{\"ns_id\":\"");
	for (int i = 0; i < HS_API_MAX_STRING + 2; i += 2)
		memcpy(name + begin + i, "\\n", 2);
	memcpy(name + begin + HS_API_MAX_STRING + 2, "\"}}", 4);
	assert_refused(ask_text(name, strlen(name)), "too_large", "");
	memcpy(name + begin + HS_API_MAX_STRING, "\"}}", 4);
	assert_refused(ask_text(name, strlen(name)), "wrong_type", "int_get.ns_id");
	assert_int_equal(node.runs, 0);
}

// A verb may be written with escapes: that a list only asks is known for sure, or not at all.
static void a_long_list_of_changes_in_escapes_is_no_list_of_questions(void **state)
{
	(void)state;
	node_init();
	assert_answered(ask_list("",
					"{\"int\\u005fdelete\":{\"ns_id\":7}},{\"int_"
					"\\u0072equest\":{"
					"\"ns_id\":7,\"src_ip\":\"::1\",\"dst_ip\":\"::2\","
					"\"protocol\":"
					"\"udp\",\"trace_type\":\"0x7000E000\",\"mode\":\"count\","
					"\"mode_setting\":1}}",
					HS_API_MAX_QUESTIONS, ""),
			2 * HS_API_MAX_QUESTIONS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_list_of_questions_ends_where_its_answers_have_their_bytes),
			cmocka_unit_test(
					a_list_of_questions_ends_where_its_answers_took_their_time),
			cmocka_unit_test(a_question_alone_is_answered_whatever_it_costs),
			cmocka_unit_test(a_page_has_one_entry_however_large_it_is),
			cmocka_unit_test(changes_have_no_budget_and_are_made_as_a_whole),
			cmocka_unit_test(
					a_list_of_changes_that_asks_for_too_much_is_refused_before_anything_is_changed),
			cmocka_unit_test(what_no_list_of_work_can_hold_is_refused_unread),
			cmocka_unit_test(a_long_list_of_changes_in_escapes_is_no_list_of_questions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
