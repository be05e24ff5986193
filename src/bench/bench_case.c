// SPDX-License-Identifier: BSD-3-Clause
#include "bench_case.h"

#include <string.h>

#define NEVER	4000000000u
#define MILLION 1000000u

// Traffic with so many bytes and flows, without telemetry or with telemetry of so many hops.
#define PLAIN(bytes, n)                                                                            \
	{                                                                                          \
		.frame_bytes = (bytes), .frames = 4096, .flows = (n), .hops = -1                   \
	}
#define TRACED(bytes, n_hops)                                                                      \
	{                                                                                          \
		.frame_bytes = (bytes), .frames = 4096, .flows = 4096, .hops = (n_hops)            \
	}
#define ROUTED(bytes, n_hops, prefix)                                                              \
	{                                                                                          \
		(bytes), 1024, 1024, (n_hops), (prefix)                                            \
	}

#define DRIVERS(suffix, bytes)                                                                     \
	{                                                                                          \
		.name = "drivers" suffix,                                                          \
		.about = "the ports' drivers and the pool of packets, without a node",             \
		.traffic = PLAIN(bytes, 4096), .drivers = true                                     \
	}
#define NO_RULES(suffix, bytes, ...)                                                               \
	{                                                                                          \
		.name = "no_rules" suffix, .about = "no rule installed",                           \
		.traffic = PLAIN(bytes, 4096), __VA_ARGS__                                         \
	}
#define UNMATCHED(suffix, bytes, ...)                                                              \
	{                                                                                          \
		.name = "unmatched" suffix, .about = "4,096 rules, no packet meets one",           \
		.traffic = PLAIN(bytes, 4096), .rules = 4096, .every = 1, __VA_ARGS__              \
	}
#define MATCHED(suffix, bytes, n_flows, n, text, ...)                                              \
	{                                                                                          \
		.name = "matched_" suffix, .about = text, .traffic = PLAIN(bytes, n_flows),        \
		.rules = (n), .every = NEVER, .matched = true, __VA_ARGS__                         \
	}
#define SAMPLED(suffix, bytes, n, ...)                                                             \
	{                                                                                          \
		.name = "sampled_" suffix, .about = "4,096 rules, telemetry on 1 packet in " #n,   \
		.traffic = PLAIN(bytes, 4096), .rules = 4096, .every = (n), .matched = true,       \
		__VA_ARGS__                                                                        \
	}
#define TRANSIT(suffix, bytes, n, ...)                                                             \
	{                                                                                          \
		.name = "transit_" suffix,                                                         \
		.about = "telemetry on every packet, " #n " hops before",                          \
		.traffic = TRACED(bytes, n), .role = HS_BENCH_TRANSIT, .rules = 4096,              \
		.every = NEVER, .matched = true, __VA_ARGS__                                       \
	}
#define SINK(suffix, bytes, where, text, ...)                                                      \
	{                                                                                          \
		.name = "sink_" suffix, .about = "telemetry of 2 hops on every packet, " text,     \
		.traffic = TRACED(bytes, 2), .role = HS_BENCH_SINK, .rules = 4096, .every = NEVER, \
		.matched = true, .drain = (where), __VA_ARGS__                                     \
	}
#define ROUTE(suffix, bytes, text, prefix, n_hops, ...)                                            \
	{                                                                                          \
		.name = "route" suffix, .about = text, .traffic = ROUTED(bytes, n_hops, prefix),   \
		.forward = HS_BENCH_ROUTE, __VA_ARGS__                                             \
	}
#define CONTROL(text, which, at_least, what)                                                       \
	{                                                                                          \
		.name = (text), .about = (what), .kind = (which), .traffic = TRACED(128, 4),       \
		.role = HS_BENCH_SINK, .rules = 4096, .every = NEVER, .matched = true,             \
		.stamped = true, .least_per_second = (at_least)                                    \
	}
// The traffic is used by the yardstick only.
#define COLLECT(suffix, which, n, at_least, what, ...)                                             \
	{                                                                                          \
		.name = "collect_" suffix, .about = what, .kind = (which),                         \
		.traffic = PLAIN(128, 4096), .reported = (n), .least_per_second = (at_least),      \
		__VA_ARGS__                                                                        \
	}
