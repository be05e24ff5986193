// SPDX-License-Identifier: BSD-3-Clause
// The hosts of a scenario: those in its list, and those that its traffic creates at nodes.
#include "scenario_draft.h"

#include "rule_field.h"

#include <netinet/in.h>

static bool is_unicast(const uint8_t address[16])
{
	const struct in6_addr *addr = (const void *)address;
	const uint8_t *ipv4 = address + 12;

	if (hs_ip_address_is_ipv4(address)) // 240.0.0.0/4 are no hosts either
		return ipv4[0] && ipv4[0] != 127 && ipv4[0] < 224 &&
		       !(ipv4[0] == 169 && ipv4[1] == 254);
	return !IN6_IS_ADDR_MULTICAST(addr) && !IN6_IS_ADDR_UNSPECIFIED(addr) &&
	       !IN6_IS_ADDR_LOOPBACK(addr) && !IN6_IS_ADDR_LINKLOCAL(addr);
}

static const char *parse_addr(const char *text, void *at, const char **code)
{
	const char *wrong = hs_rule_address_text.parse(text, at, code);

	return wrong ? wrong : is_unicast(at) ? NULL : "is no address of a host";
}

static const struct hs_schema_text addr_text = {.parse = parse_addr,
		.shape = "{'type': 'string', "
			 "'anyOf': [{'format': 'ipv4'}, {'format': 'ipv6'}]}"};

#define HOST(member) HS_SCHEMA_MEMBER(struct hs_scenario_host, member)
static const struct hs_schema_field host_fields[] = {
		{"name", HS_SCHEMA_TEXT, HOST(name), .required = true, .min = 1, .max = 31},
		{"at", HS_SCHEMA_NAME, HOST(at), .names = &hs_draft_node_names, .required = true},
		{"addr", HS_SCHEMA_PARSED, HOST(addr), .text = &addr_text, .required = true,
				.expected = "a unicast IP address, not link-local"},
		{NULL},
};

int hs_draft_add_host(struct hs_draft *draft, const struct hs_scenario_host *host)
{
	// Traffic with this name would go to the host, not to the node.
	uint32_t node = hs_draft_find_name(draft, HS_NAME_NODE, host->name);
	if (node != HS_NO_INDEX && node != host->at)
		return hs_draft_refuse(draft, "name", "duplicate", "a name of its own",
				"a node is called \"%s\", and the host is not there", host->name);
	draft->scenario.nodes[host->at].n_hosts++;
	return hs_draft_add_name(draft, HS_NAME_HOST, host->name, draft->scenario.n_hosts)
			       ?: HS_DRAFT_APPEND(draft, hosts, host);
}

static int take_host(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	return hs_draft_add_host(hs_draft_begin(into, item, err), item->read);
}

const struct hs_schema_list hs_draft_host_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = host_fields},
		.item_bytes = sizeof(struct hs_scenario_host),
		.take = take_host};
