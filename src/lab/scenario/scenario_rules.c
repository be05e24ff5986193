// SPDX-License-Identifier: BSD-3-Clause
// Checks the requests of a scenario for each node in the order of the run, as the API would answer
// them.
#include "scenario_draft.h"

#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// The requests that a node has got up to a time of the run.
struct history {
	const struct hs_draft *draft;
	json_t *list;
	json_t *origins; // the path of each request in the file
};

// Turns "[3].int_request.src_ip" into "requests[1].int_request.src_ip".
static void set_path(const struct history *history)
{
	struct hs_error *err = history->draft->err;
	char rest[sizeof(err->path)];
	size_t index = 0;
	int used = 0;

	sscanf(err->path, "[%zu]%n", &index, &used);
	snprintf(rest, sizeof(rest), "%.100s", err->path + used);
	snprintf(err->path, sizeof(err->path), "%s%s",
			json_string_value(json_array_get(history->origins, index)), rest);
	if (strcmp(err->code, "table_full") == 0)
		snprintf(err->expected, sizeof(err->expected), "fewer requests, or larger rules");
}

static int check_list(const struct history *history)
{
	const struct hs_api_check check = {.rules = history->draft->scenario.rules};
	int rc = hs_api_check_list(history->list, &check, history->draft->err);
	if (rc == -EINVAL)
		set_path(history);
	return rc;
}

static int add(struct history *history, json_t *request, bool in_event, uint32_t entry)
{
	json_t *origin = json_sprintf(in_event ? "events[%u].request" : "requests[%u]", entry);

	if (json_array_append(history->list, request) < 0 ||
			json_array_append_new(history->origins, origin) < 0)
		return hs_draft_no_memory(history->draft);
	return 0;
}

static bool concerns(uint32_t of, uint32_t node)
{
	return of == HS_NO_INDEX || of == node;
}

static int begin(struct history *history, uint32_t node)
{
	const struct hs_scenario *scenario = &history->draft->scenario;
	int rc = 0;

	json_array_clear(history->list);
	json_array_clear(history->origins);
	for (size_t i = 0; i < scenario->n_requests && rc == 0; i++) {
		const struct hs_scenario_request *request = &scenario->requests[i];
		if (concerns(request->node, node))
			rc = add(history, request->request, false, request->entry);
	}
	return rc;
}

// A repeating event is checked once. Its repetitions may fail during the run.
static int check_node(struct history *history, uint32_t node)
{
	int rc = begin(history, node);

	for (size_t i = 0; i < history->draft->scenario.n_events && rc == 0; i++) {
		const struct hs_scenario_event *event = &history->draft->scenario.events[i];
		if (event->kind == HS_LAB_EVENT_RESTART && event->node == node) {
			rc = check_list(history) ?: begin(history, node);
		} else if (event->kind == HS_LAB_EVENT_REQUEST && concerns(event->node, node)) {
			rc = add(history, event->request, true, event->entry);
		}
	}
	return rc ?: check_list(history);
}

// Nodes that no request or event names get the same requests, so that one of them is checked for
// all.
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
	struct history history = {.draft = draft, .list = json_array(), .origins = json_array()};
	bool checked_others = false;
	int rc = history.list && history.origins ? 0 : hs_draft_no_memory(draft);

	for (uint32_t node = 0; node < draft->scenario.n_nodes && rc == 0; node++) {
		bool own = is_named(&draft->scenario, node);
		if (own || !checked_others)
			rc = check_node(&history, node);
		checked_others |= !own;
	}
	json_decref(history.list);
	json_decref(history.origins);
	return rc;
}
