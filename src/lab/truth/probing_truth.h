// SPDX-License-Identifier: BSD-3-Clause
// What the sessions of a monitoring host came to, by what the host sent and got, and by which links
// and nodes were up. No counter of a node contributes.
//
// Source: 002_e7f573228cf2597b.txt section V.
// Thread rule: owner.
#pragma once

#include "lab_metric.h"

#include <stdint.h>

struct hs_probing_counts {
	HS_PROBING_COUNTS(HS_LAB_COUNT_MEMBER)
	int64_t elapsed_sum_ns, elapsed_max_ns;
	uint32_t min_hops, max_hops; // of paths
	double mean_hops;
	double busiest_pps; // packets of all kinds that came to a switch, at most
};
