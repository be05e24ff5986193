// SPDX-License-Identifier: BSD-3-Clause
// One direction of a link: what happens to each frame that is sent into it. Pure and seeded: the
// same frames at the same times give the same fates on any machine (docs/link-model.md compares
// every parameter with tc-netem's and tbf's).
//
// In this order: the link is up or not; loss (telemetry loss, then random, then bursts); the copy
// that duplication makes; the queue that waits for the rate, dropped at its tail; delay and jitter.
// Each decision draws for every frame from a generator of its own, lost or not, up or down: what
// happens to the n-th frame in one respect does not change when another parameter does.
// Thread rule: owner. Time is an input, ends before 2230 and never goes back.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_link;

enum hs_link_distribution {
	HS_LINK_UNIFORM, // delay - jitter <= d < delay + jitter, as netem without a table
	HS_LINK_NORMAL,	 // jitter_ns is the standard deviation
};

// Loss in bursts (Gilbert 1960, Elliott 1963; netem's `gemodel p r 1-h 1-k`). All zero: none.
struct hs_link_bursts {
	double p;	  // good to bad, for each frame
	double r;	  // bad to good
	double loss_bad;  // 1 - h; in the bad state
	double loss_good; // 1 - k
};

struct hs_link_config {
	bool down;
	uint64_t rate_bps;	 // of frame bits (no FCS, preamble or gap); 0: no limit
	uint32_t queue_packets;	 // that wait for the rate, the one being sent not counted
	uint32_t overhead_bytes; // added to each frame for the rate alone, as tbf's stab; 0
	int64_t delay_ns;
	int64_t jitter_ns;
	enum hs_link_distribution distribution;
	bool in_order; // no frame arrives before one that was sent earlier, but by reorder_ratio
	double loss_ratio;
	double telemetry_loss_ratio; // of frames that carry telemetry, beside the other losses
	double duplicate_ratio;
	double reorder_ratio; // of frames that skip delay and jitter, as netem's reorder
	struct hs_link_bursts bursts;
};

enum hs_link_loss {
	HS_LINK_NOT_LOST,
	HS_LINK_LOST_DOWN,
	HS_LINK_LOST_TELEMETRY,
	HS_LINK_LOST_RANDOM,
	HS_LINK_LOST_BURST,
	HS_LINK_LOST_QUEUE, // no room: the queue's tail (or no memory for it)
	HS_LINK_LOSSES
};

// Of one frame, or of the copy that duplication made of it.
struct hs_link_fate {
	enum hs_link_loss loss;
	int64_t wait_ns;    // in the queue, before its first bit was sent
	int64_t departs_ns; // its last bit left
	int64_t arrives_ns; // not set where lost
};

struct hs_link_counters {
	uint64_t sent_packets, sent_bytes; // handed to the link
	uint64_t copies;		   // made by duplication; sent + copies = delivered + lost
	uint64_t delivered_packets, delivered_bytes;
	uint64_t lost[HS_LINK_LOSSES];
	uint64_t lost_bytes;
	// Frames that carry telemetry, all reasons; copies are not counted.
	uint64_t telemetry_sent, telemetry_lost;
	uint64_t late; // frames that arrive after one that was sent later; a copy is sent later
	uint32_t queue_max_packets;
	int64_t wait_max_ns;
};

// "out_of_range" with the field's name as path: ratios from 0 to 1, no negative times, delays up to
// an hour, a queue of 1 to 10,000,000 packets where there is a rate.
int hs_link_check(const struct hs_link_config *config, struct hs_error *err);

// The configuration has passed the check. 0 or -ENOMEM. destroy accepts NULL.
int hs_link_create(const struct hs_link_config *config, uint64_t seed, struct hs_link **link);
void hs_link_destroy(struct hs_link *link);

// The configuration has passed the check. From now on; what was sent before keeps its fate, what
// waits keeps its place. 0 or -ENOMEM (nothing changed).
int hs_link_change(struct hs_link *link, const struct hs_link_config *config);
const struct hs_link_config *hs_link_config(const struct hs_link *link);

// Sends one frame. Returns the number of fates filled: 1, or 2 where duplication made a copy, which
// has a fate of its own.
unsigned hs_link_send(struct hs_link *link, int64_t now_ns, uint32_t bytes, bool telemetry,
		struct hs_link_fate fates[2]);

// Frames that wait for the rate.
uint32_t hs_link_waiting(struct hs_link *link, int64_t now_ns);
void hs_link_counters(const struct hs_link *link, struct hs_link_counters *counters);

// "down", "telemetry", "random", "burst", "queue", and "none": for tables and JSON.
const char *hs_link_loss_name(enum hs_link_loss loss);
