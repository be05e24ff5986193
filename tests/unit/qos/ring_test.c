// SPDX-License-Identifier: BSD-3-Clause
#include "qos_test.h"
#include "qos_ring.h"

#include "rng.h"

#include <errno.h>

static int push(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag)
{
	int rc = hs_qos_ring_reserve(ring, report);
	if (rc == 0)
		hs_qos_ring_push(ring, report, tag);
	return rc;
}

// A report with as many bytes of hops as the option can carry, or fewer.
static struct hs_report random_report(struct hs_rng *rng, unsigned wire_bytes)
{
	static const uint16_t bitmaps[] = {0xE000, 0xC000, 0x6000, 0x8000, 0x4000, 0x2000, 0};
	static const unsigned sizes[] = {24, 16, 20, 8, 12, 12, 4};
	struct hs_report report = {0};
	struct hs_decoded *telemetry = &report.telemetry;
	telemetry->trace_type = hs_rng_u32(rng);
	telemetry->e2e = (struct hs_e2e){(uint16_t)hs_rng_u32(rng), hs_rng_u32(rng),
			hs_rng_u64(rng), hs_rng_u32(rng), hs_rng_u32(rng)};
	report.sink_ts_ns = (int64_t)hs_rng_u64(rng);
	report.sink_rx_packets = hs_rng_u64(rng);
	report.sink_rx_bytes = hs_rng_u64(rng);
	while (telemetry->n_hops < HS_FLEXINT_MAX_HOPS) {
		unsigned kind = hs_rng_u32(rng) % 7;
		if (sizes[kind] > wire_bytes)
			break;
		wire_bytes -= sizes[kind];
		struct hs_hop *hop = &telemetry->hops[telemetry->n_hops++];
		hop->node_id = (uint16_t)hs_rng_u32(rng);
		hop->bitmap = bitmaps[kind];
		if (hop->bitmap & HS_HOP_PACKETS) {
			hop->tx_packets = (uint16_t)hs_rng_u32(rng);
			hop->rx_packets = (uint16_t)hs_rng_u32(rng);
		}
		if (hop->bitmap & HS_HOP_TIMESTAMP)
			hop->ts_ns = hs_rng_u64(rng);
		if (hop->bitmap & HS_HOP_BYTES) {
			hop->tx_bytes = hs_rng_u32(rng);
			hop->rx_bytes = hs_rng_u32(rng);
		}
	}
	return report;
}

static void check_same_e2e(const struct hs_e2e *a, const struct hs_e2e *b)
{
	assert_int_equal(a->bitmap, b->bitmap);
	assert_int_equal(a->int_packets, b->int_packets);
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->tx_packets, b->tx_packets);
	assert_int_equal(a->tx_bytes, b->tx_bytes);
	assert_int_equal(a->node_id, b->node_id);
}

static void check_same(const struct hs_report *a, const struct hs_report *b)
{
	assert_int_equal(a->sink_ts_ns, b->sink_ts_ns);
	assert_int_equal(a->sink_rx_packets, b->sink_rx_packets);
	assert_int_equal(a->sink_rx_bytes, b->sink_rx_bytes);
	assert_int_equal(a->telemetry.trace_type, b->telemetry.trace_type);
	check_same_e2e(&a->telemetry.e2e, &b->telemetry.e2e);
	assert_int_equal(a->telemetry.n_hops, b->telemetry.n_hops);
	assert_memory_equal(a->telemetry.hops, b->telemetry.hops,
			a->telemetry.n_hops * sizeof(a->telemetry.hops[0]));
}

static void check_last(const struct hs_qos_ring *ring, const struct hs_report *reports, unsigned n,
		unsigned keep)
{
	struct hs_report got;
	for (unsigned back = 1; back <= keep; back++) {
		memset(&got, 0, sizeof(got));
		hs_qos_ring_get(ring, ring->next - back, &got);
		check_same(&got, &reports[n - back]);
		assert_int_equal(hs_qos_ring_window(ring, ring->next - back), n - back);
	}
}

static void the_newest_thousand_of_the_longest_fit_in_320_KiB(void **state)
{
	(void)state;
	enum {
		N = 3000
	};
	struct hs_report *reports = calloc(N, sizeof(*reports));
	struct hs_qos_ring ring = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 8);
	for (unsigned i = 0; i < N; i++) {
		reports[i] = random_report(&rng, HS_FLEXINT_MAX_TRACE - 8);
		assert_int_equal(push(&ring, &reports[i], i), 0);
		assert_true(hs_qos_ring_bytes(&ring) <= 320 * 1024);
	}
	assert_true(ring.count >= 1000);
	check_last(&ring, reports, N, 1000);
	hs_qos_ring_fini(&ring);
	free(reports);
}

