// SPDX-License-Identifier: BSD-3-Clause
// The payload of a source-routed probe: the request, the entries of the nodes that it will visit
// (SR stack), the hops of the nodes that it visited (DLV) and their values (MEA).
//
//   request ID 15 bits, type 1 bit | #SR | SR x #SR | #DLV | DLV x #DLV | #MEA | MEA x #MEA
//
// Each #number has 16 bits. SR: next port 8, first 8, end 8. DLV: node 8, queue depth 8, number of
// values 16. MEA: a value of 32 bits. The hop of the node that was visited first is first.
//
// Source: 002_e7f573228cf2597b.txt sections III-B and III-C. docs/wire-probe.md has the bytes, and
// what the paper leaves open.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "bytes.h"

#include <stddef.h>
#include <stdint.h>

#define HS_PROBE_MAX_ID	     0x7fff
#define HS_PROBE_BYTES	     8 // without entries, hops and values
#define HS_PROBE_ENTRY_BYTES 3
#define HS_PROBE_HOP_BYTES   4
#define HS_PROBE_VALUE_BYTES 4
#define HS_PROBE_VALUES	     255 // most values of a range

enum hs_probe_type {
	HS_PROBE_RULE_HITS,    // a register that is indexed by a rule's namespace
	HS_PROBE_PORT_PACKETS, // by the index of a port in the node's list
};

// The request of the probe to one node.
struct hs_probe_entry {
	uint8_t port;	    // the probe's egress port; 0: as the node forwards other packets
	uint8_t first, end; // range of the register: [first, end)
};

// The hop that one node wrote.
struct hs_probe_hop {
	uint8_t node;
	uint8_t depth; // of the queue of the probe's egress port
	uint16_t n_values;
};

// A probe's payload, in place.
struct hs_probe_stack {
	uint16_t id;
	enum hs_probe_type type;
	uint16_t n_entries, n_hops, n_values;
	const uint8_t *entries, *hops, *values;
};

// Reads the payload, which must use all of the bytes. Returns 0, or -EBADMSG: the numbers do not
// match the bytes, or the hops' numbers of values do not add up to #MEA.
int hs_probe_stack_open(const uint8_t *payload, size_t bytes, struct hs_probe_stack *out);

// Reads a payload that was opened before.
static inline struct hs_probe_stack hs_probe_stack_read(const uint8_t *payload)
{
	uint16_t request = hs_be16_load(payload);
	struct hs_probe_stack stack = {
			.id = request >> 1, .type = request & 1, .entries = payload + 4};

	stack.n_entries = hs_be16_load(payload + 2);
	stack.hops = stack.entries + HS_PROBE_ENTRY_BYTES * (size_t)stack.n_entries + 2;
	stack.n_hops = hs_be16_load(stack.hops - 2);
	stack.values = stack.hops + HS_PROBE_HOP_BYTES * (size_t)stack.n_hops + 2;
	stack.n_values = hs_be16_load(stack.values - 2);
	return stack;
}

// Returns entry i, with i below n_entries.
static inline struct hs_probe_entry hs_probe_stack_entry(
		const struct hs_probe_stack *stack, unsigned i)
{
	const uint8_t *at = stack->entries + (size_t)HS_PROBE_ENTRY_BYTES * i;

	return (struct hs_probe_entry){.port = at[0], .first = at[1], .end = at[2]};
}
// Returns hop i, with i below n_hops, and sets *values to its first value.
struct hs_probe_hop hs_probe_stack_hop(
		const struct hs_probe_stack *stack, unsigned i, const uint8_t **values);

// Writes a payload without hops. Returns its bytes: HS_PROBE_BYTES + n * HS_PROBE_ENTRY_BYTES.
size_t hs_probe_stack_write(uint8_t *payload, uint16_t id, enum hs_probe_type type,
		const struct hs_probe_entry *entries, uint16_t n);

// Returns by how many bytes a payload grows when a node removes an entry and adds n_values.
static inline size_t hs_probe_stack_growth(unsigned n_values)
{
	return HS_PROBE_HOP_BYTES - HS_PROBE_ENTRY_BYTES + HS_PROBE_VALUE_BYTES * (size_t)n_values;
}

// Removes the first entry, and adds a hop with its values. `stack` has an entry and was opened from
// the payload. After the payload there must be hs_probe_stack_growth(hop->n_values) free bytes.
void hs_probe_stack_add(uint8_t *payload, const struct hs_probe_stack *stack,
		const struct hs_probe_hop *hop, const uint32_t *values);
