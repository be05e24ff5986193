// SPDX-License-Identifier: BSD-3-Clause
// Answers for a flow at any time.
//
// Thread rule: owner.
#pragma once

#include "qos_window.h"
#include "report.h"

#include <stdint.h>

struct hs_qos;

// Returns the newest finished window of this length, as of the latest hs_qos_advance. Returns NULL
// if no window has ended yet, or if the flow was silent for stale_ns or is not monitored. For a
// window_ns of 0, returns the run so far, from the first report to the newest, open windows
// included. The window is valid until the next call on the monitor.
const struct hs_qos_window *hs_qos_latest(struct hs_qos *qos, uint32_t ns_id, int64_t window_ns);

// Returns the window (start_ns, end_ns], computed from the reports that the flow still keeps: the
// newest HS_QOS_REPORTS, or some more or fewer by their length. Returns NULL if the window has no
// report, or out of memory. The window is valid until the next call on the monitor.
const struct hs_qos_window *hs_qos_slide(
		struct hs_qos *qos, uint32_t ns_id, int64_t start_ns, int64_t end_ns);

// Calls `each` for the newest n reports of a flow, oldest first. Returns how many there were. The
// report is valid during the call only.
unsigned hs_qos_reports(struct hs_qos *qos, uint32_t ns_id, unsigned n,
		void (*each)(void *user, const struct hs_report *report), void *user);
