// SPDX-License-Identifier: BSD-3-Clause
// What the monitor knows, on a page for Prometheus.
//
// Thread rule: owner (the control thread).
#pragma once

#include "prometheus.h"

#include <stdint.h>

struct control_rules;
struct hs_qos;

// Adds, of each monitored rule, the newest window of this length and the delays of all of its
// reports. Series of whole paths come before series of hops. If a rule has no room left, one series
// is counted as left out.
void hs_control_page_rules(struct hs_prometheus *page, const struct control_rules *rules,
		struct hs_qos *qos, int64_t window_ns);
