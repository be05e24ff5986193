// SPDX-License-Identifier: BSD-3-Clause
#include "control_event.h"
#include "control_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct hs_report_origin origin_of(struct control_events *events)
{
	return (struct hs_report_origin){
			.seq = ++events->seq,
			.node_id = events->node_id,
			.boot_id = events->boot_id,
	};
}

static int publish(struct control_events *events, const char *topic, const char *json)
{
	if (!events->output->publish)
		return 0;
	return events->output->publish(events->output->context, topic, json);
}

static void record(struct control_events *events, const char *key, const json_t *message)
{
	if (events->output->record && message)
		events->output->record(events->output->context, key, json_object_get(message, key));
}

// Publishes a message and releases it. Returns 0 or -EAGAIN.
static int publish_json(struct control_events *events, const char *topic, json_t *message)
{
	char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(message);
	if (!text)
		return -EAGAIN;
	int rc = publish(events, topic, text);
	free(text);
	return rc;
}

void hs_control_event(void *owner, const char *kind, json_t *details, const char *format, ...)
{
	struct control_events *events = owner;
	char topic[64];
	va_list args;

	va_start(args, format);
	json_t *event = hs_event_log_add(
			&events->log, *events->now_ns, kind, details, format, args);
	va_end(args);
	if (!event)
		return;
	events->counts->events++;
	struct hs_report_origin origin = origin_of(events);
	json_object_set_new(event, "seq", json_integer((json_int_t)origin.seq));
	json_object_set_new(event, "node_id", json_integer(origin.node_id));
	json_object_set_new(event, "boot_id", json_string(origin.boot_id));
	snprintf(topic, sizeof(topic), "event.%s", kind);
	json_t *message = json_pack("{s:o}", "event", event);
	record(events, "event", message);
	if (publish_json(events, topic, message) < 0)
		events->counts->events_publish_lost++;
}

void hs_control_publish_window(struct control_events *events, const struct hs_qos_window *window)
{
	struct hs_report_origin origin = origin_of(events);
	char topic[32];

	events->counts->windows_published++;
	if (!events->output->publish)
		return;
	snprintf(topic, sizeof(topic), "qos.%" PRIu32, window->ns_id);
	json_t *message = hs_qos_window_json(window, &origin);
	record(events, "qos_report", message);
	if (publish_json(events, topic, message) < 0) {
		events->counts->windows_published--;
		events->counts->windows_publish_lost++;
	}
}

int hs_control_publish_report(struct control_events *events, const struct hs_report *report,
		uint32_t app_id, uint16_t sink_node_id)
{
	struct hs_report_origin origin = origin_of(events);
	char topic[32];

	snprintf(topic, sizeof(topic), "report.%" PRIu32, report->telemetry.ns_id);
	int len = hs_report_text(
			report, app_id, sink_node_id, &origin, events->text, sizeof(events->text));
	return len < 0 ? len : publish(events, topic, events->text);
}
