// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_fixture.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME 562

void fixture_init(struct fixture *f)
{
	*f = (struct fixture){
			.telemetry_bytes = 24,
			.nodes = {{.id = 0, .name = "src"}, {.id = 1, .name = "sw1"},
					{.id = 9, .name = "dst"}},
			.links = {{.name = "src-sw1", .from = 0, .to = 1},
					{.name = "sw1-dst", .from = 1, .to = 2}},
			.hosts = {{.name = "src", .at = 0, .addr = {0x20, 1, [15] = 1}},
					{.name = "dst", .at = 2, .addr = {0x20, 1, [15] = 2}}},
			.traffic = {{.name = "constant",
					.from = 0,
					.to = 1,
					.protocol = IPPROTO_UDP,
					.src_port = 5000,
					.dst_port = 6000,
					.rate_pps = 10,
					.payload_bytes = 500,
					.stop_ns = 4 * SECOND}},
			.flows = {{.name = "constant", .ns_id = 7, .app_id = 1},
					{.name = "constant/reply",
							.ns_id = 8,
							.app_id = 1,
							.reverse = true}},
			.scenario = {.name = "by hand",
					.seed = 1,
					.duration_ns = 4 * SECOND,
					.window_ns = SECOND,
					.keep_windows = true,
					.mtu = 1500,
					.n_nodes = 3,
					.nodes = f->nodes,
					.n_links = 2,
					.links = f->links,
					.n_hosts = 2,
					.hosts = f->hosts,
					.n_traffic = 1,
					.traffic = f->traffic,
					.n_flows = 1,
					.flows = f->flows,
					.expects = f->expects},
			.run = {.scenario = &f->scenario,
					.streams = f->streams,
					.totals = f->totals,
					.links = f->counters,
					.start_ns = T0,
					.end_ns = T0 + 4 * SECOND,
					.config_changed_ns = INT64_MAX},
	};
	for (int direction = 0; direction < 2; direction++) {
		f->links[0].directions[direction].delay_ns = 10 * MS;
		f->links[1].directions[direction].delay_ns = 20 * MS;
	}
	assert_int_equal(hs_truth_create(2, SECOND, &f->run.truth), 0);
}

void fixture_fini(struct fixture *f)
{
	json_decref(f->result);
	hs_measured_destroy(f->run.measured);
	hs_truth_destroy(f->run.truth);
	hs_stream_destroy(f->streams[0]);
}

int fixture_setup(void **state)
{
	struct fixture *f = malloc(sizeof(*f));
	fixture_init(f);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	fixture_fini(*state);
	free(*state);
	return 0;
}

// ---- packets ----

#define MOST_UNDER_WAY 4

struct under_way {
	int64_t at_ns;
	struct hs_packet_truth packet_truth;
};

static struct fate fate_of(uint64_t number, const struct fate *fates)
{
	for (; fates->number; fates++)
		if (fates->number == number)
			return *fates;
	return (struct fate){.number = number};
}

// Sends a packet by src and by sw1. Returns how many of it come over the second link.
static size_t send_one(struct fixture *f, const struct fate *fate, struct under_way *to)
{
	struct hs_truth *truth = f->run.truth;
	struct hs_packet_truth packet = {.number = fate->number, .bytes = FRAME}, copy;
	int64_t at_ns = T0 + (int64_t)(fate->number - 1) * 100 * MS, there_ns = at_ns + 10 * MS;
	bool telemetry = fate->number % 5 == 0;
	uint32_t wire = FRAME + (telemetry ? f->telemetry_bytes : 0);
	if (fate->restarted)
		hs_truth_restart(truth, 1);
	hs_truth_arrive(truth, &packet, 0, at_ns, at_ns, FRAME);
	hs_truth_send(truth, &packet, 1, wire, telemetry);
	if (fate->lost_on == 1)
		return 0;
	hs_truth_arrive(truth, &packet, 1, there_ns, there_ns, wire);
	if (fate->lost_on == 3)
		return 0;
	hs_truth_send(truth, &packet, 2, wire, telemetry);
	copy = packet;
	copy.copy = true;
	to[0] = (struct under_way){at_ns + (fate->way_ms ? fate->way_ms : 30) * MS, packet};
	to[1] = (struct under_way){at_ns + fate->copy_ms * MS, copy};
	return fate->lost_on ? 0 : fate->copy_ms ? 2 : 1;
}