#define INT_MD(word, text, which, n_hops, ...)                                                     \
	{                                                                                          \
		.name = "int_" word,                                                               \
		.about = "INT 2.1 of six instructions on every packet, " text,                     \
		.traffic = {128, 4096, 4096, (n_hops), .int_md = (n_hops) >= 0}, .role = (which),  \
		.int_md = true, .rules = 4096, .every = 1, .matched = true, __VA_ARGS__            \
	}
#define FLOWS_1024(setting) .rules = 1024, .every = (setting), .matched = true
#define ROUTE_UNEVEN(suffix, bytes)                                                                \
	{                                                                                          \
		.name = "route_uneven" suffix,                                                     \
		.about = "some 100,000 prefixes, most of them in few /32",                         \
		.traffic = {(bytes), 1024, 1024, -1, 171000, .uneven = true},                      \
		.forward = HS_BENCH_ROUTE                                                          \
	}
#define ROUTE_SOURCE(suffix, bytes, ...)                                                           \
	ROUTE("_source" suffix, bytes, "telemetry put into every packet", 1024, -1, FLOWS_1024(1), \
			__VA_ARGS__)
#define ROUTE_TRANSIT(suffix, bytes, ...)                                                          \
	ROUTE("_transit" suffix, bytes, "telemetry on every packet, an entry added", 1024, 0,      \
			FLOWS_1024(NEVER), .role = HS_BENCH_TRANSIT, __VA_ARGS__)
#define ROUTE_SINK(suffix, bytes, where, text, ...)                                                \
	ROUTE("_" suffix, bytes, "telemetry taken out of every packet, reports " text, 1024, 0,    \
			FLOWS_1024(NEVER), .role = HS_BENCH_SINK, .drain = (where), __VA_ARGS__)

