// SPDX-License-Identifier: BSD-3-Clause
// Nodes that leave fields out: random networks, packet by packet, in which each entry has fields by
// chance. Each number of a window is compared with one that a slow reference makes from 64-bit
// counts, straight from rule 22.
#include "qos_fixture.h"
#include "sim_run.h"

#include <stdio.h>

// ---- the reference ----

// Which reports have the count of the hop to `to` (1 is the first transit node).
typedef bool has_fn(const struct sim_result *truth, const struct sim_report *report, unsigned to);

static uint16_t bits_at(
		const struct sim_result *truth, const struct sim_report *report, unsigned node)
{
	if (node == 0 || node == truth->n_nodes + 1)
		return HS_HOP_KNOWN;
	return report->report.telemetry.hops[truth->n_nodes - node].bitmap;
}

static bool has_loss(const struct sim_result *truth, const struct sim_report *report, unsigned to)
{
	return bits_at(truth, report, to - 1) & bits_at(truth, report, to) & HS_HOP_PACKETS;
}

static bool has_node(const struct sim_result *truth, const struct sim_report *report, unsigned to)
{
	return to <= truth->n_nodes && bits_at(truth, report, to) & HS_HOP_PACKETS;
}

static bool has_bytes(const struct sim_result *truth, const struct sim_report *report, unsigned to)
{
	return bits_at(truth, report, to) & HS_HOP_BYTES;
}

static bool has_rate(const struct sim_result *truth, const struct sim_report *report, unsigned to)
{
	uint16_t both = HS_HOP_BYTES | HS_HOP_TIMESTAMP;
	return (bits_at(truth, report, to) & both) == both;
}

static bool has_stamp(const struct sim_result *truth, const struct sim_report *report, unsigned to)
{
	return bits_at(truth, report, to) & HS_HOP_TIMESTAMP;
}

static bool has_delay(const struct sim_result *truth, const struct sim_report *report, unsigned to)
{
	return bits_at(truth, report, to - 1) & bits_at(truth, report, to) & HS_HOP_TIMESTAMP;
}

struct span {
	const struct sim_report *a, *b; // NULL, or equal: no step
};

// The newest at or before each edge of the window; the run begins with the first that has it.
static struct span span_of(const struct sim_result *truth, const struct hs_qos_window *window,
		unsigned to, has_fn *has)
{
	struct span span = {0};
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *report = &truth->reports[i];
		if (report->report.sink_ts_ns > window->end_ns)
			break;
		if (!has(truth, report, to))
			continue;
		if (!span.a || report->report.sink_ts_ns <= window->start_ns)
			span.a = report;
		span.b = report;
	}
	return span;
}

static bool has_step(struct span span)
{
	return span.a && span.a != span.b;
}

static uint64_t count_with(const struct sim_result *truth, const struct hs_qos_window *window,
		unsigned to, has_fn *has)
{
	uint64_t n = 0;
	for (size_t i = 0; i < truth->n_reports; i++)
		n += within(&truth->reports[i], window) && has(truth, &truth->reports[i], to);
	return n;
}

static void check_counts(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned to)
{
	struct span loss = span_of(truth, window, to, has_loss);
	struct span node = span_of(truth, window, to, has_node);
	struct span bytes = span_of(truth, window, to, has_bytes);
	assert_int_equal(!!(hop->has & HS_QOS_HAS_LOSS), has_step(loss));
	if (has_step(loss)) {
		const struct sim_count *a = loss.a->counts, *b = loss.b->counts;
		int64_t tx = (int64_t)(b[to - 1].tx_packets - a[to - 1].tx_packets);
		int64_t rx = (int64_t)(b[to].rx_packets - a[to].rx_packets);
		assert_int_equal(hop->tx_packets, tx);
		assert_int_equal(hop->lost_packets, tx - rx);
		if (to <= truth->n_nodes)
			assert_int_equal(hop->rx_packets, rx);
		assert_int_equal(hop->lost_packets,
				sim_lost_on_link(truth, to - 1, loss.a->number, loss.b->number));
		assert_int_equal(hop->shown_lost_packets, hop->lost_packets);
	}
	assert_int_equal(!!(hop->has & HS_QOS_HAS_NODE_LOSS), has_step(node));
	if (has_step(node))
		assert_int_equal(hop->node_lost_packets,
				sim_lost_in_node(truth, to - 1, node.a->number, node.b->number));
	assert_int_equal(!!(hop->has & HS_QOS_HAS_BYTES), has_step(bytes));
	if (!has_step(bytes))
		return;
	const struct sim_count *a = &bytes.a->counts[to], *b = &bytes.b->counts[to];
	assert_int_equal(hop->rx_bytes, b->rx_bytes - a->rx_bytes);
	if (to > truth->n_nodes) // each report has the sink's counts
		assert_int_equal(hop->rx_packets, b->rx_packets - a->rx_packets);
}

