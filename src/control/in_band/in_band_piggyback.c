// SPDX-License-Identifier: BSD-3-Clause
// Reports that go back with packets of the reverse flow. The sink keeps them until such a packet
// comes. Where they leave the packet, they are processed like other reports.
#include "in_band_piggyback.h"

#include "clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS		INT64_C(2000000)
#define LOOK_BACKLOG_NS INT64_C(20000) // for each backlog; a look at one takes some 500 ns

void hs_in_band_piggyback_init(struct in_band_piggyback *all, struct in_band_base *base)
{
	*all = (struct in_band_piggyback){.base = base, .next_ns = INT64_MAX};
	TAILQ_INIT(&all->backlogs);
}

// ---- the pending options ----

static void take_reverse(struct in_band_piggyback *all, struct backlog *b)
{
	if (hs_flow_table_add_reverse(all->base->flows,
			    hs_flow_table_rule(all->base->flows, b->slot), &b->reverse) < 0)
		b->reverse = HS_FLOW_NONE; // an installed rule of that 5-tuple is used
}

// Returns whether the rule of a slot has another method, whose packets take no options.
static bool is_other_method(const struct in_band_piggyback *all, uint32_t slot)
{
	const struct hs_rule *rule = hs_flow_table_rule(all->base->flows, slot);

	return rule && rule->trace_type & HS_RULE_TRACE_OTHERS;
}

// Returns the slot that returning packets find. Tries again to add a reverse entry if all were in
// use.
static uint32_t way_back(struct in_band_piggyback *all, struct backlog *b)
{
	const struct hs_rule *rule = hs_flow_table_rule(all->base->flows, b->slot);
	uint32_t slot = hs_flow_table_reverse(all->base->flows, rule);

	if (is_other_method(all, slot))
		return HS_FLOW_NONE;
	if (slot != HS_FLOW_NONE || b->reverse != HS_FLOW_NONE)
		return slot;
	take_reverse(all, b);
	return b->reverse;
}

// Returns the time between two looks. Control finds out what packets took only by looking. It looks
// so rarely that many rules take at most a few percent of the core.
static int64_t look_ns(const struct in_band_piggyback *all)
{
	int64_t all_ns = (int64_t)all->n * LOOK_BACKLOG_NS;
	return all_ns > LOOK_NS ? all_ns : LOOK_NS;
}

static void look_at(struct in_band_piggyback *all, struct backlog *b)
{
	if (!b->n_waiting)
		return;
	hs_in_band_backlog_publish(b, way_back(all, b));
	if (hs_in_band_now(all->base) + look_ns(all) < all->next_ns)
		all->next_ns = hs_in_band_now(all->base) + look_ns(all);
}

// Makes the ready reports wait again, and counts those that packets took before.
static void leave(struct in_band_piggyback *all, struct backlog *b)
{
	all->waiting -= b->n_waiting;
	hs_in_band_backlog_leave(b);
	all->waiting += b->n_waiting;
}

// Counts the reports that packets took, and puts the backlog last: other rules that return the same
// way have the next turn.
static bool settle(struct in_band_piggyback *all, struct backlog *b)
{
	unsigned before = b->n_waiting;

	if (!hs_in_band_backlog_settle(b))
		return false;
	all->waiting -= before - b->n_waiting;
	TAILQ_REMOVE(&all->backlogs, b, order);
	TAILQ_INSERT_TAIL(&all->backlogs, b, order);
	return true;
}

void hs_in_band_piggyback_step(struct in_band_piggyback *all)
{
	struct backlog *b, *next, *last = TAILQ_LAST(&all->backlogs, backlog_list), *sent = NULL;

	if (hs_in_band_now(all->base) < all->next_ns)
		return;
	all->next_ns = INT64_MAX;
	for (b = TAILQ_FIRST(&all->backlogs); b; b = next) {
		next = b == last ? NULL : TAILQ_NEXT(b, order);
		if (!settle(all, b))
			look_at(all, b);
		else if (!sent)
			sent = b;
	}
	for (b = sent; b; b = TAILQ_NEXT(b, order))
		look_at(all, b);
}

// ---- the sink's part ----

static struct backlog *make_backlog(struct in_band_piggyback *all, uint32_t slot)
{
	struct backlog *b = hs_in_band_backlog_create(all->base, slot);

