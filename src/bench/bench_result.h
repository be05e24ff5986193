// SPDX-License-Identifier: BSD-3-Clause
// The measured figures and what follows from them: ratios, limits, JSON, a table, a card.
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
	const struct hs_bench_case *spec;    // of a peer: the case whose traffic it had
	bool peer, csum;		     // dpdk-testpmd; csum: in that mode, else mac
	int yardstick;			     // row of the peer with the same frames, or none
	struct hs_bench_samples samples;     // ns per packet; for control: operations per second
	struct hs_bench_samples cycles;	     // cycles of the time stamp counter per packet
	uint64_t reports_made, reports_lost; // over all rounds
	char error[256];		     // the reason of a failure, or ""
};

struct hs_bench_result {
	struct hs_bench_row *rows; // peers first
	int n;
	json_t *machine; // facts
};

// Returns the ratio of medians to the yardstick, or 0 without a yardstick.
double hs_bench_ratio(const struct hs_bench_result *result, const struct hs_bench_row *row);

// Returns the ratio of the least figures. Noise only adds time, so these have the least noise.
double hs_bench_ratio_of_least(
		const struct hs_bench_result *result, const struct hs_bench_row *row);

// Returns what the case's limit refers to: the ratio, or the ratio to another case. 0: nothing to
// compare.
double hs_bench_limited(const struct hs_bench_result *result, const struct hs_bench_row *row);

json_t *hs_bench_result_json(const struct hs_bench_result *result);

// Prints a table for people, and the failures.
void hs_bench_result_print(const struct hs_bench_result *result, FILE *to);

// Prints the same in Markdown, with the machine and the limits.
void hs_bench_card_print(const struct hs_bench_result *result, FILE *to);

// Puts a card between the two markers of a document and keeps the markers. Without markers, the
// card goes to the end. The caller frees the result. Returns NULL if memory is out.
char *hs_bench_card_place(const char *document, const char *card);
