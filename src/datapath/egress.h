// SPDX-License-Identifier: BSD-3-Clause
// The egress queue of a port that has `rate_bps` and `queue_packets`. A packet's departure time and
// the depth that it finds are known when it is queued, so that telemetry can write both. It waits
// at the worker that queued it, and a round of that worker sends it when it is due.
//
// departure = max(now, departure of the packet before) + bytes * 8 / rate, with its fraction of a
// nanosecond. `bytes` are those of the frame as the port gets it, after telemetry was inserted:
// without FCS, preamble and gap. `now` is the receive time of the burst, without steps of the
// clock, or that of another worker's burst that queued packets at the port before, if it is later.
// depth: the packets that were queued before and depart after `now`: those that wait and the one
// that is being sent. Up to `queue_packets` packets may wait beside the one that is being sent, so
// that a packet whose depth is greater finds no place.
//
// Thread rule: struct hs_egress by the worker that opened it; struct hs_egress_worker by its owner
// lcore, `depth_max` readable by any; create, join and destroy by control, while no worker runs.
#pragma once

#include "worker.h"

#include <stdalign.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_pause.h>

#define HS_EGRESS_WHOLE 10000 // shares are in 1/10000

// Time constant of the moving average of a port's utilisation.
#define HS_EGRESS_AVERAGE_NS 10000000
// How old the share of the buffers in use may be.
#define HS_EGRESS_BUFFER_NS 1000000

// Of a port, for all workers.
struct hs_egress {
	uint64_t rate_bps;
	uint64_t inverse; // of the rate: quotient by multiplication
	uint32_t limit;	  // queue_packets
	uint32_t mask;
	bool shared; // several workers send by the port

	alignas(64) uint32_t lock; // held for a run of packets, if shared
	uint32_t head, tail;	   // of departures[]
	int64_t now_ns;
	int64_t departs_ns; // of the newest packet; its fraction is rest / rate_bps
	uint64_t rest;
	double busy; // moving average of the port's state, 1 while it sends
	int64_t averaged_ns;
	alignas(64) int64_t departures[]; // of packets that had not departed at now_ns
};

struct hs_egress_waiting {
	int64_t departs_ns;
	struct rte_mbuf *mbuf;
};

// Of a port and a worker.
struct hs_egress_worker {
	struct hs_egress *port;
	uint32_t head, tail, mask; // of waiting[]
	uint32_t depth_max;

	// The packet in hand: its place, and what to go back to.
	uint32_t bytes; // 0: it has no place yet
	uint32_t depth;
	int64_t before_ns;
	uint64_t before_rest;
	struct hs_egress_waiting waiting[];
};

// Rate and length as in hs_port_config. Returns NULL without memory. destroy accepts NULL.
struct hs_egress *hs_egress_create(uint64_t rate_bps, uint32_t queue_packets);
void hs_egress_destroy(struct hs_egress *egress);
struct hs_egress_worker *hs_egress_join(struct hs_egress *egress);
// EAL memory of a port's queue.
uint64_t hs_egress_bytes(uint32_t queue_packets, unsigned n_workers);

// The queue of a port at this worker; NULL: none.
static inline struct hs_egress_worker *hs_egress_of(
		const struct hs_worker *worker, const struct hs_port *port)
{
	return worker->egress[port->index];
}

// ---- a run of packets that leave by the port ----

// Lets the port's time go on to now_ns: what has departed by then leaves the count.
void hs_egress_advance(struct hs_egress *egress, int64_t now_ns);

// Between open and close, no other worker queues packets at the port.
static inline void hs_egress_open(struct hs_egress *egress, int64_t now_ns)
{
	if (egress->shared) {
		while (unlikely(__atomic_exchange_n(&egress->lock, 1, __ATOMIC_ACQUIRE))) {
			while (__atomic_load_n(&egress->lock, __ATOMIC_RELAXED))
				rte_pause();
		}
	}
	hs_egress_advance(egress, now_ns);
}

static inline void hs_egress_close(struct hs_egress *egress)
{
	if (egress->shared)
		__atomic_store_n(&egress->lock, 0, __ATOMIC_RELEASE);
}

// Packets that were queued and have not departed.
static inline uint32_t hs_egress_depth(const struct hs_egress *egress)
{
	return egress->tail - egress->head;
}

// Whether n more packets have a place.
static inline bool hs_egress_has_place(const struct hs_egress *egress, uint32_t n)
{
	return hs_egress_depth(egress) + n <= egress->limit + 1;
}

// ---- the packet in hand ----

__extension__ typedef unsigned __int128 hs_egress_wide;

