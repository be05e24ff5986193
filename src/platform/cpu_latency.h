// SPDX-License-Identifier: BSD-3-Clause
// How long an idle core of this machine may take to wake up. The kernel keeps cores out of idle
// states that take longer, as long as a process holds its demand open (/dev/cpu_dma_latency).
//
// Source: Linux, Documentation/power/pm_qos_interface.rst.
// Thread rule: any.
#pragma once

#include "error.h"

#include <stdint.h>

#define HS_CPU_LATENCY_ANY_US 2000000000u // the kernel's own default: every idle state is allowed

// Demands that cores wake up within us microseconds; 0: idle cores poll. Returns the descriptor
// that holds the demand until it is closed, or a negative errno with *err.
int hs_cpu_latency_demand(uint32_t us, struct hs_error *err);
