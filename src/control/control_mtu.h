// SPDX-License-Identifier: BSD-3-Clause
// The ports that the telemetry of a rule leaves by, and the MTU that it needs between nodes.
//
// Thread rule: control.
#pragma once

#include "api_reply.h"
#include "node.h"

// Returns the MTU with which a network port has room for every field of a whole path in a packet of
// a host port's MTU. Returns 0 if the port is a host port or the node has no host port.
uint32_t hs_control_mtu_of_port(const struct hs_node *node, uint16_t port);

// Returns whether telemetry of the method leaves the node by this port.
bool hs_control_port_has_method(
		const struct hs_node *node, uint16_t port, enum hs_rule_method method);
// Returns whether the node has network ports and none of them has the method.
bool hs_control_lacks_method(const struct hs_node *node, enum hs_rule_method method);

// Fills *need for a rule, from the ports of its method. `rule` NULL stands for a rule that asks for
// every field. *need owns a list.
void hs_control_mtu_need(const struct hs_node *node, const struct hs_rule *rule,
		struct hs_api_mtu_need *need);
