// SPDX-License-Identifier: BSD-3-Clause
// Pro's control loop (Algorithm 3): S of each port of the INT database goes up by 1 where nothing
// new came from the port for k x T, and down by 1 where something did, at most once each k x T.
// The node is told its new S until the node confirms it.
//
// A port that becomes known is told S = 0, whatever a controller before said. A port that is not
// active keeps its S, and has k x T to be heard when it becomes active again. RT is when the
// controller took the item: clocks of nodes may differ.
//
// Source: 001_72f6b4e6e9dc6295.txt section 3.2.
// Thread rule: owner of the database.
#pragma once

#include "label_database.h"

struct hs_label_pro {
	int64_t patience_ns; // k x T
	int64_t repeat_ns;   // after which a change that was not confirmed is told again
	uint8_t max_shift;   // S at most
};

// Tells S of a port to its node. Returns false if the node cannot be told now; the next step calls
// the function again.
typedef bool (*hs_label_tell_fn)(void *context, uint16_t node_id, uint8_t port, uint8_t shift);

// Does one step for all ports. Returns how many were told.
unsigned hs_label_pro_step(const struct hs_label_pro *pro, struct hs_label_database *database,
		int64_t now_ns, hs_label_tell_fn tell, void *context);

// Says that the node has this S at the port now.
void hs_label_pro_confirm(
		struct hs_label_database *database, uint16_t node_id, uint8_t port, uint8_t shift);
// Says that the node has this S at the port, because somebody else set it. The control loop goes on
// from this S.
void hs_label_pro_set(struct hs_label_database *database, int64_t now_ns, uint16_t node_id,
		uint8_t port, uint8_t shift);
// Says that the node has another S at the port than it confirmed. The node is told again.
void hs_label_pro_doubt(
		struct hs_label_database *database, uint16_t node_id, uint8_t port, uint8_t shift);
// Says that the node started again, so that its values of S are not known.
void hs_label_pro_restart(struct hs_label_database *database, uint16_t node_id);
