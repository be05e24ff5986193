// SPDX-License-Identifier: BSD-3-Clause
#include "qos_clock_steps.h"

#include "qos_order.h"
#include "qos_path.h"
#include "qos_sum.h"

#define MOST_BACK 16 // reports that are searched for one that came in order

// The time between two reports at each node that stamped both, in path order. If no clock steps,
// the times at two nodes differ by the change of the delay between them.
struct elapsed {
	unsigned n;
	uint8_t place[HS_TELEMETRY_MAX_HOPS + 2];
	int64_t ns[HS_TELEMETRY_MAX_HOPS + 2];
	uint64_t ran_back; // mask of nodes whose time ran back while their count increased
};

static void push(struct elapsed *elapsed, unsigned place, uint64_t a_ns, uint64_t b_ns, bool newer)
{
	int64_t ns = (int64_t)(b_ns - a_ns);
	elapsed->place[elapsed->n] = (uint8_t)place;
	elapsed->ns[elapsed->n++] = ns;
	if (newer && ns < -HS_QOS_STAMP_BACK_NS)
		elapsed->ran_back |= hs_qos_clock_steps_bit(place);
}

static uint64_t stamp_of(const struct hs_report *report, unsigned place)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	if (place == 0)
		return telemetry->e2e.ts_ns;
	return place > telemetry->n_hops ? (uint64_t)report->sink_ts_ns
					 : telemetry->hops[telemetry->n_hops - place].ts_ns;
}

static bool is_newer(const struct hs_report *a, const struct hs_report *b)
{
	const struct hs_e2e *from = &a->telemetry.e2e, *to = &b->telemetry.e2e;
	uint16_t bits = from->bitmap & to->bitmap;
	if (bits & HS_E2E_TX_PACKETS)
		return (int32_t)(to->tx_packets - from->tx_packets) > 0;
	if (bits & HS_E2E_INT_PACKETS)
		return (int32_t)(to->int_packets - from->int_packets) > 0;
	return (bits & HS_E2E_TIMESTAMP) && to->ts_ns > from->ts_ns;
}

// Returns whether a count increased. A count that wraps increased too.
static bool went_on(uint64_t wrap, uint32_t from, uint32_t to)
{
	uint64_t difference = (to - from) & (wrap - 1);
	return difference && difference < wrap / 2;
}

static void measure(const struct hs_report *a, const struct hs_report *b, uint64_t wrap,
		struct elapsed *elapsed)
{
	const struct hs_decoded *from = &a->telemetry, *to = &b->telemetry;
	unsigned n = to->n_hops;
	elapsed->n = 0;
	elapsed->ran_back = 0;
	if (from->e2e.bitmap & to->e2e.bitmap & HS_E2E_TIMESTAMP)
		push(elapsed, 0, from->e2e.ts_ns, to->e2e.ts_ns, true);
	for (unsigned i = n; i-- > 0 && hs_qos_path_same(from, to);) {
		const struct hs_hop *p = &from->hops[i], *q = &to->hops[i];
		uint16_t bits = p->bitmap & q->bitmap;
		bool counted = (bits & HS_HOP_PACKETS) &&
			       went_on(wrap, p->rx_packets, q->rx_packets);
		if (bits & HS_HOP_TIMESTAMP)
			push(elapsed, n - i, p->ts_ns, q->ts_ns, counted);
	}
	push(elapsed, n + 1, (uint64_t)a->sink_ts_ns, (uint64_t)b->sink_ts_ns,
			b->sink_rx_packets > a->sink_rx_packets);
}

// Returns a bound above the change of a delay between two packets. Changes of a queue's length and
// the flow's jitter stay below it.
static int64_t bound_of(const struct hs_qos_flow *flow)
{
	uint64_t jitter = flow->n_links ? flow->links[0].rfc3550 / 2 : 0; // eight times
	return jitter > INT64_MAX / 4 ? INT64_MAX / 4 : HS_QOS_STEP_NS + (int64_t)jitter;
}

static bool far(int64_t a, int64_t b, int64_t bound)
{
	return hs_qos_distance(a, b) > (uint64_t)bound;
}

// ---- the least delay of a link ----

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// Returns the least delay of a link since the link began or a clock at its ends last stepped. A
// queue adds to this delay. Returns INT64_MAX if it is not known.
static int64_t base_of(const struct hs_qos_flow *flow, unsigned link)
{
	int64_t base_ns = flow->links[link].has_base ? flow->links[link].base_ns : INT64_MAX;
	for (unsigned i = HS_QOS_CURRENT; i <= HS_QOS_CLOSING; i++) {
		const struct hs_qos_sum *sum = &flow->sums[i];
		if (sum->open && sum->tag > flow->base_tag && sum->links[link].delay_n)
			base_ns = least(base_ns, sum->links[link].delay_min);
	}
	return base_ns;
}

