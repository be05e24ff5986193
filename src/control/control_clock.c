// SPDX-License-Identifier: BSD-3-Clause
#include "control_clock.h"
#include "control_event.h"

#include "metric.h"
#include "qos.h"

#include <inttypes.h>

static void give_monitor(struct control_clock *clock, const struct hs_clock_status *now)
{
	hs_qos_set_clock(clock->qos, &(struct hs_qos_clock){.known = now->known,
						     .synchronised = now->synchronised,
						     .error_ns = now->error_ns,
						     .offset_ns = now->offset_ns,
						     .kernel_offset_ns = now->kernel.offset_ns,
						     .esterror_ns = now->kernel.esterror_ns,
						     .maxerror_ns = now->kernel.maxerror_ns,
						     .status = now->kernel.status,
						     .steps = now->steps});
}

void hs_control_open_clock(struct control_clock *clock, struct hs_clock *of, struct hs_qos *qos)
{
	clock->clock = of;
	clock->qos = qos;
}

void hs_control_close_clock(struct control_clock *clock)
{
	if (clock->clock)
		hs_clock_on_step(clock->clock, NULL, NULL);
}

void hs_control_correct_clock(struct control_clock *clock)
{
	hs_clock_correct(clock->clock);
}

void hs_control_watch_clock(struct control_clock *clock, struct control_events *events)
{
	struct hs_clock_status was = clock->status, *now = &clock->status;

	hs_clock_status(clock->clock, now);
	give_monitor(clock, now);
	bool changed = clock->told && was.synchronised != now->synchronised;
	bool unknown_before = !clock->told && now->known && !now->synchronised;
	if (changed || unknown_before)
		hs_control_event(events, "clock",
				json_pack("{s:b}", "synchronised", now->synchronised),
				now->synchronised ? "the system's clock is synchronised"
						  : "the system's clock is not synchronised: "
						    "delays between nodes are not to be trusted");
	clock->told = now->known;
}

bool hs_control_clock_is_off(const struct control_clock *clock)
{
	struct hs_clock_status status;

	hs_clock_status(clock->clock, &status);
	return status.known && !status.synchronised;
}

void hs_control_clock_totals(const struct control_clock *clock, struct hs_node_totals *totals)
{
	const struct hs_clock_status *status = &clock->status;

	totals->clock_known = status->known;
	totals->clock_synchronised = status->known && status->synchronised;
	totals->clock_error_ns = (uint64_t)status->error_ns;
	totals->clock_offset_ns = status->offset_ns;
	totals->clock_steps = status->steps;
	totals->clock_kernel_offset_ns = status->kernel.offset_ns;
	totals->clock_esterror_ns = (uint64_t)status->kernel.esterror_ns;
	totals->clock_maxerror_ns = (uint64_t)status->kernel.maxerror_ns;
	totals->clock_status = (uint64_t)status->kernel.status;
}

// ---- a step ----

void hs_control_clock_steps(struct control_clock *clock)
{
	struct hs_clock_status status;

	hs_clock_status(clock->clock, &status);
	give_monitor(clock, &status);
}

void hs_control_clock_stepped(struct control_clock *clock, int64_t now_ns, int64_t amount_ns,
		struct control_events *events)
{
	struct hs_clock_status status;

	clock->step_ns = now_ns;
	clock->step_amount_ns = amount_ns;
	hs_clock_status(clock->clock, &status);
	hs_control_event(events, "clock_step",
			json_pack("{s:I, s:I, s:I, s:I}", "amount_ns", (json_int_t)amount_ns,
					"old_offset_ns", (json_int_t)(status.offset_ns - amount_ns),
					"new_offset_ns", (json_int_t)status.offset_ns, "steps",
					(json_int_t)status.steps),
			"the system's clock jumped and the node's followed by %" PRId64 " ms",
			amount_ns / 1000000);
	hs_control_watch_clock(clock, events);
}
