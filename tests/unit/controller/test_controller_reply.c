// SPDX-License-Identifier: BSD-3-Clause
// What nodes answer and publish, whole and broken: an error names the member, and nothing that a
// node did not say is taken for 0.
#include "controller_rig.h"

#include "controller_reply.h"

#include <stdlib.h>
#include <unistd.h>

struct broken {
	const char *text, *path, *code;
};

// Each reader as one that says only what was wrong.
#define READER(name, type)                                                                         \
	static int read_##name(json_t *value, struct hs_error *err)                                \
	{                                                                                          \
		type into;                                                                         \
		return reply_read_##name(value, &into, err);                                       \
	}
#define PORTS_READER(name)                                                                         \
	static int read_##name(json_t *value, struct hs_error *err)                                \
	{                                                                                          \
		struct reply_ports into;                                                           \
		int rc = reply_read_##name(value, &into, err);                                     \
		free(into.ports);                                                                  \
		return rc;                                                                         \
	}
READER(error, struct reply_error)
READER(hello, struct reply_hello)
READER(rules, struct reply_rules)
READER(rule, json_t *)
READER(audit, bool)
READER(origin, struct reply_origin)
READER(event, struct reply_event)
READER(window, struct reply_window)
READER(report, uint32_t)
PORTS_READER(labels)
PORTS_READER(label_set)
PORTS_READER(traffic)
PORTS_READER(addresses)

static int read_reply(json_t *value, struct hs_error *err)
{
	struct reply into;
	return reply_read(value, &into, err);
}

