// SPDX-License-Identifier: BSD-3-Clause
// Probes: the replies to probe_status and probe_links, and the message of a session.
#include "controller_probing.h"

#include "controller_state.h"

#include <errno.h>

static const char *const state_names[] = {
		[HS_GPINT_UNKNOWN] = "unknown",
		[HS_GPINT_UNTRIED] = "unknown",
		[HS_GPINT_SUSPECT] = "unknown",
		[HS_GPINT_AVAILABLE] = "available",
		[HS_GPINT_CONGESTED] = "congested",
		[HS_GPINT_UNAVAILABLE] = "unavailable",
};

int controller_need_probing(const struct hs_controller *controller, struct hs_error *err)
{
	if (controller->probing)
		return 0;
	return hs_error_set(err, "unsupported", "", "probing in the configuration",
			"the controller's configuration has no probing");
}

uint64_t controller_probing_page(const struct hs_controller *controller,
		const struct hs_api_args *args, unsigned known, controller_row_fn *show,
		json_t *rows)
{
	uint64_t at = args->offset, end = args->offset + args->limit;
	size_t used = 0;

	while (at < end && at < known && hs_api_page_add(args, rows, show(controller, at), &used))
		at++;
	return at < known ? at : 0;
}

// ---- a link ----

struct shown_link {
	uint8_t node_id, port, peer_id, peer_port;
	const char *node, *peer, *state, *use;
	bool planned;
	uint32_t has_since;
	int64_t since_ns;
};

#define LINK(...) HS_SCHEMA_ROW(struct shown_link, __VA_ARGS__)
static const struct hs_schema_field link_fields[] = {
		LINK(UINT, node_id, "the node that sends", .max = UINT8_MAX),
		LINK(STRING, node, "its name, if the configuration has one"),
		LINK(UINT, port, "its port", .max = UINT8_MAX),
		LINK(UINT, peer_id, "the node that receives", .max = UINT8_MAX),
		LINK(UINT, peer_port, "its port", .max = UINT8_MAX),
		LINK(STRING, peer, "its name, if the configuration has one"),
		LINK(STRING, state, "`available`, `congested`, `unavailable` or `unknown`"),
		LINK(BOOL, planned, "probes of each session cross it"),
		LINK(STRING, use,
				"with `reroute`, by routes: `used`, `spare` (where no other way "
				"leads) or `avoided`",
				.optional = true),
		LINK(INT, since_ns, "for how long it has this state",
				HS_SCHEMA_IF(struct shown_link, has_since)),
		{NULL},
};

static json_t *arc_json(const struct hs_controller *controller, const struct probing_arc *arc)
{
	const struct hs_probing_node *nodes = controller->probing->config->nodes;
	const struct shown_link shown = {
			.node_id = nodes[arc->from].id,
			.port = arc->port,
			.peer_id = nodes[arc->to].id,
			.peer_port = arc->peer_port,
			.node = controller_probing_name(controller, arc->from),
			.peer = controller_probing_name(controller, arc->to),
			.state = state_names[arc->state],
			.planned = arc->planned,
			.use = arc->use,
			.has_since = arc->state != HS_GPINT_UNKNOWN,
			.since_ns = controller_probing_ns(controller) - arc->since_ns,
	};

	return hs_schema_print(link_fields, &shown);
}

static json_t *show_arc(const struct hs_controller *controller, uint64_t at)
{
	return arc_json(controller, &controller->probing->arcs[at]);
}

struct shown_links {
	json_t *links;
	uint64_t next;
	unsigned known;
};

#define LINKS(...) HS_SCHEMA_ROW(struct shown_links, __VA_ARGS__)
const struct hs_schema_field controller_probe_links_fields[] = {
		LINKS(TAKEN, links, "links in both directions, page by page", .items = link_fields),
		LINKS(UINT, next, "the offset of the next page", .optional = true),
		LINKS(UINT, known, "how many there are"),
		{NULL},
};

int controller_probe_links(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	if (controller_need_probing(controller, err) < 0)
		return -EINVAL;
	struct shown_links shown = {.links = json_array(), .known = controller->probing->n_arcs};
	shown.next = controller_probing_page(controller, args, shown.known, show_arc, shown.links);
	*result = hs_schema_print(controller_probe_links_fields, &shown);
	return 0;
}

// ---- a node ----

struct shown_node {
	uint8_t id, depth, first;
	const char *name, *state;
	uint32_t has_values, has_since;
	uint64_t session;
	int64_t age_ns, since_ns;
	json_t *values;
};

