// SPDX-License-Identifier: BSD-3-Clause
// Rules that packets brought. They are checked like any other rule, limited by the node's policy,
// and removed when nobody asks for them any longer. Rules that the API, the file or the state asked
// for have priority.
#include "ctl_parts.h"
#include "telemetry.h"

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

// ---- telling ----

// Errors quote the request, which may contain any bytes.
static void clean(char *text, size_t size, const char *from)
{
	snprintf(text, size, "%s", from);
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
}

static void refuse(struct hs_ctl *ctl, uint64_t *counter, const char *reason, uint32_t ns_id)
{
	char why[160];
	uint64_t grown;

	++*counter;
	ctl->requests_refused++;
	if (!hs_ctl_limit(ctl, &ctl->refused_limit, ctl->requests_refused, &grown))
		return;
	clean(why, sizeof(why), reason);
	json_t *details = json_pack("{s:I, s:s}", "requests", (json_int_t)grown, "reason", why);
	if (ns_id)
		json_object_set_new(details, "ns_id", json_integer(ns_id));
	hs_ctl_event(ctl, "request_refused", details,
			"%" PRIu64 " in-band request%s not taken; the last: %s", grown,
			grown == 1 ? " was" : "s were", why);
}

static void tell_taken(struct hs_ctl *ctl, const struct hs_signal *signal, uint32_t ns_id,
		const char *action)
{
	const char *port = hs_node_port(ctl->node, signal->port)->config.name;

	if (ctl->now_ns - ctl->taken_told_ns >= SECOND_NS) {
		ctl->taken_told_ns = ctl->now_ns;
		ctl->taken_told = 0;
	}
	if (ctl->taken_told++ >= EVENTS_PER_SECOND)
		return;
	hs_ctl_event(ctl, "request_received",
			json_pack("{s:I, s:s, s:s}", "ns_id", (json_int_t)ns_id, "action", action,
					"port", port),
			"rule %" PRIu32 " came in band at port \"%s\": %s", ns_id, port, action);
}

// ---- what a request may do ----

static bool is_welcome(const struct hs_ctl *ctl, const struct hs_signal *signal)
{
	return ctl->in_band.accept && signal->port < hs_node_port_count(ctl->node) &&
	       hs_node_port(ctl->node, signal->port)->side == HS_SIDE_NETWORK &&
	       ctl->in_band.ports >> signal->port & 1;
}

static bool is_fresh(const struct hs_ctl *ctl, uint64_t counter)
{
	int64_t age_ns = ctl->in_band.max_age_s * SECOND_NS;
	if (!age_ns)
		return true;
	return counter <= INT64_MAX && (int64_t)counter >= ctl->now_ns - age_ns &&
	       (int64_t)counter <= ctl->now_ns + age_ns;
}

static struct guest *guest_of(const struct hs_ctl *ctl, uint32_t slot)
{
	const struct rule_note *note = slot == HS_FLOW_NONE ? NULL : ctl->notes[slot];
	return note ? note->guest : NULL;
}

// Returns whether a rule matches the same packets and collects the same. Other differences can
// change while the rule is installed.
static bool is_same_flow(const struct hs_rule *a, const struct hs_rule *b)
{
	return memcmp(a->src_ip, b->src_ip, sizeof(a->src_ip)) == 0 &&
	       memcmp(a->dst_ip, b->dst_ip, sizeof(a->dst_ip)) == 0 && a->src_port == b->src_port &&
	       a->dst_port == b->dst_port && a->protocol == b->protocol &&
	       a->trace_type == b->trace_type && a->app_id == b->app_id;
}

static bool is_same(const struct hs_rule *a, const struct hs_rule *b)
{
	return is_same_flow(a, b) && a->mode == b->mode && a->mode_setting == b->mode_setting &&
	       a->transmit_report == b->transmit_report &&
	       a->piggyback_report == b->piggyback_report;
}

// ---- doing it ----

static void refresh(struct hs_ctl *ctl, struct guest *guest)
{
	const struct hs_in_band *in_band = &ctl->in_band;

	guest->refresh_ns = ctl->now_ns;
	guest->expires_ns = ctl->now_ns +
			    (int64_t)in_band->missed_repeats * in_band->interval_s * SECOND_NS;
	TAILQ_REMOVE(&ctl->guests, guest, order);
	TAILQ_INSERT_TAIL(&ctl->guests, guest, order);
}

