// SPDX-License-Identifier: BSD-3-Clause
// Checks whether a rule, which is right by itself, can work with the profiles of a node's ports.
//
// Thread rule: any; pure functions.
#pragma once

#include "error.h"
#include "int_settings.h"
#include "label_profile.h"
#include "node_config.h"
#include "probe_profile.h"
#include "rule.h"

// Returns the settings of a profile of method int, or NULL if there are none or the method is
// another.
const struct hs_int_settings *hs_profile_int(const struct hs_profile *profile);

// Does the same for method label.
const struct hs_label_profile *hs_profile_label(const struct hs_profile *profile);
// Does the same for method probe, whose packets belong to no rule.
const struct hs_probe_profile *hs_profile_probe(const struct hs_profile *profile);
// Returns the method of the profile's rules; flexint if the port has no profile or one of method
// probe.
enum hs_rule_method hs_profile_method(const struct hs_profile *profile);

// A rule of method int needs a network port with a profile of that method, and for each of its
// instructions a version among those of the ports. A rule of method label needs such a port, too,
// and max_hops of at most 127. Returns 0, or -EINVAL with *err ("no_profile" or "unsupported" at
// method, "unsupported" at instructions or instruction_bitmap).
int hs_rule_admission(const struct hs_node_config *node, const struct hs_rule *rule,
		struct hs_error *err);
