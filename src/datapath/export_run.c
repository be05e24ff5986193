// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"

#include "export_put.h"
#include "int_report_patch.h"
#include "int_report_writer.h"
#include "ip_header.h"
#include "stage.h"

#include <string.h>

// ---- buffers ----

// Sets what is sent with a buffer and is not written with the report. A buffer of the pool is one
// segment with one owner, so rte_pktmbuf_reset would do more than is needed.
static inline void reset(struct rte_mbuf *m)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->port = RTE_MBUF_PORT_INVALID;
	m->ol_flags = 0;
	m->packet_type = 0;
	m->vlan_tci = 0;
}

// Takes buffers. Returns their number: a pool that has too few for all may have some.
static unsigned take_buffers(struct rte_mempool *pool, struct rte_mbuf **mbufs, unsigned n)
{
	unsigned taken = n;

	if (unlikely(rte_mempool_get_bulk(pool, (void **)mbufs, n) != 0)) {
		for (taken = 0; taken < n; taken++) {
			if (rte_mempool_get(pool, (void **)&mbufs[taken]) != 0)
				break;
		}
	}
	for (unsigned i = 0; i < taken; i++)
		reset(mbufs[i]);
	return taken;
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

// Writes the beginning of the reports. Returns whether a target and a buffer have room for reports
// that are made in this way.
static bool prepare(const struct hs_worker *worker, struct hs_export_target *target,
		const struct hs_int_report *report)
{
	struct hs_export_prepared *prepared = &target->prepared;
	struct hs_int_report own = *report;
	size_t room = rte_pktmbuf_data_room_size(worker->pool) - RTE_PKTMBUF_HEADROOM;
	struct hs_int_report_writer writer;

	hs_export_complete(target, &own);
	own.sequence = 0;
	hs_int_report_begin(&writer, target->config.format, prepared->bytes + target->front.len,
			sizeof(prepared->bytes) - target->front.len);
	if (room < sizeof(prepared->bytes) + target->config.bytes + 3u ||
			hs_int_report_add(&writer, &own, NULL, 0) < 0)
		return false;
	prepared->len = (uint16_t)(target->front.len + writer.len);
	set_copied(worker->exporter, target, target->config.bytes);
	return true;
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

static inline void write(const struct hs_exporter *exporter, const struct hs_export_target *target,
		const struct rte_mbuf *packet, struct rte_mbuf *m, uint32_t number)
{
	const struct hs_export_prepared *prepared = &target->prepared;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *copy = frame + prepared->len;
	uint32_t bytes = target->front.len + (uint32_t)prepared->payload;

	memcpy(frame, prepared->bytes, sizeof(prepared->bytes));
	uint32_t sequence = hs_int_report_patch_sequence(
			target->config.format, frame + target->front.len, number);
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

static void put_run(struct hs_worker *worker, struct hs_export_target *target,
		struct rte_mbuf *const *packets, unsigned n)
{
	const struct hs_exporter *exporter = worker->exporter;
	unsigned places = hs_export_take_places(worker, target, HS_EXPORT_FLOW, n);
	struct rte_mbuf **made = target->mbufs + target->n;
	unsigned n_made = take_buffers(worker->pool, made, places);
	uint32_t number = target->sequence + target->n;

	for (unsigned i = 0; i < n_made; i++) {
		uint32_t bytes = RTE_MIN(target->config.bytes, rte_pktmbuf_pkt_len(packets[i]));
		if (unlikely(bytes != target->prepared.copied))
			set_copied(exporter, target, (uint16_t)bytes);
		write(exporter, target, packets[i], made[i], number + i);
		target->of[target->n + i] = NULL;
	}
	target->n += (uint16_t)n_made;
	for (unsigned i = n_made; i < places; i++)
		hs_export_put_made(worker, target, NULL, NULL);
}

void hs_export_run(struct hs_worker *worker, const struct hs_int_report *report,
		struct rte_mbuf *const *packets, unsigned n)
{
	struct hs_exporter *exporter = worker->exporter;

	for (unsigned t = 0; t < exporter->n; t++) {
		struct hs_export_target *target = &exporter->targets[t];
		if (!target->config.flows)
			continue;
		if (likely(prepare(worker, target, report))) {
			put_run(worker, target, packets, n);
			continue;
		}
		for (unsigned i = 0; i < n; i++)
			hs_export_put(worker, target, HS_EXPORT_FLOW, report, packets[i], NULL);
	}
}
