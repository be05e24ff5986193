// SPDX-License-Identifier: BSD-3-Clause
#include "control_parts.h"
#include "telemetry.h"

#include "qos_lengths.h"

#include <errno.h>
#include <inttypes.h>
#include <rte_common.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS		INT64_C(100000000)
#define SECOND_NS	INT64_C(1000000000)
#define BATCH		64 // of signals
#define REPORTS		32 // in a batch
#define AHEAD		4  // number of reports ahead for which memory is prefetched
#define FUTURE_NS	INT64_C(10000000000) // that a report from elsewhere may be ahead
#define STEP_LIMIT	4096
#define BRIEF_LIMIT	128
#define BRIEF_FLOWS	32
#define SIGNALS_AT_ONCE 256 // takes at most 2 ms, so that API requests have their turn
#define FLOWS_AT_ONCE	128 // number whose windows close before rings are read again: some 3 ms

// ---- publishing ----

static struct hs_report_origin origin_of(struct hs_control *control)
{
	return (struct hs_report_origin){
			.seq = ++control->seq,
			.node_id = hs_node_config(control->node)->id,
			.boot_id = control->config.boot_id,
	};
}

static int publish(struct hs_control *control, const char *topic, const char *json)
{
	if (!control->output.publish)
		return 0;
	return control->output.publish(control->output.context, topic, json);
}

// 0 or -EAGAIN; releases the message.
static int publish_json(struct hs_control *control, const char *topic, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(message);
	if (!text)
		return -EAGAIN;
	int rc = publish(control, topic, text);
	free(text);
	return rc;
}

static void publish_event(
		struct hs_control *control, const char *kind, json_t *event, uint64_t number)
{
	struct hs_report_origin origin = origin_of(control);
	char topic[64];

	snprintf(topic, sizeof(topic), "event.%s", kind);
	json_t *message = json_copy(event);
	json_object_set_new(message, "event_seq", json_integer((json_int_t)number));
	json_object_set_new(message, "seq", json_integer((json_int_t)origin.seq));
	json_object_set_new(message, "node_id", json_integer(origin.node_id));
	json_object_set_new(message, "boot_id", json_string(origin.boot_id));
	if (publish_json(control, topic, json_pack("{s:o}", "event", message)) < 0)
		control->counts.events_publish_lost++;
}

void hs_control_event(struct hs_control *control, const char *kind, json_t *details,
		const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	json_t *event = json_pack("{s:I, s:s, s:s}", "ts_ns", (json_int_t)control->now_ns, "kind",
			kind, "message", text);
	if (event && details)
		json_object_update_new(event, details);
	else
		json_decref(details);
	uint64_t number = event ? hs_event_log_add(&control->events, event) : 0;
	if (number == 0)
		return;
	control->counts.events++;
	publish_event(control, kind, event, number);
}

static void on_window(void *context, const struct hs_qos_window *window)
{
	struct hs_control *control = context;
	struct hs_report_origin origin = origin_of(control);
	char topic[32];

	control->counts.windows_published++;
	if (!control->output.publish)
		return;
	snprintf(topic, sizeof(topic), "qos.%" PRIu32, window->ns_id);
	if (publish_json(control, topic, hs_qos_window_json(window, &origin)) < 0) {
		control->counts.windows_published--;
		control->counts.windows_publish_lost++;
	}
}

// ---- reports ----

void hs_control_monitor(struct hs_control *control, uint32_t slot, const struct hs_report *report,
		uint16_t sink_node_id)
{
	const struct hs_rule *rule = hs_flow_table_rule(control->flows, slot);
	struct hs_qos_key key = {
			.ns_id = rule->ns_id,
			.app_id = rule->app_id,
			.generation = hs_flow_table_generation(control->flows, slot),
			.sink_node_id = sink_node_id,
	};
	struct rule_note *note = hs_control_note(control, slot);
	int rc = hs_qos_report(control->qos, &key, report);
	if (rc < 0)
		control->cap_refused++;
	if (note)
		hs_control_note_monitored(control, note, rc == 0);
}

int hs_control_publish_report(struct hs_control *control, const struct hs_report *report,
		uint32_t app_id, uint16_t sink_node_id)
{
	struct hs_report_origin origin = origin_of(control);
	char topic[32];

	snprintf(topic, sizeof(topic), "report.%" PRIu32, report->telemetry.ns_id);
	int len = hs_report_text(report, app_id, sink_node_id, &origin, control->text,
			sizeof(control->text));
	return len < 0 ? len : publish(control, topic, control->text);
}

