// SPDX-License-Identifier: BSD-3-Clause
// The units of a node's values: an entry of `units` in a collector's configuration.
//
// Thread rule: constants.
#pragma once

#include "schema.h"

#include <stdint.h>

enum hs_collector_latency_unit {
	HS_COLLECTOR_NS,
	HS_COLLECTOR_US,
	HS_COLLECTOR_MS,
	HS_COLLECTOR_TICKS, // the device's own
};

enum hs_collector_occupancy_unit {
	HS_COLLECTOR_PACKETS,
	HS_COLLECTOR_BYTES,
	HS_COLLECTOR_CELLS,
	HS_COLLECTOR_OCCUPANCY_PERCENT,
};

enum hs_collector_utilisation_unit {
	HS_COLLECTOR_PER_10000, // of the port's rate
	HS_COLLECTOR_PERCENT,
	HS_COLLECTOR_BPS,
};

// The units of a node's values.
struct hs_collector_units {
	uint32_t node_id; // UINT32_MAX: all nodes without an entry of their own
	uint8_t latency, occupancy, utilisation;
};

extern const struct hs_schema_word hs_collector_latency_words[], hs_collector_occupancy_words[],
		hs_collector_utilisation_words[];
extern const struct hs_schema_field hs_collector_unit_fields[];
