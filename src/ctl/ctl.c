// SPDX-License-Identifier: BSD-3-Clause
#include "ctl_parts.h"
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
#define STEP_LIMIT	4096
#define BRIEF_LIMIT	128
#define BRIEF_FLOWS	32
#define SIGNALS_AT_ONCE 256 // takes at most 2 ms, so that API requests have their turn
#define FLOWS_AT_ONCE	128 // number whose windows close before rings are read again: some 3 ms

// ---- publishing ----

static struct hs_report_origin origin_of(struct hs_ctl *ctl)
{
	return (struct hs_report_origin){
			.seq = ++ctl->seq,
			.node_id = hs_node_config(ctl->node)->id,
			.boot_id = ctl->config.boot_id,
	};
}

static int publish(struct hs_ctl *ctl, const char *topic, const char *json)
{
	if (!ctl->output.publish)
		return 0;
	return ctl->output.publish(ctl->output.context, topic, json);
}

// 0 or -EAGAIN; releases the message.
static int publish_json(struct hs_ctl *ctl, const char *topic, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(message);
	if (!text)
		return -EAGAIN;
	int rc = publish(ctl, topic, text);
	free(text);
	return rc;
}

static void publish_event(struct hs_ctl *ctl, const char *kind, json_t *event, uint64_t number)
{
	struct hs_report_origin origin = origin_of(ctl);
	char topic[64];

	snprintf(topic, sizeof(topic), "event.%s", kind);
	json_t *message = json_copy(event);
	json_object_set_new(message, "event_seq", json_integer((json_int_t)number));
	json_object_set_new(message, "seq", json_integer((json_int_t)origin.seq));
	json_object_set_new(message, "node_id", json_integer(origin.node_id));
	json_object_set_new(message, "boot_id", json_string(origin.boot_id));
	if (publish_json(ctl, topic, json_pack("{s:o}", "event", message)) < 0)
		ctl->counts.events_publish_lost++;
}

void hs_ctl_event(struct hs_ctl *ctl, const char *kind, json_t *details, const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	json_t *event = json_pack("{s:I, s:s, s:s}", "ts_ns", (json_int_t)ctl->now_ns, "kind", kind,
			"message", text);
	if (event && details)
		json_object_update_new(event, details);
	else
		json_decref(details);
	uint64_t number = event ? hs_event_log_add(&ctl->events, event) : 0;
	if (number == 0)
		return;
	ctl->counts.events++;
	publish_event(ctl, kind, event, number);
}

static void on_window(void *context, const struct hs_qos_window *window)
{
	struct hs_ctl *ctl = context;
	struct hs_report_origin origin = origin_of(ctl);
	char topic[32];

	ctl->counts.windows_published++;
	if (!ctl->output.publish)
		return;
	snprintf(topic, sizeof(topic), "qos.%" PRIu32, window->ns_id);
	if (publish_json(ctl, topic, hs_qos_window_json(window, &origin)) < 0) {
		ctl->counts.windows_published--;
		ctl->counts.windows_publish_lost++;
	}
}

// ---- reports ----

void hs_ctl_monitor(struct hs_ctl *ctl, uint32_t slot, const struct hs_report *report,
		uint16_t sink_node_id)
{
	const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, slot);
	struct hs_qos_key key = {
			.ns_id = rule->ns_id,
			.app_id = rule->app_id,
			.generation = hs_flow_table_generation(ctl->flows, slot),
			.sink_node_id = sink_node_id,
	};
	struct rule_note *note = hs_ctl_note(ctl, slot);
	int rc = hs_qos_report(ctl->qos, &key, report);
	if (rc < 0)
		ctl->cap_refused++;
	if (note)
		hs_ctl_note_monitored(ctl, note, rc == 0);
}

