// SPDX-License-Identifier: BSD-3-Clause
// What nodes say of themselves, in windows. The truth is that of a row of queues which the test
// runs packet by packet: when each packet came and left, and how many were before it.
#include "qos_test.h"

#include "rng.h"

#include <math.h>

#define NODES	3 // the source and two transit nodes
#define LINK_NS (50 * US)

static const struct hs_telemetry_field stamps[] = {
		{false, HS_E2E_TIMESTAMP, 8, 8, offsetof(struct hs_e2e, ts_ns), "ts_ns", "time"},
		{true, HS_HOP_TIMESTAMP, 8, 8, offsetof(struct hs_hop, ts_ns), "ts_ns", "time"},
};
static const struct hs_telemetry_family says = {.name = "says",
		.number = HS_TELEMETRY_TEST,
		.fields = stamps,
		.n_fields = 2,
		.hop_known = HS_HOP_TIMESTAMP,
		.packet_bits = 32,
		.max_node_id = UINT32_MAX,
		.has_locals = true};

// A queue of a node: packets leave one after the other, each after its time of sending.
struct queue {
	int64_t send_ns;
	int64_t departures[64];
	uint64_t n;
};

// What a packet met.
struct visit {
	int64_t came_ns, left_ns;
	uint32_t before; // packets in the queue, of at most 64
};

static struct visit pass(struct queue *queue, int64_t now_ns)
{
	struct visit visit = {.came_ns = now_ns, .left_ns = now_ns};
	for (unsigned i = 0; i < 64; i++)
		visit.before += queue->departures[i] > now_ns;
	if (queue->n && queue->departures[(queue->n - 1) % 64] > now_ns)
		visit.left_ns = queue->departures[(queue->n - 1) % 64];
	visit.left_ns += queue->send_ns;
	queue->departures[queue->n++ % 64] = visit.left_ns;
	return visit;
}

// Of one window (or of the whole run), by node: what the test counts itself.
struct truth {
	uint64_t n;
	double latency, depth, used;
	uint64_t least, most, latency_n;
	uint32_t *latencies;
	uint32_t deepest, most_used;
};

static void note(struct truth *truth, const struct visit *visit, uint32_t used, bool told)
{
	uint64_t ns = (uint64_t)(visit->left_ns - visit->came_ns);
	truth->n++;
	truth->depth += visit->before;
	truth->used += used;
	truth->deepest = visit->before > truth->deepest ? visit->before : truth->deepest;
	truth->most_used = used > truth->most_used ? used : truth->most_used;
	if (!told)
		return;
	truth->least = !truth->latency_n || ns < truth->least ? ns : truth->least;
	truth->most = ns > truth->most ? ns : truth->most;
	truth->latency += (double)ns;
	truth->latencies = realloc(truth->latencies, (truth->latency_n + 1) * sizeof(uint32_t));
	truth->latencies[truth->latency_n++] = (uint32_t)ns;
}

static int in_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

// The value number ceil(p * n), to a part in 64.
static void check_percentile(struct truth *truth, double p, uint64_t value)
{
	qsort(truth->latencies, truth->latency_n, sizeof(uint32_t), in_order);
	double right = truth->latencies[(size_t)ceil(p * (double)truth->latency_n) - 1];
	assert_true(fabs((double)value - right) <= right / 64);
}

static void check_node(const struct hs_qos_hop *hop, struct truth *truth)
{
	assert_non_null(hop);
	assert_int_equal(!!(hop->has & HS_QOS_HAS_HOP_LATENCY), truth->latency_n > 0);
	if (truth->latency_n) {
		double mean = truth->latency / (double)truth->latency_n;
		assert_true(fabs((double)hop->hop_latency_ns.mean - mean) <= 0.5 + mean * 1e-12);
		assert_int_equal(hop->hop_latency_ns.min, truth->least);
		assert_int_equal(hop->hop_latency_ns.max, truth->most);
		assert_true(hop->has & HS_QOS_HAS_LATENCY_P50);
		check_percentile(truth, 0.5, hop->hop_latency_ns.p50);
		assert_int_equal(!!(hop->has & HS_QOS_HAS_LATENCY_P99), truth->latency_n >= 100);
		if (truth->latency_n >= 100)
			check_percentile(truth, 0.99, hop->hop_latency_ns.p99);
	}
	free(truth->latencies);
	assert_true(hop->has & HS_QOS_HAS_QUEUE && hop->has & HS_QOS_HAS_UTILISATION);
	assert_true(fabs(hop->queue_packets.mean - truth->depth / (double)truth->n) < 1e-9);
	assert_int_equal(hop->queue_packets.max, truth->deepest);
	assert_true(fabs(hop->link_utilisation_ratio.mean -
				    truth->used / (double)truth->n / 10000) < 1e-12);
	assert_true(fabs(hop->link_utilisation_ratio.max - truth->most_used / 10000.0) < 1e-12);
	assert_false(hop->has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_NODE_LOSS));
}

