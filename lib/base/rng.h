// SPDX-License-Identifier: BSD-3-Clause
// A small seeded generator (xorshift64*, Vigna 2016) for sampling and link models. It is fast
// enough for one draw per packet and gives the same sequence for the same seed on any machine. It
// is not for secrets.
//
// Thread rule: owner; one generator per worker.
#pragma once

#include <stdint.h>

struct hs_rng {
	uint64_t state;
};

// Any seed is good: splitmix64 mixes it, so that the state is never zero.
static inline void hs_rng_init(struct hs_rng *rng, uint64_t seed)
{
	uint64_t z = seed + 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	rng->state = z ? z : 1;
}

static inline uint64_t hs_rng_u64(struct hs_rng *rng)
{
	uint64_t x = rng->state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	rng->state = x;
	return x * 0x2545f4914f6cdd1du;
}

static inline uint32_t hs_rng_u32(struct hs_rng *rng)
{
	return (uint32_t)(hs_rng_u64(rng) >> 32);
}