void hs_qos_clock_steps_keep_bases(struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < flow->n_links; i++) {
		flow->links[i].base_ns = base_of(flow, i);
		flow->links[i].has_base = flow->links[i].base_ns != INT64_MAX;
	}
}

// Begins the least delays anew at this report, for links that have none.
static void begin_bases(struct hs_qos_flow *flow, const struct hs_qos_delays *delays, int64_t tag)
{
	flow->base_tag = tag;
	for (unsigned i = 0; i < delays->n; i++) {
		struct hs_qos_link *link = &flow->links[delays->links[i]];
		if (!link->has_base)
			link->base_ns = delays->ns[i];
		link->has_base = true;
	}
}

void hs_qos_clock_steps_begin(
		struct hs_qos_flow *flow, const struct hs_qos_delays *delays, int64_t tag)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		flow->links[i].has_base = false;
	begin_bases(flow, delays, tag);
}

// Returns the least delay between the i-th and the next node that stamped, or INT64_MAX.
static int64_t base_between(const struct hs_qos_flow *flow, const struct elapsed *elapsed,
		unsigned i, unsigned n_hops)
{
	if (elapsed->place[i] == 0 && elapsed->place[i + 1] == n_hops + 1)
		return base_of(flow, 0);
	int64_t sum_ns = 0;
	for (unsigned place = elapsed->place[i]; place < elapsed->place[i + 1]; place++) {
		int64_t base_ns = base_of(flow, flow->path_links[place]);
		if (base_ns == INT64_MAX)
			return INT64_MAX;
		sum_ns = (int64_t)((uint64_t)sum_ns + (uint64_t)base_ns);
	}
	return sum_ns;
}

// ---- which clock stepped ----

static bool rose(const struct elapsed *elapsed, unsigned i, int64_t bound)
{
	return elapsed->ns[i + 1] > elapsed->ns[i] &&
	       far(elapsed->ns[i + 1], elapsed->ns[i], bound);
}

// Returns whether a delay fell by a step of a clock. A delay also falls when a queue drains, but
// not below the least delay of the link.
static bool fell(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct elapsed *elapsed, unsigned i, int64_t bound)
{
	if (elapsed->ns[i + 1] >= elapsed->ns[i] || !far(elapsed->ns[i + 1], elapsed->ns[i], bound))
		return false;
	unsigned n_hops = report->telemetry.n_hops;
	int64_t base_ns = base_between(flow, elapsed, i, n_hops);
	if (base_ns == INT64_MAX)
		return true;
	int64_t delay_ns = (int64_t)(stamp_of(report, elapsed->place[i + 1]) -
				     stamp_of(report, elapsed->place[i]));
	return delay_ns < base_ns && far(delay_ns, base_ns, bound / 2);
}

// Returns which end's clock stepped on a link whose delay fell: the first end's clock forward, or
// the second end's back. The delay on the other side of that node rose.
static uint64_t who_fell(const struct hs_qos_flow *flow, const struct elapsed *elapsed, unsigned i,
		int64_t bound)
{
	uint64_t first = hs_qos_clock_steps_bit(elapsed->place[i]);
	uint64_t second = hs_qos_clock_steps_bit(elapsed->place[i + 1]);
	bool ends = i + 2 == elapsed->n;
	if (i > 0 && rose(elapsed, i - 1, bound))
		return first;
	if (!ends && rose(elapsed, i + 1, bound))
		return second;
	// A step of a transit node's clock shows on both sides. Without this, a queue drained that
	// had been there from the beginning.
	uint64_t sink = ends && !flow->sink_tells ? second : 0;
	return (i == 0 ? first : 0) | sink;
}

// Returns whether a delay rose by a step of the source's clock back, or of the sink's forward. A
// delay also rises when a queue fills. After a step, the packets received show, at the rate before,
// how much time really passed.
static bool took(const struct hs_qos_flow *flow, const struct hs_report *report, bool by_source,
		int64_t took_ns, uint64_t off_ns)
{
	const struct hs_report *edge = &flow->edge;
	struct hs_report before;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring), number = flow->ring.next - 1;
	for (unsigned i = 0; i < MOST_BACK && number > oldest; i++) {
		hs_qos_ring_get(&flow->ring, --number, &before);
		int64_t ns = by_source ? (int64_t)(edge->telemetry.e2e.ts_ns -
							 before.telemetry.e2e.ts_ns)
				       : edge->sink_ts_ns - before.sink_ts_ns;
		int64_t packets = (int64_t)(edge->sink_rx_packets - before.sink_rx_packets);
		if (!is_newer(&before, edge) || ns <= 0 || packets <= 0)
			continue;
		double each_ns = (double)ns / (double)packets;
		uint64_t received = report->sink_rx_packets - edge->sink_rx_packets;
		double error_ns = (double)received * each_ns - (double)took_ns;
		return error_ns <= (double)off_ns / 4 && -error_ns <= (double)off_ns / 4;
	}
	return false;
}

