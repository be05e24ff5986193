// SPDX-License-Identifier: BSD-3-Clause
// The clock of the node itself.
//
// Thread rule: owner.
#pragma once

#include "qos_config.h"

struct hs_qos;

// The clock of this node, for windows that close from now on.
void hs_qos_set_clock(struct hs_qos *qos, const struct hs_qos_clock *clock);
// The clock of this node steps now: what is open of all flows is handed out, marked, and a new
// epoch begins, with windows of the new time.
void hs_qos_clock_step(struct hs_qos *qos);
