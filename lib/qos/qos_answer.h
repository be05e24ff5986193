// SPDX-License-Identifier: BSD-3-Clause
// What is asked of a flow at any time.
//
// Thread rule: owner.
#pragma once

#include "qos_window.h"
#include "report.h"

#include <stdint.h>

struct hs_qos;

// The newest finished window of this length; NULL: none yet, or silent for stale_ns (or not
// monitored), as of the latest hs_qos_advance. window_ns 0: the run so far, from the first report
// to the newest, open windows included. Valid until the next call on the monitor.
const struct hs_qos_window *hs_qos_latest(struct hs_qos *qos, uint32_t ns_id, int64_t window_ns);

// A window of any place and length, computed from the newest HS_QOS_REPORTS reports. NULL: no
// report in it, or out of memory. Valid until the next call on the monitor.
const struct hs_qos_window *hs_qos_slide(
		struct hs_qos *qos, uint32_t ns_id, int64_t start_ns, int64_t end_ns);

// Calls back for the newest n reports of a flow, oldest first; returns how many. The report is
// valid during the call.
unsigned hs_qos_reports(struct hs_qos *qos, uint32_t ns_id, unsigned n,
		void (*each)(void *user, const struct hs_report *report), void *user);
