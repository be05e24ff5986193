// SPDX-License-Identifier: BSD-3-Clause
// Checks that concern several lists of a scenario: ports, ids, addresses and paths.
#include "scenario_draft.h"

#include "port.h"
#include "rule_admission.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Lets errors point to an item of an earlier list, or to the topology that made it. Returns the
// key, or NULL for a topology.
static const char *point_to(struct hs_draft *draft, const char *list, size_t index, const char *key)
{
	snprintf(draft->place, sizeof(draft->place), draft->topology.given ? "topology" : "%s[%zu]",
			list, index);
	draft->item.path = draft->place;
	return draft->topology.given ? NULL : key;
}

// ---- nodes ----

static int check_ports(struct hs_draft *draft, size_t index)
{
	const struct hs_scenario_node *node = &draft->scenario.nodes[index];
	unsigned n = node->n_links + node->n_hosts;

	if (draft->scenario.forwarding == HS_LAB_PATCH ? n == 2 : n <= HS_MAX_PORTS)
		return 0;
	return hs_draft_refuse(draft, point_to(draft, "nodes", index, NULL), "out_of_range",
			n > HS_MAX_PORTS ? "at most 32 ports"
					 : "two ports where forwarding is patch",
			"node \"%s\" has %u links and %u hosts", node->name, node->n_links,
			node->n_hosts);
}

// Checks that the node has an id of its own. Reports identify nodes by their ids. Nodes at the ends
// of a path need no id.
static int check_id(struct hs_draft *draft, size_t index)
{
	const struct hs_scenario_node *nodes = draft->scenario.nodes, *node = &nodes[index];

	for (const struct hs_scenario_node *other = node; other-- > nodes;)
		if (other->id == node->id && (node->id || node->n_links > 1 || other->n_links > 1))
			return hs_draft_refuse(draft, point_to(draft, "nodes", index, "id"),
					"duplicate",
					"an id of its own; 0 may be that of all nodes with one "
					"link",
					"node \"%s\" has the id %u too", other->name, node->id);
	return 0;
}

// ---- addresses ----

static int check_address(struct hs_draft *draft, uint32_t host)
{
	const struct hs_scenario_host *hosts = draft->scenario.hosts;
	char name[2 * sizeof(hosts->addr) + 1];

	for (size_t byte = 0; byte < sizeof(hosts->addr); byte++)
		snprintf(&name[2 * byte], 3, "%02x", hosts[host].addr[byte]);
	uint32_t first = hs_draft_find_name(draft, HS_NAME_ADDRESS, name);
	if (first == HS_NO_INDEX)
		return hs_draft_add_name(draft, HS_NAME_ADDRESS, name, host);
	// A host that traffic created is not in the file.
	uint32_t blamed = hosts[host].implicit ? first : host;
	return hs_draft_refuse(draft, point_to(draft, "hosts", blamed, "addr"), "duplicate",
			"an address of its own", "host \"%s\" has this address too",
			hosts[blamed == host ? first : host].name);
}

// ---- queues in nodes ----

// Checks the rate of a node. A node whose ports have a rate has queues of its own.
static int check_service(struct hs_draft *draft, uint32_t index)
{
	const struct hs_scenario *scenario = &draft->scenario;
	const char *why = NULL;

	if (scenario->nodes[index].rate_of_node && !scenario->probing.given)
		return hs_draft_refuse(draft, point_to(draft, "nodes", index, "rate_of"),
				"conflict", "port where there is no probing",
				"the lab's model of queues is of ports");
	if (!scenario->nodes[index].rate_pps)
		return 0;
	if (scenario->forwarding == HS_LAB_BRIDGE)
		why = "a bridge has no queues";
	for (size_t l = 0; l < scenario->n_links; l++)
		if (scenario->links[l].queue_at_node &&
				(scenario->links[l].from == index ||
						scenario->links[l].to == index))
			why = "a queue of a link stands in this node";
	if (!why)
		return 0;
	return hs_draft_refuse(draft, point_to(draft, "nodes", index, "rate_pps"), "conflict",
			"one kind of queue", "%s", why);
}

