// SPDX-License-Identifier: BSD-3-Clause
// The QoS monitor: reports of a flow in, metrics of windows out (docs/metrics.md).
//
// Source: 000_616928c59136b059.txt section III-F and algorithm 1, with the corrections that
// docs/metrics.md numbers.
// Thread rule: owner (the control thread). Time is an input; nothing here reads a clock.
#pragma once

#include "report.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_QOS_WINDOWS 3 // 1 s, 10 s, 60 s
