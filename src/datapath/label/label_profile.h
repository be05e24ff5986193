// SPDX-License-Identifier: BSD-3-Clause
// hs_profile.settings of the family label.
//
// Thread rule: constant while workers run.
#pragma once

#include "label_decision.h"

struct hs_label_profile {
	struct hs_label_settings wire; // the same at all nodes of the network
	struct hs_label_rule rule;     // of the port; rule.max_hops is wire.max_hops
};
