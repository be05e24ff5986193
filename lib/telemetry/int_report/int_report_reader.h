// SPDX-License-Identifier: BSD-3-Clause
// Reads telemetry reports out of a datagram's payload, one by one. The bytes may be anything.
//
// Thread rule: owner of the reader. Nothing allocates; what is read points into the payload.
#pragma once

#include "int_report.h"

#include <stddef.h>
#include <stdint.h>

// What a reader takes.
enum hs_int_report_take {
	HS_INT_REPORT_TAKE_0_5 = 1 << 0,
	HS_INT_REPORT_TAKE_1_0 = 1 << 1,
	HS_INT_REPORT_TAKE_2_0 = 1 << 2,
	// Version number 1 is 0.5, as INTCollector's generator writes it. Excludes 1.0.
	HS_INT_REPORT_TAKE_1_AS_0_5 = 1 << 3,
	// A length of 1.0 below the fixed header's means the fixed header, as this generator has
	// it.
	HS_INT_REPORT_TAKE_SHORT_1_0 = 1 << 4,
};

struct hs_int_report_reader {
	const uint8_t *bytes; // the payload
	size_t len;
	size_t at; // of the next report
	enum hs_int_report_version version;
	uint16_t takes;
	uint8_t hw_id; // of all reports of a datagram of 2.0, as the next two
	uint32_t node_id;
	uint32_t sequence;
	uint32_t skipped; // reports of types whose contents are not defined: IOAM and reserved ones
	// Of the report that was read last: what is behind its values, as `inner` says. A copy of a
	// packet may end at any byte. 2.0 fills it with up to three zeros; the packet's own length
	// says how many.
	size_t packet_at;
	size_t packet_bytes;
	// The length of the values and their bitmap disagree. 1.0: they were not read. 2.0: the
	// report is malformed, because it has less than the bitmap names.
	bool mismatch;
};

// Begins to read. Returns 0, -EBADMSG where the payload is too short, or -EPROTONOSUPPORT where its
// version is not one of those to take.
int hs_int_report_open(
		struct hs_int_report_reader *r, const uint8_t *bytes, size_t len, uint16_t takes);

// Reads the next report. Returns 1, 0 at the end, or -EBADMSG where a report is malformed: the next
// call returns the report behind it, where its length says where it ends, or else the end.
int hs_int_report_next(struct hs_int_report_reader *r, struct hs_int_report *report);

// Contents of kind HS_INT_INNER_TLV.
struct hs_int_report_tlv {
	uint8_t inner;	   // enum hs_int_inner, or HS_INT_INNER_RESERVED
	uint16_t template; // of extension data
	size_t at;	   // in the payload
	size_t bytes;
};

#define HS_INT_INNER_RESERVED UINT8_MAX

// Returns the next part of contents that begin at *cursor and end at `end`, and moves *cursor. 1, 0
// at the end, -EBADMSG where a part goes beyond it.
int hs_int_report_tlv_next(const struct hs_int_report_reader *r, size_t *cursor, size_t end,
		struct hs_int_report_tlv *tlv);
