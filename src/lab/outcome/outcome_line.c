// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_parts.h"

#include <stdlib.h>

static size_t add_line(struct hs_outcome_work *work, const struct hs_outcome_line *line)
{
	struct hs_outcome *outcome = work->outcome;
	if (outcome->n_lines == outcome->lines_capacity) {
		size_t capacity = outcome->lines_capacity ? 2 * outcome->lines_capacity : 16;
		struct hs_outcome_line *lines = realloc(outcome->lines, capacity * sizeof(*lines));
		if (!lines)
			return SIZE_MAX;
		outcome->lines = lines;
		outcome->lines_capacity = capacity;
	}
	struct hs_outcome_line *added = &outcome->lines[outcome->n_lines];
	*added = *line;
	added->points = malloc((work->n_windows + 1) * sizeof(*added->points));
	added->start_ns = malloc((work->n_windows + 1) * sizeof(*added->start_ns));
	added->true_start_ns = malloc((work->n_windows + 1) * sizeof(*added->true_start_ns));
	if (!added->points || !added->start_ns || !added->true_start_ns) {
		free(added->points);
		free(added->start_ns);
		free(added->true_start_ns);
		return SIZE_MAX;
	}
	added->row.points = (const struct hs_point(*)[HS_METRIC_KINDS])added->points;
	added->row.start_ns = added->start_ns;
	return outcome->n_lines++;
}

size_t hs_outcome_line_find(const struct hs_outcome_work *work, struct hs_outcome_ends ends)
{
	const struct hs_outcome *outcome = work->outcome;
	for (size_t i = work->first_line; i < outcome->n_lines; i++) {
		const struct hs_outcome_row *row = &outcome->lines[i].row;
		if (row->e2e == ends.e2e &&
				(row->e2e || (row->from_id == ends.from && row->to_id == ends.to)))
			return i;
	}
	return SIZE_MAX;
}

// The packet that tells which nodes a hop of the window lies between.
static bool find_nodes(const struct hs_outcome_work *work, const struct hs_measured_window *window,
		struct hs_outcome_ends ends, struct hs_outcome_line *line)
{
	const struct hs_outcome_flow *flow = &work->flow;
	struct hs_outcome_stops stops;
	for (size_t i = hs_outcome_flow_until(flow, window->end_ns); i-- > 0;) {
		const struct hs_truth_report *report = &flow->reports[i].truth;
		if (!hs_outcome_flow_stops(flow, report, ends, &stops))
			continue;
		line->from_node = report->stops[stops.from].node;
		line->to_node = report->stops[stops.to].node;
		return true;
	}
	return false;
}

// A hop is named after its link; one that spans several, or none that is known, after its ends.
static void name_line(const struct hs_outcome_work *work, struct hs_outcome_line *line)
{
	const struct hs_scenario *scenario = work->outcome->run->scenario;
	struct hs_outcome_row *row = &line->row;
	for (size_t i = 0; i < scenario->n_links; i++) {
		const struct hs_scenario_link *link = &scenario->links[i];
		if ((link->from == line->from_node && link->to == line->to_node) ||
				(link->to == line->from_node && link->from == line->to_node)) {
			snprintf(row->hop, sizeof(row->hop), "%s", link->name);
			return;
		}
	}
	snprintf(row->hop, sizeof(row->hop), "%u..%u", row->from_id, row->to_id);
}

size_t hs_outcome_line_make(struct hs_outcome_work *work, const struct hs_measured_window *window,
		struct hs_outcome_ends ends)
{
	size_t found = hs_outcome_line_find(work, ends);
	if (found != SIZE_MAX)
		return found;
	struct hs_outcome_line line = {
			.row = {.flow = window->flow,
					.e2e = ends.e2e,
					.from_id = ends.from,
					.to_id = ends.to,
					.hop = "e2e"},
			.from_node = HS_NO_INDEX,
			.to_node = HS_NO_INDEX,
	};
	find_nodes(work, window, ends, &line);
	if (!ends.e2e)
		name_line(work, &line);
	return add_line(work, &line);
}
