// SPDX-License-Identifier: BSD-3-Clause
#include "qos_ranks.h"

#include <string.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#define FEW	   16 // values: fewer are not sorted into buckets
#define MANY	   256
#define FEW_BITS   6 // of buckets
#define MANY_BITS  8
#define MOST_WIDTH 56 // bits of the distance between the bounds
#define MOST_LOW   (1ll << 61)

static inline void swap(int64_t *a, int64_t *b)
{
	int64_t t = *a;
	*a = *b;
	*b = t;
}

// Returns the value that index k of v would have if v[low ... n - 1] were sorted. Uses Hoare's
// selection with the median of three.
static int64_t select_value(int64_t *v, int64_t low, int64_t n, int64_t k)
{
	int64_t high = n - 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (v[middle] < v[low])
			swap(&v[middle], &v[low]);
		if (v[high] < v[low])
			swap(&v[high], &v[low]);
		if (v[high] < v[middle])
			swap(&v[high], &v[middle]);
		int64_t pivot = v[middle], i = low, j = high;
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j)
				swap(&v[i++], &v[j--]);
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

// Buckets of equal width between the least and the greatest value.
struct buckets {
	int64_t low;
	unsigned bits, shift;
	uint16_t ends[(1u << MANY_BITS) + 1];
};

static inline uint64_t bucket_of(const struct buckets *buckets, int64_t value)
{
	return ((uint64_t)value - (uint64_t)buckets->low) >> buckets->shift;
}

// Puts the values into `sorted` in the order of their buckets. Returns false if a value is not
// between the bounds.
static bool sort(struct buckets *buckets, const int64_t *values, uint32_t n, int64_t *sorted)
{
	uint32_t n_buckets = 1u << buckets->bits, mask = n_buckets - 1;
	uint16_t *begins = buckets->ends;
	uint64_t seen = 0;
	memset(begins, 0, (n_buckets + 1) * sizeof(begins[0]));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bucket = bucket_of(buckets, values[i]);
		seen |= bucket;
		begins[(bucket & mask) + 1]++;
	}
	if (seen > mask)
		return false;
	for (uint32_t i = 1; i < n_buckets; i++)
		begins[i] = (uint16_t)(begins[i] + begins[i - 1]);
	for (uint32_t i = 0; i < n; i++)
		sorted[begins[bucket_of(buckets, values[i])]++] = values[i];
	return true;
}

// Sets the buckets' width. Returns false if the bounds are so far apart, or so far from 0, that a
// value beyond the bounds may appear to be between them.
static bool set_width(struct buckets *buckets, int64_t low, int64_t high, uint32_t n)
{
	uint64_t range = (uint64_t)high - (uint64_t)low;
	unsigned width = range ? 64u - (unsigned)__builtin_clzll(range) : 0;
	buckets->low = low;
	buckets->bits = n < MANY ? FEW_BITS : MANY_BITS;
	buckets->shift = width > buckets->bits ? width - buckets->bits : 0;
	return width <= MOST_WIDTH && low >= -MOST_LOW && low <= MOST_LOW;
}

static void select_wide(struct hs_qos_columns *columns, unsigned link, int64_t low, int64_t high,
		unsigned n, const uint32_t *ranks, int64_t *found)
{
	int64_t *values = hs_qos_column(columns, link);
	int64_t *sorted = hs_qos_column(columns, columns->capacity);
	uint32_t n_values = hs_qos_columns_count(columns, link);
	struct buckets buckets;
	bool sorts = n_values >= FEW && set_width(&buckets, low, high, n_values) &&
		     sort(&buckets, values, n_values, sorted);
	for (unsigned i = 0; i < n; i++) {
		if (!sorts) {
			found[i] = select_value(values, 0, n_values, ranks[i]);
			continue;
		}
		uint64_t bucket = bucket_of(&buckets, sorted[ranks[i]]);
		uint32_t begin = bucket ? buckets.ends[bucket - 1] : 0;
		found[i] = select_value(sorted, begin, buckets.ends[bucket], ranks[i]);
	}
}

// ---- ranks in narrow columns ----

#define FOUR	 4 // buckets
#define EIGHT	 8 // values
#define SIXTEEN	 16
#define NEAR_END 16 // a part of the values

struct narrow_column {
	const int32_t *values;
	uint32_t n;
	unsigned shift;				   // to a value's bucket
	uint16_t counts[(1u << MANY_BITS) + FOUR]; // and four counts of 0
	uint8_t buckets[HS_QOS_RING_MAX];	   // of the values, in whole sixteens
};

