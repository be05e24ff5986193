// SPDX-License-Identifier: BSD-3-Clause
// The implementation of each request.
#include "control_verbs.h"
#include "control_app.h"
#include "control_audit.h"
#include "control_explain.h"
#include "control_label.h"
#include "control_list.h"
#include "control_mtu.h"
#include "control_node.h"
#include "control_parts.h"
#include "control_ports.h"
#include "control_report.h"
#include "control_route.h"
#include "control_rule.h"
#include "control_totals.h"

#include "api_reply.h"
#include "qos_untold.h"
#include "rule_json.h"

#include <errno.h>

// ---- rules ----

static int int_request(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t shadowed_by = 0;

	if (hs_in_band_has(control->in_band, args->rule.ns_id))
		hs_control_remove_rule(&control->rules, args->rule.ns_id, err);
	hs_in_band_forget_own(control->in_band, args->rule.ns_id);
	hs_in_band_make_room(control->in_band);
	int rc = hs_control_install_rule(
			&control->rules, &args->rule, control->origin, &shadowed_by, err);
	if (rc < 0)
		return rc;
	uint32_t slot = hs_flow_table_find(control->flows, args->rule.ns_id);
	// A rule that came in band is placed behind a rule that was asked for here, whichever was
	// first.
	while (shadowed_by && hs_in_band_has(control->in_band, shadowed_by)) {
		hs_in_band_step_back(control->in_band, shadowed_by);
		shadowed_by = hs_flow_table_shadowed_by(control->flows, slot);
	}
	if (args->rule.in_band)
		hs_in_band_begin(control->in_band, slot);
	struct hs_api_changed changed = {args->rule.ns_id, shadowed_by,
			.no_port_of_method =
					hs_control_lacks_method(control->node, args->rule.method),
			.not_told = args->rule.method == HS_RULE_FLEXINT
						    ? hs_qos_untold(args->rule.trace_type)
						    : NULL};
	hs_control_mtu_need(control->node, &args->rule, &changed.mtu);
	*result = hs_schema_print(hs_api_request_fields, &changed);
	return 0;
}

// Returns whether other nodes must learn about the update, too.
static bool travels(const struct hs_rule_update *update)
{
	return update->rows &
	       (HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING) | HS_RULE_BIT(TRANSMIT_REPORT) |
			       HS_RULE_BIT(PIGGYBACK_REPORT));
}

static int int_update(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(control->flows, args->ns_id);
	struct hs_rule_update update = args->update;
	int rc = slot == HS_FLOW_NONE ? 0 : hs_in_band_update(control->in_band, slot, &update);

	if (rc == 0)
		rc = hs_control_update_rule(&control->rules, args->ns_id, &update, err);
	if (rc < 0)
		return rc;
	hs_in_band_updated(control->in_band, slot, travels(&args->update));
	const struct hs_api_changed changed = {args->ns_id,
			.rule = hs_rule_to_json(hs_flow_table_rule(control->flows, slot))};
	*result = hs_schema_print(hs_api_update_fields, &changed);
	return 0;
}

// Empties the rings, because reports that came before a request count in its answer. Does so once
// for all requests of a transaction: reports that come meanwhile would keep it from ending.
static void take_what_waits(struct hs_control *control)
{
	if (!control->request_drained)
		hs_control_drain(control, hs_control_waiting(control));
	control->request_drained = true;
}

static int int_delete(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	take_what_waits(control); // the pointer still belongs to the rule
	int rc = hs_control_remove_rule(&control->rules, args->ns_id, err);
	if (rc < 0)
		return rc;
	hs_in_band_forget_own(control->in_band, args->ns_id);
	*result = hs_schema_print(hs_api_delete_fields, &(struct hs_api_changed){args->ns_id});
	return 0;
}

static int int_list(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	*result = hs_control_list_rules(&control->list, &control->rules, control->flows, args);
	return 0;
}

static const struct hs_schema_word origins[] = {
		{"api", HS_ORIGIN_API},
		{"config", HS_ORIGIN_CONFIG},
		{"in_band", HS_ORIGIN_IN_BAND},
		{"state", HS_ORIGIN_STATE},
		{NULL, 0},
};

// The counters print the view, which stands first.
struct shown_rule {
	struct hs_metric_view view;
	json_t *rule;
	bool monitored, monitor_refused;
	uint8_t origin;
	uint32_t shadowed_by;
	struct hs_in_band_shown in_band;
	struct hs_api_mtu_need mtu;
};