static int install(struct hs_ctl *ctl, const struct hs_rule *rule, struct hs_error *err)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	struct hs_rule merged = *rule;

	if (!guest)
		return -ENOMEM;
	hs_ctl_own_apply(ctl, &merged);
	hs_telemetry_lock(ctl->config.telemetry);
	int rc = hs_flow_table_install(ctl->flows, &merged, NULL, err);
	hs_telemetry_unlock(ctl->config.telemetry);
	uint32_t slot = rc < 0 ? HS_FLOW_NONE : hs_flow_table_find(ctl->flows, rule->ns_id);
	struct rule_note *note = rc < 0 ? NULL : hs_ctl_note(ctl, slot);
	if (!note) {
		free(guest);
		if (rc == 0)
			hs_ctl_remove_rule(ctl, rule->ns_id, err);
		return -ENOMEM;
	}
	guest->slot = slot;
	guest->asked = *rule;
	guest->installed_ns = ctl->now_ns;
	guest->rank = ctl->in_band.has_key ? GUEST_PROVEN : GUEST_FRESH;
	note->guest = guest;
	ctl->origins[slot] = HS_ORIGIN_IN_BAND;
	ctl->n_guests++;
	ctl->generation++;
	TAILQ_INSERT_TAIL(&ctl->guests, guest, order);
	TAILQ_INSERT_TAIL(&ctl->guest_ranks[guest->rank], guest, at_rank);
	refresh(ctl, guest);
	return 0;
}

static void update(struct hs_ctl *ctl, struct guest *guest, const struct hs_rule *rule)
{
	struct hs_rule_update update = {0};
	struct hs_rule merged = *rule;

	guest->asked = *rule;
	hs_ctl_own_apply(ctl, &merged);
	hs_rule_update_take(&update, &merged, UINT32_MAX);
	hs_telemetry_lock(ctl->config.telemetry);
	hs_flow_table_update(ctl->flows, rule->ns_id, &update, NULL);
	hs_telemetry_unlock(ctl->config.telemetry);
	hs_ctl_piggyback_changed(ctl, guest->slot);
	ctl->generation++;
}

static bool has_room(const struct hs_ctl *ctl)
{
	return ctl->n_guests < ctl->in_band.max_rules &&
	       hs_flow_table_count(ctl->flows) < hs_flow_table_capacity(ctl->flows);
}

// Removes a rule that is not proven. Returns false if there is none.
static bool displace(struct hs_ctl *ctl)
{
	struct guest *victim = hs_ctl_guest_victim(ctl);
	struct hs_error err;
	uint64_t grown;

	if (!victim)
		return false;
	uint32_t ns_id = hs_flow_table_rule(ctl->flows, victim->slot)->ns_id;
	hs_ctl_remove_rule(ctl, ns_id, &err);
	ctl->counts.requests_in_band_displaced++;
	if (hs_ctl_limit(ctl, &ctl->displaced_limit, ctl->counts.requests_in_band_displaced,
			    &grown))
		hs_ctl_event(ctl, "request_displaced",
				json_pack("{s:I, s:I}", "rules", (json_int_t)grown, "ns_id",
						(json_int_t)ns_id),
				"%" PRIu64 " rule%s that came in band made room for others: no "
				"packet of their flow came; the last: %" PRIu32,
				grown, grown == 1 ? "" : "s", ns_id);
	return true;
}

static void take_new(struct hs_ctl *ctl, const struct hs_signal *signal, const struct hs_rule *rule,
		const char *action)
{
	struct hs_error err = {0};

	if (!has_room(ctl) && ctl->in_band.max_rules)
		displace(ctl);
	if (ctl->n_guests >= ctl->in_band.max_rules) {
		refuse(ctl, &ctl->counts.requests_in_band_refused,
				"as many rules came in band as may, and all of them have flows",
				rule->ns_id);
		return;
	}
	if (install(ctl, rule, &err) < 0) {
		refuse(ctl, &ctl->counts.requests_in_band_refused,
				err.message[0] ? err.message : "no memory", rule->ns_id);
		return;
	}
	ctl->counts.requests_in_band_installed++;
	tell_taken(ctl, signal, rule->ns_id, action);
}

static void take_known(struct hs_ctl *ctl, const struct hs_signal *signal, struct guest *guest,
		const struct hs_rule *rule)
{
	struct hs_error err;

	guest->repeats++;
	if (is_same(&guest->asked, rule)) {
		refresh(ctl, guest);
		ctl->counts.requests_in_band_refreshed++;
	} else if (is_same_flow(&guest->asked, rule)) {
		update(ctl, guest, rule);
		refresh(ctl, guest);
		ctl->counts.requests_in_band_installed++;
		tell_taken(ctl, signal, rule->ns_id, "updated");
	} else {
		hs_ctl_remove_rule(ctl, rule->ns_id, &err);
		take_new(ctl, signal, rule, "replaced");
	}
}