// Returns the rule of a record, or NULL if it was replaced or removed since.
static const struct hs_rule *rule_of_record(
		const struct hs_control *control, const struct hs_report_record *record)
{
	const struct hs_rule *rule = hs_flow_table_rule(control->flows, record->rule_slot);
	uint32_t generation =
			rule ? hs_flow_table_generation(control->flows, record->rule_slot) : 0;

	return rule && generation == record->rule_generation ? rule : NULL;
}

static void take_report(struct hs_control *control, const struct hs_report_record *record)
{
	const struct hs_rule *rule = rule_of_record(control, record);
	struct hs_report report;

	if (!rule) {
		control->counts.reports_stale++;
		return;
	}
	if (hs_report_decode(record, hs_node_format(control->node), &report) < 0) {
		control->counts.reports_bad++;
		return;
	}
	uint16_t node_id = hs_node_config(control->node)->id;
	if (hs_control_is_of_old_time(control, &report))
		control->counts.reports_old_time++;
	else
		hs_control_monitor(control, record->rule_slot, &report, node_id);
	struct rule_note *note = hs_control_note(control, record->rule_slot);
	if (note)
		note->ends_here = true;
	if (rule->piggyback_report)
		hs_in_band_report(control->in_band, record->rule_slot, &report);
	if (!rule->transmit_report)
		control->counts.reports_suppressed++;
	else if (hs_control_publish_report(control, &report, rule->app_id, node_id) < 0)
		control->counts.reports_publish_lost++;
	else
		control->counts.reports_published++;
}

