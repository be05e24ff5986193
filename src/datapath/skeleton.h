// SPDX-License-Identifier: BSD-3-Clause
// The skeleton of a node's roles: the steps for each packet of a run. A run is consecutive packets
// of a burst that leave by one port. telemetry.c makes the instances of the general path, whose
// steps are pointers. A family makes an instance for each role that has a fast path: its step is a
// constant that is inlined.
//
// Thread rule: owner lcore.
#pragma once

#include "egress.h"
#include "exporter.h"
#include "flow_sampling.h"
#include "report_put.h"
#include "stage.h"

typedef void (*hs_network_step_fn)(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
typedef bool (*hs_host_step_fn)(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Does nothing, for a role without a step.
static inline void hs_no_step(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	(void)worker, (void)burst, (void)i, (void)out;
}

enum hs_role {
	HS_AT_SOURCE, // from a host
	HS_AT_BORDER, // from a network with other telemetry, which has counted what was received
	HS_IN_TRANSIT,
};

// ---- where packets go ----
// A port with an egress queue has instances of its own; in the others `egress` is the constant
// NULL.

// Returns the port's queue. The address is opaque to compilers, which would compute it anew for
// each packet otherwise.
static inline struct hs_tx_queue *hs_run_queue(struct hs_worker *worker, const struct hs_port *out)
{
	struct hs_tx_queue *queue = &worker->tx[out->index];

	__asm__("" : "+r"(queue));
	return queue;
}

// Returns whether the port takes the packet. False: the packet was dropped.
static inline __attribute__((always_inline)) bool hs_run_takes(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, struct hs_port *out,
		struct hs_egress_worker *egress)
{
	return likely(hs_make_sendable(worker, burst, i, out)) &&
	       (!egress || likely(hs_egress_fits(egress)) ||
			       hs_egress_refuse(worker, burst, i, out));
}

// Puts the packet into place `at` of the transmit queue, or into the egress queue.
static inline __attribute__((always_inline)) void hs_run_put(struct hs_burst *burst, unsigned i,
		struct hs_egress_worker *egress, struct hs_tx_queue *queue, unsigned at,
		uint32_t bytes)
{
	if (egress)
		hs_egress_put(egress, burst->mbufs[i]);
	else
		hs_enqueue_at(queue, at, burst->mbufs[i], burst->slots[i], bytes);
}

static inline __attribute__((always_inline)) void hs_run_end(struct hs_worker *worker,
		const struct hs_burst *burst, struct hs_port *out, struct hs_egress_worker *egress,
		struct hs_tx_queue *queue, unsigned at)
{
	hs_count_forwarded(worker, burst, out, at - queue->n);
	if (egress)
		hs_port_stats_of(worker, out->index)->queued += at - queue->n;
	else
		queue->n = (uint16_t)at;
}

// ---- to a network ----

// Takes a run to a network. `each` is called for every packet that is sent, after `step`. NULL: no
// call.
static inline __attribute__((always_inline)) void hs_run_to_network_each(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		enum hs_role role, hs_network_step_fn step, hs_network_step_fn each,
		struct hs_egress_worker *egress)
{
	struct hs_tx_queue *queue = hs_run_queue(worker, out);
	const uint32_t longest = hs_longest_frame(out);
	unsigned at = queue->n;

	for (unsigned i = first; i < end; i++) {
		uint32_t slot = burst->slots[i];
		uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
		// This comes before the packet is counted and stamped: a stamp must not count a
		// packet that was not sent.
		if (unlikely(!hs_run_takes(worker, burst, i, out, egress))) {
			if (slot != HS_FLOW_NONE && role != HS_AT_BORDER)
				hs_flow_count_rx(&worker->flows, slot, bytes);
			continue;
		}
		if (slot != HS_FLOW_NONE) {
			struct hs_flow_worker *own = &worker->flows.own[slot];
			if (role == HS_AT_BORDER)
				hs_flow_count_tx(&worker->flows, slot, bytes);
			else
				hs_flow_count_through(&worker->flows, own, slot, bytes);
			if (role != HS_IN_TRANSIT &&
					hs_flow_due(own, &worker->rng, hs_burst_steady_ns(burst)))
				step(worker, burst, i, out);
		}
		if (role == HS_IN_TRANSIT && burst->packets[i].flags & HS_PACKET_ANY_TELEMETRY)
			step(worker, burst, i, out);
		if (each)
			each(worker, burst, i, out);
		hs_count_length(worker, burst, i, longest);
		if (egress && unlikely(worker->exporter))
			hs_export_queue(worker, burst, i, out);
		hs_run_put(burst, i, egress, queue, at++, bytes);
	}
	hs_run_end(worker, burst, out, egress, queue, at);
}

static inline __attribute__((always_inline)) void hs_run_to_network(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		enum hs_role role, hs_network_step_fn step, struct hs_egress_worker *egress)
{
	hs_run_to_network_each(worker, burst, first, end, out, role, step, NULL, egress);
}

// Takes the packets [first, end) to `out`, a network. `step` is called for packets that are
// counted: in transit for those with telemetry, else for those that hs_flow_due names.
static inline __attribute__((always_inline)) void hs_to_network_each(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		enum hs_role role, hs_network_step_fn step, hs_network_step_fn each)
{
	struct hs_egress_worker *egress = hs_egress_of(worker, out);

	if (likely(!egress)) {
		hs_run_to_network_each(worker, burst, first, end, out, role, step, each, NULL);
		return;
	}
	hs_egress_open(worker, out, hs_burst_steady_ns(burst), end - first);
	hs_run_to_network_each(worker, burst, first, end, out, role, step, each, egress);
	hs_egress_close(egress);
}

static inline __attribute__((always_inline)) void hs_to_network_as(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		enum hs_role role, hs_network_step_fn step)
{
	hs_to_network_each(worker, burst, first, end, out, role, step, NULL);
}

// ---- to a host ----

// Reserves places for the reports of a run, as many as there may be. hs_reports_close gives back
// those that are left.
static inline void hs_expect_reports(
		struct hs_worker *worker, const struct hs_burst *burst, unsigned n)
{
	if (burst->flags & HS_PACKET_TELEMETRY && !burst->unmatched)
		hs_reports_open(worker, n);
}

// Ends a packet's telemetry where its network ends: `step` reports and takes out telemetry. If
// `step` returns false, drops the packet and returns false.
static inline __attribute__((always_inline)) bool hs_end_telemetry_as(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, unsigned *n_stripped, hs_host_step_fn step)
{
	if (!(burst->packets[i].flags & HS_STAGE_SUSPECT))
		return true;
	if (likely(step(worker, burst, i))) {
		++*n_stripped;
		return true;
	}
	if (hs_guard_lets_pass(worker, burst, i))
		return true;
	hs_drop_packet(worker, burst, i, hs_suspect_drop(&burst->packets[i], HS_DROP_UNSTRIPPABLE));
	return false;
}

// Takes a run to a host. `each` is called for every packet that is sent, after `step`. NULL: no
// call.
static inline __attribute__((always_inline)) void hs_run_to_host_each(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		hs_host_step_fn step, hs_network_step_fn each, struct hs_egress_worker *egress)
{
	struct hs_tx_queue *queue = hs_run_queue(worker, out);
	const uint32_t longest = hs_longest_frame(out);
	unsigned at = queue->n, n_stripped = 0;

	hs_expect_reports(worker, burst, end - first);
	for (unsigned i = first; i < end; i++) {
		uint32_t slot = burst->slots[i];
		uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
		// The packet counts as sent before it is sent. No step at a host reads the packets
		// sent: a report has the packets received, this packet included.
		if (slot != HS_FLOW_NONE)
			hs_flow_count_through(
					&worker->flows, &worker->flows.own[slot], slot, bytes);
		if (unlikely(!hs_end_telemetry_as(worker, burst, i, &n_stripped, step)) ||
				unlikely(!hs_run_takes(worker, burst, i, out, egress))) {
			if (slot != HS_FLOW_NONE)
				hs_flow_uncount_tx(&worker->flows, slot, bytes);
			if (egress)
				hs_egress_give_back(egress);
			continue;
		}
		if (each)
			each(worker, burst, i, out);
		hs_count_length(worker, burst, i, longest);
		if (egress && unlikely(worker->exporter))
			hs_export_queue(worker, burst, i, out);
		hs_run_put(burst, i, egress, queue, at++, bytes);
	}
	hs_reports_close(worker);
	hs_run_end(worker, burst, out, egress, queue, at);
	hs_port_stats_of(worker, burst->in->index)->events[HS_EVENT_STRIPPED] += n_stripped;
}

// Takes the packets [first, end) to `out`, a host. `step` reports and takes out telemetry. A packet
// for which `step` returns false is dropped.
static inline __attribute__((always_inline)) void hs_to_host_each(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		hs_host_step_fn step, hs_network_step_fn each)
{
	struct hs_egress_worker *egress = hs_egress_of(worker, out);

	if (likely(!egress)) {
		hs_run_to_host_each(worker, burst, first, end, out, step, each, NULL);
		return;
	}
	hs_egress_open(worker, out, hs_burst_steady_ns(burst), end - first);
	hs_run_to_host_each(worker, burst, first, end, out, step, each, egress);
	hs_egress_close(egress);
}

static inline __attribute__((always_inline)) void hs_to_host_as(struct hs_worker *worker,
		struct hs_burst *burst, unsigned first, unsigned end, struct hs_port *out,
		hs_host_step_fn step)
{
	hs_to_host_each(worker, burst, first, end, out, step, NULL);
}
