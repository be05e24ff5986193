// SPDX-License-Identifier: BSD-3-Clause
// Packets of probes on their way to a port that the probe or the profile names.
//
// Thread rule: owner lcore.
#pragma once

#include "probe_state.h"

// Returns the port with this number, if the port has probes, else NULL. 0 is no number.
static inline struct hs_port *hs_probe_port(const struct hs_worker *worker, uint8_t number)
{
	uint16_t index = worker->probe->node->ports[number];

	return index == HS_PROBE_NO_PORT ? NULL : worker->ports[index];
}

// Takes a place in the port's egress queue for packet i. *depth is the depth that the packet finds,
// with so many bytes. Returns false if there is no place and the packet was dropped. After true,
// hs_probe_put must follow.
bool hs_probe_take_place(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t bytes, uint32_t *depth);
void hs_probe_put(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Takes a place for packet i and puts the packet there.
void hs_probe_send(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Does the same for a packet that was parsed, or drops the packet if it exceeds the port's MTU.
void hs_probe_send_whole(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);

// Passes packet i to the monitor. Returns true if the node forwards the packet as others: it stays
// in the burst. Else the packet was sent or dropped.
bool hs_probe_to_monitor(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Prepares packet i for the node's own forwarding. A router takes only packets that are addressed
// to its port.
void hs_probe_leave(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
