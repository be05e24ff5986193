// SPDX-License-Identifier: BSD-3-Clause
// Networks that are generated from a few numbers, in place of lists.
//
// Source: Al-Fares, Loukissas, Vahdat, A Scalable, Commodity Data Center Network Architecture
// (SIGCOMM 2008), section 3: k-ary fat tree. 001_72f6b4e6e9dc6295.txt section 6.1: the network of
// its prototype, named hula.
#include "scenario_draft.h"

#include "ip_address.h"
#include "port.h"
#include "variate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#define WORLD_NODES 1200
#define WORLD_HOSTS 60 // the default number of hosts of a small world

static const struct hs_schema_word ip_words[] = {{"ipv6", false}, {"ipv4", true}, {NULL, 0}};

enum {
	FAT_TREE,
	HULA,
	WATTS_STROGATZ,
};
static const struct hs_schema_word kind_words[] = {{"fat_tree", FAT_TREE}, {"hula", HULA},
		{"watts_strogatz", WATTS_STROGATZ}, {NULL, 0}};

// The names of the switches of each level.
static const struct levels {
	const char *core, *agg, *edge;
} levels[] = {
		[FAT_TREE] = {"core", "agg", "edge"},
		[HULA] = {"spine", "leaf", "tor"},
};

#define TOPOLOGY(member) HS_SCHEMA_MEMBER(struct hs_draft_topology, member)
#define K_EVEN		 "an even number from 2 to 20"
#define OF_WORLD	 .kinds = 1u << WATTS_STROGATZ, .help = "only with kind watts_strogatz"
const struct hs_schema_field hs_draft_topology_fields[] = {
		{"kind", HS_SCHEMA_WORD, TOPOLOGY(kind), .words = kind_words, .required = true},
		{"k", HS_SCHEMA_UINT, TOPOLOGY(k), .min = 2, .max = 20, .expected = K_EVEN,
				.kinds = 1u << FAT_TREE | 1u << WATTS_STROGATZ,
				.help = "only with kind fat_tree or watts_strogatz"},
		{"n", HS_SCHEMA_UINT, TOPOLOGY(n), .min = 3, .max = WORLD_NODES, OF_WORLD},
		{"beta", HS_SCHEMA_REAL, TOPOLOGY(beta), .most = 1, OF_WORLD},
		{"seed", HS_SCHEMA_UINT, TOPOLOGY(seed), .max = INT64_MAX, OF_WORLD},
		{"hosts", HS_SCHEMA_UINT, TOPOLOGY(hosts), .max = WORLD_NODES, OF_WORLD},
		{"addresses", HS_SCHEMA_WORD, TOPOLOGY(ipv4), .words = ip_words},
		{"link", HS_SCHEMA_OBJECT, TOPOLOGY(link),
				.fields = hs_draft_link_fields + HS_DRAFT_LINK_PARAMETERS},
		{"node", HS_SCHEMA_OBJECT, TOPOLOGY(node),
				.fields = hs_draft_node_fields + HS_DRAFT_NODE_SERVICE},
		{NULL},
};

const struct hs_draft_topology hs_draft_new_topology = {.given = true,
		.seed = 1,
		.link.directions[0].queue_packets = HS_DRAFT_QUEUE_PACKETS,
		.node = HS_DRAFT_NEW_NODE};

// Adds a switch. `pod` is 0 for a switch outside pods.
static int add_node(struct hs_draft *draft, const char *kind, uint32_t pod, uint32_t n)
{
	struct hs_scenario_node node = draft->topology.node;
	char in_pod[16] = "";

	if (pod)
		snprintf(in_pod, sizeof(in_pod), "-%u", pod);
	snprintf(node.name, sizeof(node.name), "%s%s-%u", kind, in_pod, n);
	node.id = (uint16_t)(draft->scenario.n_nodes + 1);
	return hs_draft_add_node(draft, &node);
}

// Adds a link, which has no name yet.
static int add_link(struct hs_draft *draft, uint32_t from, uint32_t to)
{
	struct hs_scenario_link link = draft->topology.link;

	link.from = from;
	link.to = to;
	return hs_draft_add_link(draft, &link);
}

