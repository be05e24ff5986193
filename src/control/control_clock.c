// SPDX-License-Identifier: BSD-3-Clause
// The node's clock as control sees it: its status and its steps. A step shifts all times at which
// control must act, so that nothing is late or early because of it.
#include "control_parts.h"

#include <inttypes.h>

#define SECOND_NS INT64_C(1000000000)
// Reports whose packets were received in the old time may come this long after the step.
#define STRAGGLERS_NS SECOND_NS

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
		hs_control_event(control, "clock",
				json_pack("{s:b}", "synchronised", now->synchronised),
				now->synchronised ? "the system's clock is synchronised"
						  : "the system's clock is not synchronised: "
						    "delays between nodes are not to be trusted");
	control->clock_told = now->known;
}

// ---- a step ----

static void shift(int64_t *ns, int64_t by_ns)
{
	if (*ns != INT64_MAX && *ns != 0) // INT64_MAX: never; 0: none
		*ns += by_ns;
}

static void shift_limiters(struct hs_control *control, int64_t by_ns)
{
	struct limiter *all[] = {&control->lost_limit, &control->cap_limit, &control->state_limit,
			&control->refused_limit, &control->signals_limit};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		shift(&all[i]->next_ns, by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		shift(&control->rx_error_limits[i].next_ns, by_ns);
}

static void shift_own(struct hs_control *control, int64_t by_ns)
{
	int64_t *all[] = {&control->start_ns, &control->next_tick_ns, &control->next_second_ns,
			&control->spread_next_ns, &control->spread_soonest_ns,
			&control->taken_told_ns, &control->carry_next_ns, &control->untold_ns};

	control->now_ns += by_ns;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		shift(all[i], by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		shift(&control->learned_due_ns[i], by_ns);
	shift_limiters(control, by_ns);
}

static void shift_advertised(struct hs_control *control, struct advertised *s, int64_t by_ns)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(control->flows, s->slot);

	shift(&s->due_ns, by_ns);
	shift(&s->stands_ns, by_ns);
	shift(&s->first_ns, by_ns);
	shift(&s->last_ns, by_ns);
	s->signed_ns = 0; // long ago, so that waiting requests are signed again with the new time
	// Receivers that compare times have not accepted a time so far ahead.
	int64_t age_ns = control->in_band.max_age_s * SECOND_NS;
	if (age_ns && s->counter > (uint64_t)(control->now_ns + age_ns))
		s->counter = 0;
	if (pending && hs_control_pending_state(pending) == HS_PENDING_SENT)
		atomic_fetch_add_explicit(&pending->sent_ns, by_ns, memory_order_relaxed);
}

static void shift_rules(struct hs_control *control, int64_t by_ns)
{
	struct advertised *advertised;
	struct learned *learned;
	struct backlog *backlog;

	TAILQ_FOREACH (advertised, &control->advertised, order)
		shift_advertised(control, advertised, by_ns);
	TAILQ_FOREACH (learned, &control->learned, order) {
		shift(&learned->installed_ns, by_ns);
		shift(&learned->refresh_ns, by_ns);
		shift(&learned->expires_ns, by_ns);
	}
	TAILQ_FOREACH (backlog, &control->backlogs, order)
		shift(&backlog->waits_ns, by_ns);
	for (uint32_t slot = 0; slot < hs_flow_table_capacity(control->flows); slot++) {
		if (!control->notes[slot])
			continue;
		shift(&control->notes[slot]->no_room_next_ns, by_ns);
		shift(&control->notes[slot]->shadow_limit.next_ns, by_ns);
	}
}

static void tell_step(
		struct hs_control *control, const struct hs_clock_status *status, int64_t amount_ns)
{
	hs_control_event(control, "clock_step",
			json_pack("{s:I, s:I, s:I, s:I}", "amount_ns", (json_int_t)amount_ns,
					"old_offset_ns",
					(json_int_t)(status->offset_ns - amount_ns),
					"new_offset_ns", (json_int_t)status->offset_ns, "steps",
					(json_int_t)status->steps),
			"the system's clock jumped and the node's followed by %" PRId64 " ms",
			amount_ns / 1000000);
}

// Readers see the old time until this returns, so what waits in the rings belongs to the old time.
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
	shift_own(control, amount_ns);
	shift_rules(control, amount_ns);
	hs_control_seen_shift(control, amount_ns);
	control->step_ns = control->now_ns;
	control->step_amount_ns = amount_ns;
	tell_step(control, &status, amount_ns);
	hs_control_watch_clock(control);
}

// A burst that was under way at the step has stamps of the old time.
bool hs_control_is_of_old_time(const struct hs_control *control, const struct hs_report *report)
{
	if (!control->step_amount_ns || control->now_ns - control->step_ns > STRAGGLERS_NS)
		return false;
	int64_t ahead_ns = report->sink_ts_ns - control->now_ns;
	return control->step_amount_ns < 0 ? ahead_ns > -control->step_amount_ns / 2
					   : ahead_ns < -control->step_amount_ns / 2;
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
