// SPDX-License-Identifier: BSD-3-Clause
// The headers before the payload of a UDP datagram that a node itself sends: Ethernet, IPv4 or
// IPv6, UDP. They are made once and written for each datagram.
//
// Source: RFC 791, RFC 8200, RFC 768, RFC 1071 (checksums), RFC 6864 (identification of IPv4).
// A front of zeros has no bytes. Then other code writes the headers.
//
// Thread rule: any; a front does not change once it is made.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_UDP_FRONT_MAX_BYTES 62 // Ethernet, IPv6, UDP

struct hs_udp_front_settings {
	uint8_t src_mac[6];
	uint8_t dst_mac[6];
	bool ipv6;
	uint8_t src_ip[16]; // IPv4 takes the first four bytes
	uint8_t dst_ip[16];
	uint16_t dst_port;
	uint8_t dscp;	    // 6 bits
	uint8_t hop_limit;  // TTL of IPv4
	bool ipv4_checksum; // of UDP: IPv4 allows none, IPv6 always has one
};

struct hs_udp_front {
	uint8_t bytes[HS_UDP_FRONT_MAX_BYTES];
	uint8_t len;
	bool ipv6;
	bool checksum;
	uint32_t ip_sum;  // of the IPv4 header without its length
	uint32_t udp_sum; // of the pseudo header and the destination port, without lengths
};

void hs_udp_front_init(struct hs_udp_front *front, const struct hs_udp_front_settings *settings);

// Writes front->len bytes to the start of the frame, without UDP's checksum.
void hs_udp_front_write_headers(const struct hs_udp_front *front, uint8_t *frame,
		size_t payload_bytes, uint16_t src_port);
// Writes UDP's checksum, if the front has one. `payload_sum` is the payload's sum; the payload need
// not be in the frame.
void hs_udp_front_write_checksum(const struct hs_udp_front *front, uint8_t *frame,
		size_t payload_bytes, uint16_t src_port, uint32_t payload_sum);

// Does both. The payload is after the front already; it has at most 65507 bytes, which are 65535
// without the headers of IPv4 and UDP. IPv4 packets have DF and identification 0.
void hs_udp_front_write(const struct hs_udp_front *front, uint8_t *frame, size_t payload_bytes,
		uint16_t src_port);
