// SPDX-License-Identifier: BSD-3-Clause
#include "export_put.h"

#include "export_outlet.h"
#include "int_report_writer.h"
#include "stage.h"

#define SECOND_NS INT64_C(1000000000)

// ---- sending ----

// Frees the datagrams that found no place. Their sequence numbers go to the next datagrams.
static void lose(struct hs_export_target *target, unsigned sent)
{
	rte_pktmbuf_free_bulk(target->mbufs + sent, target->n - sent);
	for (unsigned i = sent; i < target->n; i++) { // the flow's next packet is reported again
		if (target->of[i])
			target->of[i]->n = UINT32_MAX; // no packet has so many
	}
}

static unsigned send_by_port(struct hs_worker *worker, struct hs_export_target *target)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, target->port->index);
	enum hs_drop reason;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < target->n; i++)
		bytes += rte_pktmbuf_pkt_len(target->mbufs[i]);
	unsigned sent = hs_send(worker, target->port, target->mbufs, target->n, bytes, &reason);
	stats->copies += target->n; // reports count like copies of flooded packets
	stats->forwarded += target->n;
	stats->offered += target->n;
	hs_flow_add(&worker->exports_sent, sent);
	if (unlikely(sent < target->n)) {
		stats->drops[reason] += target->n - sent;
		hs_flow_add(reason == HS_DROP_PORT_DOWN ? &worker->exports_lost_port_down
							: &worker->exports_lost_tx_full,
				target->n - sent);
	}
	return sent;
}

void hs_export_send(struct hs_worker *worker, struct hs_export_target *target)
{
	unsigned sent = likely(target->port) ? send_by_port(worker, target)
					     : hs_export_hand_over(worker, target);

	if (unlikely(sent < target->n))
		lose(target, sent);
	target->sequence += sent;
	target->n = 0;
}

// ---- making ----

// Returns the bytes of the datagram in a frame that has room for it; 0 where the format cannot
// write the report.
static size_t write_datagram(const struct hs_exporter *exporter,
		const struct hs_export_target *target, const struct hs_int_report *report,
		const struct rte_mbuf *packet, uint8_t *frame)
{
	uint32_t bytes = RTE_MIN(target->config.bytes, rte_pktmbuf_pkt_len(packet));
	uint8_t copy[HS_EXPORT_MAX_BYTES];
	const uint8_t *front = rte_pktmbuf_read(packet, 0, bytes, copy);
	size_t most = hs_int_report_bytes(target->config.format, report) + RTE_ALIGN(bytes, 4u);
	struct hs_int_report_writer writer;

	hs_int_report_begin(&writer, target->config.format, frame + target->front.len, most);
	if (hs_int_report_add(&writer, report, front, bytes) < 0)
		return 0;
	hs_udp_front_write(&target->front, frame, writer.len, exporter->src_port);
	return target->front.len + writer.len;
}

static struct rte_mbuf *make(struct hs_worker *worker, const struct hs_export_target *target,
		const struct hs_int_report *report, const struct rte_mbuf *packet)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(worker->pool);
	size_t room = target->front.len + hs_int_report_bytes(target->config.format, report) +
		      target->config.bytes + 3u;

	if (unlikely(!m))
		return NULL;
	size_t bytes = room <= rte_pktmbuf_tailroom(m)
				       ? write_datagram(worker->exporter, target, report, packet,
							 rte_pktmbuf_mtod(m, uint8_t *))
				       : 0;
	if (unlikely(!bytes)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	m->data_len = (uint16_t)bytes;
	m->pkt_len = (uint32_t)bytes;
	return m;
}

// Returns the values that a format's fixed header holds.
static uint16_t needed(uint8_t format)
{
	return format == HS_INT_REPORT_2_0 ? HS_INT_REPORT_NODE
					   : HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME;
}

// Returns for how many of n reports the quota of this second has room.
static unsigned take_quota(const struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, unsigned n)
{
	struct hs_export_quota *quota = &target->quotas[kind];
	int64_t now_ns = hs_burst_steady_ns(&worker->burst);

	if (now_ns - quota->from_ns >= SECOND_NS || now_ns < quota->from_ns) {
		quota->from_ns = now_ns;
		quota->used = 0;
	}
	unsigned taken = RTE_MIN(n, target->quota - quota->used);
	quota->used += taken;
	return taken;
}

unsigned hs_export_take_places(struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, unsigned n)
{
	if (unlikely(!target->port && !target->outlet))
		return 0;
	if (unlikely(target->quota)) {
		unsigned taken = take_quota(worker, target, kind, n);
		hs_flow_add(&worker->exports_over_quota, n - taken);
		n = taken;
	}
	if (unlikely(target->n + n > HS_BURST))
		hs_export_send(worker, target);
	return n;
}

void hs_export_complete(const struct hs_export_target *target, struct hs_int_report *report)
{
	report->inner = HS_INT_INNER_ETHERNET;
	report->has |= needed(target->config.format);
	report->hw_id = target->hw_id;
	report->congested = report->has & HS_INT_REPORT_QUEUE && target->config.queue_packets &&
			    report->queue_packets >= target->config.queue_packets;
	report->sequence = target->sequence + target->n;
}

// Counts a report that got no buffer. A report is like a copy of a flooded packet: it came in at
// the port that sends it.
static void count_no_buffer(struct hs_worker *worker, const struct hs_export_target *target)
{
	hs_flow_add(&worker->exports_lost_no_mbuf, 1);
	if (!target->port)
		return;
	struct hs_port_counters *stats = hs_port_stats_of(worker, target->port->index);
	stats->copies++;
	stats->drops[HS_DROP_NO_MBUF]++;
}

bool hs_export_put_made(struct hs_worker *worker, struct hs_export_target *target,
		struct rte_mbuf *made, struct hs_export_flow *of)
{
	if (unlikely(!made)) {
		count_no_buffer(worker, target);
		return false;
	}
	target->of[target->n] = of;
	target->mbufs[target->n++] = made;
	return true;
}

bool hs_export_put(struct hs_worker *worker, struct hs_export_target *target,
		enum hs_export_kind kind, const struct hs_int_report *told,
		const struct rte_mbuf *packet, struct hs_export_flow *of)
{
	struct hs_int_report own = *told;

	if (!hs_export_take_places(worker, target, kind, 1))
		return false;
	hs_export_complete(target, &own);
	return hs_export_put_made(worker, target, make(worker, target, &own, packet), of);
}
