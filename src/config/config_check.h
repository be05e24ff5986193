// SPDX-License-Identifier: BSD-3-Clause
// The second half of reading a configuration. For src/config, and for src/collector, whose
// configuration has parts of a node's.
#pragma once

#include "config.h"

// Checks across fields and turns the names in pairs into indices. Members in which *errors has
// errors already are left out. Returns 0, or -EINVAL with *errors.
int hs_config_check(struct hs_config *config, const cpu_set_t *cores, struct hs_errors *errors);

// Check a part of this: the cores; what the members of each port mean together, beside the ports
// before it; endpoints and keys.
void hs_config_check_cores(
		const struct hs_config *config, const cpu_set_t *cores, struct hs_errors *errors);
void hs_config_check_ports(const struct hs_config *config, struct hs_errors *errors);
void hs_config_check_control(const struct hs_config *config, struct hs_errors *errors);
