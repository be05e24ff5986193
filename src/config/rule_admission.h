// SPDX-License-Identifier: BSD-3-Clause
// Whether a rule, which is right by itself, can work at a node: what the ports' profiles say.
//
// Thread rule: any; pure functions.
#pragma once

#include "error.h"
#include "int_settings.h"
#include "node.h"
#include "rule.h"

// The settings of a profile of method int; NULL: it has none, or another method.
const struct hs_int_settings *hs_profile_int(const struct hs_profile *profile);

// A rule of method int needs a network port with a profile of that method, and for each of its
// instructions a version among those of the ports. Returns 0, or -EINVAL with *err ("no_profile" at
// method, "unsupported" at instructions or instruction_bitmap).
int hs_rule_admission(const struct hs_node_config *node, const struct hs_rule *rule,
		struct hs_error *err);
