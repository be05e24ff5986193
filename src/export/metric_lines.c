// SPDX-License-Identifier: BSD-3-Clause
#include "metric_lines.h"

#include <stdio.h>
#include <string.h>

#define NO_LABEL     ""
#define WORKER_BYTES 12 // of its number

// The line that is being made. A value that belongs to something else begins the next line.
struct maker {
	struct hs_influx_text *text;
	const char *node;
	const struct hs_metric_view *view;
	int64_t time_ns;
	const char *measurement;			   // NULL: no line yet
	char port[HS_PORT_NAME_MAX], worker[WORKER_BYTES]; // "": none
	struct hs_influx_line *line;
};

static void add_value(struct hs_influx_line *line, const char *key, enum hs_schema_kind kind,
		int64_t value)
{
	if (kind == HS_SCHEMA_BOOL)
		hs_influx_line_bool(line, key, value != 0);
	else if (kind == HS_SCHEMA_INT)
		hs_influx_line_int(line, key, value);
	else
		hs_influx_line_uint(line, key, (uint64_t)value);
}

static const char *measurement_of(
		const struct hs_metric *metric, const struct hs_metric_labels *labels)
{
	static const char clock[] = "hopsight_clock";

	if (labels->port)
		return labels->reason  ? "hopsight_port_drops"
		       : labels->event ? "hopsight_port_events"
				       : "hopsight_port";
	if (labels->worker)
		return "hopsight_worker";
	return strncmp(metric->name, clock, sizeof(clock) - 1) == 0 ? clock : "hopsight_node";
}

static void end_line(struct maker *maker)
{
	if (maker->measurement)
		hs_influx_text_end(maker->text, maker->time_ns);
	maker->measurement = NULL;
}

static void begin_line(
		struct maker *maker, const char *measurement, const char *port, const char *worker)
{
	end_line(maker);
	maker->measurement = measurement;
	snprintf(maker->port, sizeof(maker->port), "%s", port);
	snprintf(maker->worker, sizeof(maker->worker), "%s", worker);
	maker->line = hs_influx_text_line(maker->text, measurement);
	hs_influx_line_tag(maker->line, "node", maker->node);
	hs_influx_line_tag(maker->line, "port", port);
	hs_influx_line_tag(maker->line, "worker", worker);
}

static void visit(void *context, const struct hs_metric *metric,
		const struct hs_metric_labels *labels, int64_t value)
{
	struct maker *maker = context;
	const char *measurement = measurement_of(metric, labels);
	const char *port = labels->port ? labels->port : NO_LABEL;
	const char *worker = labels->worker ? labels->worker : NO_LABEL;
	const char *key = labels->reason  ? labels->reason
			  : labels->event ? labels->event
					  : metric->field.key;

	if (metric->field.given && !metric->field.given(maker->view))
		return;
	if (maker->measurement != measurement || strcmp(maker->port, port) != 0 ||
			strcmp(maker->worker, worker) != 0)
		begin_line(maker, measurement, port, worker);
	add_value(maker->line, key, metric->field.kind, value);
}

void hs_metric_lines(struct hs_influx_text *text, const struct hs_node *node,
		const struct hs_node_totals *totals, int64_t time_ns)
{
	const struct hs_metric_view view = {.node = *totals};
	struct maker maker = {
			.text = text,
			.node = hs_node_config(node)->name,
			.view = &view,
			.time_ns = time_ns,
	};

	hs_metrics_visit(node, totals, visit, &maker);
	end_line(&maker);
}

void hs_metric_lines_rule(
		struct hs_influx_text *text, struct hs_node *node, uint32_t slot, int64_t time_ns)
{
	struct hs_flow_table *flows = hs_node_flows(node);
	const struct hs_rule *rule = hs_flow_table_rule(flows, slot);
	struct hs_influx_line *line = hs_influx_text_line(text, "hopsight_rule");
	struct hs_metric_view view;

	hs_flow_table_counters(flows, slot, &view.rule);
	hs_influx_line_tag(line, "node", hs_node_config(node)->name);
	hs_influx_line_tag_uint(line, "ns_id", rule->ns_id);
	hs_influx_line_tag_uint(line, "app_id", rule->app_id);
	for (const struct hs_metric *metric = hs_metrics_of_rule; metric->field.key; metric++)
		add_value(line, metric->field.key, metric->field.kind,
				hs_metric_value(metric, &view));
	hs_influx_text_end(text, time_ns);
}
