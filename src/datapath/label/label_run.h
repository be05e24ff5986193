// SPDX-License-Identifier: BSD-3-Clause
// The part of labelling that ports to networks and ports to hosts share: the decision whether a
// packet is labelled, and the item. Also the steps that label_steps.c puts together.
//
// Thread rule: owner lcore.
#pragma once

#include "egress.h"
#include "flow_sampling.h"
#include "label_profile.h"
#include "rule.h"
#include "skeleton.h"

#include <string.h>

#define HS_LABEL_US_NS 1000

struct hs_label_held; // label_step_host.c

// The state that the packets of a run share.
struct hs_label_run {
	const struct hs_label_profile *profile;
	struct hs_label_port *port;
	int64_t steady_ns;
	bool specific;		    // the packet in hand is due by its rule
	bool has_item;		    // `item` is written
	struct hs_label_held *held; // of a run to a host
	// The port's own item. Packets that wait in no egress queue have the same times and share
	// it.
	uint8_t item[HS_LABEL_ITEM_BYTES];
};

// Labels packet i if it can take the item.
typedef void (*hs_label_fn)(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, unsigned int_num, struct hs_label_decision *decision);

static inline struct hs_label_run hs_label_run_of(
		const struct hs_worker *worker, const struct hs_burst *burst, uint16_t out)
{
	return (struct hs_label_run){.profile = worker->profiles[out].settings,
			.port = worker->labels[out],
			.steady_ns = hs_burst_steady_ns(burst)};
}

static inline void hs_label_count(
		struct hs_worker *worker, const struct hs_port *out, enum hs_event_count event)
{
	hs_port_stats_of(worker, out->index)->events[event]++;
}

static inline bool hs_label_is_off(const struct hs_worker *worker, uint32_t slot)
{
	return hs_flow_is_off(&worker->flows.own[slot], HS_RULE_TRACE_LABEL);
}

// Decides on packet i, which has items as `int_num` says. `label` is a constant.
static inline __attribute__((always_inline)) void hs_label_look(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, const struct hs_port *out, unsigned int_num,
		hs_label_fn label)
{
	struct hs_label_run *run = worker->run;

	if (unlikely(run->specific))
		int_num = run->profile->rule.max_hops + 1u;
	if (unlikely(burst->slots[i] != HS_FLOW_NONE) && hs_label_is_off(worker, burst->slots[i])) {
		run->specific = false;
		return;
	}
	struct hs_label_decision decision = hs_label_decide(
			&run->profile->rule, run->port, run->steady_ns, int_num, &worker->rng);
	if (unlikely(decision.cause != HS_LABEL_NOT))
		label(worker, burst, i, out, int_num, &decision);
	run->specific = false;
}

// Returns whether packet i becomes one of a specific flow: its rule's sampling says so, and no
// other worker took the packet of this period.
static inline bool hs_label_take_specific(
		struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	struct hs_flow_worker *flow = &worker->flows.own[burst->slots[i]];

	if (!hs_flow_claim(&worker->flows, burst->slots[i], hs_burst_steady_ns(burst)))
		return false;
	hs_flow_add(&flow->int_packets, 1);
	hs_flow_set_ns(&flow->last_int_ns, burst->now_ns);
	return true;
}

// Notes and counts the label of packet i, which can take the item, unless another worker was
// faster. Returns false if the packet is not labelled. run->specific says afterwards whether the
// packet begins a specific flow.
static inline bool hs_label_note(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, unsigned int_num, struct hs_label_decision *decision)
{
	static const enum hs_event_count events[] = {
			[HS_LABEL_BY_INTERVAL] = HS_EVENT_LABELLED_INTERVAL,
			[HS_LABEL_BY_CHANCE] = HS_EVENT_LABELLED_CHANCE,
			[HS_LABEL_BY_FLOW] = HS_EVENT_LABELLED_FLOW,
	};
	struct hs_label_run *run = worker->run;
	const struct hs_label_rule *rule = &run->profile->rule;

	if (run->specific && !hs_label_take_specific(worker, burst, i)) {
		run->specific = false;
		int_num = 0;
		hs_label_judge(rule, run->port, run->steady_ns, int_num, decision);
		if (decision->cause == HS_LABEL_NOT)
			return false;
	}
	if (unlikely(!hs_label_claim(rule, run->port, run->steady_ns, int_num, decision))) {
		hs_label_count(worker, out, HS_EVENT_UNLABELLED_CLAIM);
		return false;
	}
	hs_label_count(worker, out, events[decision->cause]);
	if (!run->specific && burst->slots[i] != HS_FLOW_NONE)
		hs_flow_add(&worker->flows.own[burst->slots[i]].hop_entries, 1);
	return true;
}

// Writes the port's own item. `queued` has the values of the port's egress queue. NULL: the packet
// waits in none.
static inline void hs_label_write_own(struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_port *out, const struct hs_egress_values *queued,
		uint8_t at[HS_LABEL_ITEM_BYTES])
{
	int64_t now_ns = burst->now_ns;
	int64_t sent_ns = queued ? queued->departs_ns : hs_burst_sent_ns(worker, burst);
	struct hs_label_item item = {
			.node_id = worker->node_id,
			.ingress_port = (uint8_t)hs_port_id(burst->in),
			.egress_port = (uint8_t)hs_port_id(out),
			.ingress_us = (uint64_t)(now_ns / HS_LABEL_US_NS),
			.egress_us = (uint64_t)(sent_ns / HS_LABEL_US_NS),
			.enqueue_us = (uint32_t)((queued ? now_ns : sent_ns) / HS_LABEL_US_NS),
	};

	if (queued) {
		item.enqueue_packets = queued->depth;
		item.queue_us = (uint32_t)((sent_ns - now_ns) / HS_LABEL_US_NS);
	}
	hs_label_item_write(&item, at);
}

// Writes the port's own item of a packet that will have so many bytes when it leaves. Returns
// whether the packet waits in a queue: the depth when it leaves is not known yet (hs_egress_mark).
static inline bool hs_label_put_own(struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, uint8_t at[HS_LABEL_ITEM_BYTES])
{
	struct hs_label_run *run = worker->run;
	struct hs_egress_values queued;

	if (hs_egress_of(worker, out) && hs_egress_read(worker, burst, out, bytes, &queued)) {
		hs_label_write_own(worker, burst, out, &queued, at);
		return true;
	}
	if (!run->has_item)
		hs_label_write_own(worker, burst, out, NULL, run->item);
	run->has_item = true;
	memcpy(at, run->item, HS_LABEL_ITEM_BYTES);
	return false;
}

// ---- label_step_sink.c ----

// Keeps the items of packet i, which are about to be taken out.
typedef void (*hs_label_keep_fn)(
		struct hs_worker *worker, const struct hs_burst *burst, unsigned i);

// Takes the items of packet i out at the end of the network, if they are well formed.
bool hs_label_end(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		hs_label_keep_fn keep);

static inline const struct hs_label_settings *hs_label_wire(const struct hs_profile *profile)
{
	return &((const struct hs_label_profile *)profile->settings)->wire;
}

struct hs_label_export;
// Sends the datagram to all receivers, if there are any.
void hs_label_send(struct hs_worker *worker, const struct hs_label_export *export);

// ---- the steps (family.h) ----

bool hs_label_is_run_due(const struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out);
void hs_label_run_network(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
void hs_label_run_host(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
bool hs_label_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
bool hs_label_strip_step(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours);
