// SPDX-License-Identifier: BSD-3-Clause
// The export of a labelled packet: the last node sends one UDP datagram for each packet to a
// controller. Its payload is a flow key, the number of items, flags, a byte of 0, and the items,
// the newest first: the item of the last node's port, if this port labelled the packet, then the
// items that the packet had.
//
// The key is source and destination address (4 or 16 bytes each), source and destination port (2
// each), protocol (1). The flag of IPv6 must match the length of the datagram.
//
// Source: 001_72f6b4e6e9dc6295.txt section 3.4 leaves the layout open; docs/wire-label.md has it.
// Thread rule: any; pure functions.
#pragma once

#include "label.h"

#define HS_LABEL_EXPORT_HEAD_BYTES(ipv6) ((ipv6) ? 40u : 16u)
#define HS_LABEL_EXPORT_MAX_BYTES	 (40 + 255 * HS_LABEL_ITEM_BYTES)

struct hs_label_export {
	bool ipv6;
	uint8_t src_ip[16], dst_ip[16]; // IPv4 takes the first four bytes
	uint16_t src_port, dst_port;	// 0 of protocols without ports
	uint8_t proto;
	bool specific;
	uint8_t n_items;
	const uint8_t *items; // n_items of HS_LABEL_ITEM_BYTES
};

static inline size_t hs_label_export_bytes(const struct hs_label_export *export)
{
	return HS_LABEL_EXPORT_HEAD_BYTES(export->ipv6) +
	       (size_t)HS_LABEL_ITEM_BYTES * export->n_items;
}

// Fills in the export of an IP packet. A packet without HS_PACKET_TELEMETRY has no items. The items
// stay in the frame.
void hs_label_export_of(const struct hs_label_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, struct hs_label_export *out);

// Writes hs_label_export_bytes bytes.
void hs_label_export_write(const struct hs_label_export *export, uint8_t *payload);

// Reads a datagram. The items stay in the datagram. Returns 0, -EMSGSIZE: its length does not match
// its number of items, or -EBADMSG: a bit that must be 0 is set, or the flag of IPv6 does not match
// the length.
int hs_label_export_read(const uint8_t *payload, size_t len, struct hs_label_export *out);
