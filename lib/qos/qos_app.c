// SPDX-License-Identifier: BSD-3-Clause
#include "qos_app.h"

#include "ip_address.h"

#include <stdlib.h>
#include <string.h>

#define MAX_GAP_NS 1000000000ll // beyond it, a packet down does not answer one up

#define MOST_TRIPS (HS_TRIPS > HS_QOS_REPORTS ? HS_TRIPS : HS_QOS_REPORTS)

struct app_flow {
	const struct hs_rule *rule;
	const json_t *window;
	const struct hs_trips *trips;
	const struct app_flow *opposite;
	bool down; // the second of the two
};

struct app {
	struct hs_qos *qos;
	int64_t window_ns;
	struct app_flow *flows; // by ns_id
	size_t n;
	bool failed;
};

static void put(struct app *app, json_t *to, const char *key, json_t *value)
{
	app->failed |= json_object_set_new(to, key, value) != 0;
}

// ---- directions ----

static bool same_port(uint16_t a, uint16_t b)
{
	return a == b || !a || !b;
}

bool hs_qos_app_opposite(const struct hs_rule *a, const struct hs_rule *b)
{
	return a->protocol == b->protocol && memcmp(a->src_ip, b->dst_ip, sizeof(a->src_ip)) == 0 &&
	       memcmp(a->dst_ip, b->src_ip, sizeof(a->dst_ip)) == 0 &&
	       same_port(a->src_port, b->dst_port) && same_port(a->dst_port, b->src_port);
}

static int by_ns_id(const void *a, const void *b)
{
	uint32_t x = ((const struct app_flow *)a)->rule->ns_id;
	uint32_t y = ((const struct app_flow *)b)->rule->ns_id;
	return (x > y) - (x < y);
}

// Each flow with the first other one that is free and goes the opposite way.
static void find_opposites(struct app *app)
{
	for (size_t i = 0; i < app->n; i++) {
		struct app_flow *up = &app->flows[i];
		for (size_t j = i + 1; j < app->n && !up->opposite; j++) {
			struct app_flow *down = &app->flows[j];
			if (down->opposite || !hs_qos_app_opposite(up->rule, down->rule))
				continue;
			up->opposite = down;
			down->opposite = up;
			down->down = true;
		}
	}
}

static void put_address(struct app *app, json_t *to, const char *key, const uint8_t *ip)
{
	char text[HS_IP_ADDRESS_TEXT];
	put(app, to, key, json_string(hs_ip_address_write(ip, text)));
}

static json_t *flow_json(struct app *app, const struct app_flow *flow)
{
	static const char *const taken[] = {
			"window_ns", "end_ns", "reports", "stale", "path", "e2e", "flags"};
	const struct hs_rule *rule = flow->rule;
	json_t *json = json_object();

	put(app, json, "ns_id", json_integer(rule->ns_id));
	put_address(app, json, "from", rule->src_ip);
	put_address(app, json, "to", rule->dst_ip);
	put(app, json, "protocol", json_string(hs_rule_protocol_name(rule->protocol)));
	put(app, json, "src_port", json_integer(rule->src_port));
	put(app, json, "dst_port", json_integer(rule->dst_port));
	if (flow->opposite) {
		put(app, json, "direction", json_string(flow->down ? "down" : "up"));
		put(app, json, "opposite", json_integer(flow->opposite->rule->ns_id));
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		json_t *value = json_object_get(flow->window, taken[i]);
		if (value)
			put(app, json, taken[i], json_incref(value));
	}
	return json;
}

// ---- round trip ----

struct collected {
	struct hs_trip *trips;
	size_t n;
};

static void collect(void *user, const struct hs_report *report)
{
	struct collected *collected = user;
	collected->n += hs_trip_of(report, &collected->trips[collected->n]);
}

// Trips of the reports that are not older than the window, as seen from the newest.
static struct collected trips_of(const struct app *app, const struct app_flow *flow)
{
	struct collected all = {malloc(MOST_TRIPS * sizeof(struct hs_trip)), 0};
	int64_t newest = INT64_MIN;
	size_t kept = 0;

	if (!all.trips)
		return all;
	if (flow->trips) {
		all.n = flow->trips->n;
		if (all.n)
			memcpy(all.trips, flow->trips->items, all.n * sizeof(struct hs_trip));
	} else {
		hs_qos_reports(app->qos, flow->rule->ns_id, HS_QOS_REPORTS, collect, &all);
	}
	for (size_t i = 0; i < all.n; i++)
		if (all.trips[i].sink_ns > newest)
			newest = all.trips[i].sink_ns;
	for (size_t i = 0; i < all.n; i++)
		if (app->window_ns <= 0 || all.trips[i].sink_ns > newest - app->window_ns)
			all.trips[kept++] = all.trips[i];
	all.n = kept;
	return all;
}

static void add_trips(
		struct app *app, const struct app_flow *flow, struct hs_round_trips *round_trips)
{
	struct collected up = trips_of(app, flow), down = trips_of(app, flow->opposite);
	app->failed |= !up.trips || !down.trips;
	if (!app->failed)
		app->failed |= hs_round_trips_add(round_trips, up.trips, up.n, down.trips, down.n,
					       MAX_GAP_NS) != 0;
	free(up.trips);
	free(down.trips);
}

