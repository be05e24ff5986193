// SPDX-License-Identifier: BSD-3-Clause
// Walks that cross each link once, as INT-path plans them. For lib/gpint.
//
// Source: Pan et al., INT-path: Towards Optimal Path Planning for In-band Network-Wide Telemetry
// (INFOCOM 2019); 002_e7f573228cf2597b.txt section II-B. Hierholzer's algorithm.
// Thread rule: owner.
#pragma once

#include "gpint_walks.h"

// Makes the walks. One begins at every second switch with an odd number of links; without such
// switches there is one walk. A walk that is too large for a probe is divided at a switch, which
// both parts visit. Returns 0 or -ENOMEM.
int hs_gpint_cross_links(struct hs_gpint_walks *walks);
