// SPDX-License-Identifier: BSD-3-Clause
// The options of a Hop-by-Hop header: walked, searched for telemetry, and packed again without
// telemetry. `hbh` is the header's first byte, offsets count from there, and `bytes` is the whole
// header.
//
// Source: RFC 8200 sections 4.2 and 4.3.
// Thread rule: any; pure functions. For this folder only.
#pragma once

#include "flexint_options.h"
#include "hop_by_hop.h"
#include "packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool hs_hbh_is_padding(uint8_t type)
{
	return type == HS_OPT_PAD1 || type == HS_OPT_PADN;
}

static inline bool hs_hbh_is_telemetry(uint8_t type)
{
	return type == HS_OPT_TRACE || type == HS_OPT_E2E || type == HS_OPT_REQUEST ||
	       type == HS_OPT_REPORT;
}

// Returns the end of the run of padding that starts at `at`, or `at` itself without padding.
static inline size_t hs_hbh_padding_end(const uint8_t *hbh, size_t bytes, size_t at)
{
	while (at < bytes && hs_hbh_is_padding(hbh[at])) {
		size_t n = hs_hbh_option_bytes(hbh, bytes, at);
		if (!n)
			break;
		at += n;
	}
	return at;
}

// Fills n bytes with padding options.
void hs_hbh_pad(uint8_t *at, size_t n);

// Reads the options of a header that lies whole at packet->l3_off + 40 (l3_off and hbh_bytes are
// set), and sets the members of struct hs_packet about telemetry. Returns false if the
// options are broken.
bool hs_hbh_parse(const uint8_t *hbh, struct hs_packet *packet);

// Does the same for headers of one form, which our source writes: 0x31 first or after PadN(2), then
// 0x11, then at most one PadN. Returns false for others, and sets nothing. The caller has checked
// that no second Hop-by-Hop header follows.
bool hs_hbh_parse_own(const uint8_t *hbh, struct hs_packet *packet);

// Returns whether any telemetry option begins in these bytes of a header that may be cut off.
bool hs_hbh_has_telemetry(const uint8_t *hbh, size_t bytes);

// Removes telemetry and padding, and moves every other option to the first place that has its old
// offset modulo 8. Works in place; the header never grows. Returns the new length of the header, or
// 0 if no option is left. The options must be walkable.
size_t hs_hbh_repack(uint8_t *hbh, size_t bytes);

// Does the same for the options of one type and leaves everything before the first of them byte for
// byte. Where our nodes put these options, that is everything that the host sent. If nothing is
// before them and only telemetry behind, that begins at 4 then, as a source writes it. A header
// without such an option does not change.
size_t hs_hbh_take_type(uint8_t *hbh, size_t bytes, uint8_t type);