static const struct reader {
	int (*read)(json_t *value, struct hs_error *err);
	const char *whole;
	struct broken broken[12];
} readers[] = {
		{read_reply, "{\"id\": 7, \"generation\": 3, \"ok\": {}}",
				{{"{\"ok\": {}}", "id", "missing_field"},
						{"{\"id\": 7}", "ok", "missing_field"},
						{"{\"id\": \"7\", \"ok\": {}}", "id", "wrong_type"},
						{"{\"id\": -1, \"ok\": {}}", "id", "out_of_range"},
						{"{\"id\": 7, \"ok\": {}, \"generation\": -1}",
								"generation", "out_of_range"},
						{"{\"id\": 7, \"ok\": {}, \"generation\": true}",
								"generation", "wrong_type"},
						{"[]", "", "wrong_type"}}},
		{read_error, "{\"code\": \"table_full\", \"message\": \"m\", \"expected\": \"e\"}",
				{{"{}", "error.code", "missing_field"},
						{"{\"code\": 5}", "error.code", "wrong_type"},
						{"{\"code\": \"two words\"}", "error.code",
								"bad_value"},
						{"{\"code\": \"\"}", "error.code", "bad_value"},
						{"{\"code\": \"a\", \"message\": 1}",
								"error.message", "wrong_type"},
						{"{\"code\": \"a\", \"expected\": []}",
								"error.expected", "wrong_type"},
						{"7", "error", "wrong_type"}}},
		{read_hello,
				"{\"node_id\": 65535, \"boot_id\": \"b\", \"features\": "
				"[\"new\"]}",
				{{"{\"boot_id\": \"b\"}", "node_id", "missing_field"},
						{"{\"node_id\": 1}", "boot_id", "missing_field"},
						{"{\"node_id\": \"1\", \"boot_id\": \"b\"}",
								"node_id", "wrong_type"},
						{"{\"node_id\": 65536, \"boot_id\": \"b\"}",
								"node_id", "out_of_range"},
						{"{\"node_id\": -1, \"boot_id\": \"b\"}", "node_id",
								"out_of_range"},
						{"{\"node_id\": 1, \"boot_id\": 2}", "boot_id",
								"wrong_type"},
						{"{\"node_id\": 1, \"boot_id\": "
						 "\"012345678901234567890123\"}",
								"boot_id", "bad_value"},
						{"{\"node_id\": 1, \"boot_id\": \"b\", "
						 "\"features\": [\"a\", 1]}",
								"features[1]", "wrong_type"},
						{"{\"node_id\": 1, \"boot_id\": \"b\", "
						 "\"features\": {}}",
								"features", "wrong_type"}}},
		{read_rules,
				"{\"rules\": [{\"ns_id\": 4294967295}], \"in_band\": [1], "
				"\"next\": 250}",
				{{"{}", "rules", "missing_field"},
						{"{\"rules\": {}}", "rules", "wrong_type"},
						{"{\"rules\": [5]}", "rules[0]", "wrong_type"},
						{"{\"rules\": [{}]}", "rules[0].ns_id",
								"missing_field"},
						{"{\"rules\": [{\"ns_id\": 1}, {\"ns_id\": 0}]}",
								"rules[1].ns_id", "out_of_range"},
						{"{\"rules\": [{\"ns_id\": 4294967296}]}",
								"rules[0].ns_id", "out_of_range"},
						{"{\"rules\": [{\"ns_id\": 1.5}]}",
								"rules[0].ns_id", "wrong_type"},
						{"{\"rules\": [], \"in_band\": [\"1\"]}",
								"in_band[0]", "wrong_type"},
						{"{\"rules\": [], \"in_band\": [0]}", "in_band[0]",
								"out_of_range"},
						{"{\"rules\": [], \"next\": 0}", "next",
								"out_of_range"},
						{"{\"rules\": [], \"next\": null}", "next",
								"wrong_type"}}},
		{read_rule, "{\"rule\": {}}",
				{{"{}", "rule", "missing_field"}, {"[]", "", "wrong_type"}}},
		{read_audit, "{\"ok\": false}",
				{{"{}", "ok", "missing_field"},
						{"{\"ok\": 1}", "ok", "wrong_type"}}},
		{read_labels, "{\"ports\": [{\"name\": \"p\", \"id\": 1, \"shift\": 62}]}",
				{{"{}", "ports", "missing_field"},
						{"{\"ports\": {}}", "ports", "wrong_type"},
						{"{\"ports\": [{\"id\": 1, \"shift\": 0}]}",
								"ports[0].name", "missing_field"},
						{"{\"ports\": [{\"name\": \"p\", \"shift\": 0}]}",
								"ports[0].id", "missing_field"},
						{"{\"ports\": [{\"name\": \"p\", \"id\": 1}]}",
								"ports[0].shift", "missing_field"},
						{"{\"ports\": [{\"name\": 1, \"id\": 1, \"shift\": "
						 "0}]}",
								"ports[0].name", "wrong_type"},
						{"{\"ports\": [{\"name\": \"p\", \"id\": -1, "
						 "\"shift\": 0}]}",
								"ports[0].id", "out_of_range"},
						{"{\"ports\": [{\"name\": \"p\", \"id\": 1, "
						 "\"shift\": 63}]}",
								"ports[0].shift", "out_of_range"},
						{"{\"ports\": [{\"name\": "
						 "\"01234567890123456789012345678901\", \"id\": 1, "
						 "\"shift\": 0}]}",
								"ports[0].name", "out_of_range"}}},
		{read_label_set, "{\"ports\": [{\"id\": 1, \"shift\": 62}]}",
				{{"{}", "ports", "missing_field"},
						{"{\"ports\": [{\"id\": 1}]}", "ports[0].shift",
								"missing_field"},
						{"{\"ports\": [{\"id\": 1, \"shift\": \"1\"}]}",
								"ports[0].shift", "wrong_type"},
						{"{\"ports\": [{\"id\": 4294967296, \"shift\": "
						 "1}]}",
								"ports[0].id", "out_of_range"}}},
		{read_traffic,
				"{\"ports\": [{\"name\": \"p\", \"link_up\": true, \"tx_packets\": "
				"9}]}",
				{{"{\"ports\": [{\"name\": \"p\", \"link_up\": true}]}",
						 "ports[0].tx_packets", "missing_field"},
						{"{\"ports\": [{\"name\": \"p\", \"tx_packets\": "
						 "9}]}",
								"ports[0].link_up",
								"missing_field"},
						{"{\"ports\": [{\"name\": \"p\", \"link_up\": 1, "
						 "\"tx_packets\": 9}]}",
								"ports[0].link_up", "wrong_type"},
						{"{\"ports\": [{\"name\": \"p\", \"link_up\": "
						 "true, "
						 "\"tx_packets\": \"9\"}]}",
								"ports[0].tx_packets",
								"wrong_type"},
						{"{\"ports\": [{\"name\": \"p\", \"link_up\": "
						 "true, "
						 "\"tx_packets\": -9}]}",
								"ports[0].tx_packets",
								"out_of_range"}}},
		{read_addresses,
				"{\"ports\": [{\"name\": \"p\", \"id\": 1, \"mac\": "
				"\"00:00:00:00:00:00\"}]}",
				{{"{\"ports\": [{\"name\": \"p\", \"id\": 1}]}", "ports[0].mac",
						 "missing_field"},
						{"{\"ports\": [{\"name\": \"p\", \"mac\": "
						 "\"02:00:00:00:00:01\"}]}",
								"ports[0].id", "missing_field"},
						{"{\"ports\": [{\"name\": \"p\", \"id\": 1, "
						 "\"mac\": 2}]}",
								"ports[0].mac", "wrong_type"},
						{"{\"ports\": [{\"name\": \"p\", \"id\": 1, "
						 "\"mac\": \"02:00\"}]}",
								"ports[0].mac", "bad_value"},
						{"{\"ports\": [{\"name\": \"p\", \"id\": -1, "
						 "\"mac\": \"02:00:00:00:00:01\"}]}",
								"ports[0].id", "out_of_range"}}},
		{read_origin, "{\"node_id\": 0, \"boot_id\": \"b\", \"seq\": 0}",
				{{"{\"boot_id\": \"b\", \"seq\": 0}", "node_id", "missing_field"},
						{"{\"node_id\": 1, \"seq\": 0}", "boot_id",
								"missing_field"},
						{"{\"node_id\": 1, \"boot_id\": \"b\"}", "seq",
								"missing_field"},
						{"{\"node_id\": [], \"boot_id\": \"b\", \"seq\": "
						 "0}",
								"node_id", "wrong_type"},
						{"{\"node_id\": 65536, \"boot_id\": \"b\", "
						 "\"seq\": "
						 "0}",
								"node_id", "out_of_range"},
						{"{\"node_id\": 1, \"boot_id\": \"b\", \"seq\": "
						 "-1}",
								"seq", "out_of_range"},
						{"{\"node_id\": 1, \"boot_id\": \"b\", \"seq\": "
						 "\"0\"}",
								"seq", "wrong_type"}}},
		{read_event, "{\"kind\": \"link_down\", \"message\": \"\"}",
				{{"{\"message\": \"m\"}", "kind", "missing_field"},
						{"{\"kind\": \"k\"}", "message", "missing_field"},
						{"{\"kind\": 5, \"message\": \"m\"}", "kind",
								"wrong_type"},
						{"{\"kind\": \"k\", \"message\": 5}", "message",
								"wrong_type"},
						{"{\"kind\": \"two words\", \"message\": \"m\"}",
								"kind", "bad_value"}}},
		{read_window, "{\"ns_id\": 1, \"app_id\": 2, \"window_ns\": 86400000000000}",
				{{"{\"window_ns\": 1}", "ns_id", "missing_field"},
						{"{\"ns_id\": 1}", "window_ns", "missing_field"},
						{"{\"ns_id\": \"1\", \"window_ns\": 1}", "ns_id",
								"wrong_type"},
						{"{\"ns_id\": 0, \"window_ns\": 1}", "ns_id",
								"out_of_range"},
						{"{\"ns_id\": 1, \"window_ns\": 0}", "window_ns",
								"out_of_range"},
						{"{\"ns_id\": 1, \"window_ns\": 86400000000001}",
								"window_ns", "out_of_range"},
						{"{\"ns_id\": 1, \"window_ns\": 1, \"app_id\": -1}",
								"app_id", "out_of_range"}}},
		{read_report, "{\"ns_id\": 4294967295}",
				{{"{}", "ns_id", "missing_field"},
						{"{\"ns_id\": \"1\"}", "ns_id", "wrong_type"},
						{"{\"ns_id\": 0}", "ns_id", "out_of_range"},
						{"{\"ns_id\": 4294967296}", "ns_id",
								"out_of_range"}}},
};

