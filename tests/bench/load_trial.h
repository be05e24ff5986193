// SPDX-License-Identifier: BSD-3-Clause
// One trial: frames offered at a rate for a time, and what came back.
//
// Thread rule: one thread.
#pragma once

#include "load_stream.h"

struct load_path {
	uint16_t (*send)(void *context, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t (*receive)(void *context, struct rte_mbuf **mbufs, uint16_t n);
	void *context;
	struct rte_mempool *pool; // of frames to send
};

struct load_trial {
	double pps; // 0: as many as the path takes
	double seconds;
};

struct load_result {
	uint64_t sent;	  // the path took them
	uint64_t refused; // the path had no room when they were due
	uint64_t skipped; // never offered: the generator was not running, or not fast enough
	uint64_t ticks;	  // that offering took
	uint64_t longest_pause_ticks; // of the generator itself
	uint64_t cpu_ns;	      // it had while offering
	uint64_t preempted_rounds;    // virtual time only: left out of it
	uint64_t gaps, gap_ticks;     // turns only: longer than a turn can be, and their sum
};

// In real time, on the calling thread.
void load_trial_run(const struct load_path *path, struct load_stream *stream,
		const struct load_trial *trial, struct load_result *result);
