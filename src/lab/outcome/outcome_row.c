// SPDX-License-Identifier: BSD-3-Clause
// Rows: the means of a hop over the windows, and its loss and overhead over the whole run.
#include "outcome_parts.h"

#include "array.h"

#include <math.h>
#include <stdio.h>

// Adds a value to a sum. The first value replaces NAN.
static void add(double *sum, double value)
{
	*sum = isnan(*sum) ? value : *sum + value;
}

// ---- the true loss of the run ----

// Returns whether a node that both packets passed forgot its counts in between.
static bool a_node_forgot(const struct hs_truth_report *a, const struct hs_truth_report *b)
{
	for (uint32_t i = 0; i < a->n_stops; i++)
		for (uint32_t j = 0; j < b->n_stops; j++)
			if (a->stops[i].node == b->stops[j].node &&
					a->stops[i].life != b->stops[j].life)
				return true;
	return false;
}

// Adds the loss between two successive reports, unless their paths differ or a node restarted in
// between: lib/qos then leaves out all hops.
static void lose_between(const struct outcome_hop *hop, const struct outcome_report *a,
		const struct outcome_report *b, struct outcome_row *row)
{
	struct outcome_stops at_a, at_b;
	if (a->epoch != b->epoch || !outcome_stops_of(hop, a->truth, &at_a) ||
			!outcome_stops_of(hop, b->truth, &at_b) ||
			(!hop->ends.e2e && a_node_forgot(a->truth, b->truth)))
		return;
	int64_t sent = (int64_t)(at_b.from->tx_packets - at_a.from->tx_packets);
	int64_t received = (int64_t)(at_b.to->rx_packets - at_a.to->rx_packets);
	add(&row->lost_truth, (double)(sent - received));
}

// Sums the true loss from the first report to the newest, over the reports that were the newest
// when they arrived.
static void lose_truly(const struct outcome_hop *hop, struct outcome_row *row)
{
	const struct outcome_report *last = hop->flow->arrived;
	for (size_t i = 0; i < hop->flow->n; i++) {
		const struct outcome_report *newest = hop->flow->reports[i]->newest;
		if (newest->truth->number <= last->truth->number)
			continue;
		lose_between(hop, last, newest, row);
		last = newest;
	}
}

// Sums everything that was lost in the run. A copy that a link made was received but never sent.
// The loss from end to end is what left the source and did not reach the sink, because nodes also
// lose packets.
static void lose_all(const struct outcome_flow *flow, uint32_t from, uint32_t to,
		struct outcome_row *row)
{
	bool e2e = row->ends.e2e;
	for (size_t i = 0; i < flow->truth->n_hops; i++) {
		const struct hs_truth_hop *hop = &flow->truth->hops[i];
		bool begins = hop->from == from, ends = hop->to == to;
		if (to == HS_NO_INDEX || (!e2e && !(begins && ends)))
			continue;
		add(&row->lost_all, (begins ? (double)hop->sent_packets : 0) + (double)hop->copies -
						    (ends ? (double)hop->received_packets : 0));
		if (!e2e)
			row->link = *hop;
	}
}

// ---- a row, and its windows ----

static bool same_ends(struct hs_measured_ends a, struct hs_measured_ends b)
{
	return a.e2e == b.e2e && (a.e2e || (a.from == b.from && a.to == b.to));
}

// Adds the row of a hop. A packet of the window shows the nodes at the ends of the hop. A row has
// the name of the hop's link. If the hop spans several links, or no known link, its name consists
// of the ids of its ends.
static struct outcome_row *add_row(struct outcome_flow *flow, const struct outcome_hop *hop)
{
	struct outcome_row *row = HS_ARRAY_ADD(flow->rows, flow->n_rows);
	uint32_t from = HS_NO_INDEX, to = HS_NO_INDEX;
	struct outcome_stops stops;
	if (!row)
		return NULL;
	*row = (struct outcome_row){.ends = hop->ends,
			.lost = NAN,
			.shown = NAN,
			.lost_truth = NAN,
			.lost_all = NAN};
	for (size_t i = hop->high; i-- > 0 && to == HS_NO_INDEX;) {
		if (!outcome_stops_of(hop, flow->reports[i]->truth, &stops))
			continue;
		from = stops.from->node;
		to = stops.to->node;
	}
	const struct hs_scenario_link *link =
			hs_scenario_link_between(flow->run->scenario, from, to);
	if (hop->ends.e2e || link)
		snprintf(row->hop, sizeof(row->hop), "%s", hop->ends.e2e ? "e2e" : link->name);
	else
		snprintf(row->hop, sizeof(row->hop), "%u..%u", hop->ends.from, hop->ends.to);
	lose_truly(hop, row);
	lose_all(flow, from, to, row);
	return row;
}

struct outcome_row *outcome_row_of(struct outcome_flow *flow, const struct outcome_hop *hop)
{
	for (size_t i = 0; i < flow->n_rows; i++)
		if (same_ends(flow->rows[i].ends, hop->ends))
			return &flow->rows[i];
	return add_row(flow, hop);
}

