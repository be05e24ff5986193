// SPDX-License-Identifier: BSD-3-Clause
// "control.keys" of a configuration, for the table in config.c. For src/control only.
//
// Thread rule: any.
#pragma once

#include "error.h"

#include <jansson.h>

// Reads the object into a struct hs_config. Returns 0, or -EINVAL with *err.
int hs_config_read_keys(json_t *object, const char *path, void *into, struct hs_error *err);
// Returns a new reference, or NULL if there are no keys.
json_t *hs_config_print_keys(const void *from);
