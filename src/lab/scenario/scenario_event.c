// SPDX-License-Identifier: BSD-3-Clause
// The events of a scenario.
#include "scenario_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS	  100000
#define NO_TIME		  INT64_MIN
#define MAX_CLOCK_STEP_NS INT64_C(86400000000000) // a day

struct entry {
	const struct hs_scenario_draft *draft;
	struct hs_scenario_event event;
	json_t *set, *request;
	uint32_t node; // or HS_SCENARIO_ALL; HS_NO_INDEX: not given
	uint32_t ways; // bits
	bool restart, has_step;
};

static const struct hs_schema_word direction_words[] = {
		{"both", 3},
		{"forward", 1},
		{"reverse", 2},
		{NULL, 0},
};

#define ENTRY(member)	HS_SCHEMA_MEMBER(struct entry, member)
#define SECONDS(lowest) .least = lowest, .most = HS_SCENARIO_MAX_S
static const struct hs_schema_field event_fields[] = {
		{"at_s", HS_SCHEMA_SECONDS, ENTRY(event.at_ns), SECONDS(0), .required = true,
				.expected = "seconds after the start"},
		{"every_s", HS_SCHEMA_SECONDS, ENTRY(event.every_ns), SECONDS(1e-6)},
		{"until_s", HS_SCHEMA_SECONDS, ENTRY(event.until_ns), SECONDS(0)},
		{"link", HS_SCHEMA_NAME, ENTRY(event.link), .names = &hs_scenario_link_names},
		{"direction", HS_SCHEMA_WORD, ENTRY(ways), .words = direction_words,
				.expected = "both, forward or reverse"},
		{"set", HS_SCHEMA_JSON, ENTRY(set), .shape = "{'type': 'object'}"},
		{"node", HS_SCHEMA_NAME, ENTRY(node), .names = &hs_scenario_node_names,
				.words = hs_scenario_all_words, .expected = HS_SCENARIO_NODES},
		{"restart", HS_SCHEMA_BOOL, ENTRY(restart)},
		{"down_s", HS_SCHEMA_SECONDS, ENTRY(event.down_ns), SECONDS(0)},
		{"request", HS_SCHEMA_JSON, ENTRY(request), .shape = "{'type': 'object'}"},
		{"clock_step_ns", HS_SCHEMA_INT, ENTRY(event.clock_step_ns),
				.min = (uint64_t)-MAX_CLOCK_STEP_NS, .max = MAX_CLOCK_STEP_NS},
		{"traffic", HS_SCHEMA_NAME, ENTRY(event.traffic),
				.names = &hs_scenario_traffic_names},
		{NULL},
};

#define OF(kind) (1u << HS_LAB_EVENT_##kind)
static const struct hs_scenario_key limited_keys[] = {
		{"direction", OF(LINK), "only beside link"},
		{"set", OF(LINK) | OF(TRAFFIC), "only beside link or traffic"},
		{"restart", OF(RESTART), "only beside node, and without request"},
		{"down_s", OF(RESTART), "only beside restart"},
		{"request", OF(REQUEST), "only beside node"},
		{"clock_step_ns", OF(CLOCK), "only beside node, and without request"},
		{NULL},
};

static int find_kind(struct entry *entry, const char *path, struct hs_error *err)
{
	bool link = entry->event.link != HS_NO_INDEX, node = entry->node != HS_NO_INDEX;
	bool traffic = entry->event.traffic != HS_NO_INDEX;
	unsigned subjects = link + node + traffic;

	if (subjects == 0)
		return hs_error_set(err, "missing_field", path, "one of link, node, traffic",
				"the event happens to nothing");
	if (subjects > 1)
		return hs_error_set(err, "conflict", path, "one of link, node, traffic",
				"the event happens to several things");
	entry->event.kind = link				 ? HS_LAB_EVENT_LINK
			    : traffic				 ? HS_LAB_EVENT_TRAFFIC
			    : entry->request			 ? HS_LAB_EVENT_REQUEST
			    : entry->has_step && !entry->restart ? HS_LAB_EVENT_CLOCK
								 : HS_LAB_EVENT_RESTART;
	if (entry->node != HS_SCENARIO_ALL)
		entry->event.node = entry->node;
	return 0;
}

