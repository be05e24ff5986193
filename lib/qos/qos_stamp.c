// SPDX-License-Identifier: BSD-3-Clause
#include "qos_stamp.h"

#include "qos_order.h"
#include "qos_path.h"
#include "qos_sum.h"

// The time between two reports at each node that stamped both, in path order. Where all clocks run,
// it differs from node to node by what the delay between them changed.
struct elapsed {
	unsigned n;
	uint8_t place[HS_FLEXINT_MAX_HOPS + 2];
	int64_t ns[HS_FLEXINT_MAX_HOPS + 2];
	uint64_t ran_back; // while the node's own count went on
};

static void push(struct elapsed *elapsed, unsigned place, uint64_t a_ns, uint64_t b_ns, bool newer)
{
	int64_t ns = (int64_t)(b_ns - a_ns);
	elapsed->place[elapsed->n] = (uint8_t)place;
	elapsed->ns[elapsed->n++] = ns;
	if (newer && ns < -HS_QOS_STAMP_BACK_NS)
		elapsed->ran_back |= hs_qos_stamp_bit(place);
}

static bool is_newer(const struct hs_report *a, const struct hs_report *b)
{
	const struct hs_flexint_e2e *from = &a->telemetry.e2e, *to = &b->telemetry.e2e;
	uint16_t bits = from->bitmap & to->bitmap;
	if (bits & HS_E2E_TX_PACKETS)
		return (int32_t)(to->tx_packets - from->tx_packets) > 0;
	if (bits & HS_E2E_INT_PACKETS)
		return (int32_t)(to->int_packets - from->int_packets) > 0;
	return (bits & HS_E2E_TIMESTAMP) && to->ts_ns > from->ts_ns;
}

static void measure(const struct hs_report *a, const struct hs_report *b, struct elapsed *elapsed)
{
	const struct hs_flexint *from = &a->telemetry, *to = &b->telemetry;
	unsigned n = to->n_hops;
	elapsed->n = 0;
	elapsed->ran_back = 0;
	if (from->e2e.bitmap & to->e2e.bitmap & HS_E2E_TIMESTAMP)
		push(elapsed, 0, from->e2e.ts_ns, to->e2e.ts_ns, true);
	for (unsigned i = n; i-- > 0 && hs_qos_path_same(from, to);) {
		const struct hs_flexint_hop *p = &from->hops[i], *q = &to->hops[i];
		uint16_t bits = p->bitmap & q->bitmap;
		bool counted = (bits & HS_HOP_PACKETS) &&
			       (int16_t)(q->rx_packets - p->rx_packets) > 0;
		if (bits & HS_HOP_TIMESTAMP)
			push(elapsed, n - i, p->ts_ns, q->ts_ns, counted);
	}
	push(elapsed, n + 1, (uint64_t)a->sink_ts_ns, (uint64_t)b->sink_ts_ns,
			b->sink_rx_packets > a->sink_rx_packets);
}

// More than delays change between two packets: with this the change of a queue's length is left
// alone, and so is the jitter that the flow shows.
static int64_t bound_of(const struct hs_qos_flow *flow)
{
	uint64_t jitter = flow->n_links ? flow->links[0].rfc3550 / 2 : 0; // eight times
	return jitter > INT64_MAX / 4 ? INT64_MAX / 4 : HS_QOS_STEP_NS + (int64_t)jitter;
}

static bool far(int64_t a, int64_t b, int64_t bound)
{
	return hs_qos_distance(a, b) > (uint64_t)bound;
}

// A transit node whose time differs from that of both its neighbours, which agree.
static uint64_t steps_between(const struct elapsed *elapsed, int64_t bound)
{
	uint64_t steps = 0;
	for (unsigned i = 1; i + 1 < elapsed->n; i++) {
		int64_t before = elapsed->ns[i - 1], at = elapsed->ns[i];
		int64_t behind = elapsed->ns[i + 1];
		if (far(at, before, bound) && far(at, behind, bound) &&
				!far(before, behind, bound / 2))
			steps |= hs_qos_stamp_bit(elapsed->place[i]);
	}
	return steps;
}

