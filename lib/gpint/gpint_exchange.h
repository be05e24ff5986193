// SPDX-License-Identifier: BSD-3-Clause
// The exchange phase of a plan. For lib/gpint.
//
// Thread rule: owner.
#pragma once

#include "gpint_walks.h"
#include "rng.h"

// Lets walks exchange end points, segments and single switches, and overlap, until no exchange has
// a gain: the sum of the squares of the lengths falls. Exchanges without a gain are made at random,
// so that a surplus moves over walks of equal length. Returns 0 or -ENOMEM.
int hs_gpint_exchange(struct hs_gpint_walks *walks, struct hs_rng *rng);
