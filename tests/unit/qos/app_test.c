// SPDX-License-Identifier: BSD-3-Clause
// Applications: which flows belong together, their round trip, the worst hop.
#include "qos_fixture.h"

#include "qos_app.h"

#include <netinet/in.h>

#define N 200

static struct hs_rule rule_of(
		uint32_t ns_id, uint8_t from, uint8_t to, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule;
	hs_rule_init(&rule);
	rule.ns_id = ns_id;
	rule.app_id = 3;
	rule.protocol = IPPROTO_UDP;
	memcpy(rule.src_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = from}, 16);
	memcpy(rule.dst_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = to}, 16);
	rule.src_port = sport;
	rule.dst_port = dport;
	return rule;
}

// A packet of a flow, sent and received as the clocks there say.
static void give_trip(struct hs_qos *qos, uint32_t ns_id, uint16_t sink, uint64_t number,
		int64_t sent_ns, int64_t received_ns)
{
	const struct hs_qos_key key = {ns_id, 3, 1, sink};
	struct hs_report report = plain(number);
	report.telemetry.ns_id = ns_id;
	report.telemetry.e2e.ts_ns = (uint64_t)sent_ns;
	report.sink_ts_ns = received_ns;
	assert_int_equal(hs_qos_report(qos, &key, &report), 0);
}

// Pings of a second, every 5 ms: 3 ms there and 4 ms back, answered after 1 ms, by a host whose
// clock is ahead.
static void give_pings(struct hs_qos *qos, uint32_t up, uint32_t down, int64_t ahead_ns)
{
	for (uint64_t i = 1; i <= N; i++) {
		int64_t sent = T0 + (int64_t)i * 5 * MS;
		give_trip(qos, up, 9, i, sent, sent + 3 * MS + ahead_ns);
		give_trip(qos, down, 1, i, sent + 4 * MS + ahead_ns, sent + 8 * MS);
	}
}

static int64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void flows_are_opposite_when_addresses_and_ports_are_exchanged(void **state)
{
	(void)state;
	struct hs_rule up = rule_of(7, 1, 2, 1000, 5001);
	struct hs_rule exact = rule_of(8, 2, 1, 5001, 1000), any = rule_of(8, 2, 1, 0, 0);
	struct hs_rule half = rule_of(8, 2, 1, 5001, 0), same = rule_of(8, 1, 2, 1000, 5001);
	struct hs_rule other_port = rule_of(8, 2, 1, 5002, 1000);
	struct hs_rule other_host = rule_of(8, 3, 1, 5001, 1000);
	struct hs_rule tcp = exact;
	tcp.protocol = IPPROTO_TCP;
	assert_true(hs_qos_app_opposite(&up, &exact) && hs_qos_app_opposite(&exact, &up));
	assert_true(hs_qos_app_opposite(&up, &any) && hs_qos_app_opposite(&up, &half));
	assert_false(hs_qos_app_opposite(&up, &same));
	assert_false(hs_qos_app_opposite(&up, &other_port));
	assert_false(hs_qos_app_opposite(&up, &other_host));
	assert_false(hs_qos_app_opposite(&up, &tcp));
	assert_false(hs_qos_app_opposite(&up, &up));
}

static json_t *window_json(struct hs_qos *qos, uint32_t ns_id)
{
	const struct hs_qos_window *window = hs_qos_latest(qos, ns_id, 0);
	json_t *message = window ? hs_qos_window_json(window, NULL) : NULL;
	json_t *content = json_incref(json_object_get(message, "qos_report"));
	json_decref(message);
	return content;
}

static json_t *ask(struct hs_qos *qos, const struct hs_rule *rules, size_t n, int64_t window_ns)
{
	struct hs_qos_app_flow flows[8] = {0};
	for (size_t i = 0; i < n; i++)
		flows[i] = (struct hs_qos_app_flow){&rules[i], window_json(qos, rules[i].ns_id)};
	json_t *app = hs_qos_app_json(qos, 3, flows, n, 0, window_ns);
	for (size_t i = 0; i < n; i++)
		json_decref((json_t *)flows[i].window);
	assert_non_null(app);
	return app;
}

static void both_directions_make_a_round_trip_whatever_the_clocks_say(void **state)
{
	(void)state;
	static const int64_t ahead_ns[] = {0, 36 * SECOND, -36 * SECOND};
	for (unsigned i = 0; i < 3; i++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_rule rules[] = {rule_of(8, 2, 1, 0, 0), rule_of(7, 1, 2, 0, 0)};
		give_pings(qos, 7, 8, ahead_ns[i]);
		json_t *app = ask(qos, rules, 2, 10 * SECOND);
		json_t *flows = json_object_get(app, "flows"), *first = json_array_get(flows, 0);
		json_t *trip = json_object_get(app, "round_trip_ns");
		assert_int_equal(number(app, "app_id"), 3);
		assert_int_equal(json_array_size(flows), 2);
		assert_int_equal(number(first, "ns_id"), 7);
		assert_string_equal(text(first, "from"), "2001:db8::1");
		assert_string_equal(text(first, "to"), "2001:db8::2");
		assert_string_equal(text(first, "direction"), "up");
		assert_int_equal(number(first, "opposite"), 8);
		assert_int_equal(number(first, "reports"), N);
		assert_non_null(json_object_get(first, "e2e"));
		assert_string_equal(text(json_array_get(flows, 1), "direction"), "down");
		assert_int_equal(number(trip, "mean"), 7 * MS);
		assert_int_equal(number(trip, "min"), 7 * MS);
		assert_int_equal(number(trip, "p99"), 7 * MS);
		assert_int_equal(number(app, "round_trip_pairs"), N);
		assert_int_equal(json_is_true(json_object_get(app, "clocks_differ")), i > 0);
		assert_int_equal(number(app, "one_way_sum_ns"), 7 * MS);
		json_decref(app);
		monitor_free(qos, &catcher);
	}
}

