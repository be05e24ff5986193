// SPDX-License-Identifier: BSD-3-Clause
// Rules that spread. At the source, a packet of the flow carries the request before the first
// telemetry. The request is repeated, for nodes that are new or were restarted.
#include "in_band_advertised.h"
#include "in_band_pending.h"

#include "clock.h"
#include "flexint.h"

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

static int64_t now_ns(const struct in_band_advertised *all)
{
	return hs_in_band_now(all->base);
}

void hs_in_band_advertised_init(struct in_band_advertised *all, struct in_band_base *base)
{
	*all = (struct in_band_advertised){.base = base, .next_ns = INT64_MAX};
	TAILQ_INIT(&all->rules);
}

// ---- the request ----

// Makes the request ready for a packet. Returns false if a packet has the pending options just now.
static bool make_ready(struct in_band_advertised *all, struct advertised *s)
{
	const struct hs_rule *rule = hs_flow_table_rule(all->base->flows, s->slot);
	struct hs_flow_pending *pending = hs_flow_table_pending(all->base->flows, s->slot);
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	uint64_t now = (uint64_t)now_ns(all);

	if (!pending || !hs_in_band_pending_open(pending, true))
		return false;
	if (s->stands)
		s->refused += atomic_load_explicit(&pending->refused, memory_order_relaxed);
	// The counter must not repeat when the clock was set back.
	s->counter = now > s->counter ? now : s->counter + 1;
	if (s->counter > all->counter)
		all->counter = s->counter;
	int len = hs_in_band_write(&all->base->settings, rule, s->counter, bytes, NULL);
	if (len < 0) // the rule was checked, so only memory can be out
		return false;
	pending->n_bytes = hs_in_band_pending_options(
			pending->bytes, HS_OPT_REQUEST, bytes, (size_t)len);
	hs_in_band_pending_publish(all->base->flows, s->slot, pending, rule->ns_id, s->sent == 0);
	if (!s->stands) {
		s->stands_ns = now_ns(all);
		s->refused = 0;
		s->told = false;
	}
	s->stands = true;
	s->changed = false;
	s->signed_ns = now_ns(all);
	return true;
}

// ---- when ----

