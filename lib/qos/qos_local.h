// SPDX-License-Identifier: BSD-3-Clause
// What nodes say of themselves: hop latency, depth of the queue, utilisation of the link. It is
// added up for the link behind the node, beside what qos_sum.h adds up, and only for families that
// carry it. Internal to this folder.
//
// Source: docs/metrics.md, rule 24.
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

// A flow whose family has such values takes the memory for this many links. 0 or -ENOMEM.
int hs_qos_local_grow(struct hs_qos_flow *flow, unsigned capacity);
// The same for an empty sum of its own; hs_qos_flow_free_locals frees it. 0 or -ENOMEM.
int hs_qos_local_begin(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
void hs_qos_local_clear(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
// Of one link, in all sums.
void hs_qos_local_wipe(struct hs_qos_flow *flow, unsigned link);

// `path_links`: from the source on; 0: none.
void hs_qos_local_absorb(
		struct hs_qos_sum *sum, const struct hs_report *report, const uint16_t *path_links);
void hs_qos_local_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from);

bool hs_qos_local_some(const struct hs_qos_sum *sum, unsigned link);
void hs_qos_local_fill(const struct hs_qos_sum *sum, unsigned link, struct hs_qos_hop *hop);
