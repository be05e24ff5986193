// SPDX-License-Identifier: BSD-3-Clause
// Changes a datagram of one report that int_report_writer.h wrote: what differs from packet to
// packet where the values are the same.
//
// Thread rule: owner of the bytes.
#pragma once

#include "int_report.h"
#include "int_report_head.h"

#include <stddef.h>

// Writes a sequence number into a datagram that has 0. Returns the bits that it has on the wire.
static inline uint32_t hs_int_report_patch_sequence(
		enum hs_int_report_version version, uint8_t *datagram, uint32_t sequence)
{
	static const uint8_t at[] = {4, 8, 0};
	uint8_t *word = datagram + at[version];

	if (version == HS_INT_REPORT_2_0)
		sequence &= 0x3fffff;
	hs_be32_store(word, hs_be32_load(word) | sequence);
	return sequence;
}

// Writes the lengths of a datagram whose report, of so many bytes with the datagram's header, has
// so many bytes of a packet behind it. Returns these bytes with their padding.
static inline size_t hs_int_report_patch_copied(enum hs_int_report_version version,
		uint8_t *datagram, size_t report_bytes, size_t packet_bytes)
{
	if (version != HS_INT_REPORT_2_0)
		return packet_bytes;
	size_t padded = (packet_bytes + 3) & ~(size_t)3;
	size_t behind = (report_bytes - HS_INT_REPORT_2_0_GROUP_BYTES + padded) / 4 - 1;
	datagram[HS_INT_REPORT_2_0_GROUP_BYTES + 1] = (uint8_t)(behind < 0xff ? behind : 0xff);
	return padded;
}
