// SPDX-License-Identifier: BSD-3-Clause
// The implementation of each request.
#include "ctl_parts.h"
#include "telemetry.h"

#include "qos_untold.h"
#include "rule_json.h"

#include <errno.h>

// ---- rules ----

static int int_request(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t shadowed_by = 0;

	if (hs_ctl_came_in_band(ctl, args->rule.ns_id))
		hs_ctl_remove_rule(ctl, args->rule.ns_id, err);
	hs_ctl_own_forget(ctl, args->rule.ns_id);
	hs_ctl_guests_make_room(ctl);
	hs_telemetry_lock(ctl->config.telemetry);
	int rc = hs_flow_table_install(ctl->flows, &args->rule, &shadowed_by, err);
	hs_telemetry_unlock(ctl->config.telemetry);
	if (rc < 0)
		return rc;
	ctl->generation++;
	uint32_t slot = hs_flow_table_find(ctl->flows, args->rule.ns_id);
	ctl->origins[slot] = (uint8_t)ctl->origin;
	// A rule that came in band stands below a rule that was asked for here, whichever was
	// first.
	while (shadowed_by && hs_ctl_came_in_band(ctl, shadowed_by)) {
		hs_ctl_guest_step_back(ctl, shadowed_by);
		shadowed_by = hs_flow_table_shadowed_by(ctl->flows, slot);
	}
	if (args->rule.in_band)
		hs_ctl_spread_begin(ctl, slot);
	*result = json_pack("{s:I}", "ns_id", (json_int_t)args->rule.ns_id);
	if (shadowed_by)
		json_object_set_new(*result, "shadowed_by", json_integer(shadowed_by));
	hs_qos_put_untold(*result, args->rule.trace_type);
	return 0;
}

// Returns whether other nodes must learn about the update, too.
static bool travels(const struct hs_rule_update *update)
{
	return update->has_mode || update->has_mode_setting || update->has_transmit_report ||
	       update->has_piggyback_report;
}

static int int_update(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	const struct guest *guest = hs_ctl_guest(ctl, args->ns_id);
	uint32_t slot = hs_flow_table_find(ctl->flows, args->ns_id);
	struct hs_rule_update update = args->update;
	int rc = 0;

	if (guest)
		rc = hs_ctl_own_update(ctl, guest, hs_flow_table_rule(ctl->flows, slot), &update);
	if (rc < 0)
		return rc;
	hs_telemetry_lock(ctl->config.telemetry);
	rc = hs_flow_table_update(ctl->flows, args->ns_id, &update, err);
	hs_telemetry_unlock(ctl->config.telemetry);
	if (rc < 0)
		return rc;
	ctl->generation++;
	if (travels(&args->update))
		hs_ctl_spread_changed(ctl, slot);
	hs_ctl_piggyback_changed(ctl, slot);
	*result = json_pack("{s:I, s:o}", "ns_id", (json_int_t)args->ns_id, "rule",
			hs_rule_to_json(hs_flow_table_rule(ctl->flows, slot)));
	return 0;
}

// Reports that came before a request count in its answer. The rings are emptied once for all the
// requests of a transaction, because reports that come meanwhile would keep it from ending.
static void take_what_waits(struct hs_ctl *ctl)
{
	if (!ctl->request_drained)
		hs_ctl_drain(ctl, hs_ctl_waiting(ctl));
	ctl->request_drained = true;
}

static int int_delete(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	take_what_waits(ctl); // the pointer still belongs to the rule
	int rc = hs_ctl_remove_rule(ctl, args->ns_id, err);
	if (rc < 0)
		return rc;
	hs_ctl_own_forget(ctl, args->ns_id);
	*result = json_pack("{s:I}", "ns_id", (json_int_t)args->ns_id);
	return 0;
}

static const char *const origins[] = {
		[HS_ORIGIN_API] = "api",
		[HS_ORIGIN_CONFIG] = "config",
		[HS_ORIGIN_IN_BAND] = "in_band",
		[HS_ORIGIN_STATE] = "state",
};

static void add_spreading(json_t *state, const struct spreading *s)
{
	json_object_set_new(state, "request_sent", json_integer((json_int_t)s->sent));
	if (s->sent)
		json_object_set_new(state, "last_request_tx_ns", json_integer(s->last_ns));
	json_object_set_new(state, "request_waits", json_boolean(s->stands));
	if (!s->stands)
		json_object_set_new(state, "next_request_ns", json_integer(s->due_ns));
}

static json_t *state_of(struct hs_ctl *ctl, uint32_t slot)
{
	const struct rule_note *note = ctl->notes[slot];
	uint32_t shadowed_by = hs_flow_table_shadowed_by(ctl->flows, slot);

	json_t *state = json_pack("{s:b, s:s}", "monitored", note && note->monitored, "origin",
			origins[ctl->origins[slot]]);
	if (note && note->unmonitored)
		json_object_set_new(state, "monitor_refused", json_true());
	if (shadowed_by)
		json_object_set_new(state, "shadowed_by", json_integer(shadowed_by));
	if (note && note->spreading)
		add_spreading(state, note->spreading);
	if (note && note->guest) {
		json_object_set_new(state, "expires_ns", json_integer(note->guest->expires_ns));
		hs_ctl_own_show(ctl, note->guest, state);
	}
	if (note && note->backlog)
		json_object_set_new(
				state, "reports_waiting", json_integer(note->backlog->n_waiting));
	return state;
}

