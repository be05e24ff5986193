// SPDX-License-Identifier: BSD-3-Clause
// Decides from sessions of probes which links traffic should avoid. The decision is damped: a link
// is avoided after several bad sessions in a row, and used again after a time without a bad one,
// which doubles for a link that fails again soon. Sessions that change something are limited, too.
//
// Source: 002_e7f573228cf2597b.txt section VI names rerouting as future work; the rules are ours.
// Thread rule: owner. Time is the caller's, in ns; it never goes back.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_GPINT_DAMPING_CHANGES 100 // within a minute, at most

enum hs_gpint_use {
	HS_GPINT_USED,
	HS_GPINT_SPARE,	  // congested: only where no other way leads
	HS_GPINT_AVOIDED, // unavailable
};

struct hs_gpint_damping_config {
	uint32_t bad_sessions; // in a row, before a link is not used any more
	int64_t hold_ns;       // without a bad session, before it is used again
	int64_t max_hold_ns;   // the longest hold, and how long a failure is remembered
	uint32_t changes;      // sessions within a minute that may change something
};

struct hs_gpint_damping_link {
	uint8_t use;	    // enum hs_gpint_use
	bool changed;	    // by the last session
	bool good;	    // since good_ns
	bool came_back;	    // at back_ns
	uint32_t bad, dead; // sessions in a row that found the link bad; unavailable
	int64_t hold_ns;    // of this failure
	int64_t good_ns, back_ns;
};

struct hs_gpint_damping {
	struct hs_gpint_damping_config config;
	size_t n_links;
	struct hs_gpint_damping_link *links; // owned
	uint64_t changes;		     // sessions that changed something
	uint64_t held;			     // sessions that were not allowed to change something
	int64_t changed_ns[HS_GPINT_DAMPING_CHANGES]; // a ring: when the last such sessions were
};

// Returns 0 or -ENOMEM. fini accepts a zeroed struct.
int hs_gpint_damping_init(struct hs_gpint_damping *health,
		const struct hs_gpint_damping_config *config, size_t n_links);
void hs_gpint_damping_fini(struct hs_gpint_damping *health);

// Takes the states of all links that a session found: enum hs_gpint_state. HS_GPINT_UNKNOWN changes
// nothing. Returns how many links change their use.
size_t hs_gpint_damping_take(
		struct hs_gpint_damping *health, int64_t now_ns, const uint8_t *states);
