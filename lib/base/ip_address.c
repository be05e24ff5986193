// SPDX-License-Identifier: BSD-3-Clause
#include "ip_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

bool hs_ip_address_is_loopback(const uint8_t address[16])
{
	static const uint8_t loopback[16] = {[15] = 1};

	if (hs_ip_address_is_ipv4(address))
		return address[12] == 127;
	return memcmp(address, loopback, sizeof(loopback)) == 0;
}

bool hs_ip_address_is_multicast(const uint8_t address[16])
{
	return hs_ip_address_is_ipv4(address) ? address[12] >> 4 == 0xe : address[0] == 0xff;
}

void hs_ip_address_of_host(uint8_t address[16])
{
	if (!hs_ip_address_is_ipv4(address))
		memset(address + 8, 0, 8);
	else if (hs_ip_address_is_loopback(address))
		memset(address + 13, 0, 3);
}

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

const char *hs_ip_port_read(const char *text, struct hs_ip_port *at)
{
	char alone[HS_IP_ADDRESS_TEXT], *end;
	uint8_t read[16];
	const char *colon = strrchr(text, ':');
	bool bracket = text[0] == '[';

	if (!colon || colon == text || (bracket && colon[-1] != ']'))
		return "is not an address and a port";
	snprintf(alone, sizeof(alone), "%.*s", (int)(colon - text) - 2 * bracket, text + bracket);
	unsigned long number = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || number < 1 || number > UINT16_MAX)
		return "has no port from 1 to 65535";
	const char *wrong = hs_ip_address_read(alone, read);
	if (wrong)
		return wrong;
	if (bracket == hs_ip_address_is_ipv4(read))
		return "has brackets around IPv4, or none around IPv6";
	memcpy(at->address, read, sizeof(read));
	at->port = (uint16_t)number;
	return NULL;
}

const char *hs_ip_port_write(const struct hs_ip_port *at, char text[HS_IP_PORT_TEXT])
{
	char alone[HS_IP_ADDRESS_TEXT];

	snprintf(text, HS_IP_PORT_TEXT, hs_ip_address_is_ipv4(at->address) ? "%s:%u" : "[%s]:%u",
			hs_ip_address_write(at->address, alone), at->port);
	return text;
}

bool hs_ip_address_is_any(const uint8_t address[16])
{
	static const uint8_t any[16];
	size_t from = hs_ip_address_is_ipv4(address) ? 12 : 0;

	return memcmp(address + from, any, sizeof(any) - from) == 0;
}

bool hs_ip_ports_collide(const struct hs_ip_port *one, const struct hs_ip_port *other)
{
	if (one->port != other->port || hs_ip_address_is_ipv4(one->address) !=
							hs_ip_address_is_ipv4(other->address))
		return false;
	return memcmp(one->address, other->address, sizeof(one->address)) == 0 ||
	       hs_ip_address_is_any(one->address) || hs_ip_address_is_any(other->address);
}

// Reads 0 to `most` in digits, without leading zeros. Returns -1 where the text is something else.
static int read_length(const char *text, int most)
{
	size_t len = strlen(text);

	if (len == 0 || len > 3 || strspn(text, "0123456789") != len || (len > 1 && text[0] == '0'))
		return -1;
	int value = atoi(text);
	return value <= most ? value : -1;
}

const char *hs_ip_prefix_read(const char *text, uint8_t address[16], uint8_t *host_bits)
{
	const char *slash = strchr(text, '/');
	char alone[HS_IP_ADDRESS_TEXT];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint8_t read[16];

	if (len >= sizeof(alone))
		return "is not an IP address";
	memcpy(alone, text, len);
	alone[len] = '\0';
	const char *why = hs_ip_address_read(alone, read);
	if (why)
		return why;
	int bits = hs_ip_address_is_ipv4(read) ? 32 : 128;
	int length = slash ? read_length(slash + 1, bits) : bits;
	if (length < 0)
		return bits == 32 ? "has no prefix length of 0 to 32"
				  : "has no prefix length of 0 to 128";
	memcpy(address, read, sizeof(read));
	*host_bits = (uint8_t)(bits - length);
	return NULL;
}

const char *hs_ip_prefix_write(
		const uint8_t address[16], uint8_t host_bits, char text[HS_IP_ADDRESS_TEXT])
{
	int bits = hs_ip_address_is_ipv4(address) ? 32 : 128;

	hs_ip_address_write(address, text);
	size_t used = strlen(text);
	if (host_bits)
		snprintf(text + used, HS_IP_ADDRESS_TEXT - used, "/%d", bits - host_bits);
	return text;
}

void hs_ip_prefix_clear(uint8_t address[16], uint8_t host_bits)
{
	unsigned whole = host_bits / 8;

	memset(address + 16 - whole, 0, whole);
	if (host_bits % 8)
		address[15 - whole] &= (uint8_t)(0xff << host_bits % 8);
}

bool hs_ip_prefix_has(const uint8_t prefix[16], uint8_t host_bits, const uint8_t address[16])
{
	uint8_t cleared[16];

	memcpy(cleared, address, sizeof(cleared));
	hs_ip_prefix_clear(cleared, host_bits);
	return memcmp(cleared, prefix, sizeof(cleared)) == 0 &&
	       hs_ip_address_is_ipv4(prefix) == hs_ip_address_is_ipv4(address);
}
