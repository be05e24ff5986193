// SPDX-License-Identifier: BSD-3-Clause
// The stages of a burst, in the order in which a packet meets them. Each stage keeps the packets
// that go on at the front, in order, and drops every other packet with a reason.
//
// Thread rule: owner lcore.
#pragma once

#include "family.h"
#include "room.h"
#include "worker.h"

// Flags of packets that may have telemetry: options that were seen, headers that could not be read
// to their end, and headers that hide others. No packet with one of these flags passes a host port,
// in either direction, as it is.
#define HS_STAGE_SUSPECT (HS_PACKET_ANY_TELEMETRY | HS_PACKET_SHORT | HS_PACKET_HIDDEN)

// Returns why a packet that is suspect, and cannot be made harmless, does not pass a host port.
// `seen` is the reason where telemetry was seen.
static inline enum hs_drop hs_suspect_drop(const struct hs_packet *packet, enum hs_drop seen)
{
	if (packet->flags & HS_PACKET_DISCARD)
		return HS_DROP_DISCARDED;
	if (packet->flags & HS_PACKET_HIDDEN)
		return HS_DROP_HIDDEN_HEADERS;
	return packet->flags & HS_PACKET_ANY_TELEMETRY ? seen : HS_DROP_UNREADABLE;
}

// Returns whether the profile lets a packet pass as it came, because its telemetry is malformed and
// nothing of the packet was changed. Counts a packet that passes.
bool hs_guard_lets_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Looks up the rules of packets that were parsed.
void hs_classify_rules(struct hs_worker *worker, struct hs_burst *burst);

// Strips or drops, by policy, the packets with telemetry that hosts sent.
void hs_guard(struct hs_worker *worker, struct hs_burst *burst);
// Does the same for packets that came in by any port. `counted`: rules have counted them as
// received.
void hs_guard_all(struct hs_worker *worker, struct hs_burst *burst, bool counted);
// Does the same for one packet. Returns false if the packet was dropped.
bool hs_guard_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool counted);

// Lowers the MSS that TCP SYN segments announce, of packets that come or leave by a network port.
// A segment of this size, with the headers in front of it, has room for the telemetry of a whole
// path under the port's MTU.
void hs_clamp_mss(struct hs_worker *worker, struct hs_burst *burst);

// Acts as source, transit or sink, by the sides that each packet crosses. Then hands each packet to
// its port's transmit queue.
void hs_telemetry(struct hs_worker *worker, struct hs_burst *burst);

// ---- borders: between ports that do not read the same telemetry ----

// Returns whether `out` is a network port that reads other telemetry than the burst's.
static inline bool hs_is_border(const struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out)
{
	return out->side == HS_SIDE_NETWORK &&
	       !hs_profile_reads_same(&worker->profiles[out->index], burst->profile);
}
// Ends the telemetry of the packets [first, end), which leave by `out`. The packets that stay are
// worker->beyond, a burst by the profile of `out`.
void hs_border_cross(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		const struct hs_port *out);
// Takes one packet that is flooded, and whose telemetry was taken out, across the border. Returns
// false if the packet was dropped.
bool hs_border_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// The family of host ports at a node with several families. These ports have no profile, and no
// packet of theirs has telemetry.
extern const struct hs_family hs_no_family;

// The sink and the strip of a family of whose telemetry nothing can be taken out.
bool hs_no_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
bool hs_no_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours);

// Sends the packets that are queued for every port.
void hs_transmit(struct hs_worker *worker);
// Sends n packets, at most a burst, of so many bytes together, and counts them. Returns how many
// were sent. *reason says why the others were not.
unsigned hs_send(struct hs_worker *worker, struct hs_port *port, struct rte_mbuf **mbufs,
		unsigned n, uint64_t bytes, enum hs_drop *reason);

// Sends the packets that ports keep, except at ports that got packets to keep in this round.
void hs_send_kept(struct hs_worker *worker);

// ---- one packet ----

static inline bool hs_port_is_usable(const struct hs_port *port)
{
	return __atomic_load_n(&port->usable, __ATOMIC_RELAXED);
}

// Returns the length of a frame with a packet of the port's MTU and two tags.
static inline uint32_t hs_longest_frame(const struct hs_port *port)
{
	return port->mtu + 14u + 8u;
}

// Parses packet i of a burst anew, because its bytes or its place changed.
static inline void hs_parse_anew(struct hs_burst *burst, unsigned i)
{
	const struct rte_mbuf *m = burst->mbufs[i];

	burst->profile->family->parse(burst->profile, rte_pktmbuf_mtod(m, const uint8_t *),
			rte_pktmbuf_data_len(m), rte_pktmbuf_pkt_len(m), &burst->packets[i]);
}

// Returns whether the bytes of packet i's first segment may be written.
static inline bool hs_is_changeable(const struct hs_burst *burst, unsigned i)
{
	return likely(burst->changeable) || hs_room_is_changeable(burst->mbufs[i]);
}

// Puts a copy, parsed anew, in a packet's place if others hold the packet's bytes too. Returns
// false without a buffer.
bool hs_make_changeable(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
// Ends the strip of a packet, of which the first `taken` bytes are over now. Returns false if the
// packet is still suspect.
bool hs_end_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t taken);
// Makes a chain linear. Where that fails, drops the packet and returns false.
bool hs_make_linear(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Does the same for a port that takes no chains.
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

// Counts a frame above the port's MTU. `longest` is hs_longest_frame of the port that the packet
// leaves by.
static inline void hs_count_length(struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, uint32_t longest)
{
	if (unlikely(rte_pktmbuf_pkt_len(burst->mbufs[i]) > longest))
		hs_event(worker, burst, HS_EVENT_OVER_MTU);
}
// Puts a packet into a place of a port's transmit queue. With slot HS_FLOW_NONE, a refusal changes
// no flow's counters.
static inline void hs_enqueue_at(struct hs_tx_queue *queue, unsigned at, struct rte_mbuf *mbuf,
		uint32_t slot, uint32_t bytes)
{
	queue->frame_bytes += rte_pktmbuf_pkt_len(mbuf);
	queue->mbufs[at] = mbuf;
	queue->slots[at] = slot;
	queue->bytes[at] = bytes;
}
// Copies a packet to every port but the one that it came by.
void hs_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

void hs_drop(struct hs_worker *worker, uint16_t port, enum hs_drop reason, struct rte_mbuf *mbuf);
// Drops packet i and counts the drop where the packet came in. A collector may be told.
void hs_drop_packet(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, enum hs_drop reason);
