// SPDX-License-Identifier: BSD-3-Clause
// What a node keeps for probes: copies that wait for feedback, request IDs that came lately, and
// the time from which each port may send more. Workers share the requests and see each other's
// copies. Each copy is of the worker that made it.
//
// Thread rule: struct hs_probe_worker by its owner lcore, but for `keys`: another worker may set
// HS_PROBE_CONFIRMED in one, and control reads them. Control makes both while no worker runs.
#pragma once

#include "probe_profile.h"
#include "worker.h"

#include <stdatomic.h>

#include <rte_branch_prediction.h>

#define HS_PROBE_NO_PORT  UINT16_MAX
#define HS_PROBE_SEEN	  1024 // requests that are remembered
#define HS_PROBE_HELD_MAX 1024
#define HS_PROBE_HELD	  64 // unless the profile says so
#define HS_PROBE_MAX_PORT 255

// A key says what a place holds: the request ID, the port that the probe left by, and the flags
// below. 0: the place is free.
#define HS_PROBE_HOLDS	   (UINT32_C(1) << 31)
#define HS_PROBE_CONFIRMED (UINT32_C(1) << 30)

struct hs_probe_held {
	struct rte_mbuf *mbuf; // as the probe was sent
	int64_t deadline_ns;   // steady
	uint16_t out;	       // port that the probe left by
	uint16_t l3_off;
};

struct hs_probe_worker {
	struct hs_probe_node *node;
	_Atomic uint32_t *keys; // [profile->held]
	struct hs_probe_held *held;
	uint32_t n_held;		   // places that are not free
	int64_t next_ns;		   // no copy has a deadline before
	int64_t interval_ns[HS_MAX_PORTS]; // between packets of probes from a port
	int64_t full_ns[HS_MAX_PORTS];	   // the port has used its rate until then
};

struct hs_probe_node {
	const struct hs_probe_profile *profile;
	unsigned n_workers;
	struct hs_worker *workers[HS_MAX_WORKERS];
	uint16_t ports[HS_PROBE_MAX_PORT + 1]; // number on the wire to index, of ports for probes
	_Atomic uint64_t seen[HS_PROBE_SEEN];
};

// ---- requests and rates (probe_limit.c) ----

enum hs_probe_sight {
	HS_PROBE_NEW,
	HS_PROBE_AGAIN,	   // its path visits this node again
	HS_PROBE_REPEATED, // the same packet again
};

// Notes a request that came with so many entries. Returns whether the request came before.
enum hs_probe_sight hs_probe_see(
		struct hs_probe_node *node, uint16_t id, uint16_t n_entries, int64_t steady_ns);
// Returns whether the port may send one more packet of probes.
bool hs_probe_has_rate(struct hs_probe_worker *own, uint16_t port, int64_t steady_ns);

// ---- copies (probe_held.c) ----

// Keeps a copy of a packet that leaves by `out`. Returns false if no place or no buffer is left.
bool hs_probe_hold(struct hs_worker *worker, const struct rte_mbuf *m,
		const struct hs_packet *packet, const struct hs_port *out, int64_t steady_ns);
// Confirms a copy, because feedback came by a port. Returns false if no copy with this ID left by
// the port and waits.
bool hs_probe_confirm(struct hs_probe_worker *own, uint16_t port, uint16_t id);
// Serves the copies whose time is over, outside of a burst.
void hs_probe_serve_held(struct hs_worker *worker);
// Frees all copies. Control, while no worker runs.
void hs_probe_free_held(struct hs_probe_worker *own);

// Serves the copies that wait. Called in each round of a worker with probes.
static inline void hs_probe_serve(struct hs_worker *worker)
{
	if (unlikely(worker->probe->n_held))
		hs_probe_serve_held(worker);
}

// Returns the steady time of the next deadline. INT64_MAX: no copy waits.
static inline int64_t hs_probe_next_ns(const struct hs_probe_worker *own)
{
	return own->n_held ? own->next_ns : INT64_MAX;
}

// ---- registers (probe_register.c) ----

// Copies the values [first, end) of a register. Returns false if the register does not have them.
bool hs_probe_read_register(const struct hs_worker *worker, enum hs_probe_type type,
		const struct hs_probe_entry *range, uint32_t *values);
