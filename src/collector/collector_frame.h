// SPDX-License-Identifier: BSD-3-Clause
// Finds the UDP datagram with telemetry reports in an Ethernet frame: IPv4 with or without options,
// IPv6 with or without extension headers, each behind up to two VLAN tags.
//
// Thread rule: any; pure functions.
#pragma once

#include "collect.h"

#include <stddef.h>
#include <stdint.h>

// What a frame turned out to be: HS_COLLECTOR_FRAME(NAME, name, text). The names are those of
// replies and metrics.
enum hs_collector_frame {
#define HS_COLLECTOR_FRAME(NAME, name, text) HS_COLLECTOR_FRAME_##NAME,
#include "collector_counter.def"
	HS_COLLECTOR_FRAMES,
};

// Fills bytes, len, is_ipv4 and address of *datagram where this is HS_COLLECTOR_FRAME_DATAGRAM.
// Checksums are not checked.
enum hs_collector_frame hs_collector_frame_read(const uint8_t *frame, size_t len, uint16_t udp_port,
		struct hs_collect_datagram *datagram);
