// SPDX-License-Identifier: BSD-3-Clause
// Rules that packets brought. They are checked like any other rule, limited by the node's policy,
// and removed when nobody asks for them any longer. Rules that the API, the file or the state asked
// for have priority.
#include "control_parts.h"
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

static void refuse(
		struct hs_control *control, uint64_t *counter, const char *reason, uint32_t ns_id)
{
	char why[160];
	uint64_t grown;

	++*counter;
	control->requests_refused++;
	if (!hs_control_limit(control, &control->refused_limit, control->requests_refused, &grown))
		return;
	clean(why, sizeof(why), reason);
	json_t *details = json_pack("{s:I, s:s}", "requests", (json_int_t)grown, "reason", why);
	if (ns_id)
		json_object_set_new(details, "ns_id", json_integer(ns_id));
	hs_control_event(control, "request_refused", details,
			"%" PRIu64 " in-band request%s not taken; the last: %s", grown,
			grown == 1 ? " was" : "s were", why);
}

static void tell_taken(struct hs_control *control, const struct hs_punt *signal, uint32_t ns_id,
		const char *action)
{
	const char *port = hs_node_port(control->node, signal->port)->config.name;

	if (control->now_ns - control->taken_told_ns >= SECOND_NS) {
		control->taken_told_ns = control->now_ns;
		control->taken_told = 0;
	}
	if (control->taken_told++ >= EVENTS_PER_SECOND)
		return;
	hs_control_event(control, "request_received",
			json_pack("{s:I, s:s, s:s}", "ns_id", (json_int_t)ns_id, "action", action,
					"port", port),
			"rule %" PRIu32 " came in band at port \"%s\": %s", ns_id, port, action);
}

// ---- what a request may do ----

static bool is_welcome(const struct hs_control *control, const struct hs_punt *signal)
{
	return control->in_band.accept && signal->port < hs_node_port_count(control->node) &&
	       hs_node_port(control->node, signal->port)->side == HS_SIDE_NETWORK &&
	       control->in_band.ports >> signal->port & 1;
}

static bool is_fresh(const struct hs_control *control, uint64_t counter)
{
	int64_t age_ns = control->in_band.max_age_s * SECOND_NS;
	if (!age_ns)
		return true;
	return counter <= INT64_MAX && (int64_t)counter >= control->now_ns - age_ns &&
	       (int64_t)counter <= control->now_ns + age_ns;
}