#define NODE(...)      HS_SCHEMA_ROW(struct shown_node, __VA_ARGS__)
#define OF_VALUES(...) NODE(__VA_ARGS__, HS_SCHEMA_IF(struct shown_node, has_values))
static const struct hs_schema_field probed_node_fields[] = {
		NODE(UINT, id, "the node's id", .max = UINT8_MAX),
		NODE(STRING, name, "its name, if the configuration has one"),
		NODE(STRING, state, "`available`, `unavailable` or `unknown`"),
		NODE(INT, since_ns, "for how long it has this state",
				HS_SCHEMA_IF(struct shown_node, has_since)),
		OF_VALUES(UINT, session, "the session that brought the values"),
		OF_VALUES(INT, age_ns, "since they came"),
		OF_VALUES(UINT, depth, "packets in the queue that the probe left by",
				.max = UINT8_MAX),
		OF_VALUES(UINT, first, "the index of the first value", .max = UINT8_MAX),
		NODE(TAKEN, values, "the low 32 bits of each counter",
				HS_SCHEMA_IF(struct shown_node, has_values),
				.shape = "{'type': 'array', 'items': {'type': 'integer', "
					 "'minimum': 0, 'maximum': 4294967295}}"),
		{NULL},
};

static json_t *show_node(const struct hs_controller *controller, uint64_t at)
{
	unsigned i = (unsigned)at;
	const struct probing_node *node = &controller->probing->nodes[i];
	int64_t now_ns = controller_probing_ns(controller);
	struct shown_node shown = {
			.id = controller->probing->config->nodes[i].id,
			.name = controller_probing_name(controller, i),
			.state = state_names[node->state],
			.has_values = node->session != 0,
			.has_since = node->state != HS_GPINT_UNKNOWN,
			.since_ns = now_ns - node->since_ns,
			.session = node->session,
			.age_ns = now_ns - node->at_ns,
			.depth = node->depth,
			.first = controller->probing->config->nodes[i].first,
			.values = node->session ? json_array() : NULL,
	};

	for (unsigned v = 0; node->session && v < node->n_values; v++)
		json_array_append_new(shown.values, json_integer(node->values[v]));
	return hs_schema_print(probed_node_fields, &shown);
}

// ---- a session ----

struct shown_session {
	uint64_t number, knocks;
	int64_t began_ns, elapsed_ns;
	struct hs_gpint_session told;
};

#define SESSION(...) HS_SCHEMA_ROW(struct shown_session, __VA_ARGS__)
#define TOLD(...)    HS_SCHEMA_ROW_AS(struct shown_session, __VA_ARGS__)
static const struct hs_schema_field session_fields[] = {
		SESSION(UINT, number, "of the session, from 1"),
		SESSION(INT, began_ns, "when it began"),
		SESSION(INT, elapsed_ns, "how long it took"),
		TOLD(BOOL, "failed", told.failed,
				"a node was neither covered nor found to be unavailable"),
		TOLD(UINT, "paths", told.paths, "probes that it began with"),
		TOLD(UINT, "probes_sent", told.sent, "probes, all attempts together"),
		TOLD(UINT, "recovery_probes", told.recovery,
				"of these, those over the rest of a path"),
		TOLD(UINT, "checks", told.checks, "of these, those over one suspect link"),
		TOLD(UINT, "probes_lost", told.lost,
				"of these, those that did not come to the end"),
		SESSION(UINT, knocks,
				"probes beside these that ask whether a path's first node is "
				"there"),
		TOLD(UINT, "nodes_covered", told.covered, "nodes that answered"),
		TOLD(UINT, "nodes_unavailable", told.unavailable, "nodes that did not"),
		TOLD(UINT, "links_unavailable", told.unavailable_links,
				"links that no probe crossed, those of such nodes among them"),
		TOLD(UINT, "links_congested", told.congested_links,
				"links that lost probes and were crossed by others"),
		{NULL},
};

static struct shown_session show_session(const struct hs_controller *controller)
{
	const struct controller_probing *probing = controller->probing;
	const struct hs_gpint_session *told = &probing->last.told;

	return (struct shown_session){
			.number = probing->counters.sessions,
			.knocks = probing->last.knocks,
			.began_ns = probing->last.began_wall_ns,
			.elapsed_ns = told->ended_ns - told->began_ns,
			.told = *told,
	};
}

struct shown_message {
	struct shown_session session;
	json_t *nodes, *links;
	uint64_t seq;
	const char *boot_id;
};

