// SPDX-License-Identifier: BSD-3-Clause
// The values of given ranks among the delays of a window. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_columns.h"

// Finds the values at `ranks` in a link's column, which is not empty. Rank 0 is the least value,
// and the ranks ascend. `low` and `high` are the sum's least and greatest delay of the link.
void hs_qos_ranks_find(struct hs_qos_columns *columns, unsigned link, int64_t low, int64_t high,
		unsigned n, const uint32_t *ranks, int64_t *found);