static void check_throughput(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned to)
{
	struct span rate = span_of(truth, window, to, has_rate);
	struct span stamps = span_of(truth, window, to, has_stamp);
	assert_int_equal(!!(hop->has & HS_QOS_HAS_SPAN), has_step(stamps));
	if (has_step(stamps)) {
		assert_int_equal(hop->span_start_ns, stamps.a->counts[to].ts_ns);
		assert_int_equal(hop->span_end_ns, stamps.b->counts[to].ts_ns);
	}
	assert_int_equal(!!(hop->has & HS_QOS_HAS_THROUGHPUT), has_step(rate));
	if (!has_step(rate))
		return;
	const struct sim_count *a = &rate.a->counts[to], *b = &rate.b->counts[to];
	uint64_t expected =
			(b->rx_bytes - a->rx_bytes) * 8 * SECOND / (uint64_t)(b->ts_ns - a->ts_ns);
	assert_int_equal(hop->throughput_bps, expected);
}

static void check_delays(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned to)
{
	double sum = 0, jitter = 0;
	uint64_t n = 0, pairs = 0;
	int64_t last = 0;
	bool has_last = false;
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *report = &truth->reports[i];
		if (!has_delay(truth, report, to))
			continue;
		int64_t delay = report->counts[to].ts_ns - report->counts[to - 1].ts_ns;
		if (within(report, window)) {
			n++;
			sum += (double)delay;
			pairs += has_last;
			jitter += has_last ? (double)llabs(delay - last) : 0;
		}
		last = delay;
		has_last = true;
	}
	assert_int_equal(hop->delay.n, n);
	assert_int_equal(!!(hop->has & HS_QOS_HAS_DELAY), n > 0);
	if (n)
		assert_true(llabs(hop->delay.mean - (int64_t)(sum / (double)n)) <= 1);
	assert_int_equal(!!(hop->has & HS_QOS_HAS_JITTER), pairs > 0);
	if (pairs)
		assert_true(llabs((int64_t)hop->jitter_ns - (int64_t)(jitter / (double)pairs)) <=
				1);
}

static void check_reports(const struct sim_result *truth, const struct hs_qos_window *window,
		const struct hs_qos_hop *hop, unsigned to)
{
	if (!(hop->has & HS_QOS_HAS_REPORTS))
		return;
	assert_int_equal(hop->loss_reports, count_with(truth, window, to, has_loss));
	assert_int_equal(hop->delay_reports, count_with(truth, window, to, has_delay));
	assert_int_equal(hop->throughput_reports, count_with(truth, window, to, has_rate));
}

static void check_e2e(const struct sim_result *truth, const struct hs_qos_window *window)
{
	const struct hs_qos_hop *e2e = &window->e2e;
	struct span span = {0};
	for (size_t i = 0; i < truth->n_reports; i++) {
		const struct sim_report *report = &truth->reports[i];
		if (report->report.sink_ts_ns > window->end_ns)
			break;
		if (!span.a || report->report.sink_ts_ns <= window->start_ns)
			span.a = report;
		span.b = report;
	}
	assert_int_equal(!!(e2e->has & HS_QOS_HAS_LOSS), has_step(span));
	if (!has_step(span))
		return;
	const struct sim_count *a = span.a->counts, *b = span.b->counts;
	unsigned sink = truth->n_nodes + 1;
	assert_int_equal(e2e->tx_packets, b[0].tx_packets - a[0].tx_packets);
	assert_int_equal(e2e->rx_packets, b[sink].rx_packets - a[sink].rx_packets);
	assert_int_equal(e2e->lost_packets, e2e->tx_packets - e2e->rx_packets);
	assert_int_equal(e2e->rx_bytes, b[sink].rx_bytes - a[sink].rx_bytes);
}

