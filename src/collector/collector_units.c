// SPDX-License-Identifier: BSD-3-Clause
#include "collector_units.h"

const struct hs_schema_word hs_collector_latency_words[] = {
		{"ns", HS_COLLECTOR_NS},
		{"us", HS_COLLECTOR_US},
		{"ms", HS_COLLECTOR_MS},
		{"ticks", HS_COLLECTOR_TICKS},
		{NULL, 0},
};
const struct hs_schema_word hs_collector_occupancy_words[] = {
		{"packets", HS_COLLECTOR_PACKETS},
		{"bytes", HS_COLLECTOR_BYTES},
		{"cells", HS_COLLECTOR_CELLS},
		{"percent", HS_COLLECTOR_OCCUPANCY_PERCENT},
		{NULL, 0},
};
const struct hs_schema_word hs_collector_utilisation_words[] = {
		{"1/10000", HS_COLLECTOR_PER_10000},
		{"percent", HS_COLLECTOR_PERCENT},
		{"bps", HS_COLLECTOR_BPS},
		{NULL, 0},
};

static bool has_node(const void *from)
{
	return ((const struct hs_collector_units *)from)->node_id != UINT32_MAX;
}

#define UNITS(member) HS_SCHEMA_MEMBER(struct hs_collector_units, member)
const struct hs_schema_field hs_collector_unit_fields[] = {
		{"node_id", HS_SCHEMA_UINT, UNITS(node_id), .min = 0, .max = UINT32_MAX - 1,
				.given = has_node},
		{"latency", HS_SCHEMA_WORD, UNITS(latency), .words = hs_collector_latency_words},
		{"occupancy", HS_SCHEMA_WORD, UNITS(occupancy),
				.words = hs_collector_occupancy_words},
		{"utilisation", HS_SCHEMA_WORD, UNITS(utilisation),
				.words = hs_collector_utilisation_words},
		{NULL},
};
