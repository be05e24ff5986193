// SPDX-License-Identifier: BSD-3-Clause
#include "flow_key.h"

#include "ip_address.h"
#include "rule.h"

#include <netinet/in.h>

void hs_flow_key_of_rule(const struct hs_rule *rule, struct hs_flow_key *key)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->src_ip, rule->src_ip, 16);
	memcpy(key->dst_ip, rule->dst_ip, 16);
	key->src_port = rule->src_port;
	key->dst_port = rule->dst_port;
	key->protocol = rule->protocol;
	key->traits = rule->dscp;
	key->src_host_bits = rule->src_host_bits;
	key->dst_host_bits = rule->dst_host_bits;
	if (!hs_ip_address_is_ipv4(rule->src_ip))
		return;
	key->traits |= HS_FLOW_IPV4;
	if (rule->protocol == IPPROTO_ICMPV6)
		key->protocol = IPPROTO_ICMP;
}
