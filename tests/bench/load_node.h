// SPDX-License-Identifier: BSD-3-Clause
// A node in the generator's own process, between two rings: what a frame's time in one node is
// without any port or second process.
//
// Thread rule: one thread; the node's worker runs on the lcore that is named, or in that thread.
#pragma once

#include "load_trial.h"

#define LOAD_NODE_FRAME_MAX 1514

struct load_node;

struct load_node_config {
	struct load_addresses addresses; // the rules' flows are the stream's
	uint32_t rules;			 // flow i has rule i + 1
	uint32_t every;			 // telemetry in every so many packets of a flow
	uint32_t ring;	  // frames that wait for the node, and after it; power of two
	int worker_lcore; // -1: no thread of its own, see load_node_virtual
};

int load_node_create(const struct load_node_config *config, struct load_node **node);
void load_node_destroy(struct load_node *node);
const struct load_path *load_node_path(struct load_node *node);

// The trial in virtual time: generator and worker take turns in the calling thread, and only the
// worker's rounds move the clock, by what they took. So the node has a core of its own, as it were,
// on a machine that has none to spare. Latencies are in ticks from the frame's due time. A round in
// which the kernel took the thread off its core is counted and goes in with the mean of the others.
void load_node_virtual(struct load_node *node, struct load_stream *stream,
		const struct load_trial *trial, struct load_result *result);

// The trial in real time, generator and worker in turns in the calling thread: a burst of what is
// due, a round of the worker, a burst taken. Latencies are in ticks from the frame's due time, so
// that whatever keeps the thread off its core is in them, for each frame that was due meanwhile;
// nothing is refused. A turn of more than LOAD_GAP_NS is a gap: no work of 32 frames takes as long.
// bare: without the node, as a measure of the generator and of the machine.
#define LOAD_GAP_NS 20000
void load_node_turns(struct load_node *node, struct load_stream *stream,
		const struct load_trial *trial, bool bare, struct load_result *result);
