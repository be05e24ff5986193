// SPDX-License-Identifier: BSD-3-Clause
#include "variate.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// The method is that of Lemire, "Fast Random Integer Generation in an Interval" (2019). It needs
// one multiplication, and a division only if the draw is one of the few values that would bias the
// result.
uint64_t hs_variate_below(struct hs_rng *rng, uint64_t n)
{
	unsigned __int128 product = (unsigned __int128)hs_rng_u64(rng) * n;
	if ((uint64_t)product < n) {
		uint64_t biased = -n % n;
		while ((uint64_t)product < biased)
			product = (unsigned __int128)hs_rng_u64(rng) * n;
	}
	return (uint64_t)(product >> 64);
}

// The values are the middles of 2^52 equal parts. Each is exact in a double; 53 bits and a half
// would round the last one up to 1.
double hs_variate_unit(struct hs_rng *rng)
{
	return ((double)(hs_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

bool hs_variate_chance(struct hs_rng *rng, double probability)
{
	return hs_variate_unit(rng) < probability;
}

double hs_variate_exponential(struct hs_rng *rng, double mean)
{
	return -mean * hs_variate_log(hs_variate_unit(rng));
}

// The second value of the pair is discarded: to keep it would need state beside the generator.
double hs_variate_normal(struct hs_rng *rng)
{
	double u;
	double s;
	do {
		u = 2.0 * hs_variate_unit(rng) - 1.0;
		double v = 2.0 * hs_variate_unit(rng) - 1.0;
		s = u * u + v * v;
	} while (s >= 1.0);
	return u * sqrt(-2.0 * hs_variate_log(s) / s);
}

int64_t hs_variate_normal_int(struct hs_rng *rng, int64_t sigma)
{
	double x = hs_variate_normal(rng) * (double)sigma;
	return (int64_t)(x < 0.0 ? x - 0.5 : x + 0.5);
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh s = 2s (1 + s^2/3 + s^4/5 + ...) with
// s = (m - 1) / (m + 1), |s| < 0.172, so that the eleventh term is below half a unit in the last
// place. ln 2 comes in two parts, the first short enough that e times it is exact.
double hs_variate_log(double x)
{
	static const double LN2_HIGH = 0x1.62e42fee00000p-1;
	static const double LN2_LOW = 0x1.a39ef35793c76p-33;
	static const double TERMS[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
			1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3};
	static const uint64_t SQRT2_MANTISSA = 0x6a09e667f3bcd;

	int exponent = 0;
	if (x < 0x1p-1022) {
		x *= 0x1p54;
		exponent = -54;
	}
	uint64_t bits;
	memcpy(&bits, &x, sizeof(bits));
	uint64_t mantissa = bits & 0xfffffffffffff;
	uint64_t half = mantissa >= SQRT2_MANTISSA;
	exponent += (int)(bits >> 52) - 1023 + (int)half;
	bits = mantissa | (1023 - half) << 52;
	double m;
	memcpy(&m, &bits, sizeof(m));

	double s = (m - 1.0) / (m + 1.0);
	double z = s * s;
	double sum = 0.0;
	for (size_t i = 0; i < sizeof(TERMS) / sizeof(*TERMS); i++)
		sum = (sum + TERMS[i]) * z;
	double e = exponent;
	return e * LN2_HIGH + (2.0 * s + (2.0 * s * sum + e * LN2_LOW));
}
