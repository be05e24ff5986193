// SPDX-License-Identifier: BSD-3-Clause
#include "control_report.h"
#include "control_clock.h"
#include "control_event.h"
#include "control_parts.h"
#include "control_rule.h"

#define REPORTS 128 // in a batch
// How many reports ahead of one its memory is fetched: its lines in the ring, those of its flow,
// and where it will be placed.
#define FAR	  24
#define NEAR	  16
#define NEXT	  8
#define FUTURE_NS INT64_C(10000000000) // so far may a report of another sink be ahead

// What is looked up of a record before the records ahead of it are taken.
struct expected {
	const struct rule_placed *placed; // NULL: the rule is looked at
	const struct hs_rule *rule;	  // then; NULL: it was replaced or removed since
	uint32_t flow;			  // hs_qos_expect
};

// Records that are taken one after the other.
struct batch {
	struct hs_control *control;
	const struct hs_report_record *records;
	uint16_t sink_id;
	const struct hs_telemetry_family *format; // of the record before; NULL: there is none
	struct expected *expected;		  // of each record
};

static inline struct hs_qos_key key_of(
		const struct hs_rule *rule, uint32_t generation, uint16_t sink_node_id)
{
	return (struct hs_qos_key){
			.ns_id = rule->ns_id,
			.app_id = rule->app_id,
			.generation = generation,
			.sink_node_id = sink_node_id,
	};
}

