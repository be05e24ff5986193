// SPDX-License-Identifier: BSD-3-Clause
// Decoded telemetry of any family of formats: a source, and hops whose bitmaps say which values
// they have. Code that computes with it needs no knowledge of a format.
//
// Thread rule: any; values.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_TELEMETRY_MAX_HOPS 61 // of one report

// Bits of the values that a source and a hop may have.
#define HS_E2E_INT_PACKETS 0x8000
#define HS_E2E_TIMESTAMP   0x4000
#define HS_E2E_TX_PACKETS  0x2000
#define HS_E2E_TX_BYTES	   0x1000
#define HS_HOP_PACKETS	   0x8000 // sent and received
#define HS_HOP_TIMESTAMP   0x4000
#define HS_HOP_BYTES	   0x2000     // sent and received
#define HS_NODE_UNKNOWN	   UINT32_MAX // the id of a node that did not send its id
// The values that metrics of links are computed from.
#define HS_HOP_MEASURED (HS_HOP_PACKETS | HS_HOP_TIMESTAMP | HS_HOP_BYTES)

// Values of the source. Only the values of `bitmap` are valid. Counts are modulo 2^32. node_id is
// the source's id in paths: 0 if the family has no id of the source. Metrics show it of families
// with has_locals only.
struct hs_e2e {
	uint16_t bitmap;
	uint32_t int_packets;
	uint64_t ts_ns;
	uint32_t tx_packets;
	uint32_t tx_bytes;
	uint32_t node_id;
};

// Values of one node on the path. Only the values of `bitmap` are valid. Counts of packets have
// hs_telemetry_family.packet_bits, and counts of bytes have 32 bits. A wider count is truncated.
struct hs_hop {
	uint32_t node_id;
	uint16_t bitmap;
	uint32_t tx_packets;
	uint32_t rx_packets;
	uint64_t ts_ns;
	uint32_t tx_bytes;
	uint32_t rx_bytes;
};

// Local values of a node beside counts and stamps, if the family has them. Only the values of `has`
// are valid. Units are those of Hopsight's own nodes.
#define HS_LOCAL_INGRESS_PORT	  0x01
#define HS_LOCAL_EGRESS_PORT	  0x02
#define HS_LOCAL_HOP_LATENCY	  0x04
#define HS_LOCAL_QUEUE_ID	  0x08
#define HS_LOCAL_QUEUE_PACKETS	  0x10
#define HS_LOCAL_QUEUE_CONGESTION 0x20
#define HS_LOCAL_LINK_UTILISATION 0x40
#define HS_LOCAL_BUFFER_USED	  0x80

struct hs_hop_local {
	uint16_t has;
	uint8_t queue_id;
	uint32_t ingress_port;
	uint32_t egress_port;
	uint32_t hop_latency_ns;
	uint32_t queue_packets;
	uint32_t queue_congestion; // the depth of the queue in 1/10000 of its limit
	uint32_t link_utilisation; // 1/10000 of the rate
	uint32_t buffer_used;	   // 1/10000
};

struct hs_telemetry_family;
struct hs_packed;

// Decoded telemetry of one packet. hops[0] is the hop nearest the sink.
struct hs_decoded {
	const struct hs_telemetry_family *family;
	uint32_t ns_id;
	uint32_t trace_type; // which values the source requested
	struct hs_e2e e2e;
	uint16_t n_hops;
	bool nodes_missing; // some node added no values, as the telemetry shows
	struct hs_hop hops[HS_TELEMETRY_MAX_HOPS];
	// Of the hops, then of the source. Only families with has_locals write them.
	struct hs_hop_local locals[HS_TELEMETRY_MAX_HOPS + 1];
};

// One row for each value on the wire, in wire order.
struct hs_telemetry_field {
	bool hop;	  // in hop entries (true) or in the source's entry (false)
	uint16_t bit;	  // of hs_hop.bitmap or hs_e2e.bitmap
	uint8_t bytes;	  // width on the wire
	uint8_t width;	  // in struct hs_hop or struct hs_e2e
	uint8_t offset;	  // in that struct
	const char *key;  // name in JSON, with its unit
	const char *name; // name in the format's specification
};

// The number of each family, which a report has until it is decoded.
enum hs_telemetry_number {
	HS_TELEMETRY_FLEXINT,
	HS_TELEMETRY_INT_2016_06,
	HS_TELEMETRY_INT_0_5,
	HS_TELEMETRY_INT_1_0,
	HS_TELEMETRY_INT_2_1,
	HS_TELEMETRY_TEST = UINT8_MAX,
};

// A family of formats: the properties in which its decoded telemetry differs from that of others.
struct hs_telemetry_family {
	const char *name;
	const char *method;  // of rules
	const char *version; // NULL: the method has no versions
	uint8_t number;	     // enum hs_telemetry_number
	const struct hs_telemetry_field *fields;
	size_t n_fields;
	uint16_t hop_known;   // bits that a hop may have
	uint8_t packet_bits;  // of a hop's counts of packets: 1 to 32
	uint32_t max_node_id; // on the wire
	bool has_locals;      // hs_decoded.locals
	// Decodes the bytes that a sink copied from a packet: those of the hops, and those of the
	// source. Sets all members except `family`. Returns 0 or -EBADMSG.
	int (*decode)(const uint8_t *hops, size_t hops_len, const uint8_t *e2e, size_t e2e_len,
			struct hs_decoded *out);
	// Decodes common telemetry only, directly into the memory of a monitor: hs_packed_hop for
	// each hop. Sets all members except the tag and the sink's values. Returns false, with
	// `out` undefined, if the telemetry is not common or longer than `room`. NULL: the family
	// has no common telemetry.
	bool (*pack)(const uint8_t *hops, size_t hops_len, const uint8_t *e2e, size_t e2e_len,
			size_t room, struct hs_packed *out);
};
