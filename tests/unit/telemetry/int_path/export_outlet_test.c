// SPDX-License-Identifier: BSD-3-Clause
// Reports to a receiver without a port: control gets the bytes that a port would send behind UDP's
// header, numbers without a gap, and what it does not take in time is lost and counted.
#include "int_report_reader.h"
#include "int_steps.h"
#include "ip_address.h"
#include "toy_flow.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define NOW	INT64_C(1700000000000000000)
#define FRONT	42 // Ethernet, IPv4, UDP
#define PLACES	(HS_EXPORT_RING - 1)
#define BUFFERS 4095
enum {
	IN,
	OUT,
	MON,
	N_PORTS
};

static struct rte_mempool *pool;
static struct hs_clock *hs_test_clock;

static struct hs_export_config to_collector(enum hs_int_report_version format, uint16_t port)
{
	struct hs_export_config config = {.format = format,
			.flows = true,
			.bytes = HS_EXPORT_BYTES,
			.port = port,
			.to.port = 32766};

	assert_null(hs_ip_address_read("192.0.2.9", config.to.address));
	assert_null(hs_ip_address_read("192.0.2.1", config.from));
	return config;
}

static void open_node(struct test_node *node, uint16_t id, const enum hs_port_side *sides,
		const struct hs_int_settings *settings, const struct hs_export_config *exports,
		unsigned n, unsigned n_workers)
{
	struct hs_node_config config = {.id = id,
			.n_workers = n_workers,
			.rules = 64,
			.n_pairs = 1,
			.pairs = {{IN, OUT}},
			.n_exports = n};

	if (n)
		memcpy(config.exports, exports, n * sizeof(*exports));
	for (unsigned p = 0; p < N_PORTS; p++)
		config.profiles[p] = (struct hs_profile){
				.family = &hs_int_steps[settings->version], .settings = settings};
	test_node_open(node, &config, sides, N_PORTS, 1500, pool, hs_test_clock);
}

static const enum hs_port_side SOURCE[] = {HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_HOST};
static const enum hs_port_side TRANSIT[] = {HS_SIDE_NETWORK, HS_SIDE_NETWORK, HS_SIDE_HOST};
static const enum hs_port_side SINK[] = {HS_SIDE_NETWORK, HS_SIDE_HOST, HS_SIDE_HOST};

static void close_node(struct test_node *node)
{
	test_node_audit(node);
	test_node_close(node);
	assert_int_equal(rte_mempool_avail_count(pool), BUFFERS);
}

// A frame that a source sent.
static size_t measured(const struct hs_int_settings *settings, uint8_t *frame)
{
	struct hs_rule rule = vector_rule(7);
	struct test_node source;

	open_node(&source, 1, SOURCE, settings, NULL, 0, 1);
	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id | HS_RULE_ASKS_ingress_timestamp;
	test_node_rule(&source, &rule);
	test_node_feed(&source, IN, frame, unhex(PACKET, frame), 0);
	test_node_run(&source);
	size_t len = test_node_take(&source, OUT, frame, 2048);
	close_node(&source);
	return len;
}

static void feed(
		struct test_node *node, unsigned port, const uint8_t *frame, size_t len, unsigned n)
{
	uint8_t rest[2048];

	for (unsigned k = 0; k < n; k++)
		test_node_feed(node, port, frame, len, 0);
	test_node_run(node);
	while (test_node_take(node, OUT, rest, sizeof(rest)) ||
			test_node_take(node, IN, rest, sizeof(rest)))
		;
}

static struct hs_worker_counters counters_of(const struct test_node *node, unsigned worker)
{
	struct hs_worker_counters counters;

	hs_node_worker_counters(node->node, worker, &counters);
	return counters;
}

// ---- what control would send by ----

struct wire {
	unsigned n;		   // datagrams that it took
	int (*answer)(unsigned n); // of each attempt; NULL: takes all
	unsigned attempts;
	uint32_t next[64]; // number expected of each hw_id
	uint8_t last[2048];
	size_t last_bytes;
};

static int take(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes)
{
	struct wire *wire = context;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	int rc = wire->answer ? wire->answer(wire->attempts++) : 0;

	assert_int_equal(receiver, 0);
	assert_in_range(bytes, 1, sizeof(wire->last));
	assert_int_equal(hs_int_report_open(&reader, datagram, bytes,
					 HS_INT_REPORT_TAKE_0_5 | HS_INT_REPORT_TAKE_1_0 |
							 HS_INT_REPORT_TAKE_2_0),
			0);
	assert_int_equal(hs_int_report_next(&reader, &report), 1);
	assert_int_equal(report.sequence, wire->next[report.hw_id]);
	if (rc < 0)
		return rc;
	wire->next[report.hw_id]++;
	wire->n++;
	memcpy(wire->last, datagram, bytes);
	wire->last_bytes = bytes;
	return 0;
}

