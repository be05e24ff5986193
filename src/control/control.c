// SPDX-License-Identifier: BSD-3-Clause
#include "control.h"
#include "control_clock.h"
#include "control_export.h"
#include "control_label.h"
#include "control_page.h"
#include "control_parts.h"
#include "control_report.h"
#include "control_route.h"
#include "control_rule.h"
#include "control_shadow.h"
#include "control_verbs.h"
#include "control_watch.h"

#include "dpdk_telemetry.h"
#include "metric_page.h"
#include "qos_lengths.h"
#include "rule_admission.h"
#include "rule_mask.h"

#include <errno.h>
#include <rte_common.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS	      INT64_C(100000000)
#define SECOND_NS     INT64_C(1000000000)
#define BATCH	      64 // of punts
#define STEP_LIMIT    4096
#define BRIEF_LIMIT   128
#define BRIEF_FLOWS   32
#define PUNTS_AT_ONCE 256   // takes at most 2 ms, so that API requests have their turn
#define FLOWS_AT_ONCE 128   // number whose windows close before rings are read again: some 3 ms
#define STAGGER_NS    50000 // from flow to flow; a window takes some 20 us to close
#define PORTION	      8	    // of these flows, after which control looks whether reports pile up

// ---- what packets brought ----

static void take_punts(struct hs_control *control)
{
	struct hs_punt punts[BATCH];
	unsigned taken = 0, n;

	do {
		n = hs_node_take_punts(control->node, punts, BATCH);
		for (unsigned i = 0; i < n;) {
			unsigned parts = punts[i].parts - punts[i].part;
			parts = parts && parts < n - i ? parts : n - i;
			hs_in_band_take(control->in_band, &punts[i], parts);
			i += parts;
		}
		taken += n;
	} while (n > 0 && taken < PUNTS_AT_ONCE);
	control->counts.signals_taken += taken;
}

// ---- requests ----

static bool ns_exists(void *context, uint32_t ns_id)
{
	struct hs_control *control = context;
	return hs_flow_table_find(control->flows, ns_id) != HS_FLOW_NONE;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	struct hs_control *control = context;
	uint32_t slot = hs_flow_table_find(control->flows, ns_id);
	return slot == HS_FLOW_NONE ? NULL : hs_flow_table_rule(control->flows, slot);
}

static uint32_t rules_free(void *context)
{
	struct hs_control *control = context;
	return hs_flow_table_capacity(control->flows) - hs_flow_table_count(control->flows) +
	       hs_in_band_rules(control->in_band);
}

static void masks_of(void *context, struct hs_rule_masks *masks)
{
	*masks = *hs_flow_table_masks(((const struct hs_control *)context)->flows);
}

static uint64_t generation(void *context)
{
	const struct hs_control *control = context;
	return hs_control_rule_changes(&control->rules) + control->routes.changes;
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	const struct hs_control *control = context;
	int rc = hs_in_band_admits(control->in_band, rule, err);

	return rc ? rc : hs_rule_admission(hs_node_config(control->node), rule, err);
}

static bool gives_way(void *context, uint32_t ns_id)
{
	return hs_in_band_has(((struct hs_control *)context)->in_band, ns_id);
}

static bool has_settings(void *context, uint32_t ns_id)
{
	const struct hs_control *control = context;
	return hs_in_band_has_own(control->in_band, ns_id);
}

static struct hs_route_book *routes_of(void *context)
{
	return ((struct hs_control *)context)->routes.book;
}

static int port_of(void *context, const char *name)
{
	const struct hs_control *control = context;

	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++) {
		if (strcmp(hs_node_port(control->node, i)->config.name, name) == 0)
			return i;
	}
	return -1;
}

static int commit_routes(void *context, struct hs_error *err)
{
	return hs_control_commit_routes(&((struct hs_control *)context)->routes, err);
}

static json_t *labels_now(void *context, const json_t *labels, struct hs_error *err)
{
	return hs_control_labels_now(((const struct hs_control *)context)->node, labels, err);
}

// The monitor needs the time, too: windows that a change or the end of the node cuts end then.
static void set_now(struct hs_control *control, int64_t now_ns)
{
	control->now_ns = now_ns;
	hs_qos_tell_time(control->qos, now_ns);
}

