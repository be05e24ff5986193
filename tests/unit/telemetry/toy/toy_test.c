// SPDX-License-Identifier: BSD-3-Clause
// A second family from host to host: four nodes whose profile is the toy's, their reports, and a
// monitor.
#include "harness.h"
#include "qos.h"
#include "take_reports.h"
#include "toy.h"
#include "toy_flow.h"

#define NODES  4
#define NOW    1700000000000000000
#define SECOND INT64_C(1000000000)

struct chain {
	struct test_node nodes[NODES];
	struct rte_mempool *pool;
	struct hs_clock *clock;
};

static int open_chain(void **state)
{
	static const enum hs_port_side sides[NODES][2] = {
			{HS_SIDE_HOST, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_HOST},
	};
	struct chain *c = calloc(1, sizeof(*c));

	c->pool = rte_pktmbuf_pool_create("toy", 255, 0, 0, 2048, SOCKET_ID_ANY);
	assert_non_null(c->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &c->clock), 0);
	for (unsigned n = 0; n < NODES; n++) {
		struct hs_node_config config = {
				.id = (uint16_t)(n + 41),
				.family = &toy_steps,
				.n_workers = 1,
				.rules = 64,
				.n_pairs = 1,
				.pairs = {{0, 1}},
		};
		test_node_open(&c->nodes[n], &config, sides[n], 2, 1500, c->pool, c->clock);
		install(&c->nodes[n], 0);
	}
	*state = c;
	return 0;
}

static int close_chain(void **state)
{
	struct chain *c = *state;

	for (unsigned n = 0; n < NODES; n++) {
		test_node_audit(&c->nodes[n]);
		test_node_close(&c->nodes[n]);
	}
	assert_int_equal(rte_mempool_avail_count(c->pool), 255);
	rte_mempool_free(c->pool);
	hs_clock_destroy(c->clock);
	free(c);
	return 0;
}

// Through the nodes from `first` to `last`; returns the frame's length behind it.
static size_t pass(struct chain *c, unsigned first, unsigned last, uint8_t *frame, size_t len)
{
	for (unsigned n = first; n <= last; n++) {
		test_node_feed(&c->nodes[n], 0, frame, len, 0);
		test_node_run(&c->nodes[n]);
		len = test_node_take(&c->nodes[n], 1, frame, 2048);
	}
	return len;
}

static void each_node_adds_one_byte_and_the_sink_takes_all_out(void **state)
{
	uint8_t sent[2048], frame[2048];
	size_t len = unhex(PACKET, sent);

	memcpy(frame, sent, len);
	assert_int_equal(pass(*state, 0, 0, frame, len), len + 1);
	assert_memory_equal(frame + 54, "\x29", 1);
	assert_int_equal(pass(*state, 1, 2, frame, len + 1), len + 3);
	assert_memory_equal(frame + 54, "\x2B\x2A\x29", 3);
	assert_int_equal(pass(*state, 3, 3, frame, len + 3), len);
	assert_memory_equal(frame, sent, len);
}

static struct hs_report take_report(struct chain *c)
{
	struct hs_report_record record;
	struct hs_report report;
	struct hs_node *sink = c->nodes[NODES - 1].node;

	assert_int_equal(take_reports(sink, &record, 1), 1);
	assert_int_equal(hs_report_decode(&record, hs_node_format(sink, &record), &report), 0);
	return report;
}

static void the_monitor_computes_from_its_reports(void **state)
{
	const struct hs_qos_config config = {.max_flows = 1};
	const struct hs_qos_key key = {
			.ns_id = 7, .app_id = 1, .generation = 1, .sink_node_id = 44};
	struct chain *c = *state;
	struct hs_qos *qos;
	uint8_t frame[2048];

	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (int64_t i = 0; i < 50; i++) {
		hs_clock_set(c->clock, NOW + i * SECOND / 10);
		pass(c, 0, 3, frame, unhex(PACKET, frame));
		struct hs_report report = take_report(c);
		assert_ptr_equal(report.telemetry.family, &toy_format);
		assert_int_equal(hs_qos_report(qos, &key, &report), 0);
	}
	const struct hs_qos_window *run = hs_qos_latest(qos, 7, 0);
	assert_non_null(run);
	assert_int_equal(run->reports, 50);
	static const uint32_t path[] = {0, 42, 43, 44};
	assert_int_equal(run->n_path, 4);
	assert_memory_equal(run->path, path, sizeof(path));
	assert_int_equal(run->n_hops, 3);
	assert_int_equal(run->hops[1].from, 42);
	assert_int_equal(run->e2e.rx_packets, 49);
	// What the toy does not tell is absent, not 0.
	assert_false(run->e2e.has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_DELAY));
	assert_false(run->hops[1].has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_DELAY | HS_QOS_HAS_BYTES));
	hs_qos_destroy(qos);
}

static void what_a_host_sends_in_its_form_is_stripped(void **state)
{
	struct chain *c = *state;
	uint8_t frame[2048];
	size_t len = unhex(PACKET, frame);
	struct hs_port_counters counters;

	memmove(frame + 57, frame + 54, len - 54);
	memcpy(frame + 54, "\x07\x08\x09", 3);
	frame[17] = 3;
	frame[19] = (uint8_t)(frame[19] + 3);
	assert_int_equal(pass(c, 0, 0, frame, len + 3), len + 1);
	assert_int_equal(frame[54], 41);
	hs_node_port_counters(c->nodes[0].node, 0, &counters);
	assert_int_equal(counters.events[HS_EVENT_HOST_TELEMETRY_STRIPPED], 1);
}

static void telemetry_of_another_family_is_payload_to_it(void **state)
{
	static const char other[] = "02000000000202000000000186dd"
				    "600000000030004020010db8000000000000000000000001"
				    "20010db800000000000000000000000211033108000000077000e000"
				    "1112700017979cfe362a0000000003e80007c060"
				    "1234138900105e94494e544441544121";
	struct chain *c = *state;
	uint8_t sent[2048], frame[2048];
	size_t len = unhex(other, sent);

	memcpy(frame, sent, len);
	assert_int_equal(pass(c, 1, 3, frame, len), len);
	assert_memory_equal(frame, sent, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(
					each_node_adds_one_byte_and_the_sink_takes_all_out,
					open_chain, close_chain),
			cmocka_unit_test_setup_teardown(the_monitor_computes_from_its_reports,
					open_chain, close_chain),
			cmocka_unit_test_setup_teardown(what_a_host_sends_in_its_form_is_stripped,
					open_chain, close_chain),
			cmocka_unit_test_setup_teardown(
					telemetry_of_another_family_is_payload_to_it, open_chain,
					close_chain),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests_name("toy family", tests, NULL, NULL);
}
