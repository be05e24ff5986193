// SPDX-License-Identifier: BSD-3-Clause
// What the tests of lib/telemetry/int share: the four operations with every growth checked and
// every buffer of exactly the size it claims, and checksums computed anew.
#pragma once

#include "int.h"
#include "wire_test.h"

void int_parse(const struct hs_int_settings *settings, const struct frame *frame,
		struct hs_packet *packet);

// Each replaces the frame's bytes by the changed ones, or returns the refusal.
int int_source(const struct hs_int_settings *settings, const struct hs_int_request *request,
		struct frame *frame, const struct hs_int_values *own);
int int_transit(const struct hs_int_settings *settings, struct frame *frame,
		const struct hs_int_values *values);
size_t int_strip(const struct hs_int_settings *settings, struct frame *frame);

// Fails where the checksum of IPv4, or that of TCP, UDP or GRE behind IP, is wrong, or a length is
// not that of the frame.
void int_assert_sums(const struct frame *frame);
