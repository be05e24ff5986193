// SPDX-License-Identifier: BSD-3-Clause
// The first walks of a plan, and their balance at its end. For lib/gpint.
//
// Thread rule: owner.
#pragma once

#include "gpint_walks.h"
#include "rng.h"

// Makes n_walks walks that visit each switch, or more if probes would be too large. Returns 0 or
// -ENOMEM.
int hs_gpint_form(struct hs_gpint_walks *walks, uint32_t n_walks, struct hs_rng *rng);

// Makes the longest walk at most 1.25 times the mean. Returns 0 or -ENOMEM.
int hs_gpint_balance(struct hs_gpint_walks *walks);
