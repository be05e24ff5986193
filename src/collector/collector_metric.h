// SPDX-License-Identifier: BSD-3-Clause
// The one table of a collector's counters: the API and the page of metrics read from it, so that
// they cannot disagree.
//
// Thread rule: the control thread.
#pragma once

#include "collector_parts.h"

struct hs_collector_metric {
	const char *name; // "hopsight_collector_reports_total"
	const char *help;
	bool gauge;
};

// The labels of a value. NULL: the value has no such label.
struct hs_collector_labels {
	const char *reason, *kind, *cause, *listener, *frame;
};

typedef void hs_collector_metric_fn(void *context, const struct hs_collector_metric *metric,
		const struct hs_collector_labels *labels, uint64_t value);

// Visits every counter and gauge. The values of one name come together.
void hs_collector_metrics_visit(
		struct hs_collector *collector, hs_collector_metric_fn visit, void *context);

// Return the replies to stats_get and audit. New references.
extern const struct hs_schema_field hs_collector_stats_fields[], hs_collector_audit_fields[];
json_t *hs_collector_stats(struct hs_collector *collector);
json_t *hs_collector_audit(struct hs_collector *collector);
