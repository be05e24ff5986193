// SPDX-License-Identifier: BSD-3-Clause
// Writes and reads one hop's values by the table of fields. With a constant version, only a few
// branches remain.
//
// Thread rule: any; pure functions. For this folder and int_fast.h.
#pragma once

#include "bytes.h"
#include "int_fields.h"

// Returns the value that stands for "not available": all ones.
static inline uint64_t hs_int_not_available(enum hs_int_version version, unsigned bits)
{
	return version == HS_INT_2016_06 ? 0x7fffffff : UINT64_MAX >> (64 - bits);
}

// Returns a value as it is written.
static inline uint64_t hs_int_fit(
		enum hs_int_version version, unsigned bits, enum hs_int_kind kind, uint64_t value)
{
	uint64_t none = hs_int_not_available(version, bits);

	if (kind == HS_INT_KIND_TIME)
		return (value & none) == none ? none - 1 : value & none;
	if (value < none)
		return value;
	return kind == HS_INT_KIND_ID ? none : none - 1;
}

static inline uint8_t *hs_int_store(uint8_t *at, unsigned bits, uint64_t value)
{
	switch (bits) {
	case 8:
		at[0] = (uint8_t)value;
		break;
	case 16:
		hs_be16_store(at, (uint16_t)value);
		break;
	case 24:
		at[0] = (uint8_t)(value >> 16);
		hs_be16_store(at + 1, (uint16_t)value);
		break;
	case 32:
		hs_be32_store(at, (uint32_t)value);
		break;
	default:
		hs_be64_store(at, value);
		break;
	}
	return at + bits / 8;
}

static inline uint64_t hs_int_load(const uint8_t *at, unsigned bits)
{
	switch (bits) {
	case 8:
		return at[0];
	case 16:
		return hs_be16_load(at);
	case 24:
		return (uint64_t)at[0] << 16 | hs_be16_load(at + 1);
	case 32:
		return hs_be32_load(at);
	default:
		return hs_be64_load(at);
	}
}

// Writes the known values of a bitmap. Returns the end of the written bytes.
static inline uint8_t *hs_int_put_values(enum hs_int_version version, uint16_t bitmap, uint8_t *at,
		const struct hs_int_values *values)
{
#define HS_INT_VALUE(versions, bit, instruction, bits, kind, member, has_bit, unit)                \
	if (1 << version & (versions) && bitmap & 0x8000 >> (bit))                                 \
		at = hs_int_store(at, bits,                                                        \
				values->has & HS_INT_HAS_##has_bit                                 \
						? hs_int_fit(version, bits, HS_INT_KIND_##kind,    \
								  values->member)                  \
						: hs_int_not_available(version, bits));
#include "int_fields.def"
	return at;
}

// Reads the known values of a bitmap. Returns the end of the read bytes.
static inline const uint8_t *hs_int_get_values(enum hs_int_version version, uint16_t bitmap,
		const uint8_t *at, struct hs_int_values *values)
{
	uint64_t value;
#define HS_INT_VALUE(versions, bit, instruction, bits, kind, member, has_bit, unit)                \
	if (1 << version & (versions) && bitmap & 0x8000 >> (bit)) {                               \
		value = hs_int_load(at, bits);                                                     \
		value &= version == HS_INT_2016_06 ? 0x7fffffff : UINT64_MAX;                      \
		at += (bits) / 8;                                                                  \
		if (value != hs_int_not_available(version, bits)) {                                \
			values->has |= HS_INT_HAS_##has_bit;                                       \
			values->member = (__typeof__(values->member))value;                        \
		}                                                                                  \
	}
#include "int_fields.def"
	return at;
}
