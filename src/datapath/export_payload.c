// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"

#include "export_put.h"
#include "ip.h"

static bool has_room(
		const struct hs_worker *worker, const struct hs_export_target *target, size_t bytes)
{
	size_t frame = target->front.len + bytes;

	return frame <= rte_pktmbuf_data_room_size(worker->pool) - (size_t)RTE_PKTMBUF_HEADROOM &&
	       (!target->port || frame <= target->port->mtu + (size_t)HS_ETHER_BYTES);
}

static struct rte_mbuf *make(struct hs_worker *worker, const struct hs_export_target *target,
		size_t bytes, hs_export_write_fn write, const void *of)
{
	struct rte_mbuf *m =
			has_room(worker, target, bytes) ? rte_pktmbuf_alloc(worker->pool) : NULL;

	if (unlikely(!m))
		return NULL;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	write(of, frame + target->front.len);
	hs_udp_front_write(&target->front, frame, bytes, worker->exporter->src_port);
	m->data_len = (uint16_t)(target->front.len + bytes);
	m->pkt_len = m->data_len;
	return m;
}

void hs_export_payload(struct hs_worker *worker, uint8_t format, size_t bytes,
		hs_export_write_fn write, const void *of)
{
	struct hs_exporter *exporter = worker->exporter;

	for (unsigned t = 0; t < exporter->n; t++) {
		struct hs_export_target *target = &exporter->targets[t];
		if (target->config.format == format &&
				hs_export_take_places(worker, target, HS_EXPORT_FLOW, 1))
			hs_export_put_made(worker, target, make(worker, target, bytes, write, of),
					NULL);
	}
}
