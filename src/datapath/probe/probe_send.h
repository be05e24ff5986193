// SPDX-License-Identifier: BSD-3-Clause
// Packets of probes on their way to a port that the probe or the profile names.
//
// Thread rule: owner lcore.
#pragma once

#include "probe_state.h"

// The port with this number, if it has probes; NULL: none. 0 is no number.
static inline struct hs_port *hs_probe_port(const struct hs_worker *worker, uint8_t number)
{
	uint16_t index = worker->probe->node->ports[number];

	return index == HS_PROBE_NO_PORT ? NULL : worker->ports[index];
}

// Takes a place in the port's egress queue for packet i. *depth: what the packet finds, with so
// many bytes. False: the packet was dropped, because there is none. hs_probe_put must follow.
bool hs_probe_take_place(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t bytes, uint32_t *depth);
void hs_probe_put(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Both.
void hs_probe_send(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// The same for a packet that was parsed, if it does not exceed the port's MTU; else drops it.
void hs_probe_send_whole(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);

// Passes packet i to the monitor, unless the node forwards it as others. True: the node does, and
// the packet stays in the burst. Else it was sent or dropped.
bool hs_probe_to_monitor(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Prepares packet i for the node's own forwarding: a router takes what is addressed to its port.
void hs_probe_leave(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