// A queue that drains: the delay falls, and not below what it was when the flow began, or when a
// clock had stepped last.
static bool drains(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct elapsed *elapsed, int64_t bound)
{
	const struct hs_flexint_e2e *e2e = &report->telemetry.e2e;
	if (!(e2e->bitmap & HS_E2E_TIMESTAMP) || elapsed->ns[elapsed->n - 1] >= elapsed->ns[0])
		return false;
	int64_t delay = (int64_t)((uint64_t)report->sink_ts_ns - e2e->ts_ns);
	return delay >= flow->base_ns || !far(delay, flow->base_ns, bound / 2);
}

// The two ends have one neighbour each.
static uint64_t steps_at_ends(const struct elapsed *elapsed, uint64_t known, int64_t bound)
{
	unsigned last = elapsed->n - 1;
	uint64_t steps = 0;
	if (far(elapsed->ns[0], elapsed->ns[1], bound) &&
			!(known & hs_qos_stamp_bit(elapsed->place[1])))
		steps |= hs_qos_stamp_bit(elapsed->place[0]);
	if (far(elapsed->ns[last], elapsed->ns[last - 1], bound) &&
			!(known & hs_qos_stamp_bit(elapsed->place[last - 1])))
		steps |= hs_qos_stamp_bit(elapsed->place[last]);
	return steps;
}

uint64_t hs_qos_stamp_steps(const struct hs_qos_flow *flow, const struct hs_report *report)
{
	struct elapsed elapsed;
	if (!flow->has_edge || !is_newer(&flow->edge, report))
		return 0;
	measure(&flow->edge, report, &elapsed);
	int64_t bound = bound_of(flow);
	uint64_t steps = steps_between(&elapsed, bound) | elapsed.ran_back;
	if (elapsed.n >= 2 && !drains(flow, report, &elapsed, bound))
		steps |= steps_at_ends(&elapsed, steps, bound);
	return steps;
}

static void mark(const struct hs_qos_flow *flow, const struct hs_report *report,
		struct hs_qos_sum *sum)
{
	sum->clock_stepped = true;
	sum->sink_stepped |= (flow->stepped & hs_qos_stamp_bit(report->telemetry.n_hops + 1u)) != 0;
}

void hs_qos_stamp_note(struct hs_qos_flow *flow, const struct hs_report *report)
{
	struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	flow->stepped = hs_qos_stamp_steps(flow, report);
	if (current->open && (flow->stepped & hs_qos_stamp_bit(report->telemetry.n_hops + 1u)))
		mark(flow, report, current);
}

void hs_qos_stamp_cut(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_chain *chain, struct hs_qos_step *step)
{
	unsigned n = report->telemetry.n_hops;
	bool sink = flow->stepped & hs_qos_stamp_bit(n + 1);
	for (unsigned i = 0; i < chain->n; i++)
		if (flow->stepped & hs_qos_stamp_bit(n - chain->at_b[i]))
			step->links[i].has &= ~(uint32_t)HS_QOS_HAS_SPAN;
	if (!sink)
		return;
	step->links[chain->n].has &= ~(uint32_t)HS_QOS_HAS_SPAN;
	step->e2e.has &= ~(uint32_t)HS_QOS_HAS_SPAN;
}

static void part(struct hs_qos_link *link)
{
	link->has_ordered = link->has_arrived = false;
}

void hs_qos_stamp_part(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan)
{
	mark(flow, report, sum);
	unsigned n = report->telemetry.n_hops;
	uint64_t ends = hs_qos_stamp_bit(0) | hs_qos_stamp_bit(n + 1);
	for (unsigned i = 0; i <= n; i++)
		if (flow->stepped & (hs_qos_stamp_bit(i) | hs_qos_stamp_bit(i + 1)))
			part(&flow->links[plan->path_links[i]]);
	if (flow->stepped & ends)
		part(&flow->links[0]);
	flow->base_ns = hs_qos_stamp_delay(report);
	hs_qos_order_forget(flow); // no pair of a late report's, either
	flow->has_closing_edge = false;
}
