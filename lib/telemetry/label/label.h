// SPDX-License-Identifier: BSD-3-Clause
// INT-label in IPv4 and IPv6 packets: a stack of items. Each node may add an item when the packet
// leaves the node.
//
// IPv4: the header's protocol is replaced by that of the settings, and the INT OPTION follows the
// header and its options: the replaced protocol (NH), INT_num, then the items. IPv6 (Hopsight's own
// extension): an option of the Hop-by-Hop header with INT_num and the items. The newest item is
// first. INT_num is the number of items. In a packet of a specific flow, to which each node adds an
// item, it is greater by MAX_hop.
//
// Frames grow and shrink as in int.h: `frame` points to `growth` free bytes, then the old frame
// follows; a shrunk frame begins at frame + result. Both correct IPv4's total length and header
// checksum (incrementally, so that a wrong one stays wrong) and IPv6's payload length.
//
// Source: 001_72f6b4e6e9dc6295.txt sections 2, 3 and 5. docs/wire-label.md has the bytes.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "ip.h"
#include "label_item.h"
#include "packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_LABEL_IP_PROTOCOL   253  // of the settings: experimental (RFC 3692)
#define HS_LABEL_MAX_HOPS      5    // of the settings: a fat tree's longest path
#define HS_LABEL_SPECIFIC_HOPS 127  // the greatest MAX_hop with specific flows
#define HS_LABEL_IPV6_OPTION   0x3e // experimental (RFC 4727): skipped if unknown, may change
#define HS_LABEL_OPTION_BYTES  2    // NH and INT_num
#define HS_LABEL_IPV6_BYTES    8    // bytes of the option without its items
#define HS_LABEL_IPV6_ITEMS    7    // most items of an option

struct hs_label_settings {
	uint8_t ip_protocol; // INT_TYPE
	uint8_t max_hops;    // MAX_hop, 1 to 255: the same at all nodes
};

// Why nothing is added. hs_label_growth returns one of these instead of a growth.
enum hs_label_refusal {
	HS_LABEL_NO_CARRIER = -1, // no IP, a fragment, or headers that are not whole
	HS_LABEL_FOREIGN = -2,	  // the packet claims INT-label and is not well formed
	HS_LABEL_NO_ROOM = -3,	  // a length field would overflow
	HS_LABEL_FULL = -4,	  // MAX_hop items: one more would be read as a specific flow
};

// Parses a frame. Members of hs_packet about telemetry:
//   HS_PACKET_ANY_TELEMETRY  the packet has INT_TYPE or the option of IPv6, well formed or not
//   HS_PACKET_TELEMETRY      and is well formed: it can be stripped
//   trace_off        NH in IPv4, the type of the option in IPv6
//   telemetry_bytes  the bytes that hs_label_strip removes
//   trace_type       INT_num
//   l4_off, l4_proto, src_port, dst_port  of the packet as the host sent it, so that a rule matches
void hs_label_parse(const struct hs_label_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet);

// Returns by how much a frame grows when a node adds an item, or an enum hs_label_refusal if the
// node may not.
int hs_label_growth(const struct hs_label_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet);

// Adds an item. Returns where its HS_LABEL_ITEM_BYTES must be written. With `specific`, a first
// item makes the packet one of a specific flow; then max_hops is at most HS_LABEL_SPECIFIC_HOPS. A
// packet with items does not change its kind.
uint8_t *hs_label_insert(const struct hs_label_settings *settings, uint8_t *frame,
		const struct hs_packet *packet, size_t growth, bool specific);

// Removes all items and restores the fields that the first node changed. Returns by how much the
// frame shrank, which is packet->telemetry_bytes. Returns 0, with no byte changed, if the packet
// has no HS_PACKET_TELEMETRY.
size_t hs_label_strip(uint8_t *frame, const struct hs_packet *packet);

// Returns the number of items from INT_num (Algorithm 4).
static inline unsigned hs_label_items(const struct hs_label_settings *settings, unsigned int_num)
{
	return int_num > settings->max_hops ? int_num - settings->max_hops : int_num;
}

static inline bool hs_label_is_specific(const struct hs_label_settings *settings, unsigned int_num)
{
	return int_num > settings->max_hops;
}

// ---- decoding ----

// The items of a packet, in place, the newest first.
struct hs_label_stack {
	uint8_t int_num;
	bool specific;
	uint8_t n_items;
	const uint8_t *items; // n_items of HS_LABEL_ITEM_BYTES
};

// Returns the items of a packet with HS_PACKET_TELEMETRY.
struct hs_label_stack hs_label_stack_of(const struct hs_label_settings *settings,
		const uint8_t *frame, const struct hs_packet *packet);

#define HS_LABEL_PROTOTYPE_ROUTE  0x0700 // EtherType of a source route
#define HS_LABEL_PROTOTYPE_INT	  0x0701 // of the option and its items
#define HS_LABEL_PROTOTYPE_ROUTES 5	 // entries that the prototype's parser reads
#define HS_LABEL_PROTOTYPE_MAX_BYTES                                                               \
	(HS_ETHER_BYTES + 2 + 2 * HS_LABEL_PROTOTYPE_ROUTES + 2 + HS_LABEL_OPTION_BYTES +          \
			255 * HS_LABEL_ITEM_BYTES)

// Reads a frame of the paper's prototype, which is neither IPv4 nor IPv6: a source route, or the
// rest of it, then the option. The bytes after the items do not matter. Returns 0, -EBADMSG: there
// is no option, or -EMSGSIZE: the frame ends before its items do.
int hs_label_prototype_open(const uint8_t *frame, size_t len, struct hs_label_stack *out);
