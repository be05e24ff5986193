// SPDX-License-Identifier: BSD-3-Clause
// The traffic of a scenario: entries between two hosts, and patterns that generate many of them.
#include "scenario_parts.h"

#include "variate.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TRAFFIC   100000
#define MAX_PPS	      1e9
#define IPV6_BYTES    40
#define NO_TIME	      INT64_MIN
#define EXPECTED_ENDS "the name of a host or a node"

struct entry {
	const struct hs_scenario_draft *draft;
	struct hs_scenario_traffic traffic; // its ends: see find_end
	json_t *pattern;
	uint8_t protocol; // 0: not given
	bool has_ports[2];
};

static const struct hs_schema_word type_words[] = {
		{"constant", HS_TRAFFIC_CONSTANT},
		{"bursty", HS_TRAFFIC_BURSTY},
		{"poisson", HS_TRAFFIC_POISSON},
		{"ping", HS_TRAFFIC_PING},
		{"window", HS_TRAFFIC_WINDOW},
		{"pcap", HS_TRAFFIC_PCAP},
		{NULL, 0},
};
static const struct hs_schema_word protocol_words[] = {
		{"udp", IPPROTO_UDP},
		{"tcp", IPPROTO_TCP},
		{"icmp", IPPROTO_ICMPV6},
		{NULL, 0},
};

// The index of a host, or AT_NODE and the index of a node.
#define AT_NODE UINT32_C(0x80000000)
static uint32_t find_end(const void *root, const char *name)
{
	const struct hs_scenario_draft *draft = ((const struct entry *)root)->draft;
	uint32_t host = hs_scenario_names_find(&draft->host_names, name);
	uint32_t node = hs_scenario_names_find(&draft->node_names, name);

	return host != HS_NO_INDEX ? host : node != HS_NO_INDEX ? AT_NODE | node : HS_NO_INDEX;
}

static const struct hs_schema_names end_names = {
		"unknown_name", "host or node", EXPECTED_ENDS, find_end, NULL};

struct pattern {
	uint32_t kind;
	uint32_t flows;
};

static const struct hs_schema_word pattern_words[] = {{"permutation", 0}, {NULL, 0}};
#define PATTERN(member) HS_SCHEMA_MEMBER(struct pattern, member)
static const struct hs_schema_field pattern_fields[] = {
		{"kind", HS_SCHEMA_WORD, PATTERN(kind), .words = pattern_words, .required = true,
				.expected = "permutation"},
		{"flows", HS_SCHEMA_UINT, PATTERN(flows), .required = true, .min = 1,
				.max = MAX_TRAFFIC, .expected = "how many entries it makes"},
		{NULL},
};

#define ENTRY(member)	HS_SCHEMA_MEMBER(struct entry, member)
#define TRAFFIC(member) HS_SCHEMA_MEMBER(struct entry, traffic.member)
#define SECONDS(lowest) .least = lowest, .most = HS_SCENARIO_MAX_S
static const struct hs_schema_field traffic_fields[] = {
		{"name", HS_SCHEMA_TEXT, TRAFFIC(name), .required = true, .min = 1, .max = 31,
				.expected = "a string of 1 to 31 bytes"},
		{"type", HS_SCHEMA_WORD, TRAFFIC(kind), .words = type_words,
				.expected = "constant, bursty, poisson, ping, window or pcap"},
		{"from", HS_SCHEMA_NAME, TRAFFIC(from), .names = &end_names},
		{"to", HS_SCHEMA_NAME, TRAFFIC(to), .names = &end_names},
		{"pattern", HS_SCHEMA_JSON, ENTRY(pattern), .fields = pattern_fields},
		{"protocol", HS_SCHEMA_WORD, ENTRY(protocol), .words = protocol_words,
				.expected = "udp, tcp or icmp"},
		{"src_port", HS_SCHEMA_UINT, TRAFFIC(src_port), .max = 65535},
		{"dst_port", HS_SCHEMA_UINT, TRAFFIC(dst_port), .max = 65535},
		{"rate_pps", HS_SCHEMA_REAL, TRAFFIC(rate_pps), .least = 0, .most = MAX_PPS},
		{"payload_bytes", HS_SCHEMA_UINT, TRAFFIC(payload_bytes), .max = 65535},
		{"start_s", HS_SCHEMA_SECONDS, TRAFFIC(start_ns), SECONDS(0)},
		{"stop_s", HS_SCHEMA_SECONDS, TRAFFIC(stop_ns), SECONDS(0)},
		{"packets", HS_SCHEMA_UINT, TRAFFIC(packets), .max = INT64_MAX},
		{"burst_s", HS_SCHEMA_SECONDS, TRAFFIC(burst_ns), SECONDS(1e-6)},
		{"mean_interval_s", HS_SCHEMA_SECONDS, TRAFFIC(mean_interval_ns), SECONDS(1e-6)},
		{"window_packets", HS_SCHEMA_UINT, TRAFFIC(window_packets), .max = 1000000},
		{"window_fixed", HS_SCHEMA_BOOL, TRAFFIC(window_fixed)},
		{"reply_delay_ns", HS_SCHEMA_UINT, TRAFFIC(reply_delay_ns),
				.max = UINT64_C(3600000000000)},
		{"file", HS_SCHEMA_TEXT, TRAFFIC(file), .min = 1,
				.max = sizeof(((struct hs_scenario_traffic *)NULL)->file) - 1},
		{NULL},
};

