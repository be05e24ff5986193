// SPDX-License-Identifier: BSD-3-Clause
// Local values of nodes: hop latency, depth of the queue, utilisation of the link. They are added
// up for the link after the node, beside the sums of qos_sum.h, and only for families that carry
// them. Internal to this folder.
//
// Source: docs/metrics.md, rule 24.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// Allocates the memory for this many links, if the flow's family has such values. Returns 0 or
// -ENOMEM.
int hs_qos_local_grow(struct hs_qos_flow *flow, unsigned capacity);
// Allocates the memory of an empty sum that is not in the flow. hs_qos_flow_free_locals frees it.
// Returns 0 or -ENOMEM.
int hs_qos_local_begin(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
void hs_qos_local_clear(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
// Clears one link in all sums.
void hs_qos_local_wipe(struct hs_qos_flow *flow, unsigned link);

// Adds a report's local values. `path_links` are from the source on; 0: no link.
void hs_qos_local_absorb(
		struct hs_qos_sum *sum, const struct hs_report *report, const uint16_t *path_links);
void hs_qos_local_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from);

bool hs_qos_local_some(const struct hs_qos_sum *sum, unsigned link);
void hs_qos_local_fill(const struct hs_qos_sum *sum, unsigned link, struct hs_qos_hop *hop);
