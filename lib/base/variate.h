// SPDX-License-Identifier: BSD-3-Clause
// Random numbers of given distributions from a seeded generator, the same to the last bit on any
// machine. The functions use only IEEE additions, multiplications, divisions and square roots,
// which are rounded exactly. libm's log and exp differ between versions and processors.
//
// Thread rule: owner of the generator.
#pragma once

#include "rng.h"

#include <stdbool.h>
#include <stdint.h>

// Draws uniformly from [0, n) without bias. n is above 0.
uint64_t hs_variate_below(struct hs_rng *rng, uint64_t n);

// Draws uniformly from (0, 1), without both ends: odd multiples of 2^-53.
double hs_variate_unit(struct hs_rng *rng);

// Returns true with this probability: never at 0 and below, always at 1 and above. Each call draws
// once.
bool hs_variate_chance(struct hs_rng *rng, double probability);

// Draws from the exponential distribution with this mean.
double hs_variate_exponential(struct hs_rng *rng, double mean);

// Draws from the normal distribution with mean 0 and standard deviation 1 (Marsaglia's polar
// method, one value a call).
double hs_variate_normal(struct hs_rng *rng);

// Draws from the normal distribution with mean 0 and this standard deviation (0 to 2^57: the
// farthest draw is 12 of them), rounded to the nearest integer. All callers convert draws to
// integers here, so that no caller's compiler flags decide the last bit.
int64_t hs_variate_normal_int(struct hs_rng *rng, int64_t sigma);

// Returns the natural logarithm of a finite x > 0, to two units in the last place.
double hs_variate_log(double x);
