// SPDX-License-Identifier: BSD-3-Clause
// The table of counters as replies. All return new references.
//
// Thread rule: owner (the control thread).
#pragma once

#include "metric.h"

#include <jansson.h>

struct hs_control;

json_t *hs_control_ports(struct hs_control *control);
json_t *hs_control_drops(struct hs_control *control);
json_t *hs_control_stats(struct hs_control *control);
json_t *hs_control_scope(enum hs_metric_scope scope, const struct hs_metric_view *view);
