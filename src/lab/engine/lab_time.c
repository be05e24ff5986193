// SPDX-License-Identifier: BSD-3-Clause
// The clocks of nodes. A counter runs like the node's oscillator, and the node's clock follows the
// system's clock (lab_clock.h) as a daemon's clock does.
#include "lab_parts.h"

#include "clock_servo.h"

#define MINUTE_NS INT64_C(60000000000)

// ---- what a node's clock is derived from ----

static uint64_t ticks(void *context)
{
	const struct lab_node *node = context;

	return hs_lab_clock_ticks(node->model, node->lab->now_ns);
}

static int64_t realtime(void *context)
{
	const struct lab_node *node = context;

	return hs_lab_clock_at(node->model, node->lab->now_ns);
}

static int64_t monotonic(void *context)
{
	const struct lab_node *node = context;

	return hs_lab_clock_monotonic(node->model, node->lab->now_ns);
}

static bool kernel(void *context, struct hs_clock_kernel *kernel)
{
	const struct lab_node *node = context;

	hs_lab_clock_kernel(node->model, kernel);
	return true;
}

// ---- the node's ----

int lab_make_clock(struct lab_node *node)
{
	const struct hs_scenario *scenario = node->lab->scenario;
	const struct hs_clock_source source = {
			.ticks = ticks,
			.realtime_ns = realtime,
			.monotonic_ns = monotonic,
			.context = node,
			.kernel = kernel,
			.rate = UINT64_C(1) << HS_CLOCK_RATE_SHIFT,
	};

	int rc = hs_lab_clock_create(&node->scenario->clock,
			lab_seed(scenario, "clock", node->index), node->lab->run.start_ns,
			&node->model);
	if (rc == 0)
		rc = hs_clock_create_from(&source, HS_CLOCK_UTC, &node->clock);
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
	return RTE_MAX(now_ns, hs_lab_clock_ticked(node->model, (uint64_t)RTE_MAX(count, 0)));
}
