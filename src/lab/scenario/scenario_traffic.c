// SPDX-License-Identifier: BSD-3-Clause
// The traffic of a scenario: entries between two hosts, and patterns that generate many of them.
#include "scenario_draft.h"

#include "variate.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_TRAFFIC   100000
#define MAX_PPS	      1e9
#define EXPECTED_ENDS "the name of a host or a node"

struct entry {
	struct hs_scenario_traffic traffic;
	uint32_t pattern, flows; // flows 0: there is no pattern
};

static const struct hs_schema_word type_words[] = {{"constant", HS_TRAFFIC_CONSTANT},
		{"bursty", HS_TRAFFIC_BURSTY}, {"poisson", HS_TRAFFIC_POISSON},
		{"relay", HS_TRAFFIC_RELAY}, {"ping", HS_TRAFFIC_PING},
		{"window", HS_TRAFFIC_WINDOW}, {"pcap", HS_TRAFFIC_PCAP}, {NULL, 0}};
static const struct hs_schema_word protocol_words[] = {
		{"udp", IPPROTO_UDP}, {"tcp", IPPROTO_TCP}, {"icmp", IPPROTO_ICMPV6}, {NULL, 0}};
static const struct hs_schema_word tunnel_words[] = {{"vxlan", HS_TUNNEL_VXLAN},
		{"vxlan-gpe", HS_TUNNEL_VXLAN_GPE}, {"geneve", HS_TUNNEL_GENEVE},
		{"gre", HS_TUNNEL_GRE}, {NULL, 0}};
static const uint16_t tunnel_ports[] = {[HS_TUNNEL_VXLAN] = 4789,
		[HS_TUNNEL_VXLAN_GPE] = 4790,
		[HS_TUNNEL_GENEVE] = 6081,
		[HS_TUNNEL_GRE] = 0};

// Returns the host with this name. Makes the host of a node where traffic names the node first.
static uint32_t find_end(const void *root, const char *name)
{
	struct hs_draft *draft = (void *)root;
	uint32_t host = hs_draft_find_name(draft, HS_NAME_HOST, name);
	uint32_t node = hs_draft_find_name(draft, HS_NAME_NODE, name), place = node + 1;
	struct hs_scenario_host made = {.at = node,
			.addr = {0x20, 0x01, 0x0d, 0xb8, [6] = (uint8_t)(place >> 8),
					(uint8_t)place, [15] = 1}, // 2001:db8:0:PLACE::1
			.implicit = true};

	if (host == HS_NO_INDEX && node == HS_NO_INDEX &&
			(hs_draft_may_be(draft, "hosts", name) ||
					hs_draft_may_be(draft, "nodes", name)))
		return 0;
	if (host != HS_NO_INDEX || node == HS_NO_INDEX)
		return host;
	strcpy(made.name, draft->scenario.nodes[node].name);
	return hs_draft_add_host(draft, &made) < 0 ? HS_NO_INDEX
						   : (uint32_t)draft->scenario.n_hosts - 1;
}

static const struct hs_schema_names end_names = {
		"unknown_name", "host or node", EXPECTED_ENDS, find_end, NULL};

#define ENTRY(member) HS_SCHEMA_MEMBER(struct entry, member)
static const struct hs_schema_word pattern_words[] = {{"permutation", 0}, {NULL, 0}};
static const struct hs_schema_field pattern_fields[] = {
		{"kind", HS_SCHEMA_WORD, ENTRY(pattern), .words = pattern_words, .required = true},
		{"flows", HS_SCHEMA_UINT, ENTRY(flows), .required = true, .min = 1,
				.max = MAX_TRAFFIC, .expected = "how many entries it makes"},
		{NULL},
};

