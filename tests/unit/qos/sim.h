// SPDX-License-Identifier: BSD-3-Clause
// A packet-level simulator in virtual time: a flow through source, links, transit nodes and sink,
// each counting and stamping as the nodes do, with the truth beside every report. It shares no
// code with the monitor that it checks.
#pragma once

#include "report.h"
#include "rng.h"
#include "sanitized.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_NODES 8 // transit nodes

struct sim_link {
	uint32_t loss_ppm;
	uint32_t duplicate_ppm;
	uint32_t telemetry_loss_ppm; // of packets that carry telemetry, beside loss_ppm
	int64_t delay_ns;
	int64_t jitter_ns;		  // uniform in [0, jitter_ns): more than the gap reorders
	uint32_t burst_period, burst_len; // in each period, so many packets in a row are lost
	int64_t down_ns, up_ns;		  // all are lost from the one time to the other
};

struct sim_node {
	uint16_t id;
	uint16_t bitmap;		     // what it writes of HS_HOP_KNOWN
	uint32_t loss_ppm;		     // between reception and transmission
	int64_t offset_ns;		     // of its clock
	uint64_t first_packets, first_bytes; // where its counts begin
	int64_t reset_ns;		     // when they begin again at 0; 0: never
	int64_t again_ns;		     // and once more; 0: never
	int64_t down_ns;		     // for so long from then on it loses all
	int64_t blind_ns;		     // or hands on, and has no rule
	uint32_t blind_ppm;		     // packets that its rule does not match
	uint32_t leave_out_ppm;		     // of each field, entry by entry
	uint64_t leave_out_every;	     // packets: counts only in one of so many; 0: in all
};

struct sim_config {
	uint64_t seed;
	unsigned n_nodes;
	struct sim_link links[SIM_MAX_NODES + 1];
	struct sim_node nodes[SIM_MAX_NODES];
	uint16_t other_id; // of another node in the place of nodes[other_at], for another path
	unsigned other_at;
	int64_t other_from_ns;	// all packets take it from then on; 0: never
	uint32_t other_ppm;	// this share takes it, packet by packet
	uint32_t other_every;	// or each packet whose number this divides
	int64_t other_delay_ns; // that the link to it takes longer
	int64_t start_ns, duration_ns;
	int64_t gap_ns;	       // between packets
	int64_t on_ns, off_ns; // bursts; off_ns 0: constant
	uint32_t min_bytes, max_bytes;
	uint32_t sample_every; // or
	uint32_t sample_ppm;
	uint16_t e2e_bitmap;
	int64_t source_offset_ns;
	uint64_t source_packets, source_bytes; // where its counts begin
	int64_t source_reset_ns, source_again_ns;
	int64_t sink_reset_ns;
	uint32_t report_loss_ppm; // reports that never reach the monitor
};

struct sim_count {
	bool valid;
	uint16_t id;
	int64_t ts_ns;
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
	uint64_t all_rx_packets, all_tx_packets, all_rx_bytes; // those of earlier lives included
};

// One report, and what was true when its packet passed each node: [0] source, [n_nodes + 1] sink.
struct sim_report {
	struct hs_report report;
	uint64_t number; // of its packet at the source, from 1
	bool duplicate;
	struct sim_count counts[SIM_MAX_NODES + 2];
};

struct sim_result {
	unsigned n_nodes;
	struct sim_report *reports; // in the order of arrival
	size_t n_reports;
	uint64_t n_packets; // sent
	uint8_t *fate;	    // [number]: 1 + 2 * link, 2 + 2 * node where it was lost, 0 where not
	uint64_t duplicated[SIM_MAX_NODES + 1];
};

// What a test begins with: four transit nodes, everything measured, 10,000 packets/s for 10 s of
// 562 bytes, every tenth sampled, no loss, 1 ms a link.
struct sim_config sim_defaults(uint64_t seed);
// Tests with many seeds walk through them by this step. 11 has no factor in common with the numbers
// by which a seed chooses its network.
#define SIM_STEP (SANITIZED ? 11 : 1)

void sim_run(const struct sim_config *config, struct sim_result *result);
void sim_free(struct sim_result *result);

// Packets with a number in (after, until] that were lost on link i; in transit node i.
uint64_t sim_lost_on_link(
		const struct sim_result *result, unsigned i, uint64_t after, uint64_t until);
uint64_t sim_lost_in_node(
		const struct sim_result *result, unsigned i, uint64_t after, uint64_t until);
