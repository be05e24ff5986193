// SPDX-License-Identifier: BSD-3-Clause
// A node: one switch as an object. It is created, given ports and workers, run, and destroyed. No
// part of a node is global, so that a process may hold hundreds.
//
// Thread rule: control, except hs_node_worker_poll (the worker's owner).
#pragma once

#include "clock.h"
#include "error.h"
#include "exporter.h"
#include "fib.h"
#include "flow_table.h"
#include "node_config.h"
#include "port_counters.h"
#include "punt_record.h"
#include "report.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_label_port;
struct hs_probe_profile;
struct hs_node;
struct rte_mempool;

int hs_node_create(const struct hs_node_config *config, struct hs_clock *clock,
		struct rte_mempool *pool, struct hs_node **node, struct hs_error *err);
void hs_node_destroy(struct hs_node *node);

// Adds a port (its index is port->index) before the workers run. Queue q goes to worker q modulo
// n_workers. Ports with one queue are assigned to the workers in turn. Host ports have no profile
// of their own. If all network ports read the same telemetry, packets from hosts are guarded
// against it when they come in. Else they are guarded against the family of the port that they
// leave by.
int hs_node_add_port(struct hs_node *node, struct hs_port *port);
// Tells the workers that a port has another MAC address, as it may have when its interface is back.
// Telemetry reports that the port sends have the new address from now on.
void hs_node_renew_address(struct hs_node *node, struct hs_port *port);

// Runs one round of a worker over its queues. Returns the number of packets received; 0: idle.
// Never blocks.
unsigned hs_node_worker_poll(struct hs_node *node, unsigned worker);
// Returns how long until a packet of an egress queue must be sent, the time of a copy of a probe or
// of fragments is over, or the worker looks again for packets that ports keep. 0: now; INT64_MAX:
// nothing waits. The worker must not sleep longer. Called by the worker's owner.
int64_t hs_node_worker_due_ns(const struct hs_node *node, unsigned worker);
// Drops packets that wait in egress queues, and fragments that wait for others, as
// HS_DROP_PORT_DOWN. No worker may run.
void hs_node_drop_queued(struct hs_node *node);
// Call these around a sleep of a worker, so that control never waits for a sleeping worker.
void hs_node_worker_online(struct hs_node *node, unsigned worker);
void hs_node_worker_offline(struct hs_node *node, unsigned worker);
// Lists the ports whose receive queues a worker polls. Returns how many.
unsigned hs_node_worker_ports(
		const struct hs_node *node, unsigned worker, struct hs_port *ports[HS_MAX_PORTS]);

// Returns when every worker has passed a quiescent state since the call. A port or a rule that was
// unpublished before the call is then no longer in use.
void hs_node_synchronise(struct hs_node *node);
// Between pause and resume, no worker is inside a burst of any port, and packets wait in their
// queues. Use this for work of some microseconds.
void hs_node_pause(struct hs_node *node);
void hs_node_resume(struct hs_node *node);

// Returns the decoder of a record that the node's sinks made. NULL: no port has this family.
const struct hs_telemetry_family *hs_node_format(
		const struct hs_node *node, const struct hs_report_record *record);

struct hs_flow_table *hs_node_flows(struct hs_node *node);
// Returns NULL in modes other than bridge.
struct hs_fdb *hs_node_fdb(struct hs_node *node);
// Returns NULL in modes other than route.
struct hs_fib *hs_node_fib(struct hs_node *node);
const struct hs_node_config *hs_node_config(const struct hs_node *node);

// Takes up to n report records off the workers' rings without a copy. The records are valid during
// the calls, of which there may be several. Returns how many.
typedef void (*hs_node_visit_reports_fn)(
		void *context, const struct hs_report_record *records, unsigned n);
unsigned hs_node_visit_reports(
		struct hs_node *node, unsigned n, hs_node_visit_reports_fn visit, void *context);

// Lets each worker call `help` between bursts while more than half of its ring of reports is full.
// `help` returns how many reports it took off the owner of the rings. NULL: workers do not help, as
// at first. No worker may run.
void hs_node_set_help(struct hs_node *node, unsigned (*help)(void *context), void *context);
// Returns whether more than half of some worker's ring of reports is full.
bool hs_node_reports_pile_up(const struct hs_node *node);

// Takes up to n punts (in-band requests and reports that packets carried) off the workers' rings.
// If `punts` has room for 8 or more, the punts of one packet are never divided.
unsigned hs_node_take_punts(struct hs_node *node, struct hs_punt *punts, unsigned n);

// Passes up to n telemetry reports for a receiver without a port, of all workers, to `send`
// (export_values.h). Returns how many were sent or lost.
unsigned hs_node_send_exports(struct hs_node *node, unsigned receiver, unsigned n,
		hs_export_send_fn send, void *context);
// Returns how many telemetry reports wait for hs_node_send_exports.
unsigned hs_node_exports_waiting(const struct hs_node *node);

// ---- counters ----

// Returns the greatest depth that a packet found in the port's egress queue.
uint32_t hs_node_depth_max(const struct hs_node *node, uint16_t port);
void hs_node_port_counters(const struct hs_node *node, uint16_t port, struct hs_port_counters *out);
// Reads all ports at once (out[hs_node_port_count]), each worker's part as it stood between two
// bursts. The equations of port_counters.h hold exactly, also under traffic.
void hs_node_snapshot(const struct hs_node *node, struct hs_port_counters *out);
struct hs_port *hs_node_port(const struct hs_node *node, uint16_t port);
// Returns a port's telemetry profile.
const struct hs_profile *hs_node_profile(const struct hs_node *node, uint16_t port);
uint16_t hs_node_port_count(const struct hs_node *node);
// Returns the state that workers share of a port that labels (label_decision.h). NULL: the port
// does not label.
struct hs_label_port *hs_node_label(const struct hs_node *node, uint16_t port);

// Returns the profile of probes. NULL: no port has one.
const struct hs_probe_profile *hs_node_probe_profile(const struct hs_node *node);
// Returns how many copies of probes wait for feedback.
uint32_t hs_node_probes_held(const struct hs_node *node);

// Subtracts the growth of each device's transmit errors from tx_packets and counts it as
// HS_DROP_PORT_TX_ERROR. The packets sent are those that the device accepted minus those that it
// failed to send. Call this once a second.
void hs_node_reconcile_tx(struct hs_node *node);

struct hs_worker_counters {
#define HS_WORKER_COUNTER(name, unit, text) uint64_t name;
#include "worker_counter.def"
#undef HS_WORKER_COUNTER
};
void hs_node_worker_counters(
		const struct hs_node *node, unsigned worker, struct hs_worker_counters *out);

// Returns the EAL memory that a node needs for its tables, rings and bridge (not for mbufs).
uint64_t hs_node_bytes(const struct hs_node_config *config);