// ---- tests ----

// In transit of MX, the fast path makes them from prepared blocks.
static void control_gets_the_bytes_that_a_port_sends(void **state)
{
	static const enum hs_int_mode modes[] = {HS_INT_MD, HS_INT_MX};
	(void)state;

	for (unsigned format = 0; format < 6; format++) {
		enum hs_int_mode mode = modes[format / 3];
		struct hs_export_config configs[2] = {to_collector(format % 3, HS_EXPORT_NO_PORT),
				to_collector(format % 3, MON)};
		struct hs_int_settings settings;
		struct wire wire = {0};
		struct test_node node;
		uint8_t frame[2048], got[2048];

		hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
		settings.mode = mode;
		size_t len = measured(&settings, frame);
		open_node(&node, 4, mode == HS_INT_MD ? SINK : TRANSIT, &settings, configs, 2, 1);
		for (unsigned n = 0; n < 100; n++) {
			feed(&node, IN, frame, len, 1);
			assert_int_equal(hs_node_exports_waiting(node.node), 1);
			assert_int_equal(hs_node_send_exports(node.node, 1, 5, take, &wire), 0);
			assert_int_equal(hs_node_send_exports(node.node, 0, 5, take, &wire), 1);
			size_t bytes = test_node_take(&node, MON, got, sizeof(got));
			assert_int_equal(wire.last_bytes, bytes - FRONT);
			assert_memory_equal(wire.last, got + FRONT, bytes - FRONT);
		}
		assert_int_equal(counters_of(&node, 0).exports_handed, 100);
		assert_int_equal(counters_of(&node, 0).exports_sent, 100);
		close_node(&node);
	}
}

static int every_third_fails(unsigned n)
{
	return n % 7 == 6 ? -EAGAIN : n % 3 == 1 ? -ECONNREFUSED : 0;
}

static void reports_that_are_lost_leave_no_gap(void **state)
{
	(void)state;
	for (unsigned format = 0; format < 3; format++) {
		struct hs_export_config config = to_collector(format, HS_EXPORT_NO_PORT);
		struct wire wire = {.answer = every_third_fails};
		struct hs_int_settings settings;
		struct test_node sink;
		uint8_t frame[2048];
		unsigned gone = 0;

		hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
		size_t len = measured(&settings, frame);
		open_node(&sink, 4, SINK, &settings, &config, 1, 1);
		for (unsigned round = 0; round < 300; round++) {
			feed(&sink, IN, frame, len, 20);
			gone += hs_node_send_exports(sink.node, 0, round % 50, take, &wire);
		}
		struct hs_worker_counters c = counters_of(&sink, 0);
		assert_int_equal(c.exports_handed + c.exports_lost_ring_full, 300 * 20);
		assert_int_equal(c.exports_handed, gone + hs_node_exports_waiting(sink.node));
		assert_int_not_equal(c.exports_lost_ring_full, 0);
		assert_in_range(wire.n, 1, gone - 1);
		close_node(&sink);
	}
}

static int never(unsigned n)
{
	(void)n;
	return -EAGAIN;
}

static void a_full_ring_loses_the_newest_and_keeps_the_rest(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0, HS_EXPORT_NO_PORT);
	struct hs_int_settings settings;
	struct wire wire = {.answer = never};
	struct test_node sink;
	uint8_t frame[2048];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, 4, SINK, &settings, &config, 1, 1);
	for (unsigned k = 0; k < 1100; k += 20)
		feed(&sink, IN, frame, len, 20);
	assert_int_equal(hs_node_send_exports(sink.node, 0, UINT_MAX, take, &wire), 0);
	assert_int_equal(wire.attempts, 1); // a full socket ends the round
	assert_int_equal(counters_of(&sink, 0).exports_handed, PLACES);
	assert_int_equal(counters_of(&sink, 0).exports_lost_ring_full, 1100 - PLACES);
	wire.answer = NULL;
	assert_int_equal(hs_node_send_exports(sink.node, 0, 100, take, &wire), 100);
	assert_int_equal(hs_node_send_exports(sink.node, 0, UINT_MAX, take, &wire), PLACES - 100);
	feed(&sink, IN, frame, len, 20);
	assert_int_equal(hs_node_send_exports(sink.node, 0, UINT_MAX, take, &wire), 20);
	assert_int_equal(wire.next[0], PLACES + 20);
	feed(&sink, IN, frame, len, 20); // what waits at the end is freed
	close_node(&sink);
}

