// SPDX-License-Identifier: BSD-3-Clause
// The step between two reports of a flow, from the differences of their counters: packets lost on
// each link and in each node, totals, bytes, time. Pure arithmetic.
//
// Source: docs/metrics.md, rules 8, 10, 11 and 13.
// Thread rule: any.
#pragma once

#include "qos_delta.h"

// Computes the step from report a to report b, which is newer in source order and of the same
// epoch.
void hs_qos_step(const struct hs_report *a, const struct hs_report *b,
		const struct hs_qos_chain *chain, const struct hs_qos_limits *limits,
		struct hs_qos_step *step);
