// SPDX-License-Identifier: BSD-3-Clause
#include "influx_collect.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#define NOBODY	     UINT32_MAX			// a node or queue that is not told
#define PATH_BYTES   (11 * HS_COLLECT_MAX_HOPS) // ten digits and a sign for each hop
#define FLOW_BYTES   128
#define NAME_BYTES   256
#define NUMBER_BYTES 12

// ---- words ----

static void write_address(const uint8_t address[16], bool is_ipv4, char text[INET6_ADDRSTRLEN])
{
	inet_ntop(is_ipv4 ? AF_INET : AF_INET6, address, text, INET6_ADDRSTRLEN);
}

static const char *write_id(uint32_t id, char text[NUMBER_BYTES])
{
	if (id == NOBODY)
		snprintf(text, NUMBER_BYTES, "?");
	else
		snprintf(text, NUMBER_BYTES, "%" PRIu32, id);
	return text;
}

static void write_path(const struct hs_collect_flow *flow, char between, char path[PATH_BYTES])
{
	char node[NUMBER_BYTES];
	size_t len = 0;

	path[0] = '\0';
	for (unsigned i = 0; i < flow->n_hops; i++) {
		if (i)
			path[len++] = between;
		len += (size_t)snprintf(path + len, PATH_BYTES - len, "%s",
				write_id(flow->hops[i].node_id, node));
	}
}

static const char *cause_word(uint8_t cause)
{
	static const char *const words[HS_COLLECT_CAUSES] = {
			[HS_COLLECT_NEW] = "new",
			[HS_COLLECT_PATH] = "path",
			[HS_COLLECT_CHANGE] = "change",
			[HS_COLLECT_GAP] = "gap",
			[HS_COLLECT_PUSH] = "push",
	};
	return words[cause];
}

// ---- tags and fields ----

struct source {
	const char *collector;
	const struct hs_influx_config *config;
	const struct hs_collect_event *event;
};

static bool is_of_flow(const struct hs_collect_point *point)
{
	return point->kind == HS_COLLECT_POINT_FLOW || point->kind == HS_COLLECT_POINT_HOP;
}

static const char *measurement_of(const struct hs_collect_point *point)
{
	static const char *const names[HS_COLLECT_POINT_KINDS] = {
			[HS_COLLECT_POINT_FLOW] = "hopsight_flow",
			[HS_COLLECT_POINT_HOP] = "hopsight_flow_hop",
			[HS_COLLECT_POINT_OCCUPANCY] = "hopsight_queue",
			[HS_COLLECT_POINT_CONGESTION] = "hopsight_queue",
			[HS_COLLECT_POINT_LINK] = "hopsight_link",
			[HS_COLLECT_POINT_DROP] = "hopsight_drop",
	};
	return names[point->kind];
}

static void add_id(struct hs_influx_line *line, const char *key, uint32_t id)
{
	if (id != NOBODY)
		hs_influx_line_tag_uint(line, key, id);
}

static void add_point_tags(struct hs_influx_line *line, const struct source *source,
		const struct hs_collect_point *point)
{
	static const char *const ids[HS_COLLECT_POINT_KINDS] = {
			[HS_COLLECT_POINT_HOP] = "hop",
			[HS_COLLECT_POINT_OCCUPANCY] = "queue",
			[HS_COLLECT_POINT_CONGESTION] = "queue",
			[HS_COLLECT_POINT_LINK] = "port",
			[HS_COLLECT_POINT_DROP] = "reason",
	};
	const struct hs_collect_flow *flow = source->event->flow;

	hs_influx_line_tag(line, "collector", source->collector);
	if (point->kind == HS_COLLECT_POINT_FLOW)
		add_id(line, "node_id", flow->key.reporter);
	else
		add_id(line, "node_id", point->node_id);
	if (ids[point->kind])
		add_id(line, ids[point->kind], point->id);
}

typedef void add_text_fn(struct hs_influx_line *line, const char *key, const char *value);
typedef void add_uint_fn(struct hs_influx_line *line, const char *key, uint64_t value);

static void add_flow_key(struct hs_influx_line *line, const struct hs_collect_flow_key *key,
		add_text_fn *add_text, add_uint_fn *add_uint)
{
	char address[INET6_ADDRSTRLEN];

	write_address(key->src, key->is_ipv4, address);
	add_text(line, "src", address);
	write_address(key->dst, key->is_ipv4, address);
	add_text(line, "dst", address);
	add_uint(line, "src_port", key->src_port);
	add_uint(line, "dst_port", key->dst_port);
	add_uint(line, "protocol", key->protocol);
	add_uint(line, "vlan", key->vlan);
}

static void add_value(struct hs_influx_line *line, const struct hs_collect_point *point)
{
	static const char *const keys[HS_COLLECT_POINT_KINDS] = {
			[HS_COLLECT_POINT_FLOW] = "latency",
			[HS_COLLECT_POINT_HOP] = "latency",
			[HS_COLLECT_POINT_OCCUPANCY] = "occupancy",
			[HS_COLLECT_POINT_CONGESTION] = "congestion",
			[HS_COLLECT_POINT_LINK] = "utilisation",
			[HS_COLLECT_POINT_DROP] = "reports",
	};

	if (point->by_q)
		hs_influx_line_bool(line, "congested", point->value != 0);
	else if (point->has_value)
		hs_influx_line_uint(line, keys[point->kind], point->value);
}

