// SPDX-License-Identifier: BSD-3-Clause
#include "control_rule.h"

#include "clock.h"
#include "dpdk_telemetry.h"
#include "in_band.h"
#include "metric.h"
#include "qos.h"

#include <errno.h>
#include <stdlib.h>

int hs_control_open_rules(struct control_rules *rules)
{
	uint32_t slots = hs_flow_table_capacity(rules->flows);

	TAILQ_INIT(&rules->monitored);
	rules->walk_slot = HS_FLOW_NONE;
	// Untouched pages cost nothing, and most rules never have a note.
	rules->notes = calloc(slots, sizeof(*rules->notes));
	rules->placed = calloc(slots, sizeof(*rules->placed));
	rules->origins = calloc(slots, sizeof(*rules->origins));
	return rules->notes && rules->placed && rules->origins ? 0 : -ENOMEM;
}

void hs_control_close_rules(struct control_rules *rules)
{
	for (uint32_t slot = 0; rules->notes && slot < hs_flow_table_capacity(rules->flows); slot++)
		hs_control_forget(rules, slot);
	free(rules->notes);
	free(rules->placed);
	free(rules->origins);
}

int hs_control_find_rule(const struct control_rules *rules, uint32_t ns_id, uint32_t *slot,
		struct hs_error *err)
{
	*slot = hs_flow_table_find(rules->flows, ns_id);
	if (*slot != HS_FLOW_NONE)
		return 0;
	hs_error_set(err, "no_such_rule", "ns_id", "a namespace that has a rule",
			"namespace %u has no rule", ns_id);
	return -ENOENT;
}

struct rule_note *hs_control_note(struct control_rules *rules, uint32_t slot)
{
	struct rule_note *note = rules->notes[slot];
	if (!note) {
		note = calloc(1, sizeof(*note));
		if (!note)
			return NULL;
		note->slot = slot;
		rules->notes[slot] = note;
	}
	return note;
}

void hs_control_note_monitored(struct control_rules *rules, struct rule_note *note, bool monitored)
{
	rules->refused += !monitored;
	if (!note)
		return;
	if (monitored && !note->monitored) {
		TAILQ_INSERT_TAIL(&rules->monitored, note, order);
		rules->n_monitored++;
	}
	if (!monitored && !note->monitored && !note->unmonitored)
		rules->n_unmonitored++;
	if (monitored && note->unmonitored)
		rules->n_unmonitored--;
	note->monitored |= monitored;
	note->unmonitored = !note->monitored;
}

uint64_t hs_control_refused(const struct control_rules *rules, uint32_t *n_rules)
{
	*n_rules = rules->n_unmonitored;
	return rules->refused;
}

void hs_control_forget(struct control_rules *rules, uint32_t slot)
{
	struct rule_note *note = rules->notes[slot];

	// A walk that stands on the rule begins again.
	if (rules->walk_slot == slot)
		rules->walk_slot = HS_FLOW_NONE;
	hs_in_band_forget(rules->in_band, slot);
	if (!note)
		return;
	if (note->monitored) {
		TAILQ_REMOVE(&rules->monitored, note, order);
		rules->n_monitored--;
	} else if (note->unmonitored) {
		rules->n_unmonitored--;
	}
	hs_delay_buckets_fini(&note->delays);
	free(note);
	rules->notes[slot] = NULL;
}

void hs_control_shift_notes(struct control_rules *rules, int64_t by_ns)
{
	for (uint32_t slot = 0; slot < hs_flow_table_capacity(rules->flows); slot++) {
		struct rule_note *note = rules->notes[slot];
		if (!note)
			continue;
		hs_clock_shift(&note->no_room_next_ns, by_ns);
		hs_clock_shift(&note->shadow_limit.next_ns, by_ns);
	}
}

int hs_control_install_rule(struct control_rules *rules, const struct hs_rule *rule,
		enum hs_rule_origin origin, uint32_t *shadowed_by, struct hs_error *err)
{
	hs_dpdk_telemetry_lock(rules->telemetry);
	int rc = hs_flow_table_install(rules->flows, rule, shadowed_by, err);
	hs_dpdk_telemetry_unlock(rules->telemetry);
	if (rc < 0)
		return rc;
	rules->changes++;
	rules->origins[hs_flow_table_find(rules->flows, rule->ns_id)] = (uint8_t)origin;
	return 0;
}

int hs_control_update_rule(struct control_rules *rules, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err)
{
	hs_dpdk_telemetry_lock(rules->telemetry);
	int rc = hs_flow_table_update(rules->flows, ns_id, update, err);
	hs_dpdk_telemetry_unlock(rules->telemetry);
	if (rc == 0)
		rules->changes++;
	return rc;
}

int hs_control_remove_rule(struct control_rules *rules, uint32_t ns_id, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(rules->flows, ns_id);

	if (slot != HS_FLOW_NONE) {
		hs_qos_remove(rules->qos, ns_id);
		hs_in_band_slot_goes(rules->in_band, slot);
		hs_control_forget(rules, slot);
	}
	hs_dpdk_telemetry_lock(rules->telemetry);
	int rc = hs_flow_table_remove(rules->flows, ns_id, err);
	hs_dpdk_telemetry_unlock(rules->telemetry);
	if (rc == 0)
		rules->changes++;
	return rc;
}

void hs_control_reclaim_rules(struct control_rules *rules)
{
	hs_dpdk_telemetry_lock(rules->telemetry);
	hs_flow_table_reclaim(rules->flows);
	hs_dpdk_telemetry_unlock(rules->telemetry);
}

uint32_t hs_control_walk_rules(struct control_rules *rules)
{
	if (!hs_flow_table_next(rules->flows, &rules->walk_slot))
		rules->walk_slot = HS_FLOW_NONE;
	return rules->walk_slot;
}

void hs_control_rule_totals(const struct control_rules *rules, struct hs_node_totals *totals)
{
	totals->generation += rules->changes;
	totals->rules = hs_flow_table_count(rules->flows);
	totals->rules_capacity = hs_flow_table_capacity(rules->flows);
	totals->rules_monitored = rules->n_monitored;
	totals->rules_unmonitored = rules->n_unmonitored;
}
