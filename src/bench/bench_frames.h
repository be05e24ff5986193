// SPDX-License-Identifier: BSD-3-Clause
// The packets of a measurement, written to a capture file: UDP over IPv6 or IPv4, each flow with
// its own addresses and ports, with telemetry as this project's source and transit nodes write it.
//
// Thread rule: any.
#pragma once

#include "bench_case.h"
#include "error.h"
#include "int_settings.h"
#include "probe.h"
#include "rule.h"

#define HS_BENCH_TRACE_TYPE 0x7000E000u
#define HS_BENCH_STATIONS   256 // MAC addresses on each side of a bridge

// Offsets of the flow's own bytes in a frame of IPv6 without telemetry.
#define HS_BENCH_SOURCE_OFFSET 34 // the source address' last four bytes
#define HS_BENCH_PORT_OFFSET   54 // the UDP source port

// Returns what distinguishes flow `index`: the low word of its source address, and its source port.
static inline uint32_t hs_bench_flow_word(uint32_t index)
{
	return 1 + (index >> 12);
}
static inline uint16_t hs_bench_flow_port(uint32_t index)
{
	return (uint16_t)(1024 + (index & 4095));
}

// Returns the rule for flow `index` of this case. It matches the flow's packets or none, as the
// case says.
void hs_bench_rule(const struct hs_bench_case *spec, uint32_t index, struct hs_rule *rule);

// Returns the INT settings of packets and ports. HS_BENCH_INSTRUCTIONS are what rules of INT ask
// for.
const struct hs_int_settings *hs_bench_int(bool mx);
#define HS_BENCH_INSTRUCTIONS                                                                      \
	(HS_RULE_ASKS_node_id | HS_RULE_ASKS_ports | HS_RULE_ASKS_hop_latency |                    \
			HS_RULE_ASKS_queue | HS_RULE_ASKS_ingress_timestamp |                      \
			HS_RULE_ASKS_egress_timestamp)

// Sets prefix `index` of a router's table, a /48, or of IPv4 (as in ip_address.h) a /24. Uneven
// prefixes are /32 and /48, and some of them are equal. Returns its depth.
uint8_t hs_bench_prefix(const struct hs_bench_traffic *traffic, uint32_t index, uint8_t prefix[16]);

// Return the MAC address of a station behind the sending or receiving port, and of a router's port.
void hs_bench_station_mac(bool sender, uint32_t index, uint8_t mac[6]);
extern const uint8_t hs_bench_router_mac[6];

// The format of probes on the wire.
extern const struct hs_probe_settings hs_bench_probe;

// The kind of frame `index` of mixed traffic. Of ten frames, three meet no rule, six meet one, and
// one meets a rule and has telemetry; each has one of four sizes. The order is random and always
// the same.
struct hs_bench_mix {
	bool matched, traced;
	uint16_t frame_bytes;
};
struct hs_bench_mix hs_bench_mix(uint32_t index);

// Writes frame `index` of this traffic to `frame` (room for HS_BENCH_FRAME_BYTES). Returns its
// length.
#define HS_BENCH_FRAME_BYTES 2048
size_t hs_bench_frame(const struct hs_bench_traffic *traffic, uint32_t index, uint8_t *frame);

// Writes a frame of any flow without telemetry. Returns its length.
size_t hs_bench_plain_frame(const struct hs_bench_traffic *traffic, uint32_t flow, uint8_t *frame);

// Writes all frames into a capture file. Returns 0, or a negative errno with *err.
int hs_bench_frames_write(
		const struct hs_bench_traffic *traffic, const char *path, struct hs_error *err);
