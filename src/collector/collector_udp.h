// SPDX-License-Identifier: BSD-3-Clause
// A UDP socket that receives telemetry reports, many at a time.
//
// Thread rule: open and close by control; receive by the collecting thread; lost by control.
#pragma once

#include "collector_config.h"

#define HS_COLLECTOR_BATCH 64 // datagrams of one call

struct hs_collector_udp;

// Opens a socket. Returns 0, or a negative errno with *err (path "udp"). *got_kib is the size of
// the buffer that the kernel gave, which is less than requested if net.core.rmem_max is smaller.
int hs_collector_udp_open(const struct hs_collector_listen *listen, uint8_t listener,
		struct hs_collector_udp **udp, uint32_t *got_kib, struct hs_error *err);
void hs_collector_udp_close(struct hs_collector_udp *udp); // accepts NULL
int hs_collector_udp_fd(const struct hs_collector_udp *udp);
// Returns how many datagrams of so many bytes the buffer holds. Each takes memory of a power of
// two, and its head. A datagram from a network card's driver may take twice as much.
uint32_t hs_collector_udp_room(const struct hs_collector_udp *udp, uint32_t len);

// Fills up to HS_COLLECTOR_BATCH datagrams, which stay until the next call, and never waits.
// Returns how many, or a negative errno. *cut counts datagrams whose end did not fit.
int hs_collector_udp_receive(struct hs_collector_udp *udp,
		struct hs_collect_datagram datagrams[HS_COLLECTOR_BATCH], unsigned *cut);

// Returns how many datagrams the kernel dropped for this socket since it was opened, above all
// because its buffer was full. The count is right if fewer than 2^31 datagrams are dropped between
// two calls.
uint64_t hs_collector_udp_lost(struct hs_collector_udp *udp);
