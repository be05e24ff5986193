// SPDX-License-Identifier: BSD-3-Clause
#include "probe_stack.h"

#include "bytes.h"

#include <errno.h>

enum {
	NUMBER = 2, // bytes of #SR, #DLV and #MEA
	N_ENTRIES = 2,
	ENTRIES = 4,
	HOP_VALUES = 2,
};

static uint32_t values_of_hops(const struct hs_probe_stack *stack, unsigned n)
{
	const uint8_t *hop = stack->hops + HOP_VALUES;
	uint32_t sum = 0;

	for (; n; n--, hop += HS_PROBE_HOP_BYTES)
		sum += hs_be16_load(hop);
	return sum;
}

// Adds up the bytes that the numbers ask for. Each number is read where the list before it ends.
int hs_probe_stack_open(const uint8_t *payload, size_t bytes, struct hs_probe_stack *out)
{
	size_t asked = HS_PROBE_BYTES;

	if (bytes < asked)
		return -EBADMSG;
	asked += HS_PROBE_ENTRY_BYTES * (size_t)hs_be16_load(payload + N_ENTRIES);
	if (bytes < asked)
		return -EBADMSG;
	asked += HS_PROBE_HOP_BYTES * (size_t)hs_be16_load(payload + asked - 2 * NUMBER);
	if (bytes < asked)
		return -EBADMSG;
	asked += HS_PROBE_VALUE_BYTES * (size_t)hs_be16_load(payload + asked - NUMBER);
	if (bytes != asked)
		return -EBADMSG;
	*out = hs_probe_stack_read(payload);
	return values_of_hops(out, out->n_hops) == out->n_values ? 0 : -EBADMSG;
}

struct hs_probe_hop hs_probe_stack_hop(
		const struct hs_probe_stack *stack, unsigned i, const uint8_t **values)
{
	const uint8_t *at = stack->hops + (size_t)HS_PROBE_HOP_BYTES * i;

	*values = stack->values + (size_t)HS_PROBE_VALUE_BYTES * values_of_hops(stack, i);
	return (struct hs_probe_hop){
			.node = at[0], .depth = at[1], .n_values = hs_be16_load(at + HOP_VALUES)};
}

size_t hs_probe_stack_write(uint8_t *payload, uint16_t id, enum hs_probe_type type,
		const struct hs_probe_entry *entries, uint16_t n)
{
	uint8_t *at = payload + ENTRIES;

	hs_be16_store(payload, (uint16_t)(id << 1 | type));
	hs_be16_store(payload + N_ENTRIES, n);
	for (unsigned i = 0; i < n; i++, at += HS_PROBE_ENTRY_BYTES) {
		at[0] = entries[i].port;
		at[1] = entries[i].first;
		at[2] = entries[i].end;
	}
	memset(at, 0, 2 * NUMBER);
	return (size_t)(at - payload) + 2 * NUMBER;
}

// Moves the bytes before the new hop towards the start by an entry, and the bytes after it towards
// the end.
void hs_probe_stack_add(uint8_t *payload, const struct hs_probe_stack *stack,
		const struct hs_probe_hop *hop, const uint32_t *values)
{
	uint8_t *entries = payload + ENTRIES;
	uint8_t *tail = payload + (stack->values - payload) - NUMBER;
	size_t tail_bytes = NUMBER + HS_PROBE_VALUE_BYTES * (size_t)stack->n_values;
	uint8_t *n_hops = payload + (stack->hops - payload) - NUMBER - HS_PROBE_ENTRY_BYTES;
	uint8_t *made = tail - HS_PROBE_ENTRY_BYTES;

	memmove(made + HS_PROBE_HOP_BYTES, tail, tail_bytes);
	memmove(entries, entries + HS_PROBE_ENTRY_BYTES, (size_t)(made - entries));
	hs_be16_store(payload + N_ENTRIES, (uint16_t)(stack->n_entries - 1));
	hs_be16_store(n_hops, (uint16_t)(stack->n_hops + 1));
	made[0] = hop->node;
	made[1] = hop->depth;
	hs_be16_store(made + HOP_VALUES, hop->n_values);
	made += HS_PROBE_HOP_BYTES;
	hs_be16_store(made, (uint16_t)(stack->n_values + hop->n_values));
	made += tail_bytes;
	for (unsigned i = 0; i < hop->n_values; i++, made += HS_PROBE_VALUE_BYTES)
		hs_be32_store(made, values[i]);
}
