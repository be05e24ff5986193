// SPDX-License-Identifier: BSD-3-Clause
// The raw report as JSON: {"int_report": {...}}. One description (a walk over the report, driven
// by the table of fields) with two writers: jansson values, and text straight into a buffer, which
// is what a publisher of many thousand reports a second can afford.
//
// Thread rule: any; pure functions.
#pragma once

#include "report.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

// Who publishes: goes into every published message.
struct hs_report_origin {
	uint64_t seq; // of this publisher
	uint16_t node_id;
	const char *boot_id; // printable ASCII without quotes and backslashes
};

// Bytes that hs_report_text needs at most, the terminating 0 included.
#define HS_REPORT_TEXT_BYTES 16384

// `origin` NULL leaves out seq, node_id and boot_id. sink_node_id is that of the node that took
// the telemetry out. Owner: caller. NULL: out of memory.
json_t *hs_report_json(const struct hs_report *report, uint32_t app_id, uint16_t sink_node_id,
		const struct hs_report_origin *origin);

// The same, compact, as text with a terminating 0. Returns its length without the 0, or -ENOSPC.
int hs_report_text(const struct hs_report *report, uint32_t app_id, uint16_t sink_node_id,
		const struct hs_report_origin *origin, char *text, size_t size);
