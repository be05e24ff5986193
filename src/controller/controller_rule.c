// SPDX-License-Identifier: BSD-3-Clause
// What is wanted: rules, the nodes that they belong to, and the state at each of these nodes.
#include "controller_rule.h"

#include "controller_state.h"

#include "rule_field.h"
#include "rule_json.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- comparing ----

bool controller_same(const struct hs_rule *a, const struct hs_rule *b, bool all)
{
	const uint32_t others = HS_RULE_LABELS | (all ? 0 : HS_RULE_CHANGEABLE);

	for (unsigned row = 0; row < HS_RULE_ROWS; row++) {
		const struct hs_schema_field *field = &hs_rule_fields[row];
		if (others >> row & 1)
			continue;
		if (memcmp((const char *)a + field->offset, (const char *)b + field->offset,
				    field->size) != 0)
			return false;
	}
	return true;
}

// ---- targets ----

// Calls back for each node that `on` names.
static void each_target(const struct hs_controller_config *config, const json_t *on,
		void (*each)(void *context, unsigned node), void *context)
{
	const json_t *path = json_object_get(on, "path"), *nodes = json_object_get(on, "nodes"),
		     *source = json_object_get(on, "source");

	if (path) {
		const struct hs_controller_path *found =
				hs_controller_config_path(config, json_string_value(path));
		for (unsigned i = 0; found && i < found->n; i++)
			each(context, found->nodes[i]);
	} else if (nodes || source) {
		size_t n = nodes ? json_array_size(nodes) : 1;
		for (size_t i = 0; i < n; i++) {
			const json_t *name = nodes ? json_array_get(nodes, i) : source;
			int node = hs_controller_config_node(config, json_string_value(name));
			if (node >= 0)
				each(context, (unsigned)node);
		}
	} else {
		for (unsigned i = 0; i < config->n_nodes; i++)
			each(context, i);
	}
}

// Refuses an unknown name, unless the state is restored. A rule of the state still belongs to its
// other nodes, and to this node when the configuration has it again.
static int refuse_unknown(struct hs_controller *controller, const char *path, const char *what,
		const json_t *name, struct hs_error *err)
{
	char expected[32];

	snprintf(expected, sizeof(expected), "the name of a %s", what);
	int rc = hs_error_set(controller->restoring ? &controller->wanted.left_out : err,
			"bad_value", path, expected, "no %s is called \"%.64s\"", what,
			json_string_value(name));
	return controller->restoring ? 0 : rc;
}

static int check_name(struct hs_controller *controller, const json_t *name, const char *path,
		struct hs_error *err)
{
	if (!json_is_string(name))
		return hs_error_set(err, "wrong_type", path, "the name of a node",
				"%s is not of type string", path);
	if (hs_controller_config_node(controller->config, json_string_value(name)) < 0)
		return refuse_unknown(controller, path, "node", name, err);
	return 0;
}

