// SPDX-License-Identifier: BSD-3-Clause
// What is wanted: rules, the nodes that they belong to, and the state at each of these nodes.
#include "fleet_parts.h"

#include "rule_field.h"
#include "rule_json.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- comparing ----

static bool same_fields(const struct hs_rule *a, const struct hs_rule *b, bool changeable)
{
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		if ((field->update_has != 0) != changeable)
			continue;
		if (memcmp((const char *)a + field->offset, (const char *)b + field->offset,
				    field->bytes) != 0)
			return false;
	}
	return true;
}

bool fleet_same_flow(const struct hs_rule *a, const struct hs_rule *b)
{
	return same_fields(a, b, false);
}

bool fleet_same_switches(const struct hs_rule *a, const struct hs_rule *b)
{
	return same_fields(a, b, true);
}

bool fleet_same(const struct hs_rule *a, const struct hs_rule *b)
{
	return fleet_same_flow(a, b) && fleet_same_switches(a, b);
}

// ---- targets ----

// Calls back for each node that `on` names.
static void each_target(const struct hs_fleet_config *config, const json_t *on,
		void (*each)(void *context, unsigned node), void *context)
{
	const json_t *path = json_object_get(on, "path"), *nodes = json_object_get(on, "nodes"),
		     *source = json_object_get(on, "source");

	if (path) {
		const struct hs_fleet_path *found =
				hs_fleet_config_path(config, json_string_value(path));
		for (unsigned i = 0; found && i < found->n; i++)
			each(context, found->nodes[i]);
	} else if (nodes || source) {
		size_t n = nodes ? json_array_size(nodes) : 1;
		for (size_t i = 0; i < n; i++) {
			const json_t *name = nodes ? json_array_get(nodes, i) : source;
			int node = hs_fleet_config_node(config, json_string_value(name));
			if (node >= 0)
				each(context, (unsigned)node);
		}
	} else {
		for (unsigned i = 0; i < config->n_nodes; i++)
			each(context, i);
	}
}

static int check_name(const struct hs_fleet_config *config, const json_t *name, const char *path,
		struct hs_error *err)
{
	if (!json_is_string(name))
		return hs_error_set(err, "wrong_type", path, "the name of a node",
				"%s is not of type string", path + 1);
	if (hs_fleet_config_node(config, json_string_value(name)) < 0)
		return hs_error_set(err, "bad_value", path, "the name of a node",
				"no node is called \"%.64s\"", json_string_value(name));
	return 0;
}