#define SHOWN(...) HS_SCHEMA_ROW(struct shown_rule, __VA_ARGS__)
static const struct hs_schema_field counter_fields[] = {{HS_METRIC_MEMBERS(rule)}, {NULL}};
static const struct hs_schema_field state_fields[] = {
		SHOWN(BOOL, monitored, "this node computes the rule's metrics"),
		SHOWN(WORD, origin, "who asked for the rule", .words = origins),
		SHOWN(BOOL, monitor_refused, "there are more rules with reports than monitors",
				.optional = true),
		SHOWN(UINT, shadowed_by, "the rule that takes this rule's packets",
				.optional = true),
		SHOWN(MEMBERS, in_band, NULL, .fields = hs_in_band_fields),
		SHOWN(MEMBERS, mtu, NULL, .fields = hs_api_mtu_need_fields),
		{NULL},
};
static const struct hs_schema_field get_fields[] = {
		SHOWN(TAKEN, rule, "the rule as it is in force", .shape = HS_API_RULE_SHAPE),
		{"counters", HS_SCHEMA_OBJECT, .fields = counter_fields,
				.help = "what was counted of the rule"},
		{"state", HS_SCHEMA_OBJECT, .fields = state_fields,
				.help = "where the rule comes from and how it fares"},
		{NULL},
};

static int int_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t slot;

	if (hs_control_find_rule(&control->rules, args->ns_id, &slot, err) < 0)
		return -ENOENT;
	const struct rule_note *note = hs_control_find_note(&control->rules, slot);
	struct shown_rule shown = {
			.rule = hs_rule_to_json(hs_flow_table_rule(control->flows, slot)),
			.monitored = note && note->monitored,
			.monitor_refused = note && note->unmonitored,
			.origin = hs_control_rule_origin(&control->rules, slot),
			.shadowed_by = hs_flow_table_shadowed_by(control->flows, slot),
			.in_band = hs_in_band_show(control->in_band, slot),
	};
	hs_flow_table_counters(control->flows, slot, &shown.view.rule);
	hs_control_mtu_need(control->node, hs_flow_table_rule(control->flows, slot), &shown.mtu);
	*result = hs_schema_print(get_fields, &shown);
	return 0;
}

// ---- metrics ----

static void add_one(json_t *list, const struct hs_qos_window *window)
{
	json_t *message = window ? hs_qos_window_json(window, NULL) : NULL;
	if (message)
		json_array_append(list, json_object_get(message, "qos_report"));
	json_decref(message);
}

static void add_window(struct hs_control *control, json_t *list, uint32_t ns_id, int64_t window_ns)
{
	add_one(list, hs_qos_latest(control->qos, ns_id, window_ns));
}

static void add_windows(struct hs_control *control, json_t *list, uint32_t ns_id,
		const struct hs_api_args *args)
{
	if (args->end_ns != 0) {
		add_one(list, hs_qos_slide(control->qos, ns_id, args->start_ns, args->end_ns));
		return;
	}
	if (args->window_ns != 0) {
		bool run = args->window_ns == HS_API_WINDOW_RUN;
		add_window(control, list, ns_id, run ? 0 : args->window_ns);
		return;
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS && control->config.window_ns[i]; i++)
		add_window(control, list, ns_id, control->config.window_ns[i]);
}

static json_t *windows_of(struct hs_control *control, const struct rule_note *note,
		const struct hs_api_args *args)
{
	json_t *list = json_array();

	add_windows(control, list, hs_control_noted_rule(&control->rules, note)->ns_id, args);
	return list;
}

// Returns a page of windows. `offset` and `limit` count rules that have a monitor.
static struct hs_api_metrics page_of_windows(
		struct hs_control *control, const struct hs_api_args *args)
{
	struct hs_api_metrics page = {.qos = json_array()};
	uint64_t at = 0, end = args->offset + args->limit;
	const struct rule_note *note = NULL;
	size_t used = 0;

	while ((note = hs_control_next_monitored(&control->rules, note))) {
		bool wanted = at >= args->offset;
		if (at == end || (wanted && !hs_api_page_extend(args, page.qos,
							    windows_of(control, note, args),
							    &used))) {
			page.next = at;
			break;
		}
		at++;
	}
	return page;
}

