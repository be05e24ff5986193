// SPDX-License-Identifier: BSD-3-Clause
#include "checksum.h"

#include <rte_byteorder.h>
#include <rte_hash_crc.h>

#include <string.h>

// The offset of UDP's checksum. At this offset, 0 means that there is none (RFC 768, RFC 8200
// section 8.1), and 0xffff stands for the same sum. TCP has no such rule: its sum is stored as
// computed (RFC 9293).
#define UDP_CHECKSUM 6
// The offset of SCTP's checksum. No other protocol has its checksum there.
#define SCTP_CHECKSUM 8

uint64_t hs_checksum_add(uint64_t sum, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	uint64_t low = 0, high = 0;

	for (; n >= 16; at += 16, n -= 16) {
		uint64_t words[2];

		memcpy(words, at, sizeof(words));
		low += (words[0] & UINT32_MAX) + (words[1] & UINT32_MAX);
		high += (words[0] >> 32) + (words[1] >> 32);
	}
	sum += low + high;
	for (; n >= 2; at += 2, n -= 2) {
		uint16_t word;

		memcpy(&word, at, sizeof(word));
		sum += word;
	}
	if (n) {
		uint16_t word = 0;

		memcpy(&word, at, 1);
		sum += word;
	}
	return sum;
}

uint16_t hs_checksum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)sum;
}

// Returns the CRC32c. The bytes may be unaligned, which rte_hash_crc does not allow.
static uint32_t crc_of(const uint8_t *bytes, size_t n)
{
	uint32_t crc = UINT32_MAX;
	uint64_t word;

	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		crc = rte_hash_crc_8byte(word, crc);
	}
	for (; n > 0; n--)
		crc = rte_hash_crc_1byte(*bytes++, crc);
	return ~crc;
}

// Completes the CRC of SCTP. Linux leaves zeros in the field. The CRC is stored with its low byte
// first (RFC 9260).
static bool complete_sctp(uint8_t *sctp, size_t len)
{
	uint32_t sum = 0;

	if (len < SCTP_CHECKSUM + sizeof(sum))
		return false;
	memcpy(sctp + SCTP_CHECKSUM, &sum, sizeof(sum));
	sum = rte_cpu_to_le_32(crc_of(sctp, len));
	memcpy(sctp + SCTP_CHECKSUM, &sum, sizeof(sum));
	return true;
}

bool hs_checksum_complete(uint8_t *frame, size_t len, size_t start, size_t offset)
{
	if (start + offset + sizeof(uint16_t) > len)
		return false;
	if (offset == SCTP_CHECKSUM)
		return complete_sctp(frame + start, len - start);
	// The field's content is part of the sum, because it stands for the pseudo header.
	uint16_t sum = (uint16_t)~hs_checksum_fold(hs_checksum_add(0, frame + start, len - start));
	if (sum == 0 && offset == UDP_CHECKSUM)
		sum = UINT16_MAX;
	memcpy(frame + start + offset, &sum, sizeof(sum));
	return true;
}
