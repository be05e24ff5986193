// SPDX-License-Identifier: BSD-3-Clause
// Source-routed probes with SQR, in IPv4 and UDP. The DSCP gives the kind of packet: a probe that
// collects values, a feedback packet (the next node received the probe; the packet has only the
// request), or a recovery packet (a copy of a probe without feedback). A packet of another UDP port
// or DSCP is none of these.
//
// Source: 002_e7f573228cf2597b.txt sections III-B to IV-B. docs/wire-probe.md has the bytes.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "ip.h"
#include "packet.h"
#include "probe_stack.h"

#define HS_PROBE_DSCP	       0x17
#define HS_PROBE_FEEDBACK_DSCP 0x19
#define HS_PROBE_RECOVERY_DSCP 0x21
#define HS_PROBE_UDP_PORT      7777
#define HS_PROBE_UDP_BYTES     8
#define HS_PROBE_REQUEST_BYTES 2 // the whole UDP payload of feedback

struct hs_probe_settings {
	uint8_t dscp, feedback_dscp, recovery_dscp; // must differ
	uint16_t udp_port;
};

enum hs_probe_kind { // hs_packet.trace_type
	HS_PROBE_NONE,
	HS_PROBE_COLLECTS,
	HS_PROBE_FEEDBACK,
	HS_PROBE_RECOVERY,
};

// Returns whether a parsed packet is IPv4 and has a DSCP of probes.
static inline bool hs_probe_has_dscp(const struct hs_probe_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet)
{
	unsigned dscp = frame[packet->l3_off + 1] >> 2;

	return packet->flags & HS_PACKET_IPV4 &&
	       (dscp == settings->dscp || dscp == settings->feedback_dscp ||
			       dscp == settings->recovery_dscp);
}

// Returns whether a packet is one of probes, by its port and DSCP.
static inline bool hs_probe_is_marked(const struct hs_probe_settings *settings,
		const uint8_t *frame, const struct hs_packet *packet)
{
	return packet->dst_port == settings->udp_port && packet->l4_proto == HS_IP_UDP &&
	       hs_probe_has_dscp(settings, frame, packet);
}

// Parses a frame. Members of hs_packet about telemetry:
//   HS_PACKET_ANY_TELEMETRY  the packet is marked as one of probes, or would be with the bytes that
//                            its frame lacks
//   HS_PACKET_TELEMETRY      and is whole and well formed, checksums included
//   trace_type  enum hs_probe_kind, of a well-formed one
//   trace_off   the payload of UDP
// Nothing can be taken out: telemetry_bytes is 0. HS_PACKET_HIDDEN is set where there are more tags
// than are followed, or IP behind SNAP; extension headers hide no probe.
void hs_probe_parse(const struct hs_probe_settings *settings, const uint8_t *frame, size_t len,
		size_t frame_len, struct hs_packet *packet);
// Does the second part of hs_probe_parse, for a packet whose headers were parsed and for which
// hs_probe_is_marked returns true.
void hs_probe_parse_marked(const struct hs_probe_settings *settings, const uint8_t *frame,
		size_t len, struct hs_packet *packet);

// ---- packets with HS_PACKET_TELEMETRY ----

// Returns the payload of a probe or a recovery packet.
static inline struct hs_probe_stack hs_probe_stack_of(
		const uint8_t *frame, const struct hs_packet *packet)
{
	return hs_probe_stack_read(frame + packet->trace_off);
}
// Returns the request ID of a packet of any of the three kinds.
static inline uint16_t hs_probe_id(const uint8_t *frame, const struct hs_packet *packet)
{
	return hs_be16_load(frame + packet->trace_off) >> 1;
}

// Removes the first entry, adds a hop, and corrects lengths and checksums. After the IP packet
// there must be hs_probe_stack_growth(hop->n_values) free bytes, and its length must stay below
// 65536.
void hs_probe_add(uint8_t *frame, struct hs_packet *packet, const struct hs_probe_stack *stack,
		const struct hs_probe_hop *hop, const uint32_t *values);

// Writes the feedback for a probe: its headers with Ethernet's addresses exchanged, and the
// request. Returns its bytes, hs_probe_feedback_bytes.
size_t hs_probe_feedback(const struct hs_probe_settings *settings, const uint8_t *frame,
		const struct hs_packet *packet, uint8_t *out);
static inline size_t hs_probe_feedback_bytes(const struct hs_packet *packet)
{
	return packet->trace_off + (size_t)HS_PROBE_REQUEST_BYTES;
}

// Decrements the TTL. Returns false, with nothing changed, if the TTL is used up.
bool hs_probe_age(uint8_t *frame, const struct hs_packet *packet);

// Makes a recovery packet of a probe. Its IP header is at l3_off.
void hs_probe_mark_recovery(
		const struct hs_probe_settings *settings, uint8_t *frame, size_t l3_off);
