// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as replies.
#include "control_ports.h"
#include "control_parts.h"
#include "control_totals.h"

#include <string.h>

json_t *hs_control_scope(enum hs_metric_scope scope, const struct hs_metric_view *view)
{
	json_t *object = json_object();
	for (size_t i = 0; i < hs_n_metrics; i++) {
		const struct hs_metric *metric = &hs_metrics[i];
		if (metric->scope != scope)
			continue;
		int64_t value = hs_metric_value(metric, view);
		bool boolean = strcmp(metric->unit, "boolean") == 0;
		json_object_set_new(object, metric->key,
				boolean ? json_boolean(value) : json_integer(value));
	}
	return object;
}

static json_t *drops_of(const struct hs_port_counters *counters)
{
	json_t *object = json_object();
	for (unsigned i = 0; i < HS_DROP_COUNT; i++)
		json_object_set_new(object, hs_drop_name(i),
				json_integer((json_int_t)counters->drops[i]));
	return object;
}

static json_t *events_of(const struct hs_port_counters *counters)
{
	json_t *object = json_object();
	for (unsigned i = 0; i < HS_EVENT_COUNT; i++)
		json_object_set_new(object, hs_event_count_name(i),
				json_integer((json_int_t)counters->events[i]));
	return object;
}

static json_t *port_of(const struct hs_control *control, uint16_t index,
		const struct hs_port_counters *counters)
{
	const struct hs_port *port = hs_node_port(control->node, index);
	struct hs_metric_view view;

	json_t *object = json_pack("{s:s, s:i, s:s, s:s}", "name", port->config.name, "index",
			index, "side", port->side == HS_SIDE_HOST ? "host" : "network", "driver",
			port->driver_name);
	if (port->config.device[0])
		json_object_set_new(object, "device", json_string(port->config.device));
	if (port->config.profile[0])
		json_object_set_new(object, "profile", json_string(port->config.profile));
	hs_metric_view_port(control->node, index, counters, &view);
	json_object_update_new(object, hs_control_scope(HS_SCOPE_PORT, &view));
	json_object_set_new(object, "drops", drops_of(counters));
	json_object_set_new(object, "events", events_of(counters));
	return object;
}

json_t *hs_control_ports(struct hs_control *control)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	json_t *list = json_array();

	hs_node_snapshot(control->node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++)
		json_array_append_new(list, port_of(control, i, &ports[i]));
	return json_pack("{s:o}", "ports", list);
}

static void list_drops(const struct hs_control *control, uint16_t index,
		const struct hs_port_counters *counters, json_t *list)
{
	for (unsigned i = 0; i < HS_DROP_COUNT; i++) {
		if (counters->drops[i] == 0)
			continue;
		json_array_append_new(list,
				json_pack("{s:s, s:s, s:s, s:I}", "port",
						hs_node_port(control->node, index)->config.name,
						"reason", hs_drop_name(i), "text", hs_drop_text(i),
						"packets", (json_int_t)counters->drops[i]));
	}
}

json_t *hs_control_drops(struct hs_control *control)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	json_t *list = json_array();

	hs_node_snapshot(control->node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++)
		list_drops(control, i, &ports[i], list);
	return json_pack("{s:o}", "drops", list);
}

static void add_stat(void *context, const struct hs_metric *metric,
		const struct hs_metric_label *labels, unsigned n_labels, int64_t value)
{
	json_t *number = metric->nanoseconds ? json_real((double)value / 1e9) : json_integer(value);
	json_t *stat = json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", metric->name, "kind",
			metric->kind == HS_METRIC_COUNTER ? "counter" : "gauge", "unit",
			metric->unit, "help", metric->help, "value", number);
	for (unsigned i = 0; i < n_labels; i++)
		json_object_set_new(stat, labels[i].key, json_string(labels[i].value));
	json_array_append_new(context, stat);
}

json_t *hs_control_stats(struct hs_control *control)
{
	struct hs_node_totals totals;
	json_t *list = json_array();

	hs_control_totals(control, &totals);
	hs_metrics_visit(control->node, &totals, add_stat, list);
	return json_pack("{s:o}", "stats", list);
}
