// SPDX-License-Identifier: BSD-3-Clause
// The flows of one application together: both directions, the round trip, the worst hops
// (docs/metrics.md, rules 19 and 23).
//
// Thread rule: owner of the monitor.
#pragma once

#include "qos.h"
#include "round_trip.h"
#include "rule.h"
#include "schema.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

// The most flows in one answer. Each flow is compared with each other, and has a window in the
// answer.
#define HS_QOS_APP_FLOWS 256

struct hs_qos_app_flow {
	const struct hs_rule *rule;
	const json_t *window;	      // the content of its qos_report; NULL: none
	const struct hs_trips *trips; // of its newest reports; NULL: those that the monitor keeps
};

// Returns whether two rules are opposite directions of a flow: their addresses and ports are
// exchanged. Port 0 matches any port.
bool hs_qos_app_opposite(const struct hs_rule *a, const struct hs_rule *b);

// Returns {"app_id": ..., "flows": [...], "round_trip_ns": {...}, ...}. `flows` are those of the
// application, in any order. Round trips are computed from the `trips` of the flows, or from the
// newest reports that `qos` keeps of them. Reports older than window_ns before the newest are left
// out (0: none is). `left_out` counts flows of the application that are not in `flows`. The caller
// owns the result. Returns NULL if out of memory.
json_t *hs_qos_app_json(struct hs_qos *qos, uint32_t app_id, const struct hs_qos_app_flow *flows,
		size_t n, size_t left_out, int64_t window_ns);
extern const struct hs_schema_field hs_qos_app_fields[];
