// SPDX-License-Identifier: BSD-3-Clause
#include "in_band.h"
#include "in_band_advertised.h"
#include "in_band_learned.h"

#include "flexint.h"

#include <errno.h>
#include <stdlib.h>

struct hs_in_band {
	struct in_band_base base;
	struct in_band_advertised advertised;
	struct in_band_learned learned;
	struct in_band_own own;
	struct in_band_piggyback piggyback;
};

int hs_in_band_create(const struct hs_in_band_host *host,
		const struct hs_in_band_settings *settings, struct hs_in_band **out)
{
	struct hs_in_band *in_band = calloc(1, sizeof(*in_band));
	if (!in_band)
		return -ENOMEM;
	struct in_band_base *base = &in_band->base;

	base->host = *host;
	base->settings = *settings;
	base->flows = hs_node_flows(host->node);
	hs_in_band_advertised_init(&in_band->advertised, base);
	hs_in_band_own_init(&in_band->own, base);
	hs_in_band_piggyback_init(&in_band->piggyback, base);
	hs_in_band_learned_init(&in_band->learned, base);
	in_band->learned.own = &in_band->own;
	in_band->learned.piggyback = &in_band->piggyback;
	// Untouched pages cost nothing, and most rules never have a note.
	base->notes = calloc(hs_flow_table_capacity(base->flows), sizeof(*base->notes));
	int rc = base->notes ? hs_in_band_seen_create(base, &in_band->learned.seen) : -ENOMEM;
	if (rc < 0) {
		hs_in_band_destroy(in_band);
		return rc;
	}
	*out = in_band;
	return 0;
}

void hs_in_band_destroy(struct hs_in_band *in_band)
{
	if (!in_band)
		return;
	hs_in_band_seen_destroy(in_band->learned.seen);
	hs_in_band_own_fini(&in_band->own);
	free(in_band->base.notes);
	free(in_band);
}

void hs_in_band_take(struct hs_in_band *in_band, const struct hs_punt *punts, unsigned n)
{
	if (punts->type == HS_OPT_REQUEST) {
		for (unsigned i = 0; i < n; i++)
			hs_in_band_learned_request(&in_band->learned, &punts[i]);
	} else if (punts->taken) {
		hs_in_band_piggyback_take(&in_band->piggyback, punts, n);
	}
}

void hs_in_band_step(struct hs_in_band *in_band)
{
	hs_in_band_advertised_step(&in_band->advertised);
	hs_in_band_piggyback_step(&in_band->piggyback);
}

int64_t hs_in_band_next_ns(const struct hs_in_band *in_band)
{
	int64_t request_ns = in_band->advertised.next_ns, report_ns = in_band->piggyback.next_ns;
	return request_ns < report_ns ? request_ns : report_ns;
}

void hs_in_band_expire(struct hs_in_band *in_band)
{
	hs_in_band_learned_expire(&in_band->learned);
}

void hs_in_band_shift(struct hs_in_band *in_band, int64_t by_ns)
{
	hs_in_band_advertised_shift(&in_band->advertised, by_ns);
	hs_in_band_learned_shift(&in_band->learned, by_ns);
	hs_in_band_piggyback_shift(&in_band->piggyback, by_ns);
	hs_in_band_seen_shift(in_band->learned.seen, by_ns);
}

// ---- rules ----

int hs_in_band_admits(
		const struct hs_in_band *in_band, const struct hs_rule *rule, struct hs_error *err)
{
	return hs_in_band_check_rule(&in_band->base.settings, rule, err);
}

static struct learned *learned_of(const struct hs_in_band *in_band, uint32_t slot)
{
	return hs_in_band_learned_of(&in_band->learned, slot);
}

bool hs_in_band_has(const struct hs_in_band *in_band, uint32_t ns_id)
{
	return learned_of(in_band, hs_flow_table_find(in_band->base.flows, ns_id)) != NULL;
}

uint32_t hs_in_band_rules(const struct hs_in_band *in_band)
{
	return in_band->learned.n;
}

void hs_in_band_make_room(struct hs_in_band *in_band)
{
	hs_in_band_learned_make_room(&in_band->learned);
}

void hs_in_band_step_back(struct hs_in_band *in_band, uint32_t ns_id)
{
	hs_in_band_learned_step_back(&in_band->learned, ns_id);
}

void hs_in_band_begin(struct hs_in_band *in_band, uint32_t slot)
{
	hs_in_band_advertised_begin(&in_band->advertised, slot);
}

int hs_in_band_update(struct hs_in_band *in_band, uint32_t slot, struct hs_rule_update *update)
{
	const struct learned *learned = learned_of(in_band, slot);

	return learned ? hs_in_band_own_update(&in_band->own, &learned->asked,
					 hs_flow_table_rule(in_band->base.flows, slot), update)
		       : 0;
}