static uint64_t who_rose(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct elapsed *elapsed, int64_t bound)
{
	unsigned last = elapsed->n - 1;
	const int64_t *ns = elapsed->ns;
	uint64_t steps = 0;
	if (elapsed->place[0] == 0 && rose(elapsed, 0, bound) &&
			took(flow, report, true, ns[1], hs_qos_distance(ns[1], ns[0])))
		steps |= hs_qos_clock_steps_bit(0);
	if (!flow->sink_tells && rose(elapsed, last - 1, bound) &&
			took(flow, report, false, ns[last - 1],
					hs_qos_distance(ns[last], ns[last - 1])))
		steps |= hs_qos_clock_steps_bit(elapsed->place[last]);
	return steps;
}

// Which clocks of the report's path stepped since the newest report. 0 for a report that is late.
static uint64_t steps_of(const struct hs_qos_flow *flow, const struct hs_report *report)
{
	struct elapsed elapsed;
	if (!flow->has_edge)
		return 0;
	if (!is_newer(&flow->edge, report))
		return hs_qos_flow_source_went_back(flow, report) ? hs_qos_clock_steps_bit(0) : 0;
	measure(&flow->edge, report, flow->limits.packets_wrap, &elapsed);
	int64_t bound = bound_of(flow);
	uint64_t steps = elapsed.ran_back, fallen = 0;
	for (unsigned i = 0; i + 1 < elapsed.n; i++)
		if (fell(flow, report, &elapsed, i, bound))
			fallen |= who_fell(flow, &elapsed, i, bound);
	if (!steps && !fallen && elapsed.n >= 2)
		steps = who_rose(flow, report, &elapsed, bound);
	return steps | fallen;
}

static void mark(const struct hs_qos_flow *flow, const struct hs_report *report,
		struct hs_qos_sum *sum)
{
	sum->clock_stepped = true;
	sum->odd_length |= (flow->stepped & hs_qos_clock_steps_bit(
							    report->telemetry.n_hops + 1u)) != 0;
}

void hs_qos_clock_steps_note(struct hs_qos_flow *flow, const struct hs_report *report)
{
	struct hs_qos_sum *current = &flow->sums[HS_QOS_CURRENT];
	flow->stepped = steps_of(flow, report);
	if (current->open &&
			(flow->stepped & hs_qos_clock_steps_bit(report->telemetry.n_hops + 1u)))
		mark(flow, report, current);
}

void hs_qos_clock_steps_cut(const struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_chain *chain, struct hs_qos_step *step)
{
	unsigned n = report->telemetry.n_hops;
	bool sink = flow->stepped & hs_qos_clock_steps_bit(n + 1);
	for (unsigned i = 0; i < chain->n; i++)
		if (flow->stepped & hs_qos_clock_steps_bit(n - chain->at_b[i]))
			step->links[i].has &= ~(uint32_t)HS_QOS_HAS_SPAN;
	if (!sink)
		return;
	step->links[chain->n].has &= ~(uint32_t)HS_QOS_HAS_SPAN;
	step->e2e.has &= ~(uint32_t)HS_QOS_HAS_SPAN;
}

static void part(struct hs_qos_link *link)
{
	link->has_ordered = link->has_arrived = link->has_base = false;
}

void hs_qos_clock_steps_part(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan,
		const struct hs_qos_delays *delays)
{
	mark(flow, report, sum);
	hs_qos_clock_steps_keep_bases(flow);
	unsigned n = report->telemetry.n_hops;
	uint64_t ends = hs_qos_clock_steps_bit(0) | hs_qos_clock_steps_bit(n + 1);
	for (unsigned i = 0; i <= n; i++)
		if (flow->stepped & (hs_qos_clock_steps_bit(i) | hs_qos_clock_steps_bit(i + 1)))
			part(&flow->links[plan->path_links[i]]);
	if (flow->stepped & ends)
		part(&flow->links[0]);
	begin_bases(flow, delays, sum->tag);
	hs_qos_order_forget(flow); // late reports make no pairs across the step, either
	flow->closing_moves = false;
}
