// SPDX-License-Identifier: BSD-3-Clause
// A border: one node with ports of flexint and ports of the toy. Each port sees only its own
// telemetry; what the other family writes is payload to it.
#include "flexint.h"
#include "flexint_steps.h"
#include "harness.h"
#include "take_reports.h"
#include "toy.h"
#include "toy_flow.h"

#define NOW 1700000000000000000
#define AT  54 // behind IPv6

// Ports of the border.
enum {
	HOST,
	FLEXINT,
	TOY,
	PAPER,
	PORTS
};

struct border {
	struct test_node node;	  // under test
	struct test_node flexint; // 0 host, 1 network: a source and a sink of flexint
	struct test_node toy;
	struct rte_mempool *pool;
	struct hs_clock *clock;
};

static void open_edge(struct border *b, struct test_node *node, const struct hs_family *family,
		uint32_t trace_type)
{
	static const enum hs_port_side sides[] = {HS_SIDE_HOST, HS_SIDE_NETWORK};
	const struct hs_node_config config = {.id = 41,
			.family = family,
			.n_workers = 1,
			.rules = 64,
			.n_pairs = 1,
			.pairs = {{0, 1}}};

	test_node_open(node, &config, sides, 2, 1500, b->pool, b->clock);
	install(node, trace_type);
}

static struct border *open_with(struct hs_node_config config, uint32_t trace_type)
{
	static const enum hs_port_side sides[PORTS] = {
			HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_NETWORK, HS_SIDE_NETWORK};
	struct border *b = calloc(1, sizeof(*b));

	b->pool = rte_pktmbuf_pool_create("border", 255, 0, 0, 2048, SOCKET_ID_ANY);
	assert_non_null(b->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &b->clock), 0);
	config.id = 42;
	config.n_workers = 1;
	config.rules = 64;
	config.profiles[FLEXINT] = (struct hs_profile){
			.family = &hs_flexint_steps, .layout = HS_LAYOUT_ALIGNED};
	config.profiles[TOY] = (struct hs_profile){.family = &toy_steps};
	config.profiles[PAPER] =
			(struct hs_profile){.family = &hs_flexint_steps, .layout = HS_LAYOUT_PAPER};
	test_node_open(&b->node, &config, sides, PORTS, 1500, b->pool, b->clock);
	install(&b->node, trace_type);
	open_edge(b, &b->flexint, &hs_flexint_steps, trace_type);
	open_edge(b, &b->toy, &toy_steps, trace_type);
	return b;
}

static struct border *open_border(struct hs_node_config config)
{
	return open_with(config, 0x7000E000);
}

static struct border *open_pair(uint16_t a, uint16_t z)
{
	return open_border((struct hs_node_config){.n_pairs = 1, .pairs = {{a, z}}});
}

static void close_border(struct border *b)
{
	test_node_audit(&b->node);
	test_node_close(&b->node);
	test_node_close(&b->flexint);
	test_node_close(&b->toy);
	assert_int_equal(rte_mempool_avail_count(b->pool), 255);
	rte_mempool_free(b->pool);
	hs_clock_destroy(b->clock);
	free(b);
}

static size_t through(struct test_node *node, unsigned in, unsigned out, uint8_t *frame, size_t len)
{
	test_node_feed(node, in, frame, len, 0);
	test_node_run(node);
	return test_node_take(node, out, frame, 2048);
}

// What a source of the family makes of PACKET.
static size_t sourced(struct test_node *source, uint8_t *frame)
{
	return through(source, 0, 1, frame, unhex(PACKET, frame));
}

static void take_report(struct test_node *node, const struct hs_telemetry_family *format,
		struct hs_report *report)
{
	struct hs_report_record record;

	assert_int_equal(take_reports(node->node, &record, 1), 1);
	assert_ptr_equal(hs_node_format(node->node, &record), format);
	assert_int_equal(hs_report_decode(&record, format, report), 0);
}

