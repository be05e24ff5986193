// SPDX-License-Identifier: BSD-3-Clause
// The headers of all versions as numbers, for writer and reader.
//
// Thread rule: any; values.
#pragma once

#include "bytes.h"

#include <stdint.h>

// A header has the members that its rows of int_report_fields.def name.
struct hs_int_report_head {
	uint32_t version;
	uint32_t type;	 // RepType
	uint32_t next;	 // NProto, NProt or InType: what follows
	uint32_t length; // in words
	uint32_t md_length;
	uint32_t md_bits;
	uint32_t dropped;
	uint32_t congested;
	uint32_t tracked;
	uint32_t intermediate;
	uint32_t hw_id;
	uint32_t node_id;
	uint32_t sequence;
	uint32_t ingress_ns;
	uint32_t domain_id;
	uint32_t domain_bits;
	uint32_t domain_status;
};

enum {
	HS_INT_REPORT_0_5_BYTES = 12,
	HS_INT_REPORT_0_5_DROP_BYTES = 12,
	HS_INT_REPORT_0_5_LOCAL_BYTES = 16,
	HS_INT_REPORT_1_0_BYTES = 16,
	HS_INT_REPORT_2_0_GROUP_BYTES = 8,
	HS_INT_REPORT_2_0_BYTES = 4,
	HS_INT_REPORT_2_0_MAIN_BYTES = 8,
	HS_INT_REPORT_MAX_HEAD = HS_INT_REPORT_1_0_BYTES,
};

enum hs_int_report_0_5_next {
	HS_INT_REPORT_0_5_ETHERNET,
	HS_INT_REPORT_0_5_DROP,
	HS_INT_REPORT_0_5_LOCAL,
};

// HS_HEAD_PUT(words, head, row) writes a row of a header in words of 32 bits, and HS_HEAD_GET reads
// it.
#define HS_HEAD_SHIFT(first, bits) (32 - (first) % 32 - (bits))
#define HS_HEAD_MASK(bits)	   (UINT32_MAX >> (32 - (bits)))
#define HS_HEAD_PUT(words, head, first, bits, member)                                              \
	(words)[(first) / 32] |= ((head)->member & HS_HEAD_MASK(bits))                             \
				 << HS_HEAD_SHIFT(first, bits);
#define HS_HEAD_GET(words, head, first, bits, member)                                              \
	(head)->member = (words)[(first) / 32] >> HS_HEAD_SHIFT(first, bits) & HS_HEAD_MASK(bits);

// Return the bytes of the values of a bitmap of 1.0 or 2.0, without the values of a domain.
static inline uint32_t hs_int_report_1_0_value_bytes(uint32_t md_bits)
{
	uint32_t n = 0;
#define HS_REPORT_1_0_VALUE(mask, bytes, member, has, name) n += md_bits & (mask) ? (bytes) : 0u;
#define HS_REPORT_1_0_PAD(mask, bytes)			    n += md_bits & (mask) ? (bytes) : 0u;
#include "int_report_fields.def"
	return n;
}

static inline uint32_t hs_int_report_2_0_value_bytes(uint32_t md_bits)
{
	uint32_t n = 0;
#define HS_REPORT_2_0_VALUE(mask, bytes, member, has, name) n += md_bits & (mask) ? (bytes) : 0u;
#define HS_REPORT_2_0_PAD(mask, bytes)			    n += md_bits & (mask) ? (bytes) : 0u;
#include "int_report_fields.def"
	return n;
}
