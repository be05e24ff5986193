// SPDX-License-Identifier: BSD-3-Clause
// What may be wrong with a datagram for a collector: each kind as an attacker would choose it.
//
// Thread rule: any; the table is constant.
#pragma once

#include "bench_datagrams.h"

#include "collect.h"

struct hs_bench_garbage {
	const char *name;
	// What it counts as: a reason, or HS_COLLECT_REFUSALS where it is read as far as it goes.
	enum hs_collect_refusal reason;
	// Spoils a datagram. Returns its length then.
	uint32_t (*spoil)(uint8_t *bytes, uint32_t len, uint32_t i);
	bool other_flow; // each time, where the table has no room
};

extern const struct hs_bench_garbage hs_bench_garbage[];
extern const size_t hs_bench_n_garbage;
