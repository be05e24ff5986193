// SPDX-License-Identifier: BSD-3-Clause
#include "socket_address.h"

#include <netinet/in.h>

socklen_t hs_socket_address_of(const struct hs_ip_port *at, struct sockaddr_storage *to)
{
	struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(at->port)};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(at->port)};

	*to = (struct sockaddr_storage){0};
	if (hs_ip_address_is_ipv4(at->address)) {
		memcpy(&ipv4.sin_addr, at->address + 12, 4);
		memcpy(to, &ipv4, sizeof(ipv4));
		return sizeof(ipv4);
	}
	memcpy(&ipv6.sin6_addr, at->address, 16);
	memcpy(to, &ipv6, sizeof(ipv6));
	return sizeof(ipv6);
}

void hs_socket_address_read(const struct sockaddr *from, uint8_t address[16])
{
	struct sockaddr_in6 ipv6;
	struct sockaddr_in ipv4;

	if (from->sa_family == AF_INET) {
		memcpy(&ipv4, from, sizeof(ipv4));
		hs_ip_address_map((const uint8_t *)&ipv4.sin_addr, address);
	} else {
		memcpy(&ipv6, from, sizeof(ipv6));
		memcpy(address, &ipv6.sin6_addr, 16);
	}
}
