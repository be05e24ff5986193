// SPDX-License-Identifier: BSD-3-Clause
// The fast path: the skeleton's roles with constants for the paper's trace type inlined. Packets
// that are anything but usual take the steps of flexint_steps.h.
//
// Thread rule: owner lcore.
#pragma once

#include "flexint_steps.h"

void hs_straight_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