#define TRAFFIC(member)	  HS_SCHEMA_MEMBER(struct entry, traffic.member)
#define SECONDS(lowest)	  .least = lowest, .most = HS_DRAFT_MAX_S
#define ONLY(kind, types) .kinds = (kind), .help = "only with type " types
#define OF(kind)	  (1u << HS_TRAFFIC_##kind)
#define PACED		  (OF(CONSTANT) | OF(BURSTY) | OF(POISSON) | OF(PING))
static const struct hs_schema_field traffic_fields[] = {
		{"name", HS_SCHEMA_TEXT, TRAFFIC(name), .required = true, .min = 1, .max = 31},
		{"type", HS_SCHEMA_WORD, TRAFFIC(kind), .words = type_words},
		{"from", HS_SCHEMA_NAME, TRAFFIC(from), .names = &end_names},
		{"to", HS_SCHEMA_NAME, TRAFFIC(to), .names = &end_names},
		{"pattern", HS_SCHEMA_OBJECT, .fields = pattern_fields},
		{"protocol", HS_SCHEMA_WORD, TRAFFIC(protocol), .words = protocol_words},
		{"tunnel", HS_SCHEMA_WORD, TRAFFIC(tunnel), .words = tunnel_words,
				ONLY(OF(CONSTANT) | OF(BURSTY) | OF(POISSON),
						"constant, bursty or poisson")},
		{"src_port", HS_SCHEMA_UINT, TRAFFIC(src_port), .max = 65535},
		{"dst_port", HS_SCHEMA_UINT, TRAFFIC(dst_port), .max = 65535},
		{"rate_pps", HS_SCHEMA_REAL, TRAFFIC(rate_pps), .most = MAX_PPS, .needed = PACED,
				.expected = "packets per second"},
		{"payload_bytes", HS_SCHEMA_UINT, TRAFFIC(payload_bytes), .max = 65535},
		{"start_s", HS_SCHEMA_SECONDS, TRAFFIC(start_ns), SECONDS(0)},
		{"stop_s", HS_SCHEMA_SECONDS, TRAFFIC(stop_ns), SECONDS(0)},
		{"packets", HS_SCHEMA_UINT, TRAFFIC(packets), .max = INT64_MAX},
		{"burst_s", HS_SCHEMA_SECONDS, TRAFFIC(burst_ns), SECONDS(1e-6),
				ONLY(OF(BURSTY), "bursty")},
		{"mean_interval_s", HS_SCHEMA_SECONDS, TRAFFIC(mean_interval_ns), SECONDS(1e-6),
				ONLY(OF(BURSTY), "bursty")},
		{"window_packets", HS_SCHEMA_UINT, TRAFFIC(window_packets), .max = 1000000,
				ONLY(OF(WINDOW), "window")},
		{"window_fixed", HS_SCHEMA_BOOL, TRAFFIC(window_fixed), ONLY(OF(WINDOW), "window")},
		{"reply_delay_ns", HS_SCHEMA_UINT, TRAFFIC(reply_delay_ns),
				.max = UINT64_C(3600000000000),
				ONLY(OF(PING) | OF(WINDOW), "ping or window")},
		{"after", HS_SCHEMA_NAME, TRAFFIC(after), .names = &hs_draft_traffic_names,
				ONLY(OF(RELAY), "relay")},
		{"file", HS_SCHEMA_TEXT, TRAFFIC(file), .min = 1, .max = 255,
				ONLY(OF(PCAP), "pcap"), .needed = OF(PCAP),
				.expected = "the name of a pcap file"},
		{NULL},
};

// ---- protocol, ports and payload ----

static int set_protocol(const struct hs_draft *draft, struct hs_scenario_traffic *traffic)
{
	bool ping = traffic->kind == HS_TRAFFIC_PING, window = traffic->kind == HS_TRAFFIC_WINDOW;
	uint8_t only = ping ? IPPROTO_ICMPV6 : IPPROTO_TCP;
	const char *word = ping ? "icmp" : "tcp";

	if (traffic->tunnel && traffic->protocol && traffic->protocol != IPPROTO_UDP)
		return hs_draft_refuse(draft, "protocol", "conflict", "none beside a tunnel",
				"the tunnel says the protocol");
	if (traffic->tunnel == HS_TUNNEL_GRE)
		traffic->protocol = IPPROTO_GRE;
	if (!traffic->protocol)
		traffic->protocol = ping || window ? only : IPPROTO_UDP;
	if ((!ping && !window) || traffic->protocol == only)
		return 0;
	return hs_draft_refuse(
			draft, "protocol", "conflict", word, "this type of traffic is %s", word);
}

// Sets a port of an entry of traffic. Each entry has ports of its own, unless the file gives them.
// ICMP and GRE have none.
static int set_port(const struct hs_draft *draft, const char *key, bool none, size_t unused,
		uint16_t *port)
{
	if (!hs_draft_has(draft, key))
		*port = none ? 0 : (uint16_t)unused;
	if (none == (*port == 0))
		return 0;
	return hs_draft_refuse(draft, key, "out_of_range",
			none ? "0" : "an integer from 1 to 65535",
			none ? "icmp and gre have no ports, and this is %u"
			     : "%u is no port of traffic",
			*port);
}

