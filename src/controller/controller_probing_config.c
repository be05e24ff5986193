// SPDX-License-Identifier: BSD-3-Clause
#include "controller_probing_config.h"

#include "gpint_damping.h"
#include "gpint_net.h"
#include "ip_address.h"
#include "route_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAY_ROOM 2 // times the hops of the longest of the shortest ways: detours fit, too

// ---- rows ----

static const char *parse_address(const char *text, void *at, const char **code)
{
	uint8_t address[16];

	(void)code;
	if (hs_ip_address_read(text, address) || !hs_ip_address_is_ipv4(address))
		return "is not an IPv4 address";
	memcpy(at, address, sizeof(address));
	return NULL;
}

static void write_address(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	hs_ip_address_write(at, text);
}

static const struct hs_schema_text address_text = {parse_address, write_address,
		"{'type': 'string', 'pattern': '^[0-9]{1,3}([.][0-9]{1,3}){3}$'}"};

static const struct hs_schema_word measure_words[] = {
		{"port_packets", HS_PROBE_PORT_PACKETS},
		{"rule_hits", HS_PROBE_RULE_HITS},
		{NULL},
};
static const struct hs_schema_word plan_words[] = {
		{"gpint", HS_PROBING_GPINT},
		{"euler", HS_PROBING_EULER},
		{NULL},
};

#define NODE(member) HS_SCHEMA_MEMBER(struct hs_probing_node, member)
static const struct hs_schema_field probing_node_fields[] = {
		{"id", HS_SCHEMA_UINT, NODE(id), .required = true, .min = 1, .max = 255},
		{"first", HS_SCHEMA_UINT, NODE(first), .min = 0, .max = 255},
		{"end", HS_SCHEMA_UINT, NODE(end), .min = 0, .max = 255},
		{NULL},
};

#define LINK(member) HS_SCHEMA_MEMBER(struct hs_probing_link, member)
static const struct hs_schema_field probing_link_fields[] = {
		{"node", HS_SCHEMA_UINT, LINK(node), .required = true, .min = 1, .max = 255},
		{"port", HS_SCHEMA_UINT, LINK(port), .required = true, .min = 1, .max = 255},
		{"peer", HS_SCHEMA_UINT, LINK(peer), .required = true, .min = 1, .max = 255},
		{"peer_port", HS_SCHEMA_UINT, LINK(peer_port), .required = true, .min = 1,
				.max = 255},
		{"cost", HS_SCHEMA_UINT, LINK(cost), .min = 1, .max = UINT16_MAX},
		{NULL},
};

int hs_probing_node(const struct hs_probing_config *config, uint32_t id)
{
	for (unsigned i = 0; i < config->n_nodes; i++)
		if (config->nodes[i].id == id)
			return (int)i;
	return -1;
}

static void check_node(
		json_t *item, const char *at, void *into, size_t index, struct hs_errors *errors)
{
	const struct hs_probing_config *config = into;
	const struct hs_probing_node *node = &config->nodes[index];
	char path[96];

	(void)item;
	snprintf(path, sizeof(path), "%s.id", at);
	if (hs_probing_node(config, node->id) < (int)index)
		hs_errors_add(errors, "duplicate", path, "each id once", "two nodes have id %u",
				node->id);
	snprintf(path, sizeof(path), "%s.end", at);
	if (node->end < node->first)
		hs_errors_add(errors, "out_of_range", path, "first or more",
				"the range ends at %u, before it begins at %u", node->end,
				node->first);
}

// Returns whether no node has this id. A node whose id is missing or wrong may be the one that is
// meant.
static bool lacks_node(const struct hs_probing_config *config, uint32_t id)
{
	return config->n_nodes && hs_probing_node(config, id) < 0 && hs_probing_node(config, 0) < 0;
}

// Returns an earlier link that has the same end, or NULL. A port leads to one node.
static const struct hs_probing_link *same_end(
		const struct hs_probing_config *config, size_t index, uint8_t node, uint8_t port)
{
	for (size_t i = 0; i < index; i++) {
		const struct hs_probing_link *link = &config->links[i];
		if ((link->node == node && link->port == port) ||
				(link->peer == node && link->peer_port == port))
			return link;
	}
	return NULL;
}

