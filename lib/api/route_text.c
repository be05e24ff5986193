// SPDX-License-Identifier: BSD-3-Clause
#include "route_text.h"

#include "ip_address.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hs_route_prefix_text(const uint8_t prefix[16], uint8_t depth, char text[HS_ROUTE_TEXT])
{
	return hs_ip_prefix_write(prefix, (uint8_t)(128 - depth), text);
}
static_assert(HS_ROUTE_TEXT >= HS_IP_ADDRESS_TEXT, "room for a prefix");

const char *hs_route_mac_text(const uint8_t mac[6], char text[HS_ROUTE_TEXT])
{
	snprintf(text, HS_ROUTE_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
			mac[3], mac[4], mac[5]);
	return text;
}

bool hs_route_is_ipv4(const uint8_t prefix[16], uint8_t depth)
{
	return depth >= HS_IP_ADDRESS_IPV4_BITS && hs_ip_address_is_ipv4(prefix);
}

// Refuses prefixes within ffff:ffff::/32. These are addresses of groups, and the forwarding table
// keeps its IPv4 prefixes there.
const char *hs_route_read_prefix(const char *text, uint8_t prefix[16], uint8_t *depth)
{
	static const uint8_t taken[4] = {0xff, 0xff, 0xff, 0xff};
	uint8_t host_bits, cleared[16];

	if (hs_ip_prefix_read(text, prefix, &host_bits))
		return "is not an IP prefix";
	*depth = (uint8_t)(128 - host_bits);
	memcpy(cleared, prefix, sizeof(cleared));
	hs_ip_prefix_clear(cleared, host_bits);
	if (memcmp(cleared, prefix, sizeof(cleared)) != 0)
		return "has bits set behind its length";
	bool none = *depth >= 32 && memcmp(prefix, taken, sizeof(taken)) == 0;
	return none ? "is a group's, which no router leads to" : NULL;
}

bool hs_route_is_mac(const char *text)
{
	static const char shape[] = "xx:xx:xx:xx:xx:xx";
	bool fits = strlen(text) == sizeof(shape) - 1;

	for (size_t i = 0; fits && shape[i]; i++)
		fits = shape[i] == ':' ? text[i] == ':'
				       : strchr("0123456789abcdefABCDEF", text[i]) != NULL;
	return fits;
}

const char *hs_route_read_mac(const char *text, uint8_t mac[6])
{
	static const uint8_t zero[6];

	if (!hs_route_is_mac(text))
		return "is not a MAC address";
	for (size_t i = 0; i < 6; i++)
		mac[i] = (uint8_t)strtoul(text + 3 * i, NULL, 16);
	if (mac[0] & 1)
		return "is the address of a group";
	return memcmp(mac, zero, sizeof(zero)) == 0 ? "is no station's address" : NULL;
}
