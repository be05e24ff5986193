// SPDX-License-Identifier: BSD-3-Clause
// Workers that help the monitor (workers_help_monitor).
#include "control_rig.h"

// The worker's ring holds 15 reports. The answers are the same with and without help.
static void a_worker_whose_ring_is_more_than_half_full_helps_the_monitor(void **state)
{
	(void)state;
	json_t *answers[2];
	for (unsigned help = 0; help < 2; help++) {
		rig_helps = help;
		struct rig *r = rig_open(SINK, 1500, 8);
		install(r, 7, ", \"transmit_report\": false");
		for (unsigned i = 0; i < 300; i++) {
			feed_sampled(r, 7, 0x7000);
			if (i % 8 == 7)
				step(r, 1000);
		}
		step(r, 1000);
		json_t *t = totals(r);
		assert_number(t, "reports_lost", 0);
		assert_in_range(number(t, "reports_helped"), help ? 64 : 0, help ? 300 : 0);
		answers[help] = ask(r, "{\"qos_get\": {\"ns_id\": 7, \"window\": \"run\"}}");
		assert_number(json_array_get(json_object_get(answers[help], "qos"), 0), "reports",
				300);
		json_decref(t);
		assert_audit_ok(r);
		rig_close(r);
	}
	rig_helps = false;
	assert_true(json_equal(answers[0], answers[1]));
	json_decref(answers[0]);
	json_decref(answers[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_worker_whose_ring_is_more_than_half_full_helps_the_monitor),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
