// SPDX-License-Identifier: BSD-3-Clause
// The node's clock as control sees it: its status and its steps. A step shifts all times at which
// control must act, so that nothing is late or early because of it.
#include "control_clock.h"
#include "control_event.h"
#include "control_parts.h"
#include "control_report.h"
#include "control_shadow.h"

#include <inttypes.h>

static void give_monitor(struct hs_control *control, const struct hs_clock_status *now)
{
	hs_qos_set_clock(control->qos, &(struct hs_qos_clock){.known = now->known,
						       .synchronised = now->synchronised,
						       .error_ns = now->error_ns,
						       .offset_ns = now->offset_ns,
						       .kernel_offset_ns = now->kernel.offset_ns,
						       .esterror_ns = now->kernel.esterror_ns,
						       .maxerror_ns = now->kernel.maxerror_ns,
						       .status = now->kernel.status,
						       .steps = now->steps});
}

void hs_control_watch_clock(struct hs_control *control)
{
	struct hs_clock_status was = control->clock_status, *now = &control->clock_status;

	hs_clock_status(control->clock, now);
	give_monitor(control, now);
	bool changed = control->clock_told && was.synchronised != now->synchronised;
	bool unknown_before = !control->clock_told && now->known && !now->synchronised;
	if (changed || unknown_before)
		hs_control_event(&control->events, "clock",
				json_pack("{s:b}", "synchronised", now->synchronised),
				now->synchronised ? "the system's clock is synchronised"
						  : "the system's clock is not synchronised: "
						    "delays between nodes are not to be trusted");
	control->clock_told = now->known;
}

// ---- a step ----

static void shift_limits(struct hs_control *control, int64_t by_ns)
{
	struct hs_event_limit *all[] = {&control->lost_limit, &control->cap_limit,
			&control->memory_limit, &control->state_limit, &control->signals_limit,
			&control->influx_limit};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		hs_clock_shift(&all[i]->next_ns, by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		hs_clock_shift(&control->rx_error_limits[i].next_ns, by_ns);
}

static void shift_all(struct hs_control *control, int64_t by_ns)
{
	control->now_ns += by_ns;
	hs_clock_shift(&control->start_ns, by_ns);
	hs_clock_shift(&control->next_tick_ns, by_ns);
	hs_clock_shift(&control->next_second_ns, by_ns);
	hs_clock_shift(&control->untold_ns, by_ns);
	shift_limits(control, by_ns);
	for (uint32_t slot = 0; slot < hs_flow_table_capacity(control->flows); slot++) {
		if (!control->notes[slot])
			continue;
		hs_clock_shift(&control->notes[slot]->no_room_next_ns, by_ns);
		hs_clock_shift(&control->notes[slot]->shadow_limit.next_ns, by_ns);
	}
	hs_in_band_shift(control->in_band, by_ns);
}

static void tell_step(
		struct hs_control *control, const struct hs_clock_status *status, int64_t amount_ns)
{
	hs_control_event(&control->events, "clock_step",
			json_pack("{s:I, s:I, s:I, s:I}", "amount_ns", (json_int_t)amount_ns,
					"old_offset_ns",
					(json_int_t)(status->offset_ns - amount_ns),
					"new_offset_ns", (json_int_t)status->offset_ns, "steps",
					(json_int_t)status->steps),
			"the system's clock jumped and the node's followed by %" PRId64 " ms",
			amount_ns / 1000000);
}

// Prepares a step of the clock. Readers see the old time until this function returns, so the
// reports that wait in the rings belong to the old time.
static void on_step(void *context, int64_t amount_ns)
{
	struct hs_control *control = context;
	struct hs_clock_status status;

	hs_control_drain(control, hs_control_waiting(control));
	hs_clock_status(control->clock, &status);
	give_monitor(control, &status);
	hs_control_shadow_mark(control);
	hs_qos_clock_step(control->qos);
	control->close_after_reports = 0;
	shift_all(control, amount_ns);
	control->step_ns = control->now_ns;
	control->step_amount_ns = amount_ns;
	tell_step(control, &status, amount_ns);
	hs_control_watch_clock(control);
}

void hs_control_open_clock(struct hs_control *control)
{
	hs_clock_on_step(control->clock, on_step, control);
}

void hs_control_close_clock(struct hs_control *control)
{
	if (control->clock)
		hs_clock_on_step(control->clock, NULL, NULL);
}