static struct hs_report report_of(uint64_t number, const struct visit visits[NODES],
		int64_t sink_ns, const uint32_t used[NODES], bool told)
{
	struct hs_report report = {.sink_ts_ns = sink_ns,
			.sink_rx_packets = number,
			.sink_rx_bytes = number * 500};
	struct hs_decoded *telemetry = &report.telemetry;
	telemetry->family = &says;
	telemetry->trace_type = 0x40004000;
	telemetry->e2e = (struct hs_e2e){
			.bitmap = HS_E2E_TIMESTAMP, .ts_ns = (uint64_t)visits[0].came_ns};
	telemetry->n_hops = NODES - 1;
	for (unsigned i = 0; i < NODES; i++) {
		unsigned at = NODES - 1 - i; // the source's values are the last ones
		telemetry->locals[at] = (struct hs_hop_local){
				.has = HS_LOCAL_QUEUE_PACKETS | HS_LOCAL_LINK_UTILISATION |
				       (told ? HS_LOCAL_HOP_LATENCY : 0),
				.hop_latency_ns = told ? (uint32_t)(visits[i].left_ns -
									 visits[i].came_ns)
						       : 0,
				.queue_packets = visits[i].before,
				.link_utilisation = used[i]};
		if (i)
			telemetry->hops[at] = (struct hs_hop){.node_id = i + 1,
					.bitmap = HS_HOP_TIMESTAMP,
					.ts_ns = (uint64_t)visits[i].came_ns};
	}
	return report;
}

static const struct hs_qos_hop *hop_behind(const struct hs_qos_hop *hops, unsigned n, uint32_t from)
{
	for (unsigned i = 0; i < n; i++)
		if (hops[i].from == from)
			return &hops[i];
	return NULL;
}

static void windows_have_what_the_queues_did(void **state)
{
	(void)state;
	enum {
		SECONDS = 25
	};
	static struct truth truth[SECONDS + 2][NODES], whole[NODES];
	struct queue queues[NODES] = {
			{.send_ns = 8 * US}, {.send_ns = 900 * US}, {.send_ns = 3 * MS}};
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	struct hs_rng rng;
	int64_t now_ns = T0 + MS;
	hs_rng_init(&rng, 3);
	for (uint64_t number = 1; now_ns < T0 + SECONDS * SECOND; number++) {
		struct visit visits[NODES];
		uint32_t used[NODES];
		bool told = hs_rng_u32(&rng) % 8;
		int64_t at_ns = now_ns;
		for (unsigned i = 0; i < NODES; i++) {
			visits[i] = pass(&queues[i], at_ns);
			at_ns = visits[i].left_ns + LINK_NS;
			used[i] = hs_rng_u32(&rng) % 10001;
		}
		struct hs_report report = report_of(number, visits, at_ns, used, told);
		give(qos, &report);
		for (unsigned i = 0; i < NODES; i++) {
			note(&truth[(at_ns - T0 + SECOND - 1) / SECOND][i], &visits[i], used[i],
					told);
			note(&whole[i], &visits[i], used[i], told);
		}
		now_ns += hs_rng_u32(&rng) % (8 * MS);
	}
	const struct hs_qos_window *run = hs_qos_latest(qos, KEY.ns_id, 0);
	assert_non_null(run);
	for (unsigned i = 0; i < NODES; i++)
		check_node(hop_behind(run->hops, run->n_hops, i ? i + 1 : 0), &whole[i]);
	flush_all(qos);
	for (unsigned second = 1; second <= SECONDS; second++) {
		const struct caught *caught = caught_ending(&catcher, SECOND, T0 + second * SECOND);
		assert_non_null(caught);
		for (unsigned i = 0; i < NODES; i++)
			check_node(hop_behind(caught->hops, caught->window.n_hops, i ? i + 1 : 0),
					&truth[second][i]);
		assert_false(caught->window.e2e.has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_HOP_LATENCY));
	}
	assert_true(whole[2].deepest > 1 && whole[2].most > 6 * MS); // they did wait
	monitor_free(qos, &catcher);
}

