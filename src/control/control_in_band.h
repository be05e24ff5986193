// SPDX-License-Identifier: BSD-3-Clause
// What control keeps of rules that spread in band (the source's part), of rules that came in band,
// and of reports on their way back. For src/control only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "flow_pending.h"
#include "report.h"
#include "report_cbor.h"
#include "rule.h"
#include "punt_record.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct hs_control;

#define HS_BACKLOG_REPORTS 256
#define HS_BACKLOG_LIMIT   512 // bytes of options for one packet, which may itself be full

// A rule with `in_band`. The flow's packets carry its request repeatedly.
struct advertised {
	TAILQ_ENTRY(advertised) order;
	uint32_t slot;
	bool stands;	   // the request is in the slot's pending, until it is seen to be sent
	bool changed;	   // the ready request is no longer the rule
	bool told;	   // request_waiting was reported for the ready request
	uint8_t stage;	   // position in the list of repeats
	int64_t due_ns;	   // when it must be ready again
	int64_t stands_ns; // ready since; ready with this signature since
	int64_t signed_ns;
	int64_t first_ns, last_ns; // sendings; first: since the rule's last change
	uint64_t sent;
	uint64_t refused; // packets without room for the ready request, before the pending options
			  // was made anew
	uint64_t counter; // of the last signature
};
TAILQ_HEAD(advertised_list, advertised);

// The protection of a rule that came in band when another rule wants its place.
enum learned_rank {
	LEARNED_FRESH,	  // too young to have shown anything
	LEARNED_UNPROVEN, // its flow has not been seen
	LEARNED_PROVEN,	  // packets of its flow came by, or its request was signed
	LEARNED_RANKS,
};

// A rule that came in band.
struct learned {
	TAILQ_ENTRY(learned) order;   // list by expiry
	TAILQ_ENTRY(learned) at_rank; // list by installation
	uint32_t slot;
	struct hs_rule asked; // as it came last, without this node's own settings
	uint8_t rank;	      // enum learned_rank
	uint64_t repeats;     // number of its requests, each in a packet of its own
	int64_t installed_ns;
	int64_t refresh_ns; // when it was last asked for
	int64_t expires_ns;
};
TAILQ_HEAD(learned_list, learned);

// Fields of such a rule that this node's API has set. They have priority over what travels until
// they are reset, also while the rule is not installed.
struct own {
	TAILQ_ENTRY(own) order; // list by first update
	uint32_t rows;		// bits of hs_rule_fields
	struct hs_rule rule;	// ns_id, and the values of these fields
};
TAILQ_HEAD(own_list, own);

// Reports of a rule that wait for a packet that goes back.
struct backlog {
	TAILQ_ENTRY(backlog) order; // the rule whose reports were sent last comes last
	uint32_t slot;
	uint32_t reverse;   // HS_FLOW_NONE: there is none
	uint32_t stands_at; // the slot whose loads have reports of it
	uint64_t loads;	    // bit i: load i has reports of it
	int64_t waits_ns;   // since when no packet took any; 0: none was ready
	uint64_t refused;   // packets since then without room, of loads that were made anew
	uint16_t limit;	    // the most bytes of options for one packet
	unsigned n_waiting;
	unsigned n, first; // of the ring, including places whose report has gone
	struct waiting_report {
		uint8_t *cbor; // NULL: the report has gone
		uint16_t len;
		uint8_t load;	       // 1 + the load that has it; 0: none
		uint32_t serial;       // number among all reports, in order of arrival
	} reports[HS_BACKLOG_REPORTS]; // a ring
};
TAILQ_HEAD(backlog_list, backlog);

// control_pending.c: the pending options of a slot.

// Returns whether the pending options may be filled: it is empty, or may_displace allowed to
// withdraw what waited in it. It may not be filled while a packet has it, or before what was sent
// has been counted.
bool hs_control_pending_open(struct hs_flow_pending *pending, bool may_displace);
// Withdraws the ready content, unless a packet has it.
bool hs_control_pending_withdraw(struct hs_flow_pending *pending);
// Leaves the pending options permanently. If a packet has it, nobody counts it.
void hs_control_pending_leave(
		struct hs_control *control, uint32_t slot, struct hs_flow_pending *pending);
// Makes the content visible to workers.
void hs_control_pending_publish(struct hs_control *control, uint32_t slot,
		struct hs_flow_pending *pending, uint32_t ns_id, bool holds_telemetry);
// The content is no longer ready.
void hs_control_pending_clear(
		struct hs_control *control, uint32_t slot, struct hs_flow_pending *pending);
enum hs_flow_pending_state hs_control_pending_state(const struct hs_flow_pending *pending);
// Writes options of one type, at most 255 bytes each, that carry these bytes. Returns the size.
uint16_t hs_control_pending_options(uint8_t *to, uint8_t type, const uint8_t *bytes, size_t len);

// control_in_band.c: advertised. All take a slot that has a rule.

