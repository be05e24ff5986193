// SPDX-License-Identifier: BSD-3-Clause
// The masks of the table's rules in the form in which workers use them: a list in order of
// precedence, which control replaces as a whole. A worker reads one list for a burst, so that it
// never sees half a change; the old list is freed after a grace period.
//
// A key has its mask in it (the host bits of its prefixes, and zeros for what it does not name), so
// that rules of different masks never have equal keys.
//
// Thread rule: the list by any worker that reports quiescent states to the table; the rest control.
#pragma once

#include "flow_key.h"
#include "rule_mask.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

struct rte_rcu_qsbr;

#define HS_FLOW_PAIRS 24 // of prefix lengths, at most one for each mask

struct hs_flow_mask {
	uint64_t keep[HS_FLOW_KEY_WORDS]; // bits of a packet's key that rules compare
	uint64_t last;			  // bits that are added to the last word
	uint16_t rank;			  // of hs_rule_mask_rank
	uint8_t pair;			  // the number of the pair of prefix lengths
	bool src_port, dst_port; // rules name them, so that packets without ports cannot match
};

struct hs_flow_masks {
	unsigned n;
	bool exact; // one look-up of whole keys serves the rules of both IP versions that name all
	bool more;  // there are masks that this look-up does not serve:
	uint8_t from[2], to[2]; // of IPv6 and of IPv4, in order of precedence
	bool dscp;		// packets' keys need their DSCP
	uint64_t token;
	struct hs_flow_masks *next; // next of the lists that wait for a grace period
	struct hs_flow_mask list[];
};

// Makes the key that a rule of this mask has if it matches the packet.
static inline void hs_flow_mask_key(const struct hs_flow_mask *mask,
		const struct hs_flow_tuple *from, struct hs_flow_key *to)
{
	uint64_t w[HS_FLOW_KEY_WORDS + 1] = {0};

	for (unsigned i = 0; i < HS_FLOW_KEY_LAST; i++)
		w[i] = hs_flow_tuple_word(from, i) & mask->keep[i];
	w[HS_FLOW_KEY_LAST] = (from->last & mask->keep[HS_FLOW_KEY_LAST]) | mask->last;
	memcpy(to, w, sizeof(w));
}

// Returns whether a packet of the mask's IP version can match a rule of this mask.
static inline bool hs_flow_mask_fits(
		const struct hs_flow_mask *mask, const struct hs_flow_tuple *tuple)
{
	return (tuple->src_port || !mask->src_port) & (tuple->dst_port || !mask->dst_port);
}

// ---- control ----

// The masks of the rules, and those of reverse entries, which compare whole addresses of IPv6.
#define HS_FLOW_MASKS (HS_RULE_MASKS + 8)

// The masks of the keys that workers find.
struct hs_flow_mask_set {
	struct rte_rcu_qsbr *qsbr;
	struct hs_rule_mask_use users[HS_FLOW_MASKS + 1];
	unsigned n;
	struct hs_flow_masks *old; // wait for a grace period
	// Every worker reads `list` for each burst. Control writes what is around it all the time.
	alignas(2 * RTE_CACHE_LINE_SIZE) struct hs_flow_masks *_Atomic list;
};

// Fills a zeroed set with an empty list. Returns 0 or -ENOMEM.
int hs_flow_masks_init(struct hs_flow_mask_set *set, struct rte_rcu_qsbr *qsbr);
void hs_flow_masks_fini(struct hs_flow_mask_set *set);
// Counts a key of this mask (hs_rule_mask) that workers will find. Returns 0, or -ENOMEM with
// nothing changed.
int hs_flow_masks_take(struct hs_flow_mask_set *set, uint32_t mask);
void hs_flow_masks_release(struct hs_flow_mask_set *set, uint32_t mask);
void hs_flow_masks_reclaim(struct hs_flow_mask_set *set);
