// SPDX-License-Identifier: BSD-3-Clause
// The offsets of the values in a hop's bytes: one dialect of INT for each format of reports, and
// one layout for each bitmap of a dialect. Reading by a layout gives the values that
// hs_int_stack_hop reads.
//
// Thread rule: any; values that do not change once they are made.
#pragma once

#include "bytes.h"
#include "int_settings.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_COLLECT_NOT_THERE UINT8_MAX

// Offsets in bytes from the hop's beginning.
struct hs_collect_layout {
	uint8_t words; // of bits 0 to 7
	uint8_t node;
	uint8_t latency;
	uint8_t queue;
	uint8_t ingress;
	uint8_t egress;
	uint8_t congestion;
	uint8_t port; // of egress
	uint8_t utilisation;
	bool fast;    // collect_fast_path.h can read it
	uint8_t form; // enum hs_collect_layout_form
};

// Layouts with specialised code.
enum hs_collect_layout_form {
	HS_COLLECT_LAYOUT_ANY,
	HS_COLLECT_LAYOUT_1_0,	    // all bits 0 to 7
	HS_COLLECT_LAYOUT_2_1,	    // the same
	HS_COLLECT_LAYOUT_NODES,    // only bit 0
	HS_COLLECT_LAYOUT_REPORTER, // no stack; if `fast`, the reporter tells no values
};

struct hs_collect_dialect {
	bool taken;
	bool fast;    // collect_fast_packet.h can read packets of this dialect
	bool lenient; // accepts INTCollector's generator
	bool wide_times;
	bool wide_ports;    // 2016-06: each port has a word
	uint8_t queue_bits; // bits of the occupancy, below the queue's id; 2016-06: 32, no id
	uint32_t mask;	    // of a word
	struct hs_int_settings packet;
	// By the first byte of the bitmap. Layouts [1] are for lenient reports of 1.0: bit 6 has
	// four bytes.
	struct hs_collect_layout layouts[2][256];
};

void hs_collect_dialect_init(struct hs_collect_dialect *dialect,
		const struct hs_int_settings *packet, bool lenient);

// Returns the bytes of a hop's values. In a longer hop, the words of a domain follow.
static inline unsigned hs_collect_layout_bytes(
		const struct hs_collect_layout *layout, uint16_t bitmap)
{
	return 4 * (layout->words + (unsigned)__builtin_popcount(bitmap & 0xff));
}
