// SPDX-License-Identifier: BSD-3-Clause
// Notes about rules, created when there is something to note.
#include "ctl_parts.h"
#include "telemetry.h"

#include <stdlib.h>

struct rule_note *hs_ctl_note(struct hs_ctl *ctl, uint32_t slot)
{
	struct rule_note *note = ctl->notes[slot];
	if (!note) {
		note = calloc(1, sizeof(*note));
		if (!note)
			return NULL;
		note->slot = slot;
		ctl->notes[slot] = note;
	}
	return note;
}

void hs_ctl_note_monitored(struct hs_ctl *ctl, struct rule_note *note, bool monitored)
{
	if (monitored && !note->monitored) {
		TAILQ_INSERT_TAIL(&ctl->monitored, note, order);
		ctl->n_monitored++;
	}
	if (!monitored && !note->monitored && !note->unmonitored)
		ctl->n_unmonitored++;
	if (monitored && note->unmonitored)
		ctl->n_unmonitored--;
	note->monitored |= monitored;
	note->unmonitored = !note->monitored;
}

void hs_ctl_forget(struct hs_ctl *ctl, uint32_t slot)
{
	struct rule_note *note = ctl->notes[slot];

	// A walk that stands on the rule continues at its predecessor, or at worst from the start.
	if (ctl->walk_slot == slot)
		ctl->walk_slot = HS_FLOW_NONE;
	if (!note)
		return;
	if (note->monitored) {
		TAILQ_REMOVE(&ctl->monitored, note, order);
		ctl->n_monitored--;
	} else if (note->unmonitored) {
		ctl->n_unmonitored--;
	}
	if (note->spreading)
		hs_ctl_spread_end(ctl, note->spreading);
	if (note->guest)
		hs_ctl_guest_end(ctl, note->guest);
	if (note->backlog)
		hs_ctl_piggyback_end(ctl, note->backlog);
	free(note);
	ctl->notes[slot] = NULL;
}

int hs_ctl_remove_rule(struct hs_ctl *ctl, uint32_t ns_id, struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(ctl->flows, ns_id);

	if (slot != HS_FLOW_NONE) {
		hs_qos_remove(ctl->qos, ns_id);
		hs_ctl_piggyback_slot_goes(ctl, slot);
		hs_ctl_forget(ctl, slot);
	}
	hs_telemetry_lock(ctl->config.telemetry);
	int rc = hs_flow_table_remove(ctl->flows, ns_id, err);
	hs_telemetry_unlock(ctl->config.telemetry);
	if (rc == 0)
		ctl->generation++;
	return rc;
}
