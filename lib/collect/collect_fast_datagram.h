// SPDX-License-Identifier: BSD-3-Clause
// The fast path for the most common datagram: 1.0 without values of the reporter, with a packet
// that collect_fast_packet.h can read. A datagram that equals the one before except for its hops is
// not parsed again.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_fast_packet.h"

// Takes a datagram. Returns -1, why its report is refused, or HS_COLLECT_FAST_NOT:
// collect_datagram.c must read the datagram.
int hs_collect_fast_datagram(struct hs_collect *c, const struct hs_collect_datagram *datagram);

// Takes the first of `datagrams` that equal c->last, the datagram before, except for exporters,
// addresses, ports and hops. Returns how many.
unsigned hs_collect_take_likes(
		struct hs_collect *c, const struct hs_collect_datagram *datagrams, unsigned n);
