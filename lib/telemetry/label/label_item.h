// SPDX-License-Identifier: BSD-3-Clause
// An item of INT-label: one node's values of one packet that it labelled. Values wrap at the width
// that label_fields.def gives them on the wire. Depths are limited to the greatest value.
//
// Source: 001_72f6b4e6e9dc6295.txt section 2 names the contents; the widths are those of its
// prototype. The prototype's switch id has 8 bits: the byte of bits 15 to 8 is Hopsight's.
// Thread rule: any; pure functions.
#pragma once

#include <stdint.h>

#define HS_LABEL_ITEM_BYTES 32
#define HS_LABEL_TIME_BITS  48 // of ingress_us and egress_us
#define HS_LABEL_MAX_DEPTH  0xffffff
#define HS_LABEL_DEQUEUE    29 // offset of dequeue_packets
#define HS_LABEL_MAX_PORT   255

struct hs_label_item {
	uint16_t node_id;
	uint8_t ingress_port, egress_port;
	uint64_t ingress_us, egress_us;
	uint32_t enqueue_us, queue_us;
	uint32_t enqueue_packets, dequeue_packets;
};

void hs_label_item_write(const struct hs_label_item *item, uint8_t bytes[HS_LABEL_ITEM_BYTES]);
void hs_label_item_read(const uint8_t bytes[HS_LABEL_ITEM_BYTES], struct hs_label_item *item);

// Returns the time in the node, or -1 if the item has the packet leave before it came: times wrap
// at 2^48 us.
static inline int64_t hs_label_item_latency_us(const struct hs_label_item *item)
{
	uint64_t us = (item->egress_us - item->ingress_us) &
		      ((UINT64_C(1) << HS_LABEL_TIME_BITS) - 1);

	return us >> (HS_LABEL_TIME_BITS - 1) ? -1 : (int64_t)us;
}
