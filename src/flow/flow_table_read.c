// SPDX-License-Identifier: BSD-3-Clause
// What is asked of the rules in the table: what they are, and their counters.
#include "flow_table.h"

#include "flow_table_parts.h"

#include <string.h>

const struct hs_rule *hs_flow_table_rule(const struct hs_flow_table *t, uint32_t slot)
{
	if (slot >= t->capacity)
		return NULL;
	uint8_t state = t->entries[slot].state;
	return state == ENTRY_LIVE || state == ENTRY_WAITING ? &t->entries[slot].rule : NULL;
}

uint32_t hs_flow_table_generation(const struct hs_flow_table *t, uint32_t slot)
{
	return atomic_load_explicit(&t->shared[slot].generation, memory_order_relaxed);
}

// Returns the ns_id of the installed rule that last took packets with this rule's telemetry, or 0.
static uint32_t took_packets_of(const struct hs_flow_table *t, uint32_t slot)
{
	struct hs_flow_counters counters;

	hs_flow_table_counters(t, slot, &counters);
	return hs_flow_table_find(t, counters.shadowed_by) == HS_FLOW_NONE ? 0
									   : counters.shadowed_by;
}

uint32_t hs_flow_table_shadowed_by(const struct hs_flow_table *t, uint32_t slot)
{
	if (t->entries[slot].state != ENTRY_WAITING)
		return took_packets_of(t, slot);
	uint32_t at = slot;
	while (t->entries[at].state == ENTRY_WAITING)
		at = t->entries[at].tuple_prev;
	return t->entries[at].rule.ns_id;
}

static void add_worker(struct hs_flow_counters *sum, const struct hs_flow_worker *w)
{
	struct hs_flow_sums sums = {0};

	hs_flow_read(w, &sums);
#define HS_FLOW_SUM(name, unit, text)	  sum->name += sums.name;
#define HS_FLOW_COUNTER(name, unit, text) sum->name += __atomic_load_n(&w->name, __ATOMIC_RELAXED);
#include "flow_counter.def"
#undef HS_FLOW_COUNTER
	uint32_t mtu_needed = __atomic_load_n(&w->mtu_needed, __ATOMIC_RELAXED);
	sum->mtu_needed = RTE_MAX(sum->mtu_needed, mtu_needed);
	int64_t last_int_ns = __atomic_load_n(&w->last_int_ns, __ATOMIC_RELAXED);
	sum->last_int_ns = RTE_MAX(sum->last_int_ns, last_int_ns);
}

static void add_shadow(struct hs_flow_counters *sum, const struct hs_flow_shadow *shadow)
{
	uint64_t packets = __atomic_load_n(&shadow->packets, __ATOMIC_RELAXED);

	sum->shadowed_packets += packets;
	if (packets)
		sum->shadowed_by = __atomic_load_n(&shadow->by, __ATOMIC_RELAXED);
}

void hs_flow_table_counters(
		const struct hs_flow_table *t, uint32_t slot, struct hs_flow_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	for (unsigned w = 0; w < t->n_workers; w++) {
		add_worker(counters, &t->workers[w][slot]);
		add_shadow(counters, &t->shadows[w][slot]);
	}
}

uint32_t hs_flow_table_count(const struct hs_flow_table *t)
{
	return t->count;
}

const struct hs_rule_masks *hs_flow_table_masks(const struct hs_flow_table *t)
{
	return &t->rule_masks;
}

uint32_t hs_flow_table_capacity(const struct hs_flow_table *t)
{
	return t->capacity;
}

bool hs_flow_table_next(const struct hs_flow_table *t, uint32_t *cursor)
{
	uint32_t next = *cursor == HS_FLOW_NONE ? t->order_head : t->entries[*cursor].order_next;
	if (next == HS_FLOW_NONE)
		return false;
	*cursor = next;
	return true;
}
