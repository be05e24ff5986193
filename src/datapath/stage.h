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
	if (packet->flags & HS_PACKET_DISCARD)
		return HS_DROP_DISCARDED;
	if (packet->flags & HS_PACKET_HIDDEN)
		return HS_DROP_HIDDEN_HEADERS;
	return packet->flags & HS_PACKET_ANY_TELEMETRY ? seen : HS_DROP_UNREADABLE;
}

// Whether the profile lets a packet pass as it came, because its telemetry is malformed and nothing
// of it was changed; counts it.
bool hs_guard_lets_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Looks up the rules of packets that were parsed.
void hs_classify_rules(struct hs_worker *worker, struct hs_burst *burst);

// What hosts sent with telemetry in it: strips it or drops the packet, by policy.
void hs_guard(struct hs_worker *worker, struct hs_burst *burst);
// The same of what came in by any port. `counted`: rules have counted it as received.
void hs_guard_all(struct hs_worker *worker, struct hs_burst *burst, bool counted);
// The same of one packet. False: it was dropped.
bool hs_guard_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool counted);

// Lowers the MSS that TCP SYN segments announce, of packets that come or leave by a network port.
// A segment of this size, with the headers in front of it, has room for the telemetry of a whole
// path under the port's MTU.
void hs_clamp_mss(struct hs_worker *worker, struct hs_burst *burst);

// Source, transit or sink, by the sides that each packet crosses; then hands it to its port's
// transmit queue.
void hs_telemetry(struct hs_worker *worker, struct hs_burst *burst);

// ---- borders: between ports that do not read the same telemetry ----

// Returns whether `out` is a network port that reads other telemetry than the burst's.
static inline bool hs_is_border(const struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out)
{
	return out->side == HS_SIDE_NETWORK &&
	       !hs_profile_reads_same(&worker->profiles[out->index], burst->profile);
}
// Ends the telemetry of the packets [first, end), which leave by `out`. Those that stay are
// worker->beyond, a burst by the profile of `out`.
void hs_border_cross(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		const struct hs_port *out);
// One packet that is flooded, whose telemetry was taken out. False: it was dropped.
bool hs_border_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// Of host ports at a node with several families: they have no profile, and no packet has telemetry.
extern const struct hs_family hs_no_family;

// The sink and the strip of a family of whose telemetry nothing can be taken out.
bool hs_no_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
bool hs_no_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours);

// Sends what is queued for every port.
void hs_transmit(struct hs_worker *worker);
// Sends n packets, at most a burst, of so many bytes together, and counts them. Returns how many
// went; why the others did not is *reason.
unsigned hs_send(struct hs_worker *worker, struct hs_port *port, struct rte_mbuf **mbufs,
		unsigned n, uint64_t bytes, enum hs_drop *reason);

// ---- one packet ----

static inline bool hs_port_is_usable(const struct hs_port *port)
{
	return __atomic_load_n(&port->usable, __ATOMIC_RELAXED);
}

// Of a packet of the port's MTU, with Ethernet and two tags around it.
static inline uint32_t hs_longest_frame(const struct hs_port *port)
{
	return port->mtu + 14u + 8u;
}

// Where others hold a packet's bytes too, puts a copy in its place, parsed anew. False: no buffer.
bool hs_make_changeable(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
// Makes a chain linear; where that cannot be, drops it and says false.
bool hs_make_linear(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// The same for a port that takes no chains.
static inline bool hs_make_sendable(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	return likely(burst->mbufs[i]->nb_segs == 1) || out->tx_multi_seg ||
	       hs_make_linear(worker, burst, i, out);
}

static inline void hs_count_forwarded(struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, unsigned n)
{
	hs_port_stats_of(worker, burst->in->index)->forwarded += n;
	hs_port_stats_of(worker, out->index)->offered += n;
}

// `longest` is hs_longest_frame of the port that the packet leaves by.
static inline void hs_count_length(struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, uint32_t longest)
{
	if (unlikely(rte_pktmbuf_pkt_len(burst->mbufs[i]) > longest))
		hs_event(worker, burst, HS_EVENT_OVER_MTU);
}
// Puts a packet into a place of a port's transmit queue (slot HS_FLOW_NONE: not taken off any flow
// if refused).
static inline void hs_enqueue_at(struct hs_tx_queue *queue, unsigned at, struct rte_mbuf *mbuf,
		uint32_t slot, uint32_t bytes)
{
	queue->frame_bytes += rte_pktmbuf_pkt_len(mbuf);
	queue->mbufs[at] = mbuf;
	queue->slots[at] = slot;
	queue->bytes[at] = bytes;
}
// Copies a packet to every port but the one it came from.
void hs_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

void hs_drop(struct hs_worker *worker, uint16_t port, enum hs_drop reason, struct rte_mbuf *mbuf);
// The same of packet i, where it came in; a collector may be told.
void hs_drop_packet(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, enum hs_drop reason);
