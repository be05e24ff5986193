// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports 0.5, 1.0 and 2.0: a node's report of a packet to a collector, in the payload of
// a UDP datagram (udp_front.h has the headers before). Values come first, then a copy of the
// packet's beginning. int_report_writer.h writes reports, int_report_reader.h reads them.
//
// Source: P4.org, Telemetry Report Format Specification v0.5 (2017), v1.0 (2018), v2.0 (2020).
// docs/wire-int-report.md has the layouts.
// Thread rule: any; pure functions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum hs_int_report_version {
	HS_INT_REPORT_0_5,
	HS_INT_REPORT_1_0,
	HS_INT_REPORT_2_0,
};

// What a report has: the bits of struct hs_int_report.has. All but the first are RepMdBits of 2.0.
#define HS_INT_REPORT_NODE	   0x8000
#define HS_INT_REPORT_PORTS	   0x4000
#define HS_INT_REPORT_LATENCY	   0x2000
#define HS_INT_REPORT_QUEUE	   0x1000
#define HS_INT_REPORT_INGRESS_TIME 0x0800
#define HS_INT_REPORT_EGRESS_TIME  0x0400
#define HS_INT_REPORT_PORTS_L2	   0x0200
#define HS_INT_REPORT_UTILISATION  0x0100
#define HS_INT_REPORT_BUFFER	   0x0080
#define HS_INT_REPORT_DROP	   0x0001

// What follows the values, by the numbers of 2.0. Greater numbers are reserved.
enum hs_int_inner {
	HS_INT_INNER_NONE = 0,
	HS_INT_INNER_TLV = 1,	 // hs_int_report_tlv_next
	HS_INT_INNER_DOMAIN = 2, // extension data that the domain defines
	HS_INT_INNER_ETHERNET = 3,
	HS_INT_INNER_IPV4 = 4,
	HS_INT_INNER_IPV6 = 5,
};

// Why a packet was dropped, by the numbers of p4lang/switch.
enum hs_int_drop_reason {
#define HS_INT_DROP_REASON(number, NAME, word, sentence) HS_INT_DROP_##NAME = (number),
#include "int_report_reasons.def"
};

#define HS_INT_REPORT_MAX_HW_ID 63

// One report. Only the values of `has` are valid. The units are those of our nodes. The
// specifications do not define units of latency, occupancy and utilisation, so another reporter may
// have others. Occupancies have 24 bits on the wire. Times are of the reporter's clock: 64 bits in
// 2.0, the lower 32 bits before 2.0.
struct hs_int_report {
	uint16_t has;
	uint8_t inner;	   // enum hs_int_inner, or a reserved number
	uint8_t hw_id;	   // the reporting part of the node: at most HS_INT_REPORT_MAX_HW_ID
	bool dropped;	   // D: a packet of a watched flow was dropped
	bool congested;	   // Q: a watched queue is congested
	bool tracked;	   // F: the packet matched a watched flow; only then it may carry telemetry
	bool intermediate; // I, of 2.0: from a node on the path, with the stack that it removed
	uint32_t node_id;
	uint32_t sequence; // of the datagram
	uint16_t ingress_port;
	uint16_t egress_port;
	uint32_t hop_latency_ns;
	uint32_t queue_packets;
	uint32_t buffer_used;
	uint32_t ingress_port_l2;
	uint32_t egress_port_l2;
	uint32_t link_utilisation; // of the egress port, in 1/10000 of its rate
	uint64_t ingress_ns;
	uint64_t egress_ns;
	uint8_t queue_id;
	uint8_t buffer_id;
	uint8_t drop_queue_id;
	uint8_t drop_reason; // enum hs_int_drop_reason, or another number of the reporter
	// Values of a domain, of 2.0: identity, bitmap, status and words. No bit is known here.
	uint16_t domain_id;
	uint16_t domain_bits;
	uint16_t domain_status;
	uint8_t domain_words;  // of four bytes at `domain`
	const uint8_t *domain; // the caller's memory, or the datagram's
};

// Returns by how much the sequence number grew from one datagram of a reporter to the next, modulo
// its width: 1 if no datagram was lost, negative if an older one came later.
int32_t hs_int_report_sequence_step(
		enum hs_int_report_version version, uint32_t before, uint32_t now);

// Return the word of a reason for scripts, and its sentence. NULL: not a number of p4lang/switch.
const char *hs_int_drop_reason_word(uint8_t reason);
const char *hs_int_drop_reason_sentence(uint8_t reason);
