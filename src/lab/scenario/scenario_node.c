// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a scenario, their clocks, hosts and routes.
#include "scenario_draft.h"

#include "config_partial.h"
#include "config_parts.h"
#include "rule_field.h"

#include <errno.h>
#include <netinet/in.h>

#define MAX_OFFSET_NS INT64_C(1000000000000000000) // 31 years
#define MAX_DRIFT_PPB INT64_C(100000000)	   // a tenth
#define MAX_ERROR_NS  INT64_C(1000000000000)
#define MAX_PPS	      1000000000
#define MAX_ROUTED    560 // nodes that have routes to all others

static const struct hs_schema_word correction_words[] = {
		{"step", false}, {"slew", true}, {NULL, 0}};

#define NODE(member)  HS_SCHEMA_MEMBER(struct hs_scenario_node, member)
#define CLOCK(member) NODE(clock.member)
#define SYNC(member)  NODE(clock.sync.member)
static const struct hs_schema_field sync_fields[] = {
		{"interval_s", HS_SCHEMA_SECONDS, SYNC(interval_ns), .required = true,
				.least = 0.001, .most = HS_DRAFT_MAX_S,
				.expected = "seconds between two polls"},
		{"first_s", HS_SCHEMA_SECONDS, SYNC(first_ns), .most = HS_DRAFT_MAX_S},
		{"error_ns", HS_SCHEMA_UINT, SYNC(error_ns), .max = MAX_ERROR_NS},
		{"frequency_error_ppb", HS_SCHEMA_UINT, SYNC(frequency_error_ppb),
				.max = MAX_DRIFT_PPB},
		{"correction", HS_SCHEMA_WORD, SYNC(slew), .words = correction_words},
		{"step_threshold_ns", HS_SCHEMA_UINT, SYNC(step_threshold_ns), .max = MAX_ERROR_NS},
		{NULL},
};

static const struct hs_schema_field clock_fields[] = {
		{"offset_ns", HS_SCHEMA_INT, CLOCK(offset_ns), .min = (uint64_t)-MAX_OFFSET_NS,
				.max = MAX_OFFSET_NS},
		{"drift_ppb", HS_SCHEMA_INT, CLOCK(drift_ppb), .min = (uint64_t)-MAX_DRIFT_PPB,
				.max = MAX_DRIFT_PPB},
		{"drift_sigma_ppb", HS_SCHEMA_UINT, CLOCK(drift_sigma_ppb), .max = MAX_DRIFT_PPB},
		{"sync", HS_SCHEMA_OBJECT, .fields = sync_fields},
		{NULL},
};

static const struct hs_schema_word rate_words[] = {{"port", false}, {"node", true}, {NULL, 0}};

const struct hs_schema_field hs_draft_node_fields[] = {
		{"id", HS_SCHEMA_UINT, NODE(id), .required = true, .max = UINT16_MAX},
		{"name", HS_SCHEMA_TEXT, NODE(name), .required = true, .min = 1, .max = 31},
		{"layout", HS_SCHEMA_WORD, NODE(layout), .words = hs_config_layout_words},
		{"clock", HS_SCHEMA_OBJECT, .fields = clock_fields},
		{"fields", HS_SCHEMA_OBJECT, NODE(partial), .fields = hs_partial_fields},
		{"rate_of", HS_SCHEMA_WORD, NODE(rate_of_node), .words = rate_words,
				.expected = "port or node"},
		{"rate_pps", HS_SCHEMA_UINT, NODE(rate_pps), .max = MAX_PPS},
		{"queue_packets", HS_SCHEMA_UINT, NODE(queue_packets), .min = 1,
				.max = HS_PORT_QUEUE_MAX},
		{NULL},
};

int hs_draft_add_node(struct hs_draft *draft, const struct hs_scenario_node *node)
{
	return hs_draft_add_name(draft, HS_NAME_NODE, node->name, draft->scenario.n_nodes)
			       ?: HS_DRAFT_APPEND(draft, nodes, node);
}

static int take_node(struct hs_draft *draft, const struct hs_scenario_node *node)
{
	size_t n = json_array_size(json_object_get(draft->root, "nodes"));

	if (draft->scenario.forwarding == HS_LAB_SHORTEST_PATH && n > MAX_ROUTED &&
			draft->item.index == 0) // said once
		return hs_error_set(draft->err, "out_of_range", "nodes", "at most 560",
				"the list has %zu", n);
	return hs_draft_add_node(draft, node);
}