// A longer window is the sum of its shorter ones, and one of any place is made of the same reports.
static void longer_and_moved_windows_have_the_same(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	uint64_t sum = 0;
	for (unsigned i = 1; i <= 900; i++) {
		int64_t came_ns = T0 + i * 10 * MS;
		struct visit visits[NODES];
		const uint32_t used[NODES] = {i, 0, 10000};
		for (unsigned k = 0; k < NODES; k++)
			visits[k] = (struct visit){came_ns + k * MS, came_ns + k * MS + i, i % 7};
		struct hs_report report = report_of(i, visits, came_ns + NODES * MS, used, true);
		give(qos, &report);
		sum += i;
	}
	const struct hs_qos_window *some =
			hs_qos_slide(qos, KEY.ns_id, T0 + 1003 * MS, T0 + 2003 * MS);
	assert_non_null(some);
	assert_int_equal(some->reports, 100); // 101 to 200
	assert_int_equal(some->hops[1].hop_latency_ns.min, 101);
	assert_int_equal(some->hops[1].hop_latency_ns.max, 200);
	assert_int_equal(some->hops[1].hop_latency_ns.mean, 151); // 150.5
	flush_all(qos);
	const struct caught *long_one = caught_ending(&catcher, 10 * SECOND, T0 + 10 * SECOND);
	assert_non_null(long_one);
	const struct hs_qos_hop *hop = &long_one->hops[0];
	assert_int_equal(hop->hop_latency_ns.mean, (sum + 450) / 900);
	assert_int_equal(hop->hop_latency_ns.max, 900);
	assert_int_equal(hop->queue_packets.max, 6);
	assert_true(fabs(hop->link_utilisation_ratio.max - 0.09) < 1e-12);
	assert_true(long_one->hops[1].link_utilisation_ratio.max == 0);
	assert_true(long_one->hops[2].link_utilisation_ratio.mean == 1);
	monitor_free(qos, &catcher);
}

// A report without stamps: no delay, and yet what the nodes say is there.
static void what_a_format_does_not_give_is_absent(void **state)
{
	(void)state;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	for (unsigned i = 1; i <= 5; i++) {
		const struct visit visits[NODES] = {
				{T0, T0 + 5, 0}, {T0, T0 + 6, 0}, {T0, T0 + 7, 0}};
		const uint32_t used[NODES] = {0};
		struct hs_report report = report_of(i, visits, T0 + i * MS, used, true);
		report.telemetry.e2e.bitmap = 0;
		for (unsigned k = 0; k < NODES; k++) {
			report.telemetry.hops[k].bitmap = 0;
			report.telemetry.locals[k].has = k == 1 ? 0 : HS_LOCAL_HOP_LATENCY;
		}
		give(qos, &report);
	}
	flush_all(qos);
	const struct caught *caught = caught_at(&catcher, SECOND, 0);
	assert_int_equal(caught->window.n_hops, NODES);
	assert_int_equal(caught->hops[0].hop_latency_ns.mean, 5);
	assert_int_equal(caught->hops[2].hop_latency_ns.mean, 7);
	for (unsigned i = 0; i < NODES; i++) {
		const struct hs_qos_hop *hop = &caught->hops[i];
		assert_int_equal(!!(hop->has & HS_QOS_HAS_HOP_LATENCY), i != 1);
		assert_false(hop->has & (HS_QOS_HAS_QUEUE | HS_QOS_HAS_UTILISATION |
							HS_QOS_HAS_DELAY | HS_QOS_HAS_LOSS));
	}
	monitor_free(qos, &catcher);
}

// Five reports by nodes of these ids, the source first; the window of them.
static const struct caught *window_of_nodes(struct catcher *catcher, struct hs_qos **qos,
		const uint32_t ids[NODES], bool missing)
{
	*qos = monitor_new(catcher);
	for (unsigned i = 1; i <= 5; i++) {
		const struct visit visits[NODES] = {
				{T0, T0 + 5, 0}, {T0 + 9, T0 + 11, 0}, {T0 + 20, T0 + 27, 0}};
		const uint32_t used[NODES] = {0};
		struct hs_report report = report_of(i, visits, T0 + i * MS, used, true);
		report.telemetry.e2e.node_id = ids[0];
		report.telemetry.hops[1].node_id = ids[1];
		report.telemetry.hops[0].node_id = ids[2];
		report.telemetry.nodes_missing = missing;
		give(*qos, &report);
	}
	const struct hs_qos_window *some = hs_qos_slide(*qos, KEY.ns_id, T0, T0 + 3 * MS);
	assert_non_null(some);
	assert_int_equal(some->path[0], ids[0]); // also of kept reports
	assert_int_equal(some->flags & HS_QOS_ENTRIES_MISSING, missing ? some->flags : 0);
	flush_all(*qos);
	const struct caught *caught = caught_at(catcher, SECOND, 0);
	assert_non_null(caught);
	return caught;
}