static void each_worker_has_numbers_of_its_own(void **state)
{
	static const enum hs_port_side both[] = {HS_SIDE_NETWORK, HS_SIDE_NETWORK, HS_SIDE_HOST};
	struct hs_export_config config = to_collector(HS_INT_REPORT_1_0, HS_EXPORT_NO_PORT);
	struct hs_int_settings settings;
	struct wire wire = {0};
	struct test_node node;
	uint8_t frame[2048];
	(void)state;

	config.hw_id = 20;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_MX;
	size_t len = measured(&settings, frame);
	open_node(&node, 4, both, &settings, &config, 1, 2);
	for (unsigned k = 0; k < 40; k++) {
		feed(&node, IN, frame, len, 10);
		feed(&node, OUT, frame, len, 7);
		hs_node_send_exports(node.node, 0, 13, take, &wire);
	}
	hs_node_send_exports(node.node, 0, UINT_MAX, take, &wire);
	assert_int_equal(hs_node_exports_waiting(node.node), 0);
	assert_int_equal(wire.next[20], 400);
	assert_int_equal(wire.next[21], 280);
	close_node(&node);
}

static void an_empty_pool_loses_a_report_of_no_port(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0, HS_EXPORT_NO_PORT);
	static struct rte_mbuf *held[BUFFERS];
	struct hs_int_settings settings;
	struct wire wire = {0};
	struct test_node sink;
	uint8_t frame[2048];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, 4, SINK, &settings, &config, 1, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, held, BUFFERS - 1), 0);
	feed(&sink, IN, frame, len, 1);
	rte_pktmbuf_free_bulk(held, BUFFERS - 1);
	assert_int_equal(counters_of(&sink, 0).exports_lost_no_mbuf, 1);
	feed(&sink, IN, frame, len, 1);
	assert_int_equal(hs_node_send_exports(sink.node, 0, 9, take, &wire), 1);
	close_node(&sink);
}

struct traffic {
	struct test_node *node;
	const uint8_t *frame;
	size_t len;
	bool ended;
};

static void *pass(void *context)
{
	struct traffic *traffic = context;

	for (unsigned k = 0; k < 3000; k++)
		feed(traffic->node, IN, traffic->frame, traffic->len, 16);
	__atomic_store_n(&traffic->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void control_takes_reports_while_the_worker_makes_more(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0, HS_EXPORT_NO_PORT);
	struct hs_int_settings settings;
	struct wire wire = {.answer = every_third_fails};
	struct test_node sink;
	uint8_t frame[2048];
	struct traffic traffic = {.node = &sink, .frame = frame};
	pthread_t worker;
	unsigned gone = 0;
	(void)state;

	dpdk_env_unpin();
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	traffic.len = measured(&settings, frame);
	open_node(&sink, 4, SINK, &settings, &config, 1, 1);
	assert_int_equal(pthread_create(&worker, NULL, pass, &traffic), 0);
	bool ended = false;
	while (!ended || hs_node_exports_waiting(sink.node)) {
		ended = __atomic_load_n(&traffic.ended, __ATOMIC_ACQUIRE);
		gone += hs_node_send_exports(sink.node, 0, 50, take, &wire);
	}
	pthread_join(worker, NULL);
	struct hs_worker_counters c = counters_of(&sink, 0);
	assert_int_equal(c.exports_handed, gone);
	assert_int_equal(c.exports_handed + c.exports_lost_ring_full, 3000 * 16);
	assert_int_equal(wire.n, wire.next[0]);
	close_node(&sink);
}

static int begin(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("outlet", BUFFERS, 0, 0, 2048, SOCKET_ID_ANY);
	return !pool || hs_clock_create_manual(NOW, &hs_test_clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(control_gets_the_bytes_that_a_port_sends),
			cmocka_unit_test(reports_that_are_lost_leave_no_gap),
			cmocka_unit_test(a_full_ring_loses_the_newest_and_keeps_the_rest),
			cmocka_unit_test(each_worker_has_numbers_of_its_own),
			cmocka_unit_test(an_empty_pool_loses_a_report_of_no_port),
			cmocka_unit_test(control_takes_reports_while_the_worker_makes_more),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, begin, NULL);
}
