// SPDX-License-Identifier: BSD-3-Clause
// Loads and stores the values of a table of fields in struct hs_hop and struct hs_e2e, for codecs.
//
// Thread rule: any.
#pragma once

#include "telemetry_model.h"

#include <stdint.h>
#include <string.h>

static inline uint64_t hs_telemetry_field_load(
		const struct hs_telemetry_field *field, const void *values)
{
	const uint8_t *at = (const uint8_t *)values + field->offset;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;
	switch (field->width) {
	case 2:
		memcpy(&v16, at, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, at, sizeof(v32));
		return v32;
	default:
		memcpy(&v64, at, sizeof(v64));
		return v64;
	}
}

// Stores a value, which must fit the field.
static inline void hs_telemetry_field_store(
		const struct hs_telemetry_field *field, void *values, uint64_t value)
{
	uint8_t *at = (uint8_t *)values + field->offset;
	uint16_t v16 = (uint16_t)value;
	uint32_t v32 = (uint32_t)value;
	switch (field->width) {
	case 2:
		memcpy(at, &v16, sizeof(v16));
		break;
	case 4:
		memcpy(at, &v32, sizeof(v32));
		break;
	default:
		memcpy(at, &value, sizeof(value));
		break;
	}
}

// Returns the greatest value that fits on the wire.
static inline uint64_t hs_telemetry_field_max(const struct hs_telemetry_field *field)
{
	return UINT64_MAX >> (64 - 8 * field->bytes);
}
