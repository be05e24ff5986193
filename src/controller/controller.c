// SPDX-License-Identifier: BSD-3-Clause
#include "controller.h"

#include "controller_flow.h"
#include "controller_label.h"
#include "controller_monitor.h"
#include "controller_node.h"
#include "controller_probing.h"
#include "controller_relay.h"
#include "controller_reroute.h"
#include "controller_rule.h"
#include "controller_state.h"
#include "controller_verbs.h"

#include "rule_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- time ----

#define SECOND_NS INT64_C(1000000000)

// Moves all times, so that time limits do not count this time.
static void shift(struct hs_controller *controller, int64_t ns)
{
	controller->start_ns += ns;
	controller->metrics.bad_limit.next_ns += ns;
	// Windows of a future time would stay open until then.
	if (ns <= -SECOND_NS)
		hs_qos_clock_step(controller->metrics.qos);
	for (unsigned i = 0; i < controller->config->n_nodes; i++)
		controller_shift_node(&controller->nodes[i], ns);
	controller_shift_label(controller, ns);
	controller_shift_probing(controller, ns);
	controller_shift_relays(controller, ns);
	controller_shift_windows(controller, ns);
}

// Sets the time. If the clock was set back, or nothing ran for a second because the process was
// stopped, time limits do not count that time. The first moment is that of the creation.
static void set_time(struct hs_controller *controller, int64_t now_ns)
{
	int64_t ns = now_ns - controller->now_ns;

	controller->now_ns = now_ns;
	if (ns < 0 || ns >= SECOND_NS)
		shift(controller, ns);
}

void hs_controller_clock_step(struct hs_controller *controller, int64_t now_ns, int64_t by_ns)
{
	int64_t before_ns = now_ns - by_ns;

	// A call since the step has brought the new time, which set_time took for time that passed.
	bool is_known = llabs(now_ns - controller->now_ns) <= llabs(before_ns - controller->now_ns);
	if (is_known && (by_ns < 0 || by_ns >= SECOND_NS))
		return; // set_time noticed the step
	if (!is_known)
		controller->now_ns += by_ns;
	shift(controller, by_ns);
}

#define BUDGET 512 // calls, which take a few milliseconds

void hs_controller_step(struct hs_controller *controller, int64_t now_ns)
{
	set_time(controller, now_ns);
	unsigned n = controller->config->n_nodes, first = controller->first_node;

	controller->budget = BUDGET;
	for (unsigned i = 0; i < n; i++) {
		controller_step_node(controller, &controller->nodes[(first + i) % n]);
		if (controller->budget > 0)
			controller->first_node = (first + i + 1) % n;
	}
	controller_step_label(controller);
	controller_step_probing(controller);
	controller_step_reroute(controller);
	controller_step_relays(controller);
	controller_step_monitor(controller);
}

int64_t hs_controller_next_ns(const struct hs_controller *controller)
{
	int64_t next_ns = hs_qos_next_ns(controller->metrics.qos),
		relays_ns = controller_relays_next_ns(controller),
		label_ns = controller_label_next_ns(controller),
		probing_ns = controller_probing_next_ns(controller),
		reroute_ns = controller_reroute_next_ns(controller);

	if (controller->budget <= 0)
		return controller->now_ns; // more work waits
	if (relays_ns < next_ns)
		next_ns = relays_ns;
	if (label_ns < next_ns)
		next_ns = label_ns;
	if (probing_ns < next_ns)
		next_ns = probing_ns;
	if (reroute_ns < next_ns)
		next_ns = reroute_ns;
	for (unsigned i = 0; i < controller->config->n_nodes; i++) {
		int64_t node_ns = controller_node_next_ns(controller, &controller->nodes[i]);
		next_ns = node_ns < next_ns ? node_ns : next_ns;
	}
	return next_ns;
}

// ---- what comes in ----

// Returns whether parsing takes milliseconds at most. The longest honest reply, the counters of 32
// ports, has a fifth of the allowed values.
static bool is_modest(const char *text, size_t len)
{
	size_t values = 0;

	for (size_t i = 0; i < len; i++)
		values += text[i] == ',' || text[i] == '[' || text[i] == '{';
	return values <= HS_API_MAX_VALUES;
}

void hs_controller_reply(struct hs_controller *controller, int64_t now_ns, unsigned node,
		const char *text, size_t len)
{
	json_t *reply = is_modest(text, len) ? json_loadb(text, len, 0, NULL) : NULL;

	set_time(controller, now_ns);
	controller_answered(controller, &controller->nodes[node], reply);
	json_decref(reply);
}

void hs_controller_request(struct hs_controller *controller, int64_t now_ns, void *token,
		const char *message, size_t len, bool may_change)
{
	set_time(controller, now_ns);
	controller_request(controller, token, message, len, may_change);
}

void hs_controller_message(struct hs_controller *controller, int64_t now_ns, const char *topic,
		const char *json, size_t len)
{
	(void)topic; // the message repeats it
	set_time(controller, now_ns);
	controller_take_message(controller, json, len);
}

void hs_controller_label_take(struct hs_controller *controller, int64_t now_ns,
		const uint8_t *payload, size_t len, bool cut)
{
	if (!controller->label)
		return;
	set_time(controller, now_ns);
	controller_label_take(controller, payload, len, cut);
}

