// SPDX-License-Identifier: BSD-3-Clause
// The links of a scenario, with parameters for each direction.
#include "scenario_draft.h"

#include "config.h"
#include "config_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HOUR_NS	    UINT64_C(3600000000000)
#define MAX_PACKETS 10000000

const char *const hs_scenario_directions[2] = {"forward", "reverse"};

static const struct hs_schema_word distribution_words[] = {
		{"uniform", HS_LINK_UNIFORM}, {"normal", HS_LINK_NORMAL}, {NULL, 0}};
// Returns 1 + the index of the profile, because 0 means no profile. Returns HS_NO_INDEX if there is
// none with this name.
static uint32_t find_profile(const void *root, const char *name)
{
	const struct hs_config *config = ((const struct hs_draft *)root)->scenario.profiles;

	for (uint32_t i = 0; config && i < config->n_profiles; i++)
		if (strcmp(config->profiles[i].name, name) == 0)
			return i + 1;
	return hs_draft_may_be((void *)root, "profiles", name) ? 0 : HS_NO_INDEX;
}

static const struct hs_schema_names profile_names = {
		"unknown_name", "profile", "the name of a profile", find_profile, NULL};

static const struct hs_schema_word queue_words[] = {{"link", false}, {"node", true}, {NULL, 0}};

#define BURSTS(member) HS_SCHEMA_MEMBER(struct hs_link_bursts, member), .most = 1
static const struct hs_schema_field bursts_fields[] = {
		{"p", HS_SCHEMA_REAL, BURSTS(p), .required = true},
		{"r", HS_SCHEMA_REAL, BURSTS(r), .required = true},
		{"loss_bad", HS_SCHEMA_REAL, BURSTS(loss_bad)},
		{"loss_good", HS_SCHEMA_REAL, BURSTS(loss_good)},
		{NULL},
};

// The four parameters are one model. A parameter that is left out gets its default, not its old
// value.
static const struct hs_link_bursts new_bursts = {.loss_bad = 1};

#define DIRECTION(member) HS_SCHEMA_MEMBER(struct hs_link_config, member)
#define LINK(member)	  HS_SCHEMA_MEMBER(struct hs_scenario_link, member)
// clang-format off
#define DIRECTION_ROWS \
	{"rate_bps", HS_SCHEMA_UINT, DIRECTION(rate_bps), .max = UINT64_C(1000000000000)}, \
	{"queue_packets", HS_SCHEMA_UINT, DIRECTION(queue_packets), .max = MAX_PACKETS}, \
	{"overhead_bytes", HS_SCHEMA_UINT, DIRECTION(overhead_bytes), .max = 65535}, \
	{"delay_ns", HS_SCHEMA_UINT, DIRECTION(delay_ns), .max = HOUR_NS}, \
	{"jitter_ns", HS_SCHEMA_UINT, DIRECTION(jitter_ns), .max = HOUR_NS}, \
	{"jitter_distribution", HS_SCHEMA_WORD, DIRECTION(distribution), .words = distribution_words}, \
	{"in_order", HS_SCHEMA_BOOL, DIRECTION(in_order)}, \
	{"loss_ratio", HS_SCHEMA_REAL, DIRECTION(loss_ratio), .most = 1}, \
	{"telemetry_loss_ratio", HS_SCHEMA_REAL, DIRECTION(telemetry_loss_ratio), .most = 1}, \
	{"duplicate_ratio", HS_SCHEMA_REAL, DIRECTION(duplicate_ratio), .most = 1}, \
	{"reorder_ratio", HS_SCHEMA_REAL, DIRECTION(reorder_ratio), .most = 1}, \
	{"bursts", HS_SCHEMA_OBJECT, DIRECTION(bursts), .fields = bursts_fields, .fresh = &new_bursts}, \
	{"up", HS_SCHEMA_BOOL, DIRECTION(down), .negated = true}
// clang-format on

static const struct hs_schema_field direction_fields[] = {DIRECTION_ROWS, {NULL}};

// Reads direction 1. The row of "reverse" follows those of direction 0, so that direction 0 is
// complete. A parameter that "reverse" leaves out is that of direction 0.
static int read_reverse(json_t *value, const char *path, void *at, struct hs_error *err)
{
	struct hs_scenario_link *link = at;

	link->has_both = true;
	link->directions[1] = link->directions[0];
	return hs_schema_read(direction_fields, value, path, &link->directions[1], err);
}

_Static_assert(offsetof(struct hs_scenario_link, directions) == 0,
		"rows of a direction are rows of a link, for direction 0");
const struct hs_schema_field hs_draft_link_fields[] = {
		{"from", HS_SCHEMA_NAME, LINK(from), .names = &hs_draft_node_names,
				.required = true},
		{"to", HS_SCHEMA_NAME, LINK(to), .names = &hs_draft_node_names, .required = true},
		{"name", HS_SCHEMA_TEXT, LINK(name), .min = 1, .max = HS_SCENARIO_NAME - 1},
		DIRECTION_ROWS,
		{"reverse", HS_SCHEMA_CUSTOM, .read = read_reverse, .fields = direction_fields},
		{"profile", HS_SCHEMA_NAME, LINK(profile), .names = &profile_names},
		{"queue_at", HS_SCHEMA_WORD, LINK(queue_at_node), .words = queue_words},
		{NULL},
};