// Checks that the ports of nodes can have the queues of a link.
static int check_queue(struct hs_draft *draft, uint32_t index)
{
	const struct hs_scenario_link *link = &draft->scenario.links[index];
	const struct hs_link_config *of = link->directions;
	uint64_t rates_bps = of[0].rate_bps | of[1].rate_bps;

	if (!link->queue_at_node)
		return 0;
	const char *key = point_to(draft, "links", link->entry, "queue_at");
	// A copy that a bridge floods takes the packet truth of the packet that is polled. After a
	// wait in a queue, another packet is polled, or none.
	if (draft->scenario.forwarding == HS_LAB_BRIDGE)
		return hs_draft_refuse(draft, key, "conflict", "link where forwarding is bridge",
				"a bridge has no queues");
	if (!rates_bps || of[0].overhead_bytes || of[1].overhead_bytes)
		return hs_draft_refuse(draft, key, "conflict", "rate_bps, and no overhead_bytes",
				rates_bps ? "a node's queue counts the bytes of frames only"
					  : "there is no rate to wait for");
	for (unsigned i = 0; i < 2; i++)
		if (of[i].rate_bps && (of[i].rate_bps < HS_PORT_RATE_MIN ||
						      of[i].queue_packets > HS_PORT_QUEUE_MAX))
			return hs_draft_refuse(draft, key, "out_of_range",
					"a rate_bps of 1000 or more, and at most 1000000 "
					"queue_packets",
					"no port of a node has such a queue");
	return 0;
}

// ---- paths ----

// Shortens paths until no direction of a link shortens one. The list is walked in both orders in
// turn, because a path often follows the order of the list in one of them.
void hs_scenario_distances(const struct hs_scenario *scenario, hs_scenario_is_up *is_up,
		const void *context, uint32_t to, uint32_t *hops)
{
	uint32_t n = 2 * (uint32_t)scenario->n_links;
	bool shortened = true;

	for (size_t node = 0; node < scenario->n_nodes; node++)
		hops[node] = HS_FAR;
	hops[to] = 0;
	for (bool backwards = false; shortened; backwards = !backwards) {
		shortened = false;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t arc = backwards ? n - 1 - i : i;
			const struct hs_scenario_link *link = &scenario->links[arc / 2];
			uint32_t begin = arc % 2 ? link->to : link->from;
			uint32_t end = arc % 2 ? link->from : link->to;
			if (hops[end] == HS_FAR || hops[begin] <= hops[end] + 1 ||
					(is_up && !is_up(context, arc)))
				continue;
			hops[begin] = hops[end] + 1;
			shortened = true;
		}
	}
}

static uint32_t part_of(uint32_t *parts, uint32_t node)
{
	while (parts[node] != node)
		node = parts[node] = parts[parts[node]];
	return node;
}

// parts[node] is another node of the same part, or the node itself.
size_t hs_draft_count_parts(const struct hs_scenario *s, uint32_t *parts, size_t *closing)
{
	size_t n = s->n_nodes, i;

	*closing = s->n_links;
	for (uint32_t node = 0; node < s->n_nodes; node++)
		parts[node] = node;
	for (i = 0; i < s->n_links && n > 1; i++) {
		uint32_t from = part_of(parts, s->links[i].from);
		uint32_t to = part_of(parts, s->links[i].to);
		parts[from] = to;
		n -= from != to;
		if (from == to && *closing > i)
			*closing = i;
	}
	if (*closing > i) // each link that follows closes a cycle
		*closing = i;
	return n;
}

// Returns whether paths may use this direction of a link. Where nodes do not choose paths, packets
// into a link that is down are lost.
static bool is_up(const void *context, uint32_t arc)
{
	const struct hs_scenario *s = context;

	return s->forwarding != HS_LAB_SHORTEST_PATH || !s->links[arc / 2].directions[arc % 2].down;
}

// Checks that a path leads from each sender to its receiver. `hops` has room for the hops to every
// node. The hops to a node are computed when they are first needed.
static int check_reachable(struct hs_draft *draft, uint32_t *hops)
{
	const struct hs_scenario *scenario = &draft->scenario;
	const struct hs_scenario_node *nodes = scenario->nodes;

	memset(hops, 0xff, scenario->n_nodes * scenario->n_nodes * sizeof(*hops));
	for (size_t i = 0; i < 2 * scenario->n_traffic; i++) {
		const struct hs_scenario_traffic *traffic = &scenario->traffic[i / 2];
		bool reply = i % 2, replies = traffic->kind == HS_TRAFFIC_PING ||
					      traffic->kind == HS_TRAFFIC_WINDOW;
		uint32_t from = scenario->hosts[reply ? traffic->to : traffic->from].at;
		uint32_t to = scenario->hosts[reply ? traffic->from : traffic->to].at;
		uint32_t *to_there = &hops[to * scenario->n_nodes];
		if (to_there[to] != 0)
			hs_scenario_distances(scenario, is_up, scenario, to, to_there);
		if ((reply && !replies) || to_there[from] != HS_FAR)
			continue;
		snprintf(draft->place, sizeof(draft->place), "traffic[%u].to", traffic->entry);
		return hs_error_set(draft->err, "unreachable", draft->place,
				"a way along links that are up",
				"no way leads from node \"%s\" to node \"%s\"", nodes[from].name,
				nodes[to].name);
	}
	return 0;
}