int hs_ctl_publish_report(struct hs_ctl *ctl, const struct hs_report *report, uint32_t app_id,
		uint16_t sink_node_id)
{
	struct hs_report_origin origin = origin_of(ctl);
	char topic[32];

	snprintf(topic, sizeof(topic), "report.%" PRIu32, report->telemetry.ns_id);
	int len = hs_report_text(
			report, app_id, sink_node_id, &origin, ctl->text, sizeof(ctl->text));
	return len < 0 ? len : publish(ctl, topic, ctl->text);
}

// Returns the rule of a record, or NULL if it was replaced or removed since.
static const struct hs_rule *rule_of_record(
		const struct hs_ctl *ctl, const struct hs_report_record *record)
{
	const struct hs_rule *rule = hs_flow_table_rule(ctl->flows, record->rule_slot);
	uint32_t generation = rule ? hs_flow_table_generation(ctl->flows, record->rule_slot) : 0;

	return rule && generation == record->rule_generation ? rule : NULL;
}

static void take_report(struct hs_ctl *ctl, const struct hs_report_record *record)
{
	const struct hs_rule *rule = rule_of_record(ctl, record);
	struct hs_report report;

	if (!rule) {
		ctl->counts.reports_stale++;
		return;
	}
	if (hs_report_decode(record, hs_node_format(ctl->node), &report) < 0) {
		ctl->counts.reports_bad++;
		return;
	}
	uint16_t node_id = hs_node_config(ctl->node)->id;
	if (hs_ctl_is_of_old_time(ctl, &report))
		ctl->counts.reports_old_time++;
	else
		hs_ctl_monitor(ctl, record->rule_slot, &report, node_id);
	struct rule_note *note = ctl->notes[record->rule_slot];
	if (note)
		note->ends_here = true;
	if (rule->piggyback_report)
		hs_ctl_piggyback(ctl, record->rule_slot, &report);
	if (!rule->transmit_report)
		ctl->counts.reports_suppressed++;
	else if (hs_ctl_publish_report(ctl, &report, rule->app_id, node_id) < 0)
		ctl->counts.reports_publish_lost++;
	else
		ctl->counts.reports_published++;
}

// With thousands of flows in turn, no report finds its flow in the cache. The memory of the first
// access is prefetched while earlier reports are processed.
static void take_batch(void *context, const struct hs_report_record *records, unsigned n)
{
	struct hs_ctl *ctl = context;
	uint32_t ns_ids[REPORTS];

	for (unsigned i = 0; i < n; i++) {
		const struct hs_rule *rule = rule_of_record(ctl, &records[i]);
		ns_ids[i] = rule ? rule->ns_id : 0;
		hs_qos_expect(ctl->qos, ns_ids[i]);
		// A record of two to four hops has these lines. The record is in another core's
		// cache.
		for (unsigned at = 64; at < 192; at += 64)
			__builtin_prefetch((const char *)&records[i] + at);
		if (rule)
			__builtin_prefetch(ctl->notes[records[i].rule_slot]);
	}
	for (unsigned i = 0; i < n; i++) {
		if (i + AHEAD < n)
			hs_qos_expect_next(ctl->qos, ns_ids[i + AHEAD]);
		take_report(ctl, &records[i]);
	}
}

unsigned hs_ctl_drain(struct hs_ctl *ctl, unsigned at_most)
{
	unsigned taken = 0, n;

	do {
		unsigned want = at_most - taken < REPORTS ? at_most - taken : REPORTS;
		n = want ? hs_node_visit_reports(ctl->node, want, take_batch, ctl) : 0;
		taken += n;
	} while (n > 0);
	ctl->counts.reports_taken += taken;
	return taken;
}

// ---- what packets brought ----

static void take_group(struct hs_ctl *ctl, const struct hs_signal *signals, unsigned n)
{
	if (signals->type == HS_OPT_REQUEST) {
		for (unsigned i = 0; i < n; i++)
			hs_ctl_guest_request(ctl, &signals[i]);
	} else if (signals->taken) {
		hs_ctl_piggybacked(ctl, signals, n);
	}
}

