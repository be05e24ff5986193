// SPDX-License-Identifier: BSD-3-Clause
// The node's clock as control sees it: its status and its steps. A step shifts all times at which
// control must act, so that nothing is late or early because of it.
#include "ctl_parts.h"

#include <inttypes.h>

#define SECOND_NS INT64_C(1000000000)
// Reports whose packets were received in the old time may come this long after the step.
#define STRAGGLERS_NS SECOND_NS

static void give_monitor(struct hs_ctl *ctl, const struct hs_clock_status *now)
{
	hs_qos_set_clock(ctl->qos, &(struct hs_qos_clock){.known = now->known,
						   .synchronised = now->synchronised,
						   .error_ns = now->error_ns,
						   .offset_ns = now->offset_ns,
						   .kernel_offset_ns = now->kernel.offset_ns,
						   .esterror_ns = now->kernel.esterror_ns,
						   .maxerror_ns = now->kernel.maxerror_ns,
						   .status = now->kernel.status,
						   .steps = now->steps});
}

void hs_ctl_watch_clock(struct hs_ctl *ctl)
{
	struct hs_clock_status was = ctl->clock_status, *now = &ctl->clock_status;

	hs_clock_status(ctl->clock, now);
	give_monitor(ctl, now);
	bool changed = ctl->clock_told && was.synchronised != now->synchronised;
	bool unknown_before = !ctl->clock_told && now->known && !now->synchronised;
	if (changed || unknown_before)
		hs_ctl_event(ctl, "clock", json_pack("{s:b}", "synchronised", now->synchronised),
				now->synchronised ? "the system's clock is synchronised"
						  : "the system's clock is not synchronised: "
						    "delays between nodes are not to be trusted");
	ctl->clock_told = now->known;
}

// ---- a step ----

static void shift(int64_t *ns, int64_t by_ns)
{
	if (*ns != INT64_MAX && *ns != 0) // INT64_MAX: never; 0: none
		*ns += by_ns;
}

static void shift_limiters(struct hs_ctl *ctl, int64_t by_ns)
{
	struct limiter *all[] = {&ctl->lost_limit, &ctl->cap_limit, &ctl->state_limit,
			&ctl->refused_limit, &ctl->signals_limit};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		shift(&all[i]->next_ns, by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		shift(&ctl->rx_error_limits[i].next_ns, by_ns);
}

static void shift_own(struct hs_ctl *ctl, int64_t by_ns)
{
	int64_t *all[] = {&ctl->start_ns, &ctl->next_tick_ns, &ctl->next_second_ns,
			&ctl->spread_next_ns, &ctl->spread_soonest_ns, &ctl->taken_told_ns,
			&ctl->carry_next_ns, &ctl->untold_ns};

	ctl->now_ns += by_ns;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		shift(all[i], by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		shift(&ctl->guest_due_ns[i], by_ns);
	shift_limiters(ctl, by_ns);
}

static void shift_spreading(struct hs_ctl *ctl, struct spreading *s, int64_t by_ns)
{
	struct hs_flow_offer *offer = hs_flow_table_offer(ctl->flows, s->slot);

	shift(&s->due_ns, by_ns);
	shift(&s->stands_ns, by_ns);
	shift(&s->first_ns, by_ns);
	shift(&s->last_ns, by_ns);
	s->signed_ns = 0; // long ago, so that waiting requests are signed again with the new time
	// Receivers that compare times have not accepted a time so far ahead.
	int64_t age_ns = ctl->in_band.max_age_s * SECOND_NS;
	if (age_ns && s->counter > (uint64_t)(ctl->now_ns + age_ns))
		s->counter = 0;
	if (offer && hs_ctl_offer_state(offer) == HS_OFFER_SENT)
		atomic_fetch_add_explicit(&offer->sent_ns, by_ns, memory_order_relaxed);
}

static void shift_rules(struct hs_ctl *ctl, int64_t by_ns)
{
	struct spreading *spreading;
	struct guest *guest;
	struct backlog *backlog;

	TAILQ_FOREACH (spreading, &ctl->spreading, order)
		shift_spreading(ctl, spreading, by_ns);
	TAILQ_FOREACH (guest, &ctl->guests, order) {
		shift(&guest->installed_ns, by_ns);
		shift(&guest->refresh_ns, by_ns);
		shift(&guest->expires_ns, by_ns);
	}
	TAILQ_FOREACH (backlog, &ctl->backlogs, order)
		shift(&backlog->waits_ns, by_ns);
	for (uint32_t slot = 0; slot < hs_flow_table_capacity(ctl->flows); slot++) {
		if (!ctl->notes[slot])
			continue;
		shift(&ctl->notes[slot]->no_room_next_ns, by_ns);
		shift(&ctl->notes[slot]->shadow_limit.next_ns, by_ns);
	}
}

static void tell_step(struct hs_ctl *ctl, const struct hs_clock_status *status, int64_t amount_ns)
{
	hs_ctl_event(ctl, "clock_step",
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
	struct hs_ctl *ctl = context;
	struct hs_clock_status status;

	hs_ctl_drain(ctl, hs_ctl_waiting(ctl));
	hs_clock_status(ctl->clock, &status);
	give_monitor(ctl, &status);
	hs_ctl_shadow_mark(ctl);
	hs_qos_clock_step(ctl->qos);
	ctl->close_after_reports = 0;
	shift_own(ctl, amount_ns);
	shift_rules(ctl, amount_ns);
	hs_ctl_seen_shift(ctl, amount_ns);
	ctl->step_ns = ctl->now_ns;
	ctl->step_amount_ns = amount_ns;
	tell_step(ctl, &status, amount_ns);
	hs_ctl_watch_clock(ctl);
}

// A burst that was under way at the step has stamps of the old time.
bool hs_ctl_is_of_old_time(const struct hs_ctl *ctl, const struct hs_report *report)
{
	if (!ctl->step_amount_ns || ctl->now_ns - ctl->step_ns > STRAGGLERS_NS)
		return false;
	int64_t ahead_ns = report->sink_ts_ns - ctl->now_ns;
	return ctl->step_amount_ns < 0 ? ahead_ns > -ctl->step_amount_ns / 2
				       : ahead_ns < -ctl->step_amount_ns / 2;
}

void hs_ctl_open_clock(struct hs_ctl *ctl)
{
	hs_clock_on_step(ctl->clock, on_step, ctl);
}

void hs_ctl_close_clock(struct hs_ctl *ctl)
{
	if (ctl->clock)
		hs_clock_on_step(ctl->clock, NULL, NULL);
}
