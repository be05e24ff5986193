// SPDX-License-Identifier: BSD-3-Clause
// The links of a scenario, with parameters for each direction.
#include "scenario_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HOUR_NS	    UINT64_C(3600000000000)
#define MAX_LINKS   20000 // 1,200 nodes with 32 ports each
#define NO_PACKETS  0
#define MAX_PACKETS 10000000

const struct hs_link_config hs_scenario_link_defaults = {.queue_packets = 1000};

struct entry {
	const struct hs_scenario_draft *draft;
	struct hs_scenario_link link; // ways[0] as it is given
	json_t *reverse;
};

static const struct hs_schema_word distribution_words[] = {
		{"uniform", HS_LINK_UNIFORM},
		{"normal", HS_LINK_NORMAL},
		{NULL, 0},
};

#define BURSTS(member)                                                                             \
	HS_SCHEMA_MEMBER(struct hs_link_bursts, member), .least = 0, .most = 1,                    \
							 .expected = "a number from 0 to 1"
static const struct hs_schema_field bursts_fields[] = {
		{"p", HS_SCHEMA_REAL, BURSTS(p), .required = true},
		{"r", HS_SCHEMA_REAL, BURSTS(r), .required = true},
		{"loss_bad", HS_SCHEMA_REAL, BURSTS(loss_bad)},
		{"loss_good", HS_SCHEMA_REAL, BURSTS(loss_good)},
		{NULL},
};

// The four parameters are one model. A parameter that is left out gets its default, not its old
// value.
static int read_bursts(json_t *value, const char *path, void *at, struct hs_error *err)
{
	*(struct hs_link_bursts *)at = (struct hs_link_bursts){.loss_bad = 1};
	return hs_schema_read(bursts_fields, value, path, at, err);
}

static int read_up(json_t *value, const char *path, void *down, struct hs_error *err)
{
	if (!json_is_boolean(value))
		return hs_schema_wrong_type(value, path, "true or false", err);
	*(bool *)down = !json_is_true(value);
	return 0;
}

#define RATIO(key, at)                                                                             \
	{                                                                                          \
#key, HS_SCHEMA_REAL, at(key), .least = 0, .most = 1                               \
	}
// The parameters of one direction, at a place in the struct that is read.
#define LINK_ROWS(at)                                                                              \
	{"rate_bps", HS_SCHEMA_UINT, at(rate_bps), .max = UINT64_C(1000000000000)},                \
			{"queue_packets", HS_SCHEMA_UINT, at(queue_packets), .min = NO_PACKETS,    \
					.max = MAX_PACKETS},                                       \
			{"overhead_bytes", HS_SCHEMA_UINT, at(overhead_bytes), .max = 65535},      \
			{"delay_ns", HS_SCHEMA_UINT, at(delay_ns), .max = HOUR_NS},                \
			{"jitter_ns", HS_SCHEMA_UINT, at(jitter_ns), .max = HOUR_NS},              \
			{"jitter_distribution", HS_SCHEMA_WORD, at(distribution),                  \
					.words = distribution_words,                               \
					.expected = "uniform or normal"},                          \
			{"in_order", HS_SCHEMA_BOOL, at(in_order)}, RATIO(loss_ratio, at),         \
			RATIO(telemetry_loss_ratio, at), RATIO(duplicate_ratio, at),               \
			RATIO(reorder_ratio, at),                                                  \
			{"bursts", HS_SCHEMA_CUSTOM, at(bursts), .read = read_bursts,              \
					.fields = bursts_fields},                                  \
	{                                                                                          \
		"up", HS_SCHEMA_CUSTOM, at(down), .read = read_up, .shape = "{'type': 'boolean'}"  \
	}

#define LINK(member)  HS_SCHEMA_MEMBER(struct hs_link_config, member)
#define ENTRY(member) HS_SCHEMA_MEMBER(struct entry, member)
#define GIVEN(member) ENTRY(link.ways[0].member)
static const struct hs_schema_field link_fields[] = {LINK_ROWS(LINK), {NULL}};
const struct hs_schema_field hs_scenario_ways_fields[] = {
		LINK_ROWS(GIVEN),
		{"reverse", HS_SCHEMA_JSON, ENTRY(reverse), .fields = link_fields},
		{NULL},
};
static const struct hs_schema_field entry_fields[] = {
		{"from", HS_SCHEMA_NAME, ENTRY(link.from), .names = &hs_scenario_node_names,
				.required = true, .expected = "the name of a node"},
		{"to", HS_SCHEMA_NAME, ENTRY(link.to), .names = &hs_scenario_node_names,
				.required = true, .expected = "the name of a node"},
		{"name", HS_SCHEMA_TEXT, ENTRY(link.name), .min = 1, .max = HS_SCENARIO_NAME - 1},
		LINK_ROWS(GIVEN),
		{"reverse", HS_SCHEMA_JSON, ENTRY(reverse), .fields = link_fields},
		{NULL},
};
const struct hs_schema_list hs_scenario_link_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = entry_fields}};