static void check_window(const struct sim_result *truth, const struct caught *caught)
{
	const struct hs_qos_window *window = &caught->window;
	if (window->stale)
		return;
	uint32_t allowed = HS_QOS_NEGATIVE_DELAY;
	for (unsigned i = 0; i < window->n_hops; i++)
		if (!(caught->hops[i].has & HS_QOS_HAS_LOSS))
			allowed |= HS_QOS_COUNTS_MISSING;
	assert_int_equal(window->flags & ~allowed, 0);
	assert_false(window->path_changed);
	assert_int_equal(window->n_hops, truth->n_nodes + 1);
	check_e2e(truth, window);
	for (unsigned to = 1; to <= truth->n_nodes + 1; to++) {
		const struct hs_qos_hop *hop = &caught->hops[to - 1];
		check_counts(truth, window, hop, to);
		check_throughput(truth, window, hop, to);
		check_delays(truth, window, hop, to);
		check_reports(truth, window, hop, to);
	}
}

static void check_run(struct run *run)
{
	run_start(run);
	for (size_t i = 0; i < run->catcher.n; i++)
		check_window(&run->truth, &run->catcher.windows[i]);
	const struct hs_qos_window *whole = hs_qos_latest(run->qos, 7, 0);
	if (whole) {
		struct caught caught = {.window = *whole};
		memcpy(caught.hops, whole->hops, whole->n_hops * sizeof(whole->hops[0]));
		caught.window.start_ns--; // the first report belongs to the run
		check_window(&run->truth, &caught);
	}
	run_end(run);
}

// ---- random networks ----

static struct sim_config random_config(uint64_t seed)
{
	struct hs_rng rng;
	struct sim_config config = sim_defaults(seed);
	hs_rng_init(&rng, seed * 91);
	config.n_nodes = 1 + below(&rng, 5);
	config.start_ns += below(&rng, 1000000000);
	config.duration_ns = (1 + below(&rng, 14)) * SECOND;
	config.gap_ns = 50000 + below(&rng, 400000);
	config.max_bytes = config.min_bytes + below(&rng, 900);
	config.sample_every = 1 + below(&rng, 400);
	config.report_loss_ppm = below(&rng, 2) ? 500000 : 0;
	config.source_packets = below(&rng, 2) ? 0xFFFFFFFFu - below(&rng, 30000) : 0;
	for (unsigned i = 0; i <= config.n_nodes; i++) {
		config.links[i].delay_ns = below(&rng, 20000000);
		config.links[i].loss_ppm = below(&rng, 3) ? below(&rng, 200000) : 0;
	}
	for (unsigned i = 0; i < config.n_nodes; i++) {
		struct sim_node *node = &config.nodes[i];
		node->loss_ppm = below(&rng, 3) ? 0 : below(&rng, 100000);
		node->first_packets = below(&rng, 65536);
		node->first_bytes = 0xFFFFFFFFu - below(&rng, 5000000);
		node->leave_out_ppm = below(&rng, 4) ? below(&rng, 1000000) : 0;
		node->leave_out_every = below(&rng, 4) ? 0 : 1 + below(&rng, 3000);
	}
	return config;
}

static void every_number_is_exact_of_the_reports_that_have_its_fields(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 80; seed += SIM_STEP) {
		struct run run = {.config = random_config(seed)};
		check_run(&run);
	}
}

// What the windows of a second add up to, of hop i.
struct totals {
	int64_t lost, node_lost, tx;
};

static struct totals totals_of(const struct run *run, unsigned i)
{
	struct totals totals = {0};
	for (size_t k = 0; k < run->catcher.n; k++) {
		const struct caught *caught = &run->catcher.windows[k];
		if (caught->window.window_ns != SECOND || caught->window.stale)
			continue;
		totals.lost += caught->hops[i].lost_packets;
		totals.node_lost += caught->hops[i].node_lost_packets;
		totals.tx += caught->hops[i].tx_packets;
	}
	return totals;
}

