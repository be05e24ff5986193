// SPDX-License-Identifier: BSD-3-Clause
// The declarations that the files of the exporter share. For exporter.c and export_*.c only.
//
// Thread rule: as exporter.h.
#pragma once

#include "export_values.h"
#include "int_report.h"
#include "udp_front.h"
#include "worker.h"

enum hs_export_kind {
	HS_EXPORT_FLOW,
	HS_EXPORT_DROP,
	HS_EXPORT_QUEUE,
	HS_EXPORT_N_KINDS,
};

// Reports of a kind in the second that began at from_ns.
struct hs_export_quota {
	int64_t from_ns;
	uint32_t used;
};

// The beginning of the datagrams of a run, in front of the copy of their packet.
#define HS_EXPORT_FRONT_BYTES 144 // of the longest front and report, in whole vectors
struct hs_export_prepared {
	uint8_t bytes[HS_EXPORT_FRONT_BYTES]; // with sequence number 0
	uint16_t len;
	uint16_t copied;  // bytes of a packet for which the lengths are right
	uint16_t payload; // bytes of UDP's payload, with that copy
	uint32_t sum;	  // of the payload without the copy
};

// The ring from which control takes the datagrams of one worker, for a receiver without a port.
struct hs_export_outlet {
	struct rte_ring *ring; // of mbufs with UDP payloads
	uint32_t sequence;     // of the next datagram; used by control alone
};

// A receiver of one worker's reports.
struct hs_export_target {
	struct hs_udp_front front;
	struct hs_export_config config;
	struct hs_port *port; // NULL: not added, or no port sends
	uint32_t sequence;    // of the first datagram that was not sent; unused by control
	uint8_t hw_id;
	uint32_t quota; // of each kind in a second; 0: no limit
	struct hs_export_quota quotas[HS_EXPORT_N_KINDS];
	uint32_t congested[HS_MAX_PORTS]; // packets since the port's queue became congested
	struct hs_export_prepared prepared;
	struct hs_export_outlet *outlet;     // NULL: a port sends
	struct hs_export_flow *flows;	     // [HS_EXPORT_FLOWS], of changes; else NULL
	uint16_t n;			     // datagrams that wait for the end of the burst
	struct rte_mbuf *mbufs[HS_BURST];    // numbered from `sequence` on
	struct hs_export_flow *of[HS_BURST]; // flow that a datagram reports, or NULL
};

struct hs_exporter {
	unsigned n;
	bool flows, drops, queues, changes; // some receiver wants them
	uint16_t src_port;
	struct hs_export_target targets[HS_MAX_EXPORTS];
};

// Returns whether the packet has a rule of INT, or carries INT, because it had such a rule at a
// source.
bool hs_export_is_tracked(
		const struct hs_worker *worker, const struct rte_mbuf *packet, uint32_t slot);
