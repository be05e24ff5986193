// SPDX-License-Identifier: BSD-3-Clause
// Checks the requests of a scenario for each node in the order of the run, as the API would answer
// them.
#include "scenario_parts.h"

#include "api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct play {
	const struct hs_scenario_draft *draft;
	const size_t *order; // of the events
	json_t *list;	     // requests of one node
	size_t *origins; // origin of each request: its index, or n_requests + index of the event
	size_t n;
};

// Turns "[3].int_request.src_ip" into "requests[1].int_request.src_ip".
static void set_path(const struct play *play, struct hs_error *err)
{
	const struct hs_scenario_draft *draft = play->draft;
	size_t n_requests = draft->scenario.n_requests, index = 0;
	int used = 0;
	char path[sizeof(err->path)], front[48];

	sscanf(err->path, "[%zu]%n", &index, &used);
	size_t origin = index < play->n ? play->origins[index] : 0;
	if (origin < n_requests)
		snprintf(front, sizeof(front), "requests[%zu]",
				draft->request_origins[origin].entry);
	else
		snprintf(front, sizeof(front), "events[%zu].request",
				draft->event_origins[origin - n_requests].entry);
	snprintf(path, sizeof(path), "%s%.100s", front, err->path + used);
	memcpy(err->path, path, sizeof(path));
	if (strcmp(err->code, "table_full") == 0)
		snprintf(err->expected, sizeof(err->expected), "fewer requests, or larger rules");
}

static int check_list(const struct play *play, struct hs_error *err)
{
	const struct hs_api_check check = {.rules = play->draft->scenario.rules};
	int rc = hs_api_check_list(play->list, &check, err);
	if (rc == -EINVAL)
		set_path(play, err);
	return rc;
}

static int add(struct play *play, json_t *request, size_t origin, struct hs_error *err)
{
	if (json_array_append(play->list, request) < 0)
		return hs_scenario_no_memory(err);
	play->origins[play->n++] = origin;
	return 0;
}

static bool concerns(uint32_t of, uint32_t node)
{
	return of == HS_NO_INDEX || of == node;
}

static int add_first(struct play *play, uint32_t node, struct hs_error *err)
{
	const struct hs_scenario *scenario = &play->draft->scenario;
	int rc = 0;

	json_array_clear(play->list);
	play->n = 0;
	for (size_t i = 0; i < scenario->n_requests && rc == 0; i++)
		if (concerns(scenario->requests[i].node, node))
			rc = add(play, scenario->requests[i].request, i, err);
	return rc;
}

// A repeating event is checked once. Its repetitions may fail during the run.
static int play_node(struct play *play, uint32_t node, struct hs_error *err)
{
	const struct hs_scenario *scenario = &play->draft->scenario;
	int rc = add_first(play, node, err);

	for (size_t i = 0; i < scenario->n_events && rc == 0; i++) {
		size_t index = play->order[i];
		const struct hs_scenario_event *event = &scenario->events[index];
		if (event->kind == HS_LAB_EVENT_RESTART && event->node == node) {
			rc = check_list(play, err);
			if (rc == 0)
				rc = add_first(play, node, err);
		} else if (event->kind == HS_LAB_EVENT_REQUEST && concerns(event->node, node)) {
			rc = add(play, event->request, scenario->n_requests + index, err);
		}
	}
	return rc ? rc : check_list(play, err);
}

// Nodes that no request or event names get the same requests, so that one of them is checked for
// all.
static void find_own(const struct hs_scenario *scenario, bool *own)
{
	for (size_t i = 0; i < scenario->n_requests; i++)
		if (scenario->requests[i].node != HS_NO_INDEX)
			own[scenario->requests[i].node] = true;
	for (size_t i = 0; i < scenario->n_events; i++)
		if (scenario->events[i].node != HS_NO_INDEX)
			own[scenario->events[i].node] = true;
}

static int play_all(struct play *play, const bool *own, struct hs_error *err)
{
	bool played_others = false;
	int rc = 0;

	for (uint32_t node = 0; node < play->draft->scenario.n_nodes && rc == 0; node++) {
		if (!own[node] && played_others)
			continue;
		played_others |= !own[node];
		rc = play_node(play, node, err);
	}
	return rc;
}

int hs_scenario_check_requests(struct hs_scenario_draft *draft, struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	struct play play = {.draft = draft, .list = json_array()};
	size_t *order = hs_scenario_event_order(scenario, err);
	bool *own = hs_scenario_room(scenario->n_nodes, sizeof(*own), err);
	int rc = -ENOMEM;

	play.order = order;
	play.origins = hs_scenario_room(
			scenario->n_requests + scenario->n_events, sizeof(*play.origins), err);
	if (play.list && order && own && play.origins) {
		find_own(scenario, own);
		rc = play_all(&play, own, err);
	}
	json_decref(play.list);
	free(play.origins);
	free(order);
	free(own);
	return rc;
}
