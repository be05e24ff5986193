// SPDX-License-Identifier: BSD-3-Clause
// Notes about rules, created when there is something to note.
#include "control_rule.h"
#include "control_parts.h"
#include "telemetry.h"

#include <stdlib.h>

int hs_control_find_rule(const struct hs_control *control, uint32_t ns_id, uint32_t *slot,
		struct hs_error *err)
{
	*slot = hs_flow_table_find(control->flows, ns_id);
	if (*slot != HS_FLOW_NONE)
		return 0;
	hs_error_set(err, "no_such_rule", "ns_id", "a namespace that has a rule",
			"namespace %u has no rule", ns_id);
	return -ENOENT;
}

struct rule_note *hs_control_note(struct hs_control *control, uint32_t slot)
{
	struct rule_note *note = control->notes[slot];
	if (!note) {
		note = calloc(1, sizeof(*note));
		if (!note)
			return NULL;
		note->slot = slot;
		control->notes[slot] = note;
	}
	return note;
}

void hs_control_note_monitored(struct hs_control *control, struct rule_note *note, bool monitored)
{
	if (monitored && !note->monitored) {
		TAILQ_INSERT_TAIL(&control->monitored, note, order);
		control->n_monitored++;
	}
	if (!monitored && !note->monitored && !note->unmonitored)
		control->n_unmonitored++;
	if (monitored && note->unmonitored)
		control->n_unmonitored--;
	note->monitored |= monitored;
	note->unmonitored = !note->monitored;
}

void hs_control_forget(struct hs_control *control, uint32_t slot)
{
	struct rule_note *note = control->notes[slot];

	// A walk that stands on the rule begins again.
	if (control->walk_slot == slot)
		control->walk_slot = HS_FLOW_NONE;
	hs_in_band_forget(control->in_band, slot);
	if (!note)
		return;
	if (note->monitored) {
		TAILQ_REMOVE(&control->monitored, note, order);
		control->n_monitored--;
	} else if (note->unmonitored) {
		control->n_unmonitored--;
	}
	hs_delay_buckets_fini(&note->delays);
	free(note);
	control->notes[slot] = NULL;
}

int hs_control_install_rule(struct hs_control *control, const struct hs_rule *rule,
		enum hs_rule_origin origin, uint32_t *shadowed_by, struct hs_error *err)
{
	hs_telemetry_lock(control->config.telemetry);
	int rc = hs_flow_table_install(control->flows, rule, shadowed_by, err);
	hs_telemetry_unlock(control->config.telemetry);
	if (rc < 0)
		return rc;
	control->generation++;
	control->origins[hs_flow_table_find(control->flows, rule->ns_id)] = (uint8_t)origin;
	return 0;
}

int hs_control_update_rule(struct hs_control *control, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err)
{
	hs_telemetry_lock(control->config.telemetry);
	int rc = hs_flow_table_update(control->flows, ns_id, update, err);
	hs_telemetry_unlock(control->config.telemetry);
	if (rc == 0)
		control->generation++;
	return rc;
}

int hs_control_remove_rule(struct hs_control *control, uint32_t ns_id, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(control->flows, ns_id);

	if (slot != HS_FLOW_NONE) {
		hs_qos_remove(control->qos, ns_id);
		hs_in_band_slot_goes(control->in_band, slot);
		hs_control_forget(control, slot);
	}
	hs_telemetry_lock(control->config.telemetry);
	int rc = hs_flow_table_remove(control->flows, ns_id, err);
	hs_telemetry_unlock(control->config.telemetry);
	if (rc == 0)
		control->generation++;
	return rc;
}
