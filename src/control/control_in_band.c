// SPDX-License-Identifier: BSD-3-Clause
// Rules that spread. At the source, a packet of the flow carries the request before the first
// telemetry. The request is repeated, for nodes that are new or were restarted.
#include "control_parts.h"

#include <rte_common.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS    INT64_C(1000000000)
#define WAITING_NS   (5 * SECOND_NS) // time without room before an event reports it
#define LOOK_NS	     INT64_C(10000000)
#define LOOK_RULE_NS 2000 // for each rule; a look at one takes some 50 ns
#define AT_ONCE	     1024 // rules in one look, which takes well under a millisecond

// ---- the request ----

// Returns false if a packet has the pending options just now.
static bool make_ready(struct hs_control *control, struct advertised *s)
{
	const struct hs_rule *rule = hs_flow_table_rule(control->flows, s->slot);
	struct hs_flow_pending *pending = hs_flow_table_pending(control->flows, s->slot);
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	uint64_t now = (uint64_t)control->now_ns;

	if (!pending || !hs_control_pending_open(pending, true))
		return false;
	if (s->stands)
		s->refused += atomic_load_explicit(&pending->refused, memory_order_relaxed);
	// The counter must not repeat when the clock was set back.
	s->counter = now > s->counter ? now : s->counter + 1;
	int len = hs_in_band_write(&control->in_band, rule, s->counter, bytes, NULL);
	if (len < 0) // the rule was checked, so only memory can be out
		return false;
	pending->n_bytes = hs_control_pending_options(
			pending->bytes, HS_OPT_REQUEST, bytes, (size_t)len);
	hs_control_pending_publish(control, s->slot, pending, rule->ns_id, s->sent == 0);
	if (!s->stands) {
		s->stands_ns = control->now_ns;
		s->refused = 0;
		s->told = false;
	}
	s->stands = true;
	s->changed = false;
	s->signed_ns = control->now_ns;
	return true;
}

// ---- when ----

static void schedule(struct hs_control *control, struct advertised *s)
{
	const struct hs_in_band_settings *in_band = &control->in_band;
	int64_t interval_ns = in_band->interval_s * SECOND_NS;

	if (s->changed) {
		s->due_ns = control->now_ns;
		s->first_ns = 0;
		return;
	}
	if (!s->first_ns) {
		s->first_ns = s->last_ns;
		s->due_ns = s->first_ns;
		s->stage = 0;
	}
	// Repeats that found no packet are not sent later in addition.
	while (s->stage < in_band->n_repeats) {
		s->due_ns = s->first_ns + in_band->repeats_ns[s->stage++];
		if (s->due_ns > s->last_ns)
			return;
	}
	s->due_ns += interval_ns;
	if (s->due_ns <= s->last_ns)
		s->due_ns = s->last_ns + interval_ns;
}

static void settle(
		struct hs_control *control, struct advertised *s, struct hs_flow_pending *pending)
{
	int64_t sent_ns = atomic_load_explicit(&pending->sent_ns, memory_order_relaxed);
	s->last_ns = RTE_MIN(sent_ns, control->now_ns); // before a clock step: just now
	s->sent++;
	s->stands = false;
	control->counts.requests_in_band_sent++;
	// Pending options that was sent holds no telemetry back. Left set, it would.
	atomic_store_explicit(&pending->holds_telemetry, false, memory_order_relaxed);
	atomic_store_explicit(&pending->state, HS_PENDING_EMPTY, memory_order_release);
	hs_control_pending_clear(control, s->slot, pending);
	schedule(control, s);
}

static void tell_waiting(
		struct hs_control *control, struct advertised *s, struct hs_flow_pending *pending)
{
	uint64_t refused =
			s->refused + atomic_load_explicit(&pending->refused, memory_order_relaxed);
	uint32_t ns_id = pending->ns_id;