static void add_error(struct outcome_column *column, double measured, double value)
{
	double off = measured - value;
	if (isnan(off))
		return;
	column->n++;
	column->sum += value;
	column->off += fabs(off);
	column->off_signed += off;
	column->max_off = fmax(column->max_off, fabs(off));
}

void outcome_row_add(
		struct outcome_row *row, const json_t *const sides[OUTCOME_SIDES], bool partial)
{
	const json_t *measured = sides[OUTCOME_MEASURED];
	double sent = (double)hs_measured_integer(measured, "tx_packets");
	if (json_object_get(measured, "loss_ratio")) {
		add(&row->lost, (double)hs_measured_integer(measured, "lost_packets"));
		add(&row->shown, round(hs_measured_number(measured, HS_LAB_LOSS) * sent));
	}
	for (unsigned kind = 0; kind < HS_LAB_KINDS && !partial; kind++)
		for (unsigned i = 0; i < OUTCOME_SIDES; i++)
			add_error(&row->columns[kind][i], hs_measured_number(measured, kind),
					hs_measured_number(sides[i], kind));
}

// ---- JSON ----

static json_t *columns_json(const struct outcome_column columns[OUTCOME_SIDES])
{
	static const char *const sides[OUTCOME_SIDES] = {"measured", "truth", "configured"};
	const struct outcome_column *truth = &columns[OUTCOME_TRUTH];
	const struct outcome_column *configured = &columns[OUTCOME_CONFIGURED];
	json_t *json = json_object(), *mae = json_object();
	for (unsigned i = 0; i < OUTCOME_SIDES; i++)
		outcome_put(json, sides[i], outcome_mean(columns[i].sum, columns[i].n));
	outcome_put(mae, "configured", outcome_mean(configured->off, configured->n));
	outcome_put(mae, "truth", outcome_mean(truth->off, truth->n));
	json_object_set_new(json, "mae", mae);
	outcome_put(json, "max_error", truth->n ? truth->max_off : NAN);
	outcome_put(json, "mean_error", fabs(outcome_mean(configured->off_signed, configured->n)));
	outcome_put_integer(json, "windows", (json_int_t)columns[OUTCOME_MEASURED].n);
	return json;
}

// Appends an object that names the row to a list of the result, and returns it.
static json_t *append(json_t *result, const char *list, const struct outcome_flow *flow,
		const struct outcome_row *row)
{
	json_t *json = json_pack("{s:s, s:I, s:s, s:i, s:i}", "flow", flow->config->name, "ns_id",
			(json_int_t)flow->config->ns_id, "hop", row->hop, "from", row->ends.from,
			"to", row->ends.to);
	json_array_append_new(json_object_get(result, list), json);
	return json;
}

// Returns the published loss of the whole run or, without one, the sum over the windows.
static double published_loss(const struct outcome_flow *flow, const struct outcome_row *row)
{
	const struct hs_measured_window *run = &flow->run->measured->flows[flow->index].run;
	for (uint32_t i = 0; i <= run->n_hops; i++) {
		const json_t *hop = hs_measured_hop(run, i);
		if (json_object_get(hop, "loss_ratio") &&
				same_ends(hs_measured_ends(run, i), row->ends))
			return (double)hs_measured_integer(hop, "lost_packets");
	}
	return row->lost;
}

static void put_row(const struct outcome_flow *flow, const struct outcome_row *row, json_t *result)
{
	const struct hs_truth_hop *link = &row->link;
	json_t *json = append(result, "rows", flow, row);
	for (unsigned kind = 0; kind < HS_LAB_KINDS; kind++)
		if (row->columns[kind][OUTCOME_MEASURED].n)
			json_object_set_new(json, hs_lab_kinds[kind].word,
					columns_json(row->columns[kind]));
	json = append(result, "lost_packets", flow, row);
	outcome_put(json, "measured", published_loss(flow, row));
	outcome_put(json, "shown", isnan(row->lost_truth) ? NAN : row->shown);
	outcome_put(json, "truth", row->lost_truth);
	outcome_put(json, "truth_all", row->lost_all);
	if (!link->sent_packets)
		return;
	json = append(result, "overhead", flow, row);
	outcome_put(json, "bytes_ratio", (double)link->telemetry_bytes / (double)link->sent_bytes);
	outcome_put(json, "packets_ratio",
			(double)link->telemetry_packets / (double)link->sent_packets);
	outcome_put(json, "packets", (double)link->sent_packets);
	outcome_put(json, "bytes", (double)link->sent_bytes);
	outcome_put(json, "telemetry_packets", (double)link->telemetry_packets);
	outcome_put(json, "telemetry_bytes", (double)link->telemetry_bytes);
}

void outcome_rows_put(const struct outcome_flow *flow, json_t *result)
{
	for (size_t i = 0; i < flow->n_rows; i++)
		put_row(flow, &flow->rows[(i + 1) % flow->n_rows], result);
}
