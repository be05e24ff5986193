// SPDX-License-Identifier: BSD-3-Clause
// The counters of a node as control knows them.
//
// Thread rule: owner (the control thread).
#pragma once

#include "metric.h"

struct hs_control;

void hs_control_totals(const struct hs_control *control, struct hs_node_totals *totals);
