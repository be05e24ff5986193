// SPDX-License-Identifier: BSD-3-Clause
// The implementation of each request.
#include "control_verbs.h"
#include "control_app.h"
#include "control_audit.h"
#include "control_parts.h"
#include "control_ports.h"
#include "control_report.h"
#include "control_route.h"
#include "control_rule.h"
#include "control_totals.h"

#include "qos_untold.h"
#include "rule_json.h"

#include <errno.h>

// ---- rules ----

static int int_request(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t shadowed_by = 0;

	if (hs_in_band_has(control->in_band, args->rule.ns_id))
		hs_control_remove_rule(control, args->rule.ns_id, err);
	hs_in_band_forget_own(control->in_band, args->rule.ns_id);
	hs_in_band_make_room(control->in_band);
	int rc = hs_control_install_rule(control, &args->rule, control->origin, &shadowed_by, err);
	if (rc < 0)
		return rc;
	uint32_t slot = hs_flow_table_find(control->flows, args->rule.ns_id);
	// A rule that came in band stands below a rule that was asked for here, whichever was
	// first.
	while (shadowed_by && hs_in_band_has(control->in_band, shadowed_by)) {
		hs_in_band_step_back(control->in_band, shadowed_by);
		shadowed_by = hs_flow_table_shadowed_by(control->flows, slot);
	}
	if (args->rule.in_band)
		hs_in_band_begin(control->in_band, slot);
	*result = json_pack("{s:I}", "ns_id", (json_int_t)args->rule.ns_id);
	if (shadowed_by)
		json_object_set_new(*result, "shadowed_by", json_integer(shadowed_by));
	if (args->rule.method == HS_RULE_FLEXINT)
		hs_qos_put_untold(*result, args->rule.trace_type);
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
		rc = hs_control_update_rule(control, args->ns_id, &update, err);
	if (rc < 0)
		return rc;
	hs_in_band_updated(control->in_band, slot, travels(&args->update));
	*result = json_pack("{s:I, s:o}", "ns_id", (json_int_t)args->ns_id, "rule",
			hs_rule_to_json(hs_flow_table_rule(control->flows, slot)));
	return 0;
}

// Reports that came before a request count in its answer. The rings are emptied once for all the
// requests of a transaction, because reports that come meanwhile would keep it from ending.
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
	int rc = hs_control_remove_rule(control, args->ns_id, err);
	if (rc < 0)
		return rc;
	hs_in_band_forget_own(control->in_band, args->ns_id);
	*result = json_pack("{s:I}", "ns_id", (json_int_t)args->ns_id);
	return 0;
}

static const char *const origins[] = {
		[HS_ORIGIN_API] = "api",
		[HS_ORIGIN_CONFIG] = "config",
		[HS_ORIGIN_IN_BAND] = "in_band",
		[HS_ORIGIN_STATE] = "state",
};

static json_t *state_of(struct hs_control *control, uint32_t slot)
{
	const struct rule_note *note = control->notes[slot];
	uint32_t shadowed_by = hs_flow_table_shadowed_by(control->flows, slot);

	json_t *state = json_pack("{s:b, s:s}", "monitored", note && note->monitored, "origin",
			origins[control->origins[slot]]);
	if (note && note->unmonitored)
		json_object_set_new(state, "monitor_refused", json_true());
	if (shadowed_by)
		json_object_set_new(state, "shadowed_by", json_integer(shadowed_by));
	hs_in_band_show(control->in_band, slot, state);
	return state;
}

// Consecutive pages continue where the last one ended. Any other offset is walked to.
static uint32_t seek(struct hs_control *control, uint64_t offset)
{
	if (offset == control->page_offset && control->generation == control->page_generation)
		return control->page_slot;
	uint32_t slot = HS_FLOW_NONE;
	for (uint64_t i = 0; i < offset && hs_flow_table_next(control->flows, &slot); i++)
		;
	return slot;
}

// Adds a list, unless it is empty.
static void put_list(json_t *to, const char *key, json_t *list)
{
	if (json_array_size(list))
		json_object_set(to, key, list);
	json_decref(list);
}

