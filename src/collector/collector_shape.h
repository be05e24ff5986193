// SPDX-License-Identifier: BSD-3-Clause
// What a collector knows, as JSON: the tables of its replies and publications. Each function
// returns a new reference, or NULL if memory is out.
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
// A flow by its key alone.
json_t *hs_collector_key_json(const struct hs_collect_flow_key *key);

// "10.0.0.1:5000 -> 10.0.0.2:5000"; cut where it does not fit.
void hs_collector_key_text(const struct hs_collect_flow_key *key, char *text, size_t size);
// The unit of a flow's latency; "mixed" where its hops have different ones.
const char *hs_collector_flow_unit(
		const struct hs_collector_config *config, const struct hs_collect_flow *flow);

// The name of a listener: its address, or its port's name.
const char *hs_collector_listener_name(const struct hs_collector_config *config, unsigned listener,
		char text[HS_SCHEMA_TEXT_BYTES]);

// Words of lib/collect's enums.
const char *hs_collector_refusal_name(enum hs_collect_refusal reason);
const char *hs_collector_refusal_text(enum hs_collect_refusal reason);
