// SPDX-License-Identifier: BSD-3-Clause
// Whatever happens, in whatever order: when it is quiet again, each node has exactly what is wanted
// of it, and what others set there.
#include "fake_nodes.h"

#include "rule_json.h"

// clang-format off: cmocka wants these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS	   INT64_C(1000000)
#define SECOND	   INT64_C(1000000000)
#define NAMESPACES 12
#define FOREIGN_NS 1000 // and above: rules of others

static const char config[] = "{\"controller\": {\"timeout_ms\": 700, \"audit_s\": 20}, "
			     "\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
			     " {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
			     " {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"},"
			     " {\"name\": \"d\", \"id\": 4, \"api\": \"ipc:///d\"}],"
			     " \"paths\": [{\"name\": \"a-c\", \"nodes\": [\"a\", \"b\", \"c\"]}]}";

static struct fake_nodes fake;

// ---- what should be ----

static struct wanted {
	bool exists;
	bool at[FAKE_NODES];
	unsigned port, setting;
	bool hop_enabled;
} model[NAMESPACES + 1];

static uint64_t seed;

static unsigned roll(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 20) % n);
}

static const char *const targets[] = {
		"",
		", \"on\": {\"path\": \"a-c\"}",
		", \"on\": {\"source\": \"d\"}",
		", \"on\": {\"nodes\": [\"b\", \"d\"]}",
		", \"on\": {\"nodes\": [\"a\"]}",
};
static const bool where[][FAKE_NODES] = {
		{1, 1, 1, 1}, {1, 1, 1, 0}, {0, 0, 0, 1}, {0, 1, 0, 1}, {1, 0, 0, 0}};

static size_t write_request(char *text, size_t size, unsigned ns_id, struct wanted *wanted)
{
	unsigned target = roll(sizeof(targets) / sizeof(targets[0]));

	*wanted = (struct wanted){.exists = true,
			.port = roll(3) + 1,
			.setting = roll(5) + 1,
			.hop_enabled = true};
	memcpy(wanted->at, where[target], sizeof(wanted->at));
	return (size_t)snprintf(text, size,
			"{\"int_request\": {\"ns_id\": %u, \"src_ip\": \"2001:db8::%x\", "
			"\"dst_ip\": \"2001:db8::2\", \"dst_port\": %u, \"protocol\": \"udp\", "
			"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", \"mode_setting\": "
			"%u%s}}",
			ns_id, ns_id, wanted->port, wanted->setting, targets[target]);
}

// ---- what happens ----

static void ask(const char *text)
{
	fake_ask(&fake, text);
	if (!fake.reply || !json_object_get(fake.reply, "ok")) {
		char *reply = json_dumps(fake.reply, 0);
		fail_msg("%s -> %s", text, reply);
	}
}

static void add_or_remove(void)
{
	unsigned ns_id = roll(NAMESPACES) + 1;
	char text[640];

	if (model[ns_id].exists) {
		snprintf(text, sizeof(text), "{\"int_delete\": {\"ns_id\": %u}}", ns_id);
		model[ns_id].exists = false;
	} else {
		write_request(text, sizeof(text), ns_id, &model[ns_id]);
	}
	ask(text);
}

static void replace(void)
{
	unsigned ns_id = roll(NAMESPACES) + 1;
	char text[800];

	if (!model[ns_id].exists)
		return;
	int n = snprintf(text, sizeof(text), "[{\"int_delete\": {\"ns_id\": %u}}, ", ns_id);
	size_t length = (size_t)n;
	length += write_request(text + length, sizeof(text) - length, ns_id, &model[ns_id]);
	snprintf(text + length, sizeof(text) - length, "]");
	ask(text);
}

static void change(void)
{
	unsigned ns_id = roll(NAMESPACES) + 1;
	struct wanted *wanted = &model[ns_id];
	char text[200];

	if (!wanted->exists)
		return;
	wanted->setting = roll(5) + 1;
	wanted->hop_enabled = roll(2);
	snprintf(text, sizeof(text),
			"{\"int_update\": {\"ns_id\": %u, \"mode_setting\": %u, \"hop_enabled\": "
			"%s}}",
			ns_id, wanted->setting, wanted->hop_enabled ? "true" : "false");
	ask(text);
}

// Two questions in one list are refused after the first changes were made.
static void fail_half_way(void)
{
	unsigned ns_id = roll(NAMESPACES) + 1;
	struct wanted ignored;
	char text[900];

	if (!model[ns_id].exists)
		return;
	int n = snprintf(text, sizeof(text), "[{\"int_delete\": {\"ns_id\": %u}}, ", ns_id);
	size_t length = (size_t)n;
	length += write_request(text + length, sizeof(text) - length, ns_id, &ignored);
	snprintf(text + length, sizeof(text) - length, ", {\"audit\": {}}, {\"audit\": {}}]");
	assert_string_equal(fake_error(&fake, text), "unsupported");
}

