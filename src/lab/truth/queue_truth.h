// SPDX-License-Identifier: BSD-3-Clause
// The truth of a queue that stands in a node, before one direction of a link. It follows from when
// packets arrived at the node, in which order they departed, and how many bytes they had on the
// link. A model of its own says when each should have departed, how many were before it, and which
// found no place. Neither the node's counters nor its telemetry contribute.
//
// Thread rule: owner. Times are true time.
#pragma once

#include "instants.h"
#include "lab_metric.h"

#include <stdbool.h>
#include <stdint.h>

// bps and pps 0: there is no queue. pps: each packet takes 1 / pps, whatever its length.
struct hs_queue_rate {
	uint64_t bps;
	uint32_t pps;
	uint32_t queue_packets; // that wait beside the one that is being sent
};
struct hs_packet_truth;

// Time constant of the moving average of the utilisation, as docs/metrics.md has it.
#define HS_QUEUE_AVERAGE_NS 10000000

#define HS_QUEUE_COUNT_MEMBER(key, over) uint64_t key;
struct hs_queue_counts {
	HS_QUEUE_COUNTS(HS_QUEUE_COUNT_MEMBER)
	double utilisation_error_max; // of the true average, where that is above a tenth
};

// A packet as it was queued.
struct hs_queued {
	int64_t arrived_ns, departs_ns;
	uint32_t depth;	    // packets before it that had not departed
	double utilisation; // 0 to 1, when it arrived
};

// A queue of zeroes but for its rate is empty.
struct hs_queue_truth {
	struct hs_queue_rate rate;
	struct hs_queue_counts counts;
	int status; // -ENOMEM: memory ran out during the run
	// The rest is for queue_truth.c.
	struct hs_instants arrivals, ids; // of packets that may still depart
	struct hs_instants departures;	  // of packets that had not departed at the last arrival
	int64_t departs_ns;		  // of the newest packet, and rest / rate
	uint64_t rest;
	double busy; // average at averaged_ns
	int64_t averaged_ns;
};

void hs_queue_truth_fini(struct hs_queue_truth *queue);

// Notes that the packet arrived at the node, which is to send it into the link.
void hs_queue_truth_arrive(struct hs_queue_truth *queue, const struct hs_packet_truth *packet_truth,
		int64_t now_ns);
// Notes that the node sends the packet. Packets that arrived before it and did not depart were
// dropped. Returns false if the packet had not arrived.
bool hs_queue_truth_depart(struct hs_queue_truth *queue, const struct hs_packet_truth *packet_truth,
		int64_t now_ns, uint32_t bytes, struct hs_queued *queued);
// Empties the queue because the node restarts. Packets that wait are lost, and are not counted.
void hs_queue_truth_restart(struct hs_queue_truth *queue);

// Counts the packets that still wait as dropped, because they found no place.
void hs_queue_truth_end(struct hs_queue_truth *queue);
