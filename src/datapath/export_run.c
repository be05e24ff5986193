// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"

#include "export_put.h"
#include "int_report_patch.h"
#include "int_report_writer.h"
#include "ip_header.h"
#include "stage.h"

#include <string.h>

// ---- buffers ----

void hs_export_open(struct hs_worker *worker, unsigned n)
{
	struct hs_exporter *exporter = worker->exporter;

	exporter->expected = 0;
	for (unsigned t = 0; t < exporter->n; t++)
		exporter->expected += exporter->targets[t].config.flows ? n : 0;
}

void hs_export_close(struct hs_worker *worker)
{
	struct hs_exporter *exporter = worker->exporter;

	if (unlikely(exporter->n_spare))
		rte_pktmbuf_free_bulk(exporter->spare, exporter->n_spare);
	exporter->n_spare = exporter->expected = 0;
}

// Returns a buffer, and takes those for the rest of the run. A pool that has too few for all may
// have one.
static struct rte_mbuf *refill(struct hs_worker *worker, struct hs_exporter *exporter)
{
	unsigned n = RTE_MIN(exporter->expected, HS_BURST);

	if (rte_pktmbuf_alloc_bulk(worker->pool, exporter->spare, n) != 0)
		return rte_pktmbuf_alloc(worker->pool);
	exporter->n_spare = n;
	return exporter->spare[--exporter->n_spare];
}

static inline struct rte_mbuf *take_buffer(struct hs_worker *worker, struct hs_exporter *exporter)
{
	struct rte_mbuf *m = likely(exporter->n_spare) ? exporter->spare[--exporter->n_spare]
						       : refill(worker, exporter);

	exporter->expected--;
	return m;
}

// ---- what reports begin with ----

// Prepares the beginning of reports for packets of which so many bytes are copied.
static void set_copied(
		const struct hs_exporter *exporter, struct hs_export_target *target, uint16_t bytes)
{
	struct hs_export_prepared *prepared = &target->prepared;
	uint8_t *report = prepared->bytes + target->front.len;
	size_t head = prepared->len - (size_t)target->front.len;

	prepared->copied = bytes;
	prepared->payload = (uint16_t)(head + hs_int_report_patch_copied(target->config.format,
							      report, head, bytes));
	hs_udp_front_write_headers(
			&target->front, prepared->bytes, prepared->payload, exporter->src_port);
	if (target->front.checksum)
		prepared->sum = hs_ip_sum(report, head);
}

static void prepare(const struct hs_worker *worker, struct hs_export_target *target)
{
	struct hs_export_prepared *prepared = &target->prepared;
	struct hs_int_report own = worker->exporter->report;
	size_t room = rte_pktmbuf_data_room_size(worker->pool) - RTE_PKTMBUF_HEADROOM;
	struct hs_int_report_writer writer;

	prepared->len = 0;
	hs_export_complete(target, &own);
	own.sequence = 0;
	hs_int_report_begin(&writer, target->config.format, prepared->bytes + target->front.len,
			sizeof(prepared->bytes) - target->front.len);
	if (room < sizeof(prepared->bytes) + target->config.bytes + 3u ||
			hs_int_report_add(&writer, &own, NULL, 0) < 0)
		return;
	prepared->len = (uint16_t)(target->front.len + writer.len);
	set_copied(worker->exporter, target, target->config.bytes);
}

void hs_export_prepare(struct hs_worker *worker, const struct hs_int_report *report)
{
	struct hs_exporter *exporter = worker->exporter;

	exporter->report = *report;
	for (unsigned t = 0; t < exporter->n; t++) {
		if (exporter->targets[t].config.flows)
			prepare(worker, &exporter->targets[t]);
	}
}

// ---- reports ----

// Copies bytes of the packet. The usual number of bytes is a constant, so that the copy needs no
// call.
static inline void copy_packet(uint8_t *to, const struct rte_mbuf *packet, uint32_t bytes)
{
	const uint8_t *from = rte_pktmbuf_read(packet, 0, bytes, to);

	if (likely(bytes == HS_EXPORT_BYTES && from != to))
		memcpy(to, from, HS_EXPORT_BYTES);
	else if (from != to)
		memcpy(to, from, bytes);
}

static void write(const struct hs_exporter *exporter, const struct hs_export_target *target,
		const struct rte_mbuf *packet, struct rte_mbuf *m)
{
	const struct hs_export_prepared *prepared = &target->prepared;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *copy = frame + prepared->len;
	uint32_t bytes = target->front.len + (uint32_t)prepared->payload;

	memcpy(frame, prepared->bytes, sizeof(prepared->bytes));
	uint32_t sequence = hs_int_report_patch_sequence(target->config.format,
			frame + target->front.len, target->sequence + target->n);
	memset(frame + bytes - 3, 0, 3); // what the copy does not reach
	copy_packet(copy, packet, prepared->copied);
	m->data_len = (uint16_t)bytes;
	m->pkt_len = bytes;
	if (unlikely(target->front.checksum))
		hs_udp_front_write_checksum(&target->front, frame, prepared->payload,
				exporter->src_port,
				prepared->sum + (sequence >> 16) + (uint16_t)sequence +
						hs_ip_sum(copy, prepared->copied));
}

static inline void put(struct hs_worker *worker, struct hs_exporter *exporter,
		struct hs_export_target *target, const struct rte_mbuf *packet)
{
	uint32_t bytes = RTE_MIN(target->config.bytes, rte_pktmbuf_pkt_len(packet));

	if (unlikely(!hs_export_take_place(worker, target, HS_EXPORT_FLOW)))
		return;
	if (unlikely(bytes != target->prepared.copied))
		set_copied(exporter, target, (uint16_t)bytes);
	struct rte_mbuf *m = take_buffer(worker, exporter);
	if (likely(m))
		write(exporter, target, packet, m);
	hs_export_put_made(worker, target, m, NULL);
}

void hs_export_prepared(struct hs_worker *worker, const struct rte_mbuf *packet)
{
	struct hs_exporter *exporter = worker->exporter;

	for (unsigned t = 0; t < exporter->n; t++) {
		struct hs_export_target *target = &exporter->targets[t];
		if (!target->config.flows)
			continue;
		if (likely(target->prepared.len))
			put(worker, exporter, target, packet);
		else
			hs_export_put(worker, target, HS_EXPORT_FLOW, &exporter->report, packet,
					NULL);
	}
}
