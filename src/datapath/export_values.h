// SPDX-License-Identifier: BSD-3-Clause
// What an exporter is told: of its receivers, and of the flow that a report is about.
//
// Thread rule: values.
#pragma once

#include "ip_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_MAX_EXPORTS	       4
#define HS_EXPORT_BYTES	       128	  // of a packet's beginning in its report
#define HS_EXPORT_MIN_BYTES    14	  // an Ethernet header
#define HS_EXPORT_MAX_BYTES    1152	  // with all values and IPv6 in a port's least MTU
#define HS_EXPORT_UNKNOWN_PORT UINT16_MAX // the name of a port that is not known
#define HS_EXPORT_SRC_PORT     49152	  // UDP port of the first worker; then one more each
#define HS_EXPORT_FLOWS	       4096	  // flows that a worker remembers for changes: a power of 2
#define HS_EXPORT_HOPS	       13	  // hops whose latencies are compared
#define HS_EXPORT_NO_PORT      UINT16_MAX // of a receiver to which control sends
#define HS_EXPORT_RING	       1024	  // for such a receiver: a power of 2
#define HS_EXPORT_LABEL	       0x80	  // a format that is no report: items of INT-label

enum hs_export_on {
	HS_EXPORT_ON_PACKET, // each packet that carries telemetry to its end, or is due
	HS_EXPORT_ON_CHANGE, // packets whose path or latencies changed
};

// A receiver of reports.
struct hs_export_config {
	uint8_t format;		    // enum hs_int_report_version, or HS_EXPORT_LABEL
	uint8_t hw_id;		    // of the first worker; then one more each
	bool flows;		    // reports of packets with telemetry, or with a rule
	bool drops;		    // reports of packets that the node dropped
	uint8_t on;		    // of flows: enum hs_export_on
	uint16_t bytes;		    // copied from a packet's beginning
	uint16_t port;		    // the index of the port that sends, or HS_EXPORT_NO_PORT
	uint32_t latency_change_ns; // a greater change of a hop's latency is reported
	uint32_t quota_per_s;	    // reports of each kind, of all workers together; 0: no limit
	uint32_t queue_packets;	    // the depth from which on a queue is congested; 0: no reports
	uint32_t queue_quota;	    // packets reported each time that a queue becomes congested
	struct hs_ip_port to;	    // of the same IP version as `from`
	uint8_t from[16];	    // as in ip_address.h; zeros: the socket chooses
	uint8_t mac[6];		    // of the receiver or its next hop; unused by control
};

// The values that are compared with the last report of a flow.
struct hs_export_flow {
	uint32_t hash; // of the packet's addresses, protocol and ports
	uint32_t path; // of the nodes and ports that it passed
	uint32_t n;    // latencies
	uint32_t latency_ns[HS_EXPORT_HOPS];
};

// Sends one datagram to receiver number `receiver`. Returns 0, -EAGAIN if the datagram has to wait,
// or the error that loses the datagram.
typedef int (*hs_export_send_fn)(
		void *context, unsigned receiver, const uint8_t *datagram, size_t bytes);
