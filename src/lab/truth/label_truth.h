// SPDX-License-Identifier: BSD-3-Clause
// The truth of INT-label: which ports labelled which packets, as shown by what links carried, by
// what nodes sent to the controller about ports to hosts, and by what the controller received. No
// counter of a node contributes.
//
// The coverage of an interval is a share of the ports by which a packet departed in the interval:
// the share of which an item came to the controller in the interval.
//
// A port that labels by the paper's section 4.1 has no gap between two labels above T + Ts, Ts
// being the greatest time between two packets of the port.
//
// Source: 001_72f6b4e6e9dc6295.txt sections 4.1 and 6.2.
// Thread rule: owner. Times are true time and do not go back.
#pragma once

#include "lab_metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_LABEL_TRUTH_ITEMS 8 // classes of labels_per_packet

struct hs_label_truth_config {
	uint32_t n_ports, n_traffic;
	int64_t start_ns;
	int64_t interval_ns; // of the coverage
	bool keep;	     // the coverage of each interval
	int64_t stop_ns;     // the last interval that counts ends at this time or before
};

// [n]: packets with n labels.
typedef uint64_t hs_label_packets[HS_LABEL_TRUTH_ITEMS];

struct hs_label_counts {
	HS_LABEL_COUNTS(HS_LAB_COUNT_MEMBER)
	hs_label_packets labels_per_packet;
	double coverage_sum, coverage_min; // of the intervals' coverage ratios
	double *coverage;		   // of each interval, if they are kept; NULL: none
	size_t n_coverage;
};

// The kinds of gaps at a port.
enum hs_label_gap {
	HS_LABEL_RELABEL, // between labels, by the packets' arrival at the node
	HS_LABEL_UPDATE,  // between items, by their arrival at the controller
	HS_LABEL_GAPS,
};

struct hs_label_truth {
	struct hs_label_counts counts;
	hs_label_packets *delivered; // of each entry of traffic: packets that hosts received
	struct hs_label_gaps {
		int64_t *ns;
		size_t n;
	} gaps[HS_LABEL_GAPS]; // of all ports, in the order of their ends
	int status;	       // -ENOMEM: memory ran out during the run
	// The rest is for label_truth.c.
	struct hs_label_truth_config config;
	int64_t end_ns; // of the interval
	struct hs_label_truth_port *ports;
};

// Returns 0 or -ENOMEM. Call fini in either case.
int hs_label_truth_init(struct hs_label_truth *truth, const struct hs_label_truth_config *config);
void hs_label_truth_fini(struct hs_label_truth *truth);

// Notes that a packet, which came to its node at came_ns, departs now by a port that labels. It has
// `labels` labels now and had `before` when it came. interval_ns is the port's T.
void hs_label_truth_depart(struct hs_label_truth *truth, uint32_t port, int64_t now_ns,
		int64_t came_ns, uint32_t before, uint32_t labels, int64_t interval_ns);
// Notes that a host gets a packet of an entry of traffic with so many labels.
void hs_label_truth_deliver(struct hs_label_truth *truth, uint32_t traffic, uint32_t labels);
// Notes that the controller takes an item of a port.
void hs_label_truth_take(struct hs_label_truth *truth, uint32_t port, int64_t now_ns);
// Closes the intervals that ended.
void hs_label_truth_end(struct hs_label_truth *truth, int64_t now_ns);
