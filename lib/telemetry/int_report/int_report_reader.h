// SPDX-License-Identifier: BSD-3-Clause
// Reads telemetry reports from a datagram's payload, one by one. The bytes need not be valid.
//
// Thread rule: owner of the reader. Nothing allocates. Pointers in reports point into the payload.
#pragma once

#include "int_report.h"

#include <stddef.h>
#include <stdint.h>

// The formats that a reader takes.
enum hs_int_report_take {
	HS_INT_REPORT_TAKE_0_5 = 1 << 0,
	HS_INT_REPORT_TAKE_1_0 = 1 << 1,
	HS_INT_REPORT_TAKE_2_0 = 1 << 2,
	// Version number 1 is 0.5, as INTCollector's generator writes it. Excludes 1.0.
	HS_INT_REPORT_TAKE_1_AS_0_5 = 1 << 3,
	// A length of 1.0 below the fixed header's stands for the fixed header, as this generator
	// writes it.
	HS_INT_REPORT_TAKE_SHORT_1_0 = 1 << 4,
};

struct hs_int_report_reader {
	const uint8_t *bytes; // the payload
	size_t len;
	size_t at; // of the next report
	enum hs_int_report_version version;
	uint16_t takes;
	uint8_t hw_id; // this and the next two: of all reports of a datagram of 2.0
	uint32_t node_id;
	uint32_t sequence;
	uint32_t skipped; // reports of types whose contents are not defined: IOAM and reserved ones
	// The part after the values of the last report, of the kind `inner`. A copy of a packet may
	// end at any byte. 2.0 adds up to three zeros; their number follows from the packet's own
	// length.
	size_t packet_at;
	size_t packet_bytes;
	// The length of the values does not match their bitmap. 1.0: the values were not read. 2.0:
	// the report is malformed, because it has fewer values than the bitmap names.
	bool mismatch;
};

// Begins to read. Returns 0, -EBADMSG: the payload is too short, or -EPROTONOSUPPORT: its version
// is not one of `takes`.
int hs_int_report_open(
		struct hs_int_report_reader *r, const uint8_t *bytes, size_t len, uint16_t takes);

// Reads the next report. Returns 1, 0 at the end, or -EBADMSG: the report is malformed. After that,
// the next call returns the report after it if its length is usable, or else the end.
int hs_int_report_next(struct hs_int_report_reader *r, struct hs_int_report *report);

// A part of contents of kind HS_INT_INNER_TLV.
struct hs_int_report_tlv {
	uint8_t inner;	   // enum hs_int_inner, or HS_INT_INNER_RESERVED
	uint16_t template; // of extension data
	size_t at;	   // in the payload
	size_t bytes;
};

#define HS_INT_INNER_RESERVED UINT8_MAX

// Reads the next part of contents that begin at *cursor and end at `end`, and advances *cursor.
// Returns 1, 0 at the end, or -EBADMSG: the part goes beyond the end.
int hs_int_report_tlv_next(const struct hs_int_report_reader *r, size_t *cursor, size_t end,
		struct hs_int_report_tlv *tlv);