// Checks that bridges have no cycle. `parts` is room for all nodes.
static int check_cycles(struct hs_draft *draft, uint32_t *parts)
{
	const struct hs_scenario *s = &draft->scenario;
	size_t closing;

	hs_draft_count_parts(s, parts, &closing);
	if (s->forwarding != HS_LAB_BRIDGE || closing == s->n_links)
		return 0;
	return hs_draft_refuse(draft, point_to(draft, "links", s->links[closing].entry, NULL),
			"cycle", "no cycles where forwarding is bridge",
			"link \"%s\" closes a cycle, in which frames would go round for ever",
			s->links[closing].name);
}

static int check_paths(struct hs_draft *draft)
{
	size_t n = draft->scenario.n_nodes;
	uint32_t *hops = hs_draft_room(draft, n * n, sizeof(*hops));

	return hops ? check_cycles(draft, hops) ?: check_reachable(draft, hops) : -ENOMEM;
}

static int check_reroute(const struct hs_draft *draft)
{
	const struct hs_scenario *s = &draft->scenario;

	if (!s->reroute_ns || s->forwarding == HS_LAB_SHORTEST_PATH)
		return 0;
	return hs_error_set(draft->err, "conflict", "reroute_s",
			"only with forwarding shortest_path", "the nodes do not route");
}

// ---- probes ----

static int refuse_probing(const struct hs_draft *draft, const char *what, const char *expected)
{
	return hs_error_set(draft->err, "conflict", "probing", expected, "%s", what);
}

static int check_probe_profiles(const struct hs_draft *draft)
{
	const struct hs_scenario *s = &draft->scenario;

	for (size_t i = 0; i < s->n_links; i++) {
		struct hs_profile profiles[HS_MAX_PORTS] = {0};
		hs_scenario_profiles(s, s->links[i].from, profiles, draft->err);
		if (!s->links[i].profile || !hs_profile_probe(&profiles[0]))
			return refuse_probing(draft, "a link has no profile of method probe",
					"a profile of method probe at each link");
	}
	return s->n_links ? 0 : refuse_probing(draft, "the network has no links", "links");
}

static int check_probing(const struct hs_draft *draft)
{
	const struct hs_scenario *s = &draft->scenario;

	if (!s->probing.given)
		return 0;
	if (s->forwarding != HS_LAB_SHORTEST_PATH)
		return refuse_probing(draft, "the nodes do not route", "forwarding shortest_path");
	for (size_t i = 0; i < s->n_nodes; i++)
		if (s->nodes[i].n_links + s->nodes[i].n_hosts >= HS_MAX_PORTS)
			return refuse_probing(draft,
					"a node has no port left for the monitoring host",
					"at most 31 links and hosts at a node");
	if (s->probing.paths > s->n_nodes)
		return hs_error_set(draft->err, "out_of_range", "probing.k",
				"at most as many paths as nodes", "%u paths for %zu nodes",
				s->probing.paths, s->n_nodes);
	return check_probe_profiles(draft);
}

int hs_draft_check_network(struct hs_draft *draft)
{
	const struct hs_scenario *scenario = &draft->scenario;
	int rc = 0;

	for (size_t i = 0; i < scenario->n_nodes && rc == 0; i++)
		rc = check_ports(draft, i);
	for (size_t i = 0; i < scenario->n_nodes && rc == 0; i++)
		rc = check_id(draft, i);
	for (uint32_t i = 0; i < scenario->n_nodes && rc == 0; i++)
		rc = hs_scenario_profiles(
				scenario, i, (struct hs_profile[HS_MAX_PORTS]){}, draft->err);
	for (uint32_t i = 0; i < scenario->n_links && rc == 0; i++)
		rc = check_queue(draft, i);
	for (uint32_t i = 0; i < scenario->n_nodes && rc == 0; i++)
		rc = check_service(draft, i);
	for (uint32_t i = 0; i < scenario->n_hosts && rc == 0; i++)
		rc = check_address(draft, i);
	return rc ?: check_paths(draft) ?: check_reroute(draft) ?: check_probing(draft);
}
