// SPDX-License-Identifier: BSD-3-Clause
// Checks the requests of a scenario for each node in the order of the run, as the API would answer
// them.
#include "scenario_draft.h"

#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// ---- what a node gets ----

int hs_scenario_list_requests(
		const struct hs_scenario *scenario, uint32_t node, json_t *list, json_t *places)
{
	int rc = 0;

	for (size_t i = 0; i < scenario->n_requests && rc == 0; i++) {
		const struct hs_scenario_request *request = &scenario->requests[i];
		if (hs_scenario_has_node(request->node, node))
			rc = json_array_append(list, request->request) |
			     json_array_append_new(
					     places, json_sprintf("requests[%u]", request->entry));
	}
	return rc < 0 ? -ENOMEM : 0;
}

void hs_scenario_place_error(const json_t *places, struct hs_error *err)
{
	char rest[sizeof(err->path)];
	size_t index;
	int used = 0;

	if (sscanf(err->path, "[%zu]%n", &index, &used) != 1 || used == 0)
		return;
	snprintf(rest, sizeof(rest), "%.100s", err->path + used);
	snprintf(err->path, sizeof(err->path), "%s%s",
			json_string_value(json_array_get(places, index)), rest);
}

// ---- checking ----

// The requests that a node has got up to a time of the run.
struct history {
	const struct hs_draft *draft;
	json_t *list, *places;
};

static int begin(struct history *history, uint32_t node)
{
	json_array_clear(history->list);
	json_array_clear(history->places);
	return hs_scenario_list_requests(
			&history->draft->scenario, node, history->list, history->places);
}

static int add_event(struct history *history, const struct hs_scenario_event *event)
{
	json_t *place = json_sprintf("events[%u].request", event->entry);
	int rc = json_array_append(history->list, event->request) |
		 json_array_append_new(history->places, place);

	return rc < 0 ? -ENOMEM : 0;
}

static int check_list(const struct history *history)
{
	const struct hs_api_check check = {.rules = history->draft->scenario.rules};
	struct hs_error *err = history->draft->err;
	struct hs_errors errors = {0};
	int rc = hs_api_check_list(history->list, &check, &errors);

	if (rc == 0)
		return 0;
	*err = errors.list[0];
	hs_scenario_place_error(history->places, err);
	if (strcmp(err->code, "table_full") == 0)
		snprintf(err->expected, sizeof(err->expected), "fewer requests, or larger rules");
	return rc;
}

// Checks the requests of a node. A repeating event is checked once. Its repetitions may fail during
// the run.
static int check_node(struct history *history, uint32_t node)
{
	int rc = begin(history, node);

	for (size_t i = 0; i < history->draft->scenario.n_events && rc == 0; i++) {
		const struct hs_scenario_event *event = &history->draft->scenario.events[i];
		if (event->kind == HS_LAB_EVENT_RESTART && event->node == node) {
			rc = check_list(history) ?: begin(history, node);
		} else if (event->kind == HS_LAB_EVENT_REQUEST &&
				hs_scenario_has_node(event->node, node)) {
			rc = add_event(history, event);
		}
	}
	return rc ?: check_list(history);
}

// Returns whether a request or an event names the node. All other nodes get the same requests, so
// that one of them is checked for all.
static bool is_named(const struct hs_scenario *scenario, uint32_t node)
{
	for (size_t i = 0; i < scenario->n_requests; i++)
		if (scenario->requests[i].node == node)
			return true;
	for (size_t i = 0; i < scenario->n_events; i++)
		if (scenario->events[i].node == node)
			return true;
	return false;
}

int hs_draft_check_requests(const struct hs_draft *draft)
{
	struct history history = {.draft = draft, .list = json_array(), .places = json_array()};
	bool checked_others = false;
	int rc = 0;

	for (uint32_t node = 0; node < draft->scenario.n_nodes && rc == 0; node++) {
		bool own = is_named(&draft->scenario, node);
		if (own || !checked_others)
			rc = check_node(&history, node);
		checked_others |= !own;
	}
	json_decref(history.list);
	json_decref(history.places);
	return rc == -ENOMEM ? hs_draft_no_memory(draft) : rc;
}
