// SPDX-License-Identifier: BSD-3-Clause
// One's complement sums of 16-bit words in network order, inlined.
//
// Source: RFC 1071.
// Thread rule: any; pure functions.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Folds a sum to 16 bits. A half that is added to the other one in both halves of a word carries
// from the lower half to the upper one, which is the result.
static inline uint16_t hs_ip_sum_fold(uint64_t sum)
{
	sum += sum << 32 | sum >> 32;
	uint32_t word = (uint32_t)(sum >> 32);
	word += word << 16 | word >> 16;
	return (uint16_t)(word >> 16);
}

// Adds with the carry of one's complement.
static inline uint64_t hs_ip_sum_add(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

static inline uint64_t hs_ip_sum_eight(uint64_t sum, const uint8_t *at)
{
	uint64_t eight;

	memcpy(&eight, at, sizeof(eight));
	return hs_ip_sum_add(sum, eight);
}

// Adds 32 bytes. Compilers do not chain the carries.
static inline uint64_t hs_ip_sum_block(uint64_t sum, const uint8_t *at)
{
#ifdef __x86_64__
	__asm__("addq %1, %0\n\tadcq %2, %0\n\tadcq %3, %0\n\tadcq %4, %0\n\tadcq $0, %0"
			: "+&r"(sum)
			: "m"(*(const uint8_t(*)[8])at), "m"(*(const uint8_t(*)[8])(at + 8)),
			"m"(*(const uint8_t(*)[8])(at + 16)), "m"(*(const uint8_t(*)[8])(at + 24))
			: "cc");
	return sum;
#else
	sum = hs_ip_sum_eight(hs_ip_sum_eight(sum, at), at + 8);
	return hs_ip_sum_eight(hs_ip_sum_eight(sum, at + 16), at + 24);
#endif
}

// Sums words. An odd byte at the end is left out. The byte order does not matter until the sum is
// folded.
static inline uint16_t hs_ip_sum_even(const uint8_t *at, size_t bytes)
{
	uint64_t sum = 0;
	uint32_t word;
	uint16_t half;

	for (const uint8_t *end = at + bytes / 32 * 32; at != end; at += 32)
		sum = hs_ip_sum_block(sum, at);
	if (bytes & 16) {
		sum = hs_ip_sum_eight(hs_ip_sum_eight(sum, at), at + 8);
		at += 16;
	}
	if (bytes & 8) {
		sum = hs_ip_sum_eight(sum, at);
		at += 8;
	}
	if (bytes & sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = hs_ip_sum_add(sum, word);
		at += sizeof(word);
	}
	if (bytes & sizeof(half)) {
		memcpy(&half, at, sizeof(half));
		sum = hs_ip_sum_add(sum, half);
	}
	return __builtin_bswap16(hs_ip_sum_fold(sum));
}
