// SPDX-License-Identifier: BSD-3-Clause
// Queues, links and drops: what belongs to no flow.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

// Takes a node's values of its queue and link. The two numbers say where they may be, and are set
// to where they are.
void hs_collect_note_queue(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number);
void hs_collect_note_link(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number);

// Where the entry of a key is, or HS_COLLECT_NONE.
uint32_t hs_collect_known_queue(const struct hs_collect *c, uint64_t key);
uint32_t hs_collect_known_link(const struct hs_collect *c, uint64_t key);

void hs_collect_note_drop(
		struct hs_collect *c, uint32_t node_id, uint8_t reason, uint64_t device_ns);