int hs_control_install(struct hs_control *control, int64_t now_ns, json_t *requests,
		enum hs_rule_origin origin, struct hs_error *err)
{
	control->now_ns = now_ns;
	control->origin = origin;
	return hs_api_run_list(&control->backend, requests, err);
}

struct control_events *hs_control_events(struct hs_control *control)
{
	return &control->events;
}

char *hs_control_request(struct hs_control *control, int64_t now_ns, const char *message,
		size_t len, bool may_change)
{
	set_now(control, now_ns);
	control->counts.requests++;
	control->request_drained = false;
	control->origin = HS_ORIGIN_API;
	return hs_api_handle(&control->backend, message, len, may_change);
}

void hs_control_page(struct hs_control *control, struct hs_prometheus *page)
{
	struct hs_node_totals totals;

	hs_control_totals(control, &totals);
	hs_metric_page(page, control->node, &totals);
	hs_control_page_rules(page, &control->rules, control->qos,
			hs_qos_lengths_shown(control->config.window_ns));
}

// ---- time ----

static unsigned flows_at_once(const struct hs_control *control)
{
	return control->config.brief_steps ? BRIEF_FLOWS : FLOWS_AT_ONCE;
}

// Where workers help, control looks after each portion whether reports pile up. If they do, it
// takes reports before it closes further windows.
static unsigned portions_at_once(const struct hs_control *control)
{
	return control->config.workers_help ? flows_at_once(control) / PORTION : 1;
}

// Closes the windows that are due. A window must not close while reports of it wait, but must close
// even if reports come faster than they are processed. So the reports that wait when the window is
// due are processed first, and later ones are not. Flows are handled in portions, so that rings do
// not overflow and requests have their turn.
static void close_windows(struct hs_control *control)
{
	if (control->now_ns < hs_qos_next_ns(control->qos))
		return;
	if (!control->close_after_reports)
		control->close_after_reports =
				control->counts.reports_taken + hs_control_waiting(control) + 1;
	if (control->counts.reports_taken + 1 < control->close_after_reports)
		return;
	hs_control_shadow_mark(&control->shadow, control->node, &control->rules, control->qos);
	for (unsigned i = 0; i < portions_at_once(control); i++) {
		hs_qos_advance(control->qos, control->now_ns);
		if (control->config.workers_help && hs_node_reports_pile_up(control->node))
			break;
	}
	if (control->now_ns < hs_qos_next_ns(control->qos))
		control->close_after_reports = 0;
}

static void tick(struct hs_control *control)
{
	hs_control_correct_clock(&control->clock);
	hs_control_reclaim_rules(&control->rules);
	hs_control_continue_walk(&control->watch, control->now_ns);
	hs_in_band_expire(control->in_band);
}

static void each_second(struct hs_control *control)
{
	struct control_watch *watch = &control->watch;
	struct hs_node_totals totals;
	int64_t now_ns = control->now_ns;

	hs_node_reconcile_tx(control->node);
	hs_control_watch_clock(&control->clock, &control->events);
	hs_control_begin_walk(watch, now_ns);
	hs_control_totals(control, &totals);
	hs_control_watch_losses(watch, now_ns, &totals);
	hs_control_watch_exports(
			&control->exports, now_ns, totals.exports_lost_ring_full, &control->events);
	hs_control_watch_monitor(watch, now_ns, control->config.monitored_rules);
	hs_control_watch_state(control);
	hs_control_watch_ports(watch, now_ns);
	hs_dpdk_telemetry_update(control->config.telemetry, &totals);
}

// Where workers help, more reports are taken while windows are to be closed, because more come
// while a portion of windows closes.
static unsigned reports_at_once(const struct hs_control *control)
{
	bool closes = control->config.workers_help && control->close_after_reports;

	return control->config.brief_steps && !closes ? BRIEF_LIMIT : STEP_LIMIT;
}

