// SPDX-License-Identifier: BSD-3-Clause
// Reports of a rule that wait, and loads of reports that are ready for packets. For this folder
// only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_base.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define HS_BACKLOG_REPORTS 256
#define HS_BACKLOG_LIMIT   512 // bytes of options for one packet, which may itself be full

// Reports of a rule that wait for a packet that goes back.
struct backlog {
	const struct in_band_base *base;
	TAILQ_ENTRY(backlog) order; // the rule whose reports were sent last comes last
	uint32_t slot;
	uint32_t reverse;   // HS_FLOW_NONE: there is none
	uint32_t stands_at; // the slot whose loads have reports of this rule
	uint64_t loads;	    // bit i: load i has reports of this rule
	int64_t waits_ns;   // since when no packet took any; 0: none was ready
	uint64_t refused;   // packets since then without room, of loads that were made anew
	uint16_t limit;	    // the most bytes of options for one packet
	unsigned n_waiting;
	unsigned n, first; // of the ring, including entries whose report has gone
	struct waiting_report {
		uint8_t *cbor; // NULL: the report has gone
		uint16_t len;
		uint8_t load;	       // 1 + the load that has it; 0: none
		uint32_t serial;       // number among all reports, in order of arrival
	} reports[HS_BACKLOG_REPORTS]; // a ring
};

// Returns NULL if memory is out.
struct backlog *hs_in_band_backlog_create(const struct in_band_base *base, uint32_t slot);
void hs_in_band_backlog_destroy(struct backlog *b);
// Counts and releases the reports that packets took. Returns whether there were any.
bool hs_in_band_backlog_settle(struct backlog *b);
// Makes the ready reports wait again, because the slot is given up. If a packet is leaving with
// some of them, these are not counted.
void hs_in_band_backlog_leave(struct backlog *b);
// Makes waiting reports ready at the slot that returning packets find; HS_FLOW_NONE: none.
void hs_in_band_backlog_publish(struct backlog *b, uint32_t slot);
// Adds a report. Takes ownership of the bytes. Returns how many older reports were dropped for it.
unsigned hs_in_band_backlog_add(struct backlog *b, uint8_t *cbor, uint16_t len, uint32_t serial);
