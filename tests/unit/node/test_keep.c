// SPDX-License-Identifier: BSD-3-Clause
// Ports that keep packets of a full burst for those that follow, until a round brings nothing more.
#include "fixture.h"

static struct rte_mbuf *kept[HARNESS_QUEUE];
static unsigned n_kept;

static uint16_t keep(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue;
	assert_true(n_kept + n <= HARNESS_QUEUE);
	memcpy(kept + n_kept, mbufs, n * sizeof(mbufs[0]));
	n_kept += n;
	return n;
}

static uint16_t send_kept_first(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	assert_int_equal(test_port_tx(port, queue, kept, (uint16_t)n_kept), n_kept);
	n_kept = 0;
	return n ? test_port_tx(port, queue, mbufs, n) : 0;
}

static struct fixture *open_keeping(unsigned packets)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});

	n_kept = 0;
	f->t.ports[1].port.tx_keep = keep;
	f->t.ports[1].port.tx_burst = send_kept_first;
	for (unsigned i = 0; i < packets; i++)
		feed_hex(f, 0, PLAIN);
	return f;
}

static void a_port_keeps_packets_until_the_last_ones_that_came(void **state)
{
	struct fixture *f = open_keeping(HS_BURST + 8);

	(void)state;
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, HS_BURST);
	assert_int_equal(f->t.ports[1].n_out, 0);
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST + 8);
	fixture_close(f);
}

static void a_burst_that_is_not_full_is_not_kept(void **state)
{
	struct fixture *f = open_keeping(HS_BURST - 1);

	(void)state;
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST - 1);
	fixture_close(f);
}

static void what_is_kept_goes_though_nothing_follows(void **state)
{
	struct fixture *f = open_keeping(HS_BURST);

	(void)state;
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, HS_BURST);
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST);
	fixture_close(f);
}

static void what_is_kept_goes_though_the_port_of_what_follows_is_gone(void **state)
{
	struct fixture *f = open_keeping(HS_BURST + 8);

	(void)state;
	hs_node_worker_poll(f->t.node, 0);
	f->t.ports[0].port.usable = false;
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST);
	fixture_close(f);
}

static void what_is_kept_goes_though_other_queues_never_get_empty(void **state)
{
	struct fixture *f = open_keeping(HS_BURST);

	(void)state;
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, HS_BURST);
	for (unsigned i = 0; i < HS_BURST; i++)
		feed_hex(f, 1, PLAIN);
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST);
	assert_int_equal(f->t.ports[0].n_out, HS_BURST);
	fixture_close(f);
}

// It leaves between bursts, also behind a full one.
static void what_waited_in_an_egress_queue_is_not_kept(void **state)
{
	(void)state;
	test_port_configs[1] = (struct hs_port_config){
			.rate_bps = 1000000000, .queue_packets = 2 * HS_BURST};
	struct fixture *f = open_keeping(HS_BURST);
	test_port_configs[1] = (struct hs_port_config){0};

	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(f->t.ports[1].n_out, 0);
	hs_clock_set(f->clock, NOW + 1000000000);
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(n_kept, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST);
	fixture_close(f);
}

static void a_worker_does_not_sleep_on_what_is_kept(void **state)
{
	struct fixture *f = open_keeping(HS_BURST + 8);

	(void)state;
	hs_node_worker_poll(f->t.node, 0);
	hs_node_pause(f->t.node);
	assert_int_equal(hs_node_worker_poll(f->t.node, 0), 0);
	assert_int_equal(n_kept, HS_BURST);
	assert_in_range(hs_node_worker_due_ns(f->t.node, 0), 0, 100000);
	hs_node_resume(f->t.node);
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(f->t.ports[1].n_out, HS_BURST + 8);
	assert_true(hs_node_worker_due_ns(f->t.node, 0) == INT64_MAX);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_port_keeps_packets_until_the_last_ones_that_came),
			cmocka_unit_test(a_burst_that_is_not_full_is_not_kept),
			cmocka_unit_test(what_is_kept_goes_though_nothing_follows),
			cmocka_unit_test(what_is_kept_goes_though_the_port_of_what_follows_is_gone),
			cmocka_unit_test(what_is_kept_goes_though_other_queues_never_get_empty),
			cmocka_unit_test(what_waited_in_an_egress_queue_is_not_kept),
			cmocka_unit_test(a_worker_does_not_sleep_on_what_is_kept),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