const struct hs_bench_case hs_bench_cases[] = {
		DRIVERS("", 128),
		NO_RULES("", 128, .limit = 1.25, .quick = true),
		UNMATCHED("", 128, .limit = 1.45, .quick = true),
		{.name = "unmatched_4masks",
				.about = "4,096 rules of four wildcard masks, no packet meets one",
				.traffic = PLAIN(128, 4096),
				.rules = 4096,
				.every = 1,
				.masks = 4},
		MATCHED("1", 128, 1, 1, "1 rule, no sampling"),
		MATCHED("64", 128, 64, 64, "64 rules, no sampling"),
		MATCHED("4096", 128, 4096, 4096, "4,096 rules, no sampling", .limit = 1.25,
				.quick = true),
		{.name = "label_idle",
				.about = "INT-label, no packet is due",
				.traffic = PLAIN(128, 4096),
				.label = HS_BENCH_LABEL_IDLE,
				.limit = 1.05,
				.limit_of = "no_rules"},
		{.name = "probe_idle",
				.about = "ports take probes, no packet is one",
				.traffic = PLAIN(128, 4096),
				.probes = true,
				.limit = 1.02,
				.limit_of = "no_rules"},
		{.name = "probe_transit",
				.about = "source-routed probes with 8 hops of 4 values and the "
					 "feedback of each, in turn",
				.traffic = {128, 4096, 4096, 8, .probes = true},
				.role = HS_BENCH_TRANSIT,
				.probes = true,
				.limit = 5},
		{.name = "label_all",
				.about = "INT-label, each packet is labelled, IPv4",
				.traffic = {128, 4096, 4096, -1, .ipv4 = true},
				.label = HS_BENCH_LABEL_ALL,
				.limit = 2.0,
				.quick = true},
		{.name = "matched_4096_ipv4",
				.about = "4,096 rules, no sampling, IPv4",
				.traffic = {128, 4096, 4096, -1, .ipv4 = true},
				.rules = 4096,
				.every = NEVER,
				.matched = true,
				.limit = 1.8,
				.quick = true},
		{.name = "matched_16masks",
				.about = "4,096 rules of 16 masks, no sampling, INT",
				.traffic = PLAIN(128, 4096),
				.int_md = true,
				.rules = 4096,
				.every = NEVER,
				.masks = 16,
				.matched = true,
				.limit = 4,
				.quick = true},
		MATCHED("65536", 128, 4096, 65536, "65,536 rules, each in turn",
				.rewritten = 65536),
		MATCHED("65536_hot", 128, 4096, 65536, "65,536 rules, traffic on 4,096"),
		MATCHED("1000000", 128, 4096, MILLION, "1,000,000 rules, each in turn",
				.rewritten = MILLION, .limit = 2.2),
		MATCHED("1000000_hot", 128, 4096, MILLION, "1,000,000 rules, traffic on 4,096"),
		NO_RULES("_rewritten", 128, .rewritten = MILLION),
		SAMPLED("10000", 128, 10000),
		SAMPLED("1000", 128, 1000),
		SAMPLED("100", 128, 100, .limit = 1.02, .limit_of = "matched_4096", .quick = true),
		SAMPLED("10", 128, 10),
		SAMPLED("1", 128, 1, .limit = 1.7, .quick = true),
		TRANSIT("0", 128, 0),
		TRANSIT("2", 128, 2, .limit = 1.4, .quick = true),
		TRANSIT("4", 128, 4),
		SINK("ring", 128, HS_BENCH_DISCARD, "reports into the ring", .limit = 1.8,
				.quick = true),
		SINK("ring_empty", 128, HS_BENCH_ASIDE, "reports into a ring that is never full",
				.limit = 3.0),
		SINK("monitor", 128, HS_BENCH_TO_MONITOR, "reports on to the monitor", .limit = 2.2,
				.stamped = true),
		{.name = "bridge",
				.about = "MAC learning, 256 stations on each side",
				.traffic = PLAIN(128, 4096),
				.forward = HS_BENCH_BRIDGE},
		ROUTE("", 64, "1,024 prefixes, 1,024 flows", 1024, -1, .limit = 1.64,
				.quick = true),
		{.name = "route_ipv4",
				.about = "1,024 prefixes of IPv4, 1,024 flows",
				.traffic = {64, 1024, 1024, -1, 1024, .ipv4 = true},
				.forward = HS_BENCH_ROUTE,
				.limit = 1.64,
				.quick = true},
		ROUTE("_10", 64, "10 prefixes", 10, -1),
		ROUTE("_100000", 64, "100,000 prefixes", 100000, -1, .limit = 1.64),
		ROUTE_UNEVEN("", 64),
		ROUTE_SOURCE("", 64, .limit = 3.0),
		ROUTE_TRANSIT("", 64, .limit = 1.7),
		ROUTE_SINK("sink", 64, HS_BENCH_DISCARD, "into the ring", .limit = 3.1),
		ROUTE_SINK("monitor", 64, HS_BENCH_TO_MONITOR, "on to the monitor",
				.stamped = true),
		ROUTE("_128", 128, "1,024 prefixes, 1,024 flows", 1024, -1),
		ROUTE_UNEVEN("_128", 128),
		ROUTE_SOURCE("_128", 128),
		ROUTE_TRANSIT("_128", 128),
		ROUTE_SINK("sink_128", 128, HS_BENCH_DISCARD, "into the ring"),
		ROUTE_SINK("monitor_128", 128, HS_BENCH_TO_MONITOR, "on to the monitor",
				.stamped = true),
		{.name = "int_mx",
				.about = "INT-MX 2.1 of six instructions on every packet, a report "
					 "2.0 sent for each",
				.traffic = {128, 4096, 4096, 1, .int_md = true, .int_mx = true},
				.role = HS_BENCH_TRANSIT,
				.int_md = true,
				.rules = 4096,
				.every = NEVER,
				.matched = true,
				.limit = 3.0,
				.quick = true},
		INT_MD("source", "put in", HS_BENCH_SOURCE, -1, .limit = 2.6, .quick = true),
		INT_MD("transit", "2 hops before", HS_BENCH_TRANSIT, 2, .limit = 2.3,
				.quick = true),
		INT_MD("sink", "of 3 hops, reports into the ring", HS_BENCH_SINK, 3, .limit = 3.1,
				.drain = HS_BENCH_DISCARD, .quick = true),
		DRIVERS("_64", 64),
		NO_RULES("_64", 64),
		UNMATCHED("_64", 64),
		MATCHED("4096_64", 64, 4096, 4096, "4,096 rules, no sampling"),
		SAMPLED("1_64", 64, 1),
		TRANSIT("2_64", 64, 2),
		SINK("ring_64", 64, HS_BENCH_DISCARD, "reports into the ring"),
		MATCHED("4096_512", 512, 4096, 4096, "4,096 rules, no sampling"),
		SAMPLED("1_512", 512, 1),
		TRANSIT("2_512", 512, 2),
		SINK("ring_512", 512, HS_BENCH_DISCARD, "reports into the ring"),
		DRIVERS("_1500", 1500),
		NO_RULES("_1500", 1500),
		MATCHED("4096_1500", 1500, 4096, 4096, "4,096 rules, no sampling"),
		SAMPLED("1_1500", 1500, 1),
		TRANSIT("2_1500", 1500, 2),
		SINK("ring_1500", 1500, HS_BENCH_DISCARD, "reports into the ring"),
		{.name = "mixed",
				.about = "routed: 3 packets in 10 meet no rule, 6 meet one, 1 has "
					 "telemetry of 2 hops; 64, 128, 512 or 1500 bytes",
				.traffic = {.frame_bytes = 551,
						.frames = 4096,
						.flows = 4096,
						.hops = 2,
						.routes = 1024,
						.mixed = true},
				.role = HS_BENCH_TRANSIT,
				.forward = HS_BENCH_ROUTE,
				.rules = 4096,
				.every = NEVER,
				.matched = true},
		NO_RULES("_ring", 128, .target = HS_BENCH_RING),
		MATCHED("4096_ring", 128, 4096, 4096, "4,096 rules, no sampling, to net_ring",
				.target = HS_BENCH_RING),
		SAMPLED("1_ring", 128, 1, .target = HS_BENCH_RING),
		{.name = "memif_no_rules",
				.about = "no rule; memif from and to other processes",
				.traffic = PLAIN(128, 4096),
				.target = HS_BENCH_MEMIF,
				.shared_cores = true},
		{.name = "memif_matched_4096",
				.about = "4,096 rules; memif from and to other processes",
				.traffic = PLAIN(128, 4096),
				.target = HS_BENCH_MEMIF,
				.rules = 4096,
				.every = NEVER,
				.matched = true,
				.shared_cores = true},
		{.name = "rule_change_1000000",
				.about = "rules removed and installed at 1,000,000",
				.kind = HS_BENCH_RULE_CHANGES,
				.rules = MILLION},
		CONTROL("monitor_reports", HS_BENCH_MONITOR, 4e6,
				"reports of 4 hops, 4,096 flows, from the ring into windows"),
		CONTROL("json_reports", HS_BENCH_JSON, 250e3,
				"the same, and each published as JSON to a subscriber"),
		COLLECT("1", HS_BENCH_COLLECT, 1, 20e6,
				"reports 1.0 of 6 hops with all values of INT 1.0, 1 flow",
				.quick = true),
		COLLECT("100", HS_BENCH_COLLECT, 100, 10e6, "the same, 100 flows", .quick = true),
		COLLECT("1000000", HS_BENCH_COLLECT, MILLION, 5e6, "the same, 1,000,000 flows",
				.quick = true),
		COLLECT("garbage", HS_BENCH_COLLECT_GARBAGE, 100, 0,
				"reports that cannot be read, the most expensive kind of them",
				.limit = 1, .limit_of = "collect_100", .quick = true),
		COLLECT("events", HS_BENCH_COLLECT_EVENTS, 2000, 0,
				"reports of 6 node ids, 2,000 flows, 1 in 1,200 changes a path"),
		COLLECT("idle_1200000", HS_BENCH_COLLECT_IDLE, 100, 1.2e6 / 0.0775,
				"collect_100 at 1,200,000 reports a second, asleep between; per "
				"second of its processor time"),
		COLLECT("idle_1", HS_BENCH_COLLECT_IDLE, 1, 1.2e6 / 0.0775, "one flow"),
		COLLECT("idle_events", HS_BENCH_COLLECT_IDLE, 2000, 0,
				"collect_events at this rate"),
};
const size_t hs_bench_n_cases = sizeof(hs_bench_cases) / sizeof(hs_bench_cases[0]);

const struct hs_bench_case *hs_bench_case_find(const char *name)
{
	for (size_t i = 0; i < hs_bench_n_cases; i++)
		if (strcmp(hs_bench_cases[i].name, name) == 0)
			return &hs_bench_cases[i];
	return NULL;
}
