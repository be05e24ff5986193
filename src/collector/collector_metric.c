// SPDX-License-Identifier: BSD-3-Clause
#include "collector_metric.h"

#include "collector_point.h"
#include "collector_record.h"
#include "collector_shape.h"

#include "influx.h"

#include <string.h>

#define PREFIX "hopsight_collector_"

// ---- a moment ----

struct snapshot_job {
	const struct hs_collector_worker *worker;
	struct hs_collector_snapshot *into;
	uint64_t ring_end;
};

// Copies the counters between two bursts. The points that wait in the ring are counted later, by
// the ring's reader.
static void copy_counters(void *context, struct hs_collect *collect)
{
	struct snapshot_job *job = context;

	job->into->collect = *hs_collect_counters(collect);
	job->into->worker = job->worker->counters;
	job->ring_end = hs_collector_ring_end(job->worker->ring);
}

void hs_collector_snapshot(struct hs_collector *collector, struct hs_collector_snapshot *snapshot)
{
	struct snapshot_job job = {&collector->worker, snapshot, 0};

	hs_collector_worker_run(&collector->worker, copy_counters, &job);
	snapshot->points_waiting =
			hs_collector_record_waiting(collector->worker.ring, job.ring_end);
	snapshot->outcome = collector->outcome;
	hs_influx_counters(collector->lines, HS_INFLUX_ALL, &snapshot->influx);
	snapshot->socket_lost = 0;
	for (unsigned i = 0; i < collector->worker.n_sockets; i++) {
		collector->socket_lost[i] = hs_collector_udp_lost(collector->worker.sockets[i]);
		snapshot->socket_lost += collector->socket_lost[i];
	}
}

// ---- the table ----

struct row {
	struct hs_collector_metric metric;
	size_t at; // of the value
};

#define AT(part, member) offsetof(struct hs_collector_snapshot, part.member)
static const struct row rows[] = {
#define HS_COLLECT_COUNTER(name, text) {{PREFIX #name "_total", text}, AT(collect, name)},
#define HS_COLLECT_GAUGE(name, text)   {{PREFIX #name, text, true}, AT(collect, name)},
#include "collect_counter.def"
#define HS_COLLECTOR_COUNTER(name, text) {{PREFIX #name "_total", text}, AT(worker, name)},
#include "collector_counter.def"
		{{PREFIX "points_written_total", "points that control took from the ring"},
				AT(outcome, points)},
		{{PREFIX "points_waiting", "points that wait in the ring", true},
				offsetof(struct hs_collector_snapshot, points_waiting)},
		{{PREFIX "influx_lines_made_total", "lines made for databases"}, AT(influx, made)},
		{{PREFIX "influx_lines_written_total", "lines that databases took"},
				AT(influx, written)},
		{{PREFIX "influx_lines_waiting", "lines that wait for databases", true},
				AT(influx, waiting)},
		{{PREFIX "influx_lines_queue_full_total", "lines dropped for lack of room"},
				AT(influx, dropped[HS_INFLUX_QUEUE_FULL])},
		{{PREFIX "influx_lines_refused_total", "lines that databases do not take"},
				AT(influx, dropped[HS_INFLUX_REFUSED])},
		{{PREFIX "influx_requests_total", "requests to databases"}, AT(influx, requests)},
		{{PREFIX "influx_failures_total", "requests that are repeated"},
				AT(influx, failures)},
		{{PREFIX "influx_refusals_total", "requests that databases refused"},
				AT(influx, refusals)},
		{{PREFIX "published_total", "messages published"}, AT(outcome, published)},
		{{PREFIX "publish_lost_total", "messages that a subscriber missed"},
				AT(outcome, publish_lost)},
};

struct visit {
	hs_collector_metric_fn *visit;
	void *context;
	const struct hs_collector_snapshot *snapshot;
};

static void visit_refusals(const struct visit *to)
{
	static const struct hs_collector_metric metric = {PREFIX "refused_total",
			"datagrams and reports that were refused, by reason"};

	for (unsigned i = 0; i < HS_COLLECT_REFUSALS; i++)
		to->visit(to->context, &metric,
				&(struct hs_collector_labels){
						.reason = hs_collector_refusal_name(i)},
				to->snapshot->collect.refused[i]);
}

