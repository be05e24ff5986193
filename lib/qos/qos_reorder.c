// SPDX-License-Identifier: BSD-3-Clause
// A packet is overtaken by those that are sent within the time by which delays differ. How many
// these are is told by the rate between the flow's other reports: the mean rate of a span that
// contains a pause is too low.
#include "qos_reorder.h"

#include "qos_step.h"

#include <stdlib.h>

#define MS 1000000ll

#define NEWEST	 256	   // reports of the ring that are looked at
#define LEAST_NS (15 * MS) // by which delays differ where packets overtake each other
#define RATE_NS	 (5 * MS)  // at least, between two reports that tell a rate

struct spread {
	unsigned n; // reports
	struct hs_e2e last;
	int64_t delay_min, delay_max;
	double packets_per_ns; // the highest
};

static void look_at(struct spread *spread, const struct hs_report *report)
{
	const struct hs_e2e *e2e = &report->telemetry.e2e, *last = &spread->last;
	int64_t delay = report->sink_ts_ns - (int64_t)e2e->ts_ns;
	if (!spread->n++) {
		spread->delay_min = spread->delay_max = delay;
		spread->last = *e2e;
		return;
	}
	spread->delay_min = delay < spread->delay_min ? delay : spread->delay_min;
	spread->delay_max = delay > spread->delay_max ? delay : spread->delay_max;
	int64_t elapsed_ns = (int64_t)(e2e->ts_ns - last->ts_ns);
	if (llabs(elapsed_ns) < RATE_NS)
		return;
	double rate = (int32_t)(e2e->tx_packets - last->tx_packets) / (double)elapsed_ns;
	if (rate > spread->packets_per_ns)
		spread->packets_per_ns = rate;
	spread->last = *e2e;
}

// Of n delays that are spread evenly, the extremes are (n - 1) / (n + 1) of the whole range apart.
// A packet overtakes others and is overtaken: twice as many. What is to be explained explains
// nothing: the report itself may have another clock's stamp. So may those before the epoch.
int64_t hs_qos_reorder_under_way(const struct hs_qos_flow *flow, uint64_t number)
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
		look_at(&spread, &report);
	}
	if (spread.n < 2)
		return 0;
	double spread_ns = (double)(spread.delay_max - spread.delay_min);
	spread_ns *= (double)(spread.n + 1) / (spread.n - 1);
	if (spread_ns < (double)LEAST_NS)
		return 0;
	double packets = 2 * spread.packets_per_ns * spread_ns;
	return packets < flow->slack ? (int64_t)packets : flow->slack;
}

void hs_qos_reorder_step(const struct hs_qos_flow *flow, const struct hs_report *a,
		const struct hs_report *b, const struct hs_qos_chain *chain,
		struct hs_qos_step *step)
{
	struct hs_qos_limits limits = flow->limits;
	hs_qos_step(a, b, chain, &limits, step);
	if (!(step->flags & HS_QOS_STEP_RESETS))
		return;
	limits.under_way = hs_qos_reorder_under_way(flow, flow->ring.next - 1);
	if (limits.under_way)
		hs_qos_step(a, b, chain, &limits, step);
}