static int check_payload(const struct hs_draft *draft, const struct hs_scenario_traffic *traffic)
{
	const struct hs_scenario_host *hosts = draft->scenario.hosts;
	unsigned ip = traffic->from == HS_NO_INDEX ? HS_IPV6_BYTES // of a pattern
						   : hs_scenario_ip_bytes(&hosts[traffic->from]);
	unsigned mtu = draft->scenario.mtu, max = mtu - ip - hs_scenario_l4_bytes(traffic);
	char bounds[64];

	if (traffic->tunnel && traffic->payload_bytes < HS_TUNNEL_HEADER_BYTES)
		return hs_draft_refuse(draft, "payload_bytes", "out_of_range", "8 or more",
				"the header of a tunnel does not fit");
	// Without payload, all segments would have the same sequence number.
	if (traffic->kind == HS_TRAFFIC_WINDOW && !traffic->payload_bytes)
		return hs_draft_refuse(draft, "payload_bytes", "out_of_range", "1 or more",
				"a window sends no segments without payload");
	if (traffic->payload_bytes <= max)
		return 0;
	snprintf(bounds, sizeof(bounds), "an integer from 0 to %u", max);
	return hs_draft_refuse(draft, "payload_bytes", "out_of_range", bounds,
			"%u bytes do not fit into a packet of %u", traffic->payload_bytes, mtu);
}

// ---- times and files ----

static int set_times(const struct hs_draft *draft, struct hs_scenario_traffic *traffic)
{
	int64_t duration = draft->scenario.duration_ns;

	if (hs_draft_check_period(draft, "start_s", traffic->start_ns, "stop_s", traffic->stop_ns,
			    "the traffic stops before it starts") < 0)
		return -EINVAL;
	// The run may be shorter than the scenario says.
	if (traffic->stop_ns == HS_DRAFT_NEVER || traffic->stop_ns > duration)
		traffic->stop_ns = duration;
	if (traffic->start_ns > duration)
		traffic->start_ns = duration;
	return 0;
}

static int check_file(const struct hs_draft *draft, const char *file)
{
	char path[HS_SCENARIO_PATH];

	if (!file[0] || access(hs_scenario_path(&draft->scenario, file, path), R_OK) == 0)
		return 0;
	return hs_draft_refuse(draft, "file", "not_readable", "a pcap file", "%s: %s", path,
			strerror(errno));
}

// ---- entries ----

static int add_traffic(struct hs_draft *draft, struct hs_scenario_traffic *traffic)
{
	size_t index = draft->scenario.n_traffic;
	bool none = traffic->protocol == IPPROTO_ICMPV6 || traffic->protocol == IPPROTO_GRE;
	size_t port = traffic->tunnel ? tunnel_ports[traffic->tunnel] : 6000 + index % 59000;
	const struct hs_scenario_host *hosts = draft->scenario.hosts;
	const struct hs_scenario_host *from = &hosts[traffic->from], *to = &hosts[traffic->to];

	traffic->entry = (uint32_t)draft->item.index;
	if (hs_scenario_ip_bytes(from) != hs_scenario_ip_bytes(to))
		return hs_draft_refuse(draft, hs_draft_has(draft, "pattern") ? "pattern" : "to",
				"wrong_family", "hosts of one IP version",
				"hosts \"%s\" and \"%s\" have addresses of two IP versions",
				from->name, to->name);
	if (index == MAX_TRAFFIC)
		return hs_error_set(draft->err, "out_of_range", "traffic", "at most 100000 entries",
				"there are more than %d entries of traffic", MAX_TRAFFIC);
	return set_port(draft, "src_port", none, 5000 + index % 60000, &traffic->src_port)
		?: set_port(draft, "dst_port", none, port, &traffic->dst_port)
		?: hs_draft_add_name(draft, HS_NAME_TRAFFIC, traffic->name, index)
		?: HS_DRAFT_APPEND(draft, traffic, traffic);
}

// Attaches a relay to the entry that it follows. A relay begins where that entry ends.
static int follow(struct hs_draft *draft, struct hs_scenario_traffic *traffic)
{
	if (traffic->kind != HS_TRAFFIC_RELAY)
		return 0;
	struct hs_scenario_traffic *after = &draft->scenario.traffic[traffic->after];
	if (traffic->from != after->to)
		return hs_draft_refuse(draft, "from", "bad_value",
				draft->scenario.hosts[after->to].name, "\"%s\" does not lead there",
				after->name);
	traffic->next_relay = after->relay;
	after->relay = (uint32_t)draft->scenario.n_traffic;
	return 0;
}

