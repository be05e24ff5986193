// SPDX-License-Identifier: BSD-3-Clause
// What windows add up: numbers of steps, delays, pairs. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

#define HS_QOS_EXACT_VALUES 1000 // rule 17

static inline uint64_t hs_qos_distance(int64_t a, int64_t b)
{
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

void hs_qos_sum_clear(struct hs_qos_flow *flow, struct hs_qos_sum *sum);
void hs_qos_sum_wipe_link(struct hs_qos_link_sum *sum);

// `sign` -1 takes a step, or a pair of neighbours' delays, back out.
void hs_qos_sum_add_delta(struct hs_qos_link_sum *sum, const struct hs_qos_delta *delta, int sign);
void hs_qos_sum_add_pair(struct hs_qos_link_sum *sum, int64_t a, int64_t b, int sign);

// Into the histogram only.
void hs_qos_sum_add_delay(const struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t link,
		int64_t delay);

// Some link has more delays than percentiles are exact for.
bool hs_qos_sum_needs_hist(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum);

// Adds numbers and histograms.
void hs_qos_sum_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from);
