// SPDX-License-Identifier: BSD-3-Clause
#include "flexint.h"
#include "report_put.h"
#include "room.h"
#include "flexint_steps.h"

#include <string.h>

// Copies one option's data; lengths were compared with what encloses them when the packet was
// parsed, and an option cannot be longer than its 8-bit length says.
static uint8_t copy_option(const uint8_t *option, uint8_t *to, size_t room)
{
	size_t len = option[1] <= room ? option[1] : room;

	memcpy(to, option + 2, len);
	return (uint8_t)len;
}

void hs_report_fill(const struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		struct hs_report_record *record)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);

	hs_report_begin(worker, burst, i, record);
	record->trace_len =
			copy_option(frame + packet->trace_off, record->data, HS_FLEXINT_MAX_TRACE);
	record->e2e_len = copy_option(frame + packet->e2e_off, record->data + record->trace_len,
			sizeof(record->data) - record->trace_len);
}

// What is left afterwards decides: telemetry that the codec could not take out is seen again.
bool hs_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct hs_packet *packet = &burst->packets[i];
	bool walkable = packet->telemetry_bytes || (packet->flags & HS_PACKET_MIXED);

	if (!walkable || !hs_make_changeable(worker, burst, i) || (packet->flags & HS_PACKET_SHORT))
		return false;
	struct rte_mbuf *m = burst->mbufs[i];
	size_t taken = hs_flexint_strip(rte_pktmbuf_mtod(m, uint8_t *), packet);
	rte_pktmbuf_adj(m, (uint16_t)taken);
	hs_flexint_parse(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_data_len(m),
			rte_pktmbuf_pkt_len(m), packet);
	return !(packet->flags & HS_STAGE_SUSPECT);
}

bool hs_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];

	if (unlikely(packet->flags & HS_PACKET_PUNT))
		hs_punt_sink(worker, burst, i);
	if (!(packet->flags & HS_PACKET_TELEMETRY)) {
		const uint16_t other = HS_PACKET_PUNT | HS_PACKET_HIDDEN;
		if (!(packet->flags & other))
			hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
	} else if (!hs_flow_is_of(&worker->flows, slot, packet->ns_id)) {
		hs_shadow(worker, burst, i);
	} else {
		hs_report_put(worker, burst, i, hs_report_fill);
	}
	return hs_strip(worker, burst, i);
}
