// SPDX-License-Identifier: BSD-3-Clause
// The gate's connections: bytes to and from the sockets behind it, and credit. For
// lib/bus/bus_gate*.c only.
#pragma once

#include "bus_gate_parts.h"

void hs_bus_gate_go_on(struct hs_bus_gate *gate, unsigned place);
void hs_bus_gate_event(struct hs_bus_gate *gate, unsigned place, enum side side, uint32_t events);
// Looks at the connections that wait for credit and have got some. `all` includes the others: the
// pool may have room, or their time may have passed. Closes connections that had to end by now.
void hs_bus_gate_look_at_waiting(struct hs_bus_gate *gate, bool all);
void hs_bus_gate_dismiss(struct hs_bus_gate *gate, unsigned place);