static int by_time(const void *a, const void *b)
{
	const struct under_way *x = a, *y = b;
	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

// Lets dst receive what arrives before this time, in the order of arrival. Returns how many packets
// stay under way.
static size_t receive(struct fixture *f, struct under_way *under_way, size_t n, int64_t until_ns)
{
	size_t received = 0;
	qsort(under_way, n, sizeof(*under_way), by_time);
	for (; received < n && under_way[received].at_ns < until_ns; received++) {
		struct hs_packet_truth *packet = &under_way[received].packet_truth;
		int64_t at_ns = under_way[received].at_ns;
		hs_truth_arrive(f->run.truth, packet, 2, at_ns, at_ns + f->sink_ahead_ns,
				FRAME + (packet->telemetry ? f->telemetry_bytes : 0));
		hs_truth_sink(f->run.truth, packet);
	}
	memmove(under_way, under_way + received, (n - received) * sizeof(*under_way));
	return n - received;
}

void fixture_send_some(struct fixture *f, uint64_t first, uint64_t last, const struct fate *fates)
{
	struct under_way under_way[MOST_UNDER_WAY];
	size_t n = 0;
	for (uint64_t number = first; number <= last; number++) {
		const struct fate fate = fate_of(number, fates);
		assert_true(n + 2 <= MOST_UNDER_WAY);
		n += send_one(f, &fate, &under_way[n]);
		n = receive(f, under_way, n, T0 + (int64_t)number * 100 * MS);
	}
	receive(f, under_way, n, INT64_MAX);
}

void fixture_send(struct fixture *f)
{
	SEND(f, {13, 1}, {17, 2}, {22, 2});
}

// ---- messages ----

static void put(json_t *json, const char *key, int64_t value)
{
	json_object_set_new(json, key, json_integer(value));
}

static json_t *hop_json(const struct fixture *f, const struct told *told, int hop)
{
	const int64_t delays[3] = {10 * MS, 20 * MS + told->delay_ns, 30 * MS + told->delay_ns};
	const int64_t arrivals[3] = {10 * MS, 30 * MS, 30 * MS};
	int lost = hop == 0   ? told->lost[0]
		   : hop == 1 ? told->lost[1]
			      : told->lost[0] + told->lost[1];
	int64_t sent = told->b - told->a - (hop == 1 ? told->lost[0] : 0);
	int64_t received = sent - lost, bytes = received * FRAME;
	int64_t ahead = arrivals[hop] + (hop ? f->sink_ahead_ns : 0);
	int64_t start = T0 + (told->a - 1) * 100 * MS + ahead;
	int64_t end = T0 + (told->b - 1) * 100 * MS + ahead;
	json_t *json = json_pack(
			"{s:{}, s:f}", "delay_ns", "loss_ratio", (double)lost / (double)sent);
	put(json, "throughput_bps", bytes * 8 * SECOND / (end - start));
	put(json, "window_throughput_bps", bytes * 8);
	for (int i = 0; i < 4; i++)
		put(json_object_get(json, "delay_ns"),
				(const char *[]){"mean", "min", "p50", "max"}[i], delays[hop]);
	put(json, "jitter_ns", 0);
	put(json, "lost_packets", lost);
	put(json, "tx_packets", sent);
	put(json, "rx_packets", received);
	put(json, "rx_bytes", bytes);
	put(json, "span_start_ns", start);
	put(json, "span_end_ns", end + (hop ? told->span_ns : 0));
	if (hop < 2) {
		put(json, "from", hop);
		put(json, "to", hop ? 9 : 1);
		put(json, "node_lost_packets", 0);
	} else {
		put(json, "unattributed_lost_packets", 0);
	}
	return json;
}

static json_t *window_of(const struct fixture *f, struct told told)
{
	int64_t end = T0 + told.end * SECOND;
	json_t *json = json_pack(
			"{s:{s:i, s:i, s:s, s:i, s:i, s:I, s:I, s:I, s:i, s:b, s:[i,i,i], s:b, "
			"s:[o,o], s:o, s:[s*], s:{}}}",
			"qos_report", "seq", 1, "node_id", 9, "boot_id", "b", "ns_id", 7, "app_id",
			1, "window_ns", (json_int_t)SECOND, "start_ns", (json_int_t)(end - SECOND),
			"end_ns", (json_int_t)end, "reports", told.stale ? 0 : told.reports,
			"stale", told.stale, "path", 0, 1, 9, "path_changed", 0, "hops",
			hop_json(f, &told, 0), hop_json(f, &told, 1), "e2e", hop_json(f, &told, 2),
			"flags", told.flag, "clock");
	assert_non_null(json);
	if (told.stale)
		put(json_object_get(json, "qos_report"), "age_ns", 1);
	return json;
}

static void need_measured(struct fixture *f)
{
	if (!f->run.measured)
		assert_int_equal(hs_measured_create(&f->scenario, &f->run.measured), 0);
}

void fixture_tell(struct fixture *f, struct told told)
{
	json_t *window = window_of(f, told);
	char *text = json_dumps(window, JSON_COMPACT | JSON_REAL_PRECISION(15));
	need_measured(f);
	assert_int_equal(hs_measured_take(f->run.measured, "qos.7", text), 0);
	free(text);
	json_decref(window);
}

void fixture_tell_run(struct fixture *f, struct told told)
{
	json_t *json = window_of(f, told);
	need_measured(f);
	json_t *body = json_object_get(json, "qos_report");
	json_object_set_new(body, "run", json_true());
	assert_int_equal(hs_measured_take_run(f->run.measured, body), 0);
	json_decref(json);
}

void fixture_tell_all(struct fixture *f)
{
	TELL(f, 2, 10, 20, 2, .lost = {1, 1});
	TELL(f, 3, 20, 30, 2, .lost = {0, 1});
}

void fixture_compute(struct fixture *f)
{
	static const struct hs_stream_macs macs = {
			.own = {{2, [5] = 1}, {2, [5] = 2}}, .next = {{2, [5] = 2}, {2, [5] = 1}}};
	struct hs_error err;
	need_measured(f);
	if (!f->streams[0])
		assert_int_equal(hs_stream_create(&f->scenario, 0, 1, T0, &macs, &f->streams[0],
						 &err),
				0);
	json_decref(f->result);
	f->result = hs_outcome_json(&f->run);
	assert_non_null(f->result);
}

void fixture_run(struct fixture *f)
{
	fixture_send(f);
	fixture_tell_all(f);
	fixture_compute(f);
}

const json_t *fixture_at(const struct fixture *f, const char *list, size_t index, const char *path)
{
	const json_t *at = json_array_get(json_object_get(f->result, list), index);
	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1)
		at = json_object_getn(at, path, (size_t)(dot - path));
	return json_object_get(at, path);
}

