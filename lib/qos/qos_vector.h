// SPDX-License-Identifier: BSD-3-Clause
// Four values of 32 bits, or two of 64, on which one instruction works at once.
//
// Thread rule: any; values.
#pragma once

#include <stdint.h>
#include <string.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#define LANES 4
typedef int32_t vector __attribute__((vector_size(4 * LANES)));
typedef uint32_t wide_vector __attribute__((vector_size(4 * LANES)));
typedef float real_vector __attribute__((vector_size(4 * LANES)));
typedef uint64_t pair __attribute__((vector_size(16)));

static inline vector load(const int32_t *from)
{
	vector values;
	memcpy(&values, from, sizeof(values));
	return values;
}

// These wrap around, because lanes without a use hold whatever their memory held.
static inline vector plus(vector a, vector b)
{
	return (vector)((wide_vector)a + (wide_vector)b);
}

static inline vector minus(vector a, vector b)
{
	return (vector)((wide_vector)a - (wide_vector)b);
}

#ifdef __SSE4_1__
static inline vector least(vector a, vector b)
{
	return (vector)_mm_min_epi32((__m128i)a, (__m128i)b);
}

static inline vector greatest(vector a, vector b)
{
	return (vector)_mm_max_epi32((__m128i)a, (__m128i)b);
}

static inline vector magnitude(vector a)
{
	return (vector)_mm_abs_epi32((__m128i)a);
}

static inline wide_vector greatest_wide(wide_vector a, wide_vector b)
{
	return (wide_vector)_mm_max_epu32((__m128i)a, (__m128i)b);
}
#else
static inline vector least(vector a, vector b)
{
	vector less = a < b;
	return (less & a) | (~less & b);
}

static inline vector greatest(vector a, vector b)
{
	vector less = a < b;
	return (less & b) | (~less & a);
}

static inline vector magnitude(vector a)
{
	vector negative = a < 0;
	return (a ^ negative) - negative;
}

static inline wide_vector greatest_wide(wide_vector a, wide_vector b)
{
	wide_vector less = (wide_vector)(a < b);
	return (less & b) | (~less & a);
}
#endif
