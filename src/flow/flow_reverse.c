// SPDX-License-Identifier: BSD-3-Clause
// The pending options of entries, and the reverse entries that provide pending options where no
// rule matches.
#include "flow_table_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hs_flow_pending *hs_flow_table_pending(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_pending *pending =
			atomic_load_explicit(&t->pending[slot], memory_order_relaxed);

	if (pending)
		return pending;
	pending = calloc(1, sizeof(*pending) + HS_FLOW_PENDING_BYTES);
	if (pending)
		pending->holds_telemetry = t->entries[slot].rule.in_band;
	atomic_store_explicit(&t->pending[slot], pending, memory_order_release);
	return pending;
}

static struct hs_flow_loads *loads_of(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_pending *pending = hs_flow_table_pending(t, slot);
	struct hs_flow_loads *loads;

	if (!pending)
		return NULL;
	loads = atomic_load_explicit(&pending->loads, memory_order_relaxed);
	if (loads)
		return loads;
	loads = calloc(1, sizeof(*loads));
	atomic_store_explicit(&pending->loads, loads, memory_order_release);
	return loads;
}

struct hs_flow_pending *hs_flow_table_load(struct hs_flow_table *t, uint32_t slot, unsigned i)
{
	struct hs_flow_loads *loads = loads_of(t, slot);
	struct hs_flow_pending *load;

	if (!loads)
		return NULL;
	load = atomic_load_explicit(&loads->list[i], memory_order_relaxed);
	if (load)
		return load;
	load = calloc(1, sizeof(*load) + hs_flow_load_bytes(i));
	if (load)
		load->of = loads;
	atomic_store_explicit(&loads->list[i], load, memory_order_release);
	return load;
}

void hs_flow_pending_free(struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_pending *pending =
			atomic_exchange_explicit(&t->pending[slot], NULL, memory_order_relaxed);
	struct hs_flow_loads *loads = pending ? pending->loads : NULL;

	for (unsigned i = 0; loads && i < HS_FLOW_LOADS; i++)
		free(loads->list[i]);
	free(loads);
	free(pending ? pending->fields : NULL);
	free(pending);
}

void hs_flow_table_pending_set(struct hs_flow_table *t, uint32_t slot, bool offered)
{
	t->entries[slot].offered = offered;
	hs_flow_publish_config(t, slot);
}

// The 5-tuple of returning packets: a rule that is never due and adds nothing.
static void reverse_of(const struct hs_rule *forward, struct hs_rule *reverse)
{
	*reverse = (struct hs_rule){
			.src_port = forward->dst_port,
			.dst_port = forward->src_port,
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
	e->offered = false;
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

// Finds the slot as workers find it.
uint32_t hs_flow_table_reverse(const struct hs_flow_table *t, const struct hs_rule *forward)
{
	struct hs_flow_view view = {
			.own = t->workers[0],
			.shared = t->shared,
			.hash = t->hash,
			.index = t->places,
			.masks = &t->masks,
			.n_rules = t->config.capacity,
	};
	struct hs_rule reverse;
	struct hs_flow_key key;
	const struct hs_flow_key *keys[] = {&key};
	uint32_t slot;

	reverse_of(forward, &reverse);
	hs_flow_rule_key(&reverse, &key);
	hs_flow_lookup_burst(&view, keys, 1, &slot);
	return slot;
}
