// SPDX-License-Identifier: BSD-3-Clause
// The profiles of a scenario, which say what telemetry looks like on the links that name them. The
// profiles are written as in a node's configuration.
#include "scenario_draft.h"

#include "config.h"
#include "config_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int hs_draft_read_profiles(json_t *value, const char *path, void *at, struct hs_error *err)
{
	static const struct hs_schema_field map = {"profiles", HS_SCHEMA_MAP,
			HS_SCHEMA_MEMBER(struct hs_config, profiles), .max = HS_MAX_PORTS,
			.expected = "an object with a profile for each name",
			.list = &hs_config_profile_list};
	struct hs_config **profiles = at;

	*profiles = calloc(1, sizeof(**profiles));
	if (*profiles)
		return hs_schema_read_value(&map, value, path, *profiles, err);
	hs_error_set(err, "internal", path, "", "memory is out");
	return -ENOMEM;
}

// Returns 1 + the index of the profile, because 0 means no profile. Returns HS_NO_INDEX if there is
// none with this name.
static uint32_t find_profile(const void *root, const char *name)
{
	const struct hs_config *config = ((const struct hs_draft *)root)->scenario.profiles;

	for (uint32_t i = 0; config && i < config->n_profiles; i++)
		if (strcmp(config->profiles[i].name, name) == 0)
			return i + 1;
	return HS_NO_INDEX;
}

const struct hs_schema_names hs_draft_profile_names = {
		"unknown_name", "profile", "the name of a profile", find_profile, NULL};

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
