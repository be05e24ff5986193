// SPDX-License-Identifier: BSD-3-Clause
// The INT database of a controller: the latest item of each port of the network that labels, which
// ports were seen in each interval, and the last values of each port. Its memory is fixed when it
// is made.
//
// An item that is not newer than the port's latest one, by the node's clock (modulo 2^48 us), is
// refused. The item of a port of which nothing new came for age_ns is forgotten, so that a node
// whose clock went back is heard again. The port is forgotten with it, unless a caller said that
// packets leave by it: then the port stays, and is not seen.
//
// The key of a port is the node id and the port id of an item. Our nodes write 16 bits of their id,
// the paper's prototype writes 8, and both write 8 bits of the port's. So nodes whose ids are equal
// in the bits that they write are one node here, and their ports of one id are one port.
//
// Source: 001_72f6b4e6e9dc6295.txt sections 2 and 3.4 (Algorithm 4), 6.2 (coverage).
// Thread rule: owner. Time is the caller's, in ns; it never goes back.
#pragma once

#include "label_export.h"

struct hs_label_database;

struct hs_label_database_config {
	uint32_t ports;	     // the most that are kept
	uint32_t series;     // values kept of each port, 1 or more
	int64_t interval_ns; // of coverage: intervals begin at multiples of it
	int64_t age_ns;	     // after which an item is forgotten
};

enum hs_label_taken {
	HS_LABEL_TAKEN_NEW,	// the port was not known
	HS_LABEL_TAKEN_NEWER,	// the port's latest item now
	HS_LABEL_TAKEN_OLDER,	// refused: not newer than the latest
	HS_LABEL_TAKEN_NO_ROOM, // refused: as many ports as are kept
	HS_LABEL_N_TAKEN,
};

// One value of a port's series.
struct hs_label_value {
	int64_t received_ns;
	int64_t latency_us;	// -1: not known
	uint32_t queue_packets; // the depth that the packet found
	uint32_t queue_us;
};

// The S that a controller wants a port to have (label_pro.h).
struct hs_label_wish {
	uint8_t shift;
	bool confirmed;	    // the node has it
	bool sent;	    // at sent_ns
	int64_t changed_ns; // LRT
	int64_t sent_ns;
};

struct hs_label_entry {
	uint16_t node_id;
	uint8_t port;
	bool active;	     // packets leave by the port; true unless the caller says otherwise
	bool expected;	     // the caller said that packets leave by the port
	bool seen;	     // item and received_ns are there
	uint64_t missed;     // intervals in a row that ended without an item, while active
	int64_t received_ns; // of the latest item
	int64_t known_ns;    // when the port became known, or its latest item came
	struct hs_label_item item;
	uint64_t items;	   // taken
	uint64_t n_series; // values of the series so far
	struct hs_label_wish wish;
};

// Coverage: in each interval that ended with active ports, the share of these ports of which an
// item was taken.
struct hs_label_coverage {
	uint64_t intervals;
	uint64_t whole;	     // intervals with each active port
	double sum, min;     // of the shares; min 1 without intervals
	uint32_t last_ports; // active in the last interval of all; 0: it does not count
	uint32_t last_seen;  // of these
};

// Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_label_database_create(
		const struct hs_label_database_config *config, struct hs_label_database **database);
void hs_label_database_destroy(struct hs_label_database *database);

// Takes one item. Intervals that ended before now_ns are closed first.
enum hs_label_taken hs_label_database_take(struct hs_label_database *database, int64_t now_ns,
		const struct hs_label_item *item);
// Takes all items of a datagram, the oldest first.
void hs_label_database_take_export(struct hs_label_database *database, int64_t now_ns,
		const struct hs_label_export *export);

// Says whether packets leave by a port. A port that is active and was never seen counts as not
// covered. Returns 0, or -ENOSPC if there is no room for a port that was not known.
int hs_label_database_set_active(struct hs_label_database *database, int64_t now_ns,
		uint16_t node_id, uint8_t port, bool active);
// Says that nobody knows any more whether packets leave by the ports of a node. Ports that are then
// silent for age_ns are forgotten.
void hs_label_database_set_unknown(
		struct hs_label_database *database, int64_t now_ns, uint16_t node_id);

// Closes intervals, and forgets what is too old.
void hs_label_database_step(struct hs_label_database *database, int64_t now_ns);

// Returns NULL if the port is not known. An entry is valid until the next step.
struct hs_label_entry *hs_label_database_find(
		const struct hs_label_database *database, uint16_t node_id, uint8_t port);
// Returns entry i of hs_label_database_count entries, in no particular order.
struct hs_label_entry *hs_label_database_entry(
		const struct hs_label_database *database, uint32_t i);
uint32_t hs_label_database_count(const struct hs_label_database *database);

// Copies up to n of the port's last values, the newest first. Returns how many.
uint32_t hs_label_database_series(const struct hs_label_database *database,
		const struct hs_label_entry *entry, struct hs_label_value *values, uint32_t n);

const struct hs_label_coverage *hs_label_database_coverage(
		const struct hs_label_database *database);
// Return how many items were taken or refused, by enum hs_label_taken, and how many ports were
// forgotten.
const uint64_t *hs_label_database_taken(const struct hs_label_database *database);
uint64_t hs_label_database_forgotten(const struct hs_label_database *database);
