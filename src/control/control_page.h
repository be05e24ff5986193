// SPDX-License-Identifier: BSD-3-Clause
// What control knows, as a page for Prometheus.
//
// Thread rule: owner (the control thread).
#pragma once

#include "prometheus.h"

struct hs_control;

// Adds the counters of the node and of its rules; then, of each monitored rule, the newest window
// of the usual length (hs_qos_lengths_usual) and the delays of all of its reports. Series of whole
// paths come before series of hops. If a rule has no room left, one series is counted as left out.
void hs_control_page(struct hs_control *control, struct hs_prometheus *page);
