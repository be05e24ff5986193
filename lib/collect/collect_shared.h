// SPDX-License-Identifier: BSD-3-Clause
// Queues, links and drops, which belong to no flow.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

// Apply a node's values of its queue and link. *number is the entry's probable number, and is set
// to its number.
void hs_collect_note_queue(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number);
void hs_collect_note_link(
		struct hs_collect *c, const struct hs_collect_values *values, uint32_t *number);

// Sets *at to the entries of two keys. Returns whether *at changed.
bool hs_collect_learn(const struct hs_collect *c, struct hs_collect_hint *at, uint64_t queue,
		uint64_t link);

void hs_collect_note_drop(
		struct hs_collect *c, uint32_t node_id, uint8_t reason, uint64_t device_ns);

// Make an entry the newest in the order, once a second.
void hs_collect_touch_queue(struct hs_collect *c, struct hs_collect_queue_entry *queue);
void hs_collect_touch_link(struct hs_collect *c, struct hs_collect_link_entry *link);

static inline void hs_collect_see_queue_again(struct hs_collect *c,
		struct hs_collect_queue_entry *queue, int64_t now_ns, uint32_t second)
{
	if (__builtin_expect(queue->second != second, 0))
		hs_collect_touch_queue(c, queue);
	queue->last_ns = now_ns;
}

static inline void hs_collect_see_link_again(struct hs_collect *c,
		struct hs_collect_link_entry *link, int64_t now_ns, uint32_t second)
{
	if (__builtin_expect(link->second != second, 0))
		hs_collect_touch_link(c, link);
	link->last_ns = now_ns;
}
