// SPDX-License-Identifier: BSD-3-Clause
// The report as it travels back in band (option 0x33), in CBOR with small integer keys:
//
//   {0: ns_id, 1: trace_type, 2: [e2e values in bit order], 3: [sink_ts, rx_packets, rx_bytes],
//    4: [[node_id, bitmap, values in bit order...], ...]   source to sink
//    5: app_id, 6: node id of the sink}
//
// The e2e bitmap is the known bits of the upper half of trace_type. Key 0 comes first, so that a
// node on the way finds the namespace without reading the rest. A report longer than one option is
// cut over consecutive options of one header and put together again in order.
//
// Source: 000_616928c59136b059.txt section III-D; RFC 8949. docs/wire-flexint.md has the bytes.
// Thread rule: any; pure functions, no allocation for any input of a peer.
#pragma once

#include "error.h"
#include "flexint.h"
#include "report.h"

#include <stddef.h>
#include <stdint.h>

// The capacity of eight options of one header. The report of telemetry in one option (255 bytes) is
// never longer.
#define HS_REPORT_CBOR_BYTES 2024

// The node that sent the report back.
struct hs_report_sender {
	uint32_t app_id;
	uint16_t sink_node_id;
};

// Returns the length, or -ENOSPC.
int hs_report_to_cbor(const struct hs_report *report, const struct hs_report_sender *sender,
		uint8_t *bytes, size_t size);

// Reads and checks one report. Keys may come in any order, unknown keys are dropped, and 5 and 6
// may be missing (0). These are errors: a missing key of 0 to 4, a value out of its field's range,
// namespace 0, more than HS_FLEXINT_MAX_HOPS hops, and trailing bytes. Returns 0, or -EINVAL with
// *err ("not_cbor", "missing_field", "duplicate_key", "wrong_type", "out_of_range"); *report is
// then undefined.
int hs_report_from_cbor(const uint8_t *bytes, size_t len, struct hs_report *report,
		struct hs_report_sender *sender, struct hs_error *err);

// Returns the namespace of a report, or of the first of its options, from the first bytes alone.
// The work is bounded, for workers. Returns 0 if the bytes do not begin such a report.
uint32_t hs_report_cbor_ns_id(const uint8_t *bytes, size_t len);
