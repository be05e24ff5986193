// SPDX-License-Identifier: BSD-3-Clause
#include "route_text.h"

#include "ip_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hs_route_prefix_text(const uint8_t prefix[16], uint8_t depth, char text[HS_ROUTE_TEXT])
{
	bool is_4 = hs_route_is_ipv4(prefix, depth);

	inet_ntop(is_4 ? AF_INET : AF_INET6, prefix + (is_4 ? 12 : 0), text, HS_ROUTE_TEXT);
	size_t used = strlen(text);
	if (depth < 128)
		snprintf(text + used, HS_ROUTE_TEXT - used, "/%u",
				is_4 ? depth - HS_IP_ADDRESS_IPV4_BITS : depth);
	return text;
}

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

// Reads 0 to `most` in digits, without leading zeros.
static bool read_depth(const char *text, uint8_t most, uint8_t *depth)
{
	size_t len = strlen(text);

	if (len < 1 || len > 3 || strspn(text, "0123456789") != len || (text[0] == '0' && len > 1))
		return false;
	long value = strtol(text, NULL, 10);
	*depth = (uint8_t)value;
	return value <= most;
}

static bool is_zero_behind(const uint8_t prefix[16], unsigned depth)
{
	for (unsigned bit = depth; bit < 128; bit++) {
		if (prefix[bit / 8] & (0x80 >> bit % 8))
			return false;
	}
	return true;
}

// A text for people, or NULL: IPv4 is not written as IPv6, and where the forwarding table has IPv4,
// among the groups' addresses, no prefix of IPv6 can be.
static const char *check_prefix(const uint8_t prefix[16], uint8_t depth, bool is_4)
{
	static const uint8_t taken[4] = {0xff, 0xff, 0xff, 0xff};

	if (!is_zero_behind(prefix, depth))
		return "has bits set behind its length";
	if (!is_4 && hs_route_is_ipv4(prefix, depth))
		return "is an IPv4 prefix that is written as an IPv6 prefix";
	bool none = depth >= 32 && memcmp(prefix, taken, sizeof(taken)) == 0;
	return none ? "is a group's, which no router leads to" : NULL;
}

const char *hs_route_read_prefix(const char *text, uint8_t prefix[16], uint8_t *depth)
{
	const char *slash = strchr(text, '/');
	char address[HS_ROUTE_TEXT];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint8_t ipv4[4];

	if (len >= sizeof(address))
		return "is not an IP prefix";
	memcpy(address, text, len);
	address[len] = '\0';
	bool is_4 = inet_pton(AF_INET, address, ipv4) == 1;
	uint8_t bits = is_4 ? 32 : 128;
	if (is_4)
		hs_ip_address_map(ipv4, prefix);
	else if (inet_pton(AF_INET6, address, prefix) != 1)
		return "is not an IP prefix";
	if (slash && !read_depth(slash + 1, bits, &bits))
		return "is not an IP prefix";
	*depth = (uint8_t)(bits + (is_4 ? HS_IP_ADDRESS_IPV4_BITS : 0));
	return check_prefix(prefix, *depth, is_4);
}

const char *hs_route_read_mac(const char *text, uint8_t mac[6])
{
	static const uint8_t zero[6];
	static const char shape[] = "xx:xx:xx:xx:xx:xx";

	if (strlen(text) != sizeof(shape) - 1)
		return "is not a MAC address";
	for (size_t i = 0; shape[i]; i++) {
		bool fits = shape[i] == ':' ? text[i] == ':'
					    : strchr("0123456789abcdefABCDEF", text[i]) != NULL;
		if (!fits)
			return "is not a MAC address";
	}
	for (size_t i = 0; i < 6; i++)
		mac[i] = (uint8_t)strtoul(text + 3 * i, NULL, 16);
	if (mac[0] & 1)
		return "is the address of a group";
	return memcmp(mac, zero, sizeof(zero)) == 0 ? "is no station's address" : NULL;
}
