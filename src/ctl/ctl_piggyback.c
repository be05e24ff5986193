// SPDX-License-Identifier: BSD-3-Clause
// Reports that go back with packets of the reverse flow: kept by the sink until one comes, and
// taken as reports like any other where they come out.
#include "ctl_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS		  8 // in a packet: Linux takes no more
#define OPTION_HEAD	  2
#define LIMIT_BYTES	  512 // of options, asked of a packet that may be full itself
#define LEAST_LIMIT_BYTES 64
#define PATIENCE_NS	  INT64_C(100000000)
#define LOOK_NS		  INT64_C(10000000)
#define AHEAD_NS	  INT64_C(10000000000)

// ---- the backlog ----

static struct waiting_report *nth(struct backlog *b, unsigned n)
{
	return &b->reports[(b->first + n) % HS_BACKLOG_REPORTS];
}

static void drop_first(struct backlog *b)
{
	free(nth(b, 0)->cbor);
	b->first = (b->first + 1) % HS_BACKLOG_REPORTS;
	b->n--;
}

static uint32_t ns_id_of(const struct hs_ctl *ctl, const struct backlog *b)
{
	return hs_flow_table_rule(ctl->flows, b->slot)->ns_id;
}

// The offer that has this backlog's reports, NULL: the slot went, or a request took the place.
static struct hs_flow_offer *standing_offer(struct hs_ctl *ctl, struct backlog *b)
{
	struct hs_flow_offer *offer;

	if (!b->n_stands)
		return NULL;
	offer = hs_flow_table_offer(ctl->flows, b->stands_at);
	if (offer && offer->ns_id == ns_id_of(ctl, b) && offer->bytes[0] == HS_OPT_REPORT)
		return offer;
	b->n_stands = 0;
	return NULL;
}

static uint64_t refusals(const struct backlog *b, const struct hs_flow_offer *offer)
{
	return b->refused +
	       (offer ? atomic_load_explicit(&offer->refused, memory_order_relaxed) : 0);
}

static void begin_waiting(struct backlog *b)
{
	b->waits_ns = 0;
	b->refused = 0;
}

// What stands waits again. False where a packet has it.
static bool withdraw(struct hs_ctl *ctl, struct backlog *b)
{
	struct hs_flow_offer *offer = standing_offer(ctl, b);

	if (offer && !hs_ctl_offer_withdraw(offer))
		return false;
	if (offer) {
		b->refused = refusals(b, offer);
		hs_ctl_offer_clear(ctl, b->stands_at);
	}
	b->n_stands = 0;
	return true;
}

// True where a packet took what stood. Others may go back the same way: it is their turn.
static bool settle(struct hs_ctl *ctl, struct backlog *b)
{
	struct hs_flow_offer *offer = standing_offer(ctl, b);

	if (!offer || hs_ctl_offer_state(offer) != HS_OFFER_SENT)
		return false;
	ctl->counts.reports_piggyback_sent += b->n_stands;
	ctl->reports_waiting -= b->n_stands;
	while (b->n_stands > 0) {
		drop_first(b);
		b->n_stands--;
	}
	if (refusals(b, offer) == 0)
		b->limit = b->limit * 2 < LIMIT_BYTES ? b->limit * 2 : LIMIT_BYTES;
	begin_waiting(b);
	atomic_store_explicit(&offer->state, HS_OFFER_EMPTY, memory_order_relaxed);
	hs_ctl_offer_clear(ctl, b->stands_at);
	TAILQ_REMOVE(&ctl->backlogs, b, order);
	TAILQ_INSERT_TAIL(&ctl->backlogs, b, order);
	return true;
}

// If a packet is leaving with what stands, it counts as waiting still: better twice than never.
static void leave(struct hs_ctl *ctl, struct backlog *b)
{
	settle(ctl, b);
	struct hs_flow_offer *offer = standing_offer(ctl, b);
	if (offer)
		hs_ctl_offer_leave(ctl, b->stands_at, offer);
	b->n_stands = 0;
	begin_waiting(b);
}

// ---- the offer ----

static unsigned options_of(const struct waiting_report *report)
{
	return (report->len + UINT8_MAX - 1u) / UINT8_MAX;
}

// As many reports as fit the limit, one at least. Returns how many; *bytes: of their options.
static unsigned how_many(struct backlog *b, unsigned *bytes)
{
	unsigned n = 0, options = 0;

	for (*bytes = 0; n < b->n; n++) {
		const struct waiting_report *report = nth(b, n);
		unsigned parts = options_of(report), size = report->len + parts * OPTION_HEAD;
		if (n > 0 && (*bytes + size > b->limit || options + parts > OPTIONS))
			break;
		*bytes += size;
		options += parts;
	}
	return n;
}