static void schedule(struct in_band_advertised *all, struct advertised *s)
{
	const struct hs_in_band_settings *in_band = &all->base->settings;
	int64_t interval_ns = in_band->interval_s * SECOND_NS;

	if (s->changed) {
		s->due_ns = now_ns(all);
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

static void settle(struct in_band_advertised *all, struct advertised *s,
		struct hs_flow_pending *pending)
{
	int64_t sent_ns = atomic_load_explicit(&pending->sent_ns, memory_order_relaxed);
	s->last_ns = RTE_MIN(sent_ns, now_ns(all)); // before a clock step: just now
	s->sent++;
	s->stands = false;
	all->base->host.counts->requests_in_band_sent++;
	// The request was sent, so the rule's telemetry is no longer held back.
	atomic_store_explicit(&pending->holds_telemetry, false, memory_order_relaxed);
	atomic_store_explicit(&pending->state, HS_PENDING_EMPTY, memory_order_release);
	hs_in_band_pending_clear(all->base->flows, s->slot, pending);
	schedule(all, s);
}

static void tell_waiting(struct in_band_advertised *all, struct advertised *s,
		struct hs_flow_pending *pending)
{
	uint64_t refused =
			s->refused + atomic_load_explicit(&pending->refused, memory_order_relaxed);
	uint32_t ns_id = pending->ns_id;

	if (s->told || !refused || now_ns(all) - s->stands_ns < WAITING_NS)
		return;
	s->told = true;
	in_band_event(all->base, "request_waiting",
			json_pack("{s:I, s:I, s:i}", "ns_id", (json_int_t)ns_id, "packets",
					(json_int_t)refused, "request_bytes", pending->n_bytes),
			"rule %" PRIu32 ": its request of %u bytes waits for a packet with room "
			"for it; %" PRIu64 " had none",
			ns_id, pending->n_bytes, refused);
}

// Returns whether a request must be signed again: its signature has waited so long for a packet
// that receivers, which check its age, could refuse it.
static bool is_old(const struct in_band_advertised *all, const struct advertised *s)
{
	int64_t age_ns = all->base->settings.max_age_s * SECOND_NS;
	return all->base->settings.has_key && age_ns && now_ns(all) - s->signed_ns > age_ns / 4;
}

// Returns the time between two looks. Control finds out what packets took only by looking. It looks
// so rarely that many rules, whose flows may be silent, take at most a few percent of the core.
static int64_t look_ns(const struct in_band_advertised *all)
{
	int64_t all_ns = (int64_t)all->n * LOOK_RULE_NS;
	return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static void look_at(struct in_band_advertised *all, struct advertised *s)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(all->base->flows, s->slot);

	if (pending && s->stands && hs_in_band_pending_state(pending) == HS_PENDING_SENT)
		settle(all, s, pending);
	if (pending && s->stands && hs_in_band_pending_state(pending) == HS_PENDING_READY) {
		tell_waiting(all, s, pending);
		if (s->changed || is_old(all, s))
			make_ready(all, s);
	}
	if (!s->stands && s->due_ns <= now_ns(all))
		make_ready(all, s);
	bool waits = s->stands || s->due_ns <= now_ns(all);
	int64_t next_ns = waits ? now_ns(all) + look_ns(all) : s->due_ns;
	if (next_ns < all->soonest_ns)
		all->soonest_ns = next_ns;
}

void hs_in_band_advertised_step(struct in_band_advertised *all)
{
	if (now_ns(all) < all->next_ns)
		return;
	if (!all->at) {
		all->at = TAILQ_FIRST(&all->rules);
		all->soonest_ns = INT64_MAX;
	}
	for (unsigned i = 0; i < AT_ONCE && all->at; i++) {
		struct advertised *s = all->at;
		all->at = TAILQ_NEXT(s, order);
		look_at(all, s);
	}
	all->next_ns = all->at ? now_ns(all) : all->soonest_ns;
}

// ---- rules ----

static void look_soon(struct in_band_advertised *all)
{
	all->next_ns = all->soonest_ns = now_ns(all);
}

void hs_in_band_advertised_begin(struct in_band_advertised *all, uint32_t slot)
{
	struct advertised *s = calloc(1, sizeof(*s));

	// Without this memory, the rule would hold its telemetry back for ever.
	if (!s) {
		hs_flow_table_pending_set(all->base->flows, slot, false);
		return;
	}
	all->base->notes[slot].advertised = s;
	s->slot = slot;
	s->counter = all->counter; // receivers keep that of an earlier rule of the namespace
	s->due_ns = now_ns(all);
	TAILQ_INSERT_TAIL(&all->rules, s, order);
	all->n++;
	look_soon(all);
	make_ready(all, s);
}

void hs_in_band_advertised_changed(struct in_band_advertised *all, uint32_t slot)
{
	struct advertised *s = all->base->notes[slot].advertised;

	if (!s)
		return;
	s->changed = true;
	s->first_ns = 0;
	s->due_ns = now_ns(all);
	look_soon(all);
	struct hs_flow_pending *pending = hs_flow_table_pending(all->base->flows, slot);
	if (pending && s->stands && hs_in_band_pending_state(pending) == HS_PENDING_SENT)
		settle(all, s, pending);
	make_ready(all, s);
}

void hs_in_band_advertised_end(struct in_band_advertised *all, uint32_t slot)
{
	struct advertised *s = all->base->notes[slot].advertised;

	if (!s)
		return;
	if (all->at == s)
		all->at = TAILQ_NEXT(s, order);
	TAILQ_REMOVE(&all->rules, s, order);
	all->n--;
	all->base->notes[slot].advertised = NULL;
	free(s);
}

// ---- a step of the clock ----

// Receivers that compare times have not accepted a time so far ahead.
static void forget_times_ahead(const struct in_band_advertised *all, uint64_t *counter)
{
	int64_t age_ns = all->base->settings.max_age_s * SECOND_NS;

	if (age_ns && *counter > (uint64_t)(now_ns(all) + age_ns))
		*counter = 0;
}

static void shift(struct in_band_advertised *all, struct advertised *s, int64_t by_ns)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(all->base->flows, s->slot);

	hs_clock_shift(&s->due_ns, by_ns);
	hs_clock_shift(&s->stands_ns, by_ns);
	hs_clock_shift(&s->first_ns, by_ns);
	hs_clock_shift(&s->last_ns, by_ns);
	s->signed_ns = 0; // long ago, so that waiting requests are signed again with the new time
	forget_times_ahead(all, &s->counter);
	if (pending && hs_in_band_pending_state(pending) == HS_PENDING_SENT)
		atomic_fetch_add_explicit(&pending->sent_ns, by_ns, memory_order_relaxed);
}

void hs_in_band_advertised_shift(struct in_band_advertised *all, int64_t by_ns)
{
	struct advertised *s;

	hs_clock_shift(&all->next_ns, by_ns);
	hs_clock_shift(&all->soonest_ns, by_ns);
	forget_times_ahead(all, &all->counter);
	TAILQ_FOREACH (s, &all->rules, order)
		shift(all, s, by_ns);
}
