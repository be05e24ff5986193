// SPDX-License-Identifier: BSD-3-Clause
// The second half of reading a configuration. For src/config, and for src/collector, whose
// configuration has parts of a node's.
#pragma once

#include "config.h"

// Checks across fields and turns the names in pairs into indices. Members in which *errors has
// errors already are left out. Returns 0, or -EINVAL with *errors.
int hs_config_check(struct hs_config *config, const cpu_set_t *cores, struct hs_errors *errors);

// Check a part of this, with the same result: the cores; one port's name and device, beside those
// of the ports before it; endpoints and keys.
int hs_config_check_cores(
		const struct hs_config *config, const cpu_set_t *cores, struct hs_error *err);
int hs_config_check_port(const struct hs_config *config, unsigned index, struct hs_error *err);
int hs_config_check_control(const struct hs_config *config, struct hs_errors *errors);