	if (s->told || !refused || control->now_ns - s->stands_ns < WAITING_NS)
		return;
	s->told = true;
	hs_control_event(control, "request_waiting",
			json_pack("{s:I, s:I, s:i}", "ns_id", (json_int_t)ns_id, "packets",
					(json_int_t)refused, "request_bytes", pending->n_bytes),
			"rule %" PRIu32 ": its request of %u bytes waits for a packet with room "
			"for it; %" PRIu64 " had none",
			ns_id, pending->n_bytes, refused);
}

// A signature that waited for a packet is made anew, because receivers check its age.
static bool is_old(const struct hs_control *control, const struct advertised *s)
{
	int64_t age_ns = control->in_band.max_age_s * SECOND_NS;
	return control->in_band.has_key && age_ns && control->now_ns - s->signed_ns > age_ns / 4;
}

// Control finds what packets took by looking. It looks so rarely that many rules, whose flows may
// be silent, take at most a few percent of the core.
static int64_t look_ns(const struct hs_control *control)
{
	int64_t all_ns = (int64_t)control->n_advertised * LOOK_RULE_NS;
	return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static void look_at(struct hs_control *control, struct advertised *s)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(control->flows, s->slot);

	if (pending && s->stands && hs_control_pending_state(pending) == HS_PENDING_SENT)
		settle(control, s, pending);
	if (pending && s->stands && hs_control_pending_state(pending) == HS_PENDING_READY) {
		tell_waiting(control, s, pending);
		if (s->changed || is_old(control, s))
			make_ready(control, s);
	}
	if (!s->stands && s->due_ns <= control->now_ns)
		make_ready(control, s);
	bool waits = s->stands || s->due_ns <= control->now_ns;
	int64_t next_ns = waits ? control->now_ns + look_ns(control) : s->due_ns;
	if (next_ns < control->spread_soonest_ns)
		control->spread_soonest_ns = next_ns;
}

void hs_control_spread(struct hs_control *control)
{
	if (control->now_ns < control->spread_next_ns)
		return;
	if (!control->spread_at) {
		control->spread_at = TAILQ_FIRST(&control->advertised);
		control->spread_soonest_ns = INT64_MAX;
	}
	for (unsigned i = 0; i < AT_ONCE && control->spread_at; i++) {
		struct advertised *s = control->spread_at;
		control->spread_at = TAILQ_NEXT(s, order);
		look_at(control, s);
	}
	control->spread_next_ns = control->spread_at ? control->now_ns : control->spread_soonest_ns;
}

// ---- rules ----

static void look_soon(struct hs_control *control)
{
	control->spread_next_ns = control->spread_soonest_ns = control->now_ns;
}

void hs_control_spread_begin(struct hs_control *control, uint32_t slot)
{
	struct rule_note *note = hs_control_note(control, slot);
	struct advertised *s = note ? calloc(1, sizeof(*s)) : NULL;

	// Without this memory, the rule would hold its telemetry back for ever.
	if (!s) {
		hs_flow_table_pending_set(control->flows, slot, false);
		return;
	}
	note->advertised = s;
	s->slot = slot;
	s->due_ns = control->now_ns;
	TAILQ_INSERT_TAIL(&control->advertised, s, order);
	control->n_advertised++;
	look_soon(control);
	make_ready(control, s);
}

void hs_control_spread_changed(struct hs_control *control, uint32_t slot)
{
	struct rule_note *note = control->notes[slot];
	struct advertised *s = note ? note->advertised : NULL;

	if (!s)
		return;
	s->changed = true;
	s->first_ns = 0;
	s->due_ns = control->now_ns;
	look_soon(control);
	struct hs_flow_pending *pending = hs_flow_table_pending(control->flows, slot);
	if (pending && s->stands && hs_control_pending_state(pending) == HS_PENDING_SENT)
		settle(control, s, pending);
	make_ready(control, s);
}

void hs_control_spread_end(struct hs_control *control, struct advertised *s)
{
	if (control->spread_at == s)
		control->spread_at = TAILQ_NEXT(s, order);
	TAILQ_REMOVE(&control->advertised, s, order);
	control->n_advertised--;
	free(s);
}