// With thousands of flows in turn, no report finds its flow in the cache. The memory of the first
// access is prefetched while earlier reports are processed.
static void take_batch(void *context, const struct hs_report_record *records, unsigned n)
{
	struct hs_control *control = context;
	uint32_t ns_ids[REPORTS];

	for (unsigned i = 0; i < n; i++) {
		const struct hs_rule *rule = rule_of_record(control, &records[i]);
		ns_ids[i] = rule ? rule->ns_id : 0;
		hs_qos_expect(control->qos, ns_ids[i]);
		// A record of two to four hops has these lines. The record is in another core's
		// cache.
		for (unsigned at = 64; at < 192; at += 64)
			__builtin_prefetch((const char *)&records[i] + at);
		if (rule)
			__builtin_prefetch(control->notes[records[i].rule_slot]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (i + AHEAD < n)
			hs_qos_expect_next(control->qos, ns_ids[i + AHEAD]);
		take_report(control, &records[i]);
	}
}

unsigned hs_control_drain(struct hs_control *control, unsigned at_most)
{
	unsigned taken = 0, n;

	do {
		unsigned want = at_most - taken < REPORTS ? at_most - taken : REPORTS;
		n = want ? hs_node_visit_reports(control->node, want, take_batch, control) : 0;
		taken += n;
	} while (n > 0);
	control->counts.reports_taken += taken;
	return taken;
}

// ---- what packets brought ----

static void take_signals(struct hs_control *control)
{
	struct hs_punt signals[BATCH];
	unsigned taken = 0, n;

	do {
		n = hs_node_take_punts(control->node, signals, BATCH);
		for (unsigned i = 0; i < n;) {
			unsigned parts = signals[i].parts - signals[i].part;
			parts = parts && parts < n - i ? parts : n - i;
			hs_in_band_take(control->in_band, &signals[i], parts);
			i += parts;
		}
		taken += n;
	} while (n > 0 && taken < SIGNALS_AT_ONCE);
	control->counts.signals_taken += taken;
}

// A flow's own sink needs no measurements from elsewhere. And a report with a future time would
// close all windows up to that time, so that later reports would come too late.
static bool is_measured(
		const struct hs_control *control, uint32_t slot, const struct hs_report *report)
{
	const struct rule_note *note = slot == HS_FLOW_NONE ? NULL : control->notes[slot];

	return slot != HS_FLOW_NONE && !(note && note->ends_here) &&
	       report->sink_ts_ns <= control->now_ns + FUTURE_NS;
}

static void take_returned(void *context, const struct hs_report *report,
		const struct hs_report_sender *sender)
{
	struct hs_control *control = context;
	uint32_t slot = hs_flow_table_find(control->flows, report->telemetry.ns_id);

	if (hs_control_publish_report(control, report, sender->app_id, sender->sink_node_id) < 0)
		control->counts.reports_piggyback_publish_lost++;
	if (!is_measured(control, slot, report))
		control->counts.reports_piggyback_unmonitored++;
	else
		hs_control_monitor(control, slot, report, sender->sink_node_id);
}

static int install_learned(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	return hs_control_install_rule(context, rule, HS_ORIGIN_IN_BAND, NULL, err);
}

static int update_learned(void *context, uint32_t ns_id, const struct hs_rule_update *update,
		struct hs_error *err)
{
	return hs_control_update_rule(context, ns_id, update, err);
}

static int remove_learned(void *context, uint32_t ns_id, struct hs_error *err)
{
	return hs_control_remove_rule(context, ns_id, err);
}

static void tell(void *context, const char *kind, json_t *details, const char *text)
{
	hs_control_event(context, kind, details, "%s", text);
}

static int open_in_band(struct hs_control *control)
{
	struct hs_in_band_settings settings;
	struct hs_in_band_host host = {
			.context = control,
			.node = control->node,
			.now_ns = &control->now_ns,
			.counts = &control->counts,
			.install = install_learned,
			.update = update_learned,
			.remove = remove_learned,
			.report = take_returned,
			.event = tell,
	};

	hs_in_band_init(&settings);
	return hs_in_band_create(&host,
			control->config.in_band ? control->config.in_band : &settings,
			&control->in_band);
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

static uint64_t generation(void *context)
{
	return ((struct hs_control *)context)->generation;
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	return hs_in_band_admits(((struct hs_control *)context)->in_band, rule, err);
}

static bool gives_way(void *context, uint32_t ns_id)
{
	return hs_in_band_has(((struct hs_control *)context)->in_band, ns_id);
}

int hs_control_install(struct hs_control *control, int64_t now_ns, json_t *requests,
		enum hs_rule_origin origin, struct hs_error *err)
{
	control->now_ns = now_ns;
	control->origin = origin;
	return hs_api_run_list(&control->backend, requests, err);
}

char *hs_control_request(struct hs_control *control, int64_t now_ns, const char *message,
		size_t len, bool may_change)
{
	control->now_ns = now_ns;
	control->counts.requests++;
	control->request_drained = false;
	control->origin = HS_ORIGIN_API;
	return hs_api_handle(&control->backend, message, len, may_change);
}

// ---- time ----

unsigned hs_control_waiting(const struct hs_control *control)
{
	struct hs_worker_counters worker;
	uint64_t handed_over = 0;

	for (unsigned i = 0; i < hs_node_config(control->node)->n_workers; i++) {
		hs_node_worker_counters(control->node, i, &worker);
		handed_over += worker.reports_made - worker.reports_lost;
	}
	return (unsigned)(handed_over - control->counts.reports_taken);
}

// A window must not close while reports of it wait. If reports come faster than they are processed,
// the window must close nevertheless. So the reports that wait when the window is due are processed
// first, and later ones are not. Flows are handled in portions, so that rings do not overflow and
// requests have their turn.
static void close_windows(struct hs_control *control)
{
	if (control->now_ns < hs_qos_next_ns(control->qos))
		return;
	if (!control->close_after_reports)
		control->close_after_reports =
				control->counts.reports_taken + hs_control_waiting(control) + 1;
	if (control->counts.reports_taken + 1 < control->close_after_reports)
		return;
	hs_control_shadow_mark(control);
	hs_qos_advance(control->qos, control->now_ns);
	if (control->now_ns < hs_qos_next_ns(control->qos))
		control->close_after_reports = 0;
}

unsigned hs_control_step(struct hs_control *control, int64_t now_ns)
{
	control->now_ns = now_ns;
	take_signals(control);
	unsigned taken = hs_control_drain(
			control, control->config.brief_steps ? BRIEF_LIMIT : STEP_LIMIT);
	hs_in_band_step(control->in_band);
	close_windows(control);
	hs_control_state_step(control);
	if (control->now_ns >= control->next_tick_ns) {
		control->next_tick_ns = control->now_ns + TICK_NS;
		hs_control_tick(control); // the clock may step here
	}
	if (control->now_ns >= control->next_second_ns) {
		control->next_second_ns = control->now_ns + SECOND_NS;
		hs_control_second(control);
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
	control->now_ns = now_ns;
	take_signals(control);
	while (hs_control_drain(control, STEP_LIMIT) > 0)
		;
	for (unsigned i = 0; i < FLOWS_AT_ONCE && !TAILQ_EMPTY(&control->monitored); i++) {
		uint32_t slot = TAILQ_FIRST(&control->monitored)->slot;
		hs_qos_remove(control->qos, hs_flow_table_rule(control->flows, slot)->ns_id);
		hs_control_forget(control, slot);
	}
	hs_control_second(control);
	return control->n_monitored;
}

void hs_control_totals(const struct hs_control *control, struct hs_node_totals *totals)
{
	const struct hs_clock_status *clock = &control->clock_status;

	*totals = control->counts;
	totals->uptime_ns = (uint64_t)(control->now_ns - control->start_ns);
	totals->generation = control->generation;
	totals->rules = hs_flow_table_count(control->flows);
	totals->rules_capacity = hs_flow_table_capacity(control->flows);
	if (control->routes) {
		totals->routes = hs_route_book_count(control->routes);
		totals->routes_capacity = hs_fib_capacity(hs_node_fib(control->node));
		totals->neighbours = hs_route_book_neighbours(control->routes);
	}
	totals->rules_in_band = hs_in_band_rules(control->in_band);
	totals->reports_piggyback_waiting = hs_in_band_reports_waiting(control->in_band);
	totals->rules_monitored = control->n_monitored;
	totals->rules_unmonitored = control->n_unmonitored;
	struct hs_qos_memory memory;
	hs_qos_memory(control->qos, &memory);
	totals->monitor_bytes = memory.bytes;
	totals->monitors_evicted = memory.evicted;
	totals->monitor_reports_refused = memory.refused;
	for (unsigned i = 0; i < hs_node_config(control->node)->n_workers; i++) {
		struct hs_worker_counters worker;
		hs_node_worker_counters(control->node, i, &worker);
		totals->reports_made += worker.reports_made;
		totals->reports_lost += worker.reports_lost;
		totals->signals_lost += worker.signals_lost;
	}
	hs_control_state_totals(control, totals);
	totals->clock_synchronised = clock->known && clock->synchronised;
	totals->clock_error_ns = (uint64_t)clock->error_ns;
	totals->clock_offset_ns = clock->offset_ns;
	totals->clock_steps = clock->steps;
	totals->clock_kernel_offset_ns = clock->kernel.offset_ns;
	totals->clock_esterror_ns = (uint64_t)clock->kernel.esterror_ns;
	totals->clock_maxerror_ns = (uint64_t)clock->kernel.maxerror_ns;
	totals->clock_status = (uint64_t)clock->kernel.status;
	if (control->output.totals)
		control->output.totals(control->output.context, totals);
}

// ---- making ----

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
			.flows_per_advance =
					control->config.brief_steps ? BRIEF_FLOWS : FLOWS_AT_ONCE,
			.on_window = on_window,
			.user = control,
	};
	// Untouched pages cost nothing, and most rules never have a note.
	control->notes = calloc(hs_flow_table_capacity(control->flows), sizeof(*control->notes));
	control->origins =
			calloc(hs_flow_table_capacity(control->flows), sizeof(*control->origins));
	return control->notes && control->origins ? hs_qos_create(&qos, &control->qos) : -ENOMEM;
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
	control->clock = clock;
	control->now_ns = control->start_ns = now_ns;
	control->untold_ns = INT64_MAX;
	control->walk_slot = HS_FLOW_NONE;
	control->page_slot = HS_FLOW_NONE;
	TAILQ_INIT(&control->monitored);
	hs_event_log_init(&control->events);
	control->backend = (struct hs_api_backend){
			.context = control,
			.run = hs_control_run_verb,
			.ns_exists = ns_exists,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.admits = admits,
			.gives_way = gives_way,
			.generation = generation,
			.spent_ns = config->spent_ns,
	};
	int rc = hs_control_open_routes(control);
	if (!rc)
		rc = open_in_band(control);
	if (!rc)
		rc = make_parts(control);
	if (rc < 0) {
		hs_control_destroy(control);
		return rc;
	}
	hs_control_open_clock(control);
	*out = control;
	return 0;
}

void hs_control_destroy(struct hs_control *control)
{
	if (!control)
		return;
	hs_control_close_clock(control);
	for (uint32_t slot = 0; control->notes && slot < hs_flow_table_capacity(control->flows);
			slot++)
		hs_control_forget(control, slot);
	free(control->notes);
	free(control->origins);
	hs_control_close_state(control);
	hs_in_band_destroy(control->in_band);
	hs_route_book_destroy(control->routes);
	hs_qos_destroy(control->qos);
	hs_event_log_fini(&control->events);
	free(control);
}
