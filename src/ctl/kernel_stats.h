// SPDX-License-Identifier: BSD-3-Clause
// What the kernel counted at a network interface, to hold a node's own counters against.
//
// Thread rule: any; one short exchange with the kernel.
#pragma once

#include <linux/if_link.h>

// 0, or negative errno: -ENODEV where there is no such interface in this network namespace.
int hs_kernel_stats(const char *interface, struct rtnl_link_stats64 *stats);
