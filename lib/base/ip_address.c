// SPDX-License-Identifier: BSD-3-Clause
#include "ip_address.h"

#include <arpa/inet.h>

const char *hs_ip_address_read(const char *text, uint8_t address[16])
{
	uint8_t ipv6[16], ipv4[4];

	if (inet_pton(AF_INET, text, ipv4) == 1) {
		hs_ip_address_map(ipv4, address);
		return NULL;
	}
	if (inet_pton(AF_INET6, text, ipv6) != 1)
		return "is not an IP address";
	if (hs_ip_address_is_ipv4(ipv6))
		return "is an IPv4 address that is written as an IPv6 address";
	memcpy(address, ipv6, sizeof(ipv6));
	return NULL;
}

const char *hs_ip_address_write(const uint8_t address[16], char text[HS_IP_ADDRESS_TEXT])
{
	bool is_4 = hs_ip_address_is_ipv4(address);

	return inet_ntop(is_4 ? AF_INET : AF_INET6, address + (is_4 ? 12 : 0), text,
			HS_IP_ADDRESS_TEXT);
}
