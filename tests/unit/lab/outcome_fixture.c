// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_fixture.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME 562

static void describe(struct fixture *f)
{
	static const struct hs_scenario_node nodes[3] = {{.id = 0, .name = "src"},
			{.id = 1, .name = "sw1"}, {.id = 9, .name = "dst"}};
	*f = (struct fixture){.telemetry_bytes = 24};
	memcpy(f->nodes, nodes, sizeof(nodes));
	f->links[0] = (struct hs_scenario_link){.name = "src-sw1", .from = 0, .to = 1};
	f->links[1] = (struct hs_scenario_link){.name = "sw1-dst", .from = 1, .to = 2};
	for (int direction = 0; direction < 2; direction++) {
		f->links[0].directions[direction].delay_ns = 10 * MS;
		f->links[1].directions[direction].delay_ns = 20 * MS;
	}
	f->hosts[0] = (struct hs_scenario_host){
			.name = "src", .at = 0, .addr = {0x20, 1, [15] = 1}};
	f->hosts[1] = (struct hs_scenario_host){
			.name = "dst", .at = 2, .addr = {0x20, 1, [15] = 2}};
	f->traffic[0] = (struct hs_scenario_traffic){.name = "constant",
			.from = 0,
			.to = 1,
			.protocol = IPPROTO_UDP,
			.src_port = 5000,
			.dst_port = 6000,
			.rate_pps = 10,
			.payload_bytes = 500,
			.stop_ns = 4 * SECOND};
	f->flows[0] = (struct hs_scenario_flow){.name = "constant", .ns_id = 7, .app_id = 1};
	f->flows[1] = (struct hs_scenario_flow){
			.name = "constant/reply", .ns_id = 8, .app_id = 1, .reverse = true};
	f->scenario = (struct hs_scenario){.name = "by hand",
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
			.expects = f->expects};
}

void fixture_init(struct fixture *f)
{
	describe(f);
	f->run = (struct hs_run){.scenario = &f->scenario,
			.streams = f->streams,
			.totals = f->totals,
			.links = f->counters,
			.start_ns = T0,
			.end_ns = T0 + 4 * SECOND,
			.config_changed_ns = INT64_MAX};
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

void fixture_depart(struct fixture *f, uint64_t number, int64_t at_ns,
		struct hs_packet_truth *packet_truth)
{
	bool telemetry = number % 5 == 0;
	uint32_t wire = FRAME + (telemetry ? f->telemetry_bytes : 0);
	*packet_truth = (struct hs_packet_truth){.flow = 0, .number = number, .bytes = FRAME};
	hs_truth_arrive(f->run.truth, packet_truth, 0, at_ns, at_ns, FRAME);
	hs_truth_send(f->run.truth, packet_truth, 1, wire, telemetry);
}

void fixture_pass(struct fixture *f, struct hs_packet_truth *packet_truth, int64_t at_ns)
{
	uint32_t wire = FRAME + (packet_truth->telemetry ? f->telemetry_bytes : 0);
	hs_truth_arrive(f->run.truth, packet_truth, 1, at_ns, at_ns, wire);
	hs_truth_send(f->run.truth, packet_truth, 2, wire, packet_truth->telemetry);
}

void fixture_arrive(struct fixture *f, struct hs_packet_truth *packet_truth, int64_t at_ns)
{
	uint32_t wire = FRAME + (packet_truth->telemetry ? f->telemetry_bytes : 0);
	hs_truth_arrive(f->run.truth, packet_truth, 2, at_ns, at_ns + f->sink_ahead_ns, wire);
	hs_truth_sink(f->run.truth, packet_truth);
}

void fixture_packet(struct fixture *f, uint64_t number, int lost_on)
{
	int64_t at_ns = T0 + (int64_t)(number - 1) * 100 * MS;
	struct hs_packet_truth packet_truth;
	fixture_depart(f, number, at_ns, &packet_truth);
	if (lost_on != 1)
		fixture_pass(f, &packet_truth, at_ns + 10 * MS);
	if (!lost_on)
		fixture_arrive(f, &packet_truth, at_ns + 30 * MS);
}

void fixture_send(struct fixture *f)
{
	for (uint64_t number = 1; number <= 40; number++) {
		int lost_on = number == 13 ? 1 : number == 17 || number == 22 ? 2 : 0;
		fixture_packet(f, number, lost_on);
	}
}

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

json_t *fixture_window(const struct fixture *f, struct told told)
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
	fixture_publish(f, fixture_window(f, told));
}

void fixture_publish(struct fixture *f, json_t *window)
{
	char *text = json_dumps(window, JSON_COMPACT | JSON_REAL_PRECISION(15));
	need_measured(f);
	assert_int_equal(hs_measured_take(f->run.measured, "qos.7", text), 0);
	free(text);
	json_decref(window);
}

void fixture_tell_run(struct fixture *f, struct told told)
{
	json_t *json = fixture_window(f, told);
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

struct fixture_point fixture_point(
		const struct fixture *f, size_t row, size_t window, enum hs_lab_metric_kind kind)
{
	const json_t *hops = fixture_at(f, "windows", window, "hops");
	const json_t *hop = row < json_array_size(hops) ? json_array_get(hops, row)
							: fixture_at(f, "windows", window, "e2e");
	return (struct fixture_point){hs_measured_number(json_object_get(hop, "measured"), kind),
			hs_measured_number(json_object_get(hop, "truth"), kind),
			hs_measured_number(json_object_get(hop, "configured"), kind)};
}

struct fixture_mean fixture_mean(const struct fixture *f, size_t row, enum hs_lab_metric_kind kind)
{
	const json_t *of = fixture_at(f, "rows", row, hs_lab_kinds[kind].word);
	struct fixture_mean mean = {
			.n = (int)json_integer_value(json_object_get(of, "windows")),
			.measured = hs_outcome_number(of, "measured"),
			.truth = hs_outcome_number(of, "truth"),
			.configured = hs_outcome_number(of, "configured"),
			.mae_truth = hs_outcome_number(of, "mae.truth"),
			.mae_configured = hs_outcome_number(of, "mae.configured"),
			.max_error = hs_outcome_number(of, "max_error"),
			.mean_error = hs_outcome_number(of, "mean_error"),
	};
	for (size_t i = 0; i < json_array_size(json_object_get(f->result, "windows")); i++) {
		if (json_is_true(fixture_at(f, "windows", i, "partial")) ||
				json_is_true(fixture_at(f, "windows", i, "stale")))
			continue;
		mean.n_truth += !isnan(fixture_point(f, row, i, kind).truth);
		mean.n_configured += !isnan(fixture_point(f, row, i, kind).configured);
	}
	return mean;
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
