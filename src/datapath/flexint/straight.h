// SPDX-License-Identifier: BSD-3-Clause
// The last stages of a burst for runs of packets that all leave by one port, in one pass: what
// telemetry.c does packet by packet, with constants for the paper's trace type and the sums over a
// burst in registers. Packets that are anything but usual go the way of telemetry.c.
//
// Thread rule: owner lcore.
#pragma once

#include "flexint_steps.h"

// Takes the packets [first, end) of a burst to the transmit queue of `out`, which all of them leave
// by. Counters and bytes are those that telemetry.c would leave.
void hs_straight(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);