static void put_round_trip(struct app *app, json_t *to)
{
	struct hs_round_trips trips = {0};
	struct hs_round_trip result;

	for (size_t i = 0; i < app->n; i++)
		if (app->flows[i].opposite && !app->flows[i].down)
			add_trips(app, &app->flows[i], &trips);
	if (!hs_round_trips_result(&trips, &result)) {
		json_t *delay = json_pack("{s:I, s:I, s:I}", "mean", (json_int_t)result.mean_ns,
				"min", (json_int_t)result.min_ns, "p50", (json_int_t)result.p50_ns);
		if (result.pairs >= 100)
			put(app, delay, "p99", json_integer(result.p99_ns));
		put(app, delay, "max", json_integer(result.max_ns));
		put(app, to, "round_trip_ns", delay);
		put(app, to, "round_trip_pairs", json_integer((json_int_t)result.pairs));
		put(app, to, "clocks_differ", json_boolean(result.clocks_differ));
	}
	hs_round_trips_fini(&trips);
}

static bool mean_delay(const json_t *hop, int64_t *mean_ns)
{
	const json_t *mean = json_object_get(json_object_get(hop, "delay_ns"), "mean");
	*mean_ns = json_integer_value(mean);
	return mean;
}

// What the two directions take by the clocks of their ends, added up; the mean of all pairs.
static void put_one_way_sum(struct app *app, json_t *to)
{
	__int128 sum = 0;
	int64_t n = 0;

	for (size_t i = 0; i < app->n; i++) {
		const struct app_flow *up = &app->flows[i];
		int64_t up_ns, down_ns;
		if (!up->opposite || up->down ||
				!mean_delay(json_object_get(up->window, "e2e"), &up_ns) ||
				!mean_delay(json_object_get(up->opposite->window, "e2e"), &down_ns))
			continue;
		sum += (__int128)up_ns + down_ns;
		n++;
	}
	if (n)
		put(app, to, "one_way_sum_ns", json_integer((json_int_t)(sum / n)));
}

// ---- the worst hop ----

static json_t *hop_json(struct app *app, const struct app_flow *flow, const json_t *hop)
{
	static const char *const taken[] = {"from", "to"};
	json_t *json = json_object();

	put(app, json, "ns_id", json_integer(flow->rule->ns_id));
	for (size_t i = 0; i < 2; i++)
		put(app, json, taken[i], json_incref(json_object_get(hop, taken[i])));
	return json;
}

static void put_worst(struct app *app, json_t *to)
{
	const struct app_flow *lossy = NULL, *slow = NULL;
	const json_t *most_lost = NULL, *longest = NULL;
	double ratio = 0;
	int64_t delay_ns = INT64_MIN, mean_ns;
	json_t *worst = json_object();

	for (size_t i = 0; i < app->n; i++) {
		const struct app_flow *flow = &app->flows[i];
		json_t *hop;
		size_t j;
		if (json_is_true(json_object_get(flow->window, "stale")))
			continue;
		json_array_foreach (json_object_get(flow->window, "hops"), j, hop) {
			double lost = json_number_value(json_object_get(hop, "loss_ratio"));
			if (lost > ratio) {
				ratio = lost;
				most_lost = hop;
				lossy = flow;
			}
			if (mean_delay(hop, &mean_ns) && mean_ns > delay_ns) {
				delay_ns = mean_ns;
				longest = hop;
				slow = flow;
			}
		}
	}
	if (most_lost) {
		json_t *hop = hop_json(app, lossy, most_lost);
		put(app, hop, "loss_ratio", json_real(ratio));
		put(app, worst, "loss", hop);
	}
	if (longest) {
		json_t *hop = hop_json(app, slow, longest);
		put(app, hop, "delay_ns", json_integer(delay_ns));
		put(app, worst, "delay", hop);
	}
	put(app, to, "worst_hop", worst);
}

// ---- all of it ----

static json_t *app_json(struct app *app, uint32_t app_id)
{
	json_t *json = json_object(), *flows = json_array();

	put(app, json, "app_id", json_integer(app_id));
	for (size_t i = 0; i < app->n; i++)
		app->failed |= json_array_append_new(flows, flow_json(app, &app->flows[i])) != 0;
	put(app, json, "flows", flows);
	put_round_trip(app, json);
	put_one_way_sum(app, json);
	put_worst(app, json);
	if (!app->failed)
		return json;
	json_decref(json);
	return NULL;
}

json_t *hs_qos_app_json(struct hs_qos *qos, uint32_t app_id, const struct hs_qos_app_flow *flows,
		size_t n, int64_t window_ns)
{
	struct app app = {.qos = qos, .window_ns = window_ns, .n = n};

	app.flows = calloc(n + 1, sizeof(*app.flows));
	if (!app.flows)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		app.flows[i].rule = flows[i].rule;
		app.flows[i].window = flows[i].window;
		app.flows[i].trips = flows[i].trips;
	}
	qsort(app.flows, n, sizeof(*app.flows), by_ns_id);
	find_opposites(&app);
	json_t *json = app_json(&app, app_id);
	free(app.flows);
	return json;
}
