// SPDX-License-Identifier: BSD-3-Clause
// Copies of probes in the audit of a node.
#include "control_rig.h"

#include "probe_bytes.h"
#include "probe_steps.h"

#define HELD 64

static const struct hs_probe_profile profile = {
		.wire = {.dscp = 0x17,
				.feedback_dscp = 0x19,
				.recovery_dscp = 0x21,
				.udp_port = 7777},
		.recovery = true,
		.held = HELD,
		.rate_pps = 1000000,
		.timeout_ns = SECOND,
		.seen_ns = SECOND,
};

static struct rig *late;   // whose copies come due while control counts
static unsigned due_at;	   // the count at which they do
static uint32_t forgotten; // copies that the node waits for and has not counted

uint32_t __real_hs_node_probes_held(const struct hs_node *node);
uint32_t __wrap_hs_node_probes_held(const struct hs_node *node);

uint32_t __wrap_hs_node_probes_held(const struct hs_node *node)
{
	if (late && !due_at--) {
		hs_clock_set(late->clock, late->now_ns + 2 * SECOND);
		test_node_run(&late->t);
		late = NULL;
	}
	return __real_hs_node_probes_held(node) + forgotten;
}

static void probe(struct hs_node_config *node, struct hs_control_output *output)
{
	(void)output;
	for (unsigned p = 0; p < 2; p++)
		node->profiles[p] = (struct hs_profile){
				.family = &hs_probe_steps, .settings = &profile};
}

// A node that holds as many copies as it may.
static struct rig *open_rig(void)
{
	static const enum hs_port_side sides[] = {HS_SIDE_NETWORK, HS_SIDE_NETWORK};
	uint8_t sent[256];
	char payload[64];

	rig_change = probe;
	struct rig *r = rig_open(sides, 1500, 8);
	for (unsigned id = 0; id < HELD; id++) {
		snprintf(payload, sizeof(payload), "%04x 0002 020000 020000 0000 0000", 2 * id);
		struct probe_bytes bytes = probe_made(0x17, payload, false);
		test_node_feed(&r->t, 0, bytes.at, bytes.len, 0);
		test_node_run(&r->t);
		assert_int_not_equal(test_node_take(&r->t, 0, sent, sizeof(sent)), 0);
		assert_int_not_equal(test_node_take(&r->t, 1, sent, sizeof(sent)), 0);
	}
	json_t *counts = totals(r);
	assert_number(counts, "probes_held", HELD);
	json_decref(counts);
	return r;
}

static void copies_that_come_due_while_control_counts_do_not_break_the_audit(void **state)
{
	(void)state;
	unsigned n_due = 0;

	for (unsigned at = 0; at < 8; at++) {
		struct rig *r = open_rig();
		late = r;
		due_at = at;
		assert_audit_ok(r);
		n_due += !late;
		late = NULL;
		rig_close(r);
	}
	assert_in_range(n_due, 2, 7); // at each count of an audit
}

static void copies_that_nobody_counted_are_found(void **state)
{
	(void)state;
	struct rig *r = open_rig();

	forgotten = 2 * HS_BURST;
	json_t *audit = ask(r, "{\"audit\": {}}");
	assert_true(json_is_false(json_object_get(audit, "ok")));
	json_decref(audit);
	forgotten = 0;
	assert_audit_ok(r);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					copies_that_come_due_while_control_counts_do_not_break_the_audit),
			cmocka_unit_test(copies_that_nobody_counted_are_found),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