static struct learned *learned_of(const struct hs_control *control, uint32_t slot)
{
	const struct rule_note *note = slot == HS_FLOW_NONE ? NULL : control->notes[slot];
	return note ? note->learned : NULL;
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

static void refresh(struct hs_control *control, struct learned *learned)
{
	const struct hs_in_band_settings *in_band = &control->in_band;

	learned->refresh_ns = control->now_ns;
	learned->expires_ns = control->now_ns +
			      (int64_t)in_band->missed_repeats * in_band->interval_s * SECOND_NS;
	TAILQ_REMOVE(&control->learned, learned, order);
	TAILQ_INSERT_TAIL(&control->learned, learned, order);
}

static int install(struct hs_control *control, const struct hs_rule *rule, struct hs_error *err)
{
	struct learned *learned = calloc(1, sizeof(*learned));
	struct hs_rule merged = *rule;

	if (!learned)
		return -ENOMEM;
	hs_control_own_apply(control, &merged);
	hs_telemetry_lock(control->config.telemetry);
	int rc = hs_flow_table_install(control->flows, &merged, NULL, err);
	hs_telemetry_unlock(control->config.telemetry);
	uint32_t slot = rc < 0 ? HS_FLOW_NONE : hs_flow_table_find(control->flows, rule->ns_id);
	struct rule_note *note = rc < 0 ? NULL : hs_control_note(control, slot);
	if (!note) {
		free(learned);
		if (rc == 0)
			hs_control_remove_rule(control, rule->ns_id, err);
		return -ENOMEM;
	}
	learned->slot = slot;
	learned->asked = *rule;
	learned->installed_ns = control->now_ns;
	learned->rank = control->in_band.has_key ? LEARNED_PROVEN : LEARNED_FRESH;
	note->learned = learned;
	control->origins[slot] = HS_ORIGIN_IN_BAND;
	control->n_learned++;
	control->generation++;
	TAILQ_INSERT_TAIL(&control->learned, learned, order);
	TAILQ_INSERT_TAIL(&control->learned_ranks[learned->rank], learned, at_rank);
	refresh(control, learned);
	return 0;
}

static void update(struct hs_control *control, struct learned *learned, const struct hs_rule *rule)
{
	struct hs_rule_update update = {0};
	struct hs_rule merged = *rule;

	learned->asked = *rule;
	hs_control_own_apply(control, &merged);
	hs_rule_update_take(&update, &merged, UINT32_MAX);
	hs_telemetry_lock(control->config.telemetry);
	hs_flow_table_update(control->flows, rule->ns_id, &update, NULL);
	hs_telemetry_unlock(control->config.telemetry);
	hs_control_piggyback_changed(control, learned->slot);
	control->generation++;
}

static bool has_room(const struct hs_control *control)
{
	return control->n_learned < control->in_band.max_rules &&
	       hs_flow_table_count(control->flows) < hs_flow_table_capacity(control->flows);
}

// Removes a rule that is not proven. Returns false if there is none.
static bool displace(struct hs_control *control)
{
	struct learned *victim = hs_control_learned_victim(control);
	struct hs_error err;
	uint64_t grown;

	if (!victim)
		return false;
	uint32_t ns_id = hs_flow_table_rule(control->flows, victim->slot)->ns_id;
	hs_control_remove_rule(control, ns_id, &err);
	control->counts.requests_in_band_displaced++;
	if (hs_control_limit(control, &control->displaced_limit,
			    control->counts.requests_in_band_displaced, &grown))
		hs_control_event(control, "request_displaced",
				json_pack("{s:I, s:I}", "rules", (json_int_t)grown, "ns_id",
						(json_int_t)ns_id),
				"%" PRIu64 " rule%s that came in band made room for others: no "
				"packet of their flow came; the last: %" PRIu32,
				grown, grown == 1 ? "" : "s", ns_id);
	return true;
}

static void take_new(struct hs_control *control, const struct hs_punt *signal,
		const struct hs_rule *rule, const char *action)
{
	struct hs_error err = {0};

	if (!has_room(control) && control->in_band.max_rules)
		displace(control);
	if (control->n_learned >= control->in_band.max_rules) {
		refuse(control, &control->counts.requests_in_band_refused,
				"as many rules came in band as may, and all of them have flows",
				rule->ns_id);
		return;
	}
	if (install(control, rule, &err) < 0) {
		refuse(control, &control->counts.requests_in_band_refused,
				err.message[0] ? err.message : "no memory", rule->ns_id);
		return;
	}
	control->counts.requests_in_band_installed++;
	tell_taken(control, signal, rule->ns_id, action);
}

static void take_known(struct hs_control *control, const struct hs_punt *signal,
		struct learned *learned, const struct hs_rule *rule)
{
	struct hs_error err;

