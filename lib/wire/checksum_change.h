// SPDX-License-Identifier: BSD-3-Clause
// Corrects a checksum after a change of 16-bit words that it covers.
//
// Source: RFC 1624, equation 3.
// Thread rule: any; pure functions.
#pragma once

#include <stdint.h>

// Returns what to add to a sum if some of its words change. The sum of these words was `before`,
// and is `after` now.
static inline uint32_t hs_sum_change(uint16_t before, uint16_t after)
{
	return (uint32_t)after + (uint16_t)~before;
}

// Returns the checksum of a packet whose sum grew by `change`, which is less than 2^31. The result
// is never 0xffff, because no packet's sum is 0.
static inline uint16_t hs_checksum_changed(uint16_t checksum, uint32_t change)
{
	uint32_t sum = (uint32_t)(uint16_t)~checksum + change;

	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t) ~((sum >> 16) + sum);
}
