// SPDX-License-Identifier: BSD-3-Clause
// Parts of a configuration's table, for config.c. For src/config only.
#pragma once

#include "endpoints.h"
#include "schema.h"

// "control": fields of struct hs_config.
extern const struct hs_schema_field hs_config_control_fields[];
// "ports" of struct hs_config.
extern const struct hs_schema_list hs_config_port_list;
