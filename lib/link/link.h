// SPDX-License-Identifier: BSD-3-Clause
// One direction of a link: decides what happens to each frame that is sent into it. It is pure and
// seeded: the same frames at the same times have the same fates on any machine (docs/link-model.md
// compares every parameter with those of tc-netem and tbf).
//
// The order of decisions is: link up or down; loss (telemetry loss, then random, then bursts);
// duplication; the queue that waits for the rate, with tail drop; delay and jitter. Each decision
// draws for every frame from its own generator, whether the frame is lost and whether the link is
// up. So one kind of decision about the n-th frame does not change when another parameter does.
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

// Loss in bursts (Gilbert 1960, Elliott 1963; netem's `gemodel p r 1-h 1-k`). All zero: no such
// loss.
struct hs_link_bursts {
	double p;	  // probability of good to bad, for each frame
	double r;	  // probability of bad to good
	double loss_bad;  // netem's 1 - h; loss in the bad state
	double loss_good; // netem's 1 - k; loss in the good state
};

struct hs_link_config {
	bool down;
	uint64_t rate_bps;	 // counts frame bits (no FCS, preamble or gap); 0: no limit
	uint32_t queue_packets;	 // frames that may wait for the rate, without the one being sent
	uint32_t overhead_bytes; // added to each frame for the rate alone, as tbf's stab; usually 0
	int64_t delay_ns;
	int64_t jitter_ns;
	enum hs_link_distribution distribution;
	bool in_order; // no frame arrives before one that was sent earlier, except by reorder_ratio
	double loss_ratio;
	double telemetry_loss_ratio; // loss of frames that carry telemetry, in addition to the
				     // other losses
	double duplicate_ratio;
	double reorder_ratio; // share of frames that skip delay and jitter, as netem's reorder
	struct hs_link_bursts bursts;
};

enum hs_link_loss {
	HS_LINK_NOT_LOST,
	HS_LINK_LOST_DOWN,
	HS_LINK_LOST_TELEMETRY,
	HS_LINK_LOST_RANDOM,
	HS_LINK_LOST_BURST,
	HS_LINK_LOST_QUEUE, // the queue had no room (or the machine no memory for it)
	HS_LINK_LOSSES
};

// The fate of one frame, or of its copy.
struct hs_link_fate {
	enum hs_link_loss loss;
	int64_t wait_ns;    // time in the queue before its first bit was sent
	int64_t departs_ns; // when its last bit left
	int64_t arrives_ns; // not set if the frame is lost
};

struct hs_link_counters {
	uint64_t sent_packets, sent_bytes; // handed to the link
	uint64_t copies; // copies made by duplication; sent + copies = delivered + lost
	uint64_t delivered_packets, delivered_bytes;
	uint64_t lost[HS_LINK_LOSSES];
	uint64_t lost_bytes;
	// Frames that carry telemetry, for all reasons, without copies.
	uint64_t telemetry_sent, telemetry_lost;
	uint64_t late; // frames that arrive after one that was sent later; a copy is sent later
	uint32_t queue_max_packets;
	int64_t wait_max_ns;
};

// Fails with "out_of_range" and the field's name as path. Ratios are from 0 to 1, times are not
// negative, delays are at most an hour, and a queue has 1 to 10,000,000 packets if there is a rate.
int hs_link_check(const struct hs_link_config *config, struct hs_error *err);

// The configuration must have passed the check. Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_link_create(const struct hs_link_config *config, uint64_t seed, struct hs_link **link);
void hs_link_destroy(struct hs_link *link);

// Changes the configuration from now on; it must have passed the check. Frames sent before keep
// their fate, and waiting frames keep their place. Returns 0, or -ENOMEM with nothing changed.
int hs_link_change(struct hs_link *link, const struct hs_link_config *config);
const struct hs_link_config *hs_link_config(const struct hs_link *link);

// Sends one frame. Returns the number of fates filled: 1, or 2 if duplication made a copy, which
// has its own fate.
unsigned hs_link_send(struct hs_link *link, int64_t now_ns, uint32_t bytes, bool telemetry,
		struct hs_link_fate fates[2]);

// Returns the number of frames that wait for the rate.
uint32_t hs_link_waiting(struct hs_link *link, int64_t now_ns);
void hs_link_counters(const struct hs_link *link, struct hs_link_counters *counters);

// Returns "down", "telemetry", "random", "burst", "queue" or "none", for tables and JSON.
const char *hs_link_loss_name(enum hs_link_loss loss);
