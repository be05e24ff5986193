// SPDX-License-Identifier: BSD-3-Clause
#include "route_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hs_route_prefix_text(const uint8_t prefix[16], uint8_t depth, char text[HS_ROUTE_TEXT])
{
	inet_ntop(AF_INET6, prefix, text, HS_ROUTE_TEXT);
	size_t used = strlen(text);
	if (depth < 128)
		snprintf(text + used, HS_ROUTE_TEXT - used, "/%u", depth);
	return text;
}

const char *hs_route_mac_text(const uint8_t mac[6], char text[HS_ROUTE_TEXT])
{
	snprintf(text, HS_ROUTE_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
			mac[3], mac[4], mac[5]);
	return text;
}

const char *hs_route_read_address(const char *text, uint8_t address[16])
{
	return inet_pton(AF_INET6, text, address) == 1 ? NULL : "is not an IPv6 address";
}

bool hs_route_is_ipv4(const char *text)
{
	size_t len = strcspn(text, "/");
	char address[INET_ADDRSTRLEN];
	uint8_t bytes[4];

	if (len >= sizeof(address))
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	return inet_pton(AF_INET, address, bytes) == 1;
}

// Reads 0 to 128 in digits, without leading zeros.
static bool read_depth(const char *text, uint8_t *depth)
{
	size_t len = strlen(text);

	if (len < 1 || len > 3 || strspn(text, "0123456789") != len || (text[0] == '0' && len > 1))
		return false;
	long value = strtol(text, NULL, 10);
	*depth = (uint8_t)value;
	return value <= 128;
}

static bool is_zero_behind(const uint8_t prefix[16], unsigned depth)
{
	for (unsigned bit = depth; bit < 128; bit++) {
		if (prefix[bit / 8] & (0x80 >> bit % 8))
			return false;
	}
	return true;
}

const char *hs_route_read_prefix(const char *text, uint8_t prefix[16], uint8_t *depth)
{
	const char *slash = strchr(text, '/');
	char address[HS_ROUTE_TEXT];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);

	*depth = 128;
	if (len >= sizeof(address))
		return "is not an IPv6 prefix";
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET6, address, prefix) != 1 || (slash && !read_depth(slash + 1, depth)))
		return "is not an IPv6 prefix";
	return is_zero_behind(prefix, *depth) ? NULL : "has bits set behind its length";
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