// ---- keys and types that go together ----

#define OF(kind) (1u << HS_TRAFFIC_##kind)
static const struct hs_scenario_key limited_keys[] = {
		{"burst_s", OF(BURSTY), "only with type bursty"},
		{"mean_interval_s", OF(BURSTY), "only with type bursty"},
		{"window_packets", OF(WINDOW), "only with type window"},
		{"window_fixed", OF(WINDOW), "only with type window"},
		{"reply_delay_ns", OF(PING) | OF(WINDOW), "only with type ping or window"},
		{"file", OF(PCAP), "only with type pcap"},
		{NULL},
};

static int check_keys(
		json_t *object, const struct entry *entry, const char *path, struct hs_error *err)
{
	enum hs_traffic_kind kind = entry->traffic.kind;

	if (hs_scenario_check_keys(limited_keys, object, kind, path, "this type of traffic", err) <
			0)
		return -EINVAL;
	if (!json_object_get(object, "rate_pps") && kind != HS_TRAFFIC_WINDOW &&
			kind != HS_TRAFFIC_PCAP)
		return hs_scenario_refuse_missing(path, "rate_pps", "packets per second", err);
	if (kind == HS_TRAFFIC_PCAP && !entry->traffic.file[0])
		return hs_scenario_refuse_missing(path, "file", "the name of a pcap file", err);
	return 0;
}

static int set_protocol(struct entry *entry, const char *path, struct hs_error *err)
{
	static const struct {
		enum hs_traffic_kind kind;
		uint8_t protocol;
		const char *only;
	} fixed[] = {
			{HS_TRAFFIC_PING, IPPROTO_ICMPV6, "icmp"},
			{HS_TRAFFIC_WINDOW, IPPROTO_TCP, "tcp"},
	};

	entry->traffic.protocol = entry->protocol ? entry->protocol : IPPROTO_UDP;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (fixed[i].kind != entry->traffic.kind)
			continue;
		if (entry->protocol && entry->protocol != fixed[i].protocol)
			return hs_error_set(err, "conflict", AT(path, "protocol"), fixed[i].only,
					"this type of traffic is %s", fixed[i].only);
		entry->traffic.protocol = fixed[i].protocol;
	}
	return 0;
}

static int check_port(
		const struct entry *entry, unsigned side, const char *path, struct hs_error *err)
{
	bool icmp = entry->traffic.protocol == IPPROTO_ICMPV6;
	uint16_t port = side ? entry->traffic.dst_port : entry->traffic.src_port;
	char at[64];

	if (!entry->has_ports[side] || icmp == (port == 0))
		return 0;
	snprintf(at, sizeof(at), "%s.%s", path, side ? "dst_port" : "src_port");
	return hs_error_set(err, "out_of_range", at, icmp ? "0" : "an integer from 1 to 65535",
			icmp ? "icmp has no ports, and this is %u" : "%u is no port of traffic",
			port);
}

static int check_payload(const struct hs_scenario *scenario,
		const struct hs_scenario_traffic *traffic, const char *path, struct hs_error *err)
{
	unsigned header = traffic->protocol == IPPROTO_TCP ? 20 : 8;
	unsigned max = scenario->mtu - IPV6_BYTES - header;
	char bounds[64];

	if (traffic->payload_bytes <= max)
		return 0;
	snprintf(bounds, sizeof(bounds), "an integer from 0 to %u", max);
	return hs_error_set(err, "out_of_range", AT(path, "payload_bytes"), bounds,
			"%u bytes do not fit into a packet of %u", traffic->payload_bytes,
			scenario->mtu);
}

// ---- times ----

