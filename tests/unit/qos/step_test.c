// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic between two reports: wraps, losses beyond a counter's range, restarts.
#include "qos_test.h"
#include "qos_step.h"

#include "rng.h"

#define SLACK 4096

static const struct hs_qos_limits LIMITS = {.slack_packets = SLACK, .packets_wrap = 65536};

static const uint16_t PATH[] = {1, 2, 3};

static struct hs_qos_chain whole_chain(unsigned n)
{
	struct hs_qos_chain chain = {.n = n};
	for (unsigned i = 0; i < n; i++)
		chain.at_a[i] = chain.at_b[i] = (uint8_t)(n - 1 - i);
	for (unsigned i = 0; i <= n; i++)
		chain.joined[i] = true;
	return chain;
}

struct losses {
	uint64_t link[4], node[3];
};

// `sent` packets of `bytes` each after report a, with these losses on the way.
static struct hs_report after(const struct hs_report *a, uint64_t sent, uint32_t bytes,
		const struct losses *losses)
{
	struct hs_report b = *a;
	struct hs_decoded *telemetry = &b.telemetry;
	uint64_t left = sent;
	telemetry->e2e.tx_packets += (uint32_t)left;
	telemetry->e2e.tx_bytes += (uint32_t)(left * bytes);
	telemetry->e2e.ts_ns += SECOND;
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		struct hs_hop *hop = hop_of(&b, i);
		left -= losses->link[i];
		hop->rx_packets = (uint16_t)(hop->rx_packets + left);
		hop->rx_bytes += (uint32_t)(left * bytes);
		left -= losses->node[i];
		hop->tx_packets = (uint16_t)(hop->tx_packets + left);
		hop->tx_bytes += (uint32_t)(left * bytes);
		hop->ts_ns += SECOND;
	}
	left -= losses->link[telemetry->n_hops];
	b.sink_rx_packets += left;
	b.sink_rx_bytes += left * bytes;
	b.sink_ts_ns += SECOND;
	return b;
}

static void without_bytes(struct hs_report *report)
{
	for (unsigned i = 0; i < report->telemetry.n_hops; i++)
		report->telemetry.hops[i].bitmap &= (uint16_t)~HS_HOP_BYTES;
}

static void check_losses(const struct hs_qos_step *step, const struct losses *losses, unsigned n)
{
	assert_int_equal(step->flags, 0);
	for (unsigned i = 0; i <= n; i++)
		assert_int_equal(step->links[i].lost, losses->link[i]);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(step->links[i].node_lost, losses->node[i]);
}

static void losses_are_exact_to_131072_packets_by_the_chain_alone(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	struct hs_rng rng;
	hs_rng_init(&rng, 5);
	for (unsigned round = 0; round < 2000; round++) {
		struct losses losses = {
				.link = {hs_rng_u32(&rng) % 30000, hs_rng_u32(&rng) % 30000, 0, 50},
				.node = {hs_rng_u32(&rng) % 10000, 0, hs_rng_u32(&rng) % 10000},
		};
		struct hs_report a = plain_report(hs_rng_u64(&rng) >> 30, 100, 3, PATH);
		struct hs_report b = after(&a, 131072, 562, &losses);
		without_bytes(&a);
		without_bytes(&b);
		hs_qos_step(&a, &b, &chain, &LIMITS, &step);
		check_losses(&step, &losses, 3);
		assert_int_equal(step.links[3].tx, step.links[3].rx + 50);
		assert_int_equal(step.links[0].tx, 131072);
	}
}

static void losses_of_millions_are_exact_by_the_bytes(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	struct hs_rng rng;
	hs_rng_init(&rng, 6);
	for (unsigned round = 0; round < 2000; round++) {
		struct losses losses = {
				.link = {hs_rng_u32(&rng) % 2000000, 65536, 3 * 65536,
						hs_rng_u32(&rng) % 2000000},
				.node = {hs_rng_u32(&rng) % 200000, 2 * 65536, 0},
		};
		struct hs_report a = plain_report(hs_rng_u64(&rng) >> 30, 100, 3, PATH);
		struct hs_report b = after(&a, 9000000, 562, &losses);
		hs_qos_step(&a, &b, &chain, &LIMITS, &step);
		check_losses(&step, &losses, 3);
	}
}

