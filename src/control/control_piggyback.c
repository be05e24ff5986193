// SPDX-License-Identifier: BSD-3-Clause
// Reports that go back with packets of the reverse flow. The sink keeps them until such a packet
// comes. Where they leave the packet, they are processed like other reports.
#include "control_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS		INT64_C(2000000)
#define LOOK_BACKLOG_NS INT64_C(20000) // for each backlog; a look at one takes some 500 ns
#define AHEAD_NS	INT64_C(10000000000)

// ---- the pending options ----

static void take_reverse(struct hs_control *control, struct backlog *b)
{
	if (hs_flow_table_add_reverse(control->flows, hs_flow_table_rule(control->flows, b->slot),
			    &b->reverse) < 0)
		b->reverse = HS_FLOW_NONE; // an installed rule of that 5-tuple is used
}

// Returns the slot that returning packets find. At first, all reverse entries may have been in use.
static uint32_t way_back(struct hs_control *control, struct backlog *b)
{
	const struct hs_rule *rule = hs_flow_table_rule(control->flows, b->slot);
	uint32_t slot = hs_flow_table_reverse(control->flows, rule);

	if (slot != HS_FLOW_NONE || b->reverse != HS_FLOW_NONE)
		return slot;
	take_reverse(control, b);
	return b->reverse;
}

// Control finds what packets took by looking. It looks so rarely that many rules take at most a few
// percent of the core.
static int64_t look_ns(const struct hs_control *control)
{
	int64_t all_ns = (int64_t)control->n_backlogs * LOOK_BACKLOG_NS;
	return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static void look_at(struct hs_control *control, struct backlog *b)
{
	if (!b->n_waiting)
		return;
	hs_control_backlog_publish(control, b, way_back(control, b));
	if (control->now_ns + look_ns(control) < control->carry_next_ns)
		control->carry_next_ns = control->now_ns + look_ns(control);
}

// Other rules may return the same way and have the next turn.
static bool settle(struct hs_control *control, struct backlog *b)
{
	if (!hs_control_backlog_settle(control, b))
		return false;
	TAILQ_REMOVE(&control->backlogs, b, order);
	TAILQ_INSERT_TAIL(&control->backlogs, b, order);
	return true;
}

void hs_control_carry(struct hs_control *control)
{
	struct backlog *b, *next, *last = TAILQ_LAST(&control->backlogs, backlog_list),
				  *sent = NULL;

	if (control->now_ns < control->carry_next_ns)
		return;
	control->carry_next_ns = INT64_MAX;
	for (b = TAILQ_FIRST(&control->backlogs); b; b = next) {
		next = b == last ? NULL : TAILQ_NEXT(b, order);
		if (!settle(control, b))
			look_at(control, b);
		else if (!sent)
			sent = b;
	}
	for (b = sent; b; b = TAILQ_NEXT(b, order))
		look_at(control, b);
}

// ---- the sink's part ----

static struct backlog *make_backlog(struct hs_control *control, uint32_t slot)
{
	struct rule_note *note = hs_control_note(control, slot);
	struct backlog *b = note ? calloc(1, sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	b->slot = slot;
	b->limit = HS_BACKLOG_LIMIT;
	take_reverse(control, b);
	note->backlog = b;
	TAILQ_INSERT_TAIL(&control->backlogs, b, order);
	control->n_backlogs++;
	return b;
}

static void lose(struct hs_control *control, unsigned n)
{
	control->counts.reports_piggyback_lost += n;
}

void hs_control_piggyback(struct hs_control *control, uint32_t slot, const struct hs_report *report)
{
	const struct hs_rule *rule = hs_flow_table_rule(control->flows, slot);
	struct rule_note *note = control->notes[slot];
	struct backlog *b = note && note->backlog ? note->backlog : make_backlog(control, slot);
	struct hs_report_sender sender = {
			.app_id = rule->app_id, .sink_node_id = hs_node_config(control->node)->id};
	uint8_t cbor[HS_REPORT_CBOR_BYTES];

	control->counts.reports_piggyback_queued++;
	int len = b ? hs_report_to_cbor(report, &sender, cbor, sizeof(cbor)) : -ENOMEM;
	uint8_t *copy = len > 0 ? malloc((size_t)len) : NULL;
	if (!copy) {
		lose(control, 1);
		return;
	}
	memcpy(copy, cbor, (size_t)len);
	unsigned lost = hs_control_backlog_add(control, b, copy, (uint16_t)len);
	lose(control, lost);
	control->reports_waiting += 1 - lost;
	control->carry_next_ns = control->now_ns;
}

void hs_control_piggyback_changed(struct hs_control *control, uint32_t slot)
{
	struct rule_note *note = control->notes[slot];

	if (note && note->backlog && !hs_flow_table_rule(control->flows, slot)->piggyback_report)
		hs_control_piggyback_end(control, note->backlog);
}

void hs_control_piggyback_slot_goes(struct hs_control *control, uint32_t slot)
{
	struct backlog *b, *next;

	for (b = TAILQ_FIRST(&control->backlogs); b; b = next) {
		next = TAILQ_NEXT(b, order);
		if (!b->loads || b->stands_at != slot || b->reverse == slot)
			continue;
		hs_control_backlog_leave(control, b);
		control->carry_next_ns = control->now_ns;
	}
}

void hs_control_piggyback_end(struct hs_control *control, struct backlog *b)
{
	hs_control_backlog_leave(control, b);
	lose(control, b->n_waiting);
	control->reports_waiting -= b->n_waiting;
	TAILQ_REMOVE(&control->backlogs, b, order);
	control->n_backlogs--;
	control->notes[b->slot]->backlog = NULL;
	if (b->reverse != HS_FLOW_NONE) {
		hs_control_piggyback_slot_goes(control, b->reverse);
		hs_flow_table_remove_reverse(control->flows, b->reverse);
	}
	hs_control_backlog_free(b);
}

// ---- where they come out ----

// A flow's own sink needs no measurements from elsewhere. And a report with a future time would
// close all windows up to that time, so that later reports would come too late.
static bool is_measured(
		const struct hs_control *control, uint32_t slot, const struct hs_report *report)
{
	const struct rule_note *note = slot == HS_FLOW_NONE ? NULL : control->notes[slot];

	return slot != HS_FLOW_NONE && !(note && note->ends_here) &&
	       report->sink_ts_ns <= control->now_ns + AHEAD_NS;
}

static void take_one(struct hs_control *control, const struct hs_report *report,
		const struct hs_report_sender *sender)
{
	uint32_t slot = hs_flow_table_find(control->flows, report->telemetry.ns_id);

	control->counts.reports_piggyback_received++;
	if (hs_control_publish_report(control, report, sender->app_id, sender->sink_node_id) < 0)
		control->counts.reports_piggyback_publish_lost++;
	if (!is_measured(control, slot, report))
		control->counts.reports_piggyback_unmonitored++;
	else
		hs_control_monitor(control, slot, report, sender->sink_node_id);
}

// A report longer than an option continues in the next option. Only reading the report shows where
// it ends.
void hs_control_piggybacked(struct hs_control *control, const struct hs_punt *signals, unsigned n)
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
			control->counts.reports_piggyback_bad++;
			first++;
			continue;
		}
		take_one(control, &report, &sender);
		first = end;
	}
}
