// SPDX-License-Identifier: BSD-3-Clause
// The collecting thread: it owns the tables, takes reports from UDP sockets and DPDK ports, and
// puts events into a ring. Between two bursts it runs one job of control, which reads the tables.
//
// Thread rule: control, except where a function says otherwise.
#pragma once

#include "collect.h"
#include "collector_frame.h"
#include "collector_ring.h"
#include "collector_udp.h"
#include "port.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Written by the collecting thread, readable by any. 64-bit words only.
struct hs_collector_counters {
#define HS_COLLECTOR_COUNTER(name, text) uint64_t name;
#include "collector_counter.def"
	uint64_t frame_kinds[HS_COLLECTOR_FRAMES];
};

// A job may take some microseconds.
typedef void hs_collector_job(void *context, struct hs_collect *collect);

struct hs_idle;

struct hs_collector_worker {
	// Set by the owner before the start.
	struct hs_collector_udp *sockets[HS_COLLECT_MAX_LISTENERS];
	unsigned n_sockets; // listeners 0 and up
	struct hs_port *ports[HS_COLLECT_MAX_LISTENERS];
	uint16_t udp_ports[HS_COLLECT_MAX_LISTENERS];
	unsigned n_ports; // listeners behind those of sockets
	bool adaptive;
	int64_t longest_nap_ns; // the longest time that a report waits for others
	bool pushes;		// entries are due from time to time
	bool by_eal;		// runs on lcore 1, else in a thread of its own
	uint16_t core;		// of that thread

	// Private.
	struct hs_collect *collect;
	struct hs_collector_ring *ring;
	struct hs_idle *idle;
	struct hs_collector_counters counters;
	int64_t push_ns;       // when to push again
	int64_t looked_ns;     // the newest round
	int64_t nap_ns;	       // beginning of the last nap
	uint64_t taken;	       // reports taken since then
	uint32_t largest;      // largest datagram of a socket since then
	int64_t nap_limit_ns;  // longest_nap_ns, or less where a port has little room
	unsigned nap_reports;  // reports that may wait during a nap
	hs_collector_job *job; // atomic; NULL: none waits
	void *job_context;
	bool stop; // atomic
	bool running;
	pthread_t thread;
};

// Makes the tables and the ring. Returns 0, or a negative errno with *err. The caller has zeroed
// the rest of the struct.
int hs_collector_worker_init(struct hs_collector_worker *worker,
		const struct hs_collect_config *config, bool adaptive, struct hs_error *err);
// Stops the thread if it runs.
void hs_collector_worker_fini(struct hs_collector_worker *worker);

// Starts the thread. Returns 0 or a negative errno.
int hs_collector_worker_start(struct hs_collector_worker *worker);
void hs_collector_worker_stop(struct hs_collector_worker *worker);

// Runs the job on the thread and waits for it. Without a running thread, the job runs on the
// caller's.
void hs_collector_worker_run(
		struct hs_collector_worker *worker, hs_collector_job *job, void *context);

// Runs one round. Called by the collecting thread. Returns how many datagrams and frames were
// taken.
unsigned hs_collector_worker_round(struct hs_collector_worker *worker, int64_t now_ns);
