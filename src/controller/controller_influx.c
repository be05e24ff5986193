// SPDX-License-Identifier: BSD-3-Clause
#include "controller_influx.h"

#include "influx_window.h"

#include <inttypes.h>
#include <string.h>

static void add(struct controller_influx *influx, unsigned index)
{
	struct hs_influx_text *text = &influx->text;

	hs_influx_add(influx->client, index, text->bytes, text->len, text->lines);
	hs_influx_text_clear(text);
}

int controller_influx_open(struct controller_influx *influx,
		const struct hs_controller_config *config, struct hs_error *err)
{
	influx->config = config;
	return hs_influx_open(&config->influx, "influx", &influx->client, err);
}

// ---- counters ----

static const struct hs_schema_field *row_of(const struct hs_schema_field *rows, const char *key)
{
	while (strcmp(rows->key, key) != 0)
		rows++;
	return rows;
}

static void write_counters(
		struct controller_influx *influx, struct hs_controller *controller, int64_t time_ns)
{
	const struct hs_schema_field *rows = hs_controller_reply_fields(HS_VERB_NODE_GET);
	const struct hs_schema_field *node_rows = row_of(rows, "nodes")->items;
	const char *name = influx->config->name;
	json_t *shown = hs_controller_show(controller), *node;
	size_t i;

	struct hs_influx_line *line = hs_influx_text_line(&influx->text, "hopsight_controller");
	hs_influx_line_tag(line, "controller", name);
	hs_influx_fields(line, rows, shown);
	hs_influx_text_end(&influx->text, time_ns);
	json_array_foreach (json_object_get(shown, "nodes"), i, node) {
		line = hs_influx_text_line(&influx->text, "hopsight_controller_node");
		hs_influx_line_tag(line, "controller", name);
		hs_influx_line_tag(line, "node", json_string_value(json_object_get(node, "name")));
		hs_influx_fields(line, node_rows, node);
		hs_influx_text_end(&influx->text, time_ns);
	}
	json_decref(shown);
}

static void tell_lost(
		struct controller_influx *influx, struct hs_controller *controller, int64_t now_ns)
{
	struct hs_influx_counters counters;
	uint64_t grown;

	hs_influx_counters(influx->client, HS_INFLUX_ALL, &counters);
	uint64_t lost = counters.dropped[HS_INFLUX_QUEUE_FULL] +
			counters.dropped[HS_INFLUX_REFUSED];
	if (!hs_event_limit(&influx->lost_limit, now_ns, lost, &grown))
		return;
	hs_controller_event(controller, "influx_lines_lost",
			json_pack("{s:I}", "lines", (json_int_t)grown),
			"%" PRIu64 " lines for databases were lost: a queue was full, or the "
			"database refused them",
			grown);
}

void controller_influx_step(
		struct controller_influx *influx, struct hs_controller *controller, int64_t now_ns)
{
	for (unsigned i = 0; i < hs_influx_count(influx->client); i++) {
		int64_t every_ns = hs_influx_config(influx->client, i)->interval_ns;
		int64_t *next_ns = &influx->next_ns[i];
		// A clock that stepped back does not silence the counters.
		if (now_ns < *next_ns && now_ns >= *next_ns - 2 * every_ns)
			continue;
		*next_ns = now_ns - now_ns % every_ns + every_ns;
		write_counters(influx, controller, *next_ns - every_ns);
		add(influx, i);
	}
	if (influx->client)
		tell_lost(influx, controller, now_ns);
}

void controller_influx_close(
		struct controller_influx *influx, struct hs_controller *controller, int64_t now_ns)
{
	if (influx->client && controller) {
		write_counters(influx, controller, now_ns);
		add(influx, HS_INFLUX_ALL);
	}
	hs_influx_close(influx->client);
	influx->client = NULL;
	hs_influx_text_fini(&influx->text);
}

// ---- what is published ----

// Returns the name of the node that computed a window. Nodes without an id of their own share 0. A
// window of such a node gets the controller's name, and so does a window that was computed here.
static const char *publisher(const struct hs_controller_config *config, const json_t *content)
{
	json_int_t id = json_integer_value(json_object_get(content, "node_id"));

	for (unsigned i = 0; id != 0 && i < config->n_nodes; i++)
		if (config->nodes[i].id == id)
			return config->nodes[i].name;
	return config->name;
}

void controller_influx_record(
		struct controller_influx *influx, const char *key, const json_t *content)
{
	if (!influx->client)
		return;
	if (strcmp(key, "qos_report") == 0)
		hs_influx_window(&influx->text, publisher(influx->config, content), content);
	else if (strcmp(key, "event") == 0)
		hs_influx_event(&influx->text, influx->config->name, content, &influx->event_ns);
	add(influx, HS_INFLUX_ALL);
}
