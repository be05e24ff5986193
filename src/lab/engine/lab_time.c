// SPDX-License-Identifier: BSD-3-Clause
// The clocks of nodes. A counter runs like the node's oscillator, and the node's clock follows the
// system's clock (lab_clock.h) as a daemon's clock does.
#include "lab_parts.h"

#include "clock_servo.h"

#define MINUTE_NS INT64_C(60000000000)

int lab_make_clock(struct lab_node *node)
{
	const struct hs_scenario *scenario = node->lab->scenario;
	const struct hs_clock_source source = {
			.ticks = hs_lab_clock_ticks,
			.realtime_ns = hs_lab_clock_realtime,
			.monotonic_ns = hs_lab_clock_monotonic,
			.context = &node->model,
			.kernel = hs_lab_clock_kernel,
			.rate = UINT64_C(1) << HS_CLOCK_RATE_SHIFT,
	};

	hs_lab_clock_init(&node->model, &node->scenario->clock,
			lab_seed(scenario, "clock", node->index), &node->lab->now_ns);
	int rc = hs_clock_create_from(&source, HS_CLOCK_UTC, &node->clock);
	if (rc == 0)
		hs_clock_set_step(node->clock, scenario->clock_step_ms * INT64_C(1000000));
	return rc;
}

void lab_clock_stepped(struct lab_node *node, int64_t stepped_ns)
{
	int64_t back_ns = node->stepped_ns - stepped_ns;

	if (back_ns > 0)
		node->unfold_ns += (back_ns + MINUTE_NS - 1) / MINUTE_NS * MINUTE_NS;
	node->unfold_ns += MINUTE_NS;
	node->stepped_ns = stepped_ns;
	node->lab->run.measured->ahead_ns[node->scenario->id] = node->unfold_ns;
}

int64_t lab_clock_when(const struct lab_node *node, int64_t shown_ns)
{
	int64_t now_ns = node->lab->now_ns;
	struct hs_clock_line line;

	hs_clock_line(node->clock, &line);
	if (shown_ns > now_ns + INT64_MAX / 4)
		return HS_EVENT_NEVER;
	// The first count at which the line has reached the time.
	__int128 ahead = ((__int128)shown_ns - line.base_ns) << HS_CLOCK_RATE_SHIFT;
	__int128 count = line.base_ticks + (ahead + line.rate - 1) / line.rate;
	return RTE_MAX(now_ns, hs_lab_clock_ticked(&node->model, (uint64_t)RTE_MAX(count, 0)));
}