json_int_t fixture_integer(
		const struct fixture *f, const char *list, size_t index, const char *path)
{
	const json_t *value = fixture_at(f, list, index, path);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

const char *fixture_text(const struct fixture *f, const char *list, size_t index, const char *key)
{
	const char *text = json_string_value(fixture_at(f, list, index, key));
	assert_non_null(text);
	return text;
}

static double side_of(const struct fixture *f, size_t row, size_t window, const char *side,
		enum hs_lab_metric_kind kind)
{
	const json_t *hop = row < 2 ? json_array_get(fixture_at(f, "windows", window, "hops"), row)
				    : fixture_at(f, "windows", window, "e2e");
	return hs_measured_number(json_object_get(hop, side), kind);
}

void fixture_check(const struct fixture *f, size_t window, const char *side,
		enum hs_lab_metric_kind kind, double first, double second, double e2e)
{
	const double expected[] = {first, second, e2e};
	for (size_t row = 0; row < 3; row++) {
		double value = side_of(f, row, window, side, kind);
		if (isnan(expected[row]))
			assert_true(isnan(value));
		else
			assert_near(value, expected[row], 1e-12 * fabs(expected[row]));
	}
}

int fixture_windows(
		const struct fixture *f, size_t row, enum hs_lab_metric_kind kind, const char *side)
{
	int n = 0;
	for (size_t i = 0; i < json_array_size(json_object_get(f->result, "windows")); i++)
		n += !json_is_true(fixture_at(f, "windows", i, "partial")) &&
		     !json_is_true(fixture_at(f, "windows", i, "stale")) &&
		     !isnan(side_of(f, row, i, side, kind));
	return n;
}

double fixture_row(
		const struct fixture *f, size_t row, enum hs_lab_metric_kind kind, const char *path)
{
	return hs_outcome_number(fixture_at(f, "rows", row, hs_lab_kinds[kind].word), path);
}

struct fixture_verdict fixture_judge(struct fixture *f, struct hs_scenario_expect expect)
{
	f->scenario.n_expects = 1;
	f->scenario.expects = f->expects;
	f->expects[0] = expect;
	fixture_compute(f);
	const json_t *reason = fixture_at(f, "expect", 0, "reason");
	return (struct fixture_verdict){
			hs_outcome_number(json_array_get(json_object_get(f->result, "expect"), 0),
					"measured"),
			json_is_true(fixture_at(f, "expect", 0, "met")),
			reason ? json_string_value(reason) : ""};
}
