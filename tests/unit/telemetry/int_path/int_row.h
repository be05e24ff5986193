// SPDX-License-Identifier: BSD-3-Clause
// Nodes of the family int in a row, each twice: once with its fast path and once with the general
// path only. Both get the same packets in buffers of the same shape, and must do the same.
#pragma once

#include "harness.h"
#include "int_draft.h"
#include "int_steps.h"
#include "oracle.h"

#define ROW_NOW	  INT64_C(1700000000000000000)
#define ROW_NODES 4 // source, two transits, sink
#define ROW_BATCH 16
#define ROW_ROOM  4096
#define ROW_RULES 6

struct int_row {
	struct test_node nodes[2][ROW_NODES]; // general, fast
	struct hs_int_settings settings;
	struct rte_mempool *pool;
	struct hs_clock *clock;
	struct hs_rng rng;
	uint32_t next_ns_id;
	uint64_t n_reports;
	bool usual; // buffers are: with headroom for all, in one segment, held by nobody else
	// What a batch is now, and which of its packets are still under way.
	struct frame frames[ROW_BATCH];
	bool alive[ROW_BATCH];
};

extern bool int_row_passes_malformed; // the profiles of the next row do

struct int_row *int_row_open(const struct hs_int_settings *settings, uint16_t mtu,
		enum hs_host_side_policy policy, uint64_t seed);
// Also audits all nodes, and that both of each counted the same.
void int_row_close(struct int_row *row);

// The rules, `i` from 0 on, of every protocol and IP version for packets of one_flow.
struct hs_rule int_row_rule(unsigned i, uint32_t ns_id, uint32_t trace_type);
// All of them at source and sink, in place of those before.
void int_row_ask(struct int_row *row, uint32_t trace_type);

// Takes all that are alive through both of node `n`: alive[] and frames[] are what came out. But
// for `usual`, the buffers are of random shapes: little or no headroom, chains, others that hold
// them.
void int_row_step(struct int_row *row, unsigned n);
// Takes the reports of both sinks, which must be the same and, where they are `decodable`, decoded.
void int_row_take_reports(struct int_row *row, bool decodable);
