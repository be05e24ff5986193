// SPDX-License-Identifier: BSD-3-Clause
// The gate's listening sockets. For lib/bus/bus_gate*.c only.
#pragma once

#include "bus_gate_parts.h"

void hs_bus_gate_accept(struct hs_bus_gate *gate, struct listener *listener);
void hs_bus_gate_look_after_listeners(struct hs_bus_gate *gate);
