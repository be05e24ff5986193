// SPDX-License-Identifier: BSD-3-Clause
// Estimates how many packets overtake each other. A packet can be overtaken by packets that are
// sent after it within the time by which delays differ. Their number follows from the highest rate
// between the flow's other reports. The mean rate of a span with a pause would be too low.
#include "qos_reorder.h"

#include "qos_step.h"
#include "qos_sum.h"

#define MS 1000000ll

#define NEWEST	 256	   // most reports of the ring to read
#define LEAST_NS (15 * MS) // least difference of delays where packets overtake each other
#define RATE_NS	 (5 * MS)  // least time between two reports for a rate
#define PAUSE	 2	   // a span with a pause is at least so many times slower

struct spread {
	unsigned n; // reports
	struct hs_e2e last;
	int64_t delay_min, delay_max;
	double packets_per_ns; // the highest
};

static void look_at(struct spread *spread, const struct hs_report *report)
{
	const struct hs_e2e *e2e = &report->telemetry.e2e, *last = &spread->last;
	int64_t delay = hs_qos_flow_delay(report);
	if (!spread->n++) {
		spread->delay_min = spread->delay_max = delay;
		spread->last = *e2e;
		return;
	}
	spread->delay_min = delay < spread->delay_min ? delay : spread->delay_min;
	spread->delay_max = delay > spread->delay_max ? delay : spread->delay_max;
	int64_t elapsed_ns = (int64_t)(e2e->ts_ns - last->ts_ns);
	if (elapsed_ns < RATE_NS && elapsed_ns > -RATE_NS)
		return;
	double rate = (int32_t)(e2e->tx_packets - last->tx_packets) / (double)elapsed_ns;
	if (rate > spread->packets_per_ns)
		spread->packets_per_ns = rate;
	spread->last = *e2e;
}

// Reads the reports of this epoch before the one of this number. Leaves out stragglers of the epoch
// before, because another clock may have stamped them.
static struct spread spread_before(const struct hs_qos_flow *flow, uint64_t number)
{
	const uint16_t needed = HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS;
	struct spread spread = {0};
	struct hs_report report;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring);
	if (oldest < flow->seen_from)
		oldest = flow->seen_from;
	while (number-- > oldest && spread.n < NEWEST) {
		hs_qos_ring_get(&flow->ring, number, &report);
		if (needed & ~report.telemetry.e2e.bitmap)
			break;
		if (!hs_qos_flow_is_of_life_before(flow, &report))
			look_at(&spread, &report);
	}
	return spread;
}

// The extremes of n evenly spread delays are (n - 1) / (n + 1) of the whole range apart. A packet
// overtakes others and is overtaken, hence the factor 2. The report itself is left out, because its
// stamp may be another clock's.
int64_t hs_qos_reorder_under_way(const struct hs_qos_flow *flow, uint64_t number, int64_t packets,
		int64_t elapsed_ns)
{
	struct spread spread = spread_before(flow, number);
	if (spread.n < 2)
		return 0;
	double spread_ns = (double)hs_qos_distance(spread.delay_max, spread.delay_min);
	spread_ns *= (double)(spread.n + 1) / (spread.n - 1);
	double expected = spread.packets_per_ns * ((double)elapsed_ns + spread_ns);
	if (spread_ns < (double)LEAST_NS || (double)packets * PAUSE > expected)
		return 0;
	double under_way = 2 * spread.packets_per_ns * spread_ns;
	return under_way < flow->slack ? (int64_t)under_way : flow->slack;
}

// Returns the packets between two reports, at the end that counted more.
static int64_t packets_between(const struct hs_report *a, const struct hs_report *b)
{
	const struct hs_e2e *from = &a->telemetry.e2e, *to = &b->telemetry.e2e;
	int64_t received = (int64_t)(b->sink_rx_packets - a->sink_rx_packets);
	int64_t sent = (int32_t)(to->tx_packets - from->tx_packets);
	return from->bitmap & to->bitmap & HS_E2E_TX_PACKETS && sent > received ? sent : received;
}

void hs_qos_reorder_step(const struct hs_qos_flow *flow, const struct hs_report *a,
		const struct hs_report *b, const struct hs_qos_chain *chain,
		struct hs_qos_step *step)
{
	struct hs_qos_limits limits = flow->limits;
	limits.missing = flow->missing + flow->missing_before;
	hs_qos_step(a, b, chain, &limits, step);
	if (!(step->flags & HS_QOS_STEP_RESETS))
		return;
	int64_t elapsed_ns = (int64_t)((uint64_t)b->sink_ts_ns - (uint64_t)a->sink_ts_ns);
	limits.under_way = hs_qos_reorder_under_way(
			flow, flow->ring.next - 1, packets_between(a, b), elapsed_ns);
	if (!limits.under_way)
		return;
	hs_qos_step(a, b, chain, &limits, step);
	if (!(step->flags & HS_QOS_STEP_RESETS))
		step->flags |= HS_QOS_STEP_DOUBTFUL;
}
