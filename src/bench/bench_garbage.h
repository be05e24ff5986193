// SPDX-License-Identifier: BSD-3-Clause
// The kinds of malformed datagrams for a collector. Each kind is as an attacker would choose it.
//
// Thread rule: any; the table is constant.
#pragma once

#include "bench_datagrams.h"

#include "collect.h"

struct hs_bench_garbage {
	const char *name;
	// The reason for which the datagram is refused, or HS_COLLECT_REFUSALS if the collector
	// reads the part that is valid.
	enum hs_collect_refusal reason;
	// Makes datagram `i` malformed. Returns its new length.
	uint32_t (*spoil)(uint8_t *bytes, uint32_t len, uint32_t i);
	bool other_flow; // each datagram has another flow, for which the table has no room
};

extern const struct hs_bench_garbage hs_bench_garbage[];
extern const size_t hs_bench_n_garbage;