static void check_link(
		json_t *item, const char *at, void *into, size_t index, struct hs_errors *errors)
{
	const struct hs_probing_config *config = into;
	const struct hs_probing_link *link = &config->links[index];
	const struct {
		const char *node_key, *port_key;
		uint8_t node, port;
	} ends[] = {{"node", "port", link->node, link->port},
			{"peer", "peer_port", link->peer, link->peer_port}};
	char path[96];

	(void)item;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s.%s", at, ends[i].node_key);
		if (lacks_node(config, ends[i].node))
			hs_errors_add(errors, "bad_value", path, "the id of one of probing.nodes",
					"there is no node with id %u", ends[i].node);
		snprintf(path, sizeof(path), "%s.%s", at, ends[i].port_key);
		if (same_end(config, index, ends[i].node, ends[i].port))
			hs_errors_add(errors, "duplicate", path, "each port once",
					"another link is at port %u of node %u, too", ends[i].port,
					ends[i].node);
	}
}

static const struct hs_schema_list node_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = probing_node_fields},
		HS_SCHEMA_ITEMS(struct hs_probing_config, nodes),
		HS_SCHEMA_COUNT(struct hs_probing_config, n_nodes),
		.heap = true,
		.noun = "nodes",
		.check_all = check_node,
};
static const struct hs_schema_list link_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = probing_link_fields},
		HS_SCHEMA_ITEMS(struct hs_probing_config, links),
		HS_SCHEMA_COUNT(struct hs_probing_config, n_links),
		.heap = true,
		.noun = "links",
		.fresh = &(const struct hs_probing_link){.cost = 1},
		.check_all = check_link,
};

// ---- routes ----

static const char *parse_prefix(const char *text, void *at, const char **code)
{
	struct hs_probing_prefix *prefix = at;

	(void)code;
	return hs_route_read_prefix(text, prefix->bytes, &prefix->depth);
}

static void write_prefix(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	const struct hs_probing_prefix *prefix = at;

	hs_route_prefix_text(prefix->bytes, prefix->depth, text);
}

static const struct hs_schema_text prefix_text = {parse_prefix, write_prefix,
		"{'type': 'string', 'pattern': '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$'}"};

#define DESTINATION(member) HS_SCHEMA_MEMBER(struct hs_probing_destination, member)
static const struct hs_schema_field destination_fields[] = {
		{"prefix", HS_SCHEMA_PARSED, DESTINATION(prefix), .required = true,
				.text = &prefix_text,
				.expected = "an IP prefix like 2001:db8::/32 or 10.0.0.0/8"},
		{"node", HS_SCHEMA_UINT, DESTINATION(node), .required = true, .min = 1, .max = 255},
		{NULL},
};

static int check_destination(
		json_t *item, const char *at, void *into, size_t index, struct hs_error *err)
{
	const struct hs_probing_destination *list =
			((const struct hs_probing_reroute *)into)->destinations;
	char path[96], text[HS_ROUTE_TEXT];

	(void)item;
	snprintf(path, sizeof(path), "%s.prefix", at);
	for (size_t i = 0; i < index; i++)
		if (memcmp(&list[i].prefix, &list[index].prefix, sizeof(list[i].prefix)) == 0)
			return hs_error_set(err, "duplicate", path, "each prefix once",
					"another destination is %s, too",
					hs_route_prefix_text(list[i].prefix.bytes,
							list[i].prefix.depth, text));
	return 0;
}

static const struct hs_schema_list destination_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = destination_fields},
		HS_SCHEMA_ITEMS(struct hs_probing_reroute, destinations),
		HS_SCHEMA_COUNT(struct hs_probing_reroute, n_destinations),
		.heap = true,
		.noun = "destinations",
		.check = check_destination,
};

