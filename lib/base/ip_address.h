// SPDX-License-Identifier: BSD-3-Clause
// IP addresses of both versions in 16 bytes, and as text. An IPv4 address is kept as the IPv6
// address that it is mapped to (::ffff:192.0.2.1, RFC 4291 section 2.5.5.2). As text, mapped
// addresses are refused, so that each value has one text and the value says the version.
//
// Thread rule: any; pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define HS_IP_ADDRESS_TEXT	52
#define HS_IP_ADDRESS_IPV4_BITS 96 // in front of an IPv4 address

static inline bool hs_ip_address_is_ipv4(const uint8_t address[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	return memcmp(address, mapped, sizeof(mapped)) == 0;
}

static inline void hs_ip_address_map(const uint8_t ipv4[4], uint8_t address[16])
{
	memset(address, 0, 10);
	memset(address + 10, 0xff, 2);
	memcpy(address + 12, ipv4, 4);
}

// Returns whether the address is 0.0.0.0 or ::, the unspecified address.
bool hs_ip_address_is_any(const uint8_t address[16]);
// Returns whether the address is that of a group: in 224.0.0.0/4 or ff00::/8.
bool hs_ip_address_is_multicast(const uint8_t address[16]);
// Returns whether nobody outside this machine can reach the address.
bool hs_ip_address_is_loopback(const uint8_t address[16]);

// Makes all addresses equal that one host can use at will: those of the same 64 bits of a network,
// and those of 127.0.0.0/8. For limits of what a host may take.
void hs_ip_address_of_host(uint8_t address[16]);

// Returns NULL, or the reason why a text cannot be read, for people. *address does not change then.
const char *hs_ip_address_read(const char *text, uint8_t address[16]);
// Returns text.
const char *hs_ip_address_write(const uint8_t address[16], char text[HS_IP_ADDRESS_TEXT]);

// The address and port where a socket listens or sends. Two of them are compared byte by byte,
// because the struct has no padding.
struct hs_ip_port {
	uint8_t address[16];
	uint16_t port;
};

// Reads "192.0.2.9:32766" or "[2001:db8::9]:32766". Returns as hs_ip_address_read.
const char *hs_ip_port_read(const char *text, struct hs_ip_port *at);
#define HS_IP_PORT_TEXT 60
// Returns text.
const char *hs_ip_port_write(const struct hs_ip_port *at, char text[HS_IP_PORT_TEXT]);

// Returns whether only one of the two can have a socket of this machine. 0.0.0.0 is every IPv4
// address, and [::] every IPv6 address.
bool hs_ip_ports_collide(const struct hs_ip_port *one, const struct hs_ip_port *other);

// A prefix is an address and the number of bits behind the prefix, its host bits: 0 for one
// address. So a number means the same for both versions.

// Reads "2001:db8::/32", "10.0.0.0/8" or an address. Host bits may be set. Returns as
// hs_ip_address_read.
const char *hs_ip_prefix_read(const char *text, uint8_t address[16], uint8_t *host_bits);
// Writes one address without a length. Returns text.
const char *hs_ip_prefix_write(
		const uint8_t address[16], uint8_t host_bits, char text[HS_IP_ADDRESS_TEXT]);
// Makes the host bits zero.
void hs_ip_prefix_clear(uint8_t address[16], uint8_t host_bits);
// Returns whether the prefix, whose host bits are zero, has the address.
bool hs_ip_prefix_has(const uint8_t prefix[16], uint8_t host_bits, const uint8_t address[16]);
