// SPDX-License-Identifier: BSD-3-Clause
// Checks the requests of a scenario for each node in the order of the run, as the API would answer
// them.
#include "scenario_draft.h"

#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct play {
	const struct hs_draft *draft;
	json_t *list;	 // requests of one node
	json_t *origins; // the path of each request in the file
};

// Turns "[3].int_request.src_ip" into "requests[1].int_request.src_ip".
static void set_path(const struct play *play)
{
	struct hs_error *err = play->draft->err;
	char rest[sizeof(err->path)];
	size_t index = 0;
	int used = 0;

	sscanf(err->path, "[%zu]%n", &index, &used);
	snprintf(rest, sizeof(rest), "%.100s", err->path + used);
	snprintf(err->path, sizeof(err->path), "%s%s",
			json_string_value(json_array_get(play->origins, index)), rest);
	if (strcmp(err->code, "table_full") == 0)
		snprintf(err->expected, sizeof(err->expected), "fewer requests, or larger rules");
}

static int check_list(const struct play *play)
{
	const struct hs_api_check check = {.rules = play->draft->scenario.rules};
	int rc = hs_api_check_list(play->list, &check, play->draft->err);
	if (rc == -EINVAL)
		set_path(play);
	return rc;
}

static int add(struct play *play, json_t *request, bool in_event, uint32_t entry)
{
	json_t *origin = json_sprintf(in_event ? "events[%u].request" : "requests[%u]", entry);

	if (json_array_append(play->list, request) < 0 ||
			json_array_append_new(play->origins, origin) < 0)
		return hs_draft_no_memory(play->draft);
	return 0;
}

static bool concerns(uint32_t of, uint32_t node)
{
	return of == HS_NO_INDEX || of == node;
}

static int add_first(struct play *play, uint32_t node)
{
	const struct hs_scenario *scenario = &play->draft->scenario;
	int rc = 0;

	json_array_clear(play->list);
	json_array_clear(play->origins);
	for (size_t i = 0; i < scenario->n_requests && rc == 0; i++) {
		const struct hs_scenario_request *request = &scenario->requests[i];
		if (concerns(request->node, node))
			rc = add(play, request->request, false, request->entry);
	}
	return rc;
}

// A repeating event is checked once. Its repetitions may fail during the run.
static int play_node(struct play *play, uint32_t node)
{
	int rc = add_first(play, node);

	for (size_t i = 0; i < play->draft->scenario.n_events && rc == 0; i++) {
		const struct hs_scenario_event *event = &play->draft->scenario.events[i];
		if (event->kind == HS_LAB_EVENT_RESTART && event->node == node) {
			rc = check_list(play) ?: add_first(play, node);
		} else if (event->kind == HS_LAB_EVENT_REQUEST && concerns(event->node, node)) {
			rc = add(play, event->request, true, event->entry);
		}
	}
	return rc ?: check_list(play);
}

// Nodes that no request or event names get the same requests, so that one of them is checked for
// all.
static bool has_own(const struct hs_scenario *scenario, uint32_t node)
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
	struct play play = {.draft = draft, .list = json_array(), .origins = json_array()};
	bool played_others = false;
	int rc = play.list && play.origins ? 0 : hs_draft_no_memory(draft);

	for (uint32_t node = 0; node < draft->scenario.n_nodes && rc == 0; node++) {
		bool own = has_own(&draft->scenario, node);
		if (own || !played_others)
			rc = play_node(&play, node);
		played_others |= !own;
	}
	json_decref(play.list);
	json_decref(play.origins);
	return rc;
}