unsigned hs_control_step(struct hs_control *control, int64_t now_ns)
{
	set_now(control, now_ns);
	take_punts(control);
	unsigned taken = hs_control_drain(control, reports_at_once(control));
	taken += hs_control_send_exports(&control->exports, control->now_ns, false);
	hs_in_band_step(control->in_band);
	close_windows(control);
	hs_control_state_step(control);
	if (control->now_ns >= control->next_tick_ns) {
		control->next_tick_ns = control->now_ns + TICK_NS;
		tick(control); // the clock may step here
	}
	if (control->now_ns >= control->next_second_ns) {
		control->next_second_ns = control->now_ns + SECOND_NS;
		each_second(control);
	}
	return taken;
}

int64_t hs_control_next_ns(const struct hs_control *control)
{
	int64_t next_ns = hs_qos_next_ns(control->qos);

	if (hs_control_state_is_busy(control))
		return control->now_ns;
	next_ns = RTE_MIN(next_ns, control->next_tick_ns);
	next_ns = RTE_MIN(next_ns, control->next_second_ns);
	return RTE_MIN(next_ns, hs_in_band_next_ns(control->in_band));
}

unsigned hs_control_finish(struct hs_control *control, int64_t now_ns)
{
	struct control_rules *rules = &control->rules;

	set_now(control, now_ns);
	take_punts(control);
	while (hs_control_drain(control, STEP_LIMIT) > 0)
		;
	hs_control_send_exports(&control->exports, control->now_ns, true);
	struct rule_note *note;
	for (unsigned i = 0; i < FLOWS_AT_ONCE && (note = hs_control_next_monitored(rules, NULL));
			i++) {
		hs_qos_remove(control->qos, hs_control_noted_rule(rules, note)->ns_id);
		hs_control_forget(rules, note->slot);
	}
	each_second(control);
	return hs_control_monitored(rules);
}

// ---- a step of the clock ----

// Shifts all times at which control must act, so that nothing is late or early because of a step.
static void shift_all(struct hs_control *control, int64_t by_ns)
{
	control->now_ns += by_ns;
	hs_clock_shift(&control->start_ns, by_ns);
	hs_clock_shift(&control->next_tick_ns, by_ns);
	hs_clock_shift(&control->next_second_ns, by_ns);
	hs_control_shift_exports(&control->exports, by_ns);
	hs_control_shift_watch(&control->watch, by_ns);
	hs_control_shift_state(control, by_ns);
	hs_control_shift_notes(&control->rules, by_ns);
	hs_in_band_shift(control->in_band, by_ns);
}

// Prepares a step of the clock. Readers see the old time until this function returns, so the
// reports that wait in the rings belong to the old time.
static void on_step(void *context, int64_t amount_ns)
{
	struct hs_control *control = context;

	hs_control_drain(control, hs_control_waiting(control));
	hs_control_clock_steps(&control->clock);
	hs_control_shadow_mark(&control->shadow, control->node, &control->rules, control->qos);
	hs_qos_clock_step(control->qos);
	control->close_after_reports = 0;
	shift_all(control, amount_ns);
	hs_control_clock_stepped(&control->clock, control->now_ns, amount_ns, &control->events);
}

// ---- what the in-band part calls ----

static int install_rule(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	struct hs_control *control = context;
	return hs_control_install_rule(&control->rules, rule, HS_ORIGIN_IN_BAND, NULL, err);
}

static int update_rule(void *context, uint32_t ns_id, const struct hs_rule_update *update,
		struct hs_error *err)
{
	struct hs_control *control = context;
	return hs_control_update_rule(&control->rules, ns_id, update, err);
}

static int remove_rule(void *context, uint32_t ns_id, struct hs_error *err)
{
	struct hs_control *control = context;
	return hs_control_remove_rule(&control->rules, ns_id, err);
}

static void take_report(void *context, const struct hs_report *report,
		const struct hs_report_sender *sender)
{
	hs_control_take_returned(context, report, sender);
}

// ---- making ----

static int open_in_band(struct hs_control *control)
{
	struct hs_in_band_settings settings;
	struct hs_in_band_host host = {
			.context = control,
			.node = control->node,
			.now_ns = &control->now_ns,
			.counts = &control->counts,
			.install = install_rule,
			.update = update_rule,
			.remove = remove_rule,
			.report = take_report,
			.event = hs_control_event,
			.events = &control->events,
	};

	hs_in_band_init(&settings);
	return hs_in_band_create(&host,
			control->config.in_band ? control->config.in_band : &settings,
			&control->in_band);
}

