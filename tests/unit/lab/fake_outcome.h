// SPDX-License-Identifier: BSD-3-Clause
// An outcome that a test writes down: hs_outcome_* of a run that never was.
#pragma once

#include "outcome.h"

#define FAKE_WINDOWS 3
#define FAKE_ROWS    64

struct hs_outcome {
	size_t n;
	struct hs_outcome_row rows[FAKE_ROWS];
	struct hs_point points[FAKE_ROWS][FAKE_WINDOWS][HS_METRIC_KINDS];
	int64_t start_ns[FAKE_WINDOWS];
};

// Every number NAN.
void fake_outcome_init(struct hs_outcome *outcome, int64_t start_ns);
// Adds a row; its index.
size_t fake_outcome_row(struct hs_outcome *outcome, uint32_t flow, const char *hop);
// Measured, in each window; truth and configured as given.
void fake_outcome_set(struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind,
		const double measured[FAKE_WINDOWS], double truth, double configured, double bound);
