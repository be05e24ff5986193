// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as commands of rte_telemetry (/hopsight/...), for dpdk-telemetry.py and
// every program that speaks its protocol.
//
// rte_telemetry answers on its own thread. Counters are words that anyone may read. A lock that
// control takes around its changes protects what only control may touch (rules, totals). Thread
// rule: control.
#pragma once

#include "metric.h"
#include "node.h"

struct hs_dpdk_telemetry;

struct hs_dpdk_telemetry_config {
	struct hs_node *node;
	const char *version;
	const char *boot_id;
};

// Registers the commands. A process can show one node, because a command of DPDK 22.11 gets no
// context. Returns 0, -EBUSY if another node is shown, or another negative errno.
int hs_dpdk_telemetry_create(const struct hs_dpdk_telemetry_config *config,
		struct hs_dpdk_telemetry **telemetry);
// The commands stay and answer that there is nothing. Accepts NULL.
void hs_dpdk_telemetry_destroy(struct hs_dpdk_telemetry *telemetry);

// Passes the newest totals. Accepts NULL, as do the next two.
void hs_dpdk_telemetry_update(
		struct hs_dpdk_telemetry *telemetry, const struct hs_node_totals *totals);

// Call these around every change of the rule table.
void hs_dpdk_telemetry_lock(struct hs_dpdk_telemetry *telemetry);
void hs_dpdk_telemetry_unlock(struct hs_dpdk_telemetry *telemetry);
