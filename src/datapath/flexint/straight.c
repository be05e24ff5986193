// SPDX-License-Identifier: BSD-3-Clause
#include "straight.h"
#include "flexint_usual.h"
#include "room.h"
#include "skeleton.h"

// Negative growth takes from the front.
static inline uint8_t *grow(struct rte_mbuf *m, int growth)
{
	m->data_off = (uint16_t)(m->data_off - growth);
	m->data_len = (uint16_t)(m->data_len + growth);
	m->pkt_len += (uint32_t)growth;
	return rte_pktmbuf_mtod(m, uint8_t *);
}

// ---- sink ----

static inline void copy_words(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 8)
		memcpy(to + at, from + at, 8);
}

// As our nodes write them: whole words of entries, and the source's entry of the usual fields.
static inline void fill_usual(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, struct hs_report_record *record)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *trace = frame + packet->trace_off, *e2e = frame + packet->e2e_off;

	if (unlikely(trace[1] % 8 || e2e[1] != HS_USUAL_E2E_BYTES)) {
		hs_report_fill(worker, burst, i, record);
		return;
	}
	hs_report_begin(worker, burst, i, record);
	record->trace_len = trace[1];
	record->e2e_len = HS_USUAL_E2E_BYTES;
	copy_words(record->data, trace + 2, trace[1]);
	memcpy(record->data + trace[1], e2e + 2, HS_USUAL_E2E_BYTES);
}

static inline bool is_usual_sink(
		const struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];

	return hs_flow_is_of(&worker->flows, burst->slots[i], packet->ns_id) &&
	       hs_usual_is_stripped_whole(packet) && hs_room_is_changeable(burst->mbufs[i]);
}

static inline bool sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct rte_mbuf *m = burst->mbufs[i];

	if (unlikely(!is_usual_sink(worker, burst, i)))
		return hs_sink(worker, burst, i);
	hs_report_put(worker, burst, i, fill_usual);
	grow(m, -(int)hs_usual_strip(rte_pktmbuf_mtod(m, uint8_t *), &burst->packets[i]));
	return true;
}

void hs_straight_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	hs_to_host_as(worker, burst, first, end, out, sink);
}
