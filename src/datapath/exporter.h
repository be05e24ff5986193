// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports for collectors (int_report.h): a worker makes a datagram for each receiver and
// sends it by a port of the node. For a receiver without a port, it hands the UDP payload to
// control, which sends it by a socket. A full port or ring or an empty pool loses the report, which
// is counted. A lost report has no sequence number: a receiver that lost none sees no gap.
//
// Thread rule: hs_exporter_create and hs_exporter_destroy by control before the worker runs or
// after it; hs_exporter_add_port by control, then or while the node is paused; all else by the
// owner lcore.
#pragma once

#include "drop.h"
#include "export_values.h"
#include "int_report.h"
#include "port_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_burst;
struct hs_exporter;
struct hs_worker;
struct rte_mbuf;

// Creates the exporter of one worker. Returns NULL without memory.
struct hs_exporter *hs_exporter_create(const struct hs_export_config *configs, unsigned n,
		unsigned worker, unsigned n_workers);
void hs_exporter_destroy(struct hs_exporter *exporter);
uint64_t hs_exporter_bytes(const struct hs_export_config *configs, unsigned n);
// Adds a port of the node, which sends the reports that name it. A later call takes over the port's
// present MAC address.
void hs_exporter_add_port(struct hs_exporter *exporter, struct hs_port *port);

// Returns the name of a port in a report. NULL: the port is not known.
uint16_t hs_export_port_name(const struct hs_port *port);

// ---- flows ----

// Return whether some receiver wants reports of flows, and whether some receiver wants changes
// only.
bool hs_export_wants_flows(const struct hs_exporter *exporter);
bool hs_export_wants_changes(const struct hs_exporter *exporter);

// Makes a report of a packet for each receiver that wants it. `flow` NULL: the flow counts as
// changed. The exporter fills in `inner`, `hw_id` and `sequence`. The report has the node's id and
// the time of receipt even where `has` does not name them.
void hs_export_flow(struct hs_worker *worker, const struct hs_int_report *report,
		const struct rte_mbuf *packet, const struct hs_export_flow *flow);

// Does what hs_export_flow does for n <= HS_BURST packets whose reports differ only in the packet.
// The reports are not compared with earlier ones. Where the pool has too few buffers, the first
// receivers take them.
void hs_export_run(struct hs_worker *worker, const struct hs_int_report *report,
		struct rte_mbuf *const *packets, unsigned n);

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
