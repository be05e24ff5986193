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
// Thread rule: any; pure functions, no allocation whatever a peer sends.
#pragma once

#include "error.h"
#include "flexint.h"
#include "report.h"

#include <stddef.h>
#include <stdint.h>

// What eight options of one header carry, more than telemetry of one option (255 bytes) becomes.
#define HS_REPORT_CBOR_BYTES 2024

// Who sent it back.
struct hs_report_sender {
	uint32_t app_id;
	uint16_t sink_node_id;
};

// Returns the length, or -ENOSPC.
int hs_report_to_cbor(const struct hs_report *report, const struct hs_report_sender *sender,
		uint8_t *bytes, size_t size);

// Reads and checks one: keys come in any order, unknown ones are dropped, 5 and 6 may be missing
// (0); a missing one of 0 to 4, a value out of its field's range, namespace 0, hops beyond
// HS_FLEXINT_MAX_HOPS and trailing bytes are errors. 0 or -EINVAL with *err ("not_cbor",
// "missing_field", "duplicate_key", "wrong_type", "out_of_range"); *report is then undefined.
int hs_report_from_cbor(const uint8_t *bytes, size_t len, struct hs_report *report,
		struct hs_report_sender *sender, struct hs_error *err);

// The namespace of a report, or of the first of its options, from the first bytes alone: bounded,
// for workers. 0 where they are not such a report's.
uint32_t hs_report_cbor_ns_id(const uint8_t *bytes, size_t len);