// Consecutive pages continue where the last one ended. Any other offset is walked to.
static uint32_t seek(struct hs_ctl *ctl, uint64_t offset)
{
	if (offset == ctl->page_offset && ctl->generation == ctl->page_generation)
		return ctl->page_slot;
	uint32_t slot = HS_FLOW_NONE;
	for (uint64_t i = 0; i < offset && hs_flow_table_next(ctl->flows, &slot); i++)
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

static int int_list(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	json_t *rules = json_array(), *in_band = json_array(), *shadowed = json_array();
	uint64_t count = hs_flow_table_count(ctl->flows);
	uint64_t end = args->offset + args->limit < count ? args->offset + args->limit : count;
	uint32_t slot = args->offset < count ? seek(ctl, args->offset) : HS_FLOW_NONE, next = slot;
	size_t used = 0;

	for (uint64_t i = args->offset; i < end && hs_flow_table_next(ctl->flows, &next); i++) {
		const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, next);
		if (!hs_api_page_add(args, rules, hs_rule_to_json(rule), &used)) {
			end = i;
			break;
		}
		slot = next;
		if (ctl->origins[slot] == HS_ORIGIN_IN_BAND)
			json_array_append_new(in_band, json_integer(rule->ns_id));
		uint32_t by = hs_flow_table_shadowed_by(ctl->flows, slot);
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
		ctl->page_offset = end;
		ctl->page_slot = slot;
		ctl->page_generation = ctl->generation;
	}
	return 0;
}

static int int_get(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	uint32_t slot = hs_flow_table_find(ctl->flows, args->ns_id);
	struct hs_metric_view view;

	if (slot == HS_FLOW_NONE) {
		hs_error_set(err, "no_such_rule", "/ns_id", "a namespace that has a rule",
				"namespace %u has no rule", args->ns_id);
		return -ENOENT;
	}
	hs_flow_table_counters(ctl->flows, slot, &view.rule);
	*result = json_pack("{s:o, s:o, s:o}", "rule",
			hs_rule_to_json(hs_flow_table_rule(ctl->flows, slot)), "counters",
			hs_ctl_scope(HS_SCOPE_RULE, &view), "state", state_of(ctl, slot));
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

static void add_window(struct hs_ctl *ctl, json_t *list, uint32_t ns_id, int64_t window_ns)
{
	add_one(list, hs_qos_latest(ctl->qos, ns_id, window_ns));
}

static void add_windows(
		struct hs_ctl *ctl, json_t *list, uint32_t ns_id, const struct hs_api_args *args)
{
	if (args->end_ns != 0) {
		add_one(list, hs_qos_slide(ctl->qos, ns_id, args->start_ns, args->end_ns));
		return;
	}
	if (args->window_ns != 0) {
		bool run = args->window_ns == HS_API_WINDOW_RUN;
		add_window(ctl, list, ns_id, run ? 0 : args->window_ns);
		return;
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS && ctl->config.window_ns[i]; i++)
		add_window(ctl, list, ns_id, ctl->config.window_ns[i]);
}

static json_t *windows_of(
		struct hs_ctl *ctl, const struct rule_note *note, const struct hs_api_args *args)
{
	json_t *list = json_array();

	add_windows(ctl, list, hs_flow_table_rule(ctl->flows, note->slot)->ns_id, args);
	return list;
}

// `offset` and `limit` count rules that have a monitor.
static int qos_get(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	json_t *list = json_array();
	uint64_t at = 0, end = args->offset + args->limit;
	const struct rule_note *note;
	size_t used = 0;

	take_what_waits(ctl);
	if (args->app_id) {
		json_decref(list);
		*result = hs_ctl_application(ctl, args);
		return *result ? 0 : -ENOMEM;
	}
	*result = json_pack("{s:o}", "qos", list);
	if (args->has_ns_id) {
		add_windows(ctl, list, args->ns_id, args);
		return 0;
	}
	TAILQ_FOREACH (note, &ctl->monitored, order) {
		bool wanted = at >= args->offset;
		if (at == end || (wanted && !hs_api_page_extend(args, list,
							    windows_of(ctl, note, args), &used))) {
			json_object_set_new(*result, "next", json_integer((json_int_t)at));
			break;
		}
		at++;
	}
	return 0;
}

// ---- the node ----

static const char *forwarding_name(const struct hs_ctl *ctl)
{
	static const char *const names[] = {
			[HS_FORWARD_PATCH] = "patch",
			[HS_FORWARD_BRIDGE] = "bridge",
			[HS_FORWARD_ROUTE] = "route",
	};
	return names[hs_node_config(ctl->node)->forwarding];
}

static int hello(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	const struct hs_node_config *config = hs_node_config(ctl->node);

	*result = hs_api_hello();
	json_object_update_new(*result,
			json_pack("{s:s, s:i, s:s, s:s, s:[s, s, s, s, s, s]}", "version",
					HS_VERSION, "node_id", config->id, "name", config->name,
					"boot_id", ctl->config.boot_id, "features", "flexint",
					"qos", "transactions", "events", "in_band", "piggyback"));
	json_t *limits = json_object_get(*result, "limits");
	json_object_set_new(limits, "rules", json_integer(hs_flow_table_capacity(ctl->flows)));
	json_object_set_new(limits, "monitored_rules", json_integer(ctl->config.monitored_rules));
	if (ctl->routes)
		json_object_set_new(limits, "routes",
				json_integer(hs_fib_capacity(hs_node_fib(ctl->node))));
	return 0;
}

static json_t *workers_of(const struct hs_ctl *ctl)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < hs_node_config(ctl->node)->n_workers; i++) {
		struct hs_port *ports[HS_MAX_PORTS];
		struct hs_metric_view view;
		json_t *names = json_array();
		unsigned n = hs_node_worker_ports(ctl->node, i, ports);
		for (unsigned p = 0; p < n; p++)
			json_array_append_new(names, json_string(ports[p]->config.name));
		hs_node_worker_counters(ctl->node, i, &view.worker);
		json_t *worker = json_pack("{s:i, s:o}", "worker", i, "ports", names);
		json_object_update_new(worker, hs_ctl_scope(HS_SCOPE_WORKER, &view));
		json_array_append_new(list, worker);
	}
	return list;
}

