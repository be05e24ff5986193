// SPDX-License-Identifier: BSD-3-Clause
// Parts of a configuration's table, for config.c. For src/config, and for scenarios of
// the lab.
#pragma once

#include "endpoints.h"
#include "schema.h"

struct hs_config;

// The index of the port with this name; -1: there is none.
int hs_config_port_index(const struct hs_config *config, const char *name);

// "control": fields of struct hs_config.
extern const struct hs_schema_field hs_config_control_fields[];
// "aligned", "paper": enum hs_flexint_layout.
extern const struct hs_schema_word hs_config_layout_words[];
#define HS_CONFIG_LAYOUTS "aligned or paper"
// "profiles" of struct hs_config.
extern const struct hs_schema_list hs_config_profile_list;
// Gives each port the profile that it names. 0, or -EINVAL with *err.
int hs_config_resolve_profiles(struct hs_config *config, struct hs_error *err);
// "export" of struct hs_config.
extern const struct hs_schema_list hs_config_export_list;
// Copies the receivers to the node's configuration, with the index of the port that each names.
// 0, or -EINVAL with *err.
int hs_config_resolve_exports(struct hs_config *config, struct hs_error *err);
// "ports" of struct hs_config.
extern const struct hs_schema_list hs_config_port_list;
