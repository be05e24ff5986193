// SPDX-License-Identifier: BSD-3-Clause
// Writes the IP header of a packet that the program itself makes: IPv6 without extensions, or IPv4
// without options, with DF and identification 0.
//
// Source: RFC 791, RFC 8200, RFC 6864 (identification of IPv4), RFC 1071 (checksums).
// Thread rule: any; pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_ip_header {
	bool ipv4;
	uint8_t protocol, dscp, hop_limit;
	uint16_t bytes;		  // of the packet after the header
	const uint8_t *src, *dst; // 16 bytes each; IPv4: 4
};

// Writes the type of an Ethernet frame without tags, and the header after it with its checksum.
// Returns where the header ends.
uint32_t hs_ip_header_write(const struct hs_ip_header *header, uint8_t *frame);

// Returns the sum of words of 16 bits, modulo 65535. Sums of parts may be added, but only the last
// part may have an odd number of bytes.
uint32_t hs_ip_sum(const uint8_t *at, size_t bytes);

// Returns the checksum for this sum.
static inline uint16_t hs_ip_checksum(uint32_t sum)
{
	sum = (sum >> 16) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)~sum;
}
