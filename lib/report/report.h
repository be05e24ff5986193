// SPDX-License-Identifier: BSD-3-Clause
// The report: the telemetry that a sink read from one packet. It exists as a record of fixed size,
// which a worker writes into a ring, and as a decoded form for computations.
//
// Source: 000_616928c59136b059.txt section III-E. Thread rule: any; values.
#pragma once

#include "telemetry_model.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define HS_REPORT_RECORD_BYTES 320

// The raw form: the sink's own values, and the bytes of the telemetry as they came. A worker writes
// it with one bounded copy. Only the control thread decodes and checks it.
struct hs_report_record {
	uint32_t rule_slot;	  // index in the node's rule table, and its generation: a record
	uint32_t rule_generation; // of a replaced rule is not taken for one of the new rule
	int64_t sink_ts_ns;	  // receive time at the sink
	uint64_t sink_rx_packets; // of the flow, including this packet
	uint64_t sink_rx_bytes;
	uint8_t trace_len; // bytes with the hops in data[0 ...]; flexint: option 0x31's data
	uint8_t e2e_len;   // bytes of the source after them; flexint: option 0x11's data
	uint8_t family;	   // enum hs_telemetry_number: the family that decodes it
	uint8_t reserved;
	uint8_t data[HS_REPORT_RECORD_BYTES - 36];
};
static_assert(sizeof(struct hs_report_record) == HS_REPORT_RECORD_BYTES, "record size");
static_assert(offsetof(struct hs_report_record, data) == 36, "record layout");

// The decoded form. telemetry.hops[] is in wire order: the hop nearest the sink comes first.
struct hs_report {
	struct hs_decoded telemetry;
	int64_t sink_ts_ns;
	uint64_t sink_rx_packets;
	uint64_t sink_rx_bytes;
};

// Decodes a record of this family's telemetry. `family` NULL: the family is not known. Returns 0,
// or -EBADMSG: the family is NULL, the lengths exceed the record, or the family's decoder refuses
// the bytes.
int hs_report_decode(const struct hs_report_record *record,
		const struct hs_telemetry_family *family, struct hs_report *report);
