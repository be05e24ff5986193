// SPDX-License-Identifier: BSD-3-Clause
// The stages of a burst, in the order a packet meets them. Each leaves survivors compacted in order
// and gives every other packet to a drop with a reason.
//
// Thread rule: owner lcore.
#pragma once

#include "family.h"
#include "worker.h"

// What of a packet could be telemetry: options that are seen, headers that could not be read to
// their end, and such as hide others. Nothing with one of these flags goes to a host, or comes from
// one, as it is.
#define HS_STAGE_SUSPECT (HS_PACKET_ANY_TELEMETRY | HS_PACKET_SHORT | HS_PACKET_HIDDEN)

// Why a packet that is suspect, and cannot be made harmless, does not pass a host port; `seen` is
// the reason where telemetry was seen.
static inline enum hs_drop hs_suspect_drop(const struct hs_packet *packet, enum hs_drop seen)
{
	if (packet->flags & HS_PACKET_HIDDEN)
		return HS_DROP_HIDDEN_HEADERS;
	return packet->flags & HS_PACKET_ANY_TELEMETRY ? seen : HS_DROP_UNREADABLE;
}

// Looks up the rules of packets that were parsed.
void hs_classify_rules(struct hs_worker *worker, struct hs_burst *burst);

// What hosts sent with telemetry in it: strips it or drops the packet, by policy.
void hs_guard(struct hs_worker *worker, struct hs_burst *burst);

// Source, transit or sink, by the sides that each packet crosses; then hands it to its port's
// transmit queue.
void hs_telemetry(struct hs_worker *worker, struct hs_burst *burst);

// Sends what is queued for every port.
void hs_transmit(struct hs_worker *worker);

// ---- one packet ----

// Of a packet of the port's MTU, with Ethernet and two tags around it.
static inline uint32_t hs_longest_frame(const struct hs_port *port)
{
	return port->mtu + 14u + 8u;
}

// Source, transit or sink, whatever the packet is, by the steps of its family.
void hs_telemetry_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Where others hold a packet's bytes too, puts a copy in its place, parsed anew. False: no buffer.
bool hs_make_changeable(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
// Makes a chain linear for a port that takes none; where that cannot be, drops it and says false.
bool hs_make_sendable(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Puts a packet into a port's transmit queue (slot HS_FLOW_NONE: not taken off any flow if
// refused).
void hs_enqueue(struct hs_worker *worker, struct hs_burst *burst, uint16_t out,
		struct rte_mbuf *mbuf, uint32_t slot, uint32_t bytes);
// Copies a packet to every port but the one it came from.
void hs_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

void hs_drop(struct hs_worker *worker, uint16_t port, enum hs_drop reason, struct rte_mbuf *mbuf);