static uint32_t flags_of(const struct run *run)
{
	uint32_t flags = 0;
	for (size_t k = 0; k < run->catcher.n; k++)
		flags |= run->catcher.windows[k].window.flags;
	return flags;
}

// A window cannot tell a late packet from a lost one, the run can.
static void loss_over_a_run_is_exact_where_jitter_reorders_packets(void **state)
{
	(void)state;
	for (uint64_t seed = 101; seed <= 120; seed += SIM_STEP) {
		struct run run = {.config = random_config(seed)};
		for (unsigned i = 0; i <= run.config.n_nodes; i++)
			run.config.links[i].jitter_ns = 1 + (int64_t)(seed % 5) * MS;
		run_start(&run);
		assert_int_equal(flags_of(&run) & ~(uint32_t)HS_QOS_COUNTS_MISSING, 0);
		const struct hs_qos_window *whole = hs_qos_latest(run.qos, 7, 0);
		for (unsigned to = 1; whole && to <= run.truth.n_nodes + 1; to++) {
			const struct sim_report *a = NULL, *b = NULL;
			for (size_t i = 0; i < run.truth.n_reports; i++) {
				const struct sim_report *report = &run.truth.reports[i];
				if (!has_loss(&run.truth, report, to))
					continue;
				if (!a)
					a = b = report;
				if (report->number > b->number)
					b = report;
			}
			if (!a || a == b)
				continue;
			int64_t tx = (int64_t)(b->counts[to - 1].tx_packets -
					       a->counts[to - 1].tx_packets);
			int64_t rx = (int64_t)(b->counts[to].rx_packets - a->counts[to].rx_packets);
			struct totals totals = totals_of(&run, to - 1);
			assert_int_equal(totals.tx, tx);
			assert_int_equal(totals.lost, tx - rx);
			assert_int_equal(whole->hops[to - 1].lost_packets, tx - rx);
		}
		run_end(&run);
	}
}

static void counts_that_come_rarely_are_right_though_they_wrapped_many_times(void **state)
{
	(void)state;
	for (uint64_t seed = 201; seed <= 204; seed++) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.gap_ns = 4000; // a quarter of a million a second
		run.config.duration_ns = 4 * SECOND;
		run.config.sample_every = 1000;
		run.config.links[0].loss_ppm = 100000;
		run.config.links[2].loss_ppm = 300000;
		run.config.nodes[1].loss_ppm = 20000;
		for (unsigned i = 0; i < 4; i++)
			run.config.nodes[i].leave_out_every = 100000 * (1 + i);
		check_run(&run);
	}
}

static void a_node_that_restarts_is_noticed_once_and_end_to_end_goes_on(void **state)
{
	(void)state;
	for (uint64_t seed = 301; seed <= 310; seed++) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.nodes[1].first_packets = 40000;
		run.config.nodes[1].first_bytes = 40000 * 562;
		run.config.nodes[1].reset_ns = 4500 * MS;
		run.config.links[1].loss_ppm = 20000;
		for (unsigned i = 0; i < 4; i++)
			run.config.nodes[i].leave_out_ppm = 500000;
		run_start(&run);
		struct hs_qos_counters counters;
		hs_qos_counters(run.qos, &counters);
		assert_int_equal(counters.epochs, 1);
		assert_int_equal(flags_of(&run), HS_QOS_EPOCH);
		const struct hs_qos_window *whole = hs_qos_latest(run.qos, 7, 0);
		int64_t lost = (int64_t)sim_lost_on_link(&run.truth, 1, 0, run.truth.n_packets);
		assert_in_range(whole->e2e.lost_packets, lost - 10, lost);
		// Only what was lost while the restart was noticed is missing.
		assert_in_range(whole->hops[1].lost_packets, lost - 60, lost);
		assert_int_equal(whole->hops[3].lost_packets, 0);
		run_end(&run);
	}
}

