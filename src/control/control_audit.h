// SPDX-License-Identifier: BSD-3-Clause
// Checks that every packet on every port and every report adds up.
//
// Thread rule: owner (the control thread).
#pragma once

#include <jansson.h>

struct hs_control;

// Returns a new reference, or NULL if memory is out.
json_t *hs_control_audit(struct hs_control *control);
