// SPDX-License-Identifier: BSD-3-Clause
// The packets of a measurement: IPv6 UDP, each flow with addresses and ports of its own, with
// telemetry as our own source and transit write it; into a capture file.
//
// Thread rule: any.
#pragma once

#include "bench_case.h"
#include "error.h"
#include "rule.h"

#define HS_BENCH_TRACE_TYPE 0x7000E000u
#define HS_BENCH_STATIONS   256 // MAC addresses on each side of a bridge

// Where a flow's own bytes lie in a frame without telemetry.
#define HS_BENCH_SOURCE_OFFSET 34 // the source address' last four bytes
#define HS_BENCH_PORT_OFFSET   54 // the UDP source port

// What tells flow `index` from others: the low word of its source address, and its source port.
static inline uint32_t hs_bench_flow_word(uint32_t index)
{
	return 1 + (index >> 12);
}
static inline uint16_t hs_bench_flow_port(uint32_t index)
{
	return (uint16_t)(1024 + (index & 4095));
}

// The rule for flow `index` of this case: meets its packets, or none, as the case says.
void hs_bench_rule(const struct hs_bench_case *spec, uint32_t index, struct hs_rule *rule);

// Prefix `index` of a router's table, /48.
void hs_bench_prefix(uint32_t index, uint8_t prefix[16]);

// The MAC address of a station behind the sending or the receiving port, and of a router's port.
void hs_bench_station_mac(bool sender, uint32_t index, uint8_t mac[6]);
extern const uint8_t hs_bench_router_mac[6];

// Writes frame `index` of this traffic to `frame` (room for HS_BENCH_FRAME_BYTES); returns its
// length.
#define HS_BENCH_FRAME_BYTES 2048
size_t hs_bench_frame(const struct hs_bench_traffic *traffic, uint32_t index, uint8_t *frame);

// Writes all of them into a capture file. 0 or negative errno with *err.
int hs_bench_frames_write(
		const struct hs_bench_traffic *traffic, const char *path, struct hs_error *err);
