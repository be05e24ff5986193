// SPDX-License-Identifier: BSD-3-Clause
// Packets with INT from INTCollector's generator.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

// Reads a frame as INTCollector does: INT follows each TCP and UDP header, with or without a mark.
// `origin` is where the frame's first byte would be in the datagram. Returns -1, or why the report
// is refused.
int hs_collect_read_lenient(const struct hs_collect_dialect *dialect, const uint8_t *frame,
		size_t len, const uint8_t *origin, struct hs_collect_view *view);
