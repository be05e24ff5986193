// SPDX-License-Identifier: BSD-3-Clause
#include "probe_send.h"

#include "egress.h"
#include "exporter.h"
#include "stage.h"

#include <string.h>

bool hs_probe_take_place(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t bytes, uint32_t *depth)
{
	struct hs_egress_worker *egress = hs_egress_of(worker, out);
	struct hs_egress_values values;

	*depth = 0;
	if (!egress)
		return true;
	hs_egress_open(worker, out, hs_burst_steady_ns(burst), 1);
	if (hs_egress_fits(egress) && hs_egress_read(worker, burst, out, bytes, &values)) {
		*depth = values.depth;
		return true;
	}
	hs_egress_close(egress);
	return hs_egress_refuse(worker, burst, i, out);
}

void hs_probe_put(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct hs_egress_worker *egress = hs_egress_of(worker, out);
	struct hs_tx_queue *queue = &worker->tx[out->index];

	hs_count_forwarded(worker, burst, out, 1);
	if (egress) {
		if (unlikely(worker->exporter))
			hs_export_queue(worker, burst, i, out);
		hs_egress_put(egress, burst->mbufs[i]);
		hs_egress_close(egress);
		hs_port_stats_of(worker, out->index)->queued++;
		return;
	}
	hs_enqueue_at(queue, queue->n++, burst->mbufs[i], HS_FLOW_NONE, 0);
	if (queue->n == HS_BURST) // with feedback, all packets of a burst may go to one port
		hs_transmit(worker);
}

void hs_probe_send(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t depth;

	if (unlikely(!hs_make_sendable(worker, burst, i, out)))
		return;
	if (hs_probe_take_place(
			    worker, burst, i, out, rte_pktmbuf_pkt_len(burst->mbufs[i]), &depth))
		hs_probe_put(worker, burst, i, out);
}

void hs_probe_send_whole(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	if (unlikely(burst->packets[i].l3_bytes > out->mtu))
		hs_drop_packet(worker, burst, i, HS_DROP_PROBE_TOO_LONG);
	else
		hs_probe_send(worker, burst, i, out);
}

void hs_probe_leave(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (worker->forward_kind == HS_FORWARD_KIND_ROUTE)
		memcpy(rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *), burst->in->mac,
				sizeof(burst->in->mac));
}

// Decrements the hop limit of a packet that goes by the profile's port, because nodes whose ports
// lead to each other would pass it back and forth. Returns false if the packet was dropped.
static bool ages(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);

	if (hs_probe_age(frame, &burst->packets[i]))
		return true;
	hs_drop_packet(worker, burst, i, HS_DROP_HOP_LIMIT);
	return false;
}

bool hs_probe_to_monitor(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct hs_port *out = hs_probe_port(worker, worker->probe->node->profile->monitor_port);

	if (!hs_make_changeable(worker, burst, i)) {
		hs_drop_packet(worker, burst, i, HS_DROP_NO_MBUF);
		return false;
	}
	if (!out) {
		hs_probe_leave(worker, burst, i);
		return true;
	}
	if (ages(worker, burst, i))
		hs_probe_send_whole(worker, burst, i, out);
	return false;
}