static int int_list(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	json_t *rules = json_array(), *in_band = json_array(), *shadowed = json_array();
	uint64_t count = hs_flow_table_count(control->flows);
	uint64_t end = args->offset + args->limit < count ? args->offset + args->limit : count;
	uint32_t slot = args->offset < count ? seek(control, args->offset) : HS_FLOW_NONE,
		 next = slot;
	size_t used = 0;

	for (uint64_t i = args->offset; i < end && hs_flow_table_next(control->flows, &next); i++) {
		const struct hs_rule *rule = hs_flow_table_rule(control->flows, next);
		if (!hs_api_page_add(args, rules, hs_rule_to_json(rule), &used)) {
			end = i;
			break;
		}
		slot = next;
		if (control->origins[slot] == HS_ORIGIN_IN_BAND)
			json_array_append_new(in_band, json_integer(rule->ns_id));
		uint32_t by = hs_flow_table_shadowed_by(control->flows, slot);
		if (by)
			json_array_append_new(shadowed,
					json_pack("{s:I, s:I}", "ns_id", (json_int_t)rule->ns_id,
							"shadowed_by", (json_int_t)by));
	}
	*result = json_pack("{s:o, s:I}", "rules", rules, "count", (json_int_t)count);
	put_list(*result, "in_band", in_band);
	put_list(*result, "shadowed", shadowed);
	if (end < count && args->offset < end) {
		json_object_set_new(*result, "next", json_integer((json_int_t)end));
		control->page_offset = end;
		control->page_slot = slot;
		control->page_generation = control->generation;
	}
	return 0;
}

static int int_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(control->flows, args->ns_id);
	struct hs_metric_view view;

	if (slot == HS_FLOW_NONE) {
		hs_error_set(err, "no_such_rule", "ns_id", "a namespace that has a rule",
				"namespace %u has no rule", args->ns_id);
		return -ENOENT;
	}
	hs_flow_table_counters(control->flows, slot, &view.rule);
	*result = json_pack("{s:o, s:o, s:o}", "rule",
			hs_rule_to_json(hs_flow_table_rule(control->flows, slot)), "counters",
			hs_control_scope(HS_SCOPE_RULE, &view), "state", state_of(control, slot));
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

	add_windows(control, list, hs_flow_table_rule(control->flows, note->slot)->ns_id, args);
	return list;
}

// `offset` and `limit` count rules that have a monitor.
static int qos_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	json_t *list = json_array();
	uint64_t at = 0, end = args->offset + args->limit;
	const struct rule_note *note;
	size_t used = 0;

	take_what_waits(control);
	if (args->app_id) {
		json_decref(list);
		*result = hs_control_application(control, args);
		return 0;
	}
	*result = json_pack("{s:o}", "qos", list);
	if (args->has_ns_id) {
		add_windows(control, list, args->ns_id, args);
		return 0;
	}
	TAILQ_FOREACH (note, &control->monitored, order) {
		bool wanted = at >= args->offset;
		if (at == end || (wanted && !hs_api_page_extend(args, list,
							    windows_of(control, note, args),
							    &used))) {
			json_object_set_new(*result, "next", json_integer((json_int_t)at));
			break;
		}
		at++;
	}
	return 0;
}

// ---- the node ----

static const char *forwarding_name(const struct hs_control *control)
{
	static const char *const names[] = {
			[HS_FORWARD_PATCH] = "patch",
			[HS_FORWARD_BRIDGE] = "bridge",
			[HS_FORWARD_ROUTE] = "route",
	};
	return names[hs_node_config(control->node)->forwarding];
}

static int hello(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	const struct hs_node_config *config = hs_node_config(control->node);

	*result = hs_api_hello();
	json_object_update_new(*result,
			json_pack("{s:s, s:i, s:s, s:s, s:[s, s, s, s, s, s, s]}", "version",
					HS_VERSION, "node_id", config->id, "name", config->name,
					"boot_id", control->config.boot_id, "features", "flexint",
					"qos", "transactions", "events", "in_band", "piggyback",
					"owner"));
	json_t *limits = json_object_get(*result, "limits");
	json_object_set_new(limits, "rules", json_integer(hs_flow_table_capacity(control->flows)));
	json_object_set_new(
			limits, "monitored_rules", json_integer(control->config.monitored_rules));
	if (control->routes)
		json_object_set_new(limits, "routes",
				json_integer(hs_fib_capacity(hs_node_fib(control->node))));
	return 0;
}

