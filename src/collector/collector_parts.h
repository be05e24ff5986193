// SPDX-License-Identifier: BSD-3-Clause
// The declarations that the parts of the collector's control thread share. For src/collector only.
//
// Thread rule: the control thread.
#pragma once

#include "collector_config.h"
#include "collector_hops.h"
#include "collector_worker.h"

#include "api.h"
#include "event_log.h"
#include "influx_counters.h"
#include "key_watch.h"
#include "service.h"

struct hs_bus;
struct hs_collector_influx;
struct hs_influx;
struct hs_port_watch;
struct rte_mempool;

// Counters of control's work on events. 64-bit words only.
struct hs_collector_outcome {
	uint64_t events, points; // taken from the ring
	uint64_t published, publish_lost;
};

struct hs_collector {
	const struct hs_collector_config *config;
	const char *boot_id;
	int64_t now_ns;	  // system time
	int64_t start_ns; // of the monotonic clock
	struct hs_collector_worker worker;
	struct hs_event_log events;
	struct hs_collector_hops hops;
	struct hs_collector_influx *influx; // NULL: no databases
	struct hs_influx *lines;	    // the queue of influx; NULL: no databases
	struct hs_api_backend backend;
	struct hs_bus *bus; // NULL: nothing is published
	bool publishes;	    // somebody may subscribe
	uint64_t seq;	    // number of published messages
	struct hs_collector_outcome outcome;
	uint64_t socket_lost[HS_COLLECT_MAX_LISTENERS]; // dropped by the kernel, of each socket
	uint32_t buffer_kib[HS_COLLECT_MAX_LISTENERS];
};

// Counters of one moment between two bursts.
struct hs_collector_snapshot {
	struct hs_collect_counters collect;
	struct hs_collector_counters worker;
	struct hs_collector_outcome outcome;
	struct hs_influx_counters influx; // of all databases
	uint64_t points_waiting;
	uint64_t socket_lost; // of all sockets
};
void hs_collector_snapshot(struct hs_collector *collector, struct hs_collector_snapshot *snapshot);
