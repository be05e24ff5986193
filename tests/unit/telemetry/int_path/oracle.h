// SPDX-License-Identifier: BSD-3-Clause
// What the tests of nodes believe of a frame, read byte by byte with nothing of the code under
// test: where its headers are, whether its checksums are right, whether it claims INT.
#pragma once

#include "int_settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle_l4 {
	size_t ip, at, end; // where IP begins, the L4 header begins and the IP packet ends
	uint8_t proto;
	bool ipv4, fragment;
};

// False where the headers are not whole, and of a later fragment.
bool oracle_find(const uint8_t *frame, size_t len, struct oracle_l4 *l4);

// Sums that a receiver makes: all ones where they are right, -1 where there is none. Of UDP and TCP
// in packets that are no fragments and whose lengths agree.
struct oracle_sums {
	int ip, l4;
};
struct oracle_sums oracle_sum(const uint8_t *frame, size_t len);

// Whether a node with these settings, of mode MD, would read the frame as one with INT.
bool oracle_claims(const struct hs_int_settings *settings, const uint8_t *frame, size_t len);
