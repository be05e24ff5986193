// SPDX-License-Identifier: BSD-3-Clause
// Large frames of the kernel: many TCP or UDP packets behind one header, with a virtio header that
// says how long each packet is. A frame is cut into the packets that a wire would carry, and TCP
// packets are joined into such a frame. Cutting a joined frame gives the same packets, byte for
// byte.
//
// Source: virtio 1.2, section 5.1.6 (struct virtio_net_hdr, little-endian here because the machine
// is); Linux Documentation/networking/segmentation-offloads. Thread rule: any; pure functions.
#pragma once

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- cutting ----

// Packets in one frame at most: 64 KiB of TCP with an MSS of 66 bytes.
#define HS_GSO_MAX_PACKETS 1000

// The parts of a large frame. All numbers are bytes.
struct hs_gso {
	uint32_t total;	  // of payload in the frame
	uint16_t l3, l4;  // before the IP header, and before the TCP or UDP header
	uint16_t header;  // before the payload: each packet begins with these
	uint16_t payload; // of each packet; the last may have less
	bool ipv6, tcp;
	bool ecn; // the flag CWR is for the first packet only
};

// Reads the headers of a large frame of `len` bytes, of which the first `seen` are at `frame`. The
// frame has at most two tags, IPv4 with any options, or IPv6 with Hop-by-Hop and destination
// options. Returns false if the virtio header and the frame do not agree, or if the frame is of
// another kind.
bool hs_gso_read(const struct virtio_net_hdr *vnet, const uint8_t *frame, size_t seen, size_t len,
		struct hs_gso *gso);

static inline uint32_t hs_gso_packets(const struct hs_gso *gso)
{
	return (gso->total + gso->payload - 1) / gso->payload;
}

static inline uint16_t hs_gso_payload_of(const struct hs_gso *gso, uint32_t i)
{
	uint32_t left = gso->total - i * gso->payload;

	return left < gso->payload ? (uint16_t)left : gso->payload;
}

// Completes packet i of the frame in place: `packet` has the frame's header and its own payload.
// Sets lengths, identification, sequence number and flags, and computes the checksums.
void hs_gso_finish_packet(const struct hs_gso *gso, uint32_t i, uint8_t *packet);

// ---- joining ----

#define HS_JOIN_HEADER_MAX 114 // Ethernet, IPv6 and TCP with options

// TCP packets that follow each other and were added so far.
struct hs_join {
	const uint8_t *first; // not owned: the first packet, whole
	uint32_t bytes;	      // of the frame
	uint32_t next_sequence;
	uint16_t next_id;	      // IPv4 only
	uint16_t l4, header, payload; // as in struct hs_gso
	uint16_t n;		      // packets
	uint8_t last_flags;	      // of TCP
	bool ended;		      // nothing may follow the last packet
};

// Returns whether a packet's checksum of TCP is right. Returns false for packets that are never
// joined.
bool hs_join_verify(const uint8_t *packet, size_t len);
// Begins a frame with a packet, which stays unchanged, in place, until the end. Returns false if no
// packet can follow. The caller checks the TCP checksum of each packet before the frame is
// finished.
bool hs_join_begin(struct hs_join *join, const uint8_t *packet, size_t len);
// Adds a packet, if the frame then has at most max_bytes. Returns false, with nothing changed, if
// the packet does not follow.
bool hs_join_add(struct hs_join *join, const uint8_t *packet, size_t len, uint32_t max_bytes);
// Writes the frame's header, join->header bytes, and the virtio header for the kernel. The payloads
// of the packets in their order follow the header.
void hs_join_finish(const struct hs_join *join, struct virtio_net_hdr *vnet, uint8_t *header);
