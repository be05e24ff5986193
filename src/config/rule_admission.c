// SPDX-License-Identifier: BSD-3-Clause
#include "rule_admission.h"

#include "int_ask.h"
#include "int_steps.h"
#include "ip_address.h"
#include "label_steps.h"
#include "probe_steps.h"

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

const struct hs_label_profile *hs_profile_label(const struct hs_profile *profile)
{
	return profile->family == &hs_label_steps ? profile->settings : NULL;
}

const struct hs_probe_profile *hs_profile_probe(const struct hs_profile *profile)
{
	return profile->family == &hs_probe_steps ? profile->settings : NULL;
}

enum hs_rule_method hs_profile_method(const struct hs_profile *profile)
{
	if (hs_profile_label(profile))
		return HS_RULE_LABEL;
	return hs_profile_int(profile) ? HS_RULE_INT : HS_RULE_FLEXINT;
}

// Returns the set of versions of INT on the node's ports.
static unsigned versions_of(const struct hs_node_config *node)
{
	unsigned versions = version_of(node->family);

	for (unsigned p = 0; p < HS_MAX_PORTS; p++)
		versions |= version_of(node->profiles[p].family);
	return versions;
}

// Checks a rule of method label. INT_num begins at max_hops in a packet of a specific flow, so that
// max_hops has a limit.
static int admit_label(const struct hs_node_config *node, struct hs_error *err)
{
	const struct hs_label_profile *label = NULL;

	for (unsigned p = 0; !label && p < HS_MAX_PORTS; p++)
		label = hs_profile_label(&node->profiles[p]);
	if (!label)
		return hs_error_set(err, "no_profile", "method",
				"a network port with a profile of method label",
				"method: no port of this node has a profile of method label");
	if (label->wire.max_hops <= HS_LABEL_SPECIFIC_HOPS)
		return 0;
	return hs_error_set(err, "unsupported", "method", "max_hops of at most 127",
			"method: with max_hops %u, packets of a specific flow could not be told "
			"from others",
			label->wire.max_hops);
}

int hs_rule_admission(
		const struct hs_node_config *node, const struct hs_rule *rule, struct hs_error *err)
{
	unsigned versions = versions_of(node);

	if (rule->method == HS_RULE_LABEL)
		return admit_label(node, err);
	if (rule->method != HS_RULE_INT)
		return 0;
	if (!versions)
		return hs_error_set(err, "no_profile", "method",
				"a network port with a profile of method int",
				"method: no port of this node has a profile of method int%s",
				hs_ip_address_is_ipv4(rule->dst_ip) ? ", which IPv4 addresses need"
								    : "");
	return hs_int_ask_check(versions, rule->trace_type, err);
}
