// SPDX-License-Identifier: BSD-3-Clause
// Rules, and notes about them.
//
// Thread rule: owner (the control thread).
#pragma once

#include "control_parts.h"

// Finds the slot of a rule. Returns 0, or -ENOENT with *err.
int hs_control_find_rule(const struct hs_control *control, uint32_t ns_id, uint32_t *slot,
		struct hs_error *err);
// Returns the note of a slot, which is created if there is none, or NULL if memory is out.
struct rule_note *hs_control_note(struct hs_control *control, uint32_t slot);
void hs_control_note_monitored(struct hs_control *control, struct rule_note *note, bool monitored);
void hs_control_forget(struct hs_control *control, uint32_t slot);
// Installs a rule and notes its origin. shadowed_by may be NULL.
int hs_control_install_rule(struct hs_control *control, const struct hs_rule *rule,
		enum hs_rule_origin origin, uint32_t *shadowed_by, struct hs_error *err);
int hs_control_update_rule(struct hs_control *control, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err);
// Removes an installed rule and everything that depends on it.
int hs_control_remove_rule(struct hs_control *control, uint32_t ns_id, struct hs_error *err);
