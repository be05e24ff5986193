// SPDX-License-Identifier: BSD-3-Clause
// The raw report as JSON: {"int_report": {...}}. It is written as text directly into a buffer,
// which is fast enough for many thousand reports a second. It is read by tables of fields.
//
// Thread rule: any; pure functions.
#pragma once

#include "error.h"
#include "report.h"
#include "schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The publisher, which every published message names.
struct hs_report_origin {
	uint64_t seq; // sequence number of this publisher
	uint16_t node_id;
	const char *boot_id; // printable ASCII without quotes and backslashes
};

// The most bytes that hs_report_text needs, with the terminating 0.
#define HS_REPORT_TEXT_BYTES 32768

// Writes compact text with a terminating 0. An `origin` of NULL leaves out seq, node_id and
// boot_id. sink_node_id is the id of the node that removed the telemetry. Returns the length
// without the 0, or -ENOSPC.
int hs_report_text(const struct hs_report *report, uint32_t app_id, uint32_t sink_node_id,
		const struct hs_report_origin *origin, char *text, size_t size);

// Everything that a published report contains.
struct hs_report_message {
	struct hs_report report;
	uint32_t app_id;
	uint32_t sink_node_id;
	bool has_origin; // seq, node_id and boot_id are valid
	uint16_t node_id;
	uint64_t seq;
	char boot_id[40];
	char method[16], version[16]; // as published; empty: not in the message
};

// Reads {"int_report": {...}}. Ignores unknown members, because newer nodes may write more. These
// are errors: a missing member, a wrong type or range, a value that its hop's trace_type does not
// name, a missing value that it names, more than HS_TELEMETRY_MAX_HOPS hops, and a report that
// names another family. `family` gives the ranges of the values. Returns 0, or -EINVAL with *err
// ("missing_field", "wrong_type", "out_of_range") and a path such as "int_report.hops[2].ts_ns";
// then *message is undefined.
int hs_report_from_json(const json_t *json, const struct hs_telemetry_family *family,
		struct hs_report_message *message, struct hs_error *err);

// Finds the family of a published report by its method and version, in a list that ends with NULL.
// A report without a method is of the first family without versions. Returns NULL with *err if the
// list has no such family.
const struct hs_telemetry_family *hs_report_family(const json_t *json,
		const struct hs_telemetry_family *const *families, struct hs_error *err);

// Returns the JSON Schema of a report. New reference.
json_t *hs_report_schema(void);
