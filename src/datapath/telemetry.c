// SPDX-License-Identifier: BSD-3-Clause
#include "skeleton.h"

#include <assert.h>
#include <string.h>

// Returns whether packet i, which is flooded, has to wait.
static bool waits(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_family *family = burst->profile->family;

	return unlikely(burst->packets[i].flags & HS_PACKET_FRAGMENT) && family->join &&
	       family->join(worker, burst, i, i + 1, burst->in) == i;
}

// Takes a packet that leaves by no port or by several.
static void take_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint16_t out = burst->out[i];

	if (out == HS_OUT_FLOOD && waits(worker, burst, i))
		return;
	uint32_t slot = burst->slots[i];
	// A packet that goes nowhere counts as received, too (docs/metrics.md: node loss).
	if (slot != HS_FLOW_NONE)
		hs_flow_count_rx(&worker->flows, slot, hs_packet_counted_bytes(&burst->packets[i]));
	if (out == HS_OUT_FLOOD)
		hs_flood(worker, burst, i);
	else
		hs_drop_packet(worker, burst, i, out & ~HS_OUT_DROP);
}

// Returns the end of the packets from `first` on that leave by the same port. Four packets are
// compared at once.
static unsigned run_end(const struct hs_burst *burst, unsigned first)
{
	const uint64_t same = burst->out[first] * UINT64_C(0x0001000100010001);
	unsigned end = first + 1;
	uint64_t four;

	for (; end + 4 <= burst->n; end += 4) {
		memcpy(&four, &burst->out[end], sizeof(four));
		if (four != same)
			break;
	}
	while (end < burst->n && burst->out[end] == burst->out[first])
		end++;
	return end;
}

static void pass_to_queue(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct hs_egress_worker *egress = hs_egress_of(worker, out);

	hs_egress_open(worker, out, hs_burst_steady_ns(burst), end - first);
	unsigned n = egress->places;
	hs_egress_put_run(egress, &burst->mbufs[first], n);
	hs_egress_close(egress);
	hs_count_forwarded(worker, burst, out, n);
	hs_port_stats_of(worker, out->index)->queued += n;
	for (unsigned i = first + n; i < end; i++)
		hs_egress_refuse(worker, burst, i, out);
}

static void pass_to_device(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct hs_tx_queue *queue = &worker->tx[out->index];
	unsigned n = end - first;

	if (likely(n == burst->n_received))
		queue->frame_bytes += burst->bytes;
	for (unsigned i = first; i < end && unlikely(n != burst->n_received); i++)
		queue->frame_bytes += rte_pktmbuf_pkt_len(burst->mbufs[i]);

	memcpy(&queue->mbufs[queue->n], &burst->mbufs[first], n * sizeof(queue->mbufs[0]));
	memset(&queue->slots[queue->n], 0xff, n * sizeof(queue->slots[0]));
	queue->n = (uint16_t)(queue->n + n);
	hs_count_forwarded(worker, burst, out, n);
}

// Passes a run of which nothing is counted, inserted or taken out: only pointers move. Returns
// false if the run needs more.
static bool pass_run(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	if (!burst->unmatched || burst->flags & HS_STAGE_SUSPECT ||
			burst->max_bytes > hs_longest_frame(out) || burst->chained)
		return false;
	if (unlikely(worker->exporter && hs_egress_of(worker, out) &&
			    hs_export_wants_queues(worker->exporter)))
		return false; // each packet's depth may be reported
	if (likely(!hs_egress_of(worker, out)))
		pass_to_device(worker, burst, first, end, out);
	else
		pass_to_queue(worker, burst, first, end, out);
	return true;
}

static void general_run(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	const struct hs_family *family = burst->profile->family;

	if (family->is_due) {
		hs_run_fn run = out->side == HS_SIDE_HOST ? family->fast_sink
							  : family->fast_transit;
		run(worker, burst, first, end, out);
		return;
	}
	if (family->watch && (burst->in->side == HS_SIDE_NETWORK || out->side == HS_SIDE_HOST))
		family->watch(worker, burst, first, end, out);
	if (out->side == HS_SIDE_HOST)
		hs_to_host_as(worker, burst, first, end, out, family->sink);
	else if (burst->in->side == HS_SIDE_HOST)
		hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE, family->source);
	else
		hs_to_network_as(worker, burst, first, end, out, HS_IN_TRANSIT, family->transit);
}

// Returns the family's fast path for a run. NULL: the family has none for it.
static hs_run_fn fast_run_of(const struct hs_burst *burst, const struct hs_port *out)
{
	const struct hs_family *family = burst->profile->family;

	if (out->side == HS_SIDE_HOST)
		return family->fast_sink;
	return burst->in->side == HS_SIDE_HOST ? family->fast_source : family->fast_transit;
}

static inline bool is_due(const struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out)
{
	const struct hs_family *family = burst->profile->family;

	return unlikely(family->is_due) && family->is_due(worker, burst, out);
}

static void take_run(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out)
{
	if (worker->general) {
		general_run(worker, burst, first, end, out);
		return;
	}
	if (!is_due(worker, burst, out) && pass_run(worker, burst, first, end, out))
		return;
	hs_run_fn fast = fast_run_of(burst, out);
	if (fast)
		fast(worker, burst, first, end, out);
	else
		general_run(worker, burst, first, end, out);
}

static void cross_border(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct hs_burst *beyond = &worker->beyond;

	hs_border_cross(worker, burst, first, end, out);
	if (burst->in->side == HS_SIDE_HOST)
		take_run(worker, beyond, 0, beyond->n, out);
	else if (beyond->profile->family->is_due)
		beyond->profile->family->fast_transit(worker, beyond, 0, beyond->n, out);
	else
		hs_to_network_as(worker, beyond, 0, beyond->n, out, HS_AT_BORDER,
				beyond->profile->family->source);
}

void hs_telemetry(struct hs_worker *worker, struct hs_burst *burst)
{
	for (unsigned first = 0, end; first < burst->n; first = end) {
		uint16_t out = burst->out[first];
		end = first + 1;
		if (unlikely(out & HS_OUT_DROP || out == HS_OUT_FLOOD)) {
			take_one(worker, burst, first);
			continue;
		}
		end = run_end(burst, first);
		struct hs_port *port = worker->ports[out];
		assert(port); // patch pairs and addresses learnt name ports that were added
		if (unlikely(hs_is_border(worker, burst, port)))
			cross_border(worker, burst, first, end, port);
		else
			take_run(worker, burst, first, end, port);
	}
}