// Adds a host. `pod` is 0 for a host outside pods. The IPv6 address has decimal numbers as its
// hexadecimal digits, so that it reads like the names.
static int add_host(struct hs_draft *draft, uint32_t at, uint32_t pod, uint32_t edge, uint32_t n)
{
	struct hs_scenario_host host = {.at = at};
	uint8_t ipv4[4] = {10, (uint8_t)pod, (uint8_t)edge, (uint8_t)n};
	char ipv6[INET6_ADDRSTRLEN];

	snprintf(host.name, sizeof(host.name), "h-%u-%u-%u", pod, edge, n);
	snprintf(ipv6, sizeof(ipv6), "2001:db8:%u:%u::%u", pod, edge, n);
	inet_pton(AF_INET6, ipv6, host.addr);
	if (!pod) {
		snprintf(host.name, sizeof(host.name), "h-%u", n);
		ipv4[2] = (uint8_t)(n / 250);
		ipv4[3] = (uint8_t)(n % 250 + 1);
	}
	if (draft->topology.ipv4)
		hs_ip_address_map(ipv4, host.addr);
	return hs_draft_add_host(draft, &host);
}

// Adds a pod. The Nth aggregation switch of each pod leads to the Nth row of core switches. Each
// row has k/2 switches.
static int add_pod(struct hs_draft *draft, uint32_t half, uint32_t pod)
{
	const struct levels *names = &levels[draft->topology.kind];
	uint32_t first = (uint32_t)draft->scenario.n_nodes;
	int rc = 0;

	for (uint32_t n = 1; n <= half && rc == 0; n++)
		rc = add_node(draft, names->agg, pod, n);
	for (uint32_t n = 1; n <= half && rc == 0; n++)
		rc = add_node(draft, names->edge, pod, n);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_link(draft, i, first + i / half);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_link(draft, first + i / half, first + half + i % half);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_host(draft, first + half + i / half, pod, i / half + 1, i % half + 1);
	return rc;
}

// Checks that the network comes either from a topology or from lists.
static int check_lists(const struct hs_draft *draft)
{
	static const char *const lists[] = {"nodes", "links", "hosts"};
	const json_t *nodes = json_object_get(draft->root, "nodes");

	if (!draft->topology.given && json_array_size(nodes) == 0 &&
			(!nodes || json_is_array(nodes)))
		return hs_error_set(draft->err, "missing_field", "nodes",
				"at least one node, or a topology", "the scenario has no nodes");
	for (size_t i = 0; draft->topology.given && i < sizeof(lists) / sizeof(lists[0]); i++)
		if (json_object_get(draft->root, lists[i]))
			return hs_error_set(draft->err, "conflict", lists[i],
					"either a topology or lists", "the topology makes the %s",
					lists[i]);
	return 0;
}

static int make_tree(struct hs_draft *draft, uint32_t k, uint32_t pods)
{
	int rc = 0;

	for (uint32_t n = 1; n <= k * k / 4 && rc == 0; n++)
		rc = add_node(draft, levels[draft->topology.kind].core, 0, n);
	for (uint32_t pod = 1; pod <= pods && rc == 0; pod++)
		rc = add_pod(draft, k / 2, pod);
	return rc;
}

// ---- small worlds ----

// An end that is a neighbour already, or has no port left, is drawn again, at most this often.
#define DRAWS	   100
#define MOST_LINKS (HS_MAX_PORTS - 1) // of a node: one port is for its host

// Lets a link lead to another node, drawn at random, unless the network falls apart.
static void move(struct hs_scenario *s, struct hs_rng *rng, struct hs_scenario_link *link,
		uint32_t *parts)
{
	uint32_t was = link->to, to = was;
	size_t closing;

	for (unsigned i = 0; i < DRAWS; i++) {
		to = (uint32_t)hs_variate_below(rng, s->n_nodes);
		if (to != link->from && s->nodes[to].n_links < MOST_LINKS &&
				!hs_scenario_link_between(s, link->from, to))
			break;
		to = was;
	}
	link->to = to;
	if (hs_draft_count_parts(s, parts, &closing) > 1)
		link->to = was;
	s->nodes[was].n_links--;
	s->nodes[link->to].n_links++;
}

