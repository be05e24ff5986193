// SPDX-License-Identifier: BSD-3-Clause
#include "config_parts.h"

#include "config.h"

#include "bus_keys.h"

#define CONFIG(member)	  HS_SCHEMA_MEMBER(struct hs_config, member)
#define ENDPOINTS(member) HS_ENDPOINTS(struct hs_config, member, 127)

static const struct hs_schema_field key_fields[] = {
		{"secret", HS_SCHEMA_TEXT, CONFIG(keys.secret), .required = true, .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{"allowed", HS_SCHEMA_TEXT, CONFIG(keys.allowed), .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{"controller", HS_SCHEMA_TEXT, CONFIG(keys.controller), .min = 1,
				.max = HS_FILE_NAME_MAX - 1},
		{NULL},
};

static bool has_keys(const void *from)
{
	return ((const struct hs_config *)from)->keys.secret[0];
}

const struct hs_schema_field hs_config_control_fields[] = {
		{"bind", HS_SCHEMA_LIST, ENDPOINTS(bind)},
		{"publish_to", HS_SCHEMA_LIST, ENDPOINTS(publish_to)},
		{"publish_bind", HS_SCHEMA_LIST, ENDPOINTS(publish_bind)},
		{"publish_queue", HS_SCHEMA_UINT, CONFIG(publish_queue), .min = 1, .max = 1000000},
		{"insecure", HS_SCHEMA_BOOL, CONFIG(insecure)},
		{"keys", HS_SCHEMA_OBJECT, .fields = key_fields, .given = has_keys},
		{NULL},
};

bool hs_config_keys(const struct hs_config *config, struct hs_bus_keys *keys)
{
	const struct hs_key_files *files = &config->keys;

	*keys = (struct hs_bus_keys){
			.secret_file = files->secret[0] ? files->secret : NULL,
			.allowed_dir = files->allowed[0] ? files->allowed : NULL,
			.server_file = files->controller[0] ? files->controller : NULL,
	};
	return files->secret[0];
}
