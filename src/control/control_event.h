// SPDX-License-Identifier: BSD-3-Clause
// What control publishes: events, reports and windows.
//
// Thread rule: owner (the control thread).
#pragma once

#include "event_log.h"
#include "qos_window.h"
#include "report.h"
#include "report_json.h"

#include <jansson.h>
#include <stdint.h>

struct hs_control_output;
struct hs_node_totals;

struct control_events { // the pointers are borrowed
	struct hs_event_log log;
	const struct hs_control_output *output;
	struct hs_node_totals *counts;
	const int64_t *now_ns; // control's present time
	const char *boot_id;
	uint16_t node_id;
	uint64_t seq; // number of published messages
	char text[HS_REPORT_TEXT_BYTES];
};

// Records and publishes an event. `owner` is a struct control_events.
hs_event_fn hs_control_event;

// Publishes a report. Returns 0, or a negative errno if the message was lost.
int hs_control_publish_report(struct control_events *events, const struct hs_report *report,
		uint32_t app_id, uint16_t sink_node_id);
// Publishes a window of the monitor.
void hs_control_publish_window(struct control_events *events, const struct hs_qos_window *window);
