// SPDX-License-Identifier: BSD-3-Clause
// The events of a scenario.
#include "scenario_draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_CLOCK_STEP_NS INT64_C(86400000000000) // a day

static const struct hs_schema_word direction_words[] = {
		{"both", 3}, {"forward", 1}, {"reverse", 2}, {NULL, 0}};

#define OF(kind)      (1u << HS_LAB_EVENT_##kind)
#define EVENT(member) HS_SCHEMA_MEMBER(struct hs_scenario_event, member)
static const struct hs_schema_field event_fields[] = {
		{"at_s", HS_SCHEMA_SECONDS, EVENT(at_ns), .most = HS_DRAFT_MAX_S, .required = true,
				.expected = "seconds after the start"},
		{"every_s", HS_SCHEMA_SECONDS, EVENT(every_ns), .least = 1e-6,
				.most = HS_DRAFT_MAX_S},
		{"until_s", HS_SCHEMA_SECONDS, EVENT(until_ns), .most = HS_DRAFT_MAX_S},
		{"link", HS_SCHEMA_NAME, EVENT(link), .names = &hs_draft_link_names},
		{"direction", HS_SCHEMA_WORD, EVENT(directions), .words = direction_words,
				.kinds = OF(LINK), .help = "only beside link"},
		{"set", HS_SCHEMA_JSON, EVENT(set), .shape = "{'type': 'object'}",
				.kinds = OF(LINK) | OF(TRAFFIC),
				.help = "only beside link or traffic"},
		{"node", HS_SCHEMA_NAME, EVENT(node), .names = &hs_draft_node_names,
				.words = hs_draft_all_nodes, .expected = HS_DRAFT_NODES},
		{"restart", HS_SCHEMA_BOOL, EVENT(restart), .kinds = OF(RESTART),
				.help = "only beside node, and without request"},
		{"down_s", HS_SCHEMA_SECONDS, EVENT(down_ns), .most = HS_DRAFT_MAX_S,
				.kinds = OF(RESTART), .help = "only beside restart"},
		{"request", HS_SCHEMA_JSON, EVENT(request), .shape = "{'type': 'object'}",
				.kinds = OF(REQUEST), .help = "only beside node"},
		{"clock_step_ns", HS_SCHEMA_INT, EVENT(clock_step_ns),
				.min = (uint64_t)-MAX_CLOCK_STEP_NS, .max = MAX_CLOCK_STEP_NS,
				.kinds = OF(CLOCK),
				.help = "only beside node, and without request"},
		{"traffic", HS_SCHEMA_NAME, EVENT(traffic), .names = &hs_draft_traffic_names},
		{NULL},
};

static int find_kind(const struct hs_draft *draft, struct hs_scenario_event *event)
{
	bool link = event->link != HS_NO_INDEX, traffic = event->traffic != HS_NO_INDEX;
	unsigned subjects = link + traffic + hs_draft_has(draft, "node");
	bool step = hs_draft_has(draft, "clock_step_ns") && !event->restart;

	if (subjects != 1)
		return hs_draft_refuse(draft, NULL, subjects ? "conflict" : "missing_field",
				"one of link, node, traffic", "the event happens to %s",
				subjects ? "several things" : "nothing");
	event->kind = link	       ? HS_LAB_EVENT_LINK
		      : traffic	       ? HS_LAB_EVENT_TRAFFIC
		      : event->request ? HS_LAB_EVENT_REQUEST
		      : step	       ? HS_LAB_EVENT_CLOCK
				       : HS_LAB_EVENT_RESTART;
	return hs_draft_check_kinds(draft, event_fields, event->kind, "this event");
}

static int set_times(const struct hs_draft *draft, struct hs_scenario_event *event)
{
	bool has_end = event->until_ns != HS_DRAFT_NEVER;

	if (has_end && !event->every_ns)
		return hs_draft_refuse(draft, "until_s", "conflict", "only beside every_s",
				"the event happens once");
	if (hs_draft_check_period(draft, "at_s", event->at_ns, "until_s", event->until_ns,
			    "the event ends before it begins") < 0)
		return -EINVAL;
	if (!has_end)
		event->until_ns = event->every_ns ? draft->scenario.duration_ns : event->at_ns;
	return 0;
}

// ---- each kind: what else it needs ----

// `set` is the file's until the event is kept. `request` is replaced by the event's own.

static int read_link(struct hs_draft *draft, struct hs_scenario_event *event)
{
	static const char *const of_queue[] = {"rate_bps", "queue_packets", "overhead_bytes"};

	for (size_t i = 0; i < 3 && draft->scenario.links[event->link].queue_at_node; i++)
		if (json_object_get(event->set, of_queue[i]))
			return hs_draft_refuse(draft, "set", "conflict", "none of them",
					"the queue of this link stands in its nodes, whose \"%s\" "
					"does not change",
					of_queue[i]);
	if (!json_object_size(event->set) && (!event->set || json_is_object(event->set)))
		return hs_draft_refuse_missing(draft, "set", "parameters of a link");
	return 0;
}

