// SPDX-License-Identifier: BSD-3-Clause
// The end of the network: exports items and takes them out.
#include "exporter.h"
#include "label_export.h"
#include "label_run.h"

static void write_items(const void *items, uint8_t *payload)
{
	hs_label_export_write(items, payload);
}

void hs_label_send(struct hs_worker *worker, const struct hs_label_export *export)
{
	if (likely(worker->exporter))
		hs_export_payload(worker, HS_EXPORT_LABEL, hs_label_export_bytes(export),
				write_items, export);
}

static void send_items(struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	struct hs_label_export items;

	hs_label_export_of(hs_label_wire(burst->profile),
			rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *), &burst->packets[i],
			&items);
	hs_label_send(worker, &items);
}

// Takes the items out. `keep` NULL: the items are a host's and are not exported.
static bool strip(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, hs_label_keep_fn keep)
{
	const struct hs_packet *packet = &burst->packets[i];

	if (!(packet->flags & HS_PACKET_TELEMETRY) || !hs_make_changeable(worker, burst, i) ||
			packet->flags & HS_PACKET_SHORT)
		return false;
	if (keep)
		keep(worker, burst, i);
	size_t taken = hs_label_strip(
			rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *), &burst->packets[i]);
	if (!hs_end_strip(worker, burst, i, taken))
		return false;
	if (keep && burst->slots[i] < worker->flows.n_rules)
		hs_flow_add(&worker->flows.own[burst->slots[i]].sink_packets, 1);
	return true;
}

bool hs_label_end(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, hs_label_keep_fn keep)
{
	uint16_t flags = burst->packets[i].flags;

	if (unlikely(!(flags & HS_PACKET_TELEMETRY))) {
		if (!(flags & HS_PACKET_HIDDEN))
			hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
		return false;
	}
	return strip(worker, burst, i, keep);
}

bool hs_label_strip_step(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours)
{
	return strip(worker, burst, i, ours ? send_items : NULL);
}

bool hs_label_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	return hs_label_end(worker, burst, i, send_items);
}
