// SPDX-License-Identifier: BSD-3-Clause
// The settings that this node's API made for rules that came in band. They have priority over the
// settings in requests until they are reset. A repeat of the request does not undo them, and
// neither does the rule's removal and return.
#include "in_band_own.h"

#include "rule_field.h"
#include "rule_json.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#define ABSENT_MOST 1024 // number of rules that are not installed

static int by_ns(const void *a, const void *b)
{
	uint32_t x = ((const struct own *)a)->rule.ns_id, y = ((const struct own *)b)->rule.ns_id;
	return (x > y) - (x < y);
}

static struct own *find(const struct in_band_own *all, uint32_t ns_id)
{
	const struct own key = {.rule.ns_id = ns_id};
	struct own *const *found = tfind(&key, &all->by_ns, by_ns);
	return found ? *found : NULL;
}

static void forget(struct in_band_own *all, struct own *own)
{
	if (all->next_line == own)
		all->next_line = TAILQ_NEXT(own, order);
	tdelete(own, &all->by_ns, by_ns);
	TAILQ_REMOVE(&all->list, own, order);
	all->n--;
	free(own);
}

// Removes the oldest settings of rules that are not installed, until there is room for one more.
static void keep_few(struct in_band_own *all)
{
	// At a restart, rules come back one by one.
	uint32_t most = all->base->settings.max_rules + ABSENT_MOST;
	struct own *own = TAILQ_FIRST(&all->list), *next;

	for (; own && all->n >= most; own = next) {
		next = TAILQ_NEXT(own, order);
		if (hs_flow_table_find(all->base->flows, own->rule.ns_id) == HS_FLOW_NONE)
			forget(all, own);
	}
}

static struct own *find_or_make(struct in_band_own *all, uint32_t ns_id)
{
	struct own *own = find(all, ns_id);

	if (own)
		return own;
	keep_few(all);
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	own->rule.ns_id = ns_id;
	if (!tsearch(own, &all->by_ns, by_ns)) {
		free(own);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&all->list, own, order);
	all->n++;
	return own;
}

// Adds the mode to its setting, and the setting to its mode: one has no meaning without the other.
static uint32_t whole(uint32_t rows)
{
	uint32_t mode = HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING);
	return rows & mode ? rows | mode : rows;
}

void hs_in_band_own_init(struct in_band_own *all, const struct in_band_base *base)
{
	*all = (struct in_band_own){.base = base};
	TAILQ_INIT(&all->list);
}

void hs_in_band_own_apply(struct in_band_own *all, struct hs_rule *rule)
{
	const struct own *own = find(all, rule->ns_id);
	struct hs_rule both = *rule;
	struct hs_error err;

	if (!own)
		return;
	hs_rule_copy_rows(&both, &own->rule, own->rows);
	if (hs_rule_check(&both, &err) == 0)
		*rule = both;
}

// Keeps the fields `set` with their values in `rule`, the rule after the update, and forgets
// `back`.
static int change(struct in_band_own *all, const struct hs_rule *rule, uint32_t set, uint32_t back)
{
	struct own *own = set ? find_or_make(all, rule->ns_id) : find(all, rule->ns_id);

	if (!own)
		return set ? -ENOMEM : 0;
	hs_rule_copy_rows(&own->rule, rule, set);
	own->rows = (own->rows | set) & ~back;
	if (!own->rows)
		forget(all, own);
	return 0;
}

bool hs_in_band_own_has(const struct in_band_own *all, uint32_t ns_id)
{
	return find(all, ns_id) != NULL;
}

int hs_in_band_own_update(struct in_band_own *all, const struct hs_rule *asked,
		const struct hs_rule *rule, struct hs_rule_update *update)
{
	uint32_t back = whole(update->back);
	uint32_t set = whole(update->rows & ~update->back);
	struct hs_rule changed = *rule;
	struct hs_error err;
	int rc = hs_rule_apply(&changed, update, &err);

	if (rc == 0)
		rc = change(all, &changed, set, back & ~set);
	if (rc == 0)
		hs_rule_update_take(update, asked, back & ~set);
	return rc;
}

