// SPDX-License-Identifier: BSD-3-Clause
// Decides which learned rule makes room for another, and how many a port may bring. For this
// folder only.
//
// Thread rule: owner (the control thread).
#pragma once

#include "in_band_base.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

// The protection of a learned rule when another rule wants its place.
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

struct in_band_ranks {
	const struct in_band_base *base;
	struct learned_list rules[LEARNED_RANKS];
	int64_t due_ns[HS_MAX_PORTS]; // for each port: until when its accepted rules use up the
				      // allowed rate
};

void hs_in_band_rank_init(struct in_band_ranks *ranks, const struct in_band_base *base);
void hs_in_band_rank_add(
		struct in_band_ranks *ranks, struct learned *learned, enum learned_rank rank);
void hs_in_band_rank_remove(struct in_band_ranks *ranks, struct learned *learned);
// Returns a rule that gives way to a newcomer, or NULL if all are proven.
struct learned *hs_in_band_rank_victim(struct in_band_ranks *ranks);
// Returns whether the port may bring one more rule, and counts it.
bool hs_in_band_rank_admits(struct in_band_ranks *ranks, uint16_t port);
