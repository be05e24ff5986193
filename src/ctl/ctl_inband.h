// SPDX-License-Identifier: BSD-3-Clause
// What control keeps of rules that spread in band (the source's part), of rules that came in band,
// and of reports on their way back. For src/ctl only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "flow_offer.h"
#include "report.h"
#include "report_cbor.h"
#include "rule.h"
#include "signal_record.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct hs_ctl;

#define HS_BACKLOG_REPORTS 256
#define HS_BACKLOG_LIMIT   512 // bytes of options for one packet, which may itself be full

// A rule with `in_band`. The flow's packets carry its request repeatedly.
struct spreading {
	TAILQ_ENTRY(spreading) order;
	uint32_t slot;
	bool stands;	   // the request is in the slot's offer, until it is seen to be sent
	bool changed;	   // the ready request is no longer the rule
	bool told;	   // request_waiting was reported for the ready request
	uint8_t stage;	   // position in the list of repeats
	int64_t due_ns;	   // when it must be ready again
	int64_t stands_ns; // ready since; ready with this signature since
	int64_t signed_ns;
	int64_t first_ns, last_ns; // sendings; first: since the rule's last change
	uint64_t sent;
	uint64_t refused; // packets without room for the ready request, before the offer was made
			  // anew
	uint64_t counter; // of the last signature
};
TAILQ_HEAD(spreading_list, spreading);

// The protection of a rule that came in band when another rule wants its place.
enum guest_rank {
	GUEST_FRESH,	// too young to have shown anything
	GUEST_UNPROVEN, // its flow has not been seen
	GUEST_PROVEN,	// packets of its flow came by, or its request was signed
	GUEST_RANKS,
};

// A rule that came in band.
struct guest {
	TAILQ_ENTRY(guest) order;   // list by expiry
	TAILQ_ENTRY(guest) at_rank; // list by installation
	uint32_t slot;
	struct hs_rule asked; // as it came last, without this node's own settings
	uint8_t rank;	      // enum guest_rank
	uint64_t repeats;     // number of its requests, each in a packet of its own
	int64_t installed_ns;
	int64_t refresh_ns; // when it was last asked for
	int64_t expires_ns;
};
TAILQ_HEAD(guest_list, guest);

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
	uint32_t carrier;   // HS_FLOW_NONE: there is none
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

// ctl_offer.c: the offer of a slot.

// Returns whether the offer may be filled: it is empty, or may_displace allowed to withdraw what
// waited in it. It may not be filled while a packet has it, or before what was sent has been
// counted.
bool hs_ctl_offer_open(struct hs_flow_offer *offer, bool may_displace);
// Withdraws the ready content, unless a packet has it.
bool hs_ctl_offer_withdraw(struct hs_flow_offer *offer);
// Leaves the offer permanently. If a packet has it, nobody counts it.
void hs_ctl_offer_leave(struct hs_ctl *ctl, uint32_t slot, struct hs_flow_offer *offer);
// Makes the content visible to workers.
void hs_ctl_offer_publish(struct hs_ctl *ctl, uint32_t slot, struct hs_flow_offer *offer,
		uint32_t ns_id, bool holds_telemetry);
// The content is no longer ready.
void hs_ctl_offer_clear(struct hs_ctl *ctl, uint32_t slot, struct hs_flow_offer *offer);
enum hs_flow_offer_state hs_ctl_offer_state(const struct hs_flow_offer *offer);
// Writes options of one type, at most 255 bytes each, that carry these bytes. Returns the size.
uint16_t hs_ctl_offer_options(uint8_t *to, uint8_t type, const uint8_t *bytes, size_t len);

// ctl_inband.c: spreading. All take a slot that has a rule.

void hs_ctl_spread_begin(struct hs_ctl *ctl, uint32_t slot);
void hs_ctl_spread_changed(struct hs_ctl *ctl, uint32_t slot);
void hs_ctl_spread_end(struct hs_ctl *ctl, struct spreading *spreading);
void hs_ctl_spread(struct hs_ctl *ctl);

// ctl_guest.c: rules that came in band.
void hs_ctl_guest_request(struct hs_ctl *ctl, const struct hs_signal *signal);
// Returns NULL if no rule of this namespace came in band.
struct guest *hs_ctl_guest(const struct hs_ctl *ctl, uint32_t ns_id);
bool hs_ctl_came_in_band(const struct hs_ctl *ctl, uint32_t ns_id);
// Moves the rule behind all others of its 5-tuple. Its counts are reset and its expiry begins anew.
void hs_ctl_guest_step_back(struct hs_ctl *ctl, uint32_t ns_id);
// If the table is full, removes one of them: an unproven one, or the one whose last request is
// oldest.
void hs_ctl_guests_make_room(struct hs_ctl *ctl);
void hs_ctl_guest_end(struct hs_ctl *ctl, struct guest *guest);
void hs_ctl_guests_expire(struct hs_ctl *ctl);

