// SPDX-License-Identifier: BSD-3-Clause
// Reads flow and stack of a packet.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

// Returns whether a length in the packet's headers goes beyond the packet. The copy of the packet
// may end at any byte.
bool hs_collect_is_malformed(const uint8_t *frame, size_t came, const struct hs_packet *packet);

// Gets the flow of a frame of which `came` bytes came. Returns false if it is not known. The caller
// zeroes the key before.
bool hs_collect_flow_of(const uint8_t *frame, size_t came, const struct hs_packet *packet,
		struct hs_collect_flow_key *key);

// Sets the view's stack. `came` bytes of its hops came. Returns -1, or why the report is refused.
int hs_collect_take_stack(const struct hs_collect_dialect *dialect,
		const struct hs_int_stack *stack, bool narrow, size_t came,
		struct hs_collect_view *view);
