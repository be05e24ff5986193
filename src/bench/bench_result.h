// SPDX-License-Identifier: BSD-3-Clause
// What was measured, and what follows from it: ratios, limits, JSON, a table, a card.
//
// Thread rule: owner.
#pragma once

#include "bench_case.h"
#include "bench_stats.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define HS_BENCH_NO_ROW (-1)

struct hs_bench_row {
	char name[64];
	const struct hs_bench_case *spec;    // of a peer: whose traffic it had
	bool peer, csum;		     // dpdk-testpmd; csum: in that mode, else mac
	int yardstick;			     // row of the peer with the same frames, or none
	struct hs_bench_samples samples;     // ns per packet; of control: operations per second
	struct hs_bench_samples cycles;	     // of the time stamp counter, per packet
	uint64_t reports_made, reports_lost; // over all rounds
	char error[256];		     // why it failed; "" if it did not
};

struct hs_bench_result {
	struct hs_bench_row *rows; // peers first
	int n;
	json_t *machine; // facts
};

// The ratio to the yardstick of medians; 0 where there is none.
double hs_bench_ratio(const struct hs_bench_result *result, const struct hs_bench_row *row);

// The same of the least figures: what noise, which only adds, has left alone.
double hs_bench_ratio_of_least(
		const struct hs_bench_result *result, const struct hs_bench_row *row);

// What the case's limit counts: the ratio, or that to another case. 0: nothing to compare.
double hs_bench_limited(const struct hs_bench_result *result, const struct hs_bench_row *row);

json_t *hs_bench_result_json(const struct hs_bench_result *result);

// A table for people, and what failed.
void hs_bench_result_print(const struct hs_bench_result *result, FILE *to);

// The same in Markdown, with the machine and the limits.
void hs_bench_card_print(const struct hs_bench_result *result, FILE *to);

// Puts a card between the two markers of a document, which are kept; without markers, at its end.
// The caller frees it; NULL: out of memory.
char *hs_bench_card_place(const char *document, const char *card);
