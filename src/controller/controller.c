// SPDX-License-Identifier: BSD-3-Clause
#include "controller_parts.h"

#include "rule_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

	controller_set_time(controller, now_ns);
	controller_answered(controller, &controller->nodes[node], reply);
	json_decref(reply);
}

// ---- time ----

#define BUDGET 512 // calls, which take a few milliseconds

void hs_controller_step(struct hs_controller *controller, int64_t now_ns)
{
	controller_set_time(controller, now_ns);
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
	int64_t next_ns = hs_qos_next_ns(controller->qos),
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
	json_array_clear(controller->removed);
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
	TAILQ_INIT(&controller->rules);
	TAILQ_INIT(&controller->flows);
	TAILQ_INIT(&controller->relays);
	controller->removed = json_array();
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
	controller->left_out = (struct hs_error){0};
	int rc = hs_api_replay_kept(&controller->backend, change, not_configured, controller, err);
	controller->starting = controller->restoring = false;
	if (rc == 0 && !hs_error_is_set(err))
		*err = controller->left_out;
	json_array_clear(controller->removed);
	return rc;
}

uint64_t hs_controller_changes(const struct hs_controller *controller)
{
	return controller->n_kept;
}

void hs_controller_destroy(struct hs_controller *controller)
{
	if (!controller)
		return;
	if (controller->nodes) {
		controller_close_relays(controller);
		controller_forget_rules(controller);
	}
	controller_close_monitor(controller);
	controller_close_reroute(controller);
	controller_close_probing(controller);
	controller_close_label(controller);
	controller_close_nodes(controller);
	hs_event_log_fini(&controller->events);
	json_decref(controller->removed);
	free(controller);
}
