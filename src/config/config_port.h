// SPDX-License-Identifier: BSD-3-Clause
// "ports" of a configuration, for the table in config.c. For src/control only.
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <jansson.h>

// Reads the list into a struct hs_config. Returns 0, or -EINVAL with *err.
int hs_config_read_ports(json_t *list, const char *path, void *into, struct hs_error *err);
// Returns a new reference.
json_t *hs_config_print_ports(const void *from);