static void take_signals(struct hs_ctl *ctl)
{
	struct hs_signal signals[BATCH];
	unsigned taken = 0, n;

	do {
		n = hs_node_take_signals(ctl->node, signals, BATCH);
		for (unsigned i = 0; i < n;) {
			unsigned parts = signals[i].parts - signals[i].part;
			parts = parts && parts < n - i ? parts : n - i;
			take_group(ctl, &signals[i], parts);
			i += parts;
		}
		taken += n;
	} while (n > 0 && taken < SIGNALS_AT_ONCE);
	ctl->counts.signals_taken += taken;
}

// ---- requests ----

static bool ns_exists(void *context, uint32_t ns_id)
{
	struct hs_ctl *ctl = context;
	return hs_flow_table_find(ctl->flows, ns_id) != HS_FLOW_NONE;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	struct hs_ctl *ctl = context;
	uint32_t slot = hs_flow_table_find(ctl->flows, ns_id);
	return slot == HS_FLOW_NONE ? NULL : hs_flow_table_rule(ctl->flows, slot);
}

static uint32_t rules_free(void *context)
{
	struct hs_ctl *ctl = context;
	return hs_flow_table_capacity(ctl->flows) - hs_flow_table_count(ctl->flows) + ctl->n_guests;
}

static uint64_t generation(void *context)
{
	return ((struct hs_ctl *)context)->generation;
}

static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	return hs_in_band_check_rule(&((struct hs_ctl *)context)->in_band, rule, err);
}

static bool gives_way(void *context, uint32_t ns_id)
{
	return hs_ctl_came_in_band(context, ns_id);
}

int hs_ctl_install(struct hs_ctl *ctl, int64_t now_ns, json_t *requests, enum hs_rule_origin origin,
		struct hs_error *err)
{
	ctl->now_ns = now_ns;
	ctl->origin = origin;
	return hs_api_run_list(&ctl->backend, requests, err);
}

char *hs_ctl_request(struct hs_ctl *ctl, int64_t now_ns, const char *message, size_t len,
		bool may_change)
{
	ctl->now_ns = now_ns;
	ctl->counts.requests++;
	ctl->request_drained = false;
	ctl->origin = HS_ORIGIN_API;
	return hs_api_handle(&ctl->backend, message, len, may_change);
}

// ---- time ----

unsigned hs_ctl_waiting(const struct hs_ctl *ctl)
{
	struct hs_worker_counters worker;
	uint64_t handed_over = 0;

	for (unsigned i = 0; i < hs_node_config(ctl->node)->n_workers; i++) {
		hs_node_worker_counters(ctl->node, i, &worker);
		handed_over += worker.reports_made - worker.reports_lost;
	}
	return (unsigned)(handed_over - ctl->counts.reports_taken);
}

// A window must not close while reports of it wait. If reports come faster than they are processed,
// the window must close nevertheless. So the reports that wait when the window is due are processed
// first, and later ones are not. Flows are handled in portions, so that rings do not overflow and
// requests have their turn.
static void close_windows(struct hs_ctl *ctl)
{
	if (ctl->now_ns < hs_qos_next_ns(ctl->qos))
		return;
	if (!ctl->close_after_reports)
		ctl->close_after_reports = ctl->counts.reports_taken + hs_ctl_waiting(ctl) + 1;
	if (ctl->counts.reports_taken + 1 < ctl->close_after_reports)
		return;
	hs_ctl_shadow_mark(ctl);
	hs_qos_advance(ctl->qos, ctl->now_ns);
	if (ctl->now_ns < hs_qos_next_ns(ctl->qos))
		ctl->close_after_reports = 0;
}

unsigned hs_ctl_step(struct hs_ctl *ctl, int64_t now_ns)
{
	ctl->now_ns = now_ns;
	take_signals(ctl);
	unsigned taken = hs_ctl_drain(ctl, ctl->config.brief_steps ? BRIEF_LIMIT : STEP_LIMIT);
	hs_ctl_spread(ctl);
	hs_ctl_carry(ctl);
	close_windows(ctl);
	hs_ctl_state_step(ctl);
	if (ctl->now_ns >= ctl->next_tick_ns) {
		ctl->next_tick_ns = ctl->now_ns + TICK_NS;
		hs_ctl_tick(ctl); // the clock may step here
	}
	if (ctl->now_ns >= ctl->next_second_ns) {
		ctl->next_second_ns = ctl->now_ns + SECOND_NS;
		hs_ctl_second(ctl);
	}
	return taken;
}

