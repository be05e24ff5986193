// SPDX-License-Identifier: BSD-3-Clause
// The hash of keys: a sum of products of key words and secret words. Without the secret, nobody can
// choose keys that collide.
//
// Source: Black et al., UMAC (1999), for the sums.
// Thread rule: any; pure functions.
#pragma once

#include <stdint.h>
#include <string.h>

#define HS_COLLECT_SECRETS 8

struct hs_collect_secret {
	uint64_t words[HS_COLLECT_SECRETS];
};

static inline uint64_t hs_collect_fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hs_collect_word(const void *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static inline uint32_t hs_collect_hash_end(const struct hs_collect_secret *secret, uint64_t sum)
{
	return (uint32_t)(hs_collect_fold(sum ^ secret->words[6], secret->words[7]) >> 16);
}

// Hashes two words.
static inline uint32_t hs_collect_hash_2(
		const struct hs_collect_secret *secret, uint32_t a, uint32_t b)
{
	uint64_t word = (uint64_t)a << 32 | b;

	return hs_collect_hash_end(
			secret, hs_collect_fold(word ^ secret->words[0], secret->words[1]));
}

// Hashes six words.
static inline uint32_t hs_collect_hash_6(const struct hs_collect_secret *secret, uint64_t a,
		uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	const uint64_t *words = secret->words;

	return hs_collect_hash_end(
			secret, hs_collect_fold(a ^ words[0], b ^ words[1]) +
						hs_collect_fold(c ^ words[2], d ^ words[3]) +
						hs_collect_fold(e ^ words[4], f ^ words[5]));
}

static inline void hs_collect_secret_init(struct hs_collect_secret *secret, const uint64_t from[4])
{
	for (unsigned i = 0; i < HS_COLLECT_SECRETS; i++) {
		uint64_t z = from[i % 4] + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		secret->words[i] = (z ^ z >> 31) | 1;
	}
}