static int set_times(const struct hs_scenario_draft *draft, struct hs_scenario_traffic *traffic,
		const char *path, struct hs_error *err)
{
	int64_t limit = draft->limit_ns, duration = draft->scenario.duration_ns;

	if (traffic->start_ns > limit)
		return hs_error_set(err, "out_of_range", AT(path, "start_s"), "within the duration",
				"%.12g s is beyond the duration of %.12g s",
				(double)traffic->start_ns / 1e9, (double)limit / 1e9);
	if (traffic->stop_ns != NO_TIME && traffic->stop_ns > limit)
		return hs_error_set(err, "out_of_range", AT(path, "stop_s"), "within the duration",
				"%.12g s is beyond the duration of %.12g s",
				(double)traffic->stop_ns / 1e9, (double)limit / 1e9);
	if (traffic->stop_ns != NO_TIME && traffic->stop_ns < traffic->start_ns)
		return hs_error_set(err, "out_of_range", AT(path, "stop_s"), "not before start_s",
				"the traffic stops before it starts");
	// The run is shorter than the scenario says.
	if (traffic->stop_ns == NO_TIME || traffic->stop_ns > duration)
		traffic->stop_ns = duration;
	if (traffic->start_ns > duration)
		traffic->start_ns = duration;
	return 0;
}

// ---- files ----

static int check_file(const struct hs_scenario_draft *draft,
		const struct hs_scenario_traffic *traffic, const char *path, struct hs_error *err)
{
	const char *folder = draft->scenario.folder;
	char full[sizeof(traffic->file) + sizeof(draft->scenario.folder) + 1];

	bool whole = traffic->file[0] == '/' || !folder[0];
	snprintf(full, sizeof(full), "%s%s%s", whole ? "" : folder, whole ? "" : "/",
			traffic->file);
	if (access(full, R_OK) < 0)
		return hs_error_set(err, "not_readable", AT(path, "file"), "a pcap file", "%s: %s",
				full, strerror(errno));
	return 0;
}

// ---- ends ----

static int make_implicit_host(struct hs_scenario_draft *draft, uint32_t node, uint32_t *host,
		struct hs_error *err)
{
	struct hs_scenario_host made = {.at = node, .implicit = true};
	uint32_t place = node + 1;

	snprintf(made.name, sizeof(made.name), "%s", draft->scenario.nodes[node].name);
	// 2001:db8:0:PLACE::1
	memcpy(made.addr, "\x20\x01\x0d\xb8", 4);
	made.addr[6] = (uint8_t)(place >> 8);
	made.addr[7] = (uint8_t)place;
	made.addr[15] = 1;
	*host = (uint32_t)draft->scenario.n_hosts;
	return hs_scenario_add_host(draft, &made, "traffic", err);
}

static int set_end(struct hs_scenario_draft *draft, const char *path, const char *key,
		uint32_t *end, struct hs_error *err)
{
	if (*end == HS_NO_INDEX)
		return hs_scenario_refuse_missing(path, key, EXPECTED_ENDS, err);
	if (!(*end & AT_NODE))
		return 0;
	uint32_t node = *end & ~AT_NODE;
	// The other end may have made it.
	*end = hs_scenario_names_find(&draft->host_names, draft->scenario.nodes[node].name);
	return *end == HS_NO_INDEX ? make_implicit_host(draft, node, end, err) : 0;
}

static int set_ends(struct hs_scenario_draft *draft, struct entry *entry, const char *path,
		struct hs_error *err)
{
	int rc = set_end(draft, path, "from", &entry->traffic.from, err);

	if (rc == 0)
		rc = set_end(draft, path, "to", &entry->traffic.to, err);
	if (rc == 0 && entry->traffic.from == entry->traffic.to)
		rc = hs_error_set(err, "bad_value", AT(path, "to"), "another host",
				"the traffic leads back to where it starts");
	return rc;
}

// ---- entries ----

static int add_traffic(struct hs_scenario_draft *draft, const struct entry *entry,
		const struct hs_scenario_traffic *traffic, size_t place, const char *path,
		struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t index = scenario->n_traffic;
	struct hs_scenario_traffic *added = &scenario->traffic[index];

	*added = *traffic;
	if (!entry->has_ports[0] && traffic->protocol != IPPROTO_ICMPV6)
		added->src_port = (uint16_t)(5000 + index % 60000);
	if (!entry->has_ports[1] && traffic->protocol != IPPROTO_ICMPV6)
		added->dst_port = (uint16_t)(6000 + index % 59000);
	int rc = hs_scenario_names_add(
			&draft->traffic_names, added->name, index, AT(path, "name"), err);
	if (rc == 0)
		draft->traffic_entries[scenario->n_traffic++] = place;
	return rc;
}

static int make_room(struct hs_scenario_draft *draft, size_t more, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n = scenario->n_traffic + more;

	if (n > MAX_TRAFFIC)
		return hs_error_set(err, "out_of_range", "traffic", "at most 100000 entries",
				"there are more than %d entries of traffic", MAX_TRAFFIC);
	void *traffic = realloc(scenario->traffic, n * sizeof(*scenario->traffic));
	if (traffic)
		scenario->traffic = traffic;
	void *entries = realloc(draft->traffic_entries, n * sizeof(*draft->traffic_entries));
	if (entries)
		draft->traffic_entries = entries;
	return traffic && entries ? 0 : hs_scenario_no_memory(err);
}

