// SPDX-License-Identifier: BSD-3-Clause
// Reports that go back with packets of the reverse flow. The sink keeps them until such a packet
// comes. Where they leave the packet, they are processed like other reports.
#include "ctl_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS		INT64_C(2000000)
#define LOOK_BACKLOG_NS INT64_C(20000) // for each backlog; a look at one takes some 500 ns
#define AHEAD_NS	INT64_C(10000000000)

// ---- the offer ----

static void take_carrier(struct hs_ctl *ctl, struct backlog *b)
{
	if (hs_flow_table_add_carrier(
			    ctl->flows, hs_flow_table_rule(ctl->flows, b->slot), &b->carrier) < 0)
		b->carrier = HS_FLOW_NONE; // an installed rule of that 5-tuple is used
}

// Returns the slot that returning packets find. At first, all carriers may have been in use.
static uint32_t way_back(struct hs_ctl *ctl, struct backlog *b)
{
	const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, b->slot);
	uint32_t slot = hs_flow_table_reverse(ctl->flows, rule);

	if (slot != HS_FLOW_NONE || b->carrier != HS_FLOW_NONE)
		return slot;
	take_carrier(ctl, b);
	return b->carrier;
}

// Control finds what packets took by looking. It looks so rarely that many rules take at most a few
// percent of the core.
static int64_t look_ns(const struct hs_ctl *ctl)
{
	int64_t all_ns = (int64_t)ctl->n_backlogs * LOOK_BACKLOG_NS;
	return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static void look_at(struct hs_ctl *ctl, struct backlog *b)
{
	if (!b->n_waiting)
		return;
	hs_ctl_backlog_offer(ctl, b, way_back(ctl, b));
	if (ctl->now_ns + look_ns(ctl) < ctl->carry_next_ns)
		ctl->carry_next_ns = ctl->now_ns + look_ns(ctl);
}

// Other rules may return the same way and have the next turn.
static bool settle(struct hs_ctl *ctl, struct backlog *b)
{
	if (!hs_ctl_backlog_settle(ctl, b))
		return false;
	TAILQ_REMOVE(&ctl->backlogs, b, order);
	TAILQ_INSERT_TAIL(&ctl->backlogs, b, order);
	return true;
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
	b->limit = HS_BACKLOG_LIMIT;
	take_carrier(ctl, b);
	note->backlog = b;
	TAILQ_INSERT_TAIL(&ctl->backlogs, b, order);
	ctl->n_backlogs++;
	return b;
}

static void lose(struct hs_ctl *ctl, unsigned n)
{
	ctl->counts.reports_piggyback_lost += n;
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
	unsigned lost = hs_ctl_backlog_add(ctl, b, copy, (uint16_t)len);
	lose(ctl, lost);
	ctl->reports_waiting += 1 - lost;
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
		if (!b->loads || b->stands_at != slot || b->carrier == slot)
			continue;
		hs_ctl_backlog_leave(ctl, b);
		ctl->carry_next_ns = ctl->now_ns;
	}
}

void hs_ctl_piggyback_end(struct hs_ctl *ctl, struct backlog *b)
{
	hs_ctl_backlog_leave(ctl, b);
	lose(ctl, b->n_waiting);
	ctl->reports_waiting -= b->n_waiting;
	TAILQ_REMOVE(&ctl->backlogs, b, order);
	ctl->n_backlogs--;
	ctl->notes[b->slot]->backlog = NULL;
	if (b->carrier != HS_FLOW_NONE) {
		hs_ctl_piggyback_slot_goes(ctl, b->carrier);
		hs_flow_table_remove_carrier(ctl->flows, b->carrier);
	}
	hs_ctl_backlog_free(b);
}

// ---- where they come out ----

// A flow's own sink needs no measurements from elsewhere. And a report with a future time would
// close all windows up to that time, so that later reports would come too late.
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

// A report longer than an option continues in the next option. Only reading the report shows where
// it ends.
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