// Publishing adds the last two members.
static const struct hs_schema_field message_fields[] = {
		{"", HS_SCHEMA_MEMBERS, .fields = session_fields,
				.offset = offsetof(struct shown_message, session)},
		HS_SCHEMA_ROW(struct shown_message, TAKEN, nodes, "each node",
				.items = probed_node_fields),
		HS_SCHEMA_ROW(struct shown_message, TAKEN, links,
				"links that are unavailable or congested", .items = link_fields),
		HS_SCHEMA_ROW(struct shown_message, UINT, seq, "number of the message"),
		HS_SCHEMA_ROW(struct shown_message, STRING, boot_id, "of the controller"),
		{NULL},
};

json_t *controller_probing_message(const struct hs_controller *controller)
{
	const struct controller_probing *probing = controller->probing;
	struct shown_message shown = {.session = show_session(controller),
			.nodes = json_array(),
			.links = json_array()};

	for (unsigned i = 0; i < probing->n_nodes; i++)
		json_array_append_new(shown.nodes, show_node(controller, i));
	for (unsigned i = 0; i < probing->n_arcs; i++)
		if (probing->arcs[i].state == HS_GPINT_UNAVAILABLE ||
				probing->arcs[i].state == HS_GPINT_CONGESTED)
			json_array_append_new(shown.links, arc_json(controller, &probing->arcs[i]));
	return hs_schema_print(message_fields, &shown);
}

json_t *controller_probe_schema(void)
{
	static const struct hs_schema_field envelope[] = {
			{"probe_session", HS_SCHEMA_OBJECT, .fields = message_fields},
			{NULL},
	};

	return hs_schema_describe_printed(envelope);
}

// ---- the whole ----

struct shown_plan {
	uint32_t paths, min_hops, max_hops, max_bytes, covered_links;
	uint64_t overlap;
};

#define PLAN(...) HS_SCHEMA_ROW(struct shown_plan, __VA_ARGS__)
static const struct hs_schema_field plan_fields[] = {
		PLAN(UINT, paths, "probes of a session, if none is lost"),
		PLAN(UINT, min_hops, "nodes of the shortest path"),
		PLAN(UINT, max_hops, "nodes of the longest path"),
		PLAN(UINT, max_bytes, "the longest IP packet at its end, without its way"),
		PLAN(UINT, covered_links, "links that a path crosses"),
		PLAN(UINT, overlap, "visits of nodes that were visited before"),
		{NULL},
};

static const struct hs_schema_field counter_fields[] = {
#define HS_PROBING_COUNT(member, name, unit, sentence, text)                                       \
	HS_SCHEMA_ROW(struct probing_counters, UINT, member, text),
#include "controller_counter.def"
		{NULL},
};

struct shown {
	bool running;
	uint32_t has_session;
	struct shown_session session;
	const struct probing_counters *counters;
	struct shown_plan plan;
	json_t *nodes;
	uint64_t next;
	unsigned known;
};

#define SHOWN(...) HS_SCHEMA_ROW(struct shown, __VA_ARGS__)
const struct hs_schema_field controller_probe_status_fields[] = {
		SHOWN(BOOL, running, "a session runs"),
		SHOWN(OBJECT, session, "the session that ended last", .fields = session_fields,
				HS_SCHEMA_IF(struct shown, has_session)),
		SHOWN(OBJECT, counters, "all sessions together", .behind = true,
				.fields = counter_fields),
		SHOWN(OBJECT, plan, "the paths of the probes", .fields = plan_fields),
		SHOWN(TAKEN, nodes, "nodes in the order of the configuration, page by page",
				.items = probed_node_fields),
		SHOWN(UINT, next, "the offset of the next page", .optional = true),
		SHOWN(UINT, known, "how many nodes there are"),
		{NULL},
};

int controller_probe_status(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	const struct controller_probing *probing = controller->probing;

	if (controller_need_probing(controller, err) < 0)
		return -EINVAL;
	const struct hs_gpint_plan *plan = &probing->plan;
	struct shown shown = {
			.running = probing->running,
			.has_session = probing->counters.sessions != 0,
			.session = show_session(controller),
			.counters = &probing->counters,
			.plan = {plan->n_paths, plan->min_hops, plan->max_hops, plan->max_bytes,
					plan->covered_links, plan->overlap},
			.nodes = json_array(),
			.known = probing->n_nodes,
	};
	shown.next = controller_probing_page(controller, args, shown.known, show_node, shown.nodes);
	*result = hs_schema_print(controller_probe_status_fields, &shown);
	return 0;
}
