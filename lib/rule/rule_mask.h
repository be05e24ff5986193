// SPDX-License-Identifier: BSD-3-Clause
// The mask of a rule: which parts of a packet it compares, whatever the values are. A rule table
// looks a packet up once for each mask that some rule has, so that their number is limited.
//
// Thread rule: any; values.
#pragma once

#include "rule.h"

#define HS_RULE_MASKS 16 // distinct ones in a node's table

// A mask in one word: the host bits of the source in bits 0 to 7, those of the destination in bits
// 8 to 15, the IP version, and what the rule names.
#define HS_RULE_MASK_DST_SHIFT 8
#define HS_RULE_MASK_IPV4      UINT32_C(0x010000)
#define HS_RULE_MASK_SRC_PORT  UINT32_C(0x020000)
#define HS_RULE_MASK_DST_PORT  UINT32_C(0x040000)
#define HS_RULE_MASK_PROTOCOL  UINT32_C(0x080000)
#define HS_RULE_MASK_DSCP      UINT32_C(0x100000)

uint32_t hs_rule_mask(const struct hs_rule *rule);
// Returns where a mask stands in the order of precedence: the lower rank wins. First decides the
// sum of both prefix lengths, where longer is better, and then how many of ports, protocol and dscp
// are named. Masks of different IP versions cannot be compared.
unsigned hs_rule_mask_rank(uint32_t mask);

// Returns whether some packets match both rules, and `first` takes them before `then` by their
// ranks. Of equal ranks, the older rule takes them: `older` says whether this is `first`.
bool hs_rule_takes_first(const struct hs_rule *first, const struct hs_rule *then, bool older);

// The masks in use, and how many rules have each. All zero: none.
struct hs_rule_masks {
	unsigned n;
	struct hs_rule_mask_use {
		uint32_t mask;
		uint32_t rules;
	} uses[HS_RULE_MASKS];
};

// Returns 0, or -EINVAL "too_many_masks" with nothing changed; what is allowed are the masks in
// use.
int hs_rule_masks_add(struct hs_rule_masks *masks, uint32_t mask, struct hs_error *err);
// The mask must have a rule.
void hs_rule_masks_remove(struct hs_rule_masks *masks, uint32_t mask);