	if (!b)
		return NULL;
	take_reverse(all, b);
	all->base->notes[slot].backlog = b;
	TAILQ_INSERT_TAIL(&all->backlogs, b, order);
	all->n++;
	return b;
}

static void lose(struct in_band_piggyback *all, unsigned n)
{
	all->base->host.counts->reports_piggyback_lost += n;
}

void hs_in_band_piggyback_report(
		struct in_band_piggyback *all, uint32_t slot, const struct hs_report *report)
{
	const struct in_band_base *base = all->base;
	const struct hs_rule *rule = hs_flow_table_rule(base->flows, slot);
	struct backlog *b = base->notes[slot].backlog ? base->notes[slot].backlog
						      : make_backlog(all, slot);
	struct hs_report_sender sender = {.app_id = rule->app_id,
			.sink_node_id = hs_node_config(base->host.node)->id};
	uint8_t cbor[HS_REPORT_CBOR_BYTES];

	base->host.counts->reports_piggyback_queued++;
	int len = b ? hs_report_to_cbor(report, &sender, cbor, sizeof(cbor)) : -ENOMEM;
	uint8_t *copy = len > 0 ? malloc((size_t)len) : NULL;
	if (!copy) {
		lose(all, 1);
		return;
	}
	memcpy(copy, cbor, (size_t)len);
	all->waiting -= b->n_waiting;
	lose(all, hs_in_band_backlog_add(b, copy, (uint16_t)len, ++all->serial));
	all->waiting += b->n_waiting;
	all->next_ns = hs_in_band_now(base);
}

void hs_in_band_piggyback_changed(struct in_band_piggyback *all, uint32_t slot)
{
	if (!hs_flow_table_rule(all->base->flows, slot)->piggyback_report)
		hs_in_band_piggyback_end(all, slot);
}

void hs_in_band_piggyback_slot_goes(struct in_band_piggyback *all, uint32_t slot)
{
	struct backlog *b, *next;

	for (b = TAILQ_FIRST(&all->backlogs); b; b = next) {
		next = TAILQ_NEXT(b, order);
		if (!b->loads || b->stands_at != slot || b->reverse == slot)
			continue;
		leave(all, b);
		all->next_ns = hs_in_band_now(all->base);
	}
}

void hs_in_band_piggyback_end(struct in_band_piggyback *all, uint32_t slot)
{
	struct backlog *b = all->base->notes[slot].backlog;

	if (!b)
		return;
	leave(all, b);
	lose(all, b->n_waiting);
	all->waiting -= b->n_waiting;
	TAILQ_REMOVE(&all->backlogs, b, order);
	all->n--;
	all->base->notes[slot].backlog = NULL;
	if (b->reverse != HS_FLOW_NONE) {
		hs_in_band_piggyback_slot_goes(all, b->reverse);
		hs_flow_table_remove_reverse(all->base->flows, b->reverse);
	}
	hs_in_band_backlog_destroy(b);
}

void hs_in_band_piggyback_shift(struct in_band_piggyback *all, int64_t by_ns)
{
	struct backlog *b;

	hs_clock_shift(&all->next_ns, by_ns);
	TAILQ_FOREACH (b, &all->backlogs, order)
		hs_clock_shift(&b->waits_ns, by_ns);
}

// ---- where they come out ----

// A report longer than an option continues in the next option. Only reading the report shows where
// it ends.
void hs_in_band_piggyback_take(
		struct in_band_piggyback *all, const struct hs_punt *punts, unsigned n)
{
	uint8_t bytes[HS_REPORT_CBOR_BYTES + UINT8_MAX];
	unsigned first = 0;

	while (first < n) {
		struct hs_report report;
		struct hs_report_sender sender;
		size_t len = 0;
		unsigned end = first;
		int rc = -EINVAL;
		while (rc < 0 && end < n && len + punts[end].len <= sizeof(bytes)) {
			memcpy(bytes + len, punts[end].data, punts[end].len);
			len += punts[end++].len;
			rc = hs_report_from_cbor(bytes, len, &report, &sender, NULL);
		}
		if (rc < 0) {
			all->base->host.counts->reports_piggyback_bad++;
			first++;
			continue;
		}
		all->base->host.counts->reports_piggyback_received++;
		all->base->host.report(all->base->host.context, &report, &sender);
		first = end;
	}
}