static json_t *workers_of(const struct hs_control *control)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < hs_node_config(control->node)->n_workers; i++) {
		struct hs_port *ports[HS_MAX_PORTS];
		struct hs_metric_view view;
		json_t *names = json_array();
		unsigned n = hs_node_worker_ports(control->node, i, ports);
		for (unsigned p = 0; p < n; p++)
			json_array_append_new(names, json_string(ports[p]->config.name));
		hs_node_worker_counters(control->node, i, &view.worker);
		json_t *worker = json_pack("{s:i, s:o}", "worker", i, "ports", names);
		json_object_update_new(worker, hs_control_scope(HS_SCOPE_WORKER, &view));
		json_array_append_new(list, worker);
	}
	return list;
}

static json_t *clock_of(const struct hs_control *control)
{
	struct hs_metric_view view;
	hs_control_totals(control, &view.node);
	json_t *clock = hs_control_scope(HS_SCOPE_CLOCK, &view);
	if (!control->clock_status.known)
		json_object_del(clock, "synchronised");
	return clock;
}

static int node_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	const struct hs_node_config *config = hs_node_config(control->node);
	struct hs_metric_view view;

	hs_control_totals(control, &view.node);
	*result = json_pack("{s:i, s:s, s:s, s:s, s:s}", "id", config->id, "name", config->name,
			"boot_id", control->config.boot_id, "version", HS_VERSION, "forwarding",
			forwarding_name(control));
	if (control->config.settings)
		json_object_update(*result, control->config.settings);
	json_object_update_new(*result, hs_control_scope(HS_SCOPE_NODE, &view));
	json_object_set_new(
			*result, "monitored_rules", json_integer(control->config.monitored_rules));
	json_object_set_new(*result, "clock", clock_of(control));
	json_object_set_new(*result, "workers", workers_of(control));
	return 0;
}

static int ports_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_control_ports(control);
	return 0;
}

static int stats_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_control_stats(control);
	return 0;
}

static int drops_get(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_control_drops(control);
	return 0;
}

static int events(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	*result = hs_event_log_since(&control->events, args);
	return 0;
}

static int audit(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_control_audit(control);
	return 0;
}

HS_API_VERBS(struct hs_control, verbs) = {
		[HS_VERB_HELLO] = hello,
		[HS_VERB_INT_REQUEST] = int_request,
		[HS_VERB_INT_UPDATE] = int_update,
		[HS_VERB_INT_DELETE] = int_delete,
		[HS_VERB_INT_LIST] = int_list,
		[HS_VERB_INT_GET] = int_get,
		[HS_VERB_QOS_GET] = qos_get,
		[HS_VERB_ROUTE_ADD] = hs_control_change_routes,
		[HS_VERB_ROUTE_DELETE] = hs_control_change_routes,
		[HS_VERB_ROUTE_LIST] = hs_control_list_routes,
		[HS_VERB_NEIGHBOUR_ADD] = hs_control_change_routes,
		[HS_VERB_NEIGHBOUR_DELETE] = hs_control_change_routes,
		[HS_VERB_NEIGHBOUR_LIST] = hs_control_list_routes,
		[HS_VERB_NODE_GET] = node_get,
		[HS_VERB_PORTS_GET] = ports_get,
		[HS_VERB_STATS_GET] = stats_get,
		[HS_VERB_DROPS_GET] = drops_get,
		[HS_VERB_EVENTS] = events,
		[HS_VERB_AUDIT] = audit,
};

int hs_control_answers(void *context, const struct hs_api_args *args, struct hs_error *err)
{
	const struct hs_control *control = context;

	return verbs[args->verb] == hs_control_list_routes && !control->routes
			       ? hs_api_refuse_routes(err)
			       : 0;
}

int hs_control_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	return verbs[args->verb](context, args, result, err);
}
