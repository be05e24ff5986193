// SPDX-License-Identifier: BSD-3-Clause
// The privileges and system calls that a process needs for its ports (docs/security.md has the
// reasons).
//
// Thread rule: any; values.
#pragma once

#include "port_types.h"

#include <stdint.h>

struct hs_port_needs {
	uint64_t privileges; // capabilities (privileges.h)
	unsigned syscalls;   // groups of calls (syscall_filter.h)
};

void hs_port_needs_add(struct hs_port_needs *needs, const struct hs_port_config *port);
// Adds the needs of all devices, because words for EAL may name any device.
void hs_port_needs_add_all(struct hs_port_needs *needs);