static void on_window(void *context, const struct hs_qos_window *window)
{
	hs_control_publish_window(context, window);
}

static void open_events(struct hs_control *control)
{
	struct control_events *events = &control->events;

	hs_event_log_init(&events->log);
	events->output = &control->output;
	events->counts = &control->counts;
	events->now_ns = &control->now_ns;
	events->boot_id = control->config.boot_id;
	events->node_id = hs_node_config(control->node)->id;
}

static const int64_t default_windows_ns[HS_QOS_WINDOWS] = HS_QOS_DEFAULT_LENGTHS;

static int make_parts(struct hs_control *control)
{
	struct hs_qos_config qos = {
			.max_flows = control->config.monitored_rules,
			.memory_bytes = control->config.monitor_bytes,
			.window_ns = {control->config.window_ns[0], control->config.window_ns[1],
					control->config.window_ns[2], control->config.window_ns[3]},
			.tells_steps = true,
			.node_id = hs_node_config(control->node)->id,
			.help = control->config.workers_help,
			.stagger_ns = control->config.workers_help ? STAGGER_NS : 0,
			.flows_per_advance = control->config.workers_help ? PORTION
									  : flows_at_once(control),
			.on_window = on_window,
			.user = &control->events,
	};
	int rc = hs_qos_create(&qos, &control->qos);
	if (rc < 0)
		return rc;
	control->rules.flows = control->flows;
	control->rules.telemetry = control->config.telemetry;
	control->rules.qos = control->qos;
	control->rules.in_band = control->in_band;
	return hs_control_open_rules(&control->rules);
}

static unsigned help(void *context)
{
	return hs_qos_help(context);
}

static void open_backend(struct hs_control *control)
{
	control->backend = (struct hs_api_backend){
			.context = control,
			.run = hs_control_run_verb,
			.ns_exists = ns_exists,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.masks = masks_of,
			.admits = admits,
			.gives_way = gives_way,
			.has_settings = has_settings,
			.answers = hs_control_answers,
			.labels_now = labels_now,
			.routes = routes_of,
			.port_of = port_of,
			.commit_routes = commit_routes,
			.generation = generation,
			.spent_ns = control->config.spent_ns,
	};
}

int hs_control_create(const struct hs_control_config *config, struct hs_node *node,
		struct hs_clock *clock, const struct hs_control_output *output, int64_t now_ns,
		struct hs_control **out)
{
	struct hs_control *control = calloc(1, sizeof(*control));
	if (!control)
		return -ENOMEM;
	control->config = *config;
	if (!config->window_ns[0])
		memcpy(control->config.window_ns, default_windows_ns, sizeof(default_windows_ns));
	control->output = *output;
	control->node = node;
	control->flows = hs_node_flows(node);
	control->now_ns = control->start_ns = now_ns;
	open_events(control);
	open_backend(control);
	int rc = hs_control_open_routes(&control->routes, node);
	if (!rc)
		rc = open_in_band(control);
	if (!rc)
		rc = make_parts(control);
	if (rc < 0) {
		hs_control_destroy(control);
		return rc;
	}
	hs_control_open_clock(&control->clock, clock, control->qos);
	control->watch = (struct control_watch){.node = node,
			.rules = &control->rules,
			.qos = control->qos,
			.events = &control->events,
			.untold_ns = INT64_MAX};
	hs_control_open_exports(&control->exports, node, &control->output, &control->counts);
	hs_clock_on_step(clock, on_step, control);
	if (control->config.workers_help)
		hs_node_set_help(node, help, control->qos);
	*out = control;
	return 0;
}

void hs_control_destroy(struct hs_control *control)
{
	if (!control)
		return;
	if (control->config.workers_help)
		hs_node_set_help(control->node, NULL, NULL);
	hs_control_close_clock(&control->clock);
	hs_control_close_rules(&control->rules);
	hs_control_close_state(control);
	hs_in_band_destroy(control->in_band);
	hs_control_close_routes(&control->routes);
	hs_qos_destroy(control->qos);
	hs_event_log_fini(&control->events.log);
	free(control);
}