const struct hs_schema_list hs_scenario_traffic_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = traffic_fields}};

static void shuffle(struct hs_rng *rng, uint32_t *items, uint32_t n)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = (uint32_t)hs_variate_below(rng, i + 1);
		uint32_t item = items[i];
		items[i] = items[j];
		items[j] = item;
	}
}

// Each host sends to the next host of a shuffled ring, so that no host sends to itself and each
// receives once. If there are more flows than hosts, another ring follows.
static int permute(struct hs_scenario_draft *draft, const struct entry *entry, size_t place,
		const struct pattern *pattern, uint32_t *ring, uint32_t n, const char *path,
		struct hs_error *err)
{
	struct hs_rng rng;
	int rc = 0;

	hs_rng_init(&rng, draft->scenario.seed + place * UINT64_C(0x9e3779b97f4a7c15));
	for (uint32_t i = 0; i < n; i++)
		ring[i] = i;
	for (uint32_t i = 0; i < pattern->flows && rc == 0; i++) {
		struct hs_scenario_traffic traffic = entry->traffic;
		if (i % n == 0)
			shuffle(&rng, ring, n);
		int len = snprintf(traffic.name, sizeof(traffic.name), "%s-%u", entry->traffic.name,
				i + 1);
		if (len >= (int)sizeof(traffic.name))
			return hs_error_set(err, "out_of_range", AT(path, "name"), "a shorter name",
					"\"%s-%u\" has more than 31 bytes", entry->traffic.name,
					i + 1);
		traffic.from = ring[i % n];
		traffic.to = ring[(i % n + 1) % n];
		rc = add_traffic(draft, entry, &traffic, place, path, err);
	}
	return rc;
}

static int read_pattern(struct hs_scenario_draft *draft, const struct entry *entry, size_t place,
		const char *path, struct hs_error *err)
{
	struct pattern pattern = {0};
	uint32_t n = draft->n_named_hosts;

	if (entry->traffic.from != HS_NO_INDEX || entry->traffic.to != HS_NO_INDEX)
		return hs_error_set(err, "conflict", AT(path, "pattern"),
				"either a pattern or from and to", "a pattern chooses the hosts");
	if (hs_schema_read(pattern_fields, entry->pattern, AT(path, "pattern"), &pattern, err) < 0)
		return -EINVAL;
	if (n < 2)
		return hs_error_set(err, "bad_value", AT(path, "pattern"), "at least two hosts",
				"the scenario has %u hosts", n);
	int rc = make_room(draft, pattern.flows, err);
	if (rc < 0)
		return rc;
	uint32_t *ring = hs_scenario_room(n, sizeof(*ring), err);
	if (!ring)
		return -ENOMEM;
	rc = permute(draft, entry, place, &pattern, ring, n, path, err);
	free(ring);
	return rc;
}

static int read_entry(struct hs_scenario_draft *draft, json_t *object, size_t i, const char *at,
		struct hs_error *err)
{
	struct entry entry = {.draft = draft,
			.traffic = {.from = HS_NO_INDEX,
					.to = HS_NO_INDEX,
					.payload_bytes = 500,
					.stop_ns = NO_TIME,
					.burst_ns = INT64_C(2000000000),
					.mean_interval_ns = INT64_C(5000000000)}};

	if (hs_schema_read(traffic_fields, object, at, &entry, err) < 0)
		return -EINVAL;
	entry.has_ports[0] = json_object_get(object, "src_port");
	entry.has_ports[1] = json_object_get(object, "dst_port");
	if (check_keys(object, &entry, at, err) < 0 || set_protocol(&entry, at, err) < 0 ||
			check_port(&entry, 0, at, err) < 0 || check_port(&entry, 1, at, err) < 0 ||
			check_payload(&draft->scenario, &entry.traffic, at, err) < 0 ||
			set_times(draft, &entry.traffic, at, err) < 0)
		return -EINVAL;
	int rc = entry.traffic.file[0] ? check_file(draft, &entry.traffic, at, err) : 0;
	if (rc < 0)
		return rc;
	if (entry.pattern)
		return read_pattern(draft, &entry, i, at, err);
	rc = set_ends(draft, &entry, at, err);
	if (rc == 0)
		rc = make_room(draft, 1, err);
	return rc ? rc : add_traffic(draft, &entry, &entry.traffic, i, at, err);
}

int hs_scenario_read_traffic(struct hs_scenario_draft *draft, struct hs_error *err)
{
	size_t n;
	int rc = hs_scenario_list(draft->traffic, "traffic", MAX_TRAFFIC, &n, err);

	return rc ? rc : hs_scenario_each(draft, draft->traffic, "traffic", read_entry, err);
}
