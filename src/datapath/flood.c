// SPDX-License-Identifier: BSD-3-Clause
#include "egress.h"
#include "exporter.h"
#include "stage.h"

static unsigned flood_targets(struct hs_worker *worker, uint16_t in, uint16_t *targets)
{
	unsigned n = 0;

	for (uint16_t out = 0; out < worker->n_ports; out++) {
		if (out != in && hs_port_is_usable(worker->ports[out]))
			targets[n++] = out;
	}
	return n;
}

static void enqueue_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t slot, uint32_t bytes)
{
	struct hs_tx_queue *queue = &worker->tx[out->index];
	struct hs_egress_worker *egress = hs_egress_of(worker, out);

	hs_count_length(worker, burst, i, hs_longest_frame(out));
	hs_count_forwarded(worker, burst, out, 1);
	if (likely(!egress)) {
		hs_enqueue_at(queue, queue->n++, burst->mbufs[i], slot, bytes);
		return;
	}
	if (unlikely(worker->exporter))
		hs_export_queue(worker, burst, i, out);
	hs_egress_put(egress, burst->mbufs[i]);
	hs_egress_close(egress);
	hs_port_stats_of(worker, out->index)->queued++;
}

// Finds a place at the port. If there is one, the port's egress queue stays open until enqueue_one.
static bool find_place(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct hs_egress_worker *egress = hs_egress_of(worker, out);

	if (likely(!egress))
		return true;
	hs_egress_open(worker, out, hs_burst_steady_ns(burst), 1);
	if (hs_egress_fits(egress))
		return true;
	hs_egress_close(egress);
	return hs_egress_refuse(worker, burst, i, out);
}

static bool make_floodable(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	if (unlikely(hs_is_border(worker, burst, out)) && !hs_border_flood(worker, burst, i, out))
		return false;
	return hs_make_sendable(worker, burst, i, out) && find_place(worker, burst, i, out);
}

static void flood_copy(struct hs_worker *worker, struct hs_burst *burst, unsigned i, uint16_t out)
{
	struct hs_port_counters *in = hs_port_stats_of(worker, burst->in->index);
	struct rte_mbuf *copy = rte_pktmbuf_copy(burst->mbufs[i], worker->pool, 0, UINT32_MAX);

	in->copies++;
	if (!copy) {
		in->drops[HS_DROP_NO_MBUF]++;
		return;
	}
	struct rte_mbuf *original = burst->mbufs[i];
	burst->mbufs[i] = copy;
	if (make_floodable(worker, burst, i, worker->ports[out]))
		enqueue_one(worker, burst, i, worker->ports[out], HS_FLOW_NONE, 0);
	burst->mbufs[i] = original;
}

static bool flood_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (likely(!(burst->packets[i].flags & HS_STAGE_SUSPECT)))
		return true;
	if (burst->profile->family->strip(worker, burst, i, true)) {
		hs_event(worker, burst, HS_EVENT_STRIPPED);
		return true;
	}
	if (hs_guard_lets_pass(worker, burst, i))
		return true;
	hs_drop_packet(worker, burst, i, hs_suspect_drop(&burst->packets[i], HS_DROP_UNSTRIPPABLE));
	return false;
}

// Floods packet i. The flow counts one packet sent, whatever the number of ports. With one target,
// a refusal takes the count back; with several, the packet counts as sent
// (docs/decisions/0004-where-telemetry-stays-out.md).
void hs_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint32_t slot = burst->slots[i];
	uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
	uint16_t targets[HS_MAX_PORTS];

	if (!flood_strip(worker, burst, i))
		return;
	unsigned n = flood_targets(worker, burst->in->index, targets);
	if (!n) {
		hs_drop_packet(worker, burst, i, HS_DROP_NO_ROUTE);
		return;
	}
	hs_event(worker, burst, HS_EVENT_FLOODED);
	for (unsigned t = 0; t + 1 < n; t++)
		flood_copy(worker, burst, i, targets[t]);
	struct hs_port *last = worker->ports[targets[n - 1]];
	bool floodable = make_floodable(worker, burst, i, last); // else the packet is gone
	if (slot != HS_FLOW_NONE && (floodable || n > 1))
		hs_flow_count_tx(&worker->flows, slot, bytes);
	if (floodable)
		enqueue_one(worker, burst, i, last, n == 1 ? slot : HS_FLOW_NONE, bytes);
}
