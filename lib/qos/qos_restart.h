// SPDX-License-Identifier: BSD-3-Clause
// Finds restarts of the counts of a node or of the source between two reports (docs/metrics.md,
// rules 10 and 13). Pure arithmetic.
//
// Thread rule: any.
#pragma once

#include "qos_walk.h"

// Judges a walk whose differences are resolved as far as possible. `ambiguous` says that some could
// not be resolved. Returns flags of enum hs_qos_step_flag. *most is the packets at the point that
// counted most.
uint32_t hs_qos_restarts(const struct hs_qos_walk *walk, bool ambiguous, int64_t *most);

// Returns whether the sink's count alone shows that the source counted anew: more packets were
// received than sent.
bool hs_qos_source_restarted(const struct hs_qos_walk *walk);
