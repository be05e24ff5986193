// SPDX-License-Identifier: BSD-3-Clause
// Points of events as JSON. `flow` is the event's flow, and may be NULL where no point is of a
// flow.
//
// Thread rule: any; pure functions.
#pragma once

#include "collector_config.h"

#include "schema.h"

extern const struct hs_schema_field hs_collector_point_fields[];

// Returns a new reference, or NULL if memory is out.
json_t *hs_collector_point_json(const struct hs_collector_config *config,
		const struct hs_collect_flow *flow, const struct hs_collect_point *point);
// Returns the unit of a point's value: "ns", "packets", ...; "mixed" if the hops of the flow have
// different units.
const char *hs_collector_point_unit(const struct hs_collector_config *config,
		const struct hs_collect_flow *flow, const struct hs_collect_point *point);

// Return the words of lib/collect's enums.
const char *hs_collector_kind_name(enum hs_collect_point_kind kind);
const char *hs_collector_cause_name(enum hs_collect_cause cause);
