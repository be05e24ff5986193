// SPDX-License-Identifier: BSD-3-Clause
#include "fleet_parts.h"

#include "rule_json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- publishing ----

int fleet_publish(struct hs_fleet *fleet, const char *topic, const char *key, json_t *content)
{
	json_t *own = json_copy(content);

	json_decref(content);
	json_object_set_new(own, "seq", json_integer((json_int_t)++fleet->seq));
	json_object_set_new(own, "boot_id", json_string(fleet->boot_id));
	json_t *message = json_pack("{s:o}", key, own);
	char *text = message && fleet->output.publish
				     ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15))
				     : NULL;
	int rc = text ? fleet->output.publish(fleet->output.context, topic, text) : 0;
	if (rc < 0)
		fleet->publish_lost++;
	free(text);
	json_decref(message);
	return rc;
}

void hs_fleet_event(
		struct hs_fleet *fleet, const char *kind, json_t *details, const char *format, ...)
{
	char text[320], topic[64];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_t *event = json_pack("{s:I, s:s, s:s}", "ts_ns", (json_int_t)fleet->now_ns, "kind",
			kind, "message", text);
	if (event && details)
		json_object_update_new(event, details);
	else
		json_decref(details);
	uint64_t number = event ? hs_event_log_add(&fleet->events, event) : 0;
	if (!number)
		return;
	json_t *published = json_copy(event);
	json_object_set_new(published, "event_seq", json_integer((json_int_t)number));
	snprintf(topic, sizeof(topic), "event.%s", kind);
	fleet_publish(fleet, topic, "event", published);
}

// ---- nodes' answers ----

void hs_fleet_reply(
		struct hs_fleet *fleet, int64_t now_ns, unsigned node, const char *text, size_t len)
{
	json_t *reply = json_loadb(text, len, 0, NULL);

	fleet_set_time(fleet, now_ns);
	if (json_is_object(reply))
		fleet_answered(fleet, &fleet->nodes[node], reply);
	json_decref(reply);
}

// ---- time ----

#define SECOND_NS INT64_C(1000000000)
#define BUDGET	  512 // calls, which take a few milliseconds

// If the clock was set, or nothing ran because the process was stopped, time limits do not count
// that time. The first moment is that of the creation.
void fleet_set_time(struct hs_fleet *fleet, int64_t now_ns)
{
	int64_t ns = now_ns - fleet->now_ns;

	fleet->now_ns = now_ns;
	if (ns >= 0 && ns < SECOND_NS)
		return;
	fleet->start_ns += ns;
	// Windows of a future time would stay open until then.
	if (ns <= -SECOND_NS)
		hs_qos_clock_step(fleet->qos);
	for (unsigned i = 0; i < fleet->config->n_nodes; i++)
		fleet_shift_node(&fleet->nodes[i], ns);
	fleet_shift_relays(fleet, ns);
}

void hs_fleet_step(struct hs_fleet *fleet, int64_t now_ns)
{
	fleet_set_time(fleet, now_ns);
	unsigned n = fleet->config->n_nodes, first = fleet->first_node;

	fleet->budget = BUDGET;
	for (unsigned i = 0; i < n; i++) {
		fleet_step_node(fleet, &fleet->nodes[(first + i) % n]);
		if (fleet->budget > 0)
			fleet->first_node = (first + i + 1) % n;
	}
	fleet_step_relays(fleet);
	fleet_step_monitor(fleet);
}

int64_t hs_fleet_next_ns(const struct hs_fleet *fleet)
{
	int64_t next_ns = hs_qos_next_ns(fleet->qos), relays_ns = fleet_relays_next_ns(fleet);

	if (fleet->budget <= 0)
		return fleet->now_ns; // more work waits
	if (relays_ns < next_ns)
		next_ns = relays_ns;
	for (unsigned i = 0; i < fleet->config->n_nodes; i++) {
		int64_t node_ns = fleet_node_next_ns(fleet, &fleet->nodes[i]);
		next_ns = node_ns < next_ns ? node_ns : next_ns;
	}
	return next_ns;
}

// ---- life ----

static int open_parts(struct hs_fleet *fleet, struct hs_error *err)
{
	int rc = fleet_open_nodes(fleet);

	if (rc == 0)
		rc = fleet_open_monitor(fleet);
	if (rc < 0) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return rc;
	}
	fleet_open_verbs(fleet);
	fleet->starting = fleet->configuring = true;
	rc = hs_api_run_list(&fleet->backend, fleet->config->requests, err);
	fleet->starting = fleet->configuring = false;
	json_array_clear(fleet->removed);
	if (rc < 0)
		hs_error_prefix(err, "requests");
	return rc;
}

int hs_fleet_create(const struct hs_fleet_config *config, const char *boot_id,
		const struct hs_fleet_output *output, int64_t now_ns, struct hs_fleet **out,
		struct hs_error *err)
{
	struct hs_fleet *fleet = calloc(1, sizeof(*fleet));

	if (!fleet) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	fleet->config = config;
	fleet->output = *output;
	fleet->now_ns = fleet->start_ns = now_ns;
	snprintf(fleet->boot_id, sizeof(fleet->boot_id), "%s", boot_id);
	hs_event_log_init(&fleet->events);
	TAILQ_INIT(&fleet->rules);
	TAILQ_INIT(&fleet->flows);
	TAILQ_INIT(&fleet->relays);
	fleet->removed = json_array();
	int rc = open_parts(fleet, err);
	if (rc < 0) {
		hs_fleet_destroy(fleet);
		return rc;
	}
	*out = fleet;
	return 0;
}

// ---- what outlives the process ----

static bool not_configured(void *context, const struct hs_api_args *args)
{
	const struct fleet_rule *rule = fleet_find_rule(context, args->ns_id);
	return !rule || !rule->configured;
}

int hs_fleet_restore(struct hs_fleet *fleet, json_t *change, struct hs_error *err)
{
	fleet->starting = true;
	int rc = hs_api_replay(&fleet->backend, change, not_configured, fleet, err);
	fleet->starting = false;
	json_array_clear(fleet->removed);
	return rc;
}

uint64_t hs_fleet_changes(const struct hs_fleet *fleet)
{
	return fleet->n_kept;
}

void hs_fleet_destroy(struct hs_fleet *fleet)
{
	if (!fleet)
		return;
	if (fleet->nodes) {
		fleet_close_relays(fleet);
		fleet_forget_rules(fleet);
	}
	fleet_close_monitor(fleet);
	fleet_close_nodes(fleet);
	hs_event_log_fini(&fleet->events);
	json_decref(fleet->removed);
	free(fleet);
}