// Adds the time that this many bytes take. Exact: the quotient is too small by at most one.
static inline void hs_egress_occupy(struct hs_egress *egress, uint32_t bytes)
{
	uint64_t work = bytes * UINT64_C(8000000000) + egress->rest; // bits * ns/s
	uint64_t ns = (uint64_t)(((hs_egress_wide)work * egress->inverse) >> 64);

	work -= ns * egress->rate_bps;
	if (work >= egress->rate_bps) {
		work -= egress->rate_bps;
		ns++;
	}
	egress->departs_ns += (int64_t)ns;
	egress->rest = work;
}

// Takes a place for the packet in hand, which will have so many bytes. False: there is none.
static inline bool hs_egress_take(struct hs_egress_worker *own, uint32_t bytes)
{
	struct hs_egress *egress = own->port;

	if (unlikely(!hs_egress_has_place(egress, 1)))
		return false;
	own->before_ns = egress->departs_ns;
	own->before_rest = egress->rest;
	own->depth = hs_egress_depth(egress);
	own->bytes = bytes;
	if (egress->departs_ns < egress->now_ns) {
		egress->departs_ns = egress->now_ns;
		egress->rest = 0;
	}
	hs_egress_occupy(egress, bytes);
	egress->departures[egress->tail++ & egress->mask] = egress->departs_ns;
	return true;
}

// Gives the place of the packet in hand back, if it has one.
static inline void hs_egress_give_back(struct hs_egress_worker *own)
{
	if (!own->bytes)
		return;
	own->port->departs_ns = own->before_ns;
	own->port->rest = own->before_rest;
	own->port->tail--;
	own->bytes = 0;
}

// The packet in hand has a place, or there is one for it.
static inline bool hs_egress_fits(const struct hs_egress_worker *own)
{
	return own->bytes || hs_egress_has_place(own->port, 1);
}

// Drops the packet, for which there is no place. Returns false.
bool hs_egress_refuse(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// The packet in hand has a place for the bytes that it has now. False: there is none.
static inline bool hs_egress_settle(struct hs_egress_worker *own, uint32_t bytes)
{
	if (likely(own->bytes == bytes))
		return true;
	hs_egress_give_back(own);
	return hs_egress_take(own, bytes);
}

// Sends packets of a worker's ring that are due at the port's time, to make room in it. The port is
// open.
void hs_egress_make_room(struct hs_worker *worker, struct hs_port *port);

// Lets the packet in hand wait for its departure. It has a place, or there is one.
static inline void hs_egress_put(
		struct hs_worker *worker, struct hs_port *port, struct rte_mbuf *mbuf)
{
	struct hs_egress_worker *own = hs_egress_of(worker, port);

	hs_egress_settle(own, rte_pktmbuf_pkt_len(mbuf));
	if (unlikely(own->tail - own->head > own->mask))
		hs_egress_make_room(worker, port);
	own->waiting[own->tail++ & own->mask] =
			(struct hs_egress_waiting){own->port->departs_ns, mbuf};
	own->bytes = 0;
	if (own->depth > own->depth_max)
		__atomic_store_n(&own->depth_max, own->depth, __ATOMIC_RELAXED);
}

// ---- what telemetry writes ----

enum hs_egress_has {
	HS_EGRESS_HAS_DEPARTURE = 1 << 0,
	HS_EGRESS_HAS_DEPTH = 1 << 1, // and congestion; the queue's id is 0
	HS_EGRESS_HAS_UTILISATION = 1 << 2,
	HS_EGRESS_HAS_BUFFER = 1 << 3,
};

// Only the values of `has` are known.
struct hs_egress_values {
	uint32_t has; // enum hs_egress_has
	uint32_t depth;
	int64_t departs_ns;   // on the node's clock
	uint32_t congestion;  // depth as a share of queue_packets
	uint32_t utilisation; // of the port's rate, before this packet
	uint32_t buffer;      // packet buffers in use, as a share of all
};

// Of packet i, which leaves by `out` and will have so many bytes: for a step that stamps it,
// between the run's open and close. Takes a place for it. If the packet gets other bytes in the
// end, the place is changed to them.
void hs_egress_read(struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct hs_egress_values *values);

// ---- rounds of the worker ----

// Sends what is due. Returns packets that no longer wait.
unsigned hs_egress_send_due(struct hs_worker *worker);
// Steady time of the next departure; INT64_MAX: nothing waits.
int64_t hs_egress_next_ns(const struct hs_worker *worker);
// Drops everything that waits, counted. Control, while the worker does not run.
void hs_egress_drop_all(struct hs_worker *worker);