static bool has_flexint(const uint8_t *frame, size_t len)
{
	struct hs_packet packet;

	hs_flexint_parse(frame, len, len, &packet);
	return packet.flags & HS_PACKET_ANY_TELEMETRY;
}

// ---- from network to network ----

static struct test_node *edge_of(struct border *b, uint16_t port)
{
	return port == HOST ? NULL : port == TOY ? &b->toy : &b->flexint;
}

static const struct hs_telemetry_family *format_of(uint16_t port)
{
	return port == TOY ? &toy_format : &hs_flexint_family;
}

static void telemetry_ends_where_another_network_or_a_host_begins(void **state)
{
	static const uint16_t paths[][2] = {
			{FLEXINT, TOY}, {TOY, FLEXINT}, {FLEXINT, HOST}, {TOY, HOST}};

	(void)state;
	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		uint16_t in = paths[i][0], out = paths[i][1];
		struct border *b = open_pair(in, out);
		struct test_node *before = edge_of(b, in), *after = edge_of(b, out);
		uint8_t plain[2048], frame[2048], expected[2048];
		size_t bytes = unhex(PACKET, plain), len = sourced(before, frame);
		// A source of the other network would have written the same.
		size_t grown = after ? sourced(after, expected) : unhex(PACKET, expected);
		struct hs_flow_counters counters;
		struct hs_report report;

		if (out == TOY)
			expected[AT] = 42; // with its own id
		assert_int_equal(through(&b->node, in, out, frame, len), grown);
		assert_memory_equal(frame, expected, grown);
		take_report(&b->node, format_of(in), &report);
		assert_int_equal(report.telemetry.ns_id, in == TOY ? 0 : 7);
		assert_int_equal(report.telemetry.n_hops, 0);
		assert_int_equal(report.sink_rx_packets, 1);
		assert_int_equal(test_node_event(&b->node, in, HS_EVENT_STRIPPED), 1);
		test_node_counters(&b->node, 7, &counters);
		assert_int_equal(counters.rx_packets, 1);
		assert_int_equal(counters.tx_packets, 1);
		assert_int_equal(counters.rx_bytes, bytes);
		assert_int_equal(counters.tx_bytes, bytes);
		assert_int_equal(counters.int_packets, out != HOST);
		assert_int_equal(counters.reports_made, 1);
		if (after) {
			assert_int_equal(through(after, 1, 0, frame, grown), bytes);
			assert_memory_equal(frame, plain, bytes);
			take_report(after, format_of(out), &report);
		}
		close_border(b);
	}
}

static void transit_between_ports_of_one_family_goes_on(void **state)
{
	struct border *b = open_pair(FLEXINT, PAPER);
	uint8_t plain[2048], frame[2048];
	size_t bytes = unhex(PACKET, plain), len = sourced(&b->flexint, frame);
	struct hs_report report;

	(void)state;
	assert_int_equal(frame[AT + 2], 1); // PadN: the layout it came in
	len = through(&b->node, FLEXINT, PAPER, frame, len);
	assert_int_equal(frame[AT + 2], 1);
	assert_int_equal(test_node_event(&b->node, FLEXINT, HS_EVENT_STRIPPED), 0);
	assert_int_equal(through(&b->flexint, 1, 0, frame, len), bytes);
	take_report(&b->flexint, &hs_flexint_family, &report);
	assert_int_equal(report.telemetry.n_hops, 1);
	assert_int_equal(report.telemetry.hops[0].node_id, 42);
	close_border(b);
}

static void a_source_writes_the_layout_of_the_port_that_it_sends_by(void **state)
{
	static const struct {
		uint16_t port;
		uint8_t first_option;
	} cases[] = {{FLEXINT, 1}, {PAPER, HS_OPT_TRACE}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct border *b = open_pair(HOST, cases[i].port);
		uint8_t frame[2048];
		size_t len = through(&b->node, HOST, cases[i].port, frame, unhex(PACKET, frame));
		assert_true(has_flexint(frame, len));
		assert_int_equal(frame[AT + 2], cases[i].first_option);
		close_border(b);
	}
}

