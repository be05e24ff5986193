// SPDX-License-Identifier: BSD-3-Clause
#include "qos_app.h"

#include "ip_address.h"

#include <stdlib.h>
#include <string.h>

#define MAX_GAP_NS 1000000000ll // a packet down that comes later does not answer the one up

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

// ---- directions ----

static bool same_port(uint16_t a, uint16_t b)
{
	return a == b || !a || !b;
}

bool hs_qos_app_opposite(const struct hs_rule *a, const struct hs_rule *b)
{
	return a->protocol == b->protocol && memcmp(a->src_ip, b->dst_ip, sizeof(a->src_ip)) == 0 &&
	       memcmp(a->dst_ip, b->src_ip, sizeof(a->dst_ip)) == 0 &&
	       a->src_host_bits == b->dst_host_bits && a->dst_host_bits == b->src_host_bits &&
	       same_port(a->src_port, b->dst_port) && same_port(a->dst_port, b->src_port);
}

static int by_ns_id(const void *a, const void *b)
{
	uint32_t x = ((const struct app_flow *)a)->rule->ns_id;
	uint32_t y = ((const struct app_flow *)b)->rule->ns_id;
	return (x > y) - (x < y);
}

// Pairs each flow with the first unpaired flow of the opposite direction.
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

// ---- a flow ----

struct shown_flow {
	uint32_t ns_id, opposite;
	char from[HS_IP_ADDRESS_TEXT], to[HS_IP_ADDRESS_TEXT];
	uint16_t src_port, dst_port;
	const char *protocol, *direction;
	json_t *window;
};

#define FLOW(...) HS_SCHEMA_ROW(struct shown_flow, __VA_ARGS__)
#define OF_WINDOW(key, what)                                                                       \
	{                                                                                          \
		key, HS_SCHEMA_JSON, .optional = true, .shape = what,                              \
				     .help = "as in the flow's window"                             \
	}
static const struct hs_schema_field window_rows[] = {
		OF_WINDOW("window_ns", "{'type': 'integer'}"),
		OF_WINDOW("end_ns", "{'type': 'integer'}"),
		OF_WINDOW("reports", "{'type': 'integer'}"),
		OF_WINDOW("stale", "{'type': 'boolean'}"),
		OF_WINDOW("path", "{'type': 'array', 'items': {'type': 'integer'}}"),
		OF_WINDOW("e2e", "{'$ref': 'qos.json#/$defs/e2e'}"),
		OF_WINDOW("flags", "{'$ref': 'qos.json#/$defs/flags'}"),
		{NULL},
};
static const struct hs_schema_field flow_fields[] = {
		FLOW(UINT, ns_id, "the rule of the flow", .min = 1, .max = UINT32_MAX),
		FLOW(TEXT, from, "source of the flow", .required = true),
		FLOW(TEXT, to, "destination of the flow", .required = true),
		FLOW(STRING, protocol, "of the flow",
				.shape = "{'enum': ['tcp', 'udp', 'icmp', 'any']}"),
		FLOW(UINT, src_port, "0: any", .max = UINT16_MAX),
		FLOW(UINT, dst_port, "0: any", .max = UINT16_MAX),
		FLOW(STRING, direction, "of a pair of flows", .optional = true,
				.shape = "{'enum': ['up', 'down']}"),
		FLOW(UINT, opposite, "the other flow of the pair", .optional = true),
		FLOW(JSON_MEMBERS, window, NULL, .fields = window_rows),
		{NULL},
};

static json_t *flow_json(const struct app_flow *flow)
{
	const struct hs_rule *rule = flow->rule;
	struct shown_flow shown = {.ns_id = rule->ns_id,
			.protocol = hs_rule_protocol_name(rule->protocol),
			.src_port = rule->src_port,
			.dst_port = rule->dst_port};

	hs_ip_prefix_write(rule->src_ip, rule->src_host_bits, shown.from);
	hs_ip_prefix_write(rule->dst_ip, rule->dst_host_bits, shown.to);
	if (flow->opposite) {
		shown.direction = flow->down ? "down" : "up";
		shown.opposite = flow->opposite->rule->ns_id;
	}
	shown.window = json_object();
	for (const struct hs_schema_field *row = window_rows; row->key; row++)
		json_object_set(shown.window, row->key, json_object_get(flow->window, row->key));
	json_t *json = hs_schema_print(flow_fields, &shown);
	json_decref(shown.window);
	return json;
}

// ---- the application ----

struct shown_hop {
	uint32_t ns_id;
	int64_t from, to, delay_ns;
	double loss_ratio;
};

struct shown_app {
	uint32_t app_id;
	json_t *flows;
	uint32_t has_trip, has_sum;
	struct hs_round_trip trip;
	int64_t one_way_sum_ns;
	struct worst {
		struct shown_hop loss, delay;
	} worst_hop;
	size_t flows_left_out;
};

static bool has_p99(const void *trip)
{
	return ((const struct hs_round_trip *)trip)->pairs >= 100;
}

#define TRIP(key, member) key, HS_SCHEMA_INT, HS_SCHEMA_MEMBER(struct hs_round_trip, member)
static const struct hs_schema_field trip_fields[] = {
		{TRIP("mean", mean_ns), .help = "of all pairs"},
		{TRIP("min", min_ns), .help = "the shortest"},
		{TRIP("p50", p50_ns), .help = "the median"},
		{TRIP("p99", p99_ns), .given = has_p99,
				.help = "the 99th percentile, from 100 pairs on"},
		{TRIP("max", max_ns), .help = "the longest"},
		{NULL},
};
static bool knows_from(const void *hop)
{
	return ((const struct shown_hop *)hop)->from >= 0;
}

