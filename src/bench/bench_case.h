// SPDX-License-Identifier: BSD-3-Clause
// The cases: one row for each, with its traffic, its node and its limits.
//
// Thread rule: any; constant.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hs_bench_kind {
	HS_BENCH_PACKETS,      // a worker's nanoseconds per packet
	HS_BENCH_RULE_CHANGES, // control's operations per second, as are the others
	HS_BENCH_MONITOR,
	HS_BENCH_JSON,
	HS_BENCH_COLLECT, // a collector's reports per second, as are the next three
	HS_BENCH_COLLECT_GARBAGE,
	HS_BENCH_COLLECT_EVENTS,
	HS_BENCH_COLLECT_IDLE, // at a given rate; the collector sleeps between reports
};

enum hs_bench_forward {
	HS_BENCH_PATCH,
	HS_BENCH_BRIDGE,
	HS_BENCH_ROUTE,
};

enum hs_bench_role {
	HS_BENCH_SOURCE,  // host to network
	HS_BENCH_TRANSIT, // network to network
	HS_BENCH_SINK,	  // network to host
};

enum hs_bench_target {
	HS_BENCH_NULL,
	HS_BENCH_RING,
	HS_BENCH_MEMIF, // from and to dpdk-testpmd in two more processes
};

// Which packets the ports label (INT-label): only the first packet, or each packet.
enum hs_bench_label {
	HS_BENCH_NO_LABEL,
	HS_BENCH_LABEL_IDLE,
	HS_BENCH_LABEL_ALL,
};

// The use of reports on the other core.
enum hs_bench_drain {
	HS_BENCH_NO_DRAIN,
	HS_BENCH_DISCARD,
	HS_BENCH_ASIDE, // the worker's own thread empties the ring; the other core does not
	HS_BENCH_TO_MONITOR,
};

// The frames of a capture file. Two cases of the same traffic share the file and the yardstick.
struct hs_bench_traffic {
	uint16_t frame_bytes; // without telemetry and without FCS, at least 62
	uint16_t frames;      // number in the file, sent repeatedly
	uint16_t flows;
	int8_t hops;	 // number of telemetry entries; -1: no telemetry
	uint32_t routes; // number of prefixes of the destinations; 0: one destination
	bool uneven;	 // most prefixes lie in few blocks, some of them are equal
	bool ipv4;	 // without telemetry
	bool int_md;	 // the telemetry is INT-MD of 2.1, marked by a DSCP; the first hop is the
			 // source
	bool int_mx;	 // the telemetry is INT-MX: only instructions, 1 hop
	bool mixed;	 // frames of four sizes, some without a rule, some with telemetry:
			 // hs_bench_mix. frame_bytes is the mean
	bool probes;	 // in turn, a probe that returns by its arrival port, and its feedback
};

struct hs_bench_case {
	const char *name, *about;
	enum hs_bench_kind kind;
	struct hs_bench_traffic traffic;
	enum hs_bench_role role;
	enum hs_bench_forward forward;
	enum hs_bench_target target;
	enum hs_bench_drain drain;
	enum hs_bench_label label;
	bool probes; // ports take probes
	uint32_t rules;
	uint32_t every; // the interval of packets with telemetry in a rule
	uint32_t masks; // number of masks that the rules have in turn: masks of wildcard ports, or
			// of a watchlist if packets meet the rules
	uint32_t reported;	 // number of flows in reports to a collector
	uint32_t rewritten;	 // number of flows that the source port makes of the frames; 0:
				 // unchanged
	bool drivers;		 // the worker does not poll the node, and sends on what it receives
	bool int_md;		 // rules and ports use INT 2.1, not flexint
	bool matched;		 // true: every packet meets a rule; false: none does
	bool shared_cores;	 // more threads run than there are cores
	bool quick;		 // part of the gate's small set
	bool stamped;		 // the source port renews stamps and counters of the telemetry
	double limit;		 // the ratio that the design asks for; 0: none
	double least_per_second; // control's limit by the design; 0: none
	const char *limit_of;	 // another case that the limit refers to; NULL: the yardstick
};

extern const struct hs_bench_case hs_bench_cases[];
extern const size_t hs_bench_n_cases;

static inline bool hs_bench_case_collects(const struct hs_bench_case *spec)
{
	return spec->kind >= HS_BENCH_COLLECT;
}

// Returns the case of this name, or NULL.
const struct hs_bench_case *hs_bench_case_find(const char *name);
