// SPDX-License-Identifier: BSD-3-Clause
#include "flow_mask.h"

#include "ip_address.h"
#include "rule.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_rcu_qsbr.h>

static_assert(HS_FLOW_PAIRS >= HS_FLOW_MASKS, "each mask may have its own pair");
static_assert(HS_FLOW_DSCP == HS_RULE_OF_DSCP, "a rule's dscp is a part of its key");

static void make_mask(uint32_t code, struct hs_flow_mask *mask)
{
	struct hs_flow_key keep = {0}, last = {0};

	last.src_host_bits = (uint8_t)code;
	last.dst_host_bits = (uint8_t)(code >> HS_RULE_MASK_DST_SHIFT);
	memset(&keep, 0xff, offsetof(struct hs_flow_key, src_port));
	hs_ip_prefix_clear(keep.src_ip, last.src_host_bits);
	hs_ip_prefix_clear(keep.dst_ip, last.dst_host_bits);
	keep.src_port = code & HS_RULE_MASK_SRC_PORT ? UINT16_MAX : 0;
	keep.dst_port = code & HS_RULE_MASK_DST_PORT ? UINT16_MAX : 0;
	keep.protocol = code & HS_RULE_MASK_PROTOCOL ? UINT8_MAX : 0;
	keep.traits = code & HS_RULE_MASK_DSCP ? UINT8_MAX : HS_FLOW_IPV4;
	*mask = (struct hs_flow_mask){.rank = (uint16_t)hs_rule_mask_rank(code),
			.src_port = keep.src_port != 0,
			.dst_port = keep.dst_port != 0};
	memcpy(mask->keep, &keep, sizeof(mask->keep));
	memcpy(&mask->last, (uint8_t *)&last + sizeof(mask->keep) - 8, sizeof(mask->last));
}

static bool is_ipv4(uint32_t code)
{
	return code & HS_RULE_MASK_IPV4;
}

// Orders masks by IP version, because no packet has both, and then by rank. Of equal rank, masks
// that name the destination's port come first, because reverse entries have no age.
static int compare(const void *a, const void *b)
{
	const struct hs_rule_mask_use *left = a, *right = b;
	unsigned left_rank = hs_rule_mask_rank(left->mask);
	unsigned right_rank = hs_rule_mask_rank(right->mask);

	if (is_ipv4(left->mask) != is_ipv4(right->mask))
		return is_ipv4(left->mask) ? 1 : -1;
	if (left_rank != right_rank)
		return left_rank < right_rank ? -1 : 1;
	return (left->mask < right->mask) - (left->mask > right->mask);
}

static bool is_exact(uint32_t code)
{
	return (code | HS_RULE_MASK_IPV4) ==
	       (HS_RULE_MASK_IPV4 | HS_RULE_MASK_SRC_PORT | HS_RULE_MASK_DST_PORT |
			       HS_RULE_MASK_PROTOCOL);
}

static uint8_t pair_of(const struct hs_flow_mask_set *set, unsigned at)
{
	const uint32_t bits = (UINT32_C(1) << 2 * HS_RULE_MASK_DST_SHIFT) - 1;
	uint8_t first = 0;

	while ((set->users[first].mask ^ set->users[at].mask) & bits)
		first++;
	return first;
}

// Finds where each IP version's masks are. If no rule names a DSCP, whole keys come first.
static void find_ranges(const struct hs_flow_mask_set *set, struct hs_flow_masks *masks)
{
	for (unsigned i = 0; i < set->n; i++) {
		uint32_t code = set->users[i].mask;
		bool exact = is_exact(code) && !masks->dscp;
		masks->exact |= exact;
		masks->more |= !exact;
		masks->to[is_ipv4(code)]++;
		masks->from[is_ipv4(code)] += exact;
	}
	masks->from[1] += masks->to[0];
	masks->to[1] += masks->to[0];
}

static struct hs_flow_masks *make_list(struct hs_flow_mask_set *set)
{
	size_t bytes = sizeof(struct hs_flow_masks) + set->n * sizeof(struct hs_flow_mask);
	struct hs_flow_masks *masks = malloc(bytes);

	if (!masks)
		return NULL;
	qsort(set->users, set->n, sizeof(set->users[0]), compare);
	*masks = (struct hs_flow_masks){.n = set->n};
	for (unsigned i = 0; i < set->n; i++) {
		make_mask(set->users[i].mask, &masks->list[i]);
		masks->list[i].pair = pair_of(set, i);
		masks->dscp |= (set->users[i].mask & HS_RULE_MASK_DSCP) != 0;
	}
	find_ranges(set, masks);
	return masks;
}

// Publishes the list. A worker may read the old list until its burst ends.
static int publish(struct hs_flow_mask_set *set)
{
	struct hs_flow_masks *masks = make_list(set), *old;

	if (!masks)
		return -ENOMEM;
	old = atomic_exchange_explicit(&set->list, masks, memory_order_acq_rel);
	if (!old)
		return 0;
	old->token = rte_rcu_qsbr_start(set->qsbr);
	old->next = set->old;
	set->old = old;
	return 0;
}

int hs_flow_masks_init(struct hs_flow_mask_set *set, struct rte_rcu_qsbr *qsbr)
{
	set->qsbr = qsbr;
	return publish(set);
}

static struct hs_rule_mask_use *find(struct hs_flow_mask_set *set, uint32_t mask)
{
	unsigned i = 0;

	while (i < set->n && set->users[i].mask != mask)
		i++;
	return &set->users[i];
}

int hs_flow_masks_take(struct hs_flow_mask_set *set, uint32_t mask)
{
	struct hs_rule_mask_use *use = find(set, mask);

	if (use < set->users + set->n) {
		use->rules++;
		return 0;
	}
	*use = (struct hs_rule_mask_use){mask, 1};
	set->n++;
	int rc = publish(set);
	set->n -= rc ? 1 : 0;
	return rc;
}

// Releases a mask. Without memory, workers keep a mask that no rule has, until the next change.
void hs_flow_masks_release(struct hs_flow_mask_set *set, uint32_t mask)
{
	struct hs_rule_mask_use *use = find(set, mask);

	if (--use->rules)
		return;
	*use = set->users[--set->n];
	publish(set);
}

void hs_flow_masks_reclaim(struct hs_flow_mask_set *set)
{
	struct hs_flow_masks **at = &set->old, *old;

	while ((old = *at)) {
		if (rte_rcu_qsbr_check(set->qsbr, old->token, false) != 1) {
			at = &old->next;
			continue;
		}
		*at = old->next;
		free(old);
	}
}

void hs_flow_masks_fini(struct hs_flow_mask_set *set)
{
	while (set->old) {
		struct hs_flow_masks *old = set->old;
		set->old = old->next;
		free(old);
	}
	free(set->list);
}
