// SPDX-License-Identifier: BSD-3-Clause
// The clock of the node as control sees it: its status and its steps.
//
// Thread rule: owner (the control thread).
#pragma once

#include "clock.h"

#include <stdbool.h>
#include <stdint.h>

struct control_events;
struct hs_node_totals;
struct hs_qos;

struct control_clock { // zeroed at first
	struct hs_clock *clock;
	struct hs_qos *qos;
	struct hs_clock_status status; // at the last look
	bool told;
	int64_t step_ns, step_amount_ns; // time of the last step in the new time, 0: none; its
					 // amount
};

// Borrows both.
void hs_control_open_clock(struct control_clock *clock, struct hs_clock *of, struct hs_qos *qos);
// The clock calls nobody before a step from now on.
void hs_control_close_clock(struct control_clock *clock);
// Compares the clock with the system's. The clock may step.
void hs_control_correct_clock(struct control_clock *clock);
// Looks at the status of the clock, and reports as an event when that changes.
void hs_control_watch_clock(struct control_clock *clock, struct control_events *events);
// Returns whether the system's clock is known to be not synchronised.
bool hs_control_clock_is_off(const struct control_clock *clock);
void hs_control_clock_totals(const struct control_clock *clock, struct hs_node_totals *totals);

// ---- a step ----

// Tells the monitor about the clock before a step, while the time is the old one.
void hs_control_clock_steps(struct control_clock *clock);
// Reports the step as an event. `now_ns` is in the new time.
void hs_control_clock_stepped(struct control_clock *clock, int64_t now_ns, int64_t amount_ns,
		struct control_events *events);

// Reports whose packets were received in the old time may come this long after the step.
#define CONTROL_STRAGGLERS_NS INT64_C(1000000000)

// Returns whether a report has a stamp of the old time: its burst was under way at the step.
static inline bool hs_control_clock_is_old(
		const struct control_clock *clock, int64_t now_ns, int64_t sink_ts_ns)
{
	if (!clock->step_amount_ns || now_ns - clock->step_ns > CONTROL_STRAGGLERS_NS)
		return false;
	int64_t ahead_ns = sink_ts_ns - now_ns;
	return clock->step_amount_ns < 0 ? ahead_ns > -clock->step_amount_ns / 2
					 : ahead_ns < -clock->step_amount_ns / 2;
}