static int check_link(const struct hs_link_config *config, const char *path, struct hs_error *err)
{
	if (hs_link_check(config, err) == 0)
		return 0;
	hs_error_prefix(err, path);
	return -EINVAL;
}

int hs_scenario_set_link(
		json_t *set, const char *path, struct hs_link_config *config, struct hs_error *err)
{
	struct hs_link_config changed = *config;

	if (hs_schema_read(link_fields, set, path, &changed, err) < 0 ||
			check_link(&changed, path, err) < 0)
		return -EINVAL;
	*config = changed;
	return 0;
}

static int read_ways(const struct hs_schema_field *fields, json_t *object, const char *path,
		struct entry *entry, struct hs_error *err)
{
	struct hs_link_config *ways = entry->link.ways;

	ways[0] = hs_scenario_link_defaults;
	if (hs_schema_read(fields, object, path, entry, err) < 0 ||
			check_link(&ways[0], path, err) < 0)
		return -EINVAL;
	ways[1] = ways[0];
	if (!entry->reverse)
		return 0;
	return hs_scenario_set_link(entry->reverse, AT(path, "reverse"), &ways[1], err);
}

int hs_scenario_read_ways(json_t *object, const char *path, struct hs_link_config ways[2],
		struct hs_error *err)
{
	struct entry entry = {0};
	int rc = read_ways(hs_scenario_ways_fields, object, path, &entry, err);

	memcpy(ways, entry.link.ways, sizeof(entry.link.ways));
	return rc;
}

int hs_scenario_add_link(struct hs_scenario_draft *draft, const struct hs_scenario_link *link,
		size_t entry, const char *path, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	struct hs_scenario_link *added = &scenario->links[scenario->n_links];

	*added = *link;
	if (!added->name[0])
		snprintf(added->name, sizeof(added->name), "%s-%s",
				scenario->nodes[link->from].name, scenario->nodes[link->to].name);
	if (strcmp(added->name, "e2e") == 0)
		return hs_error_set(err, "bad_value", AT(path, "name"), "another name",
				"\"e2e\" is what results call a whole way");
	int rc = hs_scenario_names_add(
			&draft->link_names, added->name, scenario->n_links, AT(path, "name"), err);
	if (rc == 0)
		draft->link_entries[scenario->n_links++] = entry;
	return rc;
}

// Finds the link whose other direction this entry describes: an entry without a name whose ends are
// exchanged belongs to the first such link that lacks its other direction. Returns HS_NO_INDEX if
// there is none.
static uint32_t find_cable(const struct hs_scenario_draft *draft, const struct entry *entry)
{
	uint32_t found = HS_NO_INDEX;

	if (entry->link.name[0])
		return found;
	for (uint32_t i = 0; i < draft->scenario.n_links; i++) {
		const struct hs_scenario_link *link = &draft->scenario.links[i];
		if (link->from != entry->link.to || link->to != entry->link.from)
			continue;
		if (!draft->has_both[i])
			return i;
		found = i;
	}
	return found;
}

static int read_entry(struct hs_scenario_draft *draft, json_t *item, size_t i, const char *at,
		struct hs_error *err)
{
	struct entry entry = {.draft = draft};
	bool *has_both = draft->has_both;

	if (read_ways(entry_fields, item, at, &entry, err) < 0)
		return -EINVAL;
	if (entry.link.from == entry.link.to)
		return hs_error_set(err, "bad_value", AT(at, "to"), "another node",
				"the link leads back to where it starts");

	uint32_t cable = find_cable(draft, &entry);
	if (cable == HS_NO_INDEX) {
		has_both[draft->scenario.n_links] = entry.reverse;
		return hs_scenario_add_link(draft, &entry.link, i, at, err);
	}
	if (has_both[cable] || entry.reverse)
		return hs_error_set(err, "conflict", at, "a name, for another link between the two",
				"link \"%s\" has its other direction already",
				draft->scenario.links[cable].name);
	has_both[cable] = true;
	draft->scenario.links[cable].ways[1] = entry.link.ways[0];
	return 0;
}

int hs_scenario_read_links(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n;
	int rc = hs_scenario_list(draft->links, "links", MAX_LINKS, &n, err);

	if (rc < 0)
		return rc;
	draft->has_both = hs_scenario_room(n, sizeof(*draft->has_both), err);
	scenario->links = hs_scenario_room(n, sizeof(*scenario->links), err);
	draft->link_entries = hs_scenario_room(n, sizeof(*draft->link_entries), err);
	if (!draft->has_both || !scenario->links || !draft->link_entries)
		return -ENOMEM;
	return hs_scenario_each(draft, draft->links, "links", read_entry, err);
}
