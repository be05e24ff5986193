// SPDX-License-Identifier: BSD-3-Clause
// One's complement sums of 16-bit words in network order.
//
// Source: RFC 1071.
// Thread rule: any; pure functions. For this folder and int_fast.h.
#pragma once

#include "bytes.h"
#include "checksum_change.h"

#include <stddef.h>
#include <stdint.h>

static inline uint16_t hs_int_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)((sum >> 16) + (sum & 0xffff));
}

// Sums an even number of bytes. The byte order does not matter until the sum is folded.
static inline uint16_t hs_int_sum(const uint8_t *at, size_t bytes)
{
	uint64_t sum = 0, eight;
	uint32_t word = 0;
	uint16_t half = 0;

	for (; bytes >= sizeof(eight); bytes -= sizeof(eight), at += sizeof(eight)) {
		memcpy(&eight, at, sizeof(eight));
		sum += eight;
		sum += sum < eight; // end-around carry
	}
	if (bytes & sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		at += sizeof(word);
	}
	if (bytes & sizeof(half))
		memcpy(&half, at, sizeof(half));
	sum = (sum >> 32) + (sum & 0xffffffff) + word + half;
	return __builtin_bswap16(hs_int_fold(sum));
}