static bool knows_to(const void *hop)
{
	return ((const struct shown_hop *)hop)->to >= 0;
}

#define HOP(...) HS_SCHEMA_ROW(struct shown_hop, __VA_ARGS__)
#define OF_HOP                                                                                     \
	HOP(UINT, ns_id, "the rule of the flow"),                                                  \
			HOP(INT, from, "the node where the hop begins", .given = knows_from),      \
			HOP(INT, to, "the node where it ends", .given = knows_to)
static const struct hs_schema_field lossy_fields[] = {
		OF_HOP, HOP(REAL, loss_ratio, "lost packets of those sent"), {NULL}};
static const struct hs_schema_field slow_fields[] = {OF_HOP, HOP(INT, delay_ns, "mean"), {NULL}};
#define WORST(...) HS_SCHEMA_ROW(struct worst, OBJECT, __VA_ARGS__)
static const struct hs_schema_field worst_fields[] = {
		WORST(loss, "the hop that loses most", HS_SCHEMA_IF(struct worst, loss.ns_id),
				.fields = lossy_fields),
		WORST(delay, "the hop that takes longest", HS_SCHEMA_IF(struct worst, delay.ns_id),
				.fields = slow_fields),
		{NULL},
};
#define APP(...) HS_SCHEMA_ROW(struct shown_app, __VA_ARGS__)
#define OF_TRIP(member)                                                                            \
	HS_SCHEMA_MEMBER(struct shown_app, member), HS_SCHEMA_IF(struct shown_app, has_trip)
const struct hs_schema_field hs_qos_app_fields[] = {
		APP(UINT, app_id, "the application", .min = 1, .max = UINT32_MAX),
		APP(TAKEN, flows, "its flows", .items = flow_fields),
		{"round_trip_ns", HS_SCHEMA_OBJECT, OF_TRIP(trip), .fields = trip_fields,
				.help = "of pairs of packets up and down"},
		{"round_trip_pairs", HS_SCHEMA_UINT, OF_TRIP(trip.pairs), .help = "how many pairs"},
		{"clocks_differ", HS_SCHEMA_BOOL, OF_TRIP(trip.clocks_differ),
				.help = "one-way delays differ by more than the round trip"},
		APP(INT, one_way_sum_ns, "the mean delays of both directions, added up",
				HS_SCHEMA_IF(struct shown_app, has_sum)),
		APP(OBJECT, worst_hop, "of all flows", .fields = worst_fields),
		APP(UINT, flows_left_out, "flows for which there was no room", .optional = true),
		{NULL},
};

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

// Returns the trips that are at most a window's length older than the newest trip.
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

static void put_round_trip(struct app *app, struct shown_app *to)
{
	struct hs_round_trips trips = {0};

	for (size_t i = 0; i < app->n; i++)
		if (app->flows[i].opposite && !app->flows[i].down)
			add_trips(app, &app->flows[i], &trips);
	to->has_trip = hs_round_trips_result(&trips, &to->trip) == 0;
	hs_round_trips_fini(&trips);
}

static bool mean_delay(const json_t *hop, int64_t *mean_ns)
{
	const json_t *mean = json_object_get(json_object_get(hop, "delay_ns"), "mean");
	*mean_ns = json_integer_value(mean);
	return mean;
}

// Adds the mean delays of the two directions of each pair, by the clocks of their ends. Sets the
// mean over all pairs.
static void put_one_way_sum(const struct app *app, struct shown_app *to)
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
	to->has_sum = n > 0;
	to->one_way_sum_ns = n ? (int64_t)(sum / n) : 0;
}

// ---- the worst hop ----

// Returns the id of a hop's end, or -1 if the node did not send its id.
static int64_t end_of(const json_t *hop, const char *key)
{
	const json_t *id = json_object_get(hop, key);

	return id ? json_integer_value(id) : -1;
}

static struct shown_hop show_hop(const struct app_flow *flow, const json_t *hop)
{
	return (struct shown_hop){
			.ns_id = flow->rule->ns_id,
			.from = end_of(hop, "from"),
			.to = end_of(hop, "to"),
	};
}

static void put_worst(const struct app_flow *flow, struct worst *worst)
{
	json_t *hop;
	size_t i;

	json_array_foreach (json_object_get(flow->window, "hops"), i, hop) {
		double ratio = json_number_value(json_object_get(hop, "loss_ratio"));
		int64_t mean_ns;
		if (ratio > worst->loss.loss_ratio) {
			worst->loss = show_hop(flow, hop);
			worst->loss.loss_ratio = ratio;
		}
		if (mean_delay(hop, &mean_ns) &&
				(!worst->delay.ns_id || mean_ns > worst->delay.delay_ns)) {
			worst->delay = show_hop(flow, hop);
			worst->delay.delay_ns = mean_ns;
		}
	}
}

// ---- the whole answer ----

static json_t *app_json(struct app *app, struct shown_app *shown)
{
	put_round_trip(app, shown);
	if (app->failed)
		return NULL;
	put_one_way_sum(app, shown);
	shown->flows = json_array();
	for (size_t i = 0; i < app->n; i++) {
		json_array_append_new(shown->flows, flow_json(&app->flows[i]));
		if (!json_is_true(json_object_get(app->flows[i].window, "stale")))
			put_worst(&app->flows[i], &shown->worst_hop);
	}
	return hs_schema_print(hs_qos_app_fields, shown);
}

json_t *hs_qos_app_json(struct hs_qos *qos, uint32_t app_id, const struct hs_qos_app_flow *flows,
		size_t n, size_t left_out, int64_t window_ns)
{
	struct shown_app shown = {.app_id = app_id, .flows_left_out = left_out};
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
	json_t *json = app_json(&app, &shown);
	free(app.flows);
	return json;
}
