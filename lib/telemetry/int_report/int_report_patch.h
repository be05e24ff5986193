// SPDX-License-Identifier: BSD-3-Clause
// Changes a datagram of one report that int_report_writer.h wrote, for packets with the same
// values: the sequence number and the lengths.
//
// Thread rule: owner of the bytes.
#pragma once

#include "int_report.h"
#include "int_report_head.h"

#include <stddef.h>

static inline uint8_t *hs_int_report_sequence_word(
		enum hs_int_report_version version, uint8_t *datagram)
{
	static const uint8_t at[] = {4, 8, 0};
	return datagram + at[version];
}

// Returns the bits of a sequence number in this word.
static inline uint32_t hs_int_report_sequence_mask(enum hs_int_report_version version)
{
	return version == HS_INT_REPORT_2_0 ? 0x3fffff : UINT32_MAX;
}

// Writes a sequence number into a datagram whose number is 0. Returns the number as on the wire.
static inline uint32_t hs_int_report_patch_sequence(
		enum hs_int_report_version version, uint8_t *datagram, uint32_t sequence)
{
	uint8_t *word = hs_int_report_sequence_word(version, datagram);

	sequence &= hs_int_report_sequence_mask(version);
	hs_be32_store(word, hs_be32_load(word) | sequence);
	return sequence;
}

// Replaces the sequence number of a datagram.
static inline void hs_int_report_renumber(
		enum hs_int_report_version version, uint8_t *datagram, uint32_t sequence)
{
	uint8_t *word = hs_int_report_sequence_word(version, datagram);

	hs_be32_store(word, hs_be32_load(word) & ~hs_int_report_sequence_mask(version));
	hs_int_report_patch_sequence(version, datagram, sequence);
}

// Writes the length of a report that is followed by packet_bytes of a packet. report_bytes include
// the datagram's header. Returns packet_bytes with their padding.
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
