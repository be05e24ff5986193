// SPDX-License-Identifier: BSD-3-Clause
// Runs every folder of tests/golden/node: rules, pending options, packets in, packets out, punts,
// all counters.
#include "ip_address.h"
#include "flexint.h"
#include "harness.h"

#include "flow_pending.h"
#include "rule_json.h"

#include <dirent.h>

#include <arpa/inet.h>
#include <jansson.h>

struct golden {
	json_t *json;
	struct test_node t;
	struct rte_mempool *pool;
	struct hs_clock *clock;
};

static const char *text_of(json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : otherwise;
}

static void read_mac(json_t *object, const char *key, uint8_t mac[6])
{
	const char *text = text_of(object, key, "00:00:00:00:00:00");
	assert_int_equal(sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &mac[0], &mac[1],
					 &mac[2], &mac[3], &mac[4], &mac[5]),
			6);
}

static void install_routes(struct golden *g)
{
	size_t i;
	json_t *object;

	json_array_foreach (json_object_get(g->json, "routes"), i, object) {
		struct hs_fib_change change = {0};
		char prefix[64];
		assert_int_equal(sscanf(text_of(object, "prefix", ""), "%63[^/]/%hhu", prefix,
						 &change.route.depth),
				2);
		assert_null(hs_ip_address_read(prefix, change.route.prefix));
		if (hs_ip_address_is_ipv4(change.route.prefix))
			change.route.depth += HS_IP_ADDRESS_IPV4_BITS;
		change.route.port = (uint16_t)json_integer_value(json_object_get(object, "port"));
		read_mac(object, "next_hop_mac", change.route.next_hop_mac);
		assert_int_equal(hs_fib_change(hs_node_fib(g->t.node), &change, 1, NULL), 0);
	}
}

static void read_field(json_t *partial, const char *key, struct hs_partial_field *field)
{
	json_t *object = json_object_get(partial, key), *change;

	field->unsupported = json_is_false(json_object_get(object, "supported"));
	change = json_object_get(object, "min_change");
	if (!change)
		return;
	field->policy = HS_PARTIAL_THRESHOLD;
	field->min_change = (uint64_t)json_integer_value(change);
	field->max_age_ns = INT64_MAX;
}

static void open_node(struct golden *g)
{
	json_t *node = json_object_get(g->json, "node");
	json_t *ports = json_object_get(g->json, "ports");
	enum hs_port_side sides[HARNESS_PORTS];
	struct hs_node_config config = {
			.id = (uint16_t)json_integer_value(json_object_get(node, "id")),
			.n_workers = 1,
			.rules = 64,
			.n_pairs = 1,
			.pairs = {{0, 1}},
	};

	if (!strcmp(text_of(node, "layout", ""), "paper"))
		config.layout = HS_LAYOUT_PAPER;
	if (!strcmp(text_of(node, "forwarding", ""), "route"))
		config.forwarding = HS_FORWARD_ROUTE;
	if (!strcmp(text_of(node, "host_side_policy", ""), "drop"))
		config.host_side_policy = HS_HOST_DROP;
	config.mss_clamp = json_is_true(json_object_get(node, "mss_clamp"));
	config.max_hops = (uint8_t)json_integer_value(json_object_get(node, "max_hops"));
	json_t *partial = json_object_get(node, "partial");
	read_field(partial, "packets", &config.partial.packets);
	read_field(partial, "timestamp", &config.partial.timestamp);
	read_field(partial, "bytes", &config.partial.bytes);
	for (size_t p = 0; p < json_array_size(ports); p++) {
		const char *side = text_of(json_array_get(ports, p), "side", "");
		sides[p] = strcmp(side, "host") ? HS_SIDE_NETWORK : HS_SIDE_HOST;
	}
	uint16_t mtu = (uint16_t)json_integer_value(
			json_object_get(json_array_get(ports, 0), "mtu"));
	test_node_open(&g->t, &config, sides, (unsigned)json_array_size(ports), mtu, g->pool,
			g->clock);
	for (size_t p = 0; p < json_array_size(ports); p++)
		read_mac(json_array_get(ports, p), "mac", g->t.ports[p].port.mac);
	install_routes(g);
}