#define REROUTE(member) HS_SCHEMA_MEMBER(struct hs_probing_reroute, member)
static const struct hs_schema_field reroute_fields[] = {
		{"destinations", HS_SCHEMA_LIST, REROUTE(destinations), .required = true, .min = 1,
				.max = HS_PROBING_DESTINATIONS,
				.expected = "a list of destinations", .list = &destination_list},
		{"bad_sessions", HS_SCHEMA_UINT, REROUTE(bad_sessions), .min = 1, .max = 100},
		{"hold_ms", HS_SCHEMA_UINT, REROUTE(hold_ms), .min = 0, .max = 86400000},
		{"max_hold_ms", HS_SCHEMA_UINT, REROUTE(max_hold_ms), .min = 0, .max = 86400000},
		{"changes_per_minute", HS_SCHEMA_UINT, REROUTE(changes_per_minute), .min = 1,
				.max = HS_GPINT_DAMPING_CHANGES},
		{NULL},
};

static bool has_reroute(const void *from)
{
	return ((const struct hs_probing_config *)from)->reroute.on;
}

#define PROBING(member) HS_SCHEMA_MEMBER(struct hs_probing_config, member)
const struct hs_schema_field hs_probing_fields[] = {
		{"iface", HS_SCHEMA_TEXT, PROBING(iface), .required = true, .min = 1,
				.max = IF_NAMESIZE - 1},
		{"first_node", HS_SCHEMA_UINT, PROBING(first_node), .required = true, .min = 1,
				.max = 255},
		{"address", HS_SCHEMA_PARSED, PROBING(address), .required = true,
				.text = &address_text, .expected = "an IPv4 address"},
		{"measure", HS_SCHEMA_WORD, PROBING(measure), .words = measure_words},
		{"nodes", HS_SCHEMA_LIST, PROBING(nodes), .required = true, .min = 1,
				.max = HS_PROBING_NODES, .expected = "a list of nodes",
				.list = &node_list},
		// Links name nodes.
		{"links", HS_SCHEMA_LIST, PROBING(links), .max = HS_PROBING_LINKS,
				.expected = "a list of links", .list = &link_list},
		{"plan", HS_SCHEMA_WORD, PROBING(plan), .words = plan_words},
		{"paths", HS_SCHEMA_UINT, PROBING(paths), .min = 1, .max = HS_PROBING_NODES},
		{"max_paths", HS_SCHEMA_UINT, PROBING(max_paths), .min = 0,
				.max = HS_PROBING_NODES},
		{"mtu", HS_SCHEMA_UINT, PROBING(mtu), .min = 72, .max = 9216},
		{"seed", HS_SCHEMA_UINT, PROBING(seed), .min = 0, .max = UINT32_MAX},
		{"period_ms", HS_SCHEMA_UINT, PROBING(period_ms), .min = 0, .max = 3600000},
		{"feedback_ms", HS_SCHEMA_UINT, PROBING(feedback_ms), .min = 1, .max = 60000},
		{"node_timeout_ms", HS_SCHEMA_UINT, PROBING(node_timeout_ms), .min = 0,
				.max = 60000},
		{"resolution_ms", HS_SCHEMA_UINT, PROBING(resolution_ms), .min = 1, .max = 1000},
		{"attempts", HS_SCHEMA_UINT, PROBING(attempts), .min = 0, .max = 100},
		{"concurrent", HS_SCHEMA_UINT, PROBING(concurrent), .min = 1, .max = 255},
		{"adaptive", HS_SCHEMA_BOOL, PROBING(adaptive)},
		{"dscp", HS_SCHEMA_UINT, PROBING(packets.dscp), .min = 0, .max = 63},
		{"feedback_dscp", HS_SCHEMA_UINT, PROBING(packets.feedback_dscp), .min = 0,
				.max = 63},
		{"recovery_dscp", HS_SCHEMA_UINT, PROBING(packets.recovery_dscp), .min = 0,
				.max = 63},
		{"udp_port", HS_SCHEMA_UINT, PROBING(packets.udp_port), .min = 1, .max = 65535},
		{"reroute", HS_SCHEMA_OBJECT, PROBING(reroute), .fields = reroute_fields,
				.given = has_reroute},
		{NULL},
};

void hs_probing_defaults(struct hs_probing_config *config)
{
	*config = (struct hs_probing_config){
			.measure = HS_PROBE_PORT_PACKETS,
			.packets = {HS_PROBE_DSCP, HS_PROBE_FEEDBACK_DSCP, HS_PROBE_RECOVERY_DSCP,
					HS_PROBE_UDP_PORT},
			.paths = 1,
			.mtu = 1500,
			.period_ms = 1000,
			.feedback_ms = 2000,
			.resolution_ms = 10,
			.attempts = 10,
			.concurrent = 12,
			.adaptive = true,
			.reroute = {.bad_sessions = 2,
					.hold_ms = 10000,
					.max_hold_ms = 600000,
					.changes_per_minute = 10},
	};
}