static int read_text(const struct reader *reader, const char *text, struct hs_error *err)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	int rc = reader->read(value, err);
	json_decref(value);
	return rc;
}

static void the_error_of_a_broken_answer_names_the_member(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct hs_error err = {0};
		if (read_text(&readers[i], readers[i].whole, &err) != 0)
			fail_msg("%s: %s: %s", readers[i].whole, err.path, err.message);
		for (const struct broken *broken = readers[i].broken; broken->text; broken++) {
			err = (struct hs_error){0};
			if (read_text(&readers[i], broken->text, &err) == 0)
				fail_msg("%s is read", broken->text);
			if (strcmp(err.path, broken->path) != 0 ||
					strcmp(err.code, broken->code) != 0)
				fail_msg("%s: %s %s", broken->text, err.path, err.code);
		}
	}
}

static void no_answer_is_an_error_of_each_reader(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct hs_error err = {0};
		if (readers[i].read == read_error)
			continue; // of an error that is there
		assert_true(readers[i].read(NULL, &err) < 0);
		assert_string_equal(err.code, "missing_field");
	}
}

static void keys_of_newer_nodes_are_passed_over(void **state)
{
	struct reply_hello hello;
	struct hs_error err;

	(void)state;
	json_t *ok = json_pack("{s:i, s:s, s:[s, s], s:{}}", "node_id", 3, "boot_id", "b",
			"features", "a-feature-with-a-very-long-name-that-nobody-knew-before-today",
			"owner", "what_is_new");
	assert_int_equal(reply_read_hello(ok, &hello, &err), 0);
	assert_int_equal(hello.node_id, 3);
	assert_string_equal(hello.boot_id, "b");
	assert_true(hello.keeps_owner);
	json_decref(ok);
}

