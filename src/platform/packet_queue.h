// SPDX-License-Identifier: BSD-3-Clause
// The queues of a port on packet sockets: rings that the kernel fills, and sockets that send.
// Private to src/platform.
//
// Thread rule: bursts by the worker that owns the queue; counters are readable by any; the rest
// control.
#pragma once

#include "gso.h"
#include "port_private.h"

#include <errno.h>
#include <sys/socket.h>

#include <rte_mempool.h>

// One queue's ring, and the counters that only its worker writes. A frame that is larger than a
// place of the ring waits whole in the socket's queue, and its beginning waits in the ring.
struct packet_rx {
	alignas(PORT_APART) int fd;
	uint8_t *ring;
	uint32_t frame_bytes, frames_per_block, frames;
	uint32_t next;
	struct rte_mempool *pool;
	uint16_t room, mtu;
	uint16_t cut_next, cut_n; // of `cut`: the packets of a large frame that wait for a burst
	struct rte_mbuf *cut[HS_GSO_MAX_PACKETS];
	uint64_t waits_since; // ticks: a large frame waits for buffers; 0: none does
	uint32_t too_many;    // packets of a frame that waited in vain; 0: none
	_Atomic uint64_t packets, broken, no_mbuf, no_room;
	uint64_t missed; // the kernel's count, which restarts with each reading; used by control
};

// What the sends of all workers reported.
struct packet_sent {
	uint64_t packets, frames; // frames: as the interface counts; joined packets are one
	uint64_t dropped, dropped_frames, given_back;
};

// Frames and packets that the kernel dropped and no send reported.
struct packet_hidden {
	uint64_t surplus, frames, packets;
};

// The most packets that a socket keeps: those of a frame of 64 KiB with an MSS of 1,023 bytes or
// more.
#define PACKET_KEPT_MAX 64
// Calls that may add packets to a frame that is kept. Full bursts need two or three.
#define PACKET_KEEPS_MAX 4

// One worker's socket. It receives nothing, so that sending has no cost for receiving.
struct packet_tx {
	alignas(PORT_APART) int fd;
	_Atomic uint64_t packets, frames, refused; // refused: this packet failed, the next may not
	_Atomic uint64_t dropped, dropped_frames;  // ... of them, by the kernel's own queue
	_Atomic uint64_t given_back; // dropped by the kernel without a carrier, not taken
	uint16_t n_kept, keeps;	     // keeps: calls since that have added to them
	struct rte_mbuf *kept[PACKET_KEPT_MAX]; // taken, but not sent before what follows
};

// Sets an option of a packet socket. Returns 0 or a negative errno.
static inline int packet_set_option(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

static inline void packet_count(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
			memory_order_relaxed);
}

// Maps the ring of a socket for packets of this MTU, and lets the socket take larger frames.
// Returns 0 or a negative errno.
int packet_rx_prepare(struct packet_rx *rx, struct rte_mempool *pool, uint16_t mtu);
// Unmaps the ring, closes the socket and frees packets that wait. fd -1: there is no socket.
void packet_rx_close(struct packet_rx *rx);
// Returns up to n packets, as hs_port_rx_fn does.
uint16_t packet_rx_take(struct packet_rx *rx, struct rte_mbuf **mbufs, uint16_t n);

// Sends up to n packets, as hs_port_tx_fn does. TCP packets of one flow that follow each other
// leave as one frame if the interface takes it. `keep`: the last packets may be kept, as
// hs_port.tx_keep does.
uint16_t packet_tx_send(struct packet_tx *tx, const struct port_private *p, struct rte_mbuf **mbufs,
		uint16_t n, bool keep);
// Closes the socket and frees packets that are kept. fd -1: there is no socket.
void packet_tx_close(struct packet_tx *tx);

// Returns the packets that the kernel dropped after sends had reported them as sent. `dropped`: the
// frames that the interface counts as dropped since the first send. Control calls this from time to
// time.
uint64_t packet_tx_hidden(
		struct packet_hidden *hidden, const struct packet_sent *sent, uint64_t dropped);
