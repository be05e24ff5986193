// SPDX-License-Identifier: BSD-3-Clause
#include "rule_admission.h"

#include "int_ask.h"
#include "int_steps.h"

static unsigned version_of(const struct hs_family *family)
{
	for (unsigned v = 0; v < HS_INT_N_VERSIONS; v++)
		if (family == &hs_int_steps[v])
			return 1u << v;
	return 0;
}

const struct hs_int_settings *hs_profile_int(const struct hs_profile *profile)
{
	return version_of(profile->family) ? profile->settings : NULL;
}

// The versions of INT on the node's ports.
static unsigned versions_of(const struct hs_node_config *node)
{
	unsigned versions = version_of(node->family);

	for (unsigned p = 0; p < HS_MAX_PORTS; p++)
		versions |= version_of(node->profiles[p].family);
	return versions;
}

int hs_rule_admission(
		const struct hs_node_config *node, const struct hs_rule *rule, struct hs_error *err)
{
	unsigned versions = versions_of(node);

	if (rule->method != HS_RULE_INT)
		return 0;
	if (!versions)
		return hs_error_set(err, "no_profile", "method",
				"a network port with a profile of method int",
				"method: no port of this node has a profile of method int");
	return hs_int_ask_check(versions, rule->trace_type, err);
}
