// SPDX-License-Identifier: BSD-3-Clause
// Events of a collector as lines (docs/influx.md): hopsight_flow, hopsight_flow_hop,
// hopsight_queue, hopsight_link and hopsight_drop; or the names of INTCollector, one line a value.
//
// Thread rule: any; the structs belong to the caller.
#pragma once

#include "influx_config.h"
#include "influx_text.h"

#include "collect.h"

#include <stdint.h>

// Adds the points of an event in the form that the database asks for. No two events have the same
// time, so that none replaces another: *last_ns is that of the last one. `collector` is its name.
void hs_influx_collect(struct hs_influx_text *text, const char *collector,
		const struct hs_influx_config *config, const struct hs_collect_event *event,
		int64_t *last_ns);
