// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports to receivers without a port, which control sends: at most HS_EXPORTS_PER_S in a
// second. Further reports wait in the workers' rings, and are lost when the rings are full.
//
// Thread rule: owner (the control thread).
#pragma once

#include "metric.h"

#include <stdbool.h>

struct hs_control;

#define HS_EXPORTS_PER_S 100000

void hs_control_open_exports(struct hs_control *control);
// Sends reports that wait, in portions that leave time for requests; `all`: without these limits.
// Returns how many reports no longer wait.
unsigned hs_control_send_exports(struct hs_control *control, bool all);
// Reports lost telemetry reports as events.
void hs_control_watch_exports(struct hs_control *control, const struct hs_node_totals *totals);