void hs_controller_label_frame(
		struct hs_controller *controller, int64_t now_ns, const uint8_t *frame, size_t len)
{
	if (!controller->label)
		return;
	set_time(controller, now_ns);
	controller_label_frame(controller, frame, len);
}

void hs_controller_label_lost(struct hs_controller *controller, uint64_t lost)
{
	if (controller->label)
		controller->label->counters.lost = lost;
}

void hs_controller_label_frames_lost(struct hs_controller *controller, uint64_t lost)
{
	if (controller->label)
		controller->label->counters.frames_lost += lost;
}

void hs_controller_probe_take(
		struct hs_controller *controller, int64_t now_ns, const uint8_t *frame, size_t len)
{
	if (!controller->probing)
		return;
	set_time(controller, now_ns);
	controller_probe_take(controller, frame, len);
}

void hs_controller_node_refuses(struct hs_controller *controller, unsigned node, bool refuses)
{
	controller_node_refuses(controller, &controller->nodes[node], refuses);
}

// ---- what it shows ----

json_t *hs_controller_show(struct hs_controller *controller)
{
	return controller_show(controller);
}

const struct hs_schema_field *hs_controller_reply_fields(enum hs_api_verb verb)
{
	return controller_reply_fields(verb);
}

json_t *hs_controller_probe_schema(void)
{
	return controller_probe_schema();
}

// ---- life ----

// Sets the owner of the controller's rules. Nodes show who wrote a rule, so that the controller's
// name must be one that nodes accept.
static int name_owner(struct hs_controller *controller, struct hs_error *err)
{
	const char *name = controller->config->name;
	const struct hs_schema_value value = {
			.type = HS_SCHEMA_IS_TEXT, .text = name, .len = strlen(name)};
	struct hs_rule rule;
	int rc = hs_schema_store(
			&hs_rule_fields[HS_RULE_OWNER], &value, "controller.name", &rule, err);

	if (rc == 0)
		controller->owner = rule.owner;
	return rc;
}

static int open_parts(struct hs_controller *controller, struct hs_error *err)
{
	int rc = name_owner(controller, err);

	if (rc < 0)
		return rc;
	rc = controller_open_nodes(controller);
	if (rc == 0)
		rc = controller_open_label(controller);
	if (rc == 0)
		rc = controller_open_probing(controller);
	if (rc == 0)
		rc = controller_open_reroute(controller);
	if (rc == 0)
		rc = controller_open_monitor(controller);
	if (rc < 0) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return rc;
	}
	controller_open_verbs(controller);
	controller->starting = controller->configuring = true;
	rc = hs_api_run_list(&controller->backend, controller->config->requests, err);
	controller->starting = controller->configuring = false;
	json_array_clear(controller->wanted.removed);
	if (rc < 0)
		hs_error_prefix(err, "requests");
	return rc;
}

int hs_controller_create(const struct hs_controller_config *config, const char *boot_id,
		const struct hs_controller_output *output, int64_t now_ns,
		struct hs_controller **out, struct hs_error *err)
{
	struct hs_controller *controller = calloc(1, sizeof(*controller));

	if (!controller) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return -ENOMEM;
	}
	controller->config = config;
	controller->output = *output;
	controller->now_ns = controller->start_ns = now_ns;
	snprintf(controller->boot_id, sizeof(controller->boot_id), "%s", boot_id);
	hs_event_log_init(&controller->events);
	TAILQ_INIT(&controller->wanted.rules);
	TAILQ_INIT(&controller->metrics.flows);
	TAILQ_INIT(&controller->questions.relays);
	controller->wanted.removed = json_array();
	int rc = open_parts(controller, err);
	if (rc < 0) {
		hs_controller_destroy(controller);
		return rc;
	}
	*out = controller;
	return 0;
}

// ---- what outlives the process ----

static bool not_configured(void *context, const struct hs_api_args *args)
{
	const struct controller_rule *rule = controller_find_rule(context, args->ns_id);
	return !rule || !rule->configured;
}

int hs_controller_restore(struct hs_controller *controller, json_t *change, struct hs_error *err)
{
	controller->starting = controller->restoring = true;
	controller->wanted.left_out = (struct hs_error){0};
	int rc = hs_api_replay_kept(&controller->backend, change, not_configured, controller, err);
	controller->starting = controller->restoring = false;
	if (rc == 0 && !hs_error_is_set(err))
		*err = controller->wanted.left_out;
	json_array_clear(controller->wanted.removed);
	return rc;
}

uint64_t hs_controller_changes(const struct hs_controller *controller)
{
	return controller->wanted.n_kept;
}

void hs_controller_destroy(struct hs_controller *controller)
{
	if (!controller)
		return;
	if (controller->nodes) {
		controller_close_relays(controller);
		controller_close_rules(controller);
	}
	controller_close_monitor(controller);
	controller_close_reroute(controller);
	controller_close_probing(controller);
	controller_close_label(controller);
	controller_close_nodes(controller);
	hs_event_log_fini(&controller->events);
	json_decref(controller->wanted.removed);
	free(controller);
}
