// SPDX-License-Identifier: BSD-3-Clause
// Rules that packets brought. They are checked like any other rule, limited by the node's policy,
// and removed when nobody asks for them any longer. Rules that the API, the file or the state asked
// for have priority.
#include "in_band_learned.h"

#include "clock.h"

#include "rule_auth.h"
#include "rule_cbor.h"
#include "rule_field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS	  INT64_C(1000000000)
#define EVENTS_PER_SECOND 32 // of accepted requests, whose number another node decides

static int64_t now_ns(const struct in_band_learned *all)
{
	return hs_in_band_now(all->base);
}

void hs_in_band_learned_init(struct in_band_learned *all, struct in_band_base *base)
{
	*all = (struct in_band_learned){.base = base};
	TAILQ_INIT(&all->rules);
	hs_in_band_rank_init(&all->ranks, base);
}

struct learned *hs_in_band_learned_of(const struct in_band_learned *all, uint32_t slot)
{
	const struct in_band_note *note = hs_in_band_note(all->base, slot);
	return note ? note->learned : NULL;
}

// ---- telling ----

// Copies an error and replaces unprintable bytes by '?', because an error quotes the request.
static void clean(char *text, size_t size, const char *from)
{
	snprintf(text, size, "%s", from);
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static void refuse(
		struct in_band_learned *all, uint64_t *counter, const char *reason, uint32_t ns_id)
{
	char why[160];
	uint64_t grown;

	++*counter;
	all->refused++;
	if (!hs_event_limit(&all->refused_limit, now_ns(all), all->refused, &grown))
		return;
	clean(why, sizeof(why), reason);
	json_t *details = json_pack("{s:I, s:s}", "requests", (json_int_t)grown, "reason", why);
	if (ns_id)
		json_object_set_new(details, "ns_id", json_integer(ns_id));
	in_band_event(all->base, "request_refused", details,
			"%" PRIu64 " in-band request%s not taken; the last: %s", grown,
			grown == 1 ? " was" : "s were", why);
}

static void tell_taken(struct in_band_learned *all, const struct hs_punt *punt, uint32_t ns_id,
		const char *action)
{
	const char *port = hs_node_port(all->base->host.node, punt->port)->config.name;

	if (now_ns(all) - all->taken_told_ns >= SECOND_NS) {
		all->taken_told_ns = now_ns(all);
		all->taken_told = 0;
	}
	if (all->taken_told++ >= EVENTS_PER_SECOND)
		return;
	in_band_event(all->base, "request_received",
			json_pack("{s:I, s:s, s:s}", "ns_id", (json_int_t)ns_id, "action", action,
					"port", port),
			"rule %" PRIu32 " came in band at port \"%s\": %s", ns_id, port, action);
}

// ---- what a request may do ----

static bool is_welcome(const struct in_band_learned *all, const struct hs_punt *punt)
{
	return all->base->settings.accept &&
	       punt->port < hs_node_port_count(all->base->host.node) &&
	       hs_node_port(all->base->host.node, punt->port)->side == HS_SIDE_NETWORK &&
	       all->base->settings.ports >> punt->port & 1;
}

static bool is_fresh(const struct in_band_learned *all, uint64_t counter)
{
	int64_t age_ns = all->base->settings.max_age_s * SECOND_NS;
	if (!age_ns)
		return true;
	return counter <= INT64_MAX && (int64_t)counter >= now_ns(all) - age_ns &&
	       (int64_t)counter <= now_ns(all) + age_ns;
}

// Returns whether a rule matches the same packets and collects the same. Other differences can
// change while the rule is installed.
static bool is_same_flow(const struct hs_rule *a, const struct hs_rule *b)
{
	return memcmp(a->src_ip, b->src_ip, sizeof(a->src_ip)) == 0 &&
	       memcmp(a->dst_ip, b->dst_ip, sizeof(a->dst_ip)) == 0 && a->src_port == b->src_port &&
	       a->dst_port == b->dst_port && a->protocol == b->protocol &&
	       a->trace_type == b->trace_type && a->method == b->method && a->app_id == b->app_id;
}

static bool is_same(const struct hs_rule *a, const struct hs_rule *b)
{
	return is_same_flow(a, b) && a->mode == b->mode && a->mode_setting == b->mode_setting &&
	       a->transmit_report == b->transmit_report &&
	       a->piggyback_report == b->piggyback_report;
}

// ---- doing it ----

static void refresh(struct in_band_learned *all, struct learned *learned)
{
	const struct hs_in_band_settings *in_band = &all->base->settings;

	learned->refresh_ns = now_ns(all);
	learned->expires_ns = now_ns(all) +
			      (int64_t)in_band->missed_repeats * in_band->interval_s * SECOND_NS;
	TAILQ_REMOVE(&all->rules, learned, order);
	TAILQ_INSERT_TAIL(&all->rules, learned, order);
}

static int install(struct in_band_learned *all, const struct hs_rule *rule, struct hs_error *err)
{
	struct learned *learned = calloc(1, sizeof(*learned));
	struct hs_rule merged = *rule;

	if (!learned)
		return -ENOMEM;
	hs_in_band_own_apply(all->own, &merged);
	if (all->base->host.install(all->base->host.context, &merged, err) < 0) {
		free(learned);
		return -ENOMEM;
	}
	learned->slot = hs_flow_table_find(all->base->flows, rule->ns_id);
	learned->asked = *rule;
	learned->installed_ns = now_ns(all);
	all->base->notes[learned->slot].learned = learned;
	all->n++;
	TAILQ_INSERT_TAIL(&all->rules, learned, order);
	hs_in_band_rank_add(&all->ranks, learned,
			all->base->settings.has_key ? LEARNED_PROVEN : LEARNED_FRESH);
	refresh(all, learned);
	return 0;
}

static void update(struct in_band_learned *all, struct learned *learned, const struct hs_rule *rule)
{
	struct hs_rule_update update = {0};
	struct hs_rule merged = *rule;

	learned->asked = *rule;
	hs_in_band_own_apply(all->own, &merged);
	hs_rule_update_take(&update, &merged, UINT32_MAX);
	all->base->host.update(all->base->host.context, rule->ns_id, &update, NULL);
	hs_in_band_piggyback_changed(all->piggyback, learned->slot);
}

static bool has_room(const struct in_band_learned *all)
{
	return all->n < all->base->settings.max_rules &&
	       hs_flow_table_count(all->base->flows) < hs_flow_table_capacity(all->base->flows);
}

// Removes a rule that is not proven. Returns false if there is none.
static bool displace(struct in_band_learned *all)
{
	struct learned *victim = hs_in_band_rank_victim(&all->ranks);
	struct hs_error err;
	uint64_t grown;

	if (!victim)
		return false;
	uint32_t ns_id = hs_flow_table_rule(all->base->flows, victim->slot)->ns_id;
	all->base->host.remove(all->base->host.context, ns_id, &err);
	all->base->host.counts->requests_in_band_displaced++;
	if (hs_event_limit(&all->displaced_limit, now_ns(all),
			    all->base->host.counts->requests_in_band_displaced, &grown))
		in_band_event(all->base, "request_displaced",
				json_pack("{s:I, s:I}", "rules", (json_int_t)grown, "ns_id",
						(json_int_t)ns_id),
				"%" PRIu64 " rule%s that came in band made room for others: no "
				"packet of their flow came; the last: %" PRIu32,
				grown, grown == 1 ? "" : "s", ns_id);
	return true;
}

static void take_new(struct in_band_learned *all, const struct hs_punt *punt,
		const struct hs_rule *rule, const char *action)
{
	struct hs_error err = {0};

	if (!has_room(all) && all->base->settings.max_rules)
		displace(all);
	if (all->n >= all->base->settings.max_rules) {
		refuse(all, &all->base->host.counts->requests_in_band_refused,
				"as many rules came in band as may, and all of them have flows",
				rule->ns_id);
		return;
	}
	if (install(all, rule, &err) < 0) {
		refuse(all, &all->base->host.counts->requests_in_band_refused,
				err.message[0] ? err.message : "no memory", rule->ns_id);
		return;
	}
	all->base->host.counts->requests_in_band_installed++;
	tell_taken(all, punt, rule->ns_id, action);
}

// Returns whether the port may bring one more rule, also one in place of another.
static bool is_admitted(
		struct in_band_learned *all, const struct hs_punt *punt, const struct hs_rule *rule)
{
	if (all->base->settings.has_key || hs_in_band_rank_admits(&all->ranks, punt->port))
		return true;
	refuse(all, &all->base->host.counts->requests_in_band_limited,
			"the port brings more new rules than telemetry.in_band.new_rules_per_s",
			rule->ns_id);
	return false;
}

static void take_known(struct in_band_learned *all, const struct hs_punt *punt,
		struct learned *learned, const struct hs_rule *rule)
{
	struct hs_error err;

	learned->repeats++;
	if (is_same(&learned->asked, rule)) {
		refresh(all, learned);
		all->base->host.counts->requests_in_band_refreshed++;
	} else if (is_same_flow(&learned->asked, rule)) {
		update(all, learned, rule);
		refresh(all, learned);
		all->base->host.counts->requests_in_band_installed++;
		tell_taken(all, punt, rule->ns_id, "updated");
	} else if (is_admitted(all, punt, rule)) {
		all->base->host.remove(all->base->host.context, rule->ns_id, &err);
		take_new(all, punt, rule, "replaced");
	}
}

static void take(
		struct in_band_learned *all, const struct hs_punt *punt, const struct hs_rule *rule)
{
	uint32_t slot = hs_flow_table_find(all->base->flows, rule->ns_id);
	struct learned *learned = hs_in_band_learned_of(all, slot);

	if (learned)
		take_known(all, punt, learned, rule);
	else if (slot != HS_FLOW_NONE && is_same(hs_flow_table_rule(all->base->flows, slot), rule))
		all->base->host.counts->requests_in_band_refreshed++; // every node was given the
								      // same rule
	else if (slot != HS_FLOW_NONE)
		refuse(all, &all->base->host.counts->requests_in_band_refused,
				"this node has been given another rule of this namespace",
				rule->ns_id);
	else if (is_admitted(all, punt, rule))
		take_new(all, punt, rule, "installed");
}

// Returns NULL, or the reason of the refusal.
static const char *refuse_signed(struct in_band_learned *all, uint32_t ns_id, uint64_t counter)
{
	if (!is_fresh(all, counter))
		return "its time is too far from this node's";
	return hs_in_band_seen_check(all->seen, ns_id, counter);
}

void hs_in_band_learned_request(struct in_band_learned *all, const struct hs_punt *punt)
{
	struct hs_node_totals *counts = all->base->host.counts;
	struct hs_error err = {0};
	struct hs_rule rule;
	uint64_t counter = 0;
	unsigned unknown = 0;

	counts->requests_in_band_received++;
	if (!is_welcome(all, punt)) {
		refuse(all, &counts->requests_in_band_refused,
				"telemetry.in_band does not accept it", 0);
		return;
	}
	if (all->base->settings.has_key && hs_rule_auth_verify(&all->base->settings.key, punt->data,
							   punt->len, &counter, &err) < 0) {
		refuse(all, &counts->requests_in_band_bad, err.message, 0);
		return;
	}
	int rc = hs_rule_from_cbor(punt->data, punt->len, &rule, &unknown, &err);
	counts->requests_in_band_unknown_keys += unknown;
	if (rc < 0) {
		refuse(all, &counts->requests_in_band_bad, err.message, 0);
		return;
	}
	const char *old = all->base->settings.has_key ? refuse_signed(all, rule.ns_id, counter)
						      : NULL;
	if (old) {
		refuse(all, &counts->requests_in_band_replayed, old, rule.ns_id);
		return;
	}
	if (all->base->settings.has_key)
		hs_in_band_seen_note(all->seen, rule.ns_id, counter);
	take(all, punt, &rule);
}

void hs_in_band_learned_step_back(struct in_band_learned *all, uint32_t ns_id)
{
	const struct learned *learned =
			hs_in_band_learned_of(all, hs_flow_table_find(all->base->flows, ns_id));
	struct hs_rule rule = learned->asked;
	struct hs_error err;

	all->base->host.remove(all->base->host.context, ns_id, &err);
	install(all, &rule, &err); // without memory, the request comes again
}

void hs_in_band_learned_make_room(struct in_band_learned *all)
{
	const struct learned *learned = TAILQ_FIRST(&all->rules);
	struct hs_error err;

	if (!learned || hs_flow_table_count(all->base->flows) <
					hs_flow_table_capacity(all->base->flows))
		return;
	if (!displace(all))
		all->base->host.remove(all->base->host.context,
				hs_flow_table_rule(all->base->flows, learned->slot)->ns_id, &err);
}

void hs_in_band_learned_end(struct in_band_learned *all, uint32_t slot)
{
	struct learned *learned = hs_in_band_learned_of(all, slot);

	if (!learned)
		return;
	TAILQ_REMOVE(&all->rules, learned, order);
	hs_in_band_rank_remove(&all->ranks, learned);
	all->base->notes[slot].learned = NULL;
	all->n--;
	free(learned);
}

void hs_in_band_learned_expire(struct in_band_learned *all)
{
	struct learned *learned = TAILQ_FIRST(&all->rules);
	struct hs_error err;

	while (learned && learned->expires_ns <= now_ns(all)) {
		uint32_t ns_id = hs_flow_table_rule(all->base->flows, learned->slot)->ns_id;
		int64_t silent_ns = now_ns(all) - learned->refresh_ns;
		all->base->host.remove(all->base->host.context, ns_id, &err);
		all->base->host.counts->requests_in_band_expired++;
		in_band_event(all->base, "request_expired",
				json_pack("{s:I, s:I}", "ns_id", (json_int_t)ns_id, "silent_ns",
						(json_int_t)silent_ns),
				"rule %" PRIu32 " came in band and was not asked for again for "
				"%" PRId64 " s: removed",
				ns_id, silent_ns / SECOND_NS);
		learned = TAILQ_FIRST(&all->rules);
	}
}

void hs_in_band_learned_shift(struct in_band_learned *all, int64_t by_ns)
{
	struct learned *learned;

	hs_clock_shift(&all->refused_limit.next_ns, by_ns);
	hs_clock_shift(&all->displaced_limit.next_ns, by_ns);
	hs_clock_shift(&all->taken_told_ns, by_ns);
	for (unsigned i = 0; i < HS_MAX_PORTS; i++)
		hs_clock_shift(&all->ranks.due_ns[i], by_ns);
	TAILQ_FOREACH (learned, &all->rules, order) {
		hs_clock_shift(&learned->installed_ns, by_ns);
		hs_clock_shift(&learned->refresh_ns, by_ns);
		hs_clock_shift(&learned->expires_ns, by_ns);
	}
}
