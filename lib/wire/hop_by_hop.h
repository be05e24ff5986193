// SPDX-License-Identifier: BSD-3-Clause
// A step over the options of IPv6's Hop-by-Hop header. `hbh` is the header's first byte, offsets
// count from there, and `bytes` is the whole header.
//
// Source: RFC 8200 sections 4.2 and 4.3.
// Thread rule: any; pure functions.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HS_HBH_OPTIONS	 2 // offset of the first option
#define HS_HBH_MAX_BYTES 2048
#define HS_OPT_PAD1	 0
#define HS_OPT_PADN	 1

// Returns the bytes of the option at `at` (at < bytes), with its type and length, or 0 if it does
// not fit.
static inline size_t hs_hbh_option_bytes(const uint8_t *hbh, size_t bytes, size_t at)
{
	if (hbh[at] == HS_OPT_PAD1)
		return 1;
	if (bytes - at < 2)
		return 0;
	size_t n = 2u + hbh[at + 1];
	return n <= bytes - at ? n : 0;
}
