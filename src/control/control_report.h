// SPDX-License-Identifier: BSD-3-Clause
// Reports, from the rings of the workers and from packets, to the monitor and to subscribers.
//
// Thread rule: owner (the control thread).
#pragma once

#include "report.h"
#include "report_cbor.h"

struct hs_control;

// Takes at most `at_most` reports from the rings. Returns the number taken.
unsigned hs_control_drain(struct hs_control *control, unsigned at_most);
// Returns the present number of reports in the workers' rings.
unsigned hs_control_waiting(const struct hs_control *control);
// Takes a report that came back in a packet.
void hs_control_take_returned(struct hs_control *control, const struct hs_report *report,
		const struct hs_report_sender *sender);