int64_t hs_ctl_next_ns(const struct hs_ctl *ctl)
{
	int64_t next_ns = hs_qos_next_ns(ctl->qos);

	if (hs_ctl_state_is_busy(ctl))
		return ctl->now_ns;
	next_ns = RTE_MIN(next_ns, ctl->next_tick_ns);
	next_ns = RTE_MIN(next_ns, ctl->next_second_ns);
	next_ns = RTE_MIN(next_ns, ctl->spread_next_ns);
	return RTE_MIN(next_ns, ctl->carry_next_ns);
}

unsigned hs_ctl_finish(struct hs_ctl *ctl, int64_t now_ns)
{
	ctl->now_ns = now_ns;
	take_signals(ctl);
	while (hs_ctl_drain(ctl, STEP_LIMIT) > 0)
		;
	for (unsigned i = 0; i < FLOWS_AT_ONCE && !TAILQ_EMPTY(&ctl->monitored); i++) {
		uint32_t slot = TAILQ_FIRST(&ctl->monitored)->slot;
		hs_qos_remove(ctl->qos, hs_flow_table_rule(ctl->flows, slot)->ns_id);
		hs_ctl_forget(ctl, slot);
	}
	hs_ctl_second(ctl);
	return ctl->n_monitored;
}

void hs_ctl_totals(const struct hs_ctl *ctl, struct hs_node_totals *totals)
{
	const struct hs_clock_status *clock = &ctl->clock_status;

	*totals = ctl->counts;
	totals->uptime_ns = (uint64_t)(ctl->now_ns - ctl->start_ns);
	totals->generation = ctl->generation;
	totals->rules = hs_flow_table_count(ctl->flows);
	totals->rules_capacity = hs_flow_table_capacity(ctl->flows);
	if (ctl->routes) {
		totals->routes = hs_route_book_count(ctl->routes);
		totals->routes_capacity = hs_fib_capacity(hs_node_fib(ctl->node));
		totals->neighbours = hs_route_book_neighbours(ctl->routes);
	}
	totals->rules_in_band = ctl->n_guests;
	totals->reports_piggyback_waiting = ctl->reports_waiting;
	totals->rules_monitored = ctl->n_monitored;
	totals->rules_unmonitored = ctl->n_unmonitored;
	struct hs_qos_memory memory;
	hs_qos_memory(ctl->qos, &memory);
	totals->monitor_bytes = memory.bytes;
	totals->monitors_evicted = memory.evicted;
	totals->monitor_reports_refused = memory.refused;
	for (unsigned i = 0; i < hs_node_config(ctl->node)->n_workers; i++) {
		struct hs_worker_counters worker;
		hs_node_worker_counters(ctl->node, i, &worker);
		totals->reports_made += worker.reports_made;
		totals->reports_lost += worker.reports_lost;
		totals->signals_lost += worker.signals_lost;
	}
	hs_ctl_state_totals(ctl, totals);
	totals->clock_synchronised = clock->known && clock->synchronised;
	totals->clock_error_ns = (uint64_t)clock->error_ns;
	totals->clock_offset_ns = clock->offset_ns;
	totals->clock_steps = clock->steps;
	totals->clock_kernel_offset_ns = clock->kernel.offset_ns;
	totals->clock_esterror_ns = (uint64_t)clock->kernel.esterror_ns;
	totals->clock_maxerror_ns = (uint64_t)clock->kernel.maxerror_ns;
	totals->clock_status = (uint64_t)clock->kernel.status;
	if (ctl->output.totals)
		ctl->output.totals(ctl->output.context, totals);
}

// ---- making ----