void hs_control_spread_begin(struct hs_control *control, uint32_t slot);
void hs_control_spread_changed(struct hs_control *control, uint32_t slot);
void hs_control_spread_end(struct hs_control *control, struct advertised *advertised);
void hs_control_spread(struct hs_control *control);

// control_learned.c: rules that came in band.
void hs_control_learned_request(struct hs_control *control, const struct hs_punt *signal);
// Returns NULL if no rule of this namespace came in band.
struct learned *hs_control_learned(const struct hs_control *control, uint32_t ns_id);
bool hs_control_came_in_band(const struct hs_control *control, uint32_t ns_id);
// Moves the rule behind all others of its 5-tuple. Its counts are reset and its expiry begins anew.
void hs_control_learned_step_back(struct hs_control *control, uint32_t ns_id);
// If the table is full, removes one of them: an unproven one, or the one whose last request is
// oldest.
void hs_control_learned_rules_make_room(struct hs_control *control);
void hs_control_learned_end(struct hs_control *control, struct learned *learned);
void hs_control_learned_rules_expire(struct hs_control *control);

// control_seen.c: signatures that came before. Only where there is a key; else they do nothing.
#define HS_SEEN_LINE "in_band_seen" // a line of the state
int hs_control_seen_open(struct hs_control *control);
// Returns NULL if the signature is newer than all before, else the reason.
const char *hs_control_seen_check(struct hs_control *control, uint32_t ns_id, uint64_t counter);
void hs_control_seen_note(struct hs_control *control, uint32_t ns_id, uint64_t counter);
// Returns lines of the state with the seen signatures, or only those not saved yet, one for each
// call: a new reference. NULL at the end. *at is 0 at first.
json_t *hs_control_seen_line(struct hs_control *control, unsigned *at, bool all);
// Saves what is not saved yet, at most ten times a second, or now.
void hs_control_seen_save(struct hs_control *control, bool now);
// Call this when the clock stepped.
void hs_control_seen_shift(struct hs_control *control, int64_t by_ns);
// Reads the content of such a line. Returns 0, or -EINVAL with *err.
int hs_control_seen_read(struct hs_control *control, json_t *line, struct hs_error *err);

// control_own.c: what this node was told about rules that came in band.

// Applies the own settings to the rule as it came, if the result is valid.
void hs_control_own_apply(struct hs_control *control, struct hs_rule *rule);
// Handles a checked update of a rule that came in band: keeps the fields that it sets, forgets
// those that it resets, and puts their values into *update. Returns 0 or -ENOMEM.
int hs_control_own_update(struct hs_control *control, const struct learned *learned,
		const struct hs_rule *rule, struct hs_rule_update *update);
void hs_control_own_forget(struct hs_control *control, uint32_t ns_id);
void hs_control_own_free(struct hs_control *control);
// Adds {"own": {...}, "in_band": {...}} to the state of a rule, if there is something.
void hs_control_own_show(struct hs_control *control, const struct learned *learned, json_t *state);
// Reads a line of the state. Returns true if it is about rules that are not here yet.
bool hs_control_own_replay(struct hs_control *control, json_t *change);
// Returns the n-th settings as such a line: a new reference, NULL at the end.
json_t *hs_control_own_line(const struct hs_control *control, uint32_t n);

// control_learned_rank.c: who has to make room.
// One that gives way to a newcomer, NULL: all are proven.
struct learned *hs_control_learned_victim(struct hs_control *control);
// Returns whether the port may bring one more rule, and counts it.
bool hs_control_learned_admits(struct hs_control *control, uint16_t port);

// control_backlog.c: reports that wait, and loads of them that stand for packets.

// Counts what packets took and releases it. Returns true if there was some.
bool hs_control_backlog_settle(struct hs_control *control, struct backlog *b);
// Makes the ready reports wait again, permanently. If a packet is leaving with some, nobody counts
// these.
void hs_control_backlog_leave(struct hs_control *control, struct backlog *b);
// Makes waiting reports ready at the slot that returning packets find; HS_FLOW_NONE: none.
void hs_control_backlog_publish(struct hs_control *control, struct backlog *b, uint32_t slot);
// Keeps the newest reports. Takes ownership of the bytes. Returns how many reports made room.
unsigned hs_control_backlog_add(
		struct hs_control *control, struct backlog *b, uint8_t *cbor, uint16_t len);
void hs_control_backlog_free(struct backlog *b);

// control_piggyback.c: reports on their way back.
void hs_control_piggyback(
		struct hs_control *control, uint32_t slot, const struct hs_report *report);
void hs_control_piggyback_changed(struct hs_control *control, uint32_t slot);
// Makes the ready reports of a slot wait again, because the slot is about to be removed.
void hs_control_piggyback_slot_goes(struct hs_control *control, uint32_t slot);
void hs_control_piggyback_end(struct hs_control *control, struct backlog *backlog);
void hs_control_carry(struct hs_control *control);
void hs_control_piggybacked(struct hs_control *control, const struct hs_punt *signals, unsigned n);
