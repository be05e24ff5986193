// SPDX-License-Identifier: BSD-3-Clause
// What the files of the exporter share. For exporter.c, export_drop.c and
// export_queue.c only.
//
// Thread rule: as exporter.h.
#pragma once

#include "exporter.h"
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

// A receiver of one worker's reports.
struct hs_export_target {
	struct hs_udp_front front;
	struct hs_export_config config;
	struct hs_port *port; // NULL: not added
	uint32_t sequence;    // of the first datagram that was not sent
	uint8_t hw_id;
	uint32_t quota; // of each kind in a second; 0: no limit
	struct hs_export_quota quotas[HS_EXPORT_N_KINDS];
	uint32_t congested[HS_MAX_PORTS];    // packets since the port's queue became congested
	struct hs_export_flow *flows;	     // [HS_EXPORT_FLOWS], of changes; else NULL
	uint16_t n;			     // datagrams that wait for the end of the burst
	struct rte_mbuf *mbufs[HS_BURST];    // numbered from `sequence` on
	struct hs_export_flow *of[HS_BURST]; // that a datagram tells of, or NULL
};

struct hs_exporter {
	unsigned n;
	bool flows, drops, queues, changes; // some receiver wants them
	uint16_t src_port;
	struct hs_export_target targets[HS_MAX_EXPORTS];
};

// Makes the report for one receiver, if its quota has room. False: it was not made, and is counted.
bool hs_export_put(struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, const struct hs_int_report *report,
		const struct rte_mbuf *packet, struct hs_export_flow *of);

// What a port is called in a report. NULL: it is not known.
uint16_t hs_export_port_name(const struct hs_port *port);
// Whether the packet has a rule of INT, or carries INT: it had such a rule at a source.
bool hs_export_is_tracked(
		const struct hs_worker *worker, const struct rte_mbuf *packet, uint32_t slot);
