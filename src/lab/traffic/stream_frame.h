// SPDX-License-Identifier: BSD-3-Clause
// Frames of a host of the lab: Ethernet, IPv6 (hop limit 64), UDP, TCP or ICMPv6 echo, a payload of
// a fixed pattern, and the right checksum. A frame is built once. For each packet, only the
// sequence fields and the checksum change.
//
// Source: RFC 8200 section 8.1 (checksums), RFC 768, RFC 9293, RFC 4443 section 4.
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HS_STREAM_FRAME_BYTES  9000 // the longest frame that is built
#define HS_STREAM_REPLAY_BYTES 9200 // the longest frame that is replayed from a file

struct hs_stream_flow {
	uint8_t src_mac[6], dst_mac[6];
	uint8_t src_addr[16], dst_addr[16];
	uint8_t protocol;	     // IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6
	uint16_t src_port, dst_port; // ICMPv6: the identifier is src_port
	bool echo_reply;	     // ICMPv6: reply; otherwise request
	uint32_t payload_bytes;
};

struct hs_stream_template {
	uint8_t bytes[HS_STREAM_FRAME_BYTES];
	uint32_t len;
	uint32_t sum; // RFC 1071, unfolded, of everything that the checksum covers except the
		      // sequence fields
	uint8_t protocol;
};

// Returns the bytes of the headers of this protocol, including Ethernet and IPv6.
uint32_t hs_stream_template_overhead(uint8_t protocol);

// Builds the frame with sequence fields 0. It fits HS_STREAM_FRAME_BYTES.
void hs_stream_template_init(
		struct hs_stream_template *template, const struct hs_stream_flow *flow);

// Writes the fields that identify packets, and the checksum: for TCP the sequence and
// acknowledgement numbers, for ICMPv6 the lower half of `seq`, for UDP nothing.
void hs_stream_template_number(struct hs_stream_template *template, uint32_t seq, uint32_t ack);

uint32_t hs_stream_template_seq(const uint8_t *bytes); // of a TCP frame that a template made
uint32_t hs_stream_template_ack(const uint8_t *bytes);

// Returns whether this is the frame that was sent. Ethernet addresses and hop limit (behind up to
// two tags) may differ.
bool hs_stream_frame_equal(const uint8_t *sent, const uint8_t *arrived, uint32_t len);
// Returns a hash of what hs_stream_frame_equal compares.
uint64_t hs_stream_frame_hash(const uint8_t *bytes, uint32_t len);
