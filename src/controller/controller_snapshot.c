// SPDX-License-Identifier: BSD-3-Clause
// What is wanted, for the state. Each rule is preceded by its earlier contents at nodes that have
// not removed these yet, so that a later process knows that they are its own.
#include "controller_parts.h"

#include "rule_json.h"

#include <stdlib.h>

struct entry {
	struct hs_rule rule;
	json_t *on;
	bool deleted;
	json_t *before; // a list of requests and removals; NULL: none
};

struct hs_controller_snapshot {
	size_t n, at;
	struct entry entries[];
};

static json_t *install(const struct hs_rule *rule, json_t *on)
{
	json_t *content = hs_rule_to_json(rule);

	if (on)
		json_object_set(content, "on", on);
	return json_pack("{s:o}", "int_request", content);
}

static json_t *removal(uint32_t ns_id)
{
	return json_pack("{s:{s:I}}", "int_delete", "ns_id", (json_int_t)ns_id);
}

// Lists what the nodes may have under the rule's ns_id.
static void add(json_t *list, const struct controller_rule *rule, const struct hs_rule *what,
		json_t *names)
{
	json_t *on = json_pack("{s:O}", "nodes", names);

	json_array_append_new(list, install(what, on));
	json_array_append_new(list, removal(rule->rule.ns_id));
	json_decref(on);
}

static void add_binding(json_t *list, const struct binding *binding, json_t *name)
{
	const struct hs_rule *all[] = {binding->is_known ? &binding->known : NULL, binding->unsure};
	json_t *names = json_pack("[O]", name);

	for (unsigned i = 0; i < 2; i++)
		if (all[i] && (binding->leaving ||
					      !controller_same_flow(all[i], &binding->rule->rule)))
			add(list, binding->rule, all[i], names);
	json_decref(names);
}

static json_t *before(const struct hs_controller *controller, struct controller_rule *rule)
{
	json_t *list = json_array(), *inherited = json_array();

	for (unsigned i = 0; i < rule->n_bindings; i++) {
		const struct binding *binding = rule->bindings[i];
		json_t *name = json_string(controller->config->nodes[binding->node].name);
		add_binding(list, binding, name);
		if (binding->inherited)
			json_array_append(inherited, name);
		json_decref(name);
	}
	for (unsigned i = 0; json_array_size(inherited) && i < rule->n_history; i++)
		add(list, rule, &rule->history[i], inherited);
	json_decref(inherited);
	if (json_array_size(list))
		return list;
	rule->replaced = false;
	json_decref(list);
	return NULL;
}

struct hs_controller_snapshot *hs_controller_snapshot(struct hs_controller *controller)
{
	struct hs_controller_snapshot *snapshot = malloc(
			sizeof(*snapshot) + controller->n_kept * sizeof(snapshot->entries[0]));
	struct controller_rule *rule;

	if (!snapshot)
		return NULL;
	snapshot->n = snapshot->at = 0;
	TAILQ_FOREACH (rule, &controller->rules, order) {
		if (rule->configured)
			continue;
		snapshot->entries[snapshot->n++] = (struct entry){
				.rule = rule->rule,
				.on = json_incref(rule->target.on),
				.deleted = rule->deleted,
				.before = rule->replaced ? before(controller, rule) : NULL,
		};
	}
	return snapshot;
}

json_t *hs_controller_snapshot_next(struct hs_controller_snapshot *snapshot)
{
	if (snapshot->at == snapshot->n)
		return NULL;
	struct entry *entry = &snapshot->entries[snapshot->at++];
	json_t *last = install(&entry->rule, entry->on);
	if (!entry->deleted && !entry->before)
		return last;
	json_t *list = entry->before ? json_incref(entry->before) : json_array();
	json_array_append_new(list, last);
	if (entry->deleted)
		json_array_append_new(list, removal(entry->rule.ns_id));
	return list;
}

void hs_controller_snapshot_free(struct hs_controller_snapshot *snapshot)
{
	for (size_t i = 0; snapshot && i < snapshot->n; i++) {
		json_decref(snapshot->entries[i].on);
		json_decref(snapshot->entries[i].before);
	}
	free(snapshot);
}
