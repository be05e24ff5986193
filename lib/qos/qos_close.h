// SPDX-License-Identifier: BSD-3-Clause
// Windows that end.
//
// Thread rule: owner.
#pragma once

#include "qos_window.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_qos;
struct hs_qos_flow;

// Closes the windows that ended lateness_ns ago or earlier: some 20 us for each flow with a hundred
// reports. Costs nothing between window ends. With flows_per_advance, call it again while
// hs_qos_next_ns is not later than now.
void hs_qos_advance(struct hs_qos *qos, int64_t now_ns);

// When hs_qos_advance has something to do next; INT64_MAX: nothing before the next report.
int64_t hs_qos_next_ns(const struct hs_qos *qos);

// Hands out what is open of all flows, which stay: before exit, at the end of a test.
void hs_qos_flush(struct hs_qos *qos);

// ---- for lib/qos only ----

// Counts and adds up the reports that were only placed.
void hs_qos_settle(struct hs_qos *qos, struct hs_qos_flow *flow);

// A flow with a window to close, the next one that of this tag; and one without.
void hs_qos_activate(struct hs_qos *qos, struct hs_qos_flow *flow, int64_t tag);
void hs_qos_deactivate(struct hs_qos *qos, struct hs_qos_flow *flow);
// Closes the windows that end where the flow's next shortest window does.
void hs_qos_close_next(struct hs_qos *qos, struct hs_qos_flow *flow);
// Hands out whatever is open, ended or not.
void hs_qos_flush_flow(struct hs_qos *qos, struct hs_qos_flow *flow);
// What is known of the clocks of a window.
void hs_qos_fill_clock(const struct hs_qos *qos, struct hs_qos_window *window, bool stepped);
