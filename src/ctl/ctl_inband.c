// SPDX-License-Identifier: BSD-3-Clause
// Rules that spread. At the source, a packet of the flow carries the request before the first
// telemetry. The request is repeated, for nodes that are new or were restarted.
#include "ctl_parts.h"

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

// Returns false if a packet has the offer just now.
static bool make_ready(struct hs_ctl *ctl, struct spreading *s)
{
	const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, s->slot);
	struct hs_flow_offer *offer = hs_flow_table_offer(ctl->flows, s->slot);
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	uint64_t now = (uint64_t)ctl->now_ns;

	if (!offer || !hs_ctl_offer_open(offer, true))
		return false;
	if (s->stands)
		s->refused += atomic_load_explicit(&offer->refused, memory_order_relaxed);
	// The counter must not repeat when the clock was set back.
	s->counter = now > s->counter ? now : s->counter + 1;
	int len = hs_in_band_write(&ctl->in_band, rule, s->counter, bytes, NULL);
	if (len < 0) // the rule was checked, so only memory can be out
		return false;
	offer->n_bytes = hs_ctl_offer_options(offer->bytes, HS_OPT_REQUEST, bytes, (size_t)len);
	hs_ctl_offer_publish(ctl, s->slot, offer, rule->ns_id, s->sent == 0);
	if (!s->stands) {
		s->stands_ns = ctl->now_ns;
		s->refused = 0;
		s->told = false;
	}
	s->stands = true;
	s->changed = false;
	s->signed_ns = ctl->now_ns;
	return true;
}

// ---- when ----

static void schedule(struct hs_ctl *ctl, struct spreading *s)
{
	const struct hs_in_band *in_band = &ctl->in_band;
	int64_t interval_ns = in_band->interval_s * SECOND_NS;

	if (s->changed) {
		s->due_ns = ctl->now_ns;
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

static void settle(struct hs_ctl *ctl, struct spreading *s, struct hs_flow_offer *offer)
{
	int64_t sent_ns = atomic_load_explicit(&offer->sent_ns, memory_order_relaxed);
	s->last_ns = RTE_MIN(sent_ns, ctl->now_ns); // before a clock step: just now
	s->sent++;
	s->stands = false;
	ctl->counts.requests_in_band_sent++;
	// An offer that was sent holds no telemetry back. Left set, it would.
	atomic_store_explicit(&offer->holds_telemetry, false, memory_order_relaxed);
	atomic_store_explicit(&offer->state, HS_OFFER_EMPTY, memory_order_release);
	hs_ctl_offer_clear(ctl, s->slot, offer);
	schedule(ctl, s);
}

static void tell_waiting(struct hs_ctl *ctl, struct spreading *s, struct hs_flow_offer *offer)
{
	uint64_t refused = s->refused + atomic_load_explicit(&offer->refused, memory_order_relaxed);
	uint32_t ns_id = offer->ns_id;

	if (s->told || !refused || ctl->now_ns - s->stands_ns < WAITING_NS)
		return;
	s->told = true;
	hs_ctl_event(ctl, "request_waiting",
			json_pack("{s:I, s:I, s:i}", "ns_id", (json_int_t)ns_id, "packets",
					(json_int_t)refused, "request_bytes", offer->n_bytes),
			"rule %" PRIu32 ": its request of %u bytes waits for a packet with room "
			"for it; %" PRIu64 " had none",
			ns_id, offer->n_bytes, refused);
}

// A signature that waited for a packet is made anew, because receivers check its age.
static bool is_old(const struct hs_ctl *ctl, const struct spreading *s)
{
	int64_t age_ns = ctl->in_band.max_age_s * SECOND_NS;
	return ctl->in_band.has_key && age_ns && ctl->now_ns - s->signed_ns > age_ns / 4;
}

// Control finds what packets took by looking. It looks so rarely that many rules, whose flows may
// be silent, take at most a few percent of the core.
static int64_t look_ns(const struct hs_ctl *ctl)
{
	int64_t all_ns = (int64_t)ctl->n_spreading * LOOK_RULE_NS;
	return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static void look_at(struct hs_ctl *ctl, struct spreading *s)
{
	struct hs_flow_offer *offer = hs_flow_table_offer(ctl->flows, s->slot);

	if (offer && s->stands && hs_ctl_offer_state(offer) == HS_OFFER_SENT)
		settle(ctl, s, offer);
	if (offer && s->stands && hs_ctl_offer_state(offer) == HS_OFFER_READY) {
		tell_waiting(ctl, s, offer);
		if (s->changed || is_old(ctl, s))
			make_ready(ctl, s);
	}
	if (!s->stands && s->due_ns <= ctl->now_ns)
		make_ready(ctl, s);
	bool waits = s->stands || s->due_ns <= ctl->now_ns;
	int64_t next_ns = waits ? ctl->now_ns + look_ns(ctl) : s->due_ns;
	if (next_ns < ctl->spread_soonest_ns)
		ctl->spread_soonest_ns = next_ns;
}

void hs_ctl_spread(struct hs_ctl *ctl)
{
	if (ctl->now_ns < ctl->spread_next_ns)
		return;
	if (!ctl->spread_at) {
		ctl->spread_at = TAILQ_FIRST(&ctl->spreading);
		ctl->spread_soonest_ns = INT64_MAX;
	}
	for (unsigned i = 0; i < AT_ONCE && ctl->spread_at; i++) {
		struct spreading *s = ctl->spread_at;
		ctl->spread_at = TAILQ_NEXT(s, order);
		look_at(ctl, s);
	}
	ctl->spread_next_ns = ctl->spread_at ? ctl->now_ns : ctl->spread_soonest_ns;
}

// ---- rules ----

static void look_soon(struct hs_ctl *ctl)
{
	ctl->spread_next_ns = ctl->spread_soonest_ns = ctl->now_ns;
}

void hs_ctl_spread_begin(struct hs_ctl *ctl, uint32_t slot)
{
	struct rule_note *note = hs_ctl_note(ctl, slot);
	struct spreading *s = note ? calloc(1, sizeof(*s)) : NULL;

	// Without this memory, the rule would hold its telemetry back for ever.
	if (!s) {
		hs_flow_table_offer_set(ctl->flows, slot, false);
		return;
	}
	note->spreading = s;
	s->slot = slot;
	s->due_ns = ctl->now_ns;
	TAILQ_INSERT_TAIL(&ctl->spreading, s, order);
	ctl->n_spreading++;
	look_soon(ctl);
	make_ready(ctl, s);
}

void hs_ctl_spread_changed(struct hs_ctl *ctl, uint32_t slot)
{
	struct rule_note *note = ctl->notes[slot];
	struct spreading *s = note ? note->spreading : NULL;

	if (!s)
		return;
	s->changed = true;
	s->first_ns = 0;
	s->due_ns = ctl->now_ns;
	look_soon(ctl);
	struct hs_flow_offer *offer = hs_flow_table_offer(ctl->flows, slot);
	if (offer && s->stands && hs_ctl_offer_state(offer) == HS_OFFER_SENT)
		settle(ctl, s, offer);
	make_ready(ctl, s);
}

void hs_ctl_spread_end(struct hs_ctl *ctl, struct spreading *s)
{
	if (ctl->spread_at == s)
		ctl->spread_at = TAILQ_NEXT(s, order);
	TAILQ_REMOVE(&ctl->spreading, s, order);
	ctl->n_spreading--;
	free(s);
}
