// SPDX-License-Identifier: BSD-3-Clause
// The data path of the family probe: source-routed probes with SQR, by a profile's struct
// hs_probe_profile. Probes, feedback and recovery packets that come by a network port are taken out
// of the burst behind the parser; they pass no rule and no forwarding table, but for those that the
// node forwards to the monitor as others. What a host sends is dropped: nothing of a probe can be
// taken out.
//
// A node refuses a probe, without feedback, before it changes anything in the probe. The node
// before it then tells the monitor.
//
// Source: 002_e7f573228cf2597b.txt sections III-C and IV.
// Thread rule: owner lcore; struct hs_probe_node is shared by all workers of the node.
#pragma once

#include "family.h"
#include "probe_profile.h"

extern const struct hs_family hs_probe_steps;

// Takes the packets of probes out of a burst from a network port. Packets of probes that stay
// are forwarded as others.
void hs_probe_take(struct hs_worker *worker, struct hs_burst *burst);
