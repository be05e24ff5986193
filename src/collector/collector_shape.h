// SPDX-License-Identifier: BSD-3-Clause
// The tables of a collector as JSON, for its replies and publications. Each function returns a new
// reference, or NULL if memory is out.
//
// Thread rule: any; pure functions.
#pragma once

#include "collector_config.h"

#include "schema.h"

#define HS_COLLECTOR_ADDRESS_TEXT 48

extern const struct hs_schema_field hs_collector_flow_fields[], hs_collector_queue_fields[],
		hs_collector_link_fields[], hs_collector_drop_fields[],
		hs_collector_exporter_fields[], hs_collector_key_fields[];

json_t *hs_collector_flow_json(
		const struct hs_collector_config *config, const struct hs_collect_flow *flow);
json_t *hs_collector_queue_json(
		const struct hs_collector_config *config, const struct hs_collect_queue *queue);
json_t *hs_collector_link_json(
		const struct hs_collector_config *config, const struct hs_collect_link *link);
json_t *hs_collector_drop_json(const struct hs_collect_drop *drop);
json_t *hs_collector_exporter_json(const struct hs_collector_config *config,
		const struct hs_collect_exporter *exporter);
// Returns a flow with its key alone.
json_t *hs_collector_key_json(const struct hs_collect_flow_key *key);

// Writes "10.0.0.1:5000 -> 10.0.0.2:5000", which is cut if the text is too long.
void hs_collector_key_text(const struct hs_collect_flow_key *key, char *text, size_t size);
// Returns the unit of a flow's latency, or "mixed" if its hops have different units.
const char *hs_collector_flow_unit(
		const struct hs_collector_config *config, const struct hs_collect_flow *flow);

// Returns the name of a listener: its address, or its port's name.
const char *hs_collector_listener_name(const struct hs_collector_config *config, unsigned listener,
		char text[HS_SCHEMA_TEXT_BYTES]);

// Return the words of lib/collect's enums.
const char *hs_collector_refusal_name(enum hs_collect_refusal reason);
const char *hs_collector_refusal_text(enum hs_collect_refusal reason);