static void add_fields(struct hs_influx_line *line, const struct source *source,
		const struct hs_collect_point *point)
{
	const struct hs_collect_flow *flow = source->event->flow;
	char path[PATH_BYTES];

	add_value(line, point);
	if (is_of_flow(point) && !source->config->flow_tags)
		add_flow_key(line, &flow->key, hs_influx_line_text, hs_influx_line_uint);
	if (point->kind == HS_COLLECT_POINT_FLOW) {
		write_path(flow, '>', path);
		hs_influx_line_text(line, "path", path);
		hs_influx_line_uint(line, "hops", flow->n_hops);
	}
	hs_influx_line_text(line, "cause", cause_word(point->cause));
	if (point->cause == HS_COLLECT_CHANGE && !point->by_q)
		hs_influx_line_uint(line, "before", point->before);
	if (point->device_ns)
		hs_influx_line_uint(line, "device_ns", point->device_ns);
	if (point->cause == HS_COLLECT_PUSH)
		hs_influx_line_uint(line, "told_ns", (uint64_t)source->event->told_ns);
}

static void add_point(struct hs_influx_text *text, const struct source *source,
		const struct hs_collect_point *point, int64_t time_ns)
{
	struct hs_influx_line *line = hs_influx_text_line(text, measurement_of(point));

	add_point_tags(line, source, point);
	if (is_of_flow(point) && source->config->flow_tags)
		add_flow_key(line, &source->event->flow->key, hs_influx_line_tag,
				hs_influx_line_tag_uint);
	add_fields(line, source, point);
	hs_influx_text_end(text, time_ns);
}

// ---- INTCollector ----

// Writes the name of a flow, for example "10.0.0.1:5000->10.0.0.2:5000\,proto\=17".
static void write_flow(const struct hs_collect_flow_key *key, char text[FLOW_BYTES])
{
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];

	write_address(key->src, key->is_ipv4, src);
	write_address(key->dst, key->is_ipv4, dst);
	snprintf(text, FLOW_BYTES, "%s:%u->%s:%u\\,proto\\=%u", src, key->src_port, dst,
			key->dst_port, key->protocol);
}

// Returns false if INTCollector has no such point.
static bool write_name(const struct source *source, const struct hs_collect_point *point,
		char name[NAME_BYTES])
{
	static const char *const formats[HS_COLLECT_POINT_KINDS] = {
			[HS_COLLECT_POINT_OCCUPANCY] =
					"queue_occupancy\\,sw_id\\=%s\\,queue_id\\=%s",
			[HS_COLLECT_POINT_CONGESTION] =
					"queue_congestion\\,sw_id\\=%s\\,queue_id\\=%s",
			[HS_COLLECT_POINT_LINK] = "port_tx_utilize\\,sw_id\\=%s\\,port_id\\=%s",
	};
	char flow[FLOW_BYTES], node[NUMBER_BYTES], id[NUMBER_BYTES];

	write_id(point->node_id, node);
	if (is_of_flow(point))
		write_flow(&source->event->flow->key, flow);
	if (point->kind == HS_COLLECT_POINT_FLOW)
		snprintf(name, NAME_BYTES, "flow_stat\\,%s", flow);
	else if (point->kind == HS_COLLECT_POINT_HOP)
		snprintf(name, NAME_BYTES, "flow_hop_latency\\,%s\\,sw_id\\=%s", flow, node);
	else if (formats[point->kind])
		snprintf(name, NAME_BYTES, formats[point->kind], node, write_id(point->id, id));
	else
		return false;
	return true;
}

static void add_point_as_intcollector(struct hs_influx_text *text, const struct source *source,
		const struct hs_collect_point *point, int64_t time_ns)
{
	bool is_flow = point->kind == HS_COLLECT_POINT_FLOW;
	char name[NAME_BYTES], path[PATH_BYTES];

	if (!write_name(source, point, name))
		return;
	struct hs_influx_line *line = hs_influx_text_line_as(text, name);
	if (point->has_value)
		hs_influx_line_real(line, is_flow ? "flow_latency" : "value", (double)point->value);
	if (is_flow) {
		write_path(source->event->flow, ':', path);
		hs_influx_line_text(line, "path", path);
	}
	hs_influx_text_end(text, time_ns);
}

// ---- events ----

// Returns the kind of points whose measurement the point shares. Both values of a queue are in one
// measurement, except with INTCollector's names.
static uint8_t series_of(const struct hs_collect_point *point, bool as_intcollector)
{
	bool joins = point->kind == HS_COLLECT_POINT_CONGESTION && !as_intcollector;

	return joins ? HS_COLLECT_POINT_OCCUPANCY : point->kind;
}

static bool are_of_one_series(const struct hs_influx_config *config,
		const struct hs_collect_point *a, const struct hs_collect_point *b)
{
	bool as_intcollector = config->lines == HS_INFLUX_LINES_INTCOLLECTOR;

	if (a->node_id != b->node_id ||
			series_of(a, as_intcollector) != series_of(b, as_intcollector))
		return false;
	// INTCollector's names do not have the place of a hop.
	return a->id == b->id || (as_intcollector && a->kind == HS_COLLECT_POINT_HOP);
}

static bool was_before(const struct source *source, unsigned index)
{
	const struct hs_collect_point *points = source->event->points;

	for (unsigned i = 0; i < index; i++)
		if (are_of_one_series(source->config, &points[i], &points[index]))
			return true;
	return false;
}

void hs_influx_collect(struct hs_influx_text *text, const char *collector,
		const struct hs_influx_config *config, const struct hs_collect_event *event,
		int64_t *last_ns)
{
	const struct source source = {collector, config, event};

	*last_ns = hs_influx_text_next_ns(event->time_ns, *last_ns);
	for (unsigned i = 0; i < event->n_points; i++) {
		*last_ns += was_before(&source, i);
		if (config->lines == HS_INFLUX_LINES_INTCOLLECTOR)
			add_point_as_intcollector(text, &source, &event->points[i], *last_ns);
		else
			add_point(text, &source, &event->points[i], *last_ns);
	}
}
