// SPDX-License-Identifier: BSD-3-Clause
// A family of telemetry as small as can be, to prove that one more touches no other: behind the
// IPv6 header of packets with DSCP 63 comes a byte with the number of nodes passed, then a byte for
// each, its id, the newest first. The source adds the first byte, each node on the way one more.
//
// Thread rule: owner lcore.
#pragma once

#include "family.h"

extern const struct hs_family toy_steps;
extern const struct hs_telemetry_family toy_format;
