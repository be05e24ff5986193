// SPDX-License-Identifier: BSD-3-Clause
#include "collector_influx.h"

#include "collector_metric.h"

#include "influx_collect.h"
#include "influx_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX_BYTES (sizeof("hopsight_collector_") - 1)
#define FULL_BYTES   (64u << 10) // so many bytes of lines leave before the next step

struct database {
	struct hs_influx_text text;
	int64_t event_ns; // of the last event
	int64_t next_ns;  // of the counters
};

struct hs_collector_influx {
	struct hs_collector *collector;
	struct hs_influx *client;
	struct database databases[HS_INFLUX_MAX];
};

static const char *name_of(const struct hs_collector_influx *influx)
{
	return influx->collector->config->base.node.name;
}

static void hand_over(struct hs_collector_influx *influx, unsigned index)
{
	struct hs_influx_text *text = &influx->databases[index].text;

	if (text->lines)
		hs_influx_add(influx->client, index, text->bytes, text->len, text->lines);
	hs_influx_text_clear(text);
}

int hs_collector_influx_open(struct hs_collector *collector, struct hs_collector_influx **influx,
		struct hs_error *err)
{
	const struct hs_influx_list *list = &collector->config->base.influx;

	*influx = NULL;
	if (!list->n)
		return 0;
	struct hs_collector_influx *made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->collector = collector;
	int rc = hs_influx_open(list, "influx", &made->client, err);
	if (rc < 0) {
		free(made);
		return rc;
	}
	collector->lines = made->client;
	*influx = made;
	return 0;
}

// ---- counters ----

// Adds a field. Its name is the counter's, followed by its label: refused_total_version.
static void add_field(void *line, const struct hs_collector_metric *metric,
		const struct hs_collector_labels *labels, uint64_t value)
{
	const char *const of[] = {labels->reason, labels->kind, labels->cause, labels->frame,
			labels->listener};
	char name[160];
	size_t used = (size_t)snprintf(name, sizeof(name), "%s", metric->name + PREFIX_BYTES);

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]) && used < sizeof(name); i++)
		if (of[i])
			used += (size_t)snprintf(name + used, sizeof(name) - used, "_%s", of[i]);
	hs_influx_line_uint(line, name, value);
}

static void write_counters(struct hs_collector_influx *influx, unsigned index, int64_t time_ns)
{
	struct hs_influx_text *text = &influx->databases[index].text;
	struct hs_influx_line *line = hs_influx_text_line(text, "hopsight_collector");

	hs_influx_line_tag(line, "collector", name_of(influx));
	hs_collector_metrics_visit(influx->collector, add_field, line);
	hs_influx_text_end(text, time_ns);
	hand_over(influx, index);
}

void hs_collector_influx_step(struct hs_collector_influx *influx, int64_t now_ns)
{
	if (!influx)
		return;
	for (unsigned i = 0; i < hs_influx_count(influx->client); i++) {
		struct database *database = &influx->databases[i];
		int64_t every_ns = hs_influx_config(influx->client, i)->interval_ns;
		hand_over(influx, i);
		// Counters are written, too, if the clock stepped back.
		if (!every_ns || (now_ns < database->next_ns &&
						 now_ns >= database->next_ns - 2 * every_ns))
			continue;
		int64_t time_ns = now_ns - now_ns % every_ns;
		database->next_ns = time_ns + every_ns;
		write_counters(influx, i, time_ns);
	}
}

void hs_collector_influx_close(struct hs_collector_influx *influx)
{
	if (!influx)
		return;
	for (unsigned i = 0; i < hs_influx_count(influx->client); i++)
		write_counters(influx, i, influx->collector->now_ns);
	influx->collector->lines = NULL;
	hs_influx_close(influx->client);
	for (unsigned i = 0; i < HS_INFLUX_MAX; i++)
		hs_influx_text_fini(&influx->databases[i].text);
	free(influx);
}

// ---- events ----

void hs_collector_influx_event(
		struct hs_collector_influx *influx, const struct hs_collect_event *event)
{
	if (!influx)
		return;
	for (unsigned i = 0; i < hs_influx_count(influx->client); i++) {
		struct database *database = &influx->databases[i];
		hs_influx_collect(&database->text, name_of(influx),
				hs_influx_config(influx->client, i), event, &database->event_ns);
		if (database->text.len >= FULL_BYTES)
			hand_over(influx, i);
	}
}
