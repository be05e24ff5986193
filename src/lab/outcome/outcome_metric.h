// SPDX-License-Identifier: BSD-3-Clause
// The metrics that an expectation may name: one table for the check of scenarios, the computation
// and the documentation.
//
// Thread rule: any; constants.
#pragma once

#include "outcome.h"

#include <stdbool.h>

// What is computed of a row, or of the run.
enum hs_outcome_form {
	// of rows (a hop of a flow, or its end to end)
	HS_FORM_MEAN,
	HS_FORM_MAE_TRUTH,
	HS_FORM_MAE_CONFIGURED,
	HS_FORM_MAX_ERROR_TRUTH,
	HS_FORM_MAE_OVER_BOUND,
	HS_FORM_MEAN_ERROR_CONFIGURED,
	HS_FORM_MEAN_ERROR_OVER_BOUND,
	HS_FORM_MAX_OVER_BOUND,
	HS_FORM_HOP_WINDOWS,
	HS_FORM_RUN_LOST,
	HS_FORM_RUN_LOST_TRUTH,
	HS_FORM_RUN_LOST_ALL,
	HS_FORM_RUN_LOST_ERROR,
	HS_FORM_RUN_FALSE_LOST,
	HS_FORM_OVERHEAD_BYTES,
	HS_FORM_OVERHEAD_PACKETS,
	// of flows
	HS_FORM_WINDOWS,
	HS_FORM_STALE,
	HS_FORM_EMPTY,
	HS_FORM_PATH_CHANGES,
	HS_FORM_UNSYNCHRONISED,
	HS_FORM_UNATTRIBUTED,
	HS_FORM_FLAG, // `detail`: enum hs_measured_flag
	HS_FORM_REPORTS,
	HS_FORM_SPAN_MISMATCHES,
	HS_FORM_NUMBER_MISMATCHES,
	HS_FORM_MARKED,
	HS_FORM_NEGATIVE,
	HS_FORM_RUN_MISMATCHES,
	// of round trips
	HS_FORM_TRIP_MAE,
	HS_FORM_TRIP_MEASURED,
	HS_FORM_TRIP_TRUTH,
	HS_FORM_TRIP_PAIRS,
	HS_FORM_TRIP_CLOCKS_DIFFER,
	// of traffic, and of the run
	HS_FORM_ALTERED,
	HS_FORM_DELIVERED_RATIO,
	HS_FORM_GOODPUT,
	HS_FORM_NODE_DROPS,
	HS_FORM_NODES, // `detail`: offset in struct hs_node_counts
	HS_FORM_AUDIT_FAILURES,
};

struct hs_outcome_metric {
	const char *name;
	enum hs_outcome_form form;
	unsigned detail; // enum hs_metric_kind, a flag, or an offset
};

// NULL: there is none.
const struct hs_outcome_metric *hs_outcome_metric_find(const char *name);
// The table, to its end; NULL beyond.
const struct hs_outcome_metric *hs_outcome_metric_at(size_t index);
