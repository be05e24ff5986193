// SPDX-License-Identifier: BSD-3-Clause
#include "rule_mask.h"

#include "ip_address.h"

#include <stddef.h>
#include <stdio.h>

#define NAMED_MOST 4

static const struct {
	uint32_t bit;
	const char *name;
} named[NAMED_MOST] = {
		{HS_RULE_MASK_SRC_PORT, "src_port"},
		{HS_RULE_MASK_DST_PORT, "dst_port"},
		{HS_RULE_MASK_PROTOCOL, "protocol"},
		{HS_RULE_MASK_DSCP, "dscp"},
};

uint32_t hs_rule_mask(const struct hs_rule *rule)
{
	return rule->src_host_bits | (uint32_t)rule->dst_host_bits << HS_RULE_MASK_DST_SHIFT |
	       (hs_ip_address_is_ipv4(rule->src_ip) ? HS_RULE_MASK_IPV4 : 0) |
	       (rule->src_port ? HS_RULE_MASK_SRC_PORT : 0) |
	       (rule->dst_port ? HS_RULE_MASK_DST_PORT : 0) |
	       (rule->protocol ? HS_RULE_MASK_PROTOCOL : 0) | (rule->dscp ? HS_RULE_MASK_DSCP : 0);
}

static unsigned src_host_bits(uint32_t mask)
{
	return mask & 0xff;
}

static unsigned dst_host_bits(uint32_t mask)
{
	return mask >> HS_RULE_MASK_DST_SHIFT & 0xff;
}

unsigned hs_rule_mask_rank(uint32_t mask)
{
	unsigned missing = NAMED_MOST;

	for (unsigned i = 0; i < NAMED_MOST; i++)
		missing -= mask & named[i].bit ? 1 : 0;
	return (src_host_bits(mask) + dst_host_bits(mask)) * (NAMED_MOST + 1) + missing;
}

// Writes a mask as text, such as "IPv4 /8 to /32 protocol dscp".
static int write_mask(uint32_t mask, char *text, size_t size)
{
	unsigned bits = mask & HS_RULE_MASK_IPV4 ? 32 : 128;
	int used = snprintf(text, size, "IPv%c /%u to /%u", mask & HS_RULE_MASK_IPV4 ? '4' : '6',
			bits - src_host_bits(mask), bits - dst_host_bits(mask));

	for (unsigned i = 0; i < NAMED_MOST; i++)
		if (mask & named[i].bit)
			used += snprintf(text + used, size - (size_t)used, " %s", named[i].name);
	return used;
}

// ---- two rules ----

static bool prefixes_overlap(const uint8_t one[16], uint8_t one_bits, const uint8_t other[16],
		uint8_t other_bits)
{
	return one_bits > other_bits ? hs_ip_prefix_has(one, one_bits, other)
				     : hs_ip_prefix_has(other, other_bits, one);
}

// Returns whether two values overlap. 0 stands for any value.
static bool values_overlap(unsigned one, unsigned other)
{
	return !one || !other || one == other;
}

bool hs_rule_takes_first(const struct hs_rule *first, const struct hs_rule *then, bool older)
{
	unsigned rank = hs_rule_mask_rank(hs_rule_mask(first));
	unsigned then_rank = hs_rule_mask_rank(hs_rule_mask(then));

	return (rank < then_rank || (rank == then_rank && older)) &&
	       hs_ip_address_is_ipv4(first->src_ip) == hs_ip_address_is_ipv4(then->src_ip) &&
	       values_overlap(first->protocol, then->protocol) &&
	       values_overlap(first->src_port, then->src_port) &&
	       values_overlap(first->dst_port, then->dst_port) &&
	       values_overlap(first->dscp, then->dscp) &&
	       prefixes_overlap(first->src_ip, first->src_host_bits, then->src_ip,
			       then->src_host_bits) &&
	       prefixes_overlap(first->dst_ip, first->dst_host_bits, then->dst_ip,
			       then->dst_host_bits);
}

// ---- the masks in use ----

#define MASK_TEXT 56 // "IPv6 /128 to /128 src_port dst_port protocol dscp" and "; "

static int refuse(const struct hs_rule_masks *masks, uint32_t mask, struct hs_error *err)
{
	char list[HS_RULE_MASKS * MASK_TEXT], wanted[MASK_TEXT];
	int used = 0;

	for (unsigned i = 0; i < masks->n; i++) {
		used += snprintf(list + used, sizeof(list) - (size_t)used, "%s", i ? "; " : "");
		used += write_mask(masks->uses[i].mask, list + used, sizeof(list) - (size_t)used);
	}
	write_mask(mask, wanted, sizeof(wanted));
	return hs_error_set(err, "too_many_masks", "", list,
			"%s would be one mask too many: rules compare %u different sets of fields "
			"already",
			wanted, masks->n);
}

static struct hs_rule_mask_use *find(struct hs_rule_masks *masks, uint32_t mask)
{
	for (unsigned i = 0; i < masks->n; i++)
		if (masks->uses[i].mask == mask)
			return &masks->uses[i];
	return NULL;
}

int hs_rule_masks_add(struct hs_rule_masks *masks, uint32_t mask, struct hs_error *err)
{
	struct hs_rule_mask_use *use = find(masks, mask);

	if (!use && masks->n == HS_RULE_MASKS)
		return refuse(masks, mask, err);
	if (!use) {
		use = &masks->uses[masks->n++];
		*use = (struct hs_rule_mask_use){.mask = mask};
	}
	use->rules++;
	return 0;
}

void hs_rule_masks_remove(struct hs_rule_masks *masks, uint32_t mask)
{
	struct hs_rule_mask_use *use = find(masks, mask);

	if (use && --use->rules == 0)
		*use = masks->uses[--masks->n];
}
