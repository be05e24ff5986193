// SPDX-License-Identifier: BSD-3-Clause
// The monitor's state of the clock of its own node.
//
// Thread rule: owner.
#pragma once

#include "qos_config.h"

struct hs_qos;

// Sets the state of this node's clock that windows show which close from now on. If the clock has
// stepped since the last call, open windows get the flag HS_QOS_CLOCK_STEP.
void hs_qos_set_clock(struct hs_qos *qos, const struct hs_qos_clock *clock);
// Notes that the clock of this node steps now. Hands out the open windows of all flows with the
// flag HS_QOS_CLOCK_STEP, and begins a new epoch, with windows of the new time. Runs stay open.
void hs_qos_clock_step(struct hs_qos *qos);
