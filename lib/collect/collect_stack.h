// SPDX-License-Identifier: BSD-3-Clause
// Flow and stack of a packet, for who reads packets.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

// Whether a length in the packet's headers goes beyond the packet, wherever the copy of it ends.
bool hs_collect_is_malformed(const uint8_t *frame, size_t came, const struct hs_packet *packet);

// The flow of a frame of which `came` bytes came. False: it is not known. The key is zero before.
bool hs_collect_flow_of(const uint8_t *frame, size_t came, const struct hs_packet *packet,
		struct hs_collect_flow_key *key);

// Takes a stack, of whose hops `came` bytes came. Returns -1, or why it is refused.
int hs_collect_take_stack(const struct hs_collect_dialect *dialect,
		const struct hs_int_stack *stack, bool narrow, size_t came,
		struct hs_collect_view *view);