static int check_time(int64_t time_ns, int64_t limit_ns, const char *path, const char *key,
		struct hs_error *err)
{
	char at[64];

	if (time_ns <= limit_ns)
		return 0;
	snprintf(at, sizeof(at), "%s.%s", path, key);
	return hs_error_set(err, "out_of_range", at, "within the duration",
			"%.12g s is beyond the duration of %.12g s", (double)time_ns / 1e9,
			(double)limit_ns / 1e9);
}

static int set_times(const struct hs_scenario_draft *draft, struct hs_scenario_event *event,
		const char *path, struct hs_error *err)
{
	if (check_time(event->at_ns, draft->limit_ns, path, "at_s", err) < 0)
		return -EINVAL;
	if (event->until_ns == NO_TIME) {
		event->until_ns = event->every_ns ? draft->scenario.duration_ns : event->at_ns;
		return 0;
	}
	if (!event->every_ns)
		return hs_error_set(err, "conflict", AT(path, "until_s"), "only beside every_s",
				"the event happens once");
	if (event->until_ns < event->at_ns)
		return hs_error_set(err, "out_of_range", AT(path, "until_s"), "not before at_s",
				"the event ends before it begins");
	return check_time(event->until_ns, draft->limit_ns, path, "until_s", err);
}

// ---- each kind ----

static int read_link(struct entry *entry, const char *path, struct hs_error *err)
{
	struct hs_scenario_event *event = &entry->event;

	if (!json_object_size(entry->set) && (!entry->set || json_is_object(entry->set)))
		return hs_scenario_refuse_missing(path, "set", "parameters of a link", err);
	event->way_changes[0] = entry->ways & 1;
	event->way_changes[1] = entry->ways & 2;
	event->set = entry->set;
	return 0;
}

static int read_traffic(struct entry *entry, const char *path, struct hs_error *err)
{
	static const struct hs_schema_field set_fields[] = {
			{"rate_pps", HS_SCHEMA_REAL, ENTRY(event.rate_pps), .required = true,
					.least = 0, .most = 1e9, .expected = "packets per second"},
			{NULL},
	};

	if (!entry->set)
		return hs_scenario_refuse_missing(path, "set", "{\"rate_pps\": ...}", err);
	return hs_schema_read(set_fields, entry->set, AT(path, "set"), entry, err);
}

static int read_restart(struct entry *entry, const char *path, struct hs_error *err)
{
	if (entry->node == HS_SCENARIO_ALL)
		return hs_error_set(err, "unknown_name", AT(path, "node"), "the name of a node",
				"no node is called \"*\"");
	if (entry->restart)
		return 0;
	return hs_scenario_refuse_missing(path, "restart", "true, or a request in its place", err);
}

static int read_request(struct entry *entry, const char *path, uint32_t *named, bool *reverse,
		struct hs_error *err)
{
	struct hs_scenario_wish wish;

	int rc = hs_scenario_read_wish(
			entry->draft, entry->request, AT(path, "request"), true, &wish, err);
	if (rc < 0)
		return rc;

	if (wish.traffic == HS_SCENARIO_ALL) {
		json_decref(wish.verb);
		return hs_error_set(err, "bad_value", AT(path, "request.traffic"),
				"the name of an entry of traffic",
				"an event makes one request, and \"*\" may be several");
	}
	*named = wish.traffic;
	*reverse = wish.reverse;
	entry->event.request = hs_scenario_fill_wish(&entry->draft->scenario, &wish, wish.traffic);
	json_decref(wish.verb);
	return entry->event.request ? 0 : hs_scenario_no_memory(err);
}

const struct hs_schema_list hs_scenario_event_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = event_fields}};

static int read_entry(struct hs_scenario_draft *draft, json_t *object, size_t i, const char *at,
		struct hs_error *err)
{
	struct entry entry = {.draft = draft,
			.node = HS_NO_INDEX,
			.ways = 3,
			.has_step = json_object_get(object, "clock_step_ns"),
			.event = {.until_ns = NO_TIME}};
	struct hs_scenario_event *event = &entry.event;
	struct hs_scenario_origin origin = {.entry = i, .traffic = HS_NO_INDEX};
	int rc = 0;

