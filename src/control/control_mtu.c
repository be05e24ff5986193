// SPDX-License-Identifier: BSD-3-Clause
#include "control_mtu.h"

#include "family.h"
#include "rule_admission.h"

static uint32_t mtu_of(const struct hs_port *port)
{
	return __atomic_load_n(&port->mtu, __ATOMIC_RELAXED);
}

static uint32_t greatest_host_mtu(const struct hs_node *node)
{
	uint32_t greatest = 0;

	for (uint16_t p = 0; p < hs_node_port_count(node); p++) {
		const struct hs_port *port = hs_node_port(node, p);
		if (port->side == HS_SIDE_HOST && mtu_of(port) > greatest)
			greatest = mtu_of(port);
	}
	return greatest;
}

bool hs_control_port_has_method(
		const struct hs_node *node, uint16_t port, enum hs_rule_method method)
{
	const struct hs_profile *profile = &hs_node_config(node)->profiles[port];

	// A network port without a profile has method flexint.
	return hs_node_port(node, port)->side == HS_SIDE_NETWORK && !hs_profile_probe(profile) &&
	       method == hs_profile_method(profile);
}

bool hs_control_lacks_method(const struct hs_node *node, enum hs_rule_method method)
{
	bool network = false;

	for (uint16_t p = 0; p < hs_node_port_count(node); p++) {
		if (hs_control_port_has_method(node, p, method))
			return false;
		network |= hs_node_port(node, p)->side == HS_SIDE_NETWORK;
	}
	return network;
}

static uint32_t mtu_needed(const struct hs_node *node, uint16_t port, const struct hs_rule *rule,
		uint32_t host_mtu)
{
	const struct hs_profile *profile = hs_node_profile(node, port);

	if (!host_mtu || hs_node_port(node, port)->side == HS_SIDE_HOST)
		return 0;
	return host_mtu +
	       (rule ? hs_profile_path_bytes(profile, rule->trace_type) : profile->path_bytes);
}

uint32_t hs_control_mtu_of_port(const struct hs_node *node, uint16_t port)
{
	return mtu_needed(node, port, NULL, greatest_host_mtu(node));
}

void hs_control_mtu_need(const struct hs_node *node, const struct hs_rule *rule,
		struct hs_api_mtu_need *need)
{
	uint32_t host_mtu = greatest_host_mtu(node);

	*need = (struct hs_api_mtu_need){0};
	for (uint16_t p = 0; p < hs_node_port_count(node); p++) {
		const struct hs_port *port = hs_node_port(node, p);
		if (rule && !hs_control_port_has_method(node, p, rule->method))
			continue;
		uint32_t needed = mtu_needed(node, p, rule, host_mtu);
		if (needed > need->mtu_needed_bytes)
			need->mtu_needed_bytes = needed;
		if (needed <= mtu_of(port))
			continue;
		if (!need->ports_below_mtu)
			need->ports_below_mtu = json_array();
		json_array_append_new(need->ports_below_mtu, json_string(port->config.name));
	}
}