static void fill(struct hs_ctl *ctl, struct backlog *b, uint32_t slot, unsigned n)
{
	// A request, or what another flow sends back, goes first.
	struct hs_flow_offer *offer = hs_ctl_offer_open(ctl, slot, false);

	if (!offer)
		return;
	offer->n_bytes = 0;
	for (unsigned i = 0; i < n; i++)
		offer->n_bytes += hs_ctl_offer_options(offer->bytes + offer->n_bytes, HS_OPT_REPORT,
				nth(b, i)->cbor, nth(b, i)->len);
	hs_ctl_offer_publish(ctl, slot, offer, ns_id_of(ctl, b), false);
	b->n_stands = n;
	b->stands_at = slot;
	if (!b->waits_ns)
		b->waits_ns = ctl->now_ns;
}

// A packet that has no room for several may have it for one.
static void lower_limit(struct hs_ctl *ctl, struct backlog *b)
{
	if (!b->waits_ns || ctl->now_ns - b->waits_ns < PATIENCE_NS ||
			b->limit <= LEAST_LIMIT_BYTES || !refusals(b, standing_offer(ctl, b)))
		return;
	if (withdraw(ctl, b)) {
		b->limit /= 2;
		begin_waiting(b);
	}
}

static void take_carrier(struct hs_ctl *ctl, struct backlog *b)
{
	if (hs_flow_table_add_carrier(
			    ctl->flows, hs_flow_table_rule(ctl->flows, b->slot), &b->carrier) < 0)
		b->carrier = HS_FLOW_NONE; // a rule of that 5-tuple will do as well
}

// The slot that packets find which go back. All carriers may have been in use at first.
static uint32_t way_back(struct hs_ctl *ctl, struct backlog *b)
{
	const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, b->slot);
	uint32_t slot = hs_flow_table_reverse(ctl->flows, rule);

	if (slot != HS_FLOW_NONE || b->carrier != HS_FLOW_NONE)
		return slot;
	take_carrier(ctl, b);
	return b->carrier;
}

static void look_at(struct hs_ctl *ctl, struct backlog *b)
{
	unsigned bytes;

	lower_limit(ctl, b);
	if (!b->n)
		return;
	uint32_t slot = way_back(ctl, b);
	unsigned n = how_many(b, &bytes);
	if (b->n_stands && (slot != b->stands_at || n > b->n_stands))
		withdraw(ctl, b);
	if (!b->n_stands && slot != HS_FLOW_NONE)
		fill(ctl, b, slot, n);
	if (b->n && ctl->now_ns + LOOK_NS < ctl->carry_next_ns)
		ctl->carry_next_ns = ctl->now_ns + LOOK_NS;
}

void hs_ctl_carry(struct hs_ctl *ctl)
{
	struct backlog *b, *next, *last = TAILQ_LAST(&ctl->backlogs, backlog_list), *sent = NULL;

	if (ctl->now_ns < ctl->carry_next_ns)
		return;
	ctl->carry_next_ns = INT64_MAX;
	for (b = TAILQ_FIRST(&ctl->backlogs); b; b = next) {
		next = b == last ? NULL : TAILQ_NEXT(b, order);
		if (!settle(ctl, b))
			look_at(ctl, b);
		else if (!sent)
			sent = b;
	}
	for (b = sent; b; b = TAILQ_NEXT(b, order))
		look_at(ctl, b);
}

// ---- the sink's part ----

static struct backlog *make_backlog(struct hs_ctl *ctl, uint32_t slot)
{
	struct rule_note *note = hs_ctl_note(ctl, slot);
	struct backlog *b = note ? calloc(1, sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	b->slot = slot;
	b->limit = LIMIT_BYTES;
	take_carrier(ctl, b);
	note->backlog = b;
	TAILQ_INSERT_TAIL(&ctl->backlogs, b, order);
	return b;
}

static void lose(struct hs_ctl *ctl, unsigned n)
{
	ctl->counts.reports_piggyback_lost += n;
}

// The newest are kept: the oldest makes room, unless a packet is just leaving with it.
static void make_room(struct hs_ctl *ctl, struct backlog *b)
{
	if (b->n < HS_BACKLOG_REPORTS)
		return;
	settle(ctl, b);
	if (b->n < HS_BACKLOG_REPORTS)
		return;
	if (!withdraw(ctl, b)) {
		// Its worker will have it sent before we look again.
		struct waiting_report *victim = nth(b, b->n_stands);
		free(victim->cbor);
		for (unsigned i = b->n_stands; i + 1 < b->n; i++)
			*nth(b, i) = *nth(b, i + 1);
		b->n--;
	} else {
		drop_first(b);
	}
	ctl->reports_waiting--;
	lose(ctl, 1);
}

void hs_ctl_piggyback(struct hs_ctl *ctl, uint32_t slot, const struct hs_report *report)
{
	const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, slot);
	struct rule_note *note = ctl->notes[slot];
	struct backlog *b = note && note->backlog ? note->backlog : make_backlog(ctl, slot);
	struct hs_report_sender sender = {
			.app_id = rule->app_id, .sink_node_id = hs_node_config(ctl->node)->id};
	uint8_t cbor[HS_REPORT_CBOR_BYTES];

