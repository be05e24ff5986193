// SPDX-License-Identifier: BSD-3-Clause
// A node's configuration file: read, checked across fields, and printed with its defaults.
//
// Thread rule: as in config.h.
#pragma once

#include "config.h"

// Reads a file. Whether values go together is checked if each value is right by itself. Core
// numbers are checked against `cores`, and defaults are taken from them; NULL: the cores that this
// process may run on. Returns 0, or a negative errno with all errors: the path of a syntax error is
// "line:column", of any other "ports[3].mtu". On failure nothing needs to be released.
int hs_config_load(const char *file, const cpu_set_t *cores, struct hs_config *config,
		struct hs_errors *errors);

// Returns the values in force, with defaults, as JSON that hs_config_load accepts. New reference.
json_t *hs_config_print(const struct hs_config *config);
// Returns the JSON Schema of a configuration. New reference.
json_t *hs_config_schema(void);