static void hops_of_both_paths_go_on_where_the_path_changes(void **state)
{
	(void)state;
	for (uint64_t seed = 401; seed <= 410; seed++) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.other_id = 33;
		run.config.other_at = 2;
		run.config.other_from_ns = 5 * SECOND;
		run.config.links[1].loss_ppm = 20000;
		run.config.links[4].loss_ppm = 10000;
		for (unsigned i = 0; i < 4; i++)
			run.config.nodes[i].leave_out_ppm = 300000;
		run_start(&run);
		assert_int_equal(flags_of(&run), 0);
		const struct hs_qos_window *whole = hs_qos_latest(run.qos, 7, 0);
		struct caught caught = {.window = *whole};
		memcpy(caught.hops, whole->hops, whole->n_hops * sizeof(whole->hops[0]));
		for (unsigned link = 1; link <= 4; link += 3) {
			const struct hs_qos_hop *hop = link == 1 ? hop_between(&caught, 1, 2)
								 : hop_between(&caught, 4, 9);
			int64_t lost = (int64_t)sim_lost_on_link(
					&run.truth, link, 0, run.truth.n_packets);
			assert_in_range(hop->lost_packets, lost - 20, lost);
		}
		assert_int_equal(hop_between(&caught, 2, 3)->lost_packets, 0);
		assert_int_equal(hop_between(&caught, 33, 4)->lost_packets, 0);
		run_end(&run);
	}
}

static void paths_that_alternate_have_loss_between_their_common_nodes(void **state)
{
	(void)state;
	for (uint64_t seed = 501; seed <= 505; seed++) {
		struct run run = {.config = sim_defaults(seed)};
		run.config.other_id = 33;
		run.config.other_at = 2;
		run.config.other_ppm = 400000;
		run.config.links[1].loss_ppm = 20000;
		run.config.links[3].loss_ppm = 10000;
		for (unsigned i = 0; i < 4; i++)
			run.config.nodes[i].leave_out_ppm = 300000;
		run_start(&run);
		assert_int_equal(flags_of(&run), HS_QOS_MULTIPATH);
		const struct hs_qos_window *whole = hs_qos_latest(run.qos, 7, 0);
		struct caught caught = {.window = *whole};
		memcpy(caught.hops, whole->hops, whole->n_hops * sizeof(whole->hops[0]));
		int64_t first = (int64_t)sim_lost_on_link(&run.truth, 1, 0, run.truth.n_packets);
		int64_t both = (int64_t)sim_lost_on_link(&run.truth, 3, 0, run.truth.n_packets);
		assert_in_range(hop_between(&caught, 1, 2)->lost_packets, first - 20, first);
		assert_in_range(hop_between(&caught, 2, 4)->lost_packets, both - 20, both);
		run_end(&run);
	}
}

// ---- by hand ----

static void give_with(struct fixture *f, uint64_t number, uint16_t bitmap, uint64_t lost)
{
	struct hs_report report = plain(number);
	hop_of(&report, 1)->bitmap = bitmap;
	hop_of(&report, 1)->rx_packets -= (uint16_t)lost;
	hop_of(&report, 1)->tx_packets -= (uint16_t)lost;
	hop_of(&report, 1)->rx_bytes -= (uint32_t)(lost * 562);
	hop_of(&report, 1)->tx_bytes -= (uint32_t)(lost * 562);
	report.sink_rx_packets -= lost;
	report.sink_rx_bytes -= lost * 562;
	give(f->qos, &report);
}

static void loss_is_charged_to_its_link_when_the_counts_come_again(void **state)
{
	struct fixture *f = *state;
	give_with(f, 100, HS_HOP_KNOWN, 0);
	give_with(f, 200, HS_HOP_KNOWN, 0);
	give_with(f, 300, HS_HOP_TIMESTAMP, 5);
	give_with(f, 400, HS_HOP_TIMESTAMP, 10);
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	assert_int_equal(run->e2e.lost_packets, 10);
	assert_int_equal(run->hops[1].lost_packets, 0);
	assert_int_equal(run->unattributed_lost_packets, 10);
	give_with(f, 500, HS_HOP_KNOWN, 15);
	run = hs_qos_latest(f->qos, 7, 0);
	assert_int_equal(run->e2e.lost_packets, 15);
	assert_int_equal(run->hops[1].lost_packets, 15);
	assert_int_equal(run->hops[1].tx_packets, 400);
	assert_int_equal(run->hops[2].lost_packets, 0);
	assert_int_equal(run->unattributed_lost_packets, 0);
	assert_int_equal(run->hops[1].loss_reports, 3);
	assert_int_equal(run->hops[1].delay_reports, 5);
	assert_int_equal(run->hops[1].throughput_reports, 3);
	assert_int_equal(run->hops[0].loss_reports, 5);
}