HS_DRAFT_LIST(node, struct hs_scenario_node, hs_draft_node_fields, take_node, HS_DRAFT_NEW_NODE);

// ---- hosts ----

static bool is_unicast(const uint8_t address[16])
{
	const struct in6_addr *addr = (const void *)address;
	const uint8_t *ipv4 = address + 12;

	if (hs_ip_address_is_ipv4(address)) // 240.0.0.0/4 are no hosts either
		return ipv4[0] && ipv4[0] != 127 && ipv4[0] < 224 &&
		       !(ipv4[0] == 169 && ipv4[1] == 254);
	return !IN6_IS_ADDR_MULTICAST(addr) && !IN6_IS_ADDR_UNSPECIFIED(addr) &&
	       !IN6_IS_ADDR_LOOPBACK(addr) && !IN6_IS_ADDR_LINKLOCAL(addr);
}

static const char *parse_addr(const char *text, void *at, const char **code)
{
	const char *wrong = hs_rule_address_text.parse(text, at, code);

	return wrong ? wrong : is_unicast(at) ? NULL : "is no address of a host";
}

static const struct hs_schema_text addr_text = {.parse = parse_addr,
		.shape = "{'type': 'string', "
			 "'anyOf': [{'format': 'ipv4'}, {'format': 'ipv6'}]}"};

#define HOST(member) HS_SCHEMA_MEMBER(struct hs_scenario_host, member)
static const struct hs_schema_field host_fields[] = {
		{"name", HS_SCHEMA_TEXT, HOST(name), .required = true, .min = 1, .max = 31},
		{"at", HS_SCHEMA_NAME, HOST(at), .names = &hs_draft_node_names, .required = true},
		{"addr", HS_SCHEMA_PARSED, HOST(addr), .text = &addr_text, .required = true,
				.expected = "a unicast IP address, not link-local"},
		{NULL},
};

int hs_draft_add_host(struct hs_draft *draft, const struct hs_scenario_host *host)
{
	// Traffic with this name would go to the host, not to the node.
	uint32_t node = hs_draft_find_name(draft, HS_NAME_NODE, host->name);
	if (node != HS_NO_INDEX && node != host->at)
		return hs_draft_refuse(draft, "name", "duplicate", "a name of its own",
				"a node is called \"%s\", and the host is not there", host->name);
	draft->scenario.nodes[host->at].n_hosts++;
	return hs_draft_add_name(draft, HS_NAME_HOST, host->name, draft->scenario.n_hosts)
			       ?: HS_DRAFT_APPEND(draft, hosts, host);
}

HS_DRAFT_LIST(host, struct hs_scenario_host, host_fields, hs_draft_add_host, {});

// ---- routes: which of several shortest ways a node takes to a host ----

#define ROUTE(member) HS_SCHEMA_MEMBER(struct hs_scenario_route, member)
static const struct hs_schema_field route_fields[] = {
		{"node", HS_SCHEMA_NAME, ROUTE(node), .names = &hs_draft_node_names,
				.required = true},
		{"to", HS_SCHEMA_NAME, ROUTE(to), .names = &hs_draft_host_names, .required = true},
		{"via", HS_SCHEMA_NAME, ROUTE(via), .names = &hs_draft_node_names,
				.required = true},
		{NULL},
};

// Checks that a shortest way leads over the neighbour, along all links whether they are up or not.
static int check_via(struct hs_draft *draft, const struct hs_scenario_route *route)
{
	const struct hs_scenario *s = &draft->scenario;
	uint32_t *hops = hs_draft_room(draft, s->n_nodes, sizeof(*hops));

	if (!hops)
		return -ENOMEM;
	hs_scenario_distances(s, NULL, NULL, s->hosts[route->to].at, hops);
	if (hs_scenario_link_between(s, route->node, route->via) &&
			hops[route->via] + 1 == hops[route->node])
		return 0;
	return hs_draft_refuse(draft, "via", "bad_value",
			"a neighbour that is one hop nearer to the host",
			"no shortest way leads over \"%s\"", s->nodes[route->via].name);
}

static int take_route(struct hs_draft *draft, const struct hs_scenario_route *route)
{
	if (draft->scenario.forwarding != HS_LAB_SHORTEST_PATH)
		return hs_draft_refuse(draft, NULL, "conflict", "forwarding shortest_path",
				"the nodes have no routes");
	return check_via(draft, route) ?: HS_DRAFT_APPEND(draft, routes, route);
}

HS_DRAFT_LIST(route, struct hs_scenario_route, route_fields, take_route, {});