static int check_direction(const struct hs_link_config *config, const char *of, const char *path,
		struct hs_error *err)
{
	if (hs_link_check(config, err) == 0)
		return 0;
	hs_error_prefix(err, of);
	hs_error_prefix(err, path);
	return -EINVAL;
}

int hs_scenario_set_link(
		json_t *set, const char *path, struct hs_link_config *config, struct hs_error *err)
{
	struct hs_link_config changed = *config;

	if (hs_schema_read(direction_fields, set, path, &changed, err) < 0 ||
			check_direction(&changed, "", path, err) < 0)
		return -EINVAL;
	*config = changed;
	return 0;
}

int hs_draft_settle_link(struct hs_scenario_link *link, const char *path, struct hs_error *err)
{
	if (check_direction(&link->directions[0], "", path, err) < 0)
		return -EINVAL;
	if (!link->has_both)
		link->directions[1] = link->directions[0];
	return check_direction(&link->directions[1], "reverse", path, err);
}

int hs_draft_name_link(struct hs_draft *draft, size_t index)
{
	const struct hs_scenario_node *nodes = draft->scenario.nodes;
	struct hs_scenario_link *link = &draft->scenario.links[index];

	if (!link->name[0])
		snprintf(link->name, sizeof(link->name), "%s-%s", nodes[link->from].name,
				nodes[link->to].name);
	if (strcmp(link->name, "e2e") == 0)
		return hs_draft_refuse(draft, "name", "bad_value", "another name",
				"\"e2e\" is what results call a whole way");
	return hs_draft_add_name(draft, HS_NAME_LINK, link->name, index);
}

int hs_draft_add_link(struct hs_draft *draft, const struct hs_scenario_link *link)
{
	draft->scenario.nodes[link->from].n_links++;
	draft->scenario.nodes[link->to].n_links++;
	return HS_DRAFT_APPEND(draft, links, link);
}

const struct hs_scenario_link *hs_scenario_link_between(
		const struct hs_scenario *scenario, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < scenario->n_links; i++) {
		const struct hs_scenario_link *link = &scenario->links[i];
		if ((link->from == a && link->to == b) || (link->to == a && link->from == b))
			return link;
	}
	return NULL;
}

// Finds the link whose other direction this entry describes: an entry without a name whose ends are
// exchanged belongs to the first such link that lacks its other direction. If all such links have
// both directions, returns the last of them. Returns NULL if there is no such link.
static struct hs_scenario_link *find_other_direction(
		const struct hs_scenario *scenario, const struct hs_scenario_link *entry)
{
	struct hs_scenario_link *found = NULL;

	for (uint32_t i = 0; i < scenario->n_links && !entry->name[0]; i++) {
		struct hs_scenario_link *link = &scenario->links[i];
		if (link->from != entry->to || link->to != entry->from)
			continue;
		if (!link->has_both)
			return link;
		found = link;
	}
	return found;
}

static int take_link(struct hs_draft *draft, struct hs_scenario_link *link)
{
	if (hs_draft_settle_link(link, draft->item.path, draft->err) < 0)
		return -EINVAL;
	if (link->from == link->to)
		return hs_draft_refuse(draft, "to", "bad_value", "another node",
				"the link leads back to where it starts");

	struct hs_scenario_link *first = find_other_direction(&draft->scenario, link);
	link->entry = (uint32_t)draft->item.index;
	if (!first)
		return hs_draft_add_link(draft, link)
				       ?: hs_draft_name_link(draft, draft->scenario.n_links - 1);
	if (first->has_both || link->has_both)
		return hs_draft_refuse(draft, NULL, "conflict",
				"a name, for another link between the two",
				"link \"%s\" has its other direction already", first->name);
	first->has_both = true;
	first->directions[1] = link->directions[0];
	return 0;
}

HS_DRAFT_LIST(link, struct hs_scenario_link, hs_draft_link_fields, take_link,
		{.directions[0].queue_packets = HS_DRAFT_QUEUE_PACKETS});

// ---- profiles: what telemetry looks like on links ----

int hs_scenario_profiles(const struct hs_scenario *scenario, uint32_t node,
		struct hs_profile profiles[HS_MAX_PORTS], struct hs_error *err)
{
	struct hs_config *config = scenario->profiles;
	uint32_t entries[HS_MAX_PORTS];
	struct hs_errors errors = {0};
	unsigned port = 0;

	if (!config)
		return 0;
	config->n_ports = 0;
	memset(config->node.profiles, 0, sizeof(config->node.profiles));
	for (uint32_t i = 0; i < scenario->n_links && config->n_ports < HS_MAX_PORTS; i++) {
		const struct hs_scenario_link *link = &scenario->links[i];
		if (link->from != node && link->to != node)
			continue;
		struct hs_port_config *made = &config->ports[config->n_ports];
		*made = (struct hs_port_config){.side = HS_SIDE_NETWORK};
		if (link->profile)
			memcpy(made->profile, config->profiles[link->profile - 1].name,
					sizeof(made->profile));
		entries[config->n_ports++] = link->entry;
	}
	hs_config_resolve_profiles(config, &errors);
	memcpy(profiles, config->node.profiles, sizeof(config->node.profiles));
	if (errors.n == 0)
		return 0;
	*err = errors.list[0];
	if (sscanf(err->path, "ports[%u]", &port) == 1)
		snprintf(err->path, sizeof(err->path), "links[%u].profile", entries[port]);
	return -EINVAL;
}