static void a_window_without_the_counts_of_a_hop_has_no_loss_of_it(void **state)
{
	struct fixture *f = *state;
	give_with(f, 500, HS_HOP_KNOWN, 0);
	give_with(f, 900, HS_HOP_KNOWN, 0);
	give_with(f, 1500, HS_HOP_TIMESTAMP, 5);
	give_with(f, 2500, HS_HOP_KNOWN, 7);
	flush_all(f->qos);
	const struct caught *second = second_ending(f, 2);
	assert_int_equal(second->hops[1].has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_BYTES |
							       HS_QOS_HAS_THROUGHPUT),
			0);
	assert_true(second->hops[1].has & HS_QOS_HAS_DELAY);
	assert_int_equal(second->window.e2e.lost_packets, 5);
	const struct caught *third = second_ending(f, 3);
	assert_int_equal(third->hops[1].lost_packets, 7);
	assert_int_equal(third->hops[1].tx_packets, 1600);
	assert_int_equal(third->hops[1].span_start_ns, T0 + 1502 * MS);
	assert_int_equal(third->window.e2e.lost_packets, 2);
	assert_int_equal(third->window.unattributed_lost_packets, -5);
}

static void a_flow_whose_reports_are_whole_again_says_no_more_of_it(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 400; i++)
		give_with(f, i * 10, i == 20 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN, i / 3);
	flush_all(f->qos);
	int64_t lost = 0;
	for (int64_t i = 1; i <= 4; i++) {
		const struct caught *caught = second_ending(f, i);
		lost += caught->hops[1].lost_packets;
		assert_int_equal(caught->window.unattributed_lost_packets, 0);
		assert_int_equal(!!(caught->hops[1].has & HS_QOS_HAS_REPORTS), i == 1);
	}
	assert_int_equal(lost, 400 / 3);
	assert_int_equal(second_ending(f, 1)->hops[1].loss_reports, 98);
}

// Nobody says what the source sent; what the first node received is that node's to say.
static void what_the_first_node_received_needs_no_count_of_the_source(void **state)
{
	struct fixture *f = *state;
	for (uint64_t number = 100; number <= 1000; number += 100) {
		struct hs_report report = plain(number);
		report.telemetry.e2e.bitmap &= (uint16_t) ~(HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES);
		if (number > 200 && number < 900) // the second node leaves its counts out
			hop_of(&report, 1)->bitmap = HS_HOP_TIMESTAMP;
		give(f->qos, &report);
	}
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	for (unsigned i = 0; i < run->n_hops; i++) {
		assert_true(run->hops[i].has & HS_QOS_HAS_RX_PACKETS);
		assert_int_equal(run->hops[i].rx_packets, 900);
	}
	assert_false(run->hops[0].has & HS_QOS_HAS_LOSS);
}

// Away for long enough that the paths do not alternate.
static void what_a_link_lost_while_the_path_was_elsewhere_is_not_charged_to_it(void **state)
{
	struct fixture *f = *state;
	static const uint16_t elsewhere[] = {1, 3};
	uint64_t number = 0;
	for (unsigned i = 0; i < 20; i++)
		give_with(f, number += 10, i % 2 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN, 0);
	for (unsigned i = 0; i < 200; i++) {
		struct hs_report report = plain_report(number += 10, GAP, 2, elsewhere);
		hop_of(&report, 1)->bitmap = i % 3 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN;
		give(f->qos, &report);
	}
	for (unsigned i = 0; i < 20; i++) { // node 2 has not seen 2000 packets
		struct hs_report report = plain(number += 10);
		struct hs_hop *hop = hop_of(&report, 1);
		hop->bitmap = i % 2 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN;
		hop->rx_packets = hop->tx_packets = (uint16_t)(number - 2000);
		hop->rx_bytes = hop->tx_bytes = (uint32_t)((number - 2000) * 562);
		give(f->qos, &report);
	}
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	assert_int_equal(run->flags, 0);
	assert_int_equal(run->e2e.lost_packets, 0);
	for (unsigned i = 0; i < run->n_hops; i++)
		assert_int_equal(run->hops[i].lost_packets, 0);
}

