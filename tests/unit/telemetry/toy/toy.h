// SPDX-License-Identifier: BSD-3-Clause
// A family of telemetry as small as can be, to prove that one more touches no other: behind the
// IPv6 header each node adds a byte, its id, in front of the others. The last byte of the flow
// label has their number.
//
// Thread rule: owner lcore.
#pragma once

#include "family.h"

extern const struct hs_family toy_steps;
extern const struct hs_telemetry_family toy_format;