// ---- what only looks like telemetry of the other side ----

// Flexint in a packet from the toy's network was written by nobody whom flexint's network believes.
static void what_the_other_network_would_believe_is_guarded(void **state)
{
	static const enum hs_host_side_policy policies[] = {HS_HOST_STRIP, HS_HOST_DROP};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct border *b = open_border((struct hs_node_config){.n_pairs = 1,
				.pairs = {{TOY, FLEXINT}},
				.host_side_policy = policies[i]});
		uint8_t frame[2048], expected[2048];
		size_t grown = sourced(&b->flexint, expected);
		size_t forged = sourced(&b->flexint, frame); // its source's second
		size_t len = through(&b->node, TOY, FLEXINT, frame, forged);
		if (policies[i] == HS_HOST_DROP) {
			assert_int_equal(len, 0);
			assert_int_equal(test_node_drops(&b->node, TOY, HS_DROP_HOST_TELEMETRY), 1);
		} else {
			struct hs_report report;
			assert_int_equal(len, grown);
			assert_int_equal(test_node_event(&b->node, TOY,
							 HS_EVENT_HOST_TELEMETRY_STRIPPED),
					1);
			// The border is the source now: its counters, not the forged ones.
			through(&b->flexint, 1, 0, frame, len);
			take_report(&b->flexint, &hs_flexint_family, &report);
			assert_int_equal(report.telemetry.e2e.tx_packets, 1);
		}
		struct hs_flow_counters counters;
		test_node_counters(&b->node, 7, &counters);
		assert_int_equal(counters.rx_packets, 1);
		assert_int_equal(counters.tx_packets, policies[i] == HS_HOST_STRIP);
		close_border(b);
	}
}

static void broken_telemetry_does_not_cross(void **state)
{
	struct border *b = open_pair(TOY, FLEXINT);
	uint8_t frame[2048];
	size_t len = sourced(&b->toy, frame);

	(void)state;
	frame[14 + 3] = 200; // more ids than the packet has bytes
	assert_int_equal(through(&b->node, TOY, FLEXINT, frame, len), 0);
	assert_int_equal(test_node_drops(&b->node, TOY, HS_DROP_UNSTRIPPABLE), 1);
	close_border(b);
}

static void a_host_is_guarded_by_the_port_that_its_packet_leaves_by(void **state)
{
	uint8_t frame[2048];
	size_t len;

	(void)state;
	struct border *b = open_pair(HOST, FLEXINT);
	len = sourced(&b->flexint, frame); // forged by the host
	len = through(&b->node, HOST, FLEXINT, frame, len);
	assert_int_equal(test_node_event(&b->node, HOST, HS_EVENT_HOST_TELEMETRY_STRIPPED), 1);
	assert_true(has_flexint(frame, len)); // the node's own
	assert_int_equal(frame[AT + 2], 1);
	close_border(b);

	b = open_pair(HOST, TOY);
	uint8_t options[2048];
	len = sourced(&b->flexint, options);
	memcpy(frame, options, len);
	// To the toy the options are payload: they go on, and its byte in front of them.
	assert_int_equal(through(&b->node, HOST, TOY, frame, len), len + 1);
	assert_int_equal(test_node_event(&b->node, HOST, HS_EVENT_HOST_TELEMETRY_STRIPPED), 0);
	assert_memory_equal(frame + AT + 1, options + AT, len - AT);
	close_border(b);
}

// ---- several packets, several ports ----

