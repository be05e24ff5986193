// SPDX-License-Identifier: BSD-3-Clause
// The reverse entries that provide pending options where no rule matches.
#include "flow_table.h"
#include "flow_table_parts.h"

#include <errno.h>
#include <string.h>

// Makes the rule of returning packets: its 5-tuple is reversed, and the rule is never due and adds
// nothing.
static void reverse_of(const struct hs_rule *forward, struct hs_rule *reverse)
{
	*reverse = (struct hs_rule){
			.src_port = forward->dst_port,
			.dst_port = forward->src_port,
			.src_host_bits = forward->dst_host_bits,
			.dst_host_bits = forward->src_host_bits,
			.protocol = forward->protocol,
			.mode = HS_MODE_PROBABILITY,
	};
	memcpy(reverse->src_ip, forward->dst_ip, 16);
	memcpy(reverse->dst_ip, forward->src_ip, 16);
}

static uint32_t find_reverse(struct hs_flow_table *t, const struct hs_rule *reverse)
{
	uint32_t oldest = hs_flow_find_tuple(t, reverse);
	uint32_t last = oldest == HS_FLOW_NONE ? oldest : t->entries[oldest].tuple_prev;

	return hs_flow_is_reverse(t, last) ? last : HS_FLOW_NONE;
}

int hs_flow_table_add_reverse(
		struct hs_flow_table *t, const struct hs_rule *forward, uint32_t *slot)
{
	struct hs_rule reverse;
	uint32_t shadow;

	reverse_of(forward, &reverse);
	*slot = find_reverse(t, &reverse);
	if (*slot != HS_FLOW_NONE) {
		t->entries[*slot].users++;
		return 0;
	}
	*slot = hs_flow_slot_take(t, true);
	if (*slot == HS_FLOW_NONE)
		return -ENOSPC;
	struct hs_flow_entry *e = &t->entries[*slot];
	e->rule = reverse;
	e->pending = false;
	e->users = 1;
	if (hs_flow_slot_enter(t, *slot, &shadow)) {
		hs_flow_slot_free(t, *slot);
		return -ENOSPC;
	}
	return 0;
}

void hs_flow_table_remove_reverse(struct hs_flow_table *t, uint32_t slot)
{
	if (--t->entries[slot].users == 0)
		hs_flow_slot_leave(t, slot);
}

// Finds the slot by the look-up of workers.
uint32_t hs_flow_table_reverse(const struct hs_flow_table *t, const struct hs_rule *forward)
{
	struct hs_flow_view view = {
			.own = t->workers[0],
			.shared = t->shared,
			.hash = t->hash,
			.index = t->places,
			.masks = &t->masks.list,
			.n_rules = t->capacity,
	};
	struct hs_rule reverse;
	struct hs_flow_key key;

	reverse_of(forward, &reverse);
	hs_flow_key_of_rule(&reverse, &key);
	return hs_flow_lookup_one(&view, &key);
}