static int check_names(
		const struct hs_fleet_config *config, const json_t *list, struct hs_error *err)
{
	if (!json_is_array(list) || json_array_size(list) == 0)
		return hs_error_set(err, "wrong_type", "/on/nodes", "a list of names of nodes",
				"on.nodes is not a list with a name in it");
	for (size_t i = 0; i < json_array_size(list); i++) {
		char path[40];
		snprintf(path, sizeof(path), "/on/nodes/%zu", i);
		int rc = check_name(config, json_array_get(list, i), path, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_path(
		const struct hs_fleet_config *config, const json_t *name, struct hs_error *err)
{
	if (!json_is_string(name))
		return hs_error_set(err, "wrong_type", "/on/path", "the name of a path",
				"on.path is not of type string");
	if (!hs_fleet_config_path(config, json_string_value(name)))
		return hs_error_set(err, "bad_value", "/on/path", "the name of a path",
				"no path is called \"%.64s\"", json_string_value(name));
	return 0;
}

int fleet_check_on(const struct hs_fleet_config *config, const json_t *on, struct hs_error *err)
{
	static const char allowed[] = "{\"path\": NAME}, {\"nodes\": [NAME, ...]} or "
				      "{\"source\": NAME}";
	const json_t *value;

	if (!on)
		return 0;
	if (!json_is_object(on) || json_object_size(on) != 1)
		return hs_error_set(err, json_is_object(on) ? "bad_value" : "wrong_type", "/on",
				allowed, "on is not an object with one member");
	if ((value = json_object_get(on, "path")))
		return check_path(config, value, err);
	if ((value = json_object_get(on, "nodes")))
		return check_names(config, value, err);
	if ((value = json_object_get(on, "source")))
		return check_name(config, value, "/on/source", err);
	return hs_error_set(err, "unknown_field", "/on", allowed, "on has none of these members");
}

// ---- rules ----

static int by_ns(const void *a, const void *b)
{
	const struct fleet_rule *left = a, *right = b;
	return (left->rule.ns_id > right->rule.ns_id) - (left->rule.ns_id < right->rule.ns_id);
}

struct fleet_rule *fleet_find_rule(struct hs_fleet *fleet, uint32_t ns_id)
{
	struct fleet_rule key = {.rule = {.ns_id = ns_id}};
	void *found = tfind(&key, &fleet->rules_by_ns, by_ns);
	return found ? *(struct fleet_rule **)found : NULL;
}

static void free_rule(struct fleet_rule *rule)
{
	if (!rule)
		return;
	json_decref(rule->target.on);
	free(rule->history);
	free(rule->places);
	free(rule);
}

static void remove_rule(struct hs_fleet *fleet, struct fleet_rule *rule)
{
	fleet->n_kept -= !rule->configured;
	tdelete(rule, &fleet->rules_by_ns, by_ns);
	TAILQ_REMOVE(&fleet->rules, rule, order);
	free_rule(rule);
}

// Adds a rule without places to the tree. Returns NULL if memory is out.
static struct fleet_rule *add_rule(struct hs_fleet *fleet, const struct hs_rule *rule)
{
	struct fleet_rule *added = calloc(1, sizeof(*added));

	if (!added)
		return NULL;
	added->rule = *rule;
	added->configured = true;
	if (!tsearch(added, &fleet->rules_by_ns, by_ns)) {
		free_rule(added);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&fleet->rules, added, order);
	return added;
}

static void set_configured(struct hs_fleet *fleet, struct fleet_rule *rule, bool configured)
{
	fleet->n_kept += rule->configured;
	rule->configured = configured;
	fleet->n_kept -= configured;
}

// ---- places ----

// Returns the position of the node's place, or where it would be inserted.
static unsigned search(const struct fleet_rule *rule, unsigned node)
{
	unsigned low = 0, high = rule->n_places;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (rule->places[middle]->node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct place *fleet_find_place(struct hs_fleet *fleet, uint32_t ns_id, unsigned node)
{
	struct fleet_rule *rule = fleet_find_rule(fleet, ns_id);
	unsigned at = rule ? search(rule, node) : 0;

	return rule && at < rule->n_places && rule->places[at]->node == node ? rule->places[at]
									     : NULL;
}

struct adding {
	struct hs_fleet *fleet;
	struct fleet_rule *rule;
	bool failed;
};

// Makes room for one more place, in steps: most rules have a few places, some have one at each of
// 1,000 nodes.
static bool make_room(struct fleet_rule *rule)
{
	unsigned n = rule->n_places;

	if (n && (n & (n - 1)))
		return true;
	struct place **places = realloc(rule->places, (n ? 2 * n : 1) * sizeof(struct place *));
	if (places)
		rule->places = places;
	return places != NULL;
}

static void count(struct hs_fleet *fleet, const struct place *place, int change)
{
	unsigned which = place->leaving ? PLACE_LEAVING : place->state;
	fleet->nodes[place->node].n_places[which] += (uint32_t)change;
}

void fleet_set_state(struct hs_fleet *fleet, struct place *place, enum place_state state)
{
	count(fleet, place, -1);
	place->state = (uint8_t)state;
	count(fleet, place, 1);
}

static void set_leaving(struct hs_fleet *fleet, struct place *place, bool leaving)
{
	count(fleet, place, -1);
	place->leaving = leaving;
	count(fleet, place, 1);
}

static void insert_place(struct hs_fleet *fleet, struct fleet_rule *rule, struct place *place)
{
	unsigned at = search(rule, place->node);

	memmove(&rule->places[at + 1], &rule->places[at],
			(rule->n_places++ - at) * sizeof(struct place *));
	rule->places[at] = place;
	TAILQ_INSERT_TAIL(&fleet->nodes[place->node].places, place, at_node);
	count(fleet, place, 1);
}

static void add_place(void *context, unsigned node)
{
	struct adding *adding = context;
	struct fleet_rule *rule = adding->rule;
	struct place *place = fleet_find_place(adding->fleet, rule->rule.ns_id, node);

	if (place) { // named twice, or left from before
		set_leaving(adding->fleet, place, false);
		return;
	}
	place = make_room(rule) ? calloc(1, sizeof(*place)) : NULL;
	if (!place) {
		adding->failed = true;
		return;
	}
	place->rule = rule;
	place->node = (uint16_t)node;
	place->inherited = adding->fleet->starting;
	insert_place(adding->fleet, rule, place);
}

static void free_place(struct place *place)
{
	free(place->unsure);
	free(place->code);
	free(place);
}

void fleet_drop_place(struct hs_fleet *fleet, struct place *place)
{
	struct fleet_node *node = &fleet->nodes[place->node];
	struct fleet_rule *rule = place->rule;

	count(fleet, place, -1);
	TAILQ_REMOVE(&node->places, place, at_node);
	if (place->queued)
		TAILQ_REMOVE(&node->queue, place, in_queue);
	unsigned at = search(rule, place->node);
	memmove(&rule->places[at], &rule->places[at + 1],
			(--rule->n_places - at) * sizeof(struct place *));
	free_place(place);
	if (rule->deleted && rule->n_places == 0)
		remove_rule(fleet, rule);
}

// ---- wanting ----

static bool was_told(const struct place *place)
{
	return place->calling || place->is_known || place->unsure || place->inherited;
}

// Queues removals. A node that never received the rule needs none.
static void queue_places(struct hs_fleet *fleet, struct fleet_rule *rule)
{
	for (unsigned i = rule->n_places; i-- > 0;) {
		struct place *place = rule->places[i];
		if (place->leaving && !was_told(place))
			fleet_drop_place(fleet, place);
		else
			fleet_queue(fleet, place);
	}
}

bool fleet_was_flow(const struct fleet_rule *rule, const struct hs_rule *found)
{
	for (unsigned i = 0; i < rule->n_history; i++)
		if (fleet_same_flow(&rule->history[i], found))
			return true;
	return false;
}

static bool remember(struct fleet_rule *rule)
{
	if (fleet_was_flow(rule, &rule->rule))
		return true;
	struct hs_rule *history =
			reallocarray(rule->history, rule->n_history + 1, sizeof(*rule->history));
	if (!history)
		return false;
	rule->history = history;
	history[rule->n_history++] = rule->rule;
	return true;
}

// Nodes have the old content until each has received the new one.
static bool replace(struct hs_fleet *fleet, struct fleet_rule *rule)
{
	bool inherited = false;

	rule->replaced |= rule->n_places > 0;
	for (unsigned i = 0; i < rule->n_places; i++) {
		set_leaving(fleet, rule->places[i], true);
		inherited |= rule->places[i]->inherited;
	}
	return !inherited || remember(rule);
}

int fleet_want(struct hs_fleet *fleet, const struct hs_rule *wanted, const json_t *on)
{
	struct fleet_rule *rule = fleet_find_rule(fleet, wanted->ns_id);
	struct adding adding = {.fleet = fleet};

	if (!rule)
		rule = add_rule(fleet, wanted);
	if (!rule)
		return -ENOMEM;
	adding.failed = !replace(fleet, rule);
	rule->rule = *wanted;
	rule->deleted = false;
	set_configured(fleet, rule, fleet->configuring);
	json_decref(rule->target.on);
	rule->target.on = on ? json_deep_copy(on) : NULL;
	adding.rule = rule;
	adding.failed |= on && !rule->target.on;
	each_target(fleet->config, on, add_place, &adding);
	fleet->n_rules++;
	fleet->generation++;
	queue_places(fleet, rule);
	if (!adding.failed)
		return 0;
	fleet_unwant(fleet, rule);
	return -ENOMEM;
}

void fleet_change(struct hs_fleet *fleet, struct fleet_rule *rule)
{
	fleet->generation++;
	for (unsigned i = 0; i < rule->n_places; i++) {
		struct place *place = rule->places[i];
		// This change must replace what somebody else has set there.
		if (place->state == PLACE_CONFLICT && !place->leaving) {
			fleet_set_state(fleet, place, PLACE_MISSING);
			place->force = true;
		}
		fleet_queue(fleet, place);
	}
}

void fleet_unwant(struct hs_fleet *fleet, struct fleet_rule *rule)
{
	fleet->generation++;
	fleet->n_rules--;
	fleet_forget_flow(fleet, rule->rule.ns_id);
	for (unsigned i = 0; i < rule->n_places; i++)
		set_leaving(fleet, rule->places[i], true);
	queue_places(fleet, rule);
	rule->deleted = true;
	if (rule->n_places == 0)
		remove_rule(fleet, rule);
}

void fleet_forget_rules(struct hs_fleet *fleet)
{
	struct fleet_rule *rule;

	while ((rule = TAILQ_FIRST(&fleet->rules))) {
		rule->deleted = true;
		if (rule->n_places == 0)
			remove_rule(fleet, rule);
		else
			fleet_drop_place(fleet, rule->places[rule->n_places - 1]);
	}
}

// ---- showing ----

static const char *place_name(const struct place *place)
{
	static const char *const names[] = {
			[PLACE_UNKNOWN] = "unknown",
			[PLACE_MISSING] = "missing",
			[PLACE_PRESENT] = "present",
			[PLACE_CONFLICT] = "conflict",
	};

	if (fleet_place_leaves(place))
		return "removing";
	if (place->state == PLACE_PRESENT && !fleet_same(&place->known, &place->rule->rule))
		return "changing";
	if (place->state == PLACE_REFUSED)
		return place->code ? place->code : "refused";
	return names[place->state];
}

json_t *fleet_rule_json(const struct hs_fleet *fleet, const struct fleet_rule *rule)
{
	json_t *object = hs_rule_to_json(&rule->rule), *nodes = json_object();

	if (rule->target.on)
		json_object_set(object, "on", rule->target.on);
	for (unsigned i = 0; i < rule->n_places; i++) {
		const struct place *place = rule->places[i];
		json_object_set_new(nodes, fleet->config->nodes[place->node].name,
				json_string(place_name(place)));
	}
	json_object_set_new(object, "nodes", nodes);
	return object;
}