	learned->repeats++;
	if (is_same(&learned->asked, rule)) {
		refresh(control, learned);
		control->counts.requests_in_band_refreshed++;
	} else if (is_same_flow(&learned->asked, rule)) {
		update(control, learned, rule);
		refresh(control, learned);
		control->counts.requests_in_band_installed++;
		tell_taken(control, signal, rule->ns_id, "updated");
	} else {
		hs_control_remove_rule(control, rule->ns_id, &err);
		take_new(control, signal, rule, "replaced");
	}
}

static void take(struct hs_control *control, const struct hs_punt *signal,
		const struct hs_rule *rule)
{
	uint32_t slot = hs_flow_table_find(control->flows, rule->ns_id);
	struct learned *learned = learned_of(control, slot);

	if (learned)
		take_known(control, signal, learned, rule);
	else if (slot != HS_FLOW_NONE && is_same(hs_flow_table_rule(control->flows, slot), rule))
		control->counts.requests_in_band_refreshed++; // given to every node, and all agree
	else if (slot != HS_FLOW_NONE)
		refuse(control, &control->counts.requests_in_band_refused,
				"this node has been given another rule of this namespace",
				rule->ns_id);
	else if (!control->in_band.has_key && !hs_control_learned_admits(control, signal->port))
		refuse(control, &control->counts.requests_in_band_limited,
				"the port brings more new rules than telemetry.in_band."
				"new_rules_per_s",
				rule->ns_id);
	else
		take_new(control, signal, rule, "installed");
}

// Returns NULL, or the reason of the refusal.
static const char *refuse_signed(struct hs_control *control, uint32_t ns_id, uint64_t counter)
{
	if (!is_fresh(control, counter))
		return "its time is too far from this node's";
	return hs_control_seen_check(control, ns_id, counter);
}

void hs_control_learned_request(struct hs_control *control, const struct hs_punt *signal)
{
	struct hs_node_totals *counts = &control->counts;
	struct hs_error err = {0};
	struct hs_rule rule;
	uint64_t counter = 0;
	unsigned unknown = 0;

	counts->requests_in_band_received++;
	if (!is_welcome(control, signal)) {
		refuse(control, &counts->requests_in_band_refused,
				"telemetry.in_band does not accept it", 0);
		return;
	}
	if (control->in_band.has_key && hs_rule_auth_verify(&control->in_band.key, signal->data,
							signal->len, &counter, &err) < 0) {
		refuse(control, &counts->requests_in_band_bad, err.message, 0);
		return;
	}
	int rc = hs_rule_from_cbor(signal->data, signal->len, &rule, &unknown, &err);
	counts->requests_in_band_unknown_keys += unknown;
	if (rc < 0) {
		refuse(control, &counts->requests_in_band_bad, err.message, 0);
		return;
	}
	const char *old = control->in_band.has_key ? refuse_signed(control, rule.ns_id, counter)
						   : NULL;
	if (old) {
		refuse(control, &counts->requests_in_band_replayed, old, rule.ns_id);
		return;
	}
	if (control->in_band.has_key)
		hs_control_seen_note(control, rule.ns_id, counter);
	take(control, signal, &rule);
}

struct learned *hs_control_learned(const struct hs_control *control, uint32_t ns_id)
{
	return learned_of(control, hs_flow_table_find(control->flows, ns_id));
}

bool hs_control_came_in_band(const struct hs_control *control, uint32_t ns_id)
{
	return learned_of(control, hs_flow_table_find(control->flows, ns_id)) != NULL;
}

void hs_control_learned_step_back(struct hs_control *control, uint32_t ns_id)
{
	const struct learned *learned =
			learned_of(control, hs_flow_table_find(control->flows, ns_id));
	struct hs_rule rule = learned->asked;
	struct hs_error err;

	hs_control_remove_rule(control, ns_id, &err);
	install(control, &rule, &err); // without memory, the request comes again
}

void hs_control_learned_rules_make_room(struct hs_control *control)
{
	const struct learned *learned = TAILQ_FIRST(&control->learned);
	struct hs_error err;

	if (!learned || hs_flow_table_count(control->flows) <
					hs_flow_table_capacity(control->flows))
		return;
	if (!displace(control))
		hs_control_remove_rule(control,
				hs_flow_table_rule(control->flows, learned->slot)->ns_id, &err);
}

void hs_control_learned_end(struct hs_control *control, struct learned *learned)
{
	TAILQ_REMOVE(&control->learned, learned, order);
	TAILQ_REMOVE(&control->learned_ranks[learned->rank], learned, at_rank);
	control->n_learned--;
	free(learned);
}

void hs_control_learned_rules_expire(struct hs_control *control)
{
	struct learned *learned = TAILQ_FIRST(&control->learned);
	struct hs_error err;

	while (learned && learned->expires_ns <= control->now_ns) {
		uint32_t ns_id = hs_flow_table_rule(control->flows, learned->slot)->ns_id;
		int64_t silent_ns = control->now_ns - learned->refresh_ns;
		hs_control_remove_rule(control, ns_id, &err);
		control->counts.requests_in_band_expired++;
		hs_control_event(control, "request_expired",
				json_pack("{s:I, s:I}", "ns_id", (json_int_t)ns_id, "silent_ns",
						(json_int_t)silent_ns),
				"rule %" PRIu32 " came in band and was not asked for again for "
				"%" PRId64 " s: removed",
				ns_id, silent_ns / SECOND_NS);
		learned = TAILQ_FIRST(&control->learned);
	}
}
