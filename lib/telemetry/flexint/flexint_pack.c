// SPDX-License-Identifier: BSD-3-Clause
// Packs telemetry of type 0x7000E000, the paper's own, into the form that a monitor keeps.
#include "flexint.h"

#include "bytes.h"
#include "telemetry_packed.h"

#include <string.h>

#define HEAD	    8 // namespace, trace type
#define E2E_VALUES  (HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES)
#define E2E_BYTES   (2 + 16)
#define ENTRY_BYTES 24 // of all values
static_assert(ENTRY_BYTES == sizeof(struct hs_packed_hop), "the same numbers in the same order");

static inline void pack_hop(const uint8_t *entry, uint8_t *hop)
{
	typedef uint8_t vector __attribute__((vector_size(16)));
	vector front, back; // both contain the stamp

	memcpy(&front, entry, sizeof(front));
	memcpy(&back, entry + ENTRY_BYTES - sizeof(back), sizeof(back));
	front = __builtin_shufflevector(
			front, front, 1, 0, 3, 2, 5, 4, 7, 6, 15, 14, 13, 12, 11, 10, 9, 8);
	back = __builtin_shufflevector(
			back, back, 7, 6, 5, 4, 3, 2, 1, 0, 11, 10, 9, 8, 15, 14, 13, 12);
	memcpy(hop, &front, sizeof(front));
	memcpy(hop + ENTRY_BYTES - sizeof(back), &back, sizeof(back));
}

static inline void pack_e2e(const uint8_t *at, struct hs_packed *out)
{
	out->ts_ns = hs_be64_load(at);
	out->int_packets = 0;
	out->tx_packets = hs_be32_load(at + 8);
	out->tx_bytes = hs_be32_load(at + 12);
	out->e2e_bitmap = E2E_VALUES;
}

bool hs_flexint_pack(const uint8_t *trace, size_t trace_len, const uint8_t *e2e, size_t e2e_len,
		size_t room, struct hs_packed *out)
{
	size_t n_hops = (trace_len - HEAD) / ENTRY_BYTES;
	if (trace_len < HEAD || trace_len > HS_FLEXINT_MAX_TRACE ||
			trace_len != HEAD + n_hops * ENTRY_BYTES ||
			offsetof(struct hs_packed, hops) + n_hops * ENTRY_BYTES > room ||
			e2e_len != E2E_BYTES || hs_be16_load(e2e) != E2E_VALUES)
		return false;
	pack_e2e(e2e + 2, out);
	out->trace_type = hs_be32_load(trace + 4);
	out->n_hops = (uint8_t)n_hops;
	out->form = 0;
	trace += HEAD;
	for (size_t at = 0; at < trace_len - HEAD; at += ENTRY_BYTES) {
		if (hs_be16_load(trace + at + 2) != HS_HOP_MEASURED)
			return false;
		pack_hop(trace + at, out->hops + at);
	}
	return true;
}