	ctl->counts.reports_piggyback_queued++;
	int len = b ? hs_report_to_cbor(report, &sender, cbor, sizeof(cbor)) : -ENOMEM;
	uint8_t *copy = len > 0 ? malloc((size_t)len) : NULL;
	if (!copy) {
		lose(ctl, 1);
		return;
	}
	memcpy(copy, cbor, (size_t)len);
	make_room(ctl, b);
	*nth(b, b->n++) = (struct waiting_report){copy, (uint16_t)len};
	ctl->reports_waiting++;
	ctl->carry_next_ns = ctl->now_ns;
}

void hs_ctl_piggyback_changed(struct hs_ctl *ctl, uint32_t slot)
{
	struct rule_note *note = ctl->notes[slot];

	if (note && note->backlog && !hs_flow_table_rule(ctl->flows, slot)->piggyback_report)
		hs_ctl_piggyback_end(ctl, note->backlog);
}

void hs_ctl_piggyback_slot_goes(struct hs_ctl *ctl, uint32_t slot)
{
	struct backlog *b, *next;

	for (b = TAILQ_FIRST(&ctl->backlogs); b; b = next) {
		next = TAILQ_NEXT(b, order);
		if (!b->n_stands || b->stands_at != slot || b->carrier == slot)
			continue;
		leave(ctl, b);
		ctl->carry_next_ns = ctl->now_ns;
	}
}

void hs_ctl_piggyback_end(struct hs_ctl *ctl, struct backlog *b)
{
	leave(ctl, b);
	lose(ctl, b->n);
	ctl->reports_waiting -= b->n;
	while (b->n > 0)
		drop_first(b);
	TAILQ_REMOVE(&ctl->backlogs, b, order);
	ctl->notes[b->slot]->backlog = NULL;
	if (b->carrier != HS_FLOW_NONE) {
		hs_ctl_piggyback_slot_goes(ctl, b->carrier);
		hs_flow_table_remove_carrier(ctl->flows, b->carrier);
	}
	free(b);
}

// ---- where they come out ----

// What a flow's own sink measures no other tells it. And a report of a time to come would close all
// windows until then: those behind it are late.
static bool is_measured(const struct hs_ctl *ctl, uint32_t slot, const struct hs_report *report)
{
	const struct rule_note *note = slot == HS_FLOW_NONE ? NULL : ctl->notes[slot];

	return slot != HS_FLOW_NONE && !(note && note->ends_here) &&
	       report->sink_ts_ns <= ctl->now_ns + AHEAD_NS;
}

static void take_one(struct hs_ctl *ctl, const struct hs_report *report,
		const struct hs_report_sender *sender)
{
	uint32_t slot = hs_flow_table_find(ctl->flows, report->telemetry.ns_id);

	ctl->counts.reports_piggyback_received++;
	if (hs_ctl_publish_report(ctl, report, sender->app_id, sender->sink_node_id) < 0)
		ctl->counts.reports_piggyback_publish_lost++;
	if (!is_measured(ctl, slot, report))
		ctl->counts.reports_piggyback_unmonitored++;
	else
		hs_ctl_monitor(ctl, slot, report, sender->sink_node_id);
}

// A report longer than an option goes on in the next; where it ends only reading it tells.
void hs_ctl_piggybacked(struct hs_ctl *ctl, const struct hs_signal *signals, unsigned n)
{
	uint8_t bytes[HS_REPORT_CBOR_BYTES + UINT8_MAX];
	unsigned first = 0;

	while (first < n) {
		struct hs_report report;
		struct hs_report_sender sender;
		size_t len = 0;
		unsigned end = first;
		int rc = -EINVAL;
		while (rc < 0 && end < n && len + signals[end].len <= sizeof(bytes)) {
			memcpy(bytes + len, signals[end].data, signals[end].len);
			len += signals[end++].len;
			rc = hs_report_from_cbor(bytes, len, &report, &sender, NULL);
		}
		if (rc < 0) {
			ctl->counts.reports_piggyback_bad++;
			first++;
			continue;
		}
		take_one(ctl, &report, &sender);
		first = end;
	}
}