// Gives a report to the monitor. `note` is NULL if there was no memory for one.
static void monitor(struct hs_control *control, const struct hs_rule *rule, uint32_t generation,
		struct rule_note *note, const struct hs_report *report, uint16_t sink_node_id)
{
	const struct hs_qos_key key = key_of(rule, generation, sink_node_id);
	int rc = hs_qos_report(control->qos, &key, report);
	hs_control_note_monitored(&control->rules, note, rc == 0);
	if (note && rc == 0 && control->config.delay_buckets)
		hs_delay_buckets_add(&note->delays, report, sink_node_id, control->now_ns);
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

// Gives a record to the monitor without decoding it. Returns false if the monitor must decode it.
static inline bool place_of(const struct batch *batch, const struct hs_report_record *record,
		uint32_t flow, uint32_t ns_id)
{
	struct hs_control *control = batch->control;
	const struct hs_qos_key key = {.ns_id = ns_id,
			.generation = record->rule_generation,
			.sink_node_id = batch->sink_id};

	if (hs_control_clock_is_old(&control->clock, control->now_ns, record->sink_ts_ns) ||
			!hs_qos_place(control->qos, flow, &key, record, batch->format))
		return false;
	control->counts.reports_suppressed++;
	return true;
}

// Does the same for a rule that is looked at. Returns false also if anything else needs the record.
static bool place(const struct batch *batch, const struct hs_report_record *record,
		const struct expected *expected)
{
	struct hs_control *control = batch->control;
	const struct hs_rule *rule = expected->rule;
	struct rule_note *note = hs_control_find_note(&control->rules, record->rule_slot);

	if (!note || !note->monitored || rule->piggyback_report || rule->transmit_report ||
			control->config.delay_buckets ||
			!place_of(batch, record, expected->flow, rule->ns_id))
		return false;
	note->ends_here = true;
	hs_control_note_placed(&control->rules, record->rule_slot, rule->ns_id, expected->flow);
	return true;
}

// Looks at the rule of a record, and fetches its note and flow.
static struct expected look_at_rule(
		const struct hs_control *control, const struct hs_report_record *record)
{
	const struct hs_rule *rule = rule_of_record(control, record);

	if (rule)
		__builtin_prefetch(hs_control_find_note(&control->rules, record->rule_slot));
	return (struct expected){NULL, rule, hs_qos_expect(control->qos, rule ? rule->ns_id : 0)};
}

static void take_report(const struct batch *batch, const struct hs_report_record *record,
		const struct expected *expected)
{
	struct hs_control *control = batch->control;
	const struct hs_telemetry_family *format = batch->format;
	const struct hs_rule *rule = expected->rule;
	struct hs_report report;

	if (!rule) {
		control->counts.reports_stale++;
		return;
	}
	if (place(batch, record, expected))
		return;
	if (hs_report_decode(record, format, &report) < 0) {
		control->counts.reports_bad++;
		return;
	}
	if (!report.telemetry.ns_id) // the format names no rule
		report.telemetry.ns_id = rule->ns_id;
	uint16_t node_id = batch->sink_id;
	struct rule_note *note = hs_control_note(&control->rules, record->rule_slot);
	if (hs_control_clock_is_old(&control->clock, control->now_ns, report.sink_ts_ns))
		control->counts.reports_old_time++;
	else
		monitor(control, rule, record->rule_generation, note, &report, node_id);
	if (note)
		note->ends_here = true;
	if (rule->piggyback_report)
		hs_in_band_queue_report(control->in_band, record->rule_slot, &report);
	if (!rule->transmit_report)
		control->counts.reports_suppressed++;
	else if (hs_control_publish_report(&control->events, &report, rule->app_id, node_id) < 0)
		control->counts.reports_publish_lost++;
	else
		control->counts.reports_published++;
}

// ---- batches ----

// A record of two to four hops has these lines.
static inline void fetch_record(const struct hs_report_record *record)
{
	__builtin_prefetch(record);
	__builtin_prefetch((const char *)record + 64);
	__builtin_prefetch((const char *)record + 128);
}

static inline void expect(struct batch *batch, unsigned i)
{
	const struct hs_control *control = batch->control;
	const struct hs_report_record *record = &batch->records[i];
	const struct rule_placed *placed = hs_control_placed(&control->rules, record->rule_slot);

	if (placed) {
		batch->expected[i] = (struct expected){placed, NULL, placed->flow};
		hs_qos_expect_flow(control->qos, placed->flow);
	} else {
		batch->expected[i] = look_at_rule(control, record);
	}
}

static inline void take(struct batch *batch, unsigned i)
{
	const struct hs_report_record *record = &batch->records[i];
	const struct expected *expected = &batch->expected[i];
	const struct rule_placed *placed = expected->placed;

	if (!batch->format || batch->format->number != record->family)
		batch->format = hs_node_format(batch->control->node, record);
	if (!placed) {
		take_report(batch, record, expected);
	} else if (!place_of(batch, record, placed->flow, placed->ns_id)) {
		const struct expected now = look_at_rule(batch->control, record);
		take_report(batch, record, &now);
	}
}

// Takes records. With thousands of flows in turn, no report finds its flow in the cache, and
// records are in another core's. So the memory of a report is prefetched while reports before it
// are taken.
static void take_batch(void *context, const struct hs_report_record *records, unsigned n)
{
	struct hs_control *control = context;
	struct expected expected[REPORTS];
	struct batch batch = {.control = control,
			.records = records,
			.expected = expected,
			.sink_id = hs_node_config(control->node)->id};

	for (unsigned i = 0; i < n + FAR; i++) {
		unsigned near = i - (FAR - NEAR), next = i - (FAR - NEXT), now = i - FAR;
		if (i < n)
			fetch_record(&records[i]);
		if (near < n)
			expect(&batch, near);
		if (next < n)
			hs_qos_expect_next(control->qos, expected[next].flow,
					records[next].sink_ts_ns);
		if (now < n)
			take(&batch, now);
	}
}

unsigned hs_control_drain(struct hs_control *control, unsigned at_most)
{
	unsigned taken = 0, n;

	do {
		if (control->config.workers_help)
			hs_qos_want_help(control->qos, hs_node_reports_pile_up(control->node));
		unsigned want = at_most - taken < REPORTS ? at_most - taken : REPORTS;
		n = want ? hs_node_visit_reports(control->node, want, take_batch, control) : 0;
		taken += n;
	} while (n > 0);
	control->counts.reports_taken += taken;
	return taken;
}

// A worker counts while its counters are read here, so that more reports may be lost or taken than
// were made.
unsigned hs_control_waiting(const struct hs_control *control)
{
	uint64_t handed_over = 0, taken = control->counts.reports_taken;
	struct hs_worker_counters worker;

	for (unsigned i = 0; i < hs_node_config(control->node)->n_workers; i++) {
		hs_node_worker_counters(control->node, i, &worker);
		handed_over += worker.reports_made - worker.reports_lost;
	}
	return (int64_t)(handed_over - taken) > 0 ? (unsigned)(handed_over - taken) : 0;
}

// Returns whether the monitor takes a report from another sink. The node does not need it if it is
// a sink of the flow itself. A report with a future time would close all windows up to that time,
// so that later reports would come too late.
static bool is_measured(
		const struct hs_control *control, uint32_t slot, const struct hs_report *report)
{
	const struct rule_note *note =
			slot == HS_FLOW_NONE ? NULL : hs_control_find_note(&control->rules, slot);

	return slot != HS_FLOW_NONE && !(note && note->ends_here) &&
	       report->sink_ts_ns <= control->now_ns + FUTURE_NS;
}

void hs_control_take_returned(struct hs_control *control, const struct hs_report *report,
		const struct hs_report_sender *sender)
{
	uint32_t slot = hs_flow_table_find(control->flows, report->telemetry.ns_id);

	if (hs_control_publish_report(
			    &control->events, report, sender->app_id, sender->sink_node_id) < 0)
		control->counts.reports_piggyback_publish_lost++;
	if (!is_measured(control, slot, report))
		control->counts.reports_piggyback_unmonitored++;
	else
		monitor(control, hs_flow_table_rule(control->flows, slot),
				hs_flow_table_generation(control->flows, slot),
				hs_control_note(&control->rules, slot), report,
				sender->sink_node_id);
}
