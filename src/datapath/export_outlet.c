// SPDX-License-Identifier: BSD-3-Clause
#include "export_outlet.h"

#include "exporter_parts.h"
#include "int_report_patch.h"
#include "ring.h"

#include <errno.h>

#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_peek.h>

struct hs_export_outlet *hs_export_outlet_create(void)
{
	struct hs_export_outlet *outlet =
			rte_zmalloc("export outlet", sizeof(*outlet), RTE_CACHE_LINE_SIZE);

	if (!outlet)
		return NULL;
	outlet->ring = hs_ring_create("exports", HS_EXPORT_RING, sizeof(struct rte_mbuf *));
	if (!outlet->ring) {
		rte_free(outlet);
		return NULL;
	}
	return outlet;
}

void hs_export_outlet_destroy(struct hs_export_outlet *outlet)
{
	void *waiting = NULL;

	if (!outlet)
		return;
	while (rte_ring_dequeue(outlet->ring, &waiting) == 0)
		rte_pktmbuf_free(waiting);
	hs_ring_destroy(outlet->ring);
	rte_free(outlet);
}

unsigned hs_export_hand_over(struct hs_worker *worker, struct hs_export_target *target)
{
	unsigned n = rte_ring_enqueue_burst(
			target->outlet->ring, (void **)target->mbufs, target->n, NULL);

	hs_flow_add(&worker->exports_handed, n);
	hs_flow_add(&worker->exports_lost_ring_full, target->n - n);
	return n;
}

// Sends a datagram with the next sequence number. Only a datagram that was sent uses the number up.
static int send_one(struct hs_export_target *target, unsigned receiver, struct rte_mbuf *m,
		hs_export_send_fn send, void *context)
{
	uint8_t *datagram = rte_pktmbuf_mtod(m, uint8_t *);

	if (target->config.format != HS_EXPORT_LABEL)
		hs_int_report_renumber(target->config.format, datagram, target->outlet->sequence);
	int rc = send(context, receiver, datagram, rte_pktmbuf_data_len(m));
	if (rc == 0)
		target->outlet->sequence++;
	return rc;
}

unsigned hs_exporter_send(struct hs_exporter *exporter, unsigned receiver, unsigned n,
		hs_export_send_fn send, void *context)
{
	struct hs_export_target *target = &exporter->targets[receiver];
	struct rte_mbuf *mbufs[HS_BURST];
	unsigned got, gone, sum = 0;

	if (!target->outlet)
		return 0;
	do {
		got = rte_ring_dequeue_burst_start(target->outlet->ring, (void **)mbufs,
				RTE_MIN(n - sum, (unsigned)HS_BURST), NULL);
		gone = 0;
		while (gone < got &&
				send_one(target, receiver, mbufs[gone], send, context) != -EAGAIN)
			gone++;
		if (got)
			rte_ring_dequeue_finish(target->outlet->ring, gone);
		rte_pktmbuf_free_bulk(mbufs, gone);
		sum += gone;
	} while (got && gone == got && sum < n);
	return sum;
}

unsigned hs_exporter_waiting(const struct hs_exporter *exporter)
{
	unsigned sum = 0;

	for (unsigned t = 0; t < exporter->n; t++) {
		if (exporter->targets[t].outlet)
			sum += rte_ring_count(exporter->targets[t].outlet->ring);
	}
	return sum;
}
