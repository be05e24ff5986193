// SPDX-License-Identifier: BSD-3-Clause
// What control publishes: events, reports and windows.
//
// Thread rule: owner (the control thread).
#pragma once

#include "qos_window.h"
#include "report.h"

#include <jansson.h>
#include <stdint.h>

struct hs_control;

// Records and publishes an event. `details` has further members: NULL, or a reference that is taken
// over.
void hs_control_event(struct hs_control *control, const char *kind, json_t *details,
		const char *format, ...) __attribute__((format(printf, 4, 5)));

// Publishes a report. Returns 0, or a negative errno if the message was lost.
int hs_control_publish_report(struct hs_control *control, const struct hs_report *report,
		uint32_t app_id, uint16_t sink_node_id);
// Publishes a window of the monitor.
void hs_control_publish_window(struct hs_control *control, const struct hs_qos_window *window);