void hs_probing_config_fini(struct hs_probing_config *config)
{
	free(config->nodes);
	free(config->links);
	free(config->reroute.destinations);
	config->nodes = NULL;
	config->links = NULL;
	config->reroute.destinations = NULL;
	config->n_nodes = config->n_links = config->reroute.n_destinations = 0;
}

// ---- the network ----

// The arrays of a graph, and the graph.
struct network {
	struct hs_gpint_link links[HS_PROBING_LINKS];
	uint8_t values[HS_PROBING_NODES];
	char texts[HS_PROBING_NODES][4];
	const char *names[HS_PROBING_NODES];
	struct hs_gpint_graph graph;
};

static struct network *make_network(const struct hs_probing_config *config)
{
	struct network *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	for (unsigned i = 0; i < config->n_nodes; i++) {
		made->values[i] = (uint8_t)(config->nodes[i].end - config->nodes[i].first);
		snprintf(made->texts[i], sizeof(made->texts[i]), "%u", config->nodes[i].id);
		made->names[i] = made->texts[i];
	}
	for (unsigned i = 0; i < config->n_links; i++) {
		const struct hs_probing_link *link = &config->links[i];
		made->links[i] = (struct hs_gpint_link){
				.ends = {(uint32_t)hs_probing_node(config, link->node),
						(uint32_t)hs_probing_node(config, link->peer)},
				.ports = {link->port, link->peer_port}};
	}
	made->graph = (struct hs_gpint_graph){
			config->n_nodes, config->n_links, made->links, made->values, made->names};
	return made;
}

static uint32_t longest_way(const struct hs_gpint_net *net, uint32_t from)
{
	uint32_t before[HS_PROBING_NODES], hops[HS_PROBING_NODES], queue[HS_PROBING_NODES];
	uint32_t longest = 0;

	hs_gpint_net_ways(net, from, before, hops, queue);
	for (uint32_t i = 0; i < net->n; i++)
		if (hops[i] != HS_GPINT_NONE && hops[i] > longest)
			longest = hops[i];
	return longest;
}

uint32_t hs_probing_way_room(const struct hs_probing_config *config)
{
	struct network *network = make_network(config);
	struct hs_gpint_net net = {0};
	struct hs_error err;
	uint32_t room = 0;

	if (network && hs_gpint_net_init(&net, &network->graph, &err) == 0)
		room = WAY_ROOM *
		       longest_way(&net, (uint32_t)hs_probing_node(config, config->first_node));
	hs_gpint_net_fini(&net);
	free(network);
	return room;
}

// ---- the plan ----

// Names the planner's paths as the configuration does.
static void name_path(struct hs_error *err)
{
	if (strcmp(err->path, "switches") == 0)
		snprintf(err->path, sizeof(err->path), "links");
	hs_error_prefix(err, "probing");
}

int hs_probing_make_plan(const struct hs_probing_config *config, uint32_t paths,
		struct hs_gpint_plan *plan, struct hs_error *err)
{
	struct network *network = make_network(config);
	const struct hs_gpint_wish wish = {.paths = paths,
			.mtu = config->mtu,
			.seed = config->seed,
			.way_bytes = 2 * HS_PROBE_HOP_BYTES * hs_probing_way_room(config)};
	int rc = -ENOMEM;

	*plan = (struct hs_gpint_plan){0};
	if (network)
		rc = (config->plan == HS_PROBING_EULER ? hs_gpint_euler : hs_gpint_plan)(
				&network->graph, &wish, plan, err);
	free(network);
	if (rc == -ENOMEM)
		hs_error_set(err, "internal", "", "", "memory is out");
	if (rc < 0)
		name_path(err);
	return rc;
}

static bool is_right(const struct hs_errors *errors, unsigned n, const char *const members[])
{
	return !hs_errors_touch(errors, n, members);
}