static void the_path_begins_with_the_id_of_the_source(void **state)
{
	(void)state;
	static const uint32_t ids[NODES] = {70000, 8, 6};
	struct catcher catcher;
	struct hs_qos *qos;
	const struct caught *caught = window_of_nodes(&catcher, &qos, ids, false);
	assert_int_equal(caught->window.n_path, 4);
	assert_memory_equal(caught->path, ids, sizeof(ids));
	assert_int_equal(caught->path[3], KEY.sink_node_id);
	assert_int_equal(caught->window.flags, 0);
	const struct hs_qos_hop *hop = hop_between(caught, 70000, 8);
	assert_non_null(hop);
	assert_int_equal(hop->delay.mean, 9);
	assert_int_equal(hop->hop_latency_ns.mean, 5);
	assert_non_null(hop_between(caught, 6, KEY.sink_node_id));
	monitor_free(qos, &catcher);
	caught = window_of_nodes(&catcher, &qos, ids, true);
	assert_int_equal(caught->window.flags, HS_QOS_ENTRIES_MISSING);
	hop = hop_between(caught, 6, KEY.sink_node_id); // what the sink counted itself is known
	assert_true(hop->has & HS_QOS_HAS_THROUGHPUT);
	assert_int_equal(hop->rx_packets, caught->window.e2e.rx_packets);
	assert_int_equal(hop->rx_bytes, caught->window.e2e.rx_bytes);
	monitor_free(qos, &catcher);
}

// INT says with M that a node had no room, and not which one. Without M, the oldest values are the
// source's. With it, they may be another node's.
static void one_path_of_which_packets_lack_values_is_not_several(void **state)
{
	static const struct visit visits[NODES] = {
			{T0, T0 + 5, 0}, {T0 + 9, T0 + 11, 0}, {T0 + 20, T0 + 27, 0}};
	static const uint32_t used[NODES] = {0};
	static const uint32_t lacking[][2] = {{6, 70000}, {8, 70000}, {6, 8}}; // the newest first
	(void)state;
	for (unsigned k = 0; k < 6; k++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		for (unsigned i = 1; i <= 50; i++) {
			struct hs_report report = report_of(i, visits, T0 + i * MS, used, true);
			struct hs_decoded *telemetry = &report.telemetry;
			telemetry->e2e.node_id = 70000;
			telemetry->hops[1].node_id = 8;
			telemetry->hops[0].node_id = 6;
			if (i % 2 == k % 2) {
				telemetry->e2e = (struct hs_e2e){.node_id = HS_NODE_UNKNOWN};
				telemetry->hops[0].node_id = lacking[k / 2][0];
				telemetry->hops[1].node_id = lacking[k / 2][1];
				telemetry->locals[2] = (struct hs_hop_local){0};
				telemetry->nodes_missing = true;
			}
			give(qos, &report);
		}
		flush_all(qos);
		const struct caught *caught = caught_at(&catcher, SECOND, 0);
		assert_non_null(caught);
		assert_true(caught->window.flags & HS_QOS_ENTRIES_MISSING);
		assert_false(caught->window.flags & HS_QOS_MULTIPATH);
		monitor_free(qos, &catcher);
	}
}

// No zeros stand for ids: what is not known is not there, and a flag says why.
static void a_path_of_nodes_without_ids_is_absent_and_flagged(void **state)
{
	static const uint32_t cases[][NODES] = {{HS_NODE_UNKNOWN, HS_NODE_UNKNOWN, HS_NODE_UNKNOWN},
			{HS_NODE_UNKNOWN, 8, 9}, {7, HS_NODE_UNKNOWN, 9}};
	for (unsigned i = 0; i < 3; i++) {
		struct catcher catcher;
		struct hs_qos *qos;
		struct caught caught = *window_of_nodes(&catcher, &qos, cases[i], false);
		assert_int_equal(caught.window.flags, HS_QOS_NODES_UNKNOWN);
		assert_int_equal(caught.window.n_hops, 3);
		assert_int_equal(caught.hops[1].hop_latency_ns.mean, 2);
		assert_int_equal(caught.hops[1].delay.mean, 11);
		caught.window.hops = caught.hops;
		caught.window.path = caught.path;
		json_t *json = hs_qos_window_json(&caught.window, NULL);
		json_t *body = json_object_get(json, "qos_report");
		assert_null(json_object_get(body, "path"));
		for (unsigned k = 0; k < 3; k++) {
			json_t *hop = json_array_get(json_object_get(body, "hops"), k);
			assert_int_equal(!json_object_get(hop, "from"),
					cases[i][k] == HS_NODE_UNKNOWN);
			assert_int_equal(!json_object_get(hop, "to"),
					k < 2 && cases[i][k + 1] == HS_NODE_UNKNOWN);
		}
		assert_true(hs_qos_window_take(body));
		json_decref(json);
		monitor_free(qos, &catcher);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(windows_have_what_the_queues_did),
			cmocka_unit_test(longer_and_moved_windows_have_the_same),
			cmocka_unit_test(what_a_format_does_not_give_is_absent),
			cmocka_unit_test(the_path_begins_with_the_id_of_the_source),
			cmocka_unit_test(one_path_of_which_packets_lack_values_is_not_several),
			cmocka_unit_test(a_path_of_nodes_without_ids_is_absent_and_flagged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
