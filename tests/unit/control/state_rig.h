// SPDX-License-Identifier: BSD-3-Clause
// Lives of a node that keeps what the API changes in one file: a life ends, and the next one
// begins.
#pragma once

#include "control.h"
#include "harness.h"
#include "int_steps.h"
#include "state_folder.h"

#include <jansson.h>

#define NOW   INT64_C(1790000000000000000)
#define RULES 4096

static enum hs_forwarding_mode forwarding = HS_FORWARD_ROUTE;
// Of the ports of the next life; NULL: they have method flexint.
static const struct hs_family *families[2] = {&hs_int_steps[HS_INT_2_1]};

// A life of the node.
struct life {
	struct test_node t; // its ports are not used
	struct hs_port *ports[2];
	struct hs_clock *clock;
	struct hs_control *control;
	int64_t now_ns;
	char *reply;
};

static inline void begin(struct life *l, const char *config)
{
	struct hs_node_config node = {.n_workers = 1,
			.rules = RULES,
			.report_ring = 16,
			.forwarding = forwarding,
			.routes = 64,
			.profiles = {{.family = families[0]}, {.family = families[1]}}};
	struct hs_control_config control = {.boot_id = "b007", .monitored_rules = 1};
	struct hs_control_output output = {0};
	struct hs_state_config state = {.file = file};
	struct hs_error err = {0};

	*l = (struct life){.now_ns = NOW};
	assert_int_equal(hs_clock_create_manual(NOW, &l->clock), 0);
	assert_int_equal(hs_node_create(&node, l->clock, NULL, &l->t.node, &err), 0);
	for (uint16_t p = 0; p < 2; p++) {
		struct hs_port_config port = {.rx_queues = 1};
		snprintf(port.name, sizeof(port.name), "p%u", p);
		assert_int_equal(hs_port_open_custom(test_port_rx, test_port_tx, &l->t.ports[p],
						 &port, p, 1, &l->ports[p]),
				0);
		assert_int_equal(hs_node_add_port(l->t.node, l->ports[p]), 0);
	}
	assert_int_equal(
			hs_control_create(&control, l->t.node, l->clock, &output, NOW, &l->control),
			0);
	json_t *requests = json_loads(config, 0, NULL);
	assert_non_null(requests);
	assert_int_equal(hs_control_install(l->control, NOW, requests, HS_ORIGIN_CONFIG, &err), 0);
	json_decref(requests);
	if (hs_control_open_state(l->control, NOW, &state, &err))
		fail_msg("%s %s", err.path, err.message);
}

static inline void end(struct life *l)
{
	free(l->reply);
	hs_control_destroy(l->control);
	hs_node_destroy(l->t.node);
	for (unsigned p = 0; p < 2; p++)
		hs_port_close(l->ports[p]);
	hs_clock_destroy(l->clock);
}

static inline const char *ask(struct life *l, const char *request)
{
	free(l->reply);
	l->reply = hs_control_request(l->control, l->now_ns, request, strlen(request), true);
	return l->reply;
}

static inline void expect(struct life *l, const char *request, const char *said)
{
	if (!strstr(ask(l, request), said))
		fail_msg("%s\n  was answered\n%s\n  without\n%s", request, l->reply, said);
}

// What a list says, without the generation and the rules that an earlier life kept, which are of
// one life.
static inline json_t *listed(struct life *l, const char *request)
{
	json_t *reply = json_loads(ask(l, request), 0, NULL);
	json_t *ok = json_incref(json_object_get(reply, "ok"));
	assert_non_null(ok);
	json_object_del(ok, "state");
	json_decref(reply);
	return ok;
}

static inline void end_and_begin(struct life *l, const char *config)
{
	static const char *const lists[] = {"{\"int_list\": {\"limit\": 10000}}",
			"{\"route_list\": {}}", "{\"neighbour_list\": {}}"};
	json_t *before[3];

	for (int i = 0; i < 3; i++)
		before[i] = listed(l, lists[i]);
	end(l);
	begin(l, config);
	for (int i = 0; i < 3; i++) {
		json_t *after = listed(l, lists[i]);
		if (!json_equal(before[i], after))
			fail_msg("before\n%s\nafter\n%s", json_dumps(before[i], 0),
					json_dumps(after, 0));
		json_decref(before[i]);
		json_decref(after);
	}
}

static inline int begin_test(void **state)
{
	(void)state;
	return make_state_folder();
}

static inline int end_test(void **state)
{
	(void)state;
	return remove_state_folder();
}

#define RULE(ns, more)                                                                             \
	"{\"int_request\": {\"ns_id\": " #ns ", \"src_ip\": \"2001:db8::1\", \"dst_ip\":"          \
	" \"2001:db8::2\", \"src_port\": " #ns ", \"protocol\": \"udp\", \"trace_type\":"          \
	" \"0x7000E000\", \"mode\": \"probability\", \"mode_setting\": 0.1" more "}}"
#define WATCH(ns, src, more)                                                                       \
	"{\"int_request\": {\"ns_id\": " #ns ", \"src_ip\": \"" src "\", \"dst_ip\":"              \
	" \"0.0.0.0/0\", \"protocol\": \"any\", \"method\": \"int\", \"instructions\":"            \
	" [\"node_id\"], \"mode\": \"count\", \"mode_setting\": 1" more "}}"
#define NEIGHBOUR(addr)                                                                            \
	"{\"neighbour_add\": {\"addr\": \"" addr "\", \"port\": \"p1\", \"mac\":"                  \
	" \"02:00:00:00:00:01\"}}"
#define VIA(prefix, addr) "{\"route_add\": {\"prefix\": \"" prefix "\", \"via\": \"" addr "\"}}"

#define STATE_TEST(f) cmocka_unit_test_setup_teardown(f, begin_test, end_test)