// ctl_seen.c: signatures that came before. Only where there is a key; else they do nothing.
#define HS_SEEN_LINE "in_band_seen" // a line of the state
int hs_ctl_seen_open(struct hs_ctl *ctl);
// Returns NULL if the signature is newer than all before, else the reason.
const char *hs_ctl_seen_check(struct hs_ctl *ctl, uint32_t ns_id, uint64_t counter);
void hs_ctl_seen_note(struct hs_ctl *ctl, uint32_t ns_id, uint64_t counter);
// Returns lines of the state with the seen signatures, or only those not saved yet, one for each
// call: a new reference. NULL at the end. *at is 0 at first.
json_t *hs_ctl_seen_line(struct hs_ctl *ctl, unsigned *at, bool all);
// Saves what is not saved yet, at most ten times a second, or now.
void hs_ctl_seen_save(struct hs_ctl *ctl, bool now);
// Call this when the clock stepped.
void hs_ctl_seen_shift(struct hs_ctl *ctl, int64_t by_ns);
// Reads the content of such a line. Returns 0, or -EINVAL with *err.
int hs_ctl_seen_read(struct hs_ctl *ctl, json_t *line, struct hs_error *err);

// ctl_own.c: what this node was told about rules that came in band.

// Applies the own settings to the rule as it came, if the result is valid.
void hs_ctl_own_apply(struct hs_ctl *ctl, struct hs_rule *rule);
// Handles a checked update of a rule that came in band: keeps the fields that it sets, forgets
// those that it resets, and puts their values into *update. Returns 0 or -ENOMEM.
int hs_ctl_own_update(struct hs_ctl *ctl, const struct guest *guest, const struct hs_rule *rule,
		struct hs_rule_update *update);
void hs_ctl_own_forget(struct hs_ctl *ctl, uint32_t ns_id);
void hs_ctl_own_free(struct hs_ctl *ctl);
// Adds {"own": {...}, "in_band": {...}} to the state of a rule, if there is something.
void hs_ctl_own_show(struct hs_ctl *ctl, const struct guest *guest, json_t *state);
// Reads a line of the state. Returns true if it is about rules that are not here yet.
bool hs_ctl_own_replay(struct hs_ctl *ctl, json_t *change);
// Returns the n-th settings as such a line: a new reference, NULL at the end.
json_t *hs_ctl_own_line(const struct hs_ctl *ctl, uint32_t n);

// ctl_guest_rank.c: who has to make room.
// One that gives way to a newcomer, NULL: all are proven.
struct guest *hs_ctl_guest_victim(struct hs_ctl *ctl);
// Returns whether the port may bring one more rule, and counts it.
bool hs_ctl_guest_admits(struct hs_ctl *ctl, uint16_t port);

// ctl_backlog.c: reports that wait, and loads of them that stand for packets.

// Counts what packets took and releases it. Returns true if there was some.
bool hs_ctl_backlog_settle(struct hs_ctl *ctl, struct backlog *b);
// Makes the ready reports wait again, permanently. If a packet is leaving with some, nobody counts
// these.
void hs_ctl_backlog_leave(struct hs_ctl *ctl, struct backlog *b);
// Makes waiting reports ready at the slot that returning packets find; HS_FLOW_NONE: none.
void hs_ctl_backlog_offer(struct hs_ctl *ctl, struct backlog *b, uint32_t slot);
// Keeps the newest reports. Takes ownership of the bytes. Returns how many reports made room.
unsigned hs_ctl_backlog_add(struct hs_ctl *ctl, struct backlog *b, uint8_t *cbor, uint16_t len);
void hs_ctl_backlog_free(struct backlog *b);

// ctl_piggyback.c: reports on their way back.
void hs_ctl_piggyback(struct hs_ctl *ctl, uint32_t slot, const struct hs_report *report);
void hs_ctl_piggyback_changed(struct hs_ctl *ctl, uint32_t slot);
// Makes the ready reports of a slot wait again, because the slot is about to be removed.
void hs_ctl_piggyback_slot_goes(struct hs_ctl *ctl, uint32_t slot);
void hs_ctl_piggyback_end(struct hs_ctl *ctl, struct backlog *backlog);
void hs_ctl_carry(struct hs_ctl *ctl);
void hs_ctl_piggybacked(struct hs_ctl *ctl, const struct hs_signal *signals, unsigned n);
