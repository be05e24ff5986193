// SPDX-License-Identifier: BSD-3-Clause
// Whether a node, or the source, counted anew between two reports (docs/metrics.md, rules 10 and
// 13). Pure arithmetic.
//
// Thread rule: any.
#pragma once

#include "qos_walk.h"

// Of a walk whose differences are resolved as far as they can be; `ambiguous`: they could not all.
// Returns flags of enum hs_qos_step_flag; *most: packets at the point that counted most of them.
uint32_t hs_qos_restarts(const struct hs_qos_walk *walk, bool ambiguous, int64_t *most);

// The sink alone tells that the source counted anew too: more was received than sent since.
bool hs_qos_source_restarted(const struct hs_qos_walk *walk);
