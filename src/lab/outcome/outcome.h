// SPDX-License-Identifier: BSD-3-Clause
// The outcome of a run: for each window and hop what telemetry measured, what the links really did
// and what was configured; mean absolute errors of both kinds; expectations met or not.
//
// Source: 000_616928c59136b059.txt section V (MAE); docs/metrics.md; docs/lab.md defines each
// column.
// Thread rule: owner; after the run.
#pragma once

#include "run.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One number of one hop in one window: NAN where it does not apply.
enum hs_metric_kind {
	HS_METRIC_THROUGHPUT,
	HS_METRIC_WINDOW_THROUGHPUT,
	HS_METRIC_DELAY,
	HS_METRIC_JITTER,
	HS_METRIC_LOSS,
	HS_METRIC_LOST_PACKETS,
	HS_METRIC_RX_BYTES,
	HS_METRIC_SPAN,
	HS_METRIC_KINDS
};

struct hs_point {
	double measured, truth, configured;
	// Of |measured - configured|: no method can beat it on average; of window throughput, of
	// |measured - truth|: the most that it may be. NAN: none.
	double bound;
};

// A row: a hop of a flow, or its end to end, over the windows.
struct hs_outcome_row {
	uint32_t flow;
	bool e2e;
	uint16_t from_id, to_id;
	char hop[HS_SCENARIO_NAME];			  // name of the link, "e2e"
	size_t n;					  // windows
	const struct hs_point (*points)[HS_METRIC_KINDS]; // [n]
	const int64_t *start_ns;			  // [n]
};

struct hs_outcome;

// 0 or -ENOMEM. The run's parts must outlive it.
int hs_outcome_create(const struct hs_run *run, struct hs_outcome **outcome);
void hs_outcome_destroy(struct hs_outcome *outcome);

size_t hs_outcome_rows(const struct hs_outcome *outcome);
const struct hs_outcome_row *hs_outcome_row(const struct hs_outcome *outcome, size_t index);
// How many rows from this one on are of its flow: they lie side by side.
static inline size_t hs_outcome_rows_of_flow(const struct hs_outcome *outcome, size_t first)
{
	uint32_t flow = hs_outcome_row(outcome, first)->flow;
	size_t n = 0;

	while (first + n < hs_outcome_rows(outcome) &&
			hs_outcome_row(outcome, first + n)->flow == flow)
		n++;
	return n;
}

// Means over a row's windows where both apply; n: how many they were. NAN: none.
struct hs_outcome_mean {
	size_t n, n_truth, n_configured;		   // n: with a measured value
	double measured, truth, configured;		   // means
	double mae_truth, mae_configured, max_error_truth; // of |measured - ...|
	double mean_error_configured;			   // |mean of measured - configured|
	double bound;
	double standard_error; // that a mean of as many has; of kinds whose bound is one of chance
	double max_over_bound; // largest of |measured - truth| / bound; INFINITY: of a bound of 0
};
void hs_outcome_mean(const struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind,
		struct hs_outcome_mean *mean);

const char *hs_metric_word(enum hs_metric_kind kind); // "throughput_bps", ...

// How many expectations were not met.
size_t hs_outcome_unmet(const struct hs_outcome *outcome);

// The whole result (docs/lab.md). New reference; NULL: out of memory. The same run gives the same
// bytes.
json_t *hs_outcome_json(const struct hs_outcome *outcome);

// Is this an expectation's metric? metrics: what they look like, short enough for an error.
bool hs_outcome_knows(const char *metric);
const char *hs_outcome_metrics(void);
