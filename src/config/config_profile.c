// SPDX-License-Identifier: BSD-3-Clause
// Profiles: what telemetry looks like on the ports that name them.
#include "config_parts.h"

#include "config.h"

#include "flexint.h"
#include "flexint_steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct hs_schema_word method_words[] = {
		{"flexint", HS_METHOD_FLEXINT},
		{NULL, 0},
};
#define METHODS "flexint"
static const struct hs_family *const families[] = {[HS_METHOD_FLEXINT] = &hs_flexint_steps};

const struct hs_schema_word hs_config_layout_words[] = {
		{"aligned", HS_LAYOUT_ALIGNED},
		{"paper", HS_LAYOUT_PAPER},
		{NULL, 0},
};

#define PROFILE(member) HS_SCHEMA_MEMBER(struct hs_profile_config, member)
static const struct hs_schema_field profile_fields[] = {
		{"method", HS_SCHEMA_WORD, PROFILE(method), .required = true, .words = method_words,
				.expected = METHODS},
		{"layout", HS_SCHEMA_WORD, PROFILE(layout), .words = hs_config_layout_words,
				.expected = HS_CONFIG_LAYOUTS},
		{NULL},
};

const struct hs_schema_list hs_config_profile_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = profile_fields},
		HS_SCHEMA_ITEMS(struct hs_config, profiles),
		.name = offsetof(struct hs_profile_config, name),
		.name_bytes = HS_PORT_NAME_MAX,
		HS_SCHEMA_COUNT(struct hs_config, n_profiles),
		.noun = "profiles",
		.fresh = &(const struct hs_profile_config){.layout = HS_LAYOUT_ALIGNED},
};

static const struct hs_profile_config *find(const struct hs_config *config, const char *name)
{
	for (unsigned i = 0; i < config->n_profiles; i++) {
		if (strcmp(config->profiles[i].name, name) == 0)
			return &config->profiles[i];
	}
	return NULL;
}

// "one of dc, lab"
static void list_names(const struct hs_config *config, char *text, size_t size)
{
	size_t used = (size_t)snprintf(
			text, size, config->n_profiles ? "one of " : "a name from \"profiles\"");

	for (unsigned i = 0; i < config->n_profiles && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
				config->profiles[i].name);
}

static int resolve(struct hs_config *config, unsigned index, struct hs_error *err)
{
	const struct hs_port_config *port = &config->ports[index];
	const struct hs_profile_config *profile = find(config, port->profile);
	char at[48], names[sizeof(err->expected)];

	if (!port->profile[0])
		return 0;
	snprintf(at, sizeof(at), "ports[%u].profile", index);
	if (port->side == HS_SIDE_HOST)
		return hs_error_set(err, "conflict", at, "only beside side network",
				"port \"%s\" has side host: no telemetry of hosts is believed",
				port->name);
	if (!profile) {
		list_names(config, names, sizeof(names));
		return hs_error_set(err, "unknown_profile", at, names,
				"no profile is called \"%s\"", port->profile);
	}
	config->node.profiles[index] = (struct hs_profile){
			.family = families[profile->method], .layout = profile->layout};
	return 0;
}

int hs_config_resolve_profiles(struct hs_config *config, struct hs_error *err)
{
	for (unsigned i = 0; i < config->n_ports; i++) {
		if (resolve(config, i, err) < 0)
			return -EINVAL;
	}
	return 0;
}
