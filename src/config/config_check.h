// SPDX-License-Identifier: BSD-3-Clause
// The second half of reading a configuration. For src/config only.
#pragma once

#include "config.h"

// Checks across fields and turns the names in pairs into indices. Returns 0, or -EINVAL with *err.
int hs_config_check(struct hs_config *config, const cpu_set_t *cores, struct hs_error *err);