static void disturb_rules(struct fake_node *node)
{
	char text[400];

	switch (roll(3)) {
	case 0: // somebody removes one of ours
		if (node->n_rules && node->rules[0].ns_id < FOREIGN_NS) {
			snprintf(text, sizeof(text), "{\"int_delete\": {\"ns_id\": %u}}",
					node->rules[0].ns_id);
			fake_at_node(&fake, node->id - 1u, text);
		}
		return;
	case 1: // somebody has rules of his own
		if (node->n_rules >= node->capacity ||
				fake_rule(&fake, node->id - 1u, FOREIGN_NS + node->id))
			return;
		snprintf(text, sizeof(text),
				"{\"int_request\": {\"ns_id\": %u, \"src_ip\": \"2001:db8::1\", "
				"\"dst_ip\": \"2001:db8::2\", \"protocol\": \"tcp\", "
				"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", "
				"\"mode_setting\": 1}}",
				FOREIGN_NS + node->id);
		fake_at_node(&fake, node->id - 1u, text);
		return;
	default:
		node->capacity = roll(2) ? FAKE_RULES : 4;
		return;
	}
}

static void disturb(void)
{
	unsigned at = roll(FAKE_NODES);
	struct fake_node *node = &fake.nodes[at];

	switch (roll(7)) {
	case 0:
		node->connected = !node->connected;
		return;
	case 1:
		node->deaf = !node->deaf;
		return;
	case 2: // what is on its way is lost, too
		node->connected = roll(2);
		fake_restart(&fake, at);
		return;
	case 3:
		fake.lose_percent = roll(3) ? 0 : roll(60);
		return;
	case 4:
		node->mute = roll(2); // does what it is told, and does not say so
		return;
	case 5:
		disturb_rules(node);
		return;
	default:
		if (roll(8) == 0) {
			if (roll(2))
				fake_snapshot(&fake);
			fake_reopen(&fake);
		}
		return;
	}
}

static void happen(void)
{
	switch (roll(8)) {
	case 0:
	case 1:
		add_or_remove();
		break;
	case 2:
		replace();
		break;
	case 3:
	case 4:
		change();
		break;
	case 5:
		fail_half_way();
		break;
	default:
		disturb();
	}
	if (roll(3))
		fake_run(&fake, roll(20) ? roll(8) * MS : roll(1500) * MS);
}

// ---- what is then ----

static void become_quiet(void)
{
	fake.lose_percent = 0;
	for (unsigned i = 0; i < FAKE_NODES; i++) {
		struct fake_node *node = &fake.nodes[i];
		node->connected = true;
		node->deaf = node->mute = false;
		node->capacity = FAKE_RULES;
	}
	fake_run(&fake, 30 * SECOND);
}

static const char *shown(unsigned ns_id, unsigned at)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	const char *state = fake_state(&fake, ns_id, names[at]);
	return state ? state : "not wanted";
}

static void check_node(unsigned at, unsigned round)
{
	const struct fake_node *node = &fake.nodes[at];
	unsigned n = 0;

	for (unsigned ns_id = 1; ns_id <= NAMESPACES; ns_id++) {
		const struct wanted *wanted = &model[ns_id];
		const struct hs_rule *found = fake_rule(&fake, at, ns_id);
		bool expected = wanted->exists && wanted->at[at];
		if (expected != (found != NULL))
			fail_msg("round %u: ns_id %u at node %u: %s (%s)", round, ns_id, at,
					expected ? "missing" : "left", shown(ns_id, at));
		if (!found)
			continue;
		n++;
		if (found->dst_port != wanted->port || found->mode_setting != wanted->setting ||
				found->hop_enabled != wanted->hop_enabled)
			fail_msg("round %u: ns_id %u at node %u is not as it is wanted (%s)", round,
					ns_id, at, shown(ns_id, at));
	}
	assert_int_equal(node->n_rules, n + (fake_rule(&fake, at, FOREIGN_NS + node->id) != NULL));
}

static void check_shown(void)
{
	json_t *rules = json_object_get(fake_ok(&fake, "{\"int_list\": {}}"), "rules"), *rule,
	       *state;
	const char *name;
	size_t i;

	json_array_foreach (rules, i, rule)
		json_object_foreach (json_object_get(rule, "nodes"), name, state)
			assert_string_equal(json_string_value(state), "present");
	assert_int_equal(json_array_size(rules), hs_controller_changes(fake.controller));
}

static void after_anything_each_node_has_exactly_what_is_wanted(void **state)
{
	const char *given = getenv("CONTROLLER_SEED"), *rounds = getenv("CONTROLLER_ROUNDS");

	(void)state;
	seed = given ? strtoull(given, NULL, 0) : UINT64_C(0x9e3779b97f4a7c15);
	fake_open(&fake, config);
	for (unsigned round = 0; round < (rounds ? (unsigned)atoi(rounds) : 60); round++) {
		for (unsigned i = 0; i < 100; i++)
			happen();
		become_quiet();
		for (unsigned at = 0; at < FAKE_NODES; at++)
			check_node(at, round);
		check_shown();
		json_array_clear(fake.published);
	}
	fake_close(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(after_anything_each_node_has_exactly_what_is_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