static void visit_points(const struct visit *to)
{
	static const struct hs_collector_metric
			made = {PREFIX "event_points_total", "points of events, by kind and cause"},
			suppressed = {PREFIX "suppressed_total", "values that were no event, by "
								 "kind"};

	for (unsigned i = 0; i < HS_COLLECT_POINT_KINDS * HS_COLLECT_CAUSES; i++) {
		unsigned kind = i / HS_COLLECT_CAUSES, cause = i % HS_COLLECT_CAUSES;
		to->visit(to->context, &made,
				&(struct hs_collector_labels){.kind = hs_collector_kind_name(kind),
						.cause = hs_collector_cause_name(cause)},
				to->snapshot->collect.events[kind][cause]);
	}
	for (unsigned i = 0; i < HS_COLLECT_POINT_KINDS; i++)
		to->visit(to->context, &suppressed,
				&(struct hs_collector_labels){.kind = hs_collector_kind_name(i)},
				to->snapshot->collect.suppressed[i]);
}

static void visit_frames(const struct visit *to)
{
	static const char *const names[] = {
#define HS_COLLECTOR_FRAME(NAME, name, text) #name,
#include "collector_counter.def"
	};
	static const struct hs_collector_metric metric = {
			PREFIX "frame_kinds_total", "frames of DPDK ports, by what they were"};

	for (unsigned i = 0; i < HS_COLLECTOR_FRAMES; i++)
		to->visit(to->context, &metric, &(struct hs_collector_labels){.frame = names[i]},
				to->snapshot->worker.frame_kinds[i]);
}

static void visit_listeners(const struct hs_collector *collector, const struct visit *to)
{
	static const struct hs_collector_metric metric = {PREFIX "socket_lost_total",
			"datagrams that the kernel dropped before a UDP socket"};
	char text[HS_SCHEMA_TEXT_BYTES];

	for (unsigned i = 0; i < collector->worker.n_sockets; i++)
		to->visit(to->context, &metric,
				&(struct hs_collector_labels){
						.listener = hs_collector_listener_name(
								collector->config, i, text)},
				collector->socket_lost[i]);
}

void hs_collector_metrics_visit(
		struct hs_collector *collector, hs_collector_metric_fn visit, void *context)
{
	struct hs_collector_snapshot snapshot;
	const struct visit to = {visit, context, &snapshot};

	hs_collector_snapshot(collector, &snapshot);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value;
		memcpy(&value, (const char *)&snapshot + rows[i].at, sizeof(value));
		visit(context, &rows[i].metric, &(struct hs_collector_labels){NULL}, value);
	}
	visit_refusals(&to);
	visit_points(&to);
	visit_frames(&to);
	visit_listeners(collector, &to);
}

// ---- stats_get ----

struct stat {
	const struct hs_collector_metric *metric;
	struct hs_collector_labels labels;
	uint64_t value;
};

static const struct hs_schema_word kind_words[] = {{"counter", false}, {"gauge", true}, {NULL, 0}};

#define METRIC(...) HS_SCHEMA_ROW(struct hs_collector_metric, __VA_ARGS__)
static const struct hs_schema_field metric_rows[] = {
		METRIC(STRING, name, "as other programs know it"),
		HS_SCHEMA_ROW_AS(struct hs_collector_metric, WORD, "kind", gauge,
				"whether the number only grows", .words = kind_words),
		METRIC(STRING, help, "what the number means"),
		{NULL},
};
#define LABEL(member, key, text)                                                                   \
	HS_SCHEMA_ROW_AS(struct stat, STRING, key, labels.member, text, .optional = true)
static const struct hs_schema_field stat_fields[] = {
		{"", HS_SCHEMA_MEMBERS, .offset = offsetof(struct stat, metric), .behind = true,
				.fields = metric_rows},
		HS_SCHEMA_ROW(struct stat, UINT, value, "the number now"),
		LABEL(reason, "reason", "why something was refused"),
		LABEL(kind, "point", "of points of this kind"),
		LABEL(cause, "cause", "why points were told"),
		LABEL(frame, "frame", "what a frame was"),
		LABEL(listener, "listener", "an entry of listen"),
		{NULL},
};
const struct hs_schema_field hs_collector_stats_fields[] = {
		{"stats", HS_SCHEMA_TAKEN, .items = stat_fields, .help = "each counter and gauge"},
		{NULL},
};

static void add_stat(void *list, const struct hs_collector_metric *metric,
		const struct hs_collector_labels *labels, uint64_t value)
{
	const struct stat stat = {metric, *labels, value};

	json_array_append_new(list, hs_schema_print(stat_fields, &stat));
}

json_t *hs_collector_stats(struct hs_collector *collector)
{
	json_t *list = json_array();

	hs_collector_metrics_visit(collector, add_stat, list);
	return hs_schema_print(hs_collector_stats_fields, &list);
}
