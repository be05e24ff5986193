// SPDX-License-Identifier: BSD-3-Clause
// Lines that a collector writes to databases: events as they happen, and its counters at intervals.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

#include "influx.h"

struct hs_collector_influx;

// Opens the databases. Without databases *influx is NULL, which every function here accepts.
// Returns 0, or a negative errno with *err.
int hs_collector_influx_open(struct hs_collector *collector, struct hs_collector_influx **influx,
		struct hs_error *err);
// Writes the counters once more, and the lines that wait.
void hs_collector_influx_close(struct hs_collector_influx *influx);

// Takes an event of the tables. Its lines leave with the next step.
void hs_collector_influx_event(
		struct hs_collector_influx *influx, const struct hs_collect_event *event);
// Hands over lines, and writes the counters that are due. `now_ns` is the system's time.
void hs_collector_influx_step(struct hs_collector_influx *influx, int64_t now_ns);