static int check_names(struct hs_controller *controller, const json_t *list, struct hs_error *err)
{
	if (!json_is_array(list) || json_array_size(list) == 0)
		return hs_error_set(err, "wrong_type", "on.nodes", "a list of names of nodes",
				"on.nodes is not a list with a name in it");
	for (size_t i = 0; i < json_array_size(list); i++) {
		char path[40];
		snprintf(path, sizeof(path), "on.nodes[%zu]", i);
		int rc = check_name(controller, json_array_get(list, i), path, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_path(struct hs_controller *controller, const json_t *name, struct hs_error *err)
{
	if (!json_is_string(name))
		return hs_error_set(err, "wrong_type", "on.path", "the name of a path",
				"on.path is not of type string");
	if (!hs_controller_config_path(controller->config, json_string_value(name)))
		return refuse_unknown(controller, "on.path", "path", name, err);
	return 0;
}

// No table of lib/schema says this: exactly one of three members, whose unknown names are left out
// where a state is restored.
int controller_check_on(struct hs_controller *controller, const json_t *on, struct hs_error *err)
{
	static const char allowed[] = "{\"path\": NAME}, {\"nodes\": [NAME, ...]} or "
				      "{\"source\": NAME}";
	const json_t *value;

	if (!on)
		return 0;
	if (!json_is_object(on) || json_object_size(on) != 1)
		return hs_error_set(err, json_is_object(on) ? "bad_value" : "wrong_type", "on",
				allowed, "on is not an object with one member");
	if ((value = json_object_get(on, "path")))
		return check_path(controller, value, err);
	if ((value = json_object_get(on, "nodes")))
		return check_names(controller, value, err);
	if ((value = json_object_get(on, "source")))
		return check_name(controller, value, "on.source", err);
	return hs_error_set(err, "unknown_field", "on", allowed, "on has none of these members");
}

// ---- rules ----

static int by_ns(const void *a, const void *b)
{
	const struct controller_rule *left = a, *right = b;
	return (left->rule.ns_id > right->rule.ns_id) - (left->rule.ns_id < right->rule.ns_id);
}

struct controller_rule *controller_find_rule(struct hs_controller *controller, uint32_t ns_id)
{
	struct controller_rule key = {.rule = {.ns_id = ns_id}};
	void *found = tfind(&key, &controller->wanted.by_ns, by_ns);
	return found ? *(struct controller_rule **)found : NULL;
}

static void free_rule(struct controller_rule *rule)
{
	if (!rule)
		return;
	json_decref(rule->on);
	free(rule->bindings);
	free(rule);
}

static void remove_rule(struct hs_controller *controller, struct controller_rule *rule)
{
	controller->wanted.n_kept -= !rule->configured;
	tdelete(rule, &controller->wanted.by_ns, by_ns);
	TAILQ_REMOVE(&controller->wanted.rules, rule, order);
	free_rule(rule);
}

// Adds a rule without bindings to the tree. Returns NULL if memory is out.
static struct controller_rule *add_rule(
		struct hs_controller *controller, const struct hs_rule *rule)
{
	struct controller_rule *added = calloc(1, sizeof(*added));

	if (!added)
		return NULL;
	added->rule = *rule;
	added->configured = true;
	if (!tsearch(added, &controller->wanted.by_ns, by_ns)) {
		free_rule(added);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&controller->wanted.rules, added, order);
	return added;
}

static void set_configured(
		struct hs_controller *controller, struct controller_rule *rule, bool configured)
{
	controller->wanted.n_kept += rule->configured;
	rule->configured = configured;
	controller->wanted.n_kept -= configured;
}

// ---- bindings ----

// Returns the position of the node's binding, or where it would be inserted.
static unsigned search(const struct controller_rule *rule, unsigned node)
{
	unsigned low = 0, high = rule->n_bindings;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (rule->bindings[middle]->node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct binding *controller_find_binding(
		struct hs_controller *controller, uint32_t ns_id, unsigned node)
{
	struct controller_rule *rule = controller_find_rule(controller, ns_id);
	unsigned at = rule ? search(rule, node) : 0;

	return rule && at < rule->n_bindings && rule->bindings[at]->node == node
			       ? rule->bindings[at]
			       : NULL;
}

struct adding {
	struct hs_controller *controller;
	struct controller_rule *rule;
	bool failed;
};

// Makes room for one more binding, in steps: most rules have a few bindings, some have one at each
// of 1,000 nodes.
static bool make_room(struct controller_rule *rule)
{
	unsigned n = rule->n_bindings;

	if (n && (n & (n - 1)))
		return true;
	struct binding **bindings =
			realloc(rule->bindings, (n ? 2 * n : 1) * sizeof(struct binding *));
	if (bindings)
		rule->bindings = bindings;
	return bindings != NULL;
}

static void count(struct hs_controller *controller, const struct binding *binding, int change)
{
	unsigned which = binding->leaving ? BINDING_LEAVING : binding->state;

	controller->nodes[binding->node].n_bindings[which] += (uint32_t)change;
	if (binding->leaving)
		binding->rule->n_leaving += (unsigned)change;
}

void controller_set_state(
		struct hs_controller *controller, struct binding *binding, enum binding_state state)
{
	count(controller, binding, -1);
	binding->state = (uint8_t)state;
	count(controller, binding, 1);
}

void controller_forget_refusal(struct binding *binding)
{
	free(binding->code);
	binding->code = NULL;
}

static void set_leaving(struct hs_controller *controller, struct binding *binding, bool leaving)
{
	count(controller, binding, -1);
	binding->leaving = leaving;
	count(controller, binding, 1);
	controller_forget_refusal(binding);
}

static void insert_binding(struct hs_controller *controller, struct controller_rule *rule,
		struct binding *binding)
{
	unsigned at = search(rule, binding->node);

	memmove(&rule->bindings[at + 1], &rule->bindings[at],
			(rule->n_bindings++ - at) * sizeof(struct binding *));
	rule->bindings[at] = binding;
	TAILQ_INSERT_TAIL(&controller->nodes[binding->node].bindings, binding, at_node);
	count(controller, binding, 1);
}

static void add_binding(void *context, unsigned node)
{
	struct adding *adding = context;
	struct controller_rule *rule = adding->rule;
	struct binding *binding =
			controller_find_binding(adding->controller, rule->rule.ns_id, node);

	if (binding) { // named twice, or left from before
		set_leaving(adding->controller, binding, false);
		return;
	}
	binding = make_room(rule) ? calloc(1, sizeof(*binding)) : NULL;
	if (!binding) {
		adding->failed = true;
		return;
	}
	binding->rule = rule;
	binding->node = (uint16_t)node;
	// An earlier process may have told the node.
	binding->state = adding->controller->starting ? BINDING_UNKNOWN : BINDING_MISSING;
	insert_binding(adding->controller, rule, binding);
}

void controller_drop_binding(struct hs_controller *controller, struct binding *binding)
{
	struct controller_node *node = &controller->nodes[binding->node];
	struct controller_rule *rule = binding->rule;

	count(controller, binding, -1);
	TAILQ_REMOVE(&node->bindings, binding, at_node);
	if (binding->queued)
		TAILQ_REMOVE(&node->queue, binding, in_queue);
	unsigned at = search(rule, binding->node);
	memmove(&rule->bindings[at], &rule->bindings[at + 1],
			(--rule->n_bindings - at) * sizeof(struct binding *));
	free(binding->code);
	free(binding);
	if (rule->deleted && rule->n_bindings == 0)
		remove_rule(controller, rule);
}

// ---- wanting ----

void controller_queue(struct hs_controller *controller, struct binding *binding)
{
	struct controller_node *node = &controller->nodes[binding->node];

	if (binding->state == BINDING_UNKNOWN)
		return; // the audit will compare with what is wanted then
	binding->touched = node->audits;
	if (binding->queued)
		return;
	binding->queued = true;
	TAILQ_INSERT_TAIL(&node->queue, binding, in_queue);
}

// Queues all bindings of a rule. A node that does not have the rule needs no removal.
static void queue_bindings(struct hs_controller *controller, struct controller_rule *rule)
{
	for (unsigned i = rule->n_bindings; i-- > 0;) {
		struct binding *binding = rule->bindings[i];
		if (binding->leaving && binding->state == BINDING_MISSING && !binding->calling)
			controller_drop_binding(controller, binding);
		else
			controller_queue(controller, binding);
	}
}

// Returns a new revision: microseconds of the clock, so that revisions grow from one process to the
// next.
static uint64_t next_revision(struct hs_controller *controller, uint64_t above)
{
	uint64_t now_us = (uint64_t)controller->now_ns / 1000;

	if (controller->wanted.revision < above)
		controller->wanted.revision = above;
	controller->wanted.revision++;
	if (controller->wanted.revision < now_us)
		controller->wanted.revision = now_us;
	return controller->wanted.revision;
}

void controller_raise_revision(
		struct hs_controller *controller, struct controller_rule *rule, uint64_t above)
{
	uint64_t before = rule->revision;

	rule->revision = next_revision(controller, above);
	for (unsigned i = 0; i < rule->n_bindings; i++)
		if (rule->bindings[i]->has == before)
			rule->bindings[i]->has = rule->revision;
}

static void set_content(struct hs_controller *controller, struct controller_rule *rule,
		const struct hs_rule *wanted)
{
	bool is_new = rule->revision == 0;

	if (is_new || !controller_same(&rule->rule, wanted, false))
		rule->flow_revision = next_revision(controller, HAS_OTHER_FLOW);
	if (is_new || !controller_same(&rule->rule, wanted, true))
		rule->revision = next_revision(controller, 0);
	if (is_new && !controller->starting)
		rule->since = rule->flow_revision;
	rule->rule = *wanted;
}

int controller_want(
		struct hs_controller *controller, const struct hs_rule *wanted, const json_t *on)
{
	struct controller_rule *rule = controller_find_rule(controller, wanted->ns_id);
	struct adding adding = {.controller = controller};

	if (!rule)
		rule = add_rule(controller, wanted);
	if (!rule)
		return -ENOMEM;
	set_content(controller, rule, wanted);
	for (unsigned i = 0; i < rule->n_bindings; i++)
		set_leaving(controller, rule->bindings[i], true);
	rule->deleted = false;
	set_configured(controller, rule, controller->configuring);
	json_decref(rule->on);
	rule->on = on ? json_deep_copy(on) : NULL;
	adding.rule = rule;
	adding.failed = on && !rule->on;
	each_target(controller->config, on, add_binding, &adding);
	controller->wanted.n++;
	controller->wanted.generation++;
	queue_bindings(controller, rule);
	if (!adding.failed)
		return 0;
	controller_unwant(controller, rule);
	return -ENOMEM;
}

void controller_rule_changed(struct hs_controller *controller, struct controller_rule *rule)
{
	controller->wanted.generation++;
	rule->revision = next_revision(controller, 0);
	for (unsigned i = 0; i < rule->n_bindings; i++) {
		struct binding *binding = rule->bindings[i];
		// This change must replace the rule of another owner.
		if (!binding->leaving && binding->state == BINDING_CONFLICT) {
			controller_set_state(controller, binding, BINDING_MISSING);
			binding->force = true;
		}
		binding->force |= binding->theirs;
		controller_forget_refusal(binding);
		controller_queue(controller, binding);
	}
}

void controller_unwant(struct hs_controller *controller, struct controller_rule *rule)
{
	controller->wanted.generation++;
	controller->wanted.n--;
	for (unsigned i = 0; i < rule->n_bindings; i++)
		set_leaving(controller, rule->bindings[i], true);
	queue_bindings(controller, rule);
	rule->deleted = true;
	if (rule->n_bindings == 0)
		remove_rule(controller, rule);
}

void controller_close_rules(struct hs_controller *controller)
{
	struct controller_rule *rule;

	while ((rule = TAILQ_FIRST(&controller->wanted.rules))) {
		rule->deleted = true;
		if (rule->n_bindings == 0)
			remove_rule(controller, rule);
		else
			controller_drop_binding(controller, rule->bindings[rule->n_bindings - 1]);
	}
}

// ---- showing ----

static const char *binding_name(const struct binding *binding)
{
	static const char *const names[] = {
			[BINDING_UNKNOWN] = "unknown",
			[BINDING_MISSING] = "missing",
			[BINDING_PRESENT] = "present",
			[BINDING_CONFLICT] = "conflict",
	};

	if (binding->leaving)
		return "removing";
	if (binding->state == BINDING_PRESENT && binding->has != binding->rule->revision)
		return "changing";
	if (binding->state == BINDING_REFUSED)
		return binding->code ? binding->code : "refused";
	return names[binding->state];
}

json_t *controller_rule_json(
		const struct hs_controller *controller, const struct controller_rule *rule)
{
	json_t *object = hs_rule_to_json(&rule->rule), *nodes = json_object();

	if (rule->on)
		json_object_set(object, "on", rule->on);
	for (unsigned i = 0; i < rule->n_bindings; i++) {
		const struct binding *binding = rule->bindings[i];
		json_object_set_new(nodes, controller->config->nodes[binding->node].name,
				json_string(binding_name(binding)));
	}
	json_object_set_new(object, "nodes", nodes);
	return object;
}

json_t *controller_update_json(const struct hs_rule *rule)
{
	json_t *update = hs_rule_rows_to_json(
			rule, HS_RULE_BIT(NS_ID) | HS_RULE_CHANGEABLE | HS_RULE_LABELS);

	if (!rule->fields) // the node's own fields apply again
		json_object_set_new(update, "fields", json_null());
	return update;
}
