// SPDX-License-Identifier: BSD-3-Clause
#include "qos_fast.h"

#include "qos_clock_steps.h"
#include "qos_order.h"
#include "qos_sum.h"

#define E2E_FIELDS   (HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES)
#define HOP_FIELDS   HS_HOP_MEASURED
#define MOST_PACKETS 32767 // frames of MOST_BYTES: their bytes are below 2^31
#define MOST_BYTES   65535
#define WRAP	     65536  // counts of 16 bits; qos_step.c takes others
#define HALF	     16384u // mean frames: more bytes may hide a multiple of 65536 packets

#define HAS_ENDS (HS_QOS_HAS_LOSS | HS_QOS_HAS_RX_PACKETS | HS_QOS_HAS_BYTES | HS_QOS_HAS_SPAN)

// The step to a report: packets lost on each link and in the node at its end, in path order.
struct step {
	int64_t sent, received, received_bytes;
	int32_t lost[2 * HS_TELEMETRY_MAX_HOPS + 1];
};

bool hs_qos_fast_fits(const struct hs_qos_flow *flow, const struct hs_report *report)
{
	const struct hs_decoded *a = &flow->edge.telemetry, *b = &report->telemetry;
	if (!flow->has_edge || flow->limits.packets_wrap != WRAP || flow->multipath ||
			flow->partial || flow->general || a->n_hops != b->n_hops ||
			(a->e2e.bitmap & b->e2e.bitmap & E2E_FIELDS) != E2E_FIELDS)
		return false;
	unsigned bits = HOP_FIELDS;
	uint32_t differ = 0;
	for (unsigned i = 0; i < b->n_hops; i++) {
		differ |= a->hops[i].node_id ^ b->hops[i].node_id;
		bits &= a->hops[i].bitmap & b->hops[i].bitmap;
	}
	return !differ && bits == HOP_FIELDS;
}

// Unwraps a difference of counts (rule 13), as in qos_step.c.
static inline int32_t unwrap(uint16_t difference, int32_t slack)
{
	return difference >= WRAP - slack ? (int32_t)difference - WRAP : difference;
}

// Returns whether qos_restart.c has to judge the step: some node counted fewer packets than a node
// after it, and the count of a node or of the source is young.
static inline bool may_be_restart(const struct step *step, int32_t slack, bool surplus,
		uint32_t least, uint32_t source)
{
	return surplus && ((int64_t)least <= step->sent + 2 * slack ||
					  source <= 2 * MOST_PACKETS + 2 * (uint32_t)slack);
}

// Returns whether qos_clock_steps.c has to judge the step: time ran back at a node, or the time
// elapsed at a node differs from that at the node before.
static inline uint64_t may_be_step(int64_t before_ns, int64_t ns)
{
	uint64_t change = (uint64_t)ns - (uint64_t)before_ns + HS_QOS_STEP_NS;
	return (uint64_t)(change > 2 * HS_QOS_STEP_NS) | (uint64_t)(ns < -HS_QOS_STAMP_BACK_NS);
}

// Computes the counts of the step from end to end. Returns whether they are plausible.
static inline bool count_ends(
		const struct hs_qos_flow *flow, const struct hs_report *report, struct step *step)
{
	step->sent = (uint32_t)(report->telemetry.e2e.tx_packets -
				flow->edge.telemetry.e2e.tx_packets);
	step->received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	step->received_bytes = (int64_t)(report->sink_rx_bytes - flow->edge.sink_rx_bytes);
	return step->sent <= MOST_PACKETS && step->received > 0 && step->received <= MOST_PACKETS &&
	       step->received_bytes > 0 && step->received_bytes <= step->received * MOST_BYTES;
}