static void received_bytes_beyond_32_bits_follow_from_the_packets(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses none = {0};
	struct hs_report a = plain_report(1, MS, 3, PATH);
	struct hs_report b = after(&a, 9000000, 1514, &none);
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	for (unsigned i = 0; i <= 3; i++)
		assert_int_equal(step.links[i].rx_bytes, 9000000ll * 1514);
}

static void received_bytes_of_a_node_without_packets_are_near_those_of_the_sink(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses some = {.link = {0, 0, 700000, 0}};
	struct hs_report a = plain_report(1, MS, 3, PATH);
	hop_of(&a, 1)->bitmap = HS_HOP_BYTES;
	struct hs_report b = after(&a, 9000000, 1514, &some);
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	assert_int_equal(step.links[1].rx_bytes, 9000000ll * 1514);
}

// Without the source's count, the node in front of the hop has to count, but for the first hop.
static void packets_of_a_hop_need_counts_at_both_ends(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses none = {0};
	struct hs_report a = plain_report(1, MS, 3, PATH);
	a.telemetry.e2e.bitmap = HS_E2E_TIMESTAMP;
	struct hs_report b = after(&a, 1000, 562, &none);
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	for (unsigned i = 0; i <= 3; i++)
		assert_true(step.links[i].has & HS_QOS_HAS_RX_PACKETS);
	hop_of(&a, 0)->bitmap = HS_HOP_TIMESTAMP;
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	assert_false(step.links[0].has & HS_QOS_HAS_RX_PACKETS);
	assert_false(step.links[1].has & HS_QOS_HAS_RX_PACKETS);
	assert_int_equal(step.links[2].rx, 1000);
}

static void one_loss_that_no_bytes_resolve_follows_from_the_sum(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(0);
	struct hs_qos_step step;
	const struct losses losses = {.link = {5 * 65536 + 17}};
	struct hs_report a = plain_report(1, MS, 0, PATH);
	a.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS;
	struct hs_report b = after(&a, 1000000, 562, &losses);
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	check_losses(&step, &losses, 0);
}

static void what_neither_sum_nor_bytes_resolve_is_flagged_not_guessed(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses losses = {.link = {70000, 0, 5, 0}};
	struct hs_report a = plain_report(1, MS, 3, PATH);
	struct hs_report b = after(&a, 300000, 562, &losses);
	without_bytes(&a);
	without_bytes(&b);
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	assert_int_equal(step.flags, HS_QOS_STEP_AMBIGUOUS);
	assert_int_equal(step.e2e.lost, 70005);
	assert_int_equal(step.links[2].lost, 5);
}

static void a_restarted_node_is_found_wherever_its_counts_stood(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	struct hs_rng rng;
	const struct losses none = {0};
	hs_rng_init(&rng, 7);
	for (unsigned round = 0; round < 2000; round++) {
		unsigned node = hs_rng_u32(&rng) % 3;
		uint32_t before = 10000 + hs_rng_u32(&rng) % 50000;
		struct hs_report a = plain_report(before, MS, 3, PATH);
		struct hs_report b = after(&a, 500, 562, &none);
		struct hs_hop *hop = hop_of(&b, node);
		hop->rx_packets = hop->tx_packets = 200;
		hop->rx_bytes = hop->tx_bytes = 200 * 562;
		if (round % 2) {
			without_bytes(&a);
			without_bytes(&b);
		}
		hs_qos_step(&a, &b, &chain, &LIMITS, &step);
		assert_int_equal(step.flags, HS_QOS_STEP_TRANSIT_RESET);
		assert_int_equal(step.e2e.lost, 0);
		assert_int_equal(step.links[node].has, 0);
	}
}

static void a_reordered_packet_may_make_a_loss_negative(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses none = {0};
	struct hs_report a = plain_report(65530, MS, 3, PATH);
	struct hs_report b = after(&a, 100, 562, &none);
	b.sink_rx_packets += 40; // they had been behind report a
	b.sink_rx_bytes += 40 * 562;
	for (unsigned i = 0; i < 2; i++) {
		hs_qos_step(&a, &b, &chain, &LIMITS, &step);
		assert_int_equal(step.flags, 0);
		assert_int_equal(step.links[3].lost, -40);
		assert_int_equal(step.e2e.lost, -40);
		without_bytes(&a);
		without_bytes(&b);
	}
}