static int qos_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	struct hs_api_metrics metrics = {0};

	take_what_waits(control);
	if (args->app_id)
		metrics.applications = hs_control_application(
				&control->rules, control->qos, &control->config, args);
	else if (args->has_ns_id)
		add_windows(control, metrics.qos = json_array(), args->ns_id, args);
	else
		metrics = page_of_windows(control, args);
	*result = hs_schema_print(hs_api_metrics_fields, &metrics);
	return 0;
}

// ---- routes ----

static int change_routes(struct hs_control *control, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	return hs_control_change_routes(&control->routes, args, result, err);
}

static int list_routes(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	return hs_control_list_routes(&control->routes, args, result, err);
}

// ---- the node ----

static int events(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	*result = hs_event_log_since(&control->events.log, args);
	return 0;
}

static json_t *hello(struct hs_control *control)
{
	return hs_control_hello(&control->config, control->node);
}

static json_t *node(struct hs_control *control)
{
	struct hs_node_totals totals;

	hs_control_totals(control, &totals);
	return hs_control_node(&control->config, control->node, &totals);
}

static json_t *ports(struct hs_control *control)
{
	return hs_control_ports(control->node);
}

static json_t *drops(struct hs_control *control)
{
	return hs_control_drops(control->node);
}

static json_t *stats(struct hs_control *control)
{
	struct hs_node_totals totals;

	hs_control_totals(control, &totals);
	return hs_control_stats(control->node, &totals);
}

static json_t *audit(struct hs_control *control)
{
	return hs_control_audit(control, control->node, &control->exports);
}

static int set_labels(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	*result = hs_control_set_labels(control->node, args->labels, err);
	return 0;
}

static json_t *labels(struct hs_control *control)
{
	return hs_control_labels(control->node);
}

HS_API_VERBS(struct hs_control, verbs) = {
		[HS_VERB_HELLO] = {hs_api_hello_fields, .show = hello},
		[HS_VERB_INT_REQUEST] = {hs_api_request_fields, int_request},
		[HS_VERB_INT_UPDATE] = {hs_api_update_fields, int_update},
		[HS_VERB_INT_DELETE] = {hs_api_delete_fields, int_delete},
		[HS_VERB_INT_LIST] = {hs_api_rules_fields, int_list},
		[HS_VERB_INT_GET] = {get_fields, int_get},
		[HS_VERB_QOS_GET] = {hs_api_metrics_fields, qos_get},
		[HS_VERB_ROUTE_ADD] = {hs_control_route_fields, change_routes},
		[HS_VERB_ROUTE_DELETE] = {hs_control_route_fields, change_routes},
		[HS_VERB_ROUTE_LIST] = {hs_control_routes_fields, list_routes},
		[HS_VERB_NEIGHBOUR_ADD] = {hs_control_neighbour_fields, change_routes},
		[HS_VERB_NEIGHBOUR_DELETE] = {hs_control_neighbour_fields, change_routes},
		[HS_VERB_NEIGHBOUR_LIST] = {hs_control_neighbours_fields, list_routes},
		[HS_VERB_NODE_GET] = {hs_control_node_fields, .show = node},
		[HS_VERB_PORTS_GET] = {hs_control_ports_fields, .show = ports},
		[HS_VERB_STATS_GET] = {hs_control_stats_fields, .show = stats},
		[HS_VERB_DROPS_GET] = {hs_control_drops_fields, .show = drops},
		[HS_VERB_EVENTS] = {hs_event_log_fields, events},
		[HS_VERB_AUDIT] = {hs_control_audit_fields, .show = audit},
		[HS_VERB_EXPLAIN] = {hs_control_explain_fields, hs_control_explain},
		[HS_VERB_LABEL_SET] = {hs_control_label_set_fields, set_labels},
		[HS_VERB_LABEL_GET] = {hs_control_label_fields, .show = labels},
};

const struct hs_schema_field *hs_control_reply(enum hs_api_verb verb)
{
	return verbs[verb].fields;
}

int hs_control_answers(void *context, const struct hs_api_args *args, struct hs_error *err)
{
	const struct hs_control *control = context;

	if (!verbs[args->verb].fields)
		return hs_api_refuse_verb(args->verb, err);
	return verbs[args->verb].run == list_routes && !control->routes.book
			       ? hs_api_refuse_routes(err)
			       : 0;
}

int hs_control_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	if (!verbs[args->verb].show)
		return verbs[args->verb].run(context, args, result, err);
	*result = verbs[args->verb].show(context);
	return 0;
}
