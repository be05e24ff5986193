// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the link share.
#pragma once

#include "link.h"
#include "rng.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static inline struct hs_link *create(struct hs_link_config config, uint64_t seed)
{
	struct hs_link *link = NULL;
	assert_int_equal(hs_link_check(&config, NULL), 0);
	assert_int_equal(hs_link_create(&config, seed, &link), 0);
	return link;
}

// One frame of which no copy may come.
static inline struct hs_link_fate send(struct hs_link *link, int64_t now_ns, uint32_t bytes)
{
	struct hs_link_fate fates[2];
	assert_int_equal(hs_link_send(link, now_ns, bytes, false, fates), 1);
	return fates[0];
}

static inline struct hs_link_counters counters_of(const struct hs_link *link)
{
	struct hs_link_counters counters;
	hs_link_counters(link, &counters);
	return counters;
}

// The generators of a link in the order of its decisions, as the test of the model knows them:
// the seed's own generator gives each of them its seed.
enum {
	GEN_TELEMETRY,
	GEN_RANDOM,
	GEN_BURST_STATE,
	GEN_BURST_LOSS,
	GEN_DUPLICATE,
	GEN_REORDER,
};

static inline struct hs_rng generator(uint64_t seed, int kind)
{
	struct hs_rng seeds;
	struct hs_rng rng;
	hs_rng_init(&seeds, seed);
	for (int i = 0; i < kind; i++)
		hs_rng_u64(&seeds);
	hs_rng_init(&rng, hs_rng_u64(&seeds));
	return rng;
}

static inline bool hit(struct hs_rng *rng, double ratio)
{
	return ((double)(hs_rng_u64(rng) >> 12) + 0.5) / 4503599627370496.0 < ratio;
}