static json_t *clock_of(const struct hs_ctl *ctl)
{
	struct hs_metric_view view;
	hs_ctl_totals(ctl, &view.node);
	json_t *clock = hs_ctl_scope(HS_SCOPE_CLOCK, &view);
	if (!ctl->clock_status.known)
		json_object_del(clock, "synchronised");
	return clock;
}

static int node_get(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	const struct hs_node_config *config = hs_node_config(ctl->node);
	struct hs_metric_view view;

	hs_ctl_totals(ctl, &view.node);
	*result = json_pack("{s:i, s:s, s:s, s:s, s:s}", "id", config->id, "name", config->name,
			"boot_id", ctl->config.boot_id, "version", HS_VERSION, "forwarding",
			forwarding_name(ctl));
	if (ctl->config.settings)
		json_object_update(*result, ctl->config.settings);
	json_object_update_new(*result, hs_ctl_scope(HS_SCOPE_NODE, &view));
	json_object_set_new(*result, "monitored_rules", json_integer(ctl->config.monitored_rules));
	json_object_set_new(*result, "clock", clock_of(ctl));
	json_object_set_new(*result, "workers", workers_of(ctl));
	return 0;
}

static int ports_get(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_ctl_ports(ctl);
	return 0;
}

static int stats_get(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_ctl_stats(ctl);
	return 0;
}

static int drops_get(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_ctl_drops(ctl);
	return 0;
}

static int events(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	*result = hs_event_log_since(&ctl->events, args);
	return 0;
}

static int audit(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)args, (void)err;
	*result = hs_ctl_audit(ctl);
	return 0;
}

typedef int (*verb_fn)(struct hs_ctl *ctl, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);

static const verb_fn verbs[HS_VERB_COUNT] = {
		[HS_VERB_HELLO] = hello,
		[HS_VERB_INT_REQUEST] = int_request,
		[HS_VERB_INT_UPDATE] = int_update,
		[HS_VERB_INT_DELETE] = int_delete,
		[HS_VERB_INT_LIST] = int_list,
		[HS_VERB_INT_GET] = int_get,
		[HS_VERB_QOS_GET] = qos_get,
		[HS_VERB_ROUTE_ADD] = hs_ctl_change_routes,
		[HS_VERB_ROUTE_DELETE] = hs_ctl_change_routes,
		[HS_VERB_ROUTE_LIST] = hs_ctl_list_routes,
		[HS_VERB_NEIGHBOUR_ADD] = hs_ctl_change_routes,
		[HS_VERB_NEIGHBOUR_DELETE] = hs_ctl_change_routes,
		[HS_VERB_NEIGHBOUR_LIST] = hs_ctl_list_routes,
		[HS_VERB_NODE_GET] = node_get,
		[HS_VERB_PORTS_GET] = ports_get,
		[HS_VERB_STATS_GET] = stats_get,
		[HS_VERB_DROPS_GET] = drops_get,
		[HS_VERB_EVENTS] = events,
		[HS_VERB_AUDIT] = audit,
};

int hs_ctl_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	int rc = verbs[args->verb](context, args, result, err);
	return rc == 0 && !*result ? -ENOMEM : rc;
}