static void take(struct hs_ctl *ctl, const struct hs_signal *signal, const struct hs_rule *rule)
{
	uint32_t slot = hs_flow_table_find(ctl->flows, rule->ns_id);
	struct guest *guest = guest_of(ctl, slot);

	if (guest)
		take_known(ctl, signal, guest, rule);
	else if (slot != HS_FLOW_NONE && is_same(hs_flow_table_rule(ctl->flows, slot), rule))
		ctl->counts.requests_in_band_refreshed++; // given to every node, and all agree
	else if (slot != HS_FLOW_NONE)
		refuse(ctl, &ctl->counts.requests_in_band_refused,
				"this node has been given another rule of this namespace",
				rule->ns_id);
	else if (!ctl->in_band.has_key && !hs_ctl_guest_admits(ctl, signal->port))
		refuse(ctl, &ctl->counts.requests_in_band_limited,
				"the port brings more new rules than telemetry.in_band."
				"new_rules_per_s",
				rule->ns_id);
	else
		take_new(ctl, signal, rule, "installed");
}

// Returns NULL, or the reason of the refusal.
static const char *refuse_signed(struct hs_ctl *ctl, uint32_t ns_id, uint64_t counter)
{
	if (!is_fresh(ctl, counter))
		return "its time is too far from this node's";
	return hs_ctl_seen_check(ctl, ns_id, counter);
}

void hs_ctl_guest_request(struct hs_ctl *ctl, const struct hs_signal *signal)
{
	struct hs_node_totals *counts = &ctl->counts;
	struct hs_error err = {0};
	struct hs_rule rule;
	uint64_t counter = 0;
	unsigned unknown = 0;

	counts->requests_in_band_received++;
	if (!is_welcome(ctl, signal)) {
		refuse(ctl, &counts->requests_in_band_refused,
				"telemetry.in_band does not accept it", 0);
		return;
	}
	if (ctl->in_band.has_key && hs_rule_auth_verify(&ctl->in_band.key, signal->data,
						    signal->len, &counter, &err) < 0) {
		refuse(ctl, &counts->requests_in_band_bad, err.message, 0);
		return;
	}
	int rc = hs_rule_from_cbor(signal->data, signal->len, &rule, &unknown, &err);
	counts->requests_in_band_unknown_keys += unknown;
	if (rc < 0) {
		refuse(ctl, &counts->requests_in_band_bad, err.message, 0);
		return;
	}
	const char *old = ctl->in_band.has_key ? refuse_signed(ctl, rule.ns_id, counter) : NULL;
	if (old) {
		refuse(ctl, &counts->requests_in_band_replayed, old, rule.ns_id);
		return;
	}
	if (ctl->in_band.has_key)
		hs_ctl_seen_note(ctl, rule.ns_id, counter);
	take(ctl, signal, &rule);
}

struct guest *hs_ctl_guest(const struct hs_ctl *ctl, uint32_t ns_id)
{
	return guest_of(ctl, hs_flow_table_find(ctl->flows, ns_id));
}

bool hs_ctl_came_in_band(const struct hs_ctl *ctl, uint32_t ns_id)
{
	return guest_of(ctl, hs_flow_table_find(ctl->flows, ns_id)) != NULL;
}

void hs_ctl_guest_step_back(struct hs_ctl *ctl, uint32_t ns_id)
{
	const struct guest *guest = guest_of(ctl, hs_flow_table_find(ctl->flows, ns_id));
	struct hs_rule rule = guest->asked;
	struct hs_error err;

	hs_ctl_remove_rule(ctl, ns_id, &err);
	install(ctl, &rule, &err); // without memory, the request comes again
}

void hs_ctl_guests_make_room(struct hs_ctl *ctl)
{
	const struct guest *guest = TAILQ_FIRST(&ctl->guests);
	struct hs_error err;

	if (!guest || hs_flow_table_count(ctl->flows) < hs_flow_table_capacity(ctl->flows))
		return;
	if (!displace(ctl))
		hs_ctl_remove_rule(ctl, hs_flow_table_rule(ctl->flows, guest->slot)->ns_id, &err);
}

void hs_ctl_guest_end(struct hs_ctl *ctl, struct guest *guest)
{
	TAILQ_REMOVE(&ctl->guests, guest, order);
	TAILQ_REMOVE(&ctl->guest_ranks[guest->rank], guest, at_rank);
	ctl->n_guests--;
	free(guest);
}

void hs_ctl_guests_expire(struct hs_ctl *ctl)
{
	struct guest *guest = TAILQ_FIRST(&ctl->guests);
	struct hs_error err;

	while (guest && guest->expires_ns <= ctl->now_ns) {
		uint32_t ns_id = hs_flow_table_rule(ctl->flows, guest->slot)->ns_id;
		int64_t silent_ns = ctl->now_ns - guest->refresh_ns;
		hs_ctl_remove_rule(ctl, ns_id, &err);
		ctl->counts.requests_in_band_expired++;
		hs_ctl_event(ctl, "request_expired",
				json_pack("{s:I, s:I}", "ns_id", (json_int_t)ns_id, "silent_ns",
						(json_int_t)silent_ns),
				"rule %" PRIu32 " came in band and was not asked for again for "
				"%" PRId64 " s: removed",
				ns_id, silent_ns / SECOND_NS);
		guest = TAILQ_FIRST(&ctl->guests);
	}
}
