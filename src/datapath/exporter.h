// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports for collectors (int_report.h): a worker makes a datagram for each receiver and
// sends it by a port of the node. For a receiver without a port, it hands the UDP payload to
// control, which sends it by a socket. A full port or ring or an empty pool loses the report, which
// is counted. A lost report has no sequence number: a receiver that lost none sees no gap.
//
// Thread rule: hs_exporter_create, hs_exporter_add_port and hs_exporter_destroy by control before
// the worker runs or after it; hs_exporter_send and hs_exporter_waiting by control; all else by the
// owner lcore.
#pragma once

#include "drop.h"
#include "int_report.h"
#include "ip_address.h"
#include "port.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_burst;
struct hs_exporter;
struct hs_worker;
struct rte_mbuf;

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

// Creates the exporter of one worker. Returns NULL without memory.
struct hs_exporter *hs_exporter_create(const struct hs_export_config *configs, unsigned n,
		unsigned worker, unsigned n_workers);
void hs_exporter_destroy(struct hs_exporter *exporter);
uint64_t hs_exporter_bytes(const struct hs_export_config *configs, unsigned n);
// Adds a port of the node, which sends the reports that name it.
void hs_exporter_add_port(struct hs_exporter *exporter, struct hs_port *port);

// Returns the name of a port in a report. NULL: the port is not known.
uint16_t hs_export_port_name(const struct hs_port *port);

// ---- flows ----

// The values that are compared with the last report of a flow.
struct hs_export_flow {
	uint32_t hash; // of the packet's addresses, protocol and ports
	uint32_t path; // of the nodes and ports that it passed
	uint32_t n;    // latencies
	uint32_t latency_ns[HS_EXPORT_HOPS];
};

// Return whether some receiver wants reports of flows, and whether some receiver wants changes
// only.
bool hs_export_wants_flows(const struct hs_exporter *exporter);
bool hs_export_wants_changes(const struct hs_exporter *exporter);

// Makes a report of a packet for each receiver that wants it. `flow` NULL: the flow counts as
// changed. The exporter fills in `inner`, `hw_id` and `sequence`. The report has the node's id and
// the time of receipt even where `has` does not name them.
void hs_export_flow(struct hs_worker *worker, const struct hs_int_report *report,
		const struct rte_mbuf *packet, const struct hs_export_flow *flow);

// ---- flows: reports that differ only in the packet ----

// Takes buffers for reports of up to n packets. hs_export_close gives back those that are left.
void hs_export_open(struct hs_worker *worker, unsigned n);
void hs_export_close(struct hs_worker *worker);
// Writes once the beginning of the reports of the packets that follow. These reports are not
// compared with earlier ones.
void hs_export_prepare(struct hs_worker *worker, const struct hs_int_report *report);
// Does what hs_export_flow does with the report that was prepared.
void hs_export_prepared(struct hs_worker *worker, const struct rte_mbuf *packet);

// ---- what a family writes ----

// Writes a payload of the bytes that hs_export_payload was given.
typedef void (*hs_export_write_fn)(const void *of, uint8_t *payload);
// Makes a datagram for each receiver of a format that is no report. A datagram that is longer than
// a buffer, or than the port's MTU, is lost as one without a buffer.
void hs_export_payload(struct hs_worker *worker, uint8_t format, size_t bytes,
		hs_export_write_fn write, const void *of);

// ---- what happened at this node ----

// Returns whether some receiver wants reports of congested queues.
bool hs_export_wants_queues(const struct hs_exporter *exporter);

// Reports a packet of a rule, or with INT, that the node drops. `out` NULL: the port by which the
// packet would leave was not known.
void hs_export_drop(struct hs_worker *worker, enum hs_drop reason, const struct rte_mbuf *packet,
		uint32_t slot, const struct hs_port *out);

// Reports packet i of a run by `out`, which has an egress queue, if the queue is congested.
void hs_export_queue(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out);

// ---- rounds of the worker ----

// Sends the datagrams that were made since the last call.
void hs_export_flush(struct hs_worker *worker);

// ---- control ----

// Sends one datagram to receiver number `receiver`. Returns 0, -EAGAIN if the datagram has to wait,
// or the error that loses the datagram.
typedef int (*hs_export_send_fn)(
		void *context, unsigned receiver, const uint8_t *datagram, size_t bytes);
// Passes up to n datagrams for a receiver without a port to `send`. Each has the number that
// follows the last one sent. Returns how many were sent or lost; the others wait.
unsigned hs_exporter_send(struct hs_exporter *exporter, unsigned receiver, unsigned n,
		hs_export_send_fn send, void *context);
// Returns how many datagrams for receivers without a port wait.
unsigned hs_exporter_waiting(const struct hs_exporter *exporter);
