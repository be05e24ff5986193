// SPDX-License-Identifier: BSD-3-Clause
// Requests and reports in band: rules that this node sends in packets of their flows, rules that
// packets brought, and reports on their way back. Control calls this part, and this part calls
// control only through struct hs_in_band_host.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_host.h"
#include "in_band_settings.h"
#include "punt_record.h"
#include "schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct hs_in_band;

// Copies both structs. Returns 0 or a negative errno. destroy accepts NULL and expects that all
// slots were forgotten.
int hs_in_band_create(const struct hs_in_band_host *host,
		const struct hs_in_band_settings *settings, struct hs_in_band **in_band);
void hs_in_band_destroy(struct hs_in_band *in_band);

// Takes the options of one type of one packet.
void hs_in_band_take(struct hs_in_band *in_band, const struct hs_punt *punts, unsigned n);
// Prepares requests that are due, and reports that wait, for packets to carry.
void hs_in_band_step(struct hs_in_band *in_band);
// Returns when the next step has something to do.
int64_t hs_in_band_next_ns(const struct hs_in_band *in_band);
// Removes rules that nobody asked for again in time.
void hs_in_band_expire(struct hs_in_band *in_band);
// Shifts all times, after the clock stepped.
void hs_in_band_shift(struct hs_in_band *in_band, int64_t by_ns);

// ---- rules ----

// Checks that the request of a rule that spreads fits. Returns 0, or -EINVAL with *err.
int hs_in_band_admits(
		const struct hs_in_band *in_band, const struct hs_rule *rule, struct hs_error *err);
// Returns whether the rule of this namespace came in band.
bool hs_in_band_has(const struct hs_in_band *in_band, uint32_t ns_id);
// Returns the number of rules that came in band.
uint32_t hs_in_band_rules(const struct hs_in_band *in_band);
// If the table is full, removes a rule that came in band, if there is one.
void hs_in_band_make_room(struct hs_in_band *in_band);
// Moves a rule that came in band behind all others of its 5-tuple. Its counts are reset and its
// expiry begins anew.
void hs_in_band_step_back(struct hs_in_band *in_band, uint32_t ns_id);

// Begins to send the request of a rule with `in_band` that was installed in this slot.
void hs_in_band_begin(struct hs_in_band *in_band, uint32_t slot);
// Call this before the rule of this slot is updated. If the rule came in band, keeps the fields
// that the update sets, forgets those that it resets, and puts their values into *update. Returns 0
// or -ENOMEM.
int hs_in_band_update(struct hs_in_band *in_band, uint32_t slot, struct hs_rule_update *update);
// Call this after the rule of this slot was updated. `travels`: other nodes must learn about the
// update.
void hs_in_band_updated(struct hs_in_band *in_band, uint32_t slot, bool travels);
// Returns whether the API has set fields of a rule that came in band.
bool hs_in_band_has_own(const struct hs_in_band *in_band, uint32_t ns_id);
// Forgets the fields that the API had set, because the API replaced or removed the rule.
void hs_in_band_forget_own(struct hs_in_band *in_band, uint32_t ns_id);
// Call this before a slot is freed: packets can then no longer take what waits at this slot.
void hs_in_band_slot_goes(struct hs_in_band *in_band, uint32_t slot);
void hs_in_band_forget(struct hs_in_band *in_band, uint32_t slot);

// What is shown of a rule in the reply to int_get.
struct hs_in_band_shown {
	uint32_t advertises, sent, due, learned, keeps_reports; // which numbers mean something
	bool request_waits;
	uint64_t request_sent, reports_waiting;
	int64_t last_request_tx_ns, next_request_ns, expires_ns;
	json_t *own, *in_band; // printing takes them over
};
extern const struct hs_schema_field hs_in_band_fields[];
struct hs_in_band_shown hs_in_band_show(struct hs_in_band *in_band, uint32_t slot);

// ---- reports ----

// Keeps a report of the rule of this slot until a packet goes back.
void hs_in_band_queue_report(
		struct hs_in_band *in_band, uint32_t slot, const struct hs_report *report);
// Returns the number of reports that wait.
uint64_t hs_in_band_reports_waiting(const struct hs_in_band *in_band);

// ---- the state ----

// Sets the function that saves lines of the state; NULL: lines are no longer saved. The function
// gets the host's context.
void hs_in_band_keep(struct hs_in_band *in_band,
		int (*save)(void *context, const json_t *line, struct hs_error *err));
// Saves signatures that are not saved yet, at most ten times a second, or now.
void hs_in_band_save(struct hs_in_band *in_band, bool now);
// Returns the lines of a whole state, one for each call: a new reference, NULL at the end.
struct hs_in_band_lines {
	bool own_begun, own_done;
	unsigned seen;
};
json_t *hs_in_band_line(struct hs_in_band *in_band, struct hs_in_band_lines *at);
// Returns the approximate number of these lines.
uint32_t hs_in_band_count_lines(const struct hs_in_band *in_band);
// Reads a line of the state. Sets *rest to the part of the line that others must read, a new
// reference, or to NULL if there is none. Returns 0, or -EINVAL with *err.
int hs_in_band_replay(
		struct hs_in_band *in_band, json_t *line, json_t **rest, struct hs_error *err);
