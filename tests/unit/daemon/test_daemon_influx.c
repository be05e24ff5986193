// SPDX-License-Identifier: BSD-3-Clause
// The counters of rules for databases, while rules come and go between two portions.
#include "control_rig.h"

#include "daemon_influx.h"

#define RULES 100

static const struct hs_influx_config config = {.interval_ns = SECOND};
static unsigned lines[RULES + 1]; // of each rule, by ns_id

unsigned __wrap_hs_influx_count(const struct hs_influx *influx);
const struct hs_influx_config *__wrap_hs_influx_config(
		const struct hs_influx *influx, unsigned index);
void __wrap_hs_influx_add(
		struct hs_influx *influx, unsigned index, const char *text, size_t len, unsigned n);

unsigned __wrap_hs_influx_count(const struct hs_influx *influx)
{
	(void)influx;
	return 1;
}

const struct hs_influx_config *__wrap_hs_influx_config(
		const struct hs_influx *influx, unsigned index)
{
	(void)influx, (void)index;
	return &config;
}

void __wrap_hs_influx_add(
		struct hs_influx *influx, unsigned index, const char *text, size_t len, unsigned n)
{
	const char *end = text + len, *at = text;

	(void)influx, (void)index, (void)n;
	while ((at = memmem(at, (size_t)(end - at), "ns_id=", 6))) {
		unsigned ns_id = (unsigned)atoi(at += 6);
		assert_in_range(ns_id, 1, RULES);
		lines[ns_id]++;
	}
}

static void delete_rules(struct rig *r, unsigned first, unsigned last)
{
	for (unsigned ns_id = first; ns_id <= last; ns_id++) {
		struct hs_error err = {0};
		assert_int_equal(hs_flow_table_remove(hs_node_flows(r->t.node), ns_id, &err), 0);
	}
}

// The rule at which a portion ended is removed, with its neighbours, before the next portion.
static void rules_that_go_between_two_portions_end_no_round(void **state)
{
	(void)state;
	for (unsigned last = 64; last <= RULES; last += 36) {
		rig_rules = 128;
		struct rig *r = rig_open(SOURCE, 1500, 8);
		struct daemon_influx influx = {.node = r->t.node};
		memset(lines, 0, sizeof(lines));
		for (unsigned ns_id = 1; ns_id <= RULES; ns_id++)
			install(r, ns_id, "");
		assert_true(hs_daemon_influx_step(&influx, r->control, r->now_ns));
		delete_rules(r, 60, last);
		for (unsigned i = 0; hs_daemon_influx_step(&influx, r->control, r->now_ns); i++)
			assert_true(i < 10);
		for (unsigned ns_id = 1; ns_id <= RULES; ns_id++)
			if (ns_id < 60 || ns_id > last)
				assert_int_equal(lines[ns_id], 1);
		hs_influx_text_fini(&influx.text);
		rig_close(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(rules_that_go_between_two_portions_end_no_round),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