static void check_packets(const struct hs_probe_settings *packets, struct hs_errors *errors)
{
	if (packets->dscp == packets->feedback_dscp || packets->dscp == packets->recovery_dscp ||
			packets->feedback_dscp == packets->recovery_dscp)
		hs_errors_add(errors, "duplicate", "probing.dscp", "three values",
				"dscp, feedback_dscp and recovery_dscp tell packets apart");
}

static void check_destinations(const struct hs_probing_config *config, struct hs_errors *errors)
{
	const struct hs_probing_reroute *reroute = &config->reroute;
	char path[64];

	for (unsigned i = 0; i < reroute->n_destinations; i++) {
		if (!lacks_node(config, reroute->destinations[i].node))
			continue;
		snprintf(path, sizeof(path), "probing.reroute.destinations[%u].node", i);
		hs_errors_add(errors, "bad_value", path, "the id of one of probing.nodes",
				"there is no node with id %u", reroute->destinations[i].node);
	}
}

// Checks the keys of routes. Routes go only over links that probes cross, so that probes should
// cross all links.
static void check_reroute(
		const struct hs_probing_config *config, unsigned n, struct hs_errors *errors)
{
	static const char *const of_plan[] = {"probing.plan", NULL};
	static const char *const of_hold[] = {
			"probing.reroute.hold_ms", "probing.reroute.max_hold_ms", NULL};
	static const char *const of_destinations[] = {"probing.reroute.destinations", NULL};

	if (config->plan != HS_PROBING_EULER && is_right(errors, n, of_plan))
		hs_errors_add(errors, "bad_value", "probing.plan", "euler",
				"reroute needs plan euler, whose probes cross every link");
	if (config->reroute.max_hold_ms < config->reroute.hold_ms && is_right(errors, n, of_hold))
		hs_errors_add(errors, "out_of_range", "probing.reroute.max_hold_ms",
				"hold_ms or more", "max_hold_ms is less than hold_ms");
	if (is_right(errors, n, of_destinations))
		check_destinations(config, errors);
}

static void check_adaptive(
		const struct hs_probing_config *config, unsigned n, struct hs_errors *errors)
{
	static const char *const of_paths[] = {
			"probing.paths", "probing.max_paths", "probing.nodes", NULL};
	static const char *const of_times[] = {
			"probing.node_timeout_ms", "probing.feedback_ms", NULL};

	if (is_right(errors, n, of_paths)) {
		if (config->max_paths && config->max_paths < config->paths)
			hs_errors_add(errors, "out_of_range", "probing.max_paths",
					"paths or more, or 0", "max_paths is less than paths");
		else if (config->max_paths > config->n_nodes)
			hs_errors_add(errors, "out_of_range", "probing.max_paths",
					"at most as many as nodes", "there are %u nodes",
					config->n_nodes);
	}
	if (config->node_timeout_ms && config->node_timeout_ms >= config->feedback_ms &&
			is_right(errors, n, of_times))
		hs_errors_add(errors, "out_of_range", "probing.node_timeout_ms",
				"less than feedback_ms",
				"copies come back later than node_timeout_ms: feedback_ms must be "
				"more");
}

void hs_probing_check(const struct hs_probing_config *config, struct hs_errors *errors)
{
	static const char *const of_first[] = {"probing.first_node", NULL};
	static const char *const of_packets[] = {
			"probing.dscp", "probing.feedback_dscp", "probing.recovery_dscp", NULL};
	static const char *const of_all[] = {"probing", NULL};
	struct hs_gpint_plan plan;
	struct hs_error err;
	unsigned n = errors->n;

	if (lacks_node(config, config->first_node) && is_right(errors, n, of_first))
		hs_errors_add(errors, "bad_value", "probing.first_node",
				"the id of one of probing.nodes", "there is no node with id %u",
				config->first_node);
	if (is_right(errors, n, of_packets))
		check_packets(&config->packets, errors);
	check_adaptive(config, n, errors);
	if (config->reroute.on)
		check_reroute(config, n, errors);
	// Whether probes can be planned depends on all keys.
	if (!is_right(errors, errors->n, of_all))
		return;
	if (hs_probing_make_plan(config, config->paths, &plan, &err) < 0)
		hs_errors_keep(errors, &err);
	else
		hs_gpint_plan_fini(&plan);
}