// Reports that say much of their nodes are kept whole, if fewer of them.
static void what_nodes_say_of_themselves_is_kept(void **state)
{
	(void)state;
	enum {
		N = 3000
	};
	static const struct hs_telemetry_family family = {.name = "local", .has_locals = true};
	struct hs_report *reports = calloc(N, sizeof(*reports));
	struct hs_qos_ring ring = {0};
	struct hs_report got;
	struct hs_rng rng;
	hs_rng_init(&rng, 21);
	for (unsigned i = 0; i < N; i++) {
		reports[i] = random_report(&rng, i < N / 2 ? 60 : HS_FLEXINT_MAX_TRACE - 8);
		struct hs_decoded *telemetry = &reports[i].telemetry;
		telemetry->family = &family;
		if (i % 2)
			telemetry->hops[0].node_id = 70000;
		for (unsigned j = 0; j <= telemetry->n_hops; j++)
			telemetry->locals[j] = (struct hs_hop_local){.has = 0xFF,
					.queue_id = (uint8_t)hs_rng_u32(&rng),
					.ingress_port = hs_rng_u32(&rng),
					.egress_port = hs_rng_u32(&rng),
					.hop_latency_ns = hs_rng_u32(&rng),
					.queue_packets = hs_rng_u32(&rng),
					.queue_congestion = hs_rng_u32(&rng),
					.link_utilisation = hs_rng_u32(&rng),
					.buffer_used = hs_rng_u32(&rng)};
		telemetry->locals[0].has = 0;
		telemetry->locals[0] = (struct hs_hop_local){0};
		assert_true(hs_qos_ring_takes(&reports[i]));
		assert_int_equal(push(&ring, &reports[i], i), 0);
		assert_true(hs_qos_ring_bytes(&ring) <= 320 * 1024);
		memset(&got, 0, sizeof(got));
		memset(got.telemetry.locals, 0xEE, sizeof(got.telemetry.locals));
		hs_qos_ring_get(&ring, ring.next - 1, &got);
		check_same(&got, &reports[i]);
		assert_memory_equal(got.telemetry.locals, telemetry->locals,
				(telemetry->n_hops + 1u) * sizeof(telemetry->locals[0]));
	}
	assert_true(ring.count >= 64);
	check_last(&ring, reports, N, ring.count);
	hs_qos_ring_fini(&ring);
	free(reports);
}

// Returns how many reports may be placed after reports of this length.
static unsigned place_behind(unsigned bytes)
{
	enum {
		N = 1500
	};
	struct hs_report *reports = calloc(N + HS_QOS_RING_AHEAD, sizeof(*reports));
	struct hs_qos_ring ring = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 11);
	for (unsigned i = 0; i < N + HS_QOS_RING_AHEAD; i++)
		reports[i] = random_report(&rng, bytes);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(push(&ring, &reports[i], i), 0);
	unsigned ahead = ring.most_ahead;
	for (unsigned i = N; i < N + ahead; i++)
		assert_true(hs_qos_ring_place(&ring, &reports[i], i));
	assert_false(hs_qos_ring_place(&ring, &reports[0], 0));
	assert_int_equal(ring.next, N);
	assert_true(ring.count >= 1000);
	check_last(&ring, reports, N, ring.count);
	for (unsigned i = 0; i < ahead; i++)
		hs_qos_ring_accept(&ring, 1);
	check_last(&ring, reports, N + ahead, ring.count);
	hs_qos_ring_fini(&ring);
	free(reports);
	return ahead;
}

static void reports_placed_behind_the_newest_cost_no_other_its_place(void **state)
{
	(void)state;
	assert_int_equal(place_behind(60), HS_QOS_RING_AHEAD);
	assert_int_equal(place_behind(110), 128);
	assert_in_range(place_behind(HS_FLEXINT_MAX_TRACE - 8), 16, HS_QOS_RING_AHEAD - 1);
}

// Reports get longer, so that the ring grows, and it wraps around.
static void a_staggered_ring_is_due_at_the_same_slots_for_ever(void **state)
{
	(void)state;
	struct hs_qos_ring ring = {.first = 100, .staggered = true};
	struct hs_rng rng;
	hs_rng_init(&rng, 13);
	for (unsigned i = 0; i < 4000; i++) {
		struct hs_report report = random_report(&rng, i < 10 ? 20 : 60);
		assert_int_equal(push(&ring, &report, i), 0);
		assert_int_equal(hs_qos_ring_is_due(&ring, 0), ring.head % HS_QOS_RING_AHEAD == 0);
		if (i < 10)
			assert_int_equal(ring.head, 101 + i);
		assert_true(hs_qos_ring_is_due(&ring, ring.most_ahead));
	}
	hs_qos_ring_fini(&ring);
}

static void a_placed_report_that_is_refused_leaves_those_behind_it(void **state)
{
	(void)state;
	struct hs_report reports[8];
	struct hs_qos_ring ring = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 12);
	for (unsigned i = 0; i < 8; i++)
		reports[i] = random_report(&rng, 100);
	assert_false(hs_qos_ring_place(&ring, &reports[0], 0)); // it would take memory
	reports[7] = random_report(&rng, 247);
	assert_int_equal(push(&ring, &reports[7], 7), 0);
	assert_int_equal(push(&ring, &reports[0], 0), 0);
	assert_true(hs_qos_ring_place(&ring, &reports[6], 6));
	for (unsigned i = 1; i < 4; i++)
		assert_true(hs_qos_ring_place(&ring, &reports[i], i));
	hs_qos_ring_refuse(&ring);
	for (unsigned i = 1; i < 4; i++)
		hs_qos_ring_accept(&ring, 1);
	assert_int_equal(ring.ahead, 0);
	check_last(&ring, reports, 4, 4);
	hs_qos_ring_fini(&ring);
}

