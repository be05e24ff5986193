// SPDX-License-Identifier: BSD-3-Clause
#include "config_keys.h"

#include "config.h"

#include "bus_keys.h"

#include "schema.h"

#define KEYS(member) HS_SCHEMA_MEMBER(struct hs_config, member)

static const struct hs_schema_field key_fields[] = {
		{"secret", HS_SCHEMA_TEXT, KEYS(keys.secret), .required = true, .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{"allowed", HS_SCHEMA_TEXT, KEYS(keys.allowed), .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{"controller", HS_SCHEMA_TEXT, KEYS(keys.controller), .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{NULL},
};

int hs_config_read_keys(json_t *object, const char *path, void *into, struct hs_error *err)
{
	((struct hs_config *)into)->use_keys = true;
	return hs_schema_read(key_fields, object, path, into, err);
}

json_t *hs_config_print_keys(const void *from)
{
	const struct hs_config *config = from;
	json_t *keys = config->use_keys ? hs_schema_print(key_fields, config) : NULL;

	if (keys && !config->keys.allowed[0])
		json_object_del(keys, "allowed");
	if (keys && !config->keys.controller[0])
		json_object_del(keys, "controller");
	return keys;
}

bool hs_config_keys(const struct hs_config *config, struct hs_bus_keys *keys)
{
	const struct hs_key_files *files = &config->keys;

	*keys = (struct hs_bus_keys){
			.secret_file = files->secret[0] ? files->secret : NULL,
			.allowed_dir = files->allowed[0] ? files->allowed : NULL,
			.server_file = files->controller[0] ? files->controller : NULL,
	};
	return config->use_keys;
}