static int read_one(struct hs_draft *draft, struct hs_scenario_traffic *traffic)
{
	if (traffic->from == HS_NO_INDEX || traffic->to == HS_NO_INDEX)
		return hs_draft_refuse_missing(
				draft, traffic->from == HS_NO_INDEX ? "from" : "to", EXPECTED_ENDS);
	if (traffic->from == traffic->to)
		return hs_draft_refuse(draft, "to", "bad_value", "another host",
				"the traffic leads back to where it starts");
	return follow(draft, traffic) ?: add_traffic(draft, traffic);
}

static void shuffle(struct hs_rng *rng, uint32_t *items, uint32_t n)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = (uint32_t)hs_variate_below(rng, i + 1);
		uint32_t item = items[i];
		items[i] = items[j];
		items[j] = item;
	}
}

// Adds the entries of a permutation. Each host sends to the next host of a shuffled ring, so that
// no host sends to itself and each receives once. If there are more flows than hosts, another ring
// follows.
static int permute(struct hs_draft *draft, const struct entry *entry, uint32_t *ring, uint32_t n)
{
	const char *name = entry->traffic.name;
	struct hs_rng rng;
	int rc = 0;

	hs_rng_init(&rng, draft->scenario.seed + draft->item.index * UINT64_C(0x9e3779b97f4a7c15));
	for (uint32_t i = 0; i < n; i++)
		ring[i] = i;
	for (uint32_t i = 0; i < entry->flows && rc == 0; i++) {
		struct hs_scenario_traffic traffic = entry->traffic;
		if (i % n == 0)
			shuffle(&rng, ring, n);
		int len = snprintf(traffic.name, sizeof(traffic.name), "%s-%u", name, i + 1);
		if (len >= (int)sizeof(traffic.name))
			return hs_draft_refuse(draft, "name", "out_of_range", "a shorter name",
					"\"%s-%u\" has more than 31 bytes", name, i + 1);
		traffic.from = ring[i % n];
		traffic.to = ring[(i % n + 1) % n];
		rc = add_traffic(draft, &traffic);
	}
	return rc;
}

static int read_pattern(struct hs_draft *draft, const struct entry *entry)
{
	uint32_t n = 0; // hosts that the file names

	if (entry->traffic.after != HS_NO_INDEX)
		return hs_draft_refuse(draft, "pattern", "conflict", "only without after",
				"a pattern chooses the hosts, and a relay follows an entry");
	if (entry->traffic.from != HS_NO_INDEX || entry->traffic.to != HS_NO_INDEX)
		return hs_draft_refuse(draft, "pattern", "conflict",
				"either a pattern or from and to", "a pattern chooses the hosts");
	while (n < draft->scenario.n_hosts && !draft->scenario.hosts[n].implicit)
		n++;
	if (n < 2)
		return hs_draft_refuse(draft, "pattern", "bad_value", "at least two hosts",
				"the scenario has %u hosts", n);
	uint32_t *ring = hs_draft_room(draft, n, sizeof(*ring));
	return ring ? permute(draft, entry, ring, n) : -ENOMEM;
}

static int take_traffic(struct hs_draft *draft, struct entry *entry)
{
	struct hs_scenario_traffic *traffic = &entry->traffic;

	if (hs_draft_check_kinds(draft, traffic_fields, traffic->kind, "this type of traffic") < 0)
		return -EINVAL;
	if (traffic->kind == HS_TRAFFIC_RELAY && traffic->after == HS_NO_INDEX)
		return hs_draft_refuse_missing(
				draft, "after", "the name of an entry of traffic before this one");
	return set_protocol(draft, traffic)
		?: check_payload(draft, traffic)
		?: set_times(draft, traffic)
		?: check_file(draft, traffic->file)
		?: (entry->flows ? read_pattern(draft, entry) : read_one(draft, traffic));
}

HS_DRAFT_LIST(traffic, struct entry, traffic_fields, take_traffic,
		{.traffic = {.from = HS_NO_INDEX,
				 .to = HS_NO_INDEX,
				 .after = HS_NO_INDEX,
				 .relay = HS_NO_INDEX,
				 .next_relay = HS_NO_INDEX,
				 .flows = {HS_NO_INDEX, HS_NO_INDEX},
				 .payload_bytes = 500,
				 .stop_ns = HS_DRAFT_NEVER,
				 .burst_ns = INT64_C(2000000000),
				 .mean_interval_ns = INT64_C(5000000000)}});