static void memory_is_taken_as_reports_come(void **state)
{
	(void)state;
	struct hs_qos_ring ring = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 9);
	size_t last = hs_qos_ring_bytes(&ring);
	assert_true(last < 512);
	struct hs_report report = random_report(&rng, 96);
	assert_int_equal(push(&ring, &report, 0), 0);
	assert_true(hs_qos_ring_bytes(&ring) < 16384);
	hs_qos_ring_fini(&ring);
}

static void reports_survive_when_a_longer_one_needs_longer_slots(void **state)
{
	(void)state;
	enum {
		N = 2600
	};
	struct hs_report *reports = calloc(N, sizeof(*reports));
	struct hs_qos_ring ring = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 10);
	for (unsigned i = 0; i < N; i++) {
		reports[i] = random_report(&rng, i < 1500 ? 50 : i < 2000 ? 150 : 247);
		assert_int_equal(push(&ring, &reports[i], i), 0);
		if (i == 1499 || i == 1501 || i == 2005)
			check_last(&ring, reports, i + 1, 1000);
	}
	check_last(&ring, reports, N, 1000);
	hs_qos_ring_fini(&ring);
	free(reports);
}

static void a_report_longer_than_the_wire_can_carry_is_refused(void **state)
{
	(void)state;
	struct hs_qos_ring ring = {0};
	struct hs_report report = {0};
	report.telemetry.n_hops = 20;
	for (unsigned i = 0; i < 20; i++)
		report.telemetry.hops[i].bitmap = HS_HOP_KNOWN;
	assert_int_equal(push(&ring, &report, 0), -EINVAL);
	assert_int_equal(ring.count, 0);
	hs_qos_ring_fini(&ring);
}

static void ids_and_counts_of_32_bits_are_kept_among_those_of_16(void **state)
{
	(void)state;
	enum {
		N = 400
	};
	struct hs_report *reports = calloc(N, sizeof(*reports));
	struct hs_qos_ring ring = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 21);
	for (unsigned i = 0; i < N; i++) {
		reports[i] = random_report(&rng, 6 * 24);
		struct hs_decoded *telemetry = &reports[i].telemetry;
		telemetry->family = &hs_flexint_family;
		for (unsigned k = 0; k < telemetry->n_hops && i % 3; k++) {
			telemetry->hops[k].node_id |= 0x7A000000;
			if (telemetry->hops[k].bitmap & HS_HOP_PACKETS)
				telemetry->hops[k].rx_packets += 100000 * i;
		}
		assert_int_equal(push(&ring, &reports[i], i), 0);
		assert_true(hs_qos_ring_bytes(&ring) <= 320 * 1024);
	}
	check_last(&ring, reports, N, ring.count);
	assert_true(ring.count >= 100);
	struct hs_report got;
	hs_qos_ring_get(&ring, ring.next - 1, &got);
	assert_ptr_equal(got.telemetry.family, &hs_flexint_family);
	hs_qos_ring_fini(&ring);
	free(reports);
}

static void the_longest_path_of_the_widest_hops_fits(void **state)
{
	(void)state;
	struct hs_report report = {0};
	struct hs_qos_ring ring = {0};
	report.telemetry.n_hops = HS_TELEMETRY_MAX_HOPS;
	for (unsigned i = 0; i < HS_TELEMETRY_MAX_HOPS; i++)
		report.telemetry.hops[i] = (struct hs_hop){
				UINT32_MAX - i, HS_HOP_MEASURED, UINT32_MAX, i, 7, 8, 9};
	for (unsigned n = 0; n < 500; n++)
		assert_int_equal(push(&ring, &report, 0), 0);
	assert_true(hs_qos_ring_bytes(&ring) <= 320 * 1024);
	check_last(&ring, (const struct hs_report[]){report}, 1, 1);
	hs_qos_ring_fini(&ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_newest_thousand_of_the_longest_fit_in_320_KiB),
			cmocka_unit_test(what_nodes_say_of_themselves_is_kept),
			cmocka_unit_test(a_staggered_ring_is_due_at_the_same_slots_for_ever),
			cmocka_unit_test(reports_placed_behind_the_newest_cost_no_other_its_place),
			cmocka_unit_test(a_placed_report_that_is_refused_leaves_those_behind_it),
			cmocka_unit_test(memory_is_taken_as_reports_come),
			cmocka_unit_test(reports_survive_when_a_longer_one_needs_longer_slots),
			cmocka_unit_test(a_report_longer_than_the_wire_can_carry_is_refused),
			cmocka_unit_test(ids_and_counts_of_32_bits_are_kept_among_those_of_16),
			cmocka_unit_test(the_longest_path_of_the_widest_hops_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
