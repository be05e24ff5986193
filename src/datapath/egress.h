// SPDX-License-Identifier: BSD-3-Clause
// The egress queue of a port that has `rate_bps` and `queue_packets`. A packet's departure time and
// the depth that it finds are known when it is queued, so that telemetry can write both. The packet
// waits at the worker that queued it, and a round of that worker sends it when it is due.
//
// departure = max(now, departure of the packet before) + bytes * 8 / rate, with its fraction of a
// nanosecond. `bytes` are those of the frame as the port gets it, after telemetry was inserted:
// without FCS, preamble and gap. A rate in packets makes the time of each packet 1 / rate. `now` is
// the receive time of the burst, without steps of the clock, or that of another worker's burst that
// queued packets at the port before, if it is later. depth: the packets that were queued before and
// depart after `now`: those that wait and the one that is being sent. Up to `queue_packets` packets
// may wait beside the one that is being sent, so that a packet whose depth is greater finds no
// place.
//
// Thread rule: struct hs_egress by the worker that opened it; struct hs_egress_worker by its owner
// lcore, `depth_max` readable by any; create, join and destroy by control, while no worker runs.
#pragma once

#include "worker.h"

#include <stdalign.h>

#include <rte_branch_prediction.h>

#define HS_EGRESS_WHOLE 10000 // shares are in 1/10000

// Time constant of the moving average of a port's utilisation.
#define HS_EGRESS_AVERAGE_NS 10000000
// The greatest age of the share of the buffers in use.
#define HS_EGRESS_BUFFER_NS 1000000

// Time in 2^-64 ns.
__extension__ typedef __int128 hs_egress_time;

static inline int64_t hs_egress_ns(hs_egress_time time)
{
	return (int64_t)(time >> 64);
}

// The queue of a port, or of several ports that share a rate, for all workers.
struct hs_egress {
	hs_egress_time byte; // time of a byte, rounded up
	uint64_t rate_bps;
	bool by_packet; // each packet counts as one byte
	uint32_t limit; // queue_packets
	uint32_t mask;
	bool shared; // several workers send by the port

	// One line, which the lock protects if the port is shared.
	alignas(64) uint32_t lock;
	uint32_t head, tail; // of departures[]
	uint32_t reserved;   // places of runs that are open
	int64_t now_ns;
	double busy;			  // moving average of the port's state, 1 while it sends
	hs_egress_time departs;		  // of the newest packet; exact to the ns
	uint32_t inexact;		  // bytes whose time was rounded up since make_exact
	alignas(64) int64_t departures[]; // of packets that had not departed at now_ns
};

// A packet that waits and gets the queue's depth when it leaves.
struct hs_egress_mark {
	uint8_t *field;
	uint32_t place; // the value of `tail` when the packet was put
};

// The packets of one worker that wait for one port.
struct hs_egress_worker {
	struct hs_egress *port;
	uint32_t head, tail, mask; // of mbufs[], departs_ns[] and sums[]
	uint32_t depth_max;
	// One entry for each packet that waits. sums[] has the bytes of all packets up to this one.
	struct rte_mbuf **mbufs;
	int64_t *departs_ns;
	uint32_t *sums, sum, sum_sent;
	// Marks of some of these packets, in the same order.
	struct hs_egress_mark *marks;
	uint32_t marks_head, marks_tail;

	// The run that is open.
	bool locked;
	uint32_t reserved; // places that the run reserved
	uint32_t places;   // places that are left
	uint32_t pending;  // packets behind `tail` that have no departure yet

	// The packet in hand. It has a departure if `bytes` is not 0.
	uint32_t bytes;
	uint32_t depth;
	hs_egress_time before; // `departs` before the packet
	uint8_t *field;	       // place for its depth; NULL: none
};

