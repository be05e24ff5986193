// SPDX-License-Identifier: BSD-3-Clause
// What the last node of a labelled packet sends to a controller: one UDP datagram for each packet.
// Its payload is a flow key, the number of items, flags, a byte of 0, and the items, the newest
// first: that of the last node's port, if this labelled the packet, and those that the packet had.
//
// Key: source and destination address (4 or 16 bytes each), source and destination port (2 each),
// protocol (1). The flag of IPv6 and the length of the datagram agree on which of both it is.
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

// What an IP packet says; without HS_PACKET_TELEMETRY it has no items. They stay in the frame.
void hs_label_export_of(const struct hs_label_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, struct hs_label_export *out);

// Writes hs_label_export_bytes bytes.
void hs_label_export_write(const struct hs_label_export *export, uint8_t *payload);

// Reads a datagram; the items stay in it. 0; -EMSGSIZE: its length is not what it says; -EBADMSG:
// a bit that must be 0 is not, or the flag of IPv6 is not what the length says.
int hs_label_export_read(const uint8_t *payload, size_t len, struct hs_label_export *out);
