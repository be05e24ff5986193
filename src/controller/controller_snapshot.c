// SPDX-License-Identifier: BSD-3-Clause
// What is wanted, for the state. Each rule is preceded by its removal from nodes that it has left
// and that may still have it, so that a later process removes it there.
#include "controller.h"

#include "controller_state.h"

#include "rule_json.h"

#include <stdlib.h>

struct entry {
	struct hs_rule rule;
	json_t *on;
	bool deleted;
	json_t *left; // names of nodes; NULL: none
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

static json_t *left_nodes(
		const struct hs_controller *controller, const struct controller_rule *rule)
{
	json_t *names = rule->n_leaving ? json_array() : NULL;

	for (unsigned i = 0; names && i < rule->n_bindings; i++)
		if (rule->bindings[i]->leaving)
			json_array_append_new(names,
					json_string(controller->config->nodes
									[rule->bindings[i]->node]
											.name));
	return names;
}

struct hs_controller_snapshot *hs_controller_snapshot(struct hs_controller *controller)
{
	struct hs_controller_snapshot *snapshot =
			malloc(sizeof(*snapshot) +
					controller->wanted.n_kept * sizeof(snapshot->entries[0]));
	struct controller_rule *rule;

	if (!snapshot)
		return NULL;
	snapshot->n = snapshot->at = 0;
	TAILQ_FOREACH (rule, &controller->wanted.rules, order) {
		if (rule->configured)
			continue;
		snapshot->entries[snapshot->n++] = (struct entry){
				.rule = rule->rule,
				.on = json_incref(rule->on),
				.deleted = rule->deleted,
				.left = left_nodes(controller, rule),
		};
	}
	return snapshot;
}

json_t *hs_controller_snapshot_next(struct hs_controller_snapshot *snapshot)
{
	if (snapshot->at == snapshot->n)
		return NULL;
	struct entry *entry = &snapshot->entries[snapshot->at++];
	if (!entry->left)
		return install(&entry->rule, entry->on);
	json_t *on = json_pack("{s:O}", "nodes", entry->left);
	json_t *list = json_pack("[o, {s:{s:I}}]", install(&entry->rule, on), "int_delete", "ns_id",
			(json_int_t)entry->rule.ns_id);
	json_decref(on);
	if (!entry->deleted)
		json_array_append_new(list, install(&entry->rule, entry->on));
	return list;
}

void hs_controller_snapshot_free(struct hs_controller_snapshot *snapshot)
{
	for (size_t i = 0; snapshot && i < snapshot->n; i++) {
		json_decref(snapshot->entries[i].on);
		json_decref(snapshot->entries[i].left);
	}
	free(snapshot);
}