static void restarts_that_are_far_apart_are_no_rules_that_differ(void **state)
{
	struct fixture *f = *state;
	static const uint64_t begins[] = {20000, 0, 30000, 5000, 20000};
	for (uint64_t i = 1; i <= 450; i++) {
		struct hs_report report = plain(i * 10);
		struct hs_hop *hop = hop_of(&report, 1);
		uint64_t count = begins[i / 100] + i % 100 * 10;
		hop->bitmap = i % 3 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN;
		hop->rx_packets = hop->tx_packets = (uint16_t)count;
		hop->rx_bytes = hop->tx_bytes = (uint32_t)(count * 562);
		give(f->qos, &report);
	}
	struct hs_qos_counters counters;
	hs_qos_counters(f->qos, &counters);
	assert_int_equal(counters.epochs, 4);
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->flags, HS_QOS_EPOCH);
}

static void a_late_report_moves_the_edge_end_to_end_alone(void **state)
{
	struct fixture *f = *state;
	static const uint64_t order[] = {900, 980, 1010, 990, 1100};
	for (unsigned i = 0; i < 5; i++) {
		struct hs_report report = plain(order[i]);
		report.sink_rx_packets -= order[i] >= 985 ? 4 : 0; // lost before 990
		hop_of(&report, 1)->bitmap = i % 4 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	const struct caught *first = second_ending(f, 1), *second = second_ending(f, 2);
	assert_int_equal(first->window.e2e.lost_packets, 4);
	assert_int_equal(first->window.e2e.tx_packets, 90);
	assert_int_equal(first->hops[0].tx_packets, 80);
	assert_int_equal(second->window.e2e.lost_packets, 0);
	assert_int_equal(second->hops[0].tx_packets, 120);
}

static void a_field_that_a_node_never_gives_makes_no_flow_partial(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 90; i++)
		give_with(f, i * 10, HS_HOP_TIMESTAMP | HS_HOP_PACKETS, 0);
	flush_all(f->qos);
	assert_false(second_ending(f, 1)->hops[1].has & HS_QOS_HAS_REPORTS);
}

static void a_window_of_any_place_is_measured_in_parts_too(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 50; i++)
		give_with(f, i * 10, i % 5 ? HS_HOP_TIMESTAMP : HS_HOP_KNOWN, i);
	const struct hs_qos_window *window = hs_qos_slide(f->qos, 7, T0 + 103 * MS, T0 + 403 * MS);
	assert_int_equal(window->reports, 30);
	assert_int_equal(window->hops[1].lost_packets, 30);
	assert_int_equal(window->hops[1].tx_packets, 300);
	assert_int_equal(window->hops[1].loss_reports, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_number_is_exact_of_the_reports_that_have_its_fields),
			cmocka_unit_test(loss_over_a_run_is_exact_where_jitter_reorders_packets),
			cmocka_unit_test(
					counts_that_come_rarely_are_right_though_they_wrapped_many_times),
			cmocka_unit_test(
					a_node_that_restarts_is_noticed_once_and_end_to_end_goes_on),
			cmocka_unit_test(hops_of_both_paths_go_on_where_the_path_changes),
			cmocka_unit_test(paths_that_alternate_have_loss_between_their_common_nodes),
			TEST(loss_is_charged_to_its_link_when_the_counts_come_again),
			TEST(a_window_without_the_counts_of_a_hop_has_no_loss_of_it),
			TEST(a_flow_whose_reports_are_whole_again_says_no_more_of_it),
			TEST(what_the_first_node_received_needs_no_count_of_the_source),
			TEST(what_a_link_lost_while_the_path_was_elsewhere_is_not_charged_to_it),
			TEST(restarts_that_are_far_apart_are_no_rules_that_differ),
			TEST(a_late_report_moves_the_edge_end_to_end_alone),
			TEST(a_field_that_a_node_never_gives_makes_no_flow_partial),
			TEST(a_window_of_any_place_is_measured_in_parts_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