static void what_can_be_read_of_an_error_is_kept(void **state)
{
	struct reply_error error;
	struct hs_error err;

	(void)state;
	json_t *said = json_pack("{s:[], s:s}", "code", "message", "the disk is full");
	assert_true(reply_read_error(said, &error, &err) < 0);
	assert_string_equal(error.code, "refused");
	assert_string_equal(error.message, "the disk is full");
	assert_null(error.expected);
	json_decref(said);
}

// ---- the controller ----

// Node 0 answers a verb with this for two seconds.
static void say(const char *verb, const char *ok)
{
	fake.nodes[0].refused = verb;
	fake.nodes[0].said = ok;
	fake_run(&fake, 2 * SECOND);
}

static void a_page_without_rules_does_not_mean_that_the_node_has_none(void **state)
{
	(void)state;
	fake_ok(&fake, request(7, 100, "{\"nodes\": [\"a\"]}"));
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 7, "a"), "present");
	unsigned installs = fake.nodes[0].n_requests[HS_VERB_INT_REQUEST];
	fake_at_node(&fake, 0, "{\"int_update\": {\"ns_id\": 7, \"mode_setting\": 7}}");
	say("int_list", "{}");
	assert_true(of_node(0, "replies_bad") > 0);
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_INT_REQUEST], installs);
}

static void a_hello_without_a_node_id_is_no_hello_of_node_0(void **state)
{
	(void)state;
	say("hello", "{\"boot_id\": \"boot-1-0\"}");
	assert_false(json_is_true(json_object_get(node_json(0), "reachable")));
	assert_true(of_node(0, "replies_bad") > 0);
	assert_int_equal(fake_events(&fake, "node_id_differs"), 0);
	say(NULL, NULL);
	assert_true(json_is_true(json_object_get(node_json(0), "reachable")));
}

static void an_audit_of_a_node_that_does_not_say_ok_does_not_add_up(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	assert_true(json_is_true(json_object_get(fake_ok(&fake, "{\"audit\": {}}"), "ok")));
	say("audit", "{\"ok\": 1}");
	assert_true(json_is_false(json_object_get(fake_ok(&fake, "{\"audit\": {}}"), "ok")));
	assert_true(of_node(0, "replies_bad") > 0);
}

static void a_bad_answer_is_logged_with_node_verb_and_member_and_then_once_a_minute(void **state)
{
	FILE *log = tmpfile();
	char text[4096] = "";
	int stderr_before = dup(STDERR_FILENO);

	(void)state;
	fake_run(&fake, SECOND);
	dup2(fileno(log), STDERR_FILENO);
	say("hello", "{\"node_id\": 65536, \"boot_id\": \"b\"}");
	fflush(stderr);
	long first = lseek(fileno(log), 0, SEEK_CUR);
	fake_run(&fake, 60 * SECOND);
	dup2(stderr_before, STDERR_FILENO);
	close(stderr_before);
	rewind(log);
	size_t n = fread(text, 1, sizeof(text) - 1, log);
	text[n] = '\0';
	fclose(log);
	assert_true(of_node(0, "replies_bad") > 1);
	assert_non_null(strstr(text, "node \"a\": 1 answers could not be read, the last one to "
				     "hello: node_id: 65536 is out of range"));
	assert_ptr_equal(strchr(text, '\n'), text + first - 1);
	assert_ptr_equal(strchr(text + first, '\n'), text + n - 1);
	assert_non_null(strstr(text + first, " answers could not be read, the last one to hello"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_error_of_a_broken_answer_names_the_member),
			cmocka_unit_test(no_answer_is_an_error_of_each_reader),
			cmocka_unit_test(keys_of_newer_nodes_are_passed_over),
			cmocka_unit_test(what_can_be_read_of_an_error_is_kept),
			TEST(a_page_without_rules_does_not_mean_that_the_node_has_none),
			TEST(a_hello_without_a_node_id_is_no_hello_of_node_0),
			TEST(an_audit_of_a_node_that_does_not_say_ok_does_not_add_up),
			TEST(a_bad_answer_is_logged_with_node_verb_and_member_and_then_once_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
