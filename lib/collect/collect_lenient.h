// SPDX-License-Identifier: BSD-3-Clause
// Packets with INT as INTCollector's generator sends them.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

// As INTCollector reads: INT is behind each TCP and UDP header, whatever marks it. `origin` is
// where the frame's first byte would be in the datagram. Returns -1, or why it is refused.
int hs_collect_read_lenient(const struct hs_collect_dialect *dialect, const uint8_t *frame,
		size_t len, const uint8_t *origin, struct hs_collect_view *view);
