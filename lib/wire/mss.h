// SPDX-License-Identifier: BSD-3-Clause
// The maximum segment size that a TCP SYN segment announces.
//
// Source: RFC 9293 section 3.2 (options), RFC 1624 (checksum).
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_TCP_BYTES	20 // without options
#define HS_TCP_OFFSET	12 // offset of the header's length
#define HS_TCP_FLAGS	13 // offset of the flags
#define HS_TCP_FLAG_SYN 0x02
#define HS_MSS_LEAST	536 // the default of a host without an MSS option (RFC 9293 section 3.7.1)

// Returns whether a TCP header goes on after its first `len` bytes.
static inline bool hs_tcp_goes_on(const uint8_t *tcp, size_t len)
{
	return len < HS_TCP_BYTES || 4u * (tcp[HS_TCP_OFFSET] >> 4) > len;
}

// Returns whether `len` bytes at `tcp` are a SYN segment whose MSS option is above `limit`, and
// whose whole list of options is well formed.
bool hs_mss_is_above(const uint8_t *tcp, size_t len, uint16_t limit);

// Lowers each MSS option that is above `limit` to `limit`, in a segment for which hs_mss_is_above
// returns true. Corrects the checksum by the change, so that a wrong checksum stays wrong.
void hs_mss_lower(uint8_t *tcp, uint16_t limit);
