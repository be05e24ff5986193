// SPDX-License-Identifier: BSD-3-Clause
// The table of the values of INT. Sizes, writing, reading, names and documents are derived from it.
//
// Thread rule: any; pure functions.
#pragma once

#include "int_values.h"

#include <stddef.h>
#include <stdint.h>

#define HS_INT_V_2016	   (1 << HS_INT_2016_06)
#define HS_INT_V_05	   (1 << HS_INT_0_5)
#define HS_INT_V_10	   (1 << HS_INT_1_0)
#define HS_INT_V_21	   (1 << HS_INT_2_1)
#define HS_INT_V_ALL	   (HS_INT_V_2016 | HS_INT_V_05 | HS_INT_V_10 | HS_INT_V_21)
#define HS_INT_V_BEFORE_20 (HS_INT_V_2016 | HS_INT_V_05 | HS_INT_V_10)
#define HS_INT_V_SINCE_05  (HS_INT_V_05 | HS_INT_V_10 | HS_INT_V_21)
#define HS_INT_V_SINCE_10  (HS_INT_V_10 | HS_INT_V_21)

enum hs_int_kind {
	HS_INT_KIND_ID,
	HS_INT_KIND_NUMBER,
	HS_INT_KIND_TIME,
};

// One row for each value on the wire, in wire order.
struct hs_int_field {
	uint8_t versions; // bit for each enum hs_int_version
	uint8_t bit;	  // of the instruction bitmap; 0 is 0x8000
	uint8_t bits;	  // on the wire; in 2016-06, the first one marks the bottom of the stack
	uint8_t kind;	  // enum hs_int_kind
	uint8_t width;	  // in struct hs_int_values
	uint8_t offset;	  // in struct hs_int_values
	uint16_t has;	  // enum hs_int_has
	const char *instruction; // name in rules
	const char *key;	 // name in JSON
	const char *unit;
};

extern const struct hs_int_field hs_int_fields[];
extern const size_t hs_int_n_fields;

const char *hs_int_version_name(enum hs_int_version version); // "2016-06", "0.5", "1.0", "2.1"

// Returns the bits of a time on the wire, for unwrapping: 31, 32 or 64.
unsigned hs_int_time_bits(enum hs_int_version version);

// Returns the bits of the bitmap that a version knows.
static inline uint16_t hs_int_known(enum hs_int_version version)
{
	unsigned known = 0;
#define HS_INT_VALUE(versions, bit, instruction, bits, kind, member, has, unit)                    \
	known |= 1 << version & (versions) ? 0x8000u >> (bit) : 0;
#include "int_fields.def"
	return (uint16_t)known;
}

// Returns the bits of the values that a hop adds for the known instructions of a bitmap.
static inline unsigned hs_int_value_bits(enum hs_int_version version, uint16_t bitmap)
{
	unsigned n = 0;
#define HS_INT_VALUE(versions, bit, instruction, bits, kind, member, has, unit)                    \
	n += 1 << version & (versions) && bitmap & 0x8000 >> (bit) ? (bits) : 0u;
#include "int_fields.def"
	return n;
}

// Returns the words that a hop adds for a bitmap, reserved instructions included (one word each).
static inline unsigned hs_int_hop_words(enum hs_int_version version, uint16_t bitmap)
{
	uint16_t reserved = bitmap & (uint16_t)~hs_int_known(version);

	return hs_int_value_bits(version, bitmap) / 32 + (unsigned)__builtin_popcount(reserved);
}
