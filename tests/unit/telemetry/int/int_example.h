// SPDX-License-Identifier: BSD-3-Clause
// A few packets and what tests of single rules do with them.
#pragma once

#include "int_test.h"

// In hexadecimal, with right checksums. UDP from port 40000 to 443 with four bytes, without
// checksum over IPv4:
extern const char int_example_udp4[];
extern const char int_example_udp6[];
// UDP over IPv4 to port 4790 or 6081, with a tunnel's header and eight bytes:
extern const char int_example_gpe[];
extern const char int_example_geneve[];

extern const struct hs_int_values int_example_values;

struct hs_int_settings int_example_profile(
		enum hs_int_version version, enum hs_int_carrier carrier);

// A packet after a source that asked for `bitmap` and added its values.
struct frame int_example_started(
		const struct hs_int_settings *settings, uint16_t bitmap, const char *plain);

struct hs_int_stack int_example_opened(
		const struct hs_int_settings *settings, const struct frame *frame);
