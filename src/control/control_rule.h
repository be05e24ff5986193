// SPDX-License-Identifier: BSD-3-Clause
// Rules, and notes about them.
//
// Thread rule: owner (the control thread).
#pragma once

#include "control_config.h"

#include "delay_buckets.h"
#include "event_log.h"
#include "flow_table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct hs_in_band;
struct hs_node_totals;

// What control notes about a rule. A note is created when there is something to note, because most
// of a million rules never have a note.
struct rule_note {
	uint32_t slot;
	bool monitored, unmonitored;	    // both false: no report came
	bool ends_here;			    // a report was made by this node
	uint64_t no_room_said;		    // no_room_mtu at the last event about it
	int64_t no_room_next_ns;	    // no further event of this rule before this time
	struct hs_event_limit shadow_limit; // limits events about telemetry in packets that another
					    // rule takes
	struct hs_delay_buckets delays; // where config.delay_buckets is set
	uint64_t shadow_marked;	      // the packets of this telemetry for which windows are marked
	TAILQ_ENTRY(rule_note) order; // list of the monitored rules by their first reports
};

// A rule of whose reports only the monitor needs to know. So neither the rule nor its note is
// looked at for a report that the monitor places.
struct rule_placed {
	uint64_t changes; // of the rules, plus 1, when this was so; 0: it never was
	uint32_t ns_id;
	uint32_t flow; // hs_qos_expect
};

struct control_rules { // zeroed at first
	struct hs_flow_table *flows;
	struct hs_dpdk_telemetry *telemetry; // may be NULL
	struct hs_qos *qos;
	struct hs_in_band *in_band;
	struct rule_note **notes;   // indexed by slot
	struct rule_placed *placed; // indexed by slot
	uint8_t *origins;	    // indexed by slot, enum hs_rule_origin
	uint64_t changes;
	uint32_t walk_slot; // of the last rule of the walk
	uint32_t n_monitored, n_unmonitored;
	uint64_t refused; // reports of rules beyond the limit of monitored rules
	TAILQ_HEAD(note_list, rule_note) monitored;
};

// `flows`, `telemetry`, `qos` and `in_band` are set before, and borrowed. Returns 0 or -ENOMEM.
int hs_control_open_rules(struct control_rules *rules);
void hs_control_close_rules(struct control_rules *rules);

// Finds the slot of a rule. Returns 0, or -ENOENT with *err.
int hs_control_find_rule(const struct control_rules *rules, uint32_t ns_id, uint32_t *slot,
		struct hs_error *err);
// Installs a rule and notes its origin. shadowed_by may be NULL.
int hs_control_install_rule(struct control_rules *rules, const struct hs_rule *rule,
		enum hs_rule_origin origin, uint32_t *shadowed_by, struct hs_error *err);
int hs_control_update_rule(struct control_rules *rules, uint32_t ns_id,
		const struct hs_rule_update *update, struct hs_error *err);
// Removes an installed rule and everything that depends on it.
int hs_control_remove_rule(struct control_rules *rules, uint32_t ns_id, struct hs_error *err);
// Gives back the memory of removed rules that no worker reads any more.
void hs_control_reclaim_rules(struct control_rules *rules);
// Returns the slot of the next rule, or HS_FLOW_NONE after the last one. Rules may come and go
// between two calls: if the last returned rule goes, the walk begins again.
uint32_t hs_control_walk_rules(struct control_rules *rules);
// Sets the totals of rules. Adds the changes to `generation`, as the routes do.
void hs_control_rule_totals(const struct control_rules *rules, struct hs_node_totals *totals);

// Returns the number of installations, updates and removals.
static inline uint64_t hs_control_rule_changes(const struct control_rules *rules)
{
	return rules->changes;
}

static inline enum hs_rule_origin hs_control_rule_origin(
		const struct control_rules *rules, uint32_t slot)
{
	return rules->origins[slot];
}

// ---- notes ----

// Returns the note of a slot, which is created if there is none, or NULL if memory is out.
struct rule_note *hs_control_note(struct control_rules *rules, uint32_t slot);
// Notes whether the monitor took a report of a rule. `note` is NULL if there was no memory for one.
void hs_control_note_monitored(struct control_rules *rules, struct rule_note *note, bool monitored);
// Returns the number of reports that the monitor did not take, and in *n_rules the number of rules
// that are not monitored because of that.
uint64_t hs_control_refused(const struct control_rules *rules, uint32_t *n_rules);
void hs_control_forget(struct control_rules *rules, uint32_t slot);
// Shifts all times, after the clock stepped.
void hs_control_shift_notes(struct control_rules *rules, int64_t by_ns);

// Returns the number of monitored rules.
static inline uint32_t hs_control_monitored(const struct control_rules *rules)
{
	return rules->n_monitored;
}

// Returns the note of a slot, or NULL if there is none.
static inline struct rule_note *hs_control_find_note(
		const struct control_rules *rules, uint32_t slot)
{
	return rules->notes[slot];
}

static inline const struct hs_rule *hs_control_noted_rule(
		const struct control_rules *rules, const struct rule_note *note)
{
	return hs_flow_table_rule(rules->flows, note->slot);
}

// Returns what hs_control_note_placed noted of a slot, or NULL: nothing, or a rule has changed
// since.
static inline const struct rule_placed *hs_control_placed(
		const struct control_rules *rules, uint32_t slot)
{
	const struct rule_placed *placed = &rules->placed[slot];

	return placed->changes == rules->changes + 1 ? placed : NULL;
}

static inline void hs_control_note_placed(
		struct control_rules *rules, uint32_t slot, uint32_t ns_id, uint32_t flow)
{
	rules->placed[slot] = (struct rule_placed){rules->changes + 1, ns_id, flow};
}

// Returns the monitored rule whose first report came next, or NULL if there is none. NULL stands
// before the first.
static inline struct rule_note *hs_control_next_monitored(
		const struct control_rules *rules, const struct rule_note *note)
{
	return note ? TAILQ_NEXT(note, order) : TAILQ_FIRST(&rules->monitored);
}