// Both edges of what a difference of 16-bit counts may mean, where nothing else tells.
static void reordering_of_as_many_packets_as_are_allowed_is_no_wrap(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses none = {0}, most = {.link = {0, 65535 - SLACK}};
	struct hs_report a = plain_report(40000, MS, 3, PATH);
	struct hs_report b = after(&a, 20000, 562, &none);
	without_bytes(&a);
	without_bytes(&b);
	b.sink_rx_packets += SLACK;
	for (unsigned i = 0; i < 2; i++) { // with the source's count, and without
		hs_qos_step(&a, &b, &chain, &LIMITS, &step);
		assert_int_equal(step.flags, 0);
		assert_int_equal(step.links[3].lost, -SLACK);
		a.telemetry.e2e.bitmap = b.telemetry.e2e.bitmap = HS_E2E_TIMESTAMP;
	}
	a = plain_report(40000, MS, 3, PATH);
	b = after(&a, 65600, 562, &most);
	without_bytes(&a);
	without_bytes(&b);
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	check_losses(&step, &most, 3);
}

static void reordering_beside_a_loss_beyond_16_bits_stays_what_it_is(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses losses = {.link = {3 * 65536 + 5}};
	struct hs_report a = plain_report(65530, MS, 3, PATH);
	struct hs_report b = after(&a, 1000000, 562, &losses);
	b.sink_rx_packets += 40;
	b.sink_rx_bytes += 40 * 562;
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	assert_int_equal(step.flags, 0);
	assert_int_equal(step.links[0].lost, 3 * 65536 + 5);
	assert_int_equal(step.links[3].lost, -40);
}

// The 16-bit counts fit together by chance; the bytes do not.
static void a_restart_that_the_packets_hide_shows_in_the_bytes(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses none = {0};
	struct hs_report a = plain_report(3 * 65536 + 300, MS, 3, PATH);
	struct hs_report b = after(&a, 500, 562, &none);
	struct hs_hop *hop = hop_of(&b, 1);
	hop->rx_packets = hop->tx_packets = 200;
	hop->rx_bytes = hop->tx_bytes = 200 * 562;
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	assert_int_equal(step.flags, HS_QOS_STEP_TRANSIT_RESET);
}

// So much was sent that bytes running back prove nothing; the losses they give still do.
static void a_restart_in_a_long_span_shows_as_a_negative_loss(void **state)
{
	(void)state;
	struct hs_qos_chain chain = whole_chain(3);
	struct hs_qos_step step;
	const struct losses none = {0};
	struct hs_report a = plain_report(1000000, MS, 3, PATH);
	struct hs_report b = after(&a, 2000000, 562, &none);
	struct hs_hop *hop = hop_of(&b, 1);
	hop->rx_packets = hop->tx_packets = (uint16_t)1900000;
	hop->rx_bytes = hop->tx_bytes = 1900000u * 562;
	hs_qos_step(&a, &b, &chain, &LIMITS, &step);
	assert_int_equal(step.flags, HS_QOS_STEP_TRANSIT_RESET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(losses_are_exact_to_131072_packets_by_the_chain_alone),
			cmocka_unit_test(losses_of_millions_are_exact_by_the_bytes),
			cmocka_unit_test(received_bytes_beyond_32_bits_follow_from_the_packets),
			cmocka_unit_test(
					received_bytes_of_a_node_without_packets_are_near_those_of_the_sink),
			cmocka_unit_test(packets_of_a_hop_need_counts_at_both_ends),
			cmocka_unit_test(one_loss_that_no_bytes_resolve_follows_from_the_sum),
			cmocka_unit_test(what_neither_sum_nor_bytes_resolve_is_flagged_not_guessed),
			cmocka_unit_test(a_restarted_node_is_found_wherever_its_counts_stood),
			cmocka_unit_test(a_reordered_packet_may_make_a_loss_negative),
			cmocka_unit_test(reordering_of_as_many_packets_as_are_allowed_is_no_wrap),
			cmocka_unit_test(reordering_beside_a_loss_beyond_16_bits_stays_what_it_is),
			cmocka_unit_test(a_restart_that_the_packets_hide_shows_in_the_bytes),
			cmocka_unit_test(a_restart_in_a_long_span_shows_as_a_negative_loss),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
