// SPDX-License-Identifier: BSD-3-Clause
// The mask of a rule: which parts of a packet the rule compares, without the values. A rule table
// looks a packet up once for each mask in use, so the number of masks is limited.
//
// Thread rule: any; values.
#pragma once

#include "rule.h"

#define HS_RULE_MASKS 16 // most distinct masks in a node's table

// A mask in one word: the number of host bits of the source in bits 0 to 7, that of the destination
// in bits 8 to 15, the IP version, and the other fields that the rule names.
#define HS_RULE_MASK_DST_SHIFT 8
#define HS_RULE_MASK_IPV4      UINT32_C(0x010000)
#define HS_RULE_MASK_SRC_PORT  UINT32_C(0x020000)
#define HS_RULE_MASK_DST_PORT  UINT32_C(0x040000)
#define HS_RULE_MASK_PROTOCOL  UINT32_C(0x080000)
#define HS_RULE_MASK_DSCP      UINT32_C(0x100000)

uint32_t hs_rule_mask(const struct hs_rule *rule);
// Returns the rank of a mask in the order of precedence: the lower rank wins. The sum of both
// prefix lengths decides first, and the longer one wins. Then the number of named fields of ports,
// protocol and dscp decides. Masks of different IP versions cannot be compared.
unsigned hs_rule_mask_rank(uint32_t mask);

// Returns whether some packets match both rules, and `first` takes these packets before `then` by
// its rank. If the ranks are equal, the older rule takes them: `older` says whether `first` is
// older.
bool hs_rule_takes_first(const struct hs_rule *first, const struct hs_rule *then, bool older);

// The masks in use, and how many rules have each. If all is zero, no mask is in use.
struct hs_rule_masks {
	unsigned n;
	struct hs_rule_mask_use {
		uint32_t mask;
		uint32_t rules;
	} uses[HS_RULE_MASKS];
};

// Adds a rule with this mask. Returns 0, or -EINVAL "too_many_masks" with nothing changed; the
// error lists the masks in use as the allowed ones.
int hs_rule_masks_add(struct hs_rule_masks *masks, uint32_t mask, struct hs_error *err);
// Removes a rule with this mask. The mask must have a rule.
void hs_rule_masks_remove(struct hs_rule_masks *masks, uint32_t mask);
