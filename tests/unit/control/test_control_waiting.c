// SPDX-License-Identifier: BSD-3-Clause
// Windows close in time although a worker's counters are behind the reports that it handed over.
#include "control_rig.h"

static unsigned behind; // reports that the worker has not counted yet

void __real_hs_node_worker_counters(
		const struct hs_node *node, unsigned worker, struct hs_worker_counters *counters);
void __wrap_hs_node_worker_counters(
		const struct hs_node *node, unsigned worker, struct hs_worker_counters *counters);

void __wrap_hs_node_worker_counters(
		const struct hs_node *node, unsigned worker, struct hs_worker_counters *counters)
{
	__real_hs_node_worker_counters(node, worker, counters);
	counters->reports_made -= behind;
}

static void windows_close_although_a_report_is_not_counted_yet(void **state)
{
	struct rig *r = rig_open(SINK, 1500, 8);

	(void)state;
	install(r, 7, "");
	feed_sampled(r, 7, 0x7000);
	behind = 1;
	step(r, 2 * SECOND); // the window is due
	behind = 0;
	step(r, 2 * SECOND);
	assert_true(count_published(r, "qos.7") >= 2); // the window, and one without reports
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(windows_close_although_a_report_is_not_counted_yet),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