static void install_rules(struct golden *g)
{
	size_t i;
	json_t *object;

	json_array_foreach (json_object_get(g->json, "rules"), i, object) {
		struct hs_rule rule;
		struct hs_error err = {0};
		assert_int_equal(hs_rule_from_json(object, &rule, &err), 0);
		test_node_rule(&g->t, &rule);
	}
}

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	for (; hex[0] && hex[1]; hex += 2) {
		char pair[3] = {hex[0], hex[1], 0};
		bytes[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

static uint32_t reverse_of(struct golden *g, json_t *object)
{
	struct hs_rule rule;
	uint32_t slot;

	hs_rule_init(&rule);
	assert_int_equal(inet_pton(AF_INET6, text_of(object, "src_ip", ""), rule.src_ip), 1);
	assert_int_equal(inet_pton(AF_INET6, text_of(object, "dst_ip", ""), rule.dst_ip), 1);
	rule.src_port = (uint16_t)json_integer_value(json_object_get(object, "src_port"));
	rule.dst_port = (uint16_t)json_integer_value(json_object_get(object, "dst_port"));
	rule.protocol = IPPROTO_UDP;
	assert_int_equal(hs_flow_table_add_reverse(hs_node_flows(g->t.node), &rule, &slot), 0);
	return slot;
}

static void make_pending(struct golden *g)
{
	struct hs_flow_table *flows = hs_node_flows(g->t.node);
	size_t i;
	json_t *object;

	json_array_foreach (json_object_get(g->json, "offers"), i, object) {
		json_t *ns_id = json_object_get(object, "ns_id");
		uint32_t slot = ns_id ? hs_flow_table_find(
							flows, (uint32_t)json_integer_value(ns_id))
				      : reverse_of(g, json_object_get(object, "carrier_of"));
		struct hs_flow_pending *pending = hs_flow_table_pending(flows, slot);
		assert_non_null(pending);
		pending->n_bytes =
				(uint16_t)bytes_of(text_of(object, "options", ""), pending->bytes);
		pending->holds_telemetry = json_is_true(json_object_get(object, "holds_telemetry"));
		pending->state = HS_PENDING_READY;
		hs_flow_table_pending_set(flows, slot, true);
	}
}

static uint64_t number(json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void compare_punts(struct golden *g)
{
	json_t *expect = json_object_get(g->json, "expect"), *want;
	struct hs_punt punts[64];
	uint8_t data[256];
	size_t i;
	unsigned n = hs_node_take_punts(g->t.node, punts, 64);

	assert_int_equal(n, json_array_size(json_object_get(expect, "signals")));
	json_array_foreach (json_object_get(expect, "signals"), i, want) {
		assert_int_equal(punts[i].port, number(want, "port"));
		assert_int_equal(punts[i].type, number(want, "type"));
		assert_int_equal(punts[i].taken, number(want, "taken"));
		assert_int_equal(punts[i].part, number(want, "part"));
		assert_int_equal(punts[i].parts, number(want, "parts"));
		assert_int_equal(punts[i].len, bytes_of(text_of(want, "data", ""), data));
		assert_memory_equal(punts[i].data, data, punts[i].len);
	}
}

static void take_steps(struct golden *g)
{
	size_t i, k;
	json_t *step, *frame;

	json_array_foreach (json_object_get(g->json, "steps"), i, step) {
		uint8_t bytes[9600];
		unsigned port = (unsigned)json_integer_value(json_object_get(step, "port"));
		hs_clock_set(g->clock, json_integer_value(json_object_get(step, "now_ns")));
		json_array_foreach (json_object_get(step, "frames"), k, frame) {
			size_t len = bytes_of(json_string_value(frame), bytes);
			test_node_feed(&g->t, port, bytes, len, 0);
		}
		test_node_run(&g->t);
	}
}

static void compare_frames(struct golden *g)
{
	json_t *out = json_object_get(json_object_get(g->json, "expect"), "out");
	uint8_t want[9600], got[9600];
	json_t *frame;
	size_t i;

	for (unsigned p = 0; p < g->t.n_ports; p++) {
		json_array_foreach (json_array_get(out, p), i, frame) {
			size_t len = bytes_of(json_string_value(frame), want);
			assert_int_equal(test_node_take(&g->t, p, got, sizeof(got)), len);
			assert_memory_equal(got, want, len);
		}
		assert_int_equal(test_node_take(&g->t, p, got, sizeof(got)), 0);
	}
}

// A counter that the case does not name must be 0.
static void compare(json_t *want, const char *prefix, const char *name, uint64_t got)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	uint64_t expected = (uint64_t)json_integer_value(json_object_get(want, key));
	if (got != expected)
		print_error("%s: got %lu, want %lu\n", key, got, expected);
	assert_int_equal(got, expected);
}

static void compare_port(json_t *want, const struct hs_port_counters *got)
{
	compare(want, "", "rx_packets", got->rx_packets);
	compare(want, "", "rx_bytes", got->rx_bytes);
	compare(want, "", "copies", got->copies);
	compare(want, "", "forwarded", got->forwarded);
	compare(want, "", "offered", got->offered);
	compare(want, "", "tx_packets", got->tx_packets);
	compare(want, "", "tx_bytes", got->tx_bytes);
	for (int d = 0; d < HS_DROP_COUNT; d++)
		compare(want, "drops.", hs_drop_name(d), got->drops[d]);
	for (int e = 0; e < HS_EVENT_COUNT; e++)
		compare(want, "events.", hs_event_count_name(e), got->events[e]);
}

static void compare_rule(struct golden *g, uint32_t ns_id, json_t *want)
{
	struct hs_flow_counters c;

	test_node_counters(&g->t, ns_id, &c);
	compare(want, "", "rx_packets", c.rx_packets);
	compare(want, "", "rx_bytes", c.rx_bytes);
	compare(want, "", "tx_packets", c.tx_packets);
	compare(want, "", "tx_bytes", c.tx_bytes);
	compare(want, "", "int_packets", c.int_packets);
	compare(want, "", "hop_entries", c.hop_entries);
	compare(want, "", "sink_packets", c.sink_packets);
	compare(want, "", "reports_made", c.reports_made);
	compare(want, "", "reports_lost", c.reports_lost);
	compare(want, "", "no_room_mtu", c.no_room_mtu);
	compare(want, "", "no_room_headroom", c.no_room_headroom);
	compare(want, "", "no_room_option", c.no_room_option);
	compare(want, "", "mtu_needed", c.mtu_needed);
}

static void compare_counters(struct golden *g)
{
	json_t *expect = json_object_get(g->json, "expect");
	const char *ns_id;
	json_t *want;

	for (unsigned p = 0; p < g->t.n_ports; p++) {
		struct hs_port_counters c;
		hs_node_port_counters(g->t.node, (uint16_t)p, &c);
		compare_port(json_array_get(json_object_get(expect, "ports"), p), &c);
	}
	json_object_foreach (json_object_get(expect, "rules"), ns_id, want)
		compare_rule(g, (uint32_t)strtoul(ns_id, NULL, 10), want);
}

static void run_case(void **state)
{
	struct golden g = {0};
	json_error_t error;

	g.json = json_load_file(*state, 0, &error);
	assert_non_null(g.json);
	g.pool = rte_pktmbuf_pool_create("golden", 255, 0, 0, 9600, SOCKET_ID_ANY);
	assert_non_null(g.pool);
	assert_int_equal(hs_clock_create_manual(0, &g.clock), 0);
	open_node(&g);
	install_rules(&g);
	make_pending(&g);
	take_steps(&g);
	compare_frames(&g);
	compare_punts(&g);
	compare_counters(&g);
	test_node_audit(&g.t);
	test_node_close(&g.t);
	hs_clock_destroy(g.clock);
	rte_mempool_free(g.pool);
	json_decref(g.json);
}

static int is_case(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !strchr(entry->d_name, '.') &&
	       strcmp(entry->d_name, "__pycache__");
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[256] = {0};
	struct dirent **folders;
	size_t n = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	int found = scandir(argv[1], &folders, is_case, alphasort);
	for (int i = 0; i < found && n < 256; i++) {
		char *path;
		if (asprintf(&path, "%s/%s/case.json", argv[1], folders[i]->d_name) < 0)
			return 1;
		tests[n++] = (struct CMUnitTest){.name = folders[i]->d_name,
				.test_func = run_case,
				.initial_state = path};
	}
	if (!n) {
		fprintf(stderr, "no cases in %s\n", argv[1]);
		return 1;
	}
	dpdk_env_init("256");
	int failed = _cmocka_run_group_tests("golden cases of a node", tests, n, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free(tests[i].initial_state);
	for (int i = 0; i < found; i++)
		free(folders[i]);
	free(folders);
	return failed;
}
