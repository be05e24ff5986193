// SPDX-License-Identifier: BSD-3-Clause
// The fast path to flow and stack, for the common form of packets: Ethernet without a tag or with
// one of 802.1Q, IPv4 or IPv6 without a Hop-by-Hop header, no fragment, TCP or UDP, INT-MD behind
// it where its DSCP says so. What it does not take, it leaves to collect_packet.c; what it takes,
// it reads as that does.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

#define HS_COLLECT_FAST_NOT (-2)

// Writes key, stack and `partial` of a view that has none. Returns -1, why the report is refused,
// or HS_COLLECT_FAST_NOT where collect_packet.c must be asked.
int hs_collect_fast_packet(const struct hs_collect_dialect *dialect, uint8_t inner, bool tracked,
		const uint8_t *packet, size_t bytes, struct hs_collect_view *view);