static int read_traffic(struct hs_draft *draft, struct hs_scenario_event *event)
{
	static const struct hs_schema_field set_fields[] = {
			{"rate_pps", HS_SCHEMA_REAL, EVENT(rate_pps), .required = true, .most = 1e9,
					.expected = "packets per second"},
			{NULL},
	};

	if (!event->set)
		return hs_draft_refuse_missing(draft, "set", "{\"rate_pps\": ...}");
	if (hs_schema_read(set_fields, event->set, "set", event, draft->err) < 0)
		return hs_draft_prefix(draft);
	return 0;
}

static int read_restart(struct hs_draft *draft, struct hs_scenario_event *event)
{
	if (event->node == HS_NO_INDEX)
		return hs_draft_refuse(draft, "node", "unknown_name", "the name of a node",
				"no node is called \"*\"");
	if (event->restart)
		return 0;
	return hs_draft_refuse_missing(draft, "restart", "true, or a request in its place");
}

static int read_request(struct hs_draft *draft, struct hs_scenario_event *event)
{
	// An event beyond a shorter duration of the command line makes no flow.
	bool monitors = event->at_ns <= draft->scenario.duration_ns;

	snprintf(draft->place, sizeof(draft->place), "%s.request", draft->item.path);
	draft->item.path = draft->place;
	if (hs_draft_read_request(draft, event->request, true) < 0)
		return -EINVAL;
	return hs_draft_make_request(draft, draft->request.traffic, monitors, &event->request);
}

static void release(const struct hs_scenario_event *event)
{
	json_decref(event->set);
	json_decref(event->request);
}

static int take_event(struct hs_draft *draft, struct hs_scenario_event *event)
{
	static int (*const readers[])(struct hs_draft * draft, struct hs_scenario_event * event) = {
			[HS_LAB_EVENT_LINK] = read_link,
			[HS_LAB_EVENT_RESTART] = read_restart,
			[HS_LAB_EVENT_REQUEST] = read_request,
			[HS_LAB_EVENT_TRAFFIC] = read_traffic,
			[HS_LAB_EVENT_CLOCK] = NULL,
	};

	event->entry = (uint32_t)draft->item.index;
	int rc = find_kind(draft, event) ?: set_times(draft, event);
	if (rc == 0 && readers[event->kind])
		rc = readers[event->kind](draft, event);
	if (rc < 0)
		return rc;
	json_incref(event->set);
	rc = HS_DRAFT_APPEND(draft, events, event);
	if (rc < 0)
		release(event);
	return rc;
}

HS_DRAFT_LIST(event, struct hs_scenario_event, event_fields, take_event,
		{.until_ns = HS_DRAFT_NEVER,
				.link = HS_NO_INDEX,
				.node = HS_NO_INDEX,
				.traffic = HS_NO_INDEX,
				.directions = 3});

// ---- all of them ----

static int compare(const void *left, const void *right)
{
	const struct hs_scenario_event *a = left, *b = right;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->entry < b->entry ? -1 : 1;
}

// Applies the link events to copies of the links, because the changes before an event decide
// whether its change is valid.
static int check_links(struct hs_draft *draft)
{
	const struct hs_scenario *s = &draft->scenario;
	struct hs_scenario_link *links = hs_draft_room(draft, s->n_links, sizeof(*links));
	int rc = links ? 0 : -ENOMEM;
	char at[48];

	for (size_t i = 0; i < s->n_links && rc == 0; i++)
		links[i] = s->links[i];
	for (size_t i = 0; i < 2 * s->n_events && rc == 0; i++) {
		const struct hs_scenario_event *event = &s->events[i / 2];
		if (event->kind != HS_LAB_EVENT_LINK || !(event->directions & 1u << i % 2))
			continue;
		snprintf(at, sizeof(at), "events[%u].set", event->entry);
		rc = hs_scenario_set_link(
				event->set, at, &links[event->link].directions[i % 2], draft->err);
	}
	return rc;
}

// Removes what lies beyond a shorter duration of the command line.
static void clip(struct hs_scenario *scenario)
{
	int64_t end_ns = scenario->duration_ns;
	size_t *n = &scenario->n_events;

	for (; *n && scenario->events[*n - 1].at_ns > end_ns; --*n)
		release(&scenario->events[*n - 1]);
	for (size_t i = 0; i < *n; i++)
		if (scenario->events[i].until_ns > end_ns)
			scenario->events[i].until_ns = end_ns;
}

int hs_draft_check_events(struct hs_draft *draft)
{
	struct hs_scenario *scenario = &draft->scenario;

	if (scenario->n_events)
		qsort(scenario->events, scenario->n_events, sizeof(*scenario->events), compare);
	int rc = check_links(draft) ?: hs_draft_check_requests(draft);
	if (rc == 0)
		clip(scenario);
	return rc;
}