// Computes the step. Returns false if a multiple of 65536 packets or of 2^32 bytes may be hidden,
// or if a count ran backwards. With few packets, frames of plausible size and a loss that adds up,
// neither is possible.
static inline bool reckon(
		const struct hs_qos_flow *flow, const struct hs_report *report, struct step *step)
{
	const struct hs_decoded *a = &flow->edge.telemetry, *b = &report->telemetry;
	int32_t slack = (int32_t)flow->slack;
	if (!count_ends(flow, report, step))
		return false;
	int32_t running = (int32_t)step->sent;
	int32_t *lost = step->lost;
	uint16_t last = (uint16_t)running;
	uint32_t doubt = 0, least = UINT32_MAX;
	uint32_t most_bytes = 0;
	int32_t surplus = 0;
	int64_t last_ns = (int64_t)(b->e2e.ts_ns - a->e2e.ts_ns);
	uint64_t stepped = may_be_step(last_ns, last_ns);
	for (unsigned i = b->n_hops; i-- > 0;) {
		const struct hs_hop *p = &a->hops[i], *q = &b->hops[i];
		int64_t ns = (int64_t)(q->ts_ns - p->ts_ns);
		stepped |= may_be_step(last_ns, ns);
		last_ns = ns;
		uint16_t rx = (uint16_t)(q->rx_packets - p->rx_packets);
		uint16_t tx = (uint16_t)(q->tx_packets - p->tx_packets);
		lost[0] = unwrap((uint16_t)(last - rx), slack);
		lost[1] = unwrap((uint16_t)(rx - tx), slack);
		running -= lost[0];
		doubt |= ((uint32_t)(running - 1) & ~(uint32_t)MOST_PACKETS) |
			 ((q->rx_bytes - p->rx_bytes - 1) & 1u << 31);
		running -= lost[1];
		doubt |= (uint32_t)(running - 1) & 1u << 31;
		surplus |= lost[0] | lost[1];
		least = p->rx_packets < least ? p->rx_packets : least;
		least = q->rx_packets < least ? q->rx_packets : least;
		uint32_t bytes = q->rx_bytes - p->rx_bytes;
		most_bytes = bytes > most_bytes ? bytes : most_bytes;
		last = tx;
		lost += 2;
	}
	*lost = unwrap((uint16_t)(last - (uint16_t)step->received), slack);
	surplus |= *lost;
	stepped |= may_be_step(last_ns, report->sink_ts_ns - flow->edge.sink_ts_ns);
	if (stepped || doubt || running - *lost != step->received ||
			(uint64_t)most_bytes * (uint64_t)step->received >
					HALF * (uint64_t)step->received_bytes ||
			(uint64_t)most_bytes * (uint64_t)step->sent >
					HALF * (uint64_t)(b->e2e.tx_bytes - a->e2e.tx_bytes))
		return false;
	return !may_be_restart(step, slack, surplus < 0, least, b->e2e.tx_packets);
}

static inline void absorb(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t index,
		int64_t delay, const struct hs_qos_delta *delta)
{
	struct hs_qos_link_sum *link_sum = &sum->links[index];
	hs_qos_sum_absorb_delay(&flow->links[index], sum, link_sum, delay, true);
	hs_qos_sum_add_delta(link_sum, delta, 1);
}

// Returns the differences of the sink's counts, for the path end to end and for the last link.
static inline struct hs_qos_delta at_sink(const struct hs_qos_flow *flow,
		const struct hs_report *report, const struct step *step)
{
	return (struct hs_qos_delta){
			.has = HAS_ENDS,
			.rx = step->received,
			.rx_bytes = step->received_bytes,
			.span_start_ns = flow->edge.sink_ts_ns,
			.span_end_ns = report->sink_ts_ns,
	};
}

static inline void absorb_links(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct step *step)
{
	const struct hs_decoded *a = &flow->edge.telemetry, *b = &report->telemetry;
	const uint16_t *links = flow->path_links;
	const int32_t *lost = step->lost;
	uint64_t last_ns = b->e2e.ts_ns;
	int64_t running = step->sent;
	for (unsigned i = b->n_hops; i-- > 0; lost += 2, links++) {
		const struct hs_hop *p = &a->hops[i], *q = &b->hops[i];
		struct hs_qos_delta delta = {
				.has = HAS_ENDS | HS_QOS_HAS_NODE_LOSS,
				.lost = lost[0],
				.node_lost = lost[1],
				.tx = running,
				.rx = running - lost[0],
				.rx_bytes = q->rx_bytes - p->rx_bytes,
				.span_start_ns = (int64_t)p->ts_ns,
				.span_end_ns = (int64_t)q->ts_ns,
		};
		absorb(flow, sum, *links, (int64_t)(q->ts_ns - last_ns), &delta);
		running -= lost[0] + lost[1];
		last_ns = q->ts_ns;
	}
	struct hs_qos_delta delta = at_sink(flow, report, step);
	delta.lost = *lost;
	delta.tx = running;
	absorb(flow, sum, *links, (int64_t)((uint64_t)report->sink_ts_ns - last_ns), &delta);
}

bool hs_qos_fast_absorb(
		struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct hs_report *report)
{
	struct step step;
	if (!reckon(flow, report, &step))
		return false;
	struct hs_qos_delta e2e = at_sink(flow, report, &step);
	e2e.tx = step.sent;
	e2e.lost = step.sent - step.received;
	absorb(flow, sum, 0, hs_qos_flow_delay(report), &e2e);
	absorb_links(flow, sum, report, &step);
	flow->resets = 0;
	hs_qos_order_note_step(flow, &e2e);
	return true;
}
