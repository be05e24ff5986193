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

// In one answer: each is compared with each, and has a window of its own.
#define HS_QOS_APP_FLOWS 256

struct hs_qos_app_flow {
	const struct hs_rule *rule;
	const json_t *window;	      // the content of a qos_report of it; NULL: none
	const struct hs_trips *trips; // of its newest reports; NULL: those that the monitor keeps
};

// The opposite direction of a flow: addresses and ports exchanged, 0 stands for any port.
bool hs_qos_app_opposite(const struct hs_rule *a, const struct hs_rule *b);

// {"app_id": ..., "flows": [...], "round_trip_ns": {...}, ...}. The flows are those of the
// application, in any order. Round trips are of their `trips`, or of the newest reports that `qos`
// keeps of them, not older than window_ns before the newest (0: however old). `left_out` counts
// flows that are not among them. Owner: caller. NULL: out of memory.
json_t *hs_qos_app_json(struct hs_qos *qos, uint32_t app_id, const struct hs_qos_app_flow *flows,
		size_t n, size_t left_out, int64_t window_ns);
extern const struct hs_schema_field hs_qos_app_fields[];
