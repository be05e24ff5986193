// SPDX-License-Identifier: BSD-3-Clause
#include "metric_page.h"

#include <inttypes.h>
#include <stdio.h>

static void add(struct hs_prometheus *page, const struct hs_metric *metric,
		const struct hs_prometheus_labels *labels, int64_t value)
{
	const struct hs_prometheus_family family = {metric->name, metric->field.help, metric->unit,
			metric->kind == HS_METRIC_COUNTER ? HS_PROMETHEUS_COUNTER
							  : HS_PROMETHEUS_GAUGE};

	if (metric->nanoseconds)
		hs_prometheus_ns(page, &family, labels, value);
	else if (metric->field.kind == HS_SCHEMA_INT)
		hs_prometheus_int(page, &family, labels, value);
	else
		hs_prometheus_uint(page, &family, labels, (uint64_t)value);
}

static void visit(void *context, const struct hs_metric *metric, const struct hs_metric_labels *of,
		int64_t value)
{
	add(context, metric,
			HS_PROMETHEUS_LABELS({"port", of->port}, {"reason", of->reason},
					{"event", of->event}, {"worker", of->worker}),
			value);
}

static uint32_t rows_of(const struct hs_metric *metric)
{
	uint32_t n = 0;

	while (metric[n].field.key)
		n++;
	return n;
}

static void add_rule(struct hs_prometheus *page, struct hs_flow_table *flows, uint32_t slot)
{
	struct hs_metric_view view;
	char ns_id[16];

	snprintf(ns_id, sizeof(ns_id), "%" PRIu32, hs_flow_table_rule(flows, slot)->ns_id);
	hs_flow_table_counters(flows, slot, &view.rule);
	for (const struct hs_metric *metric = hs_metrics_of_rule; metric->field.key; metric++)
		add(page, metric, HS_PROMETHEUS_LABELS({"ns_id", ns_id}),
				hs_metric_value(metric, &view));
}

static void add_rules(struct hs_prometheus *page, struct hs_flow_table *flows)
{
	uint32_t slot = HS_FLOW_NONE, rows = rows_of(hs_metrics_of_rule);
	uint32_t fit = hs_prometheus_room(page) / 2 / rows, count = hs_flow_table_count(flows);

	for (uint32_t i = 0; i < fit && hs_flow_table_next(flows, &slot); i++)
		add_rule(page, flows, slot);
	if (count > fit)
		hs_prometheus_leave_out(page, (uint64_t)(count - fit) * rows);
}

void hs_metric_page(struct hs_prometheus *page, struct hs_node *node,
		const struct hs_node_totals *totals)
{
	hs_metrics_visit(node, totals, visit, page);
	add_rules(page, hs_node_flows(node));
}