#ifdef __SSE4_1__
static inline void find_buckets(const int32_t *values, unsigned shift, uint8_t *buckets)
{
	const __m128i *from = (const __m128i *)values, by = _mm_cvtsi32_si128((int)shift);
	__m128i a = _mm_srl_epi32(_mm_loadu_si128(from), by);
	__m128i b = _mm_srl_epi32(_mm_loadu_si128(from + 1), by);
	__m128i c = _mm_srl_epi32(_mm_loadu_si128(from + 2), by);
	__m128i d = _mm_srl_epi32(_mm_loadu_si128(from + 3), by);
	_mm_storeu_si128((__m128i *)buckets,
			_mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}

// Returns a bit for each of sixteen values in a bucket.
static inline uint32_t in_bucket(const uint8_t *buckets, uint8_t bucket)
{
	__m128i sixteen = _mm_loadu_si128((const __m128i *)buckets);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_set1_epi8((char)bucket)));
}
#else
static inline void find_buckets(const int32_t *values, unsigned shift, uint8_t *buckets)
{
	for (unsigned i = 0; i < SIXTEEN; i++)
		buckets[i] = (uint8_t)((uint32_t)values[i] >> shift);
}

static inline uint32_t in_bucket(const uint8_t *buckets, uint8_t bucket)
{
	uint32_t in = 0;
	for (unsigned i = 0; i < SIXTEEN; i++)
		in |= (uint32_t)(buckets[i] == bucket) << i;
	return in;
}
#endif

static inline void count_eight(uint16_t *counts, const uint8_t *buckets)
{
	counts[buckets[0]]++;
	counts[buckets[1]]++;
	counts[buckets[2]]++;
	counts[buckets[3]]++;
	counts[buckets[4]]++;
	counts[buckets[5]]++;
	counts[buckets[6]]++;
	counts[buckets[7]]++;
}

static void count_values(struct narrow_column *column, uint32_t most)
{
	unsigned bits = column->n < MANY ? FEW_BITS : MANY_BITS;
	unsigned width = 32u - (unsigned)__builtin_clz(most | 1);
	uint32_t i;
	column->shift = width > bits ? width - bits : 0;
	memset(column->counts, 0, ((1u << bits) + FOUR) * sizeof(column->counts[0]));
	for (i = 0; i < column->n; i += SIXTEEN) // a column has room for whole sixteens
		find_buckets(column->values + i, column->shift, column->buckets + i);
	for (i = 0; i + EIGHT <= column->n; i += EIGHT)
		count_eight(column->counts, column->buckets + i);
	for (; i < column->n; i++)
		column->counts[column->buckets[i]]++;
}

// Adds the counts of a bucket and of the next three. All counts add up to less than 65536.
static inline uint32_t count_four(const struct narrow_column *column, uint32_t bucket)
{
	uint64_t four;
	memcpy(&four, &column->counts[bucket], sizeof(four));
	return (uint32_t)(four * UINT64_C(0x0001000100010001) >> 48);
}

// Copies the values of a bucket, which has as many as its count says.
static void take_bucket(const struct narrow_column *column, uint32_t bucket, int64_t *to)
{
	uint32_t left = column->counts[bucket];
	for (uint32_t i = 0; left; i += SIXTEEN) {
		uint32_t in = in_bucket(column->buckets + i, (uint8_t)bucket);
		for (; in && left; in &= in - 1, left--)
			*to++ = column->values[i + (uint32_t)__builtin_ctz(in)];
	}
}

// Returns the bucket of the value at a rank, and sets *before to the number of values in the
// buckets before. Begins at `bucket`, which has *before values before it, or at the end if that is
// near.
static uint32_t bucket_at(const struct narrow_column *column, uint32_t bucket, uint32_t rank,
		uint32_t last, uint32_t *before)
{
	uint32_t n = column->n;
	if (rank >= n - n / NEAR_END) {
		for (bucket = last; n - column->counts[bucket] > rank; bucket--)
			n -= column->counts[bucket];
		*before = n - column->counts[bucket];
		return bucket;
	}
	for (uint32_t four; *before + (four = count_four(column, bucket)) <= rank; bucket += FOUR)
		*before += four;
	for (; *before + column->counts[bucket] <= rank; bucket++)
		*before += column->counts[bucket];
	return bucket;
}

static void select_narrow(struct hs_qos_columns *columns, unsigned link, unsigned n,
		const uint32_t *ranks, int64_t *found)
{
	int64_t *values = hs_qos_column(columns, columns->capacity);
	struct narrow_column column;
	uint32_t before = 0, bucket = 0, most = (uint32_t)columns->most[link];
	column.values = hs_qos_column_narrow(columns, link);
	column.n = columns->n[link];
	count_values(&column, most);
	for (unsigned i = 0; i < n; i++) {
		bucket = bucket_at(&column, bucket, ranks[i], most >> column.shift, &before);
		take_bucket(&column, bucket, values);
		found[i] = hs_qos_plus(columns->base_ns[link],
				select_value(values, 0, column.counts[bucket], ranks[i] - before));
	}
}

void hs_qos_ranks_find(struct hs_qos_columns *columns, unsigned link, int64_t low, int64_t high,
		unsigned n, const uint32_t *ranks, int64_t *found)
{
	if (columns->narrow)
		select_narrow(columns, link, n, ranks, found);
	else
		select_wide(columns, link, low, high, n, ranks, found);
}
