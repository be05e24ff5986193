// SPDX-License-Identifier: BSD-3-Clause
// The kernel's counters of a network interface, to compare with a node's own counters.
//
// Thread rule: any; one short exchange with the kernel.
#pragma once

#include <linux/if_link.h>

// Returns 0, or a negative errno: -ENODEV if this network namespace has no such interface.
int hs_kernel_stats(const char *interface, struct rtnl_link_stats64 *stats);
