// SPDX-License-Identifier: BSD-3-Clause
// The hosts of a scenario: those in its list, and those that its traffic creates at nodes.
#include "scenario_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define MAX_HOSTS 40000 // 1,200 nodes with 32 ports each

struct entry {
	const struct hs_scenario_draft *draft;
	struct hs_scenario_host host;
};

static bool is_unicast(const struct in6_addr *addr)
{
	return !IN6_IS_ADDR_MULTICAST(addr) && !IN6_IS_ADDR_UNSPECIFIED(addr) &&
	       !IN6_IS_ADDR_LOOPBACK(addr) && !IN6_IS_ADDR_LINKLOCAL(addr) &&
	       !IN6_IS_ADDR_V4MAPPED(addr);
}

static int read_addr(json_t *value, const char *path, void *at, struct hs_error *err)
{
	static const char expected[] = "a unicast IPv6 address, not link-local";
	struct in6_addr addr;
	struct in_addr older;

	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, expected, err);
	const char *text = json_string_value(value);
	if (inet_pton(AF_INET, text, &older) == 1)
		return hs_error_set(err, "wrong_family", path, expected,
				"\"%.64s\" is an IPv4 address", text);
	if (inet_pton(AF_INET6, text, &addr) != 1 || !is_unicast(&addr))
		return hs_error_set(err, "bad_value", path, expected,
				"\"%.64s\" is no address of a host", text);
	memcpy(at, &addr, sizeof(addr));
	return 0;
}

#define ENTRY(member) HS_SCHEMA_MEMBER(struct entry, member)
static const struct hs_schema_field host_fields[] = {
		{"name", HS_SCHEMA_TEXT, ENTRY(host.name), .required = true, .min = 1, .max = 31,
				.expected = "a string of 1 to 31 bytes"},
		{"at", HS_SCHEMA_NAME, ENTRY(host.at), .names = &hs_scenario_node_names,
				.required = true, .expected = "the name of a node"},
		{"addr", HS_SCHEMA_CUSTOM, ENTRY(host.addr), .read = read_addr, .required = true,
				.shape = "{'type': 'string', 'format': 'ipv6'}",
				.expected = "a unicast IPv6 address, not link-local"},
		{NULL},
};

const struct hs_schema_list hs_scenario_host_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = host_fields}};

int hs_scenario_add_host(struct hs_scenario_draft *draft, const struct hs_scenario_host *host,
		const char *path, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;

	// Traffic with this name would go to the host, not to the node.
	uint32_t node = hs_scenario_names_find(&draft->node_names, host->name);
	if (node != HS_NO_INDEX && node != host->at)
		return hs_error_set(err, "duplicate", AT(path, "name"), "a name of its own",
				"a node is called \"%s\", and the host is not there", host->name);
	int rc = hs_scenario_names_add(
			&draft->host_names, host->name, scenario->n_hosts, AT(path, "name"), err);
	if (rc == 0)
		scenario->hosts[scenario->n_hosts++] = *host;
	if (rc == 0 && !host->implicit)
		draft->n_named_hosts++;
	return rc;
}

static int read_host(struct hs_scenario_draft *draft, json_t *item, size_t i, const char *at,
		struct hs_error *err)
{
	struct entry entry = {.draft = draft};
	int rc = hs_schema_read(host_fields, item, at, &entry, err);

	(void)i;
	return rc ? rc : hs_scenario_add_host(draft, &entry.host, at, err);
}

int hs_scenario_read_hosts(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n;
	int rc = hs_scenario_list(draft->hosts, "hosts", MAX_HOSTS, &n, err);

	if (rc < 0)
		return rc;
	// Traffic creates at most one host for each node.
	scenario->hosts = hs_scenario_room(n + scenario->n_nodes, sizeof(*scenario->hosts), err);
	if (!scenario->hosts)
		return -ENOMEM;
	return hs_scenario_each(draft, draft->hosts, "hosts", read_host, err);
}
