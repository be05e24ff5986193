// SPDX-License-Identifier: BSD-3-Clause
// The delays of a window, by link. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// The delays of a window from the ring: a column for each link, and one more column as scratch.
struct hs_qos_columns {
	int64_t *values; // [capacity + 1][HS_QOS_RING_MAX]
	uint32_t capacity;
	uint32_t n[HS_QOS_FLOW_LINKS]; // values of a column
	// All reports are common, and their delays are close to each other. Then columns have
	// numbers of 32 bits, from 0 to the link's `most`. A delay is the link's `base_ns` plus
	// such a number.
	bool narrow;
	int64_t base_ns[HS_QOS_FLOW_LINKS];
	int32_t most[HS_QOS_FLOW_LINKS];
};

void hs_qos_columns_fini(struct hs_qos_columns *columns);
// Collects the delays of the reports with a tag in (after, until], which the sum has added up.
// Collects none if no percentile can be found from them. Returns 0, or -ENOMEM with empty columns.
int hs_qos_columns_collect(struct hs_qos_columns *columns, const struct hs_qos_flow *flow,
		int64_t after, int64_t until, const struct hs_qos_sum *sum);

static inline int64_t *hs_qos_column(const struct hs_qos_columns *columns, unsigned link)
{
	return columns->values + (size_t)link * HS_QOS_RING_MAX;
}

static inline int32_t *hs_qos_column_narrow(const struct hs_qos_columns *columns, unsigned link)
{
	return (int32_t *)hs_qos_column(columns, link);
}

static inline uint32_t hs_qos_columns_count(const struct hs_qos_columns *columns, unsigned link)
{
	return link < columns->capacity ? columns->n[link] : 0;
}
