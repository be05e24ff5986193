// SPDX-License-Identifier: BSD-3-Clause
// The most common datagram: 1.0 without values of the reporter, with a packet that collect_fast.h
// can read. A datagram like the one before, but for its hops, is not parsed again.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_fast.h"

// Returns -1 where it was taken, why its report is refused, or HS_COLLECT_FAST_NOT where
// collect_datagram.c must be asked.
int hs_collect_take_plain(struct hs_collect *c, const struct hs_collect_datagram *datagram);

// Takes those at the beginning of `datagrams` that are like c->last, the datagram before, but for
// exporters, addresses, ports and hops. Returns how many.
unsigned hs_collect_take_likes(
		struct hs_collect *c, const struct hs_collect_datagram *datagrams, unsigned n);