// Adds the links of a small world. Watts, Strogatz, Collective dynamics of 'small-world' networks
// (Nature 393, 1998): each of n nodes has links to its k nearest neighbours on a ring. Each link
// then leads to another node, drawn at random, with probability beta. The lab's network differs in
// two points: a link stays where the network would fall apart without it, and the number of links
// of a node has a limit.
static int add_world_links(struct hs_draft *draft)
{
	const struct hs_draft_topology *topology = &draft->topology;
	uint32_t n = topology->n, n_links = n * (topology->k / 2);
	uint32_t *parts = hs_draft_room(draft, n, sizeof(*parts));
	struct hs_rng rng;
	int rc = parts ? 0 : -ENOMEM;

	hs_rng_init(&rng, topology->seed);
	for (uint32_t i = 0; i < n_links && rc == 0; i++)
		rc = add_link(draft, i % n, (i + i / n + 1) % n);
	for (uint32_t i = 0; i < n_links && rc == 0; i++)
		if (hs_variate_chance(&rng, topology->beta))
			move(&draft->scenario, &rng, &draft->scenario.links[i], parts);
	return rc;
}

// Adds hosts at switches that are drawn at random. No switch has a second one before each has one.
static int add_world_hosts(struct hs_draft *draft)
{
	const struct hs_draft_topology *topology = &draft->topology;
	uint32_t *nodes = hs_draft_room(draft, topology->n, sizeof(*nodes));
	struct hs_rng rng;
	int rc = nodes ? 0 : -ENOMEM;

	hs_rng_init(&rng, topology->seed + 1);
	for (uint32_t i = 0; i < topology->n && rc == 0; i++)
		nodes[i] = i;
	for (uint32_t i = 0; i < topology->hosts && rc == 0; i++) {
		uint32_t place = i % topology->n;
		uint32_t k = place + (uint32_t)hs_variate_below(&rng, topology->n - place);
		uint32_t at = nodes[k];
		nodes[k] = nodes[place];
		nodes[place] = at;
		rc = add_host(draft, at, 0, 0, i + 1);
	}
	return rc;
}

static int make_world(struct hs_draft *draft)
{
	int rc = 0;

	for (uint32_t n = 1; n <= draft->topology.n && rc == 0; n++)
		rc = add_node(draft, "s", 0, n);
	return rc ?: add_world_links(draft) ?: add_world_hosts(draft);
}

// ---- all of them ----

// Checks the parameters of the topology. hula has none, because it is always two pods of a fat
// tree.
static int settle(struct hs_draft *draft)
{
	struct hs_draft_topology *topology = &draft->topology;

	draft->item.path = "topology";
	draft->item.value = json_object_get(draft->root, "topology");
	if (hs_draft_check_kinds(draft, hs_draft_topology_fields, topology->kind,
			    kind_words[topology->kind].text) < 0)
		return -EINVAL;
	if (topology->kind == HULA)
		return 0;
	if (topology->k == 0)
		return hs_draft_refuse_missing(draft, "k", K_EVEN);
	if (topology->k % 2)
		return hs_draft_refuse(draft, "k", "bad_value", K_EVEN, "%u is odd", topology->k);
	if (topology->kind == FAT_TREE)
		return 0;
	if (!topology->n)
		return hs_draft_refuse_missing(draft, "n", "the number of switches");
	if (!hs_draft_has(draft, "beta"))
		return hs_draft_refuse_missing(draft, "beta", "a number from 0 to 1");
	if (topology->k >= topology->n)
		return hs_draft_refuse(draft, "k", "out_of_range", "below n",
				"%u switches have no %u neighbours each", topology->n, topology->k);
	if (!hs_draft_has(draft, "hosts"))
		topology->hosts = topology->n < WORLD_HOSTS ? topology->n : WORLD_HOSTS;
	return 0;
}

int hs_draft_make_topology(struct hs_draft *draft)
{
	struct hs_draft_topology *topology = &draft->topology;
	int rc = check_lists(draft);

	if (!topology->given || rc < 0)
		return rc;
	if (settle(draft) < 0 ||
			hs_draft_settle_link(&topology->link, "topology.link", draft->err) < 0)
		return -EINVAL;
	rc = topology->kind == WATTS_STROGATZ ? make_world(draft)
	     : topology->kind == HULA	      ? make_tree(draft, 4, 2)
					      : make_tree(draft, topology->k, topology->k);
	for (size_t i = 0; i < draft->scenario.n_links && rc == 0; i++)
		rc = hs_draft_name_link(draft, i);
	return rc;
}