static void a_round_trip_is_of_the_window_that_was_asked_for(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct hs_rule rules[] = {rule_of(7, 1, 2, 0, 0), rule_of(8, 2, 1, 0, 0)};
	give_pings(qos, 7, 8, 0);
	json_t *app = ask(qos, rules, 2, SECOND / 2);
	assert_int_equal(number(app, "round_trip_pairs"), N / 2);
	json_decref(app);
	app = ask(qos, rules, 2, 0);
	assert_int_equal(number(app, "round_trip_pairs"), N);
	json_decref(app);
	monitor_free(qos, &catcher);
}

static void each_flow_is_paired_once_and_all_pairs_count(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct hs_rule rules[] = {rule_of(1, 1, 2, 10, 0), rule_of(2, 1, 2, 11, 0),
			rule_of(3, 2, 1, 0, 0), rule_of(4, 2, 1, 0, 11), rule_of(5, 3, 1, 0, 0)};
	give_pings(qos, 1, 3, 0);
	give_pings(qos, 2, 4, 0);
	json_t *app = ask(qos, rules, 5, 0), *flows = json_object_get(app, "flows");
	assert_int_equal(number(json_array_get(flows, 0), "opposite"), 3);
	assert_int_equal(number(json_array_get(flows, 1), "opposite"), 4);
	assert_int_equal(number(json_array_get(flows, 2), "opposite"), 1);
	assert_null(json_object_get(json_array_get(flows, 4), "direction"));
	assert_null(json_object_get(json_array_get(flows, 4), "e2e"));
	assert_int_equal(number(app, "round_trip_pairs"), 2 * N);
	json_decref(app);
	monitor_free(qos, &catcher);
}

static void one_direction_has_no_round_trip(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct hs_rule rules[] = {rule_of(7, 1, 2, 0, 0)};
	give_pings(qos, 7, 8, 0);
	json_t *app = ask(qos, rules, 1, 0);
	assert_null(json_object_get(app, "round_trip_ns"));
	assert_null(json_object_get(app, "round_trip_pairs"));
	assert_null(json_object_get(app, "one_way_sum_ns"));
	json_decref(app);
	monitor_free(qos, &catcher);
}

static json_t *made_window(const char *hops, bool stale)
{
	json_t *window = json_pack("{s:b}", "stale", stale);
	json_object_set_new(window, "hops", json_loads(hops, 0, NULL));
	return window;
}

static void the_worst_hops_are_named_with_their_flow(void **state)
{
	struct fixture *f = *state;
	struct hs_rule rules[] = {
			rule_of(7, 1, 2, 0, 0), rule_of(8, 2, 1, 0, 0), rule_of(9, 3, 1, 0, 0)};
	struct hs_qos_app_flow flows[] = {
			{&rules[0], made_window("[{\"from\": 0, \"to\": 1, \"loss_ratio\": 0.1,"
						" \"delay_ns\": {\"mean\": 5}},"
						"{\"from\": 1, \"to\": 9, \"loss_ratio\": 0.0}]",
						    false)},
			{&rules[1], made_window("[{\"from\": 0, \"to\": 4, \"loss_ratio\": 0.2,"
						" \"delay_ns\": {\"mean\": -6}},"
						"{\"from\": 4, \"to\": 1, \"loss_ratio\": 0.05,"
						" \"delay_ns\": {\"mean\": 70}}]",
						    false)},
			{&rules[2], made_window("[{\"from\": 0, \"to\": 5, \"loss_ratio\": 0.9,"
						" \"delay_ns\": {\"mean\": 900}}]",
						    true)},
	};
	json_t *app = hs_qos_app_json(f->qos, 3, flows, 3, 0, 0);
	json_t *worst = json_object_get(app, "worst_hop");
	json_t *expected = json_loads("{\"loss\": {\"ns_id\": 8, \"from\": 0, \"to\": 4,"
				      " \"loss_ratio\": 0.2}, \"delay\": {\"ns_id\": 8,"
				      " \"from\": 4, \"to\": 1, \"delay_ns\": 70}}",
			0, NULL);
	assert_true(json_equal(worst, expected));
	json_decref(app);
	app = hs_qos_app_json(f->qos, 3, flows + 2, 1, 0, 0);
	assert_int_equal(json_object_size(json_object_get(app, "worst_hop")), 0);
	json_decref(app);
	json_t *clean = made_window("[{\"from\": 0, \"to\": 1, \"loss_ratio\": 0.0}]", false);
	const struct hs_qos_app_flow lossless = {&rules[0], clean};
	app = hs_qos_app_json(f->qos, 3, &lossless, 1, 0, 0);
	assert_int_equal(json_object_size(json_object_get(app, "worst_hop")), 0);
	json_decref(app);
	json_decref(clean);
	json_decref(expected);
	for (unsigned i = 0; i < 3; i++)
		json_decref((json_t *)flows[i].window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(flows_are_opposite_when_addresses_and_ports_are_exchanged),
			cmocka_unit_test(both_directions_make_a_round_trip_whatever_the_clocks_say),
			cmocka_unit_test(a_round_trip_is_of_the_window_that_was_asked_for),
			cmocka_unit_test(each_flow_is_paired_once_and_all_pairs_count),
			cmocka_unit_test(one_direction_has_no_round_trip),
			TEST(the_worst_hops_are_named_with_their_flow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