// Runs of one burst that leave by different ports: each by its own port's profile.
static void a_burst_to_several_ports_is_divided(void **state)
{
	struct border *b = open_border((struct hs_node_config){.forwarding = HS_FORWARD_BRIDGE});
	uint8_t frame[2048], plain[2048];
	size_t bytes = unhex(PACKET, plain);
	static const uint16_t ports[] = {FLEXINT, TOY, FLEXINT, TOY, PAPER, TOY};

	(void)state;
	for (uint16_t port = FLEXINT; port < PORTS; port++) { // each tells where its station is
		memcpy(frame, plain, bytes);
		frame[11] = (uint8_t)(port + 0x10);
		frame[5] = (uint8_t)(port + 0x10); // to itself: dropped once learnt
		test_node_feed(&b->node, port, frame, bytes, 0);
		test_node_run(&b->node);
	}
	for (unsigned port = 0; port < PORTS; port++) {
		while (test_node_take(&b->node, port, frame, sizeof(frame)))
			;
	}
	for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		memcpy(frame, plain, bytes);
		frame[5] = (uint8_t)(ports[i] + 0x10);
		test_node_feed(&b->node, HOST, frame, bytes, 0);
	}
	test_node_run(&b->node);
	for (unsigned i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		size_t len = test_node_take(&b->node, ports[i], frame, sizeof(frame));
		assert_true(len > bytes);
		assert_int_equal(has_flexint(frame, len), ports[i] != TOY);
		if (ports[i] == TOY)
			assert_int_equal(len, bytes + 1);
	}
	close_border(b);
}

// In a ring of reports whose places each family uses in turn.
static void reports_say_which_family_they_are_of(void **state)
{
	static const uint32_t trace_types[] = {0x7000E000, 0xF000E000}; // of fast and general paths

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		struct border *b =
				open_with((struct hs_node_config){.forwarding = HS_FORWARD_BRIDGE,
							  .report_ring = 2},
						trace_types[k]);
		uint8_t frame[2048];
		size_t bytes = unhex(PACKET, frame);
		frame[11] = 2; // the host is where PACKET goes
		test_node_feed(&b->node, HOST, frame, bytes, 0);
		test_node_run(&b->node);
		for (unsigned port = FLEXINT; port < PORTS; port++)
			test_node_take(&b->node, port, frame, sizeof(frame));
		for (unsigned i = 0; i < 6; i++) {
			struct hs_report report;
			uint16_t in = (i + 1) / 2 % 2 ? TOY : FLEXINT; // the ring has two places
			size_t len = sourced(edge_of(b, in), frame);
			assert_int_equal(through(&b->node, in, HOST, frame, len), bytes);
			take_report(&b->node, format_of(in), &report);
		}
		close_border(b);
	}
}

static void copies_of_a_flooded_packet_are_guarded_each_by_its_port(void **state)
{
	struct border *b = open_border((struct hs_node_config){.forwarding = HS_FORWARD_BRIDGE});
	uint8_t frame[2048], forged[2048];
	size_t len = sourced(&b->flexint, forged), bytes = unhex(PACKET, frame);

	(void)state;
	memcpy(frame, forged, len);
	test_node_feed(&b->node, HOST, frame, len, 0);
	test_node_run(&b->node);
	assert_int_equal(test_node_take(&b->node, FLEXINT, frame, sizeof(frame)), bytes);
	assert_int_equal(test_node_take(&b->node, PAPER, frame, sizeof(frame)), bytes);
	assert_int_equal(test_node_take(&b->node, TOY, frame, sizeof(frame)), len);
	assert_memory_equal(frame, forged, len);
	assert_int_equal(test_node_event(&b->node, HOST, HS_EVENT_HOST_TELEMETRY_STRIPPED), 2);
	close_border(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(telemetry_ends_where_another_network_or_a_host_begins),
			cmocka_unit_test(transit_between_ports_of_one_family_goes_on),
			cmocka_unit_test(a_source_writes_the_layout_of_the_port_that_it_sends_by),
			cmocka_unit_test(what_the_other_network_would_believe_is_guarded),
			cmocka_unit_test(broken_telemetry_does_not_cross),
			cmocka_unit_test(a_host_is_guarded_by_the_port_that_its_packet_leaves_by),
			cmocka_unit_test(a_burst_to_several_ports_is_divided),
			cmocka_unit_test(reports_say_which_family_they_are_of),
			cmocka_unit_test(copies_of_a_flooded_packet_are_guarded_each_by_its_port),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests_name("border", tests, NULL, NULL);
}