	event->link = event->node = event->traffic = HS_NO_INDEX;
	event->entry = (uint32_t)i;
	if (hs_schema_read(event_fields, object, at, &entry, err) < 0 ||
			find_kind(&entry, at, err) < 0 ||
			hs_scenario_check_keys(limited_keys, object, event->kind, at, "this event",
					err) < 0 ||
			set_times(draft, event, at, err) < 0)
		return -EINVAL;
	switch (event->kind) {
	case HS_LAB_EVENT_LINK:
		rc = read_link(&entry, at, err);
		break;
	case HS_LAB_EVENT_RESTART:
		rc = read_restart(&entry, at, err);
		break;
	case HS_LAB_EVENT_REQUEST:
		rc = read_request(&entry, at, &origin.traffic, &origin.reverse, err);
		break;
	case HS_LAB_EVENT_TRAFFIC:
		rc = read_traffic(&entry, at, err);
		break;
	case HS_LAB_EVENT_CLOCK:
		break;
	}
	if (rc < 0)
		return rc;
	json_incref(event->set);
	draft->event_origins[draft->scenario.n_events] = origin;
	draft->scenario.events[draft->scenario.n_events++] = *event;
	return 0;
}

// ---- all of them ----

struct ordered {
	int64_t at_ns;
	size_t index;
};

static int compare(const void *left, const void *right)
{
	const struct ordered *a = left, *b = right;
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

size_t *hs_scenario_event_order(const struct hs_scenario *scenario, struct hs_error *err)
{
	size_t n = scenario->n_events;
	struct ordered *ordered = hs_scenario_room(n, sizeof(*ordered), err);
	size_t *order = ordered ? hs_scenario_room(n, sizeof(*order), err) : NULL;

	for (size_t i = 0; order && i < n; i++)
		ordered[i] = (struct ordered){scenario->events[i].at_ns, i};
	if (order)
		qsort(ordered, n, sizeof(*ordered), compare);
	for (size_t i = 0; order && i < n; i++)
		order[i] = ordered[i].index;
	free(ordered);
	return order;
}

// Whether a change is valid depends on the changes before it.
static int play_links(const struct hs_scenario_draft *draft, const size_t *order,
		struct hs_scenario_link *links, struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	char at[48];

	for (size_t i = 0; i < scenario->n_events; i++) {
		const struct hs_scenario_event *event = &scenario->events[order[i]];
		snprintf(at, sizeof(at), "events[%zu].set", draft->event_origins[order[i]].entry);
		for (unsigned way = 0; way < 2 && event->kind == HS_LAB_EVENT_LINK; way++) {
			struct hs_link_config *config = &links[event->link].ways[way];
			if (event->way_changes[way] &&
					hs_scenario_set_link(event->set, at, config, err) < 0)
				return -EINVAL;
		}
	}
	return 0;
}

static int check_links(const struct hs_scenario_draft *draft, struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	struct hs_scenario_link *links = hs_scenario_room(scenario->n_links, sizeof(*links), err);
	size_t *order = hs_scenario_event_order(scenario, err);
	int rc = -ENOMEM;

	if (links && order) {
		if (scenario->n_links)
			memcpy(links, scenario->links, scenario->n_links * sizeof(*links));
		rc = play_links(draft, order, links, err);
	}
	free(links);
	free(order);
	return rc;
}

int hs_scenario_read_events(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n;
	int rc = hs_scenario_list(draft->events, "events", MAX_EVENTS, &n, err);

	if (rc < 0)
		return rc;
	scenario->events = hs_scenario_room(n, sizeof(*scenario->events), err);
	draft->event_origins = hs_scenario_room(n, sizeof(*draft->event_origins), err);
	if (!scenario->events || !draft->event_origins)
		return -ENOMEM;
	rc = hs_scenario_each(draft, draft->events, "events", read_entry, err);
	return rc ? rc : check_links(draft, err);
}

int hs_scenario_clip_events(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t kept = 0;

	(void)err;
	for (size_t i = 0; i < scenario->n_events; i++) {
		struct hs_scenario_event *event = &scenario->events[i];
		if (event->at_ns > scenario->duration_ns) {
			json_decref(event->set);
			json_decref(event->request);
			continue;
		}
		if (event->until_ns > scenario->duration_ns)
			event->until_ns = scenario->duration_ns;
		draft->event_origins[kept] = draft->event_origins[i];
		scenario->events[kept++] = *event;
	}
	scenario->n_events = kept;
	return 0;
}
