// SPDX-License-Identifier: BSD-3-Clause
// "control" of a configuration: endpoints and keys, for the table in config.c. For src/control
// only.
#pragma once

#include "schema.h"

// Fields of struct hs_config.
extern const struct hs_schema_field hs_config_control_fields[];
