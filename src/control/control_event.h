// SPDX-License-Identifier: BSD-3-Clause
// What control publishes: events, reports and windows.
//
// Thread rule: owner (the control thread).
#pragma once

#include "event_log.h"
#include "qos_window.h"
#include "report.h"

#include <jansson.h>
#include <stdint.h>

struct hs_control;

// Records and publishes an event. `owner` is the control.
hs_event_fn hs_control_event;

// Publishes a report. Returns 0, or a negative errno if the message was lost.
int hs_control_publish_report(struct hs_control *control, const struct hs_report *report,
		uint32_t app_id, uint16_t sink_node_id);
// Publishes a window of the monitor.
void hs_control_publish_window(struct hs_control *control, const struct hs_qos_window *window);