void hs_in_band_own_forget(struct in_band_own *all, uint32_t ns_id)
{
	struct own *own = find(all, ns_id);

	if (own)
		forget(all, own);
}

void hs_in_band_own_fini(struct in_band_own *all)
{
	while (!TAILQ_EMPTY(&all->list))
		forget(all, TAILQ_FIRST(&all->list));
}

void hs_in_band_own_show(struct in_band_own *all, const struct hs_rule *asked, json_t **shown,
		json_t **in_band)
{
	const struct own *own = find(all, asked->ns_id);

	*shown = own ? hs_rule_rows_to_json(&own->rule, own->rows) : NULL;
	*in_band = own ? hs_rule_rows_to_json(asked, own->rows) : NULL;
}

// ---- the state ----

static void read_update(struct in_band_own *all, const json_t *content)
{
	struct hs_rule rule = {0};
	struct hs_rule_update update;
	struct hs_error err;

	if (hs_rule_update_from_json(content, &rule.ns_id, &update, &err) < 0)
		return;
	hs_rule_copy_rows(&rule, &update.to, update.rows);
	// Whether a setting fits its mode is checked when the rule comes.
	uint32_t set = update.rows & ~update.back;
	change(all, &rule, set, whole(update.back));
}

// Returns the ns_id of a request, 0 if it has none.
static uint32_t ns_id_of(const json_t *content)
{
	json_int_t ns_id = json_integer_value(json_object_get(content, "ns_id"));
	return ns_id > 0 && ns_id <= UINT32_MAX ? (uint32_t)ns_id : 0;
}

// Takes a change of a rule that is not installed. Returns whether it did. `asked` has the
// namespaces for which the line has an int_request: their changes are left to others. In a list, a
// deletion that finds no settings is taken, because an update before it reset the last one.
static bool take_change(struct in_band_own *all, const json_t *line, bool listed, json_t *asked)
{
	const json_t *update = json_object_get(line, "int_update");
	const json_t *deletion = json_object_get(line, "int_delete");
	uint32_t wanted = ns_id_of(json_object_get(line, "int_request"));
	uint32_t ns_id = ns_id_of(update ? update : deletion);
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, wanted ? wanted : ns_id);
	if (wanted)
		json_object_set_new(asked, text, json_true());
	if (!ns_id || json_object_get(asked, text) || (deletion && !listed && !find(all, ns_id)) ||
			hs_flow_table_find(all->base->flows, ns_id) != HS_FLOW_NONE)
		return false;
	if (update)
		read_update(all, update);
	else
		hs_in_band_own_forget(all, ns_id);
	return true;
}

json_t *hs_in_band_own_replay(struct in_band_own *all, json_t *line)
{
	json_t *rest = json_is_array(line) ? json_array() : NULL, *asked = json_object(), *one;
	size_t i, taken = 0;

	if (!rest && !take_change(all, line, false, asked))
		rest = json_incref(line);
	// A null stands for a change that is taken, so that errors name the others by their
	// positions.
	json_array_foreach (line, i, one) {
		bool take = take_change(all, one, true, asked);
		json_array_append_new(rest, take ? json_null() : json_incref(one));
		taken += take;
	}
	json_decref(asked);
	if (!json_is_array(line) || taken < json_array_size(line))
		return rest;
	json_decref(rest);
	return NULL;
}

json_t *hs_in_band_own_line(struct in_band_own *all, bool first)
{
	const struct own *own = first ? TAILQ_FIRST(&all->list) : all->next_line;

	all->next_line = own ? TAILQ_NEXT(own, order) : NULL;
	return own ? json_pack("{s:o}", "int_update",
				     hs_rule_rows_to_json(
						     &own->rule, own->rows | HS_RULE_BIT(NS_ID)))
		   : NULL;
}