// Creates a queue. The rate and the length are as in hs_port_config. Returns NULL without memory.
// hs_egress_destroy accepts NULL.
struct hs_egress *hs_egress_create(uint64_t rate_bps, uint32_t queue_packets);
struct hs_egress *hs_egress_create_by_packet(uint32_t rate_pps, uint32_t queue_packets);
void hs_egress_destroy(struct hs_egress *egress);
struct hs_egress_worker *hs_egress_join(struct hs_egress *egress);
// Returns the EAL memory of a port's queue.
uint64_t hs_egress_bytes(uint32_t queue_packets, unsigned n_workers);

// Returns the port's queue at this worker. NULL: the port has no queue.
static inline struct hs_egress_worker *hs_egress_of(
		const struct hs_worker *worker, const struct hs_port *port)
{
	return worker->egress[port->index];
}

// Advances the port's time to now_ns. Packets that have departed leave the count.
void hs_egress_advance(struct hs_egress *egress, int64_t now_ns);

// Returns how many packets were queued and have not departed.
static inline uint32_t hs_egress_depth(const struct hs_egress *egress)
{
	return egress->tail - egress->head;
}

// ---- a run of packets that leave by the port ----
// A run reserves places for its packets when it opens. The departures of the packets are computed
// when the run closes, or when a step asks for one. From that request to the end of the run, no
// other worker queues packets.

// Reserves places for up to n packets.
void hs_egress_open(struct hs_worker *worker, struct hs_port *port, int64_t now_ns, uint32_t n);
void hs_egress_close(struct hs_egress_worker *own);

// Returns whether the packet in hand has a place.
static inline bool hs_egress_fits(const struct hs_egress_worker *own)
{
	return own->places > 0;
}

// Drops the packet, for which there is no place. Returns false.
bool hs_egress_refuse(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// Computes the departure and the depth of the packet in hand, which will have so many bytes.
// Returns false if the packet has no place.
bool hs_egress_take(struct hs_egress_worker *own, uint32_t bytes);
// Takes back the departure of the packet in hand, which is dropped.
void hs_egress_give_back(struct hs_egress_worker *own);
void hs_egress_put_taken(struct hs_egress_worker *own, struct rte_mbuf *mbuf);

// Lets the packet in hand, which has a place, wait for its departure.
static inline void hs_egress_put(struct hs_egress_worker *own, struct rte_mbuf *mbuf)
{
	own->places--;
	if (unlikely(own->bytes))
		hs_egress_put_taken(own, mbuf);
	else
		own->mbufs[(own->tail + own->pending++) & own->mask] = mbuf;
}

// Lets n packets wait for their departures.
void hs_egress_put_run(struct hs_egress_worker *own, struct rte_mbuf **mbufs, uint32_t n);

// ---- what telemetry writes ----

struct hs_egress_values {
	int64_t departs_ns; // on the node's clock
	uint32_t depth;
	uint32_t congestion;  // depth as a share of queue_packets
	uint32_t utilisation; // of the port's rate, at the port's time
	uint32_t buffer;      // packet buffers in use, as a share of all
};

// Reads the values of the packet in hand, which leaves by `out` and will have so many bytes, for a
// step that stamps the packet in a run. If the packet gets another number of bytes in the end, its
// departure is computed again. Returns false if the port has no queue, or the packet no place.
bool hs_egress_read(struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct hs_egress_values *values);

// Names the place for the depth of the packet in hand, which has its departure, in the packet's
// first segment. When the packet leaves, the number of packets behind it in the queue is written
// there, as HS_EGRESS_LEFT_BYTES in network order.
#define HS_EGRESS_LEFT_BYTES 3
static inline void hs_egress_mark(struct hs_egress_worker *own, uint8_t *field)
{
	own->field = field;
}

// ---- rounds of the worker ----

// Sends the packets that are due. Returns how many packets no longer wait.
unsigned hs_egress_send_due(struct hs_worker *worker);
// Returns the steady time of the next departure. INT64_MAX: nothing waits.
int64_t hs_egress_next_ns(const struct hs_worker *worker);
// Drops and counts everything that waits. Called by control while the worker does not run.
void hs_egress_drop_all(struct hs_worker *worker);
