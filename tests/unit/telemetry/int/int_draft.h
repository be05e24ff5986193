// SPDX-License-Identifier: BSD-3-Clause
// Random packets as hosts send them, of every shape that a carrier takes and of some that none
// takes.
#pragma once

#include "int_test.h"

#include "rng.h"

#define INT_DRAFT_MAX 2048

struct int_draft {
	struct hs_rng rng;
	uint8_t bytes[INT_DRAFT_MAX];
	size_t len;
	bool one_flow; // all packets have the same addresses: bytes of 0x11 to bytes of 0x22
};

uint32_t int_draft_below(struct int_draft *d, uint32_t bound);

// A packet for these settings' carrier: nearly always one that it takes.
struct frame int_draft_frame(struct int_draft *d, const struct hs_int_settings *settings);

// An untagged packet of TCP or UDP, IPv4 without options or IPv6 without extension headers.
struct frame int_draft_usual(struct int_draft *d);

struct hs_int_values int_draft_values(struct int_draft *d);
struct hs_int_request int_draft_request(
		struct int_draft *d, const struct hs_int_settings *settings);

// Possible settings of `i`, which goes from 0 up: every version, carrier, mark and mode.
bool int_draft_settings(size_t i, struct hs_int_settings *settings);