void hs_in_band_updated(struct hs_in_band *in_band, uint32_t slot, bool travels)
{
	if (travels)
		hs_in_band_advertised_changed(&in_band->advertised, slot);
	hs_in_band_piggyback_changed(&in_band->piggyback, slot);
}

bool hs_in_band_has_own(const struct hs_in_band *in_band, uint32_t ns_id)
{
	return hs_in_band_own_has(&in_band->own, ns_id);
}

void hs_in_band_forget_own(struct hs_in_band *in_band, uint32_t ns_id)
{
	hs_in_band_own_forget(&in_band->own, ns_id);
}

void hs_in_band_slot_goes(struct hs_in_band *in_band, uint32_t slot)
{
	hs_in_band_piggyback_slot_goes(&in_band->piggyback, slot);
}

void hs_in_band_forget(struct hs_in_band *in_band, uint32_t slot)
{
	hs_in_band_advertised_end(&in_band->advertised, slot);
	hs_in_band_learned_end(&in_band->learned, slot);
	hs_in_band_piggyback_end(&in_band->piggyback, slot);
}

// ---- what is shown of a rule ----

#define SHOWN(...) HS_SCHEMA_ROW(struct hs_in_band_shown, __VA_ARGS__)
#define IF(member) HS_SCHEMA_IF(struct hs_in_band_shown, member)
const struct hs_schema_field hs_in_band_fields[] = {
		SHOWN(UINT, request_sent, "how often the request left this node in band",
				IF(advertises)),
		SHOWN(INT, last_request_tx_ns, "when it left last", IF(sent)),
		SHOWN(BOOL, request_waits, "it waits for a packet that can carry it",
				IF(advertises)),
		SHOWN(INT, next_request_ns, "when it is due again", IF(due)),
		SHOWN(INT, expires_ns, "when a rule that came in band ends", IF(learned)),
		SHOWN(TAKEN, own, "of a rule that came in band: what this node's API gave instead",
				.optional = true, .shape = "{'type': 'object'}"),
		SHOWN(TAKEN, in_band, "of the same fields: what came in band", .optional = true,
				.shape = "{'type': 'object'}"),
		SHOWN(UINT, reports_waiting, "reports that wait for packets of the reverse flow",
				IF(keeps_reports)),
		{NULL},
};

struct hs_in_band_shown hs_in_band_show(struct hs_in_band *in_band, uint32_t slot)
{
	const struct in_band_note *note = hs_in_band_note(&in_band->base, slot);
	const struct advertised *advertised = note->advertised;
	struct hs_in_band_shown shown = {0};

	if (advertised) {
		shown.advertises = true;
		shown.sent = advertised->sent > 0;
		shown.due = !advertised->stands;
		shown.request_sent = advertised->sent;
		shown.last_request_tx_ns = advertised->last_ns;
		shown.request_waits = advertised->stands;
		shown.next_request_ns = advertised->due_ns;
	}
	if (note->learned) {
		shown.learned = true;
		shown.expires_ns = note->learned->expires_ns;
		hs_in_band_own_show(
				&in_band->own, &note->learned->asked, &shown.own, &shown.in_band);
	}
	if (note->backlog) {
		shown.keeps_reports = true;
		shown.reports_waiting = note->backlog->n_waiting;
	}
	return shown;
}

// ---- reports ----

void hs_in_band_queue_report(
		struct hs_in_band *in_band, uint32_t slot, const struct hs_report *report)
{
	hs_in_band_piggyback_report(&in_band->piggyback, slot, report);
}

uint64_t hs_in_band_reports_waiting(const struct hs_in_band *in_band)
{
	return in_band->piggyback.waiting;
}

// ---- the state ----

void hs_in_band_keep(struct hs_in_band *in_band,
		int (*save)(void *context, const json_t *line, struct hs_error *err))
{
	in_band->base.save = save;
}

void hs_in_band_save(struct hs_in_band *in_band, bool now)
{
	hs_in_band_seen_save(in_band->learned.seen, now);
}

json_t *hs_in_band_line(struct hs_in_band *in_band, struct hs_in_band_lines *at)
{
	json_t *own = at->own_done ? NULL : hs_in_band_own_line(&in_band->own, !at->own_begun);

	at->own_begun = true;
	at->own_done = !own;
	return own ? own : hs_in_band_seen_line(in_band->learned.seen, &at->seen, true);
}

uint32_t hs_in_band_count_lines(const struct hs_in_band *in_band)
{
	return in_band->own.n;
}

int hs_in_band_replay(struct hs_in_band *in_band, json_t *line, json_t **rest, struct hs_error *err)
{
	json_t *seen = json_object_get(line, HS_SEEN_LINE);

	*rest = seen ? NULL : hs_in_band_own_replay(&in_band->own, line);
	return seen ? hs_in_band_seen_read(in_band->learned.seen, seen, err) : 0;
}
