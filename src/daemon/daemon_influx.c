// SPDX-License-Identifier: BSD-3-Clause
#include "daemon_influx.h"

#include "control_totals.h"
#include "influx_window.h"
#include "metric_lines.h"

#include <string.h>

#define RULES_AT_ONCE 64   // a fraction of a millisecond
#define SLOTS_AT_ONCE 4096 // with rules or without

static const char *name_of(const struct daemon_influx *influx)
{
	return hs_node_config(influx->node)->name;
}

static void add(struct daemon_influx *influx, unsigned index)
{
	struct hs_influx_text *text = &influx->text;

	hs_influx_add(influx->client, index, text->bytes, text->len, text->lines);
	hs_influx_text_clear(text);
}

int hs_daemon_influx_open(struct daemon_influx *influx, const struct hs_influx_list *config,
		struct hs_node *node, struct hs_error *err)
{
	influx->node = node;
	return hs_influx_open(config, "influx", &influx->client, err);
}

void hs_daemon_influx_close(
		struct daemon_influx *influx, const struct hs_control *control, int64_t now_ns)
{
	struct hs_node_totals totals;

	if (influx->client && control) {
		hs_control_totals(control, &totals);
		hs_metric_lines(&influx->text, influx->node, &totals, now_ns);
		add(influx, HS_INFLUX_ALL);
	}
	hs_influx_close(influx->client);
	influx->client = NULL;
	hs_influx_text_fini(&influx->text);
}

// ---- counters ----

static void begin_round(struct daemon_influx *influx, unsigned index,
		const struct hs_control *control, int64_t now_ns)
{
	struct daemon_influx_round *round = &influx->rounds[index];
	int64_t every_ns = hs_influx_config(influx->client, index)->interval_ns;
	struct hs_node_totals totals;

	// Times are multiples of the interval, so that the lines of all nodes have equal times.
	round->time_ns = now_ns - now_ns % every_ns;
	round->next_ns = round->time_ns + every_ns;
	round->walking = true;
	round->slot = 0;
	hs_control_totals(control, &totals);
	hs_metric_lines(&influx->text, influx->node, &totals, round->time_ns);
	add(influx, index);
}

// Rules come and go between two portions, so the walk goes by slot, which no rule leaves.
static void write_rules(struct daemon_influx *influx, unsigned index)
{
	struct daemon_influx_round *round = &influx->rounds[index];
	const struct hs_flow_table *flows = hs_node_flows(influx->node);
	unsigned written = 0;

	for (unsigned i = 0; i < SLOTS_AT_ONCE && written < RULES_AT_ONCE && round->walking; i++) {
		uint32_t slot = round->slot++;
		round->walking = round->slot < hs_flow_table_capacity(flows);
		if (!hs_flow_table_rule(flows, slot))
			continue;
		hs_metric_lines_rule(&influx->text, influx->node, slot, round->time_ns);
		written++;
	}
	add(influx, index);
}

bool hs_daemon_influx_step(
		struct daemon_influx *influx, const struct hs_control *control, int64_t now_ns)
{
	bool more = false;

	for (unsigned i = 0; i < hs_influx_count(influx->client); i++) {
		struct daemon_influx_round *round = &influx->rounds[i];
		int64_t every_ns = hs_influx_config(influx->client, i)->interval_ns;
		// The counters are due, too, if the clock stepped back by more than an interval.
		bool due = now_ns >= round->next_ns || now_ns < round->next_ns - 2 * every_ns;
		if (!round->walking && due)
			begin_round(influx, i, control, now_ns);
		if (round->walking)
			write_rules(influx, i);
		more |= round->walking;
	}
	return more;
}

// ---- what is published ----

void hs_daemon_influx_record(struct daemon_influx *influx, const char *key, const json_t *content)
{
	if (!influx->client)
		return;
	if (strcmp(key, "qos_report") == 0)
		hs_influx_window(&influx->text, name_of(influx), content);
	else
		hs_influx_event(&influx->text, name_of(influx), content, &influx->event_ns);
	add(influx, HS_INFLUX_ALL);
}

void hs_daemon_influx_totals(const struct daemon_influx *influx, struct hs_node_totals *totals)
{
	struct hs_influx_counters counters;

	hs_influx_counters(influx->client, HS_INFLUX_ALL, &counters);
	totals->influx_lines_made = counters.made;
	totals->influx_lines_written = counters.written;
	totals->influx_lines_queue_full = counters.dropped[HS_INFLUX_QUEUE_FULL];
	totals->influx_lines_refused = counters.dropped[HS_INFLUX_REFUSED];
	totals->influx_lines_shutdown = counters.dropped[HS_INFLUX_SHUTDOWN];
	totals->influx_lines_waiting = counters.waiting;
	totals->influx_requests = counters.requests;
	totals->influx_failures = counters.failures;
	totals->influx_refusals = counters.refusals;
}