static const int64_t default_windows_ns[HS_QOS_WINDOWS] = HS_QOS_DEFAULT_LENGTHS;

static int make_parts(struct hs_ctl *ctl)
{
	struct hs_qos_config qos = {
			.max_flows = ctl->config.monitored_rules,
			.memory_bytes = ctl->config.monitor_bytes,
			.window_ns = {ctl->config.window_ns[0], ctl->config.window_ns[1],
					ctl->config.window_ns[2], ctl->config.window_ns[3]},
			.tells_steps = true,
			.node_id = hs_node_config(ctl->node)->id,
			.flows_per_advance = ctl->config.brief_steps ? BRIEF_FLOWS : FLOWS_AT_ONCE,
			.on_window = on_window,
			.user = ctl,
	};
	// Untouched pages cost nothing, and most rules never have a note.
	ctl->notes = calloc(hs_flow_table_capacity(ctl->flows), sizeof(*ctl->notes));
	ctl->origins = calloc(hs_flow_table_capacity(ctl->flows), sizeof(*ctl->origins));
	return ctl->notes && ctl->origins ? hs_qos_create(&qos, &ctl->qos) : -ENOMEM;
}

int hs_ctl_create(const struct hs_ctl_config *config, struct hs_node *node, struct hs_clock *clock,
		const struct hs_ctl_output *output, int64_t now_ns, struct hs_ctl **out)
{
	struct hs_ctl *ctl = calloc(1, sizeof(*ctl));
	if (!ctl)
		return -ENOMEM;
	ctl->config = *config;
	if (!config->window_ns[0])
		memcpy(ctl->config.window_ns, default_windows_ns, sizeof(default_windows_ns));
	ctl->output = *output;
	ctl->node = node;
	ctl->flows = hs_node_flows(node);
	ctl->clock = clock;
	ctl->now_ns = ctl->start_ns = now_ns;
	ctl->untold_ns = INT64_MAX;
	ctl->walk_slot = HS_FLOW_NONE;
	ctl->page_slot = HS_FLOW_NONE;
	TAILQ_INIT(&ctl->monitored);
	TAILQ_INIT(&ctl->spreading);
	TAILQ_INIT(&ctl->guests);
	for (unsigned rank = 0; rank < GUEST_RANKS; rank++)
		TAILQ_INIT(&ctl->guest_ranks[rank]);
	TAILQ_INIT(&ctl->backlogs);
	TAILQ_INIT(&ctl->owns);
	ctl->spread_next_ns = ctl->carry_next_ns = INT64_MAX;
	hs_in_band_init(&ctl->in_band);
	if (config->in_band)
		ctl->in_band = *config->in_band;
	hs_event_log_init(&ctl->events);
	ctl->backend = (struct hs_api_backend){
			.context = ctl,
			.run = hs_ctl_run_verb,
			.ns_exists = ns_exists,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.admits = admits,
			.gives_way = gives_way,
			.generation = generation,
			.spent_ns = config->spent_ns,
	};
	int rc = hs_ctl_open_routes(ctl);
	if (!rc)
		rc = hs_ctl_seen_open(ctl);
	if (!rc)
		rc = make_parts(ctl);
	if (rc < 0) {
		hs_ctl_destroy(ctl);
		return rc;
	}
	hs_ctl_open_clock(ctl);
	*out = ctl;
	return 0;
}

void hs_ctl_destroy(struct hs_ctl *ctl)
{
	if (!ctl)
		return;
	hs_ctl_close_clock(ctl);
	for (uint32_t slot = 0; ctl->notes && slot < hs_flow_table_capacity(ctl->flows); slot++)
		hs_ctl_forget(ctl, slot);
	free(ctl->notes);
	free(ctl->origins);
	hs_ctl_close_state(ctl);
	free(ctl->seen);
	hs_ctl_own_free(ctl);
	hs_route_book_destroy(ctl->routes);
	hs_qos_destroy(ctl->qos);
	hs_event_log_fini(&ctl->events);
	free(ctl);
}
