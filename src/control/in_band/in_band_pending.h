// SPDX-License-Identifier: BSD-3-Clause
// The pending options of a slot: who may fill them, and when. For this folder only.
//
// Thread rule: owner (the control thread); workers take what is ready.
#pragma once

#include "flow_pending.h"
#include "flow_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns whether the pending options may be filled: they are empty, or may_displace allowed to
// withdraw what waited in them. They may not be filled while a packet has them, or before what was
// sent has been counted.
bool hs_in_band_pending_open(struct hs_flow_pending *pending, bool may_displace);
// Withdraws the ready content, unless a packet has it. Returns whether it did.
bool hs_in_band_pending_withdraw(struct hs_flow_pending *pending);
// Gives the pending options up. If a packet has them, they are not counted.
void hs_in_band_pending_leave(
		struct hs_flow_table *flows, uint32_t slot, struct hs_flow_pending *pending);
// Makes the content visible to workers.
void hs_in_band_pending_publish(struct hs_flow_table *flows, uint32_t slot,
		struct hs_flow_pending *pending, uint32_t ns_id, bool holds_telemetry);
// Notes that the content is no longer ready.
void hs_in_band_pending_clear(
		struct hs_flow_table *flows, uint32_t slot, struct hs_flow_pending *pending);
enum hs_flow_pending_state hs_in_band_pending_state(const struct hs_flow_pending *pending);
// Writes options of one type, at most 255 bytes each, that carry these bytes. Returns the size.
uint16_t hs_in_band_pending_options(uint8_t *to, uint8_t type, const uint8_t *bytes, size_t len);
