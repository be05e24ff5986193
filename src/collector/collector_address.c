// SPDX-License-Identifier: BSD-3-Clause
#include "collector_address.h"

#include "ip_address.h"

#include <string.h>

static const char *parse(const char *text, void *at, const char **code)
{
	struct hs_collector_address *udp = at;
	(void)code;

	return hs_ip_port_read(text, udp->address, &udp->port);
}

static void write(const void *at, char text[HS_SCHEMA_TEXT_BYTES])
{
	const struct hs_collector_address *udp = at;

	hs_ip_port_write(udp->address, udp->port, text);
}

const struct hs_schema_text hs_collector_address_text = {parse, write,
		"{'type': 'string', 'pattern': '^(\\\\[[0-9A-Fa-f:.]+\\\\]|[0-9.]+):[0-9]{1,5}$'}"};

static bool is_any(const uint8_t address[16], bool is_ipv4)
{
	static const uint8_t any[16];
	size_t from = is_ipv4 ? 12 : 0;

	return memcmp(address + from, any, sizeof(any) - from) == 0;
}

bool hs_collector_addresses_collide(
		const struct hs_collector_address *one, const struct hs_collector_address *other)
{
	bool is_ipv4 = hs_ip_address_is_ipv4(one->address);

	if (one->port != other->port || is_ipv4 != hs_ip_address_is_ipv4(other->address))
		return false;
	return memcmp(one->address, other->address, sizeof(one->address)) == 0 ||
	       is_any(one->address, is_ipv4) || is_any(other->address, is_ipv4);
}
