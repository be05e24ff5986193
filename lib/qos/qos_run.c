// SPDX-License-Identifier: BSD-3-Clause
#include "qos_run.h"

#include "qos_order.h"
#include "qos_sum.h"
#include "qos_vector.h"

#include <string.h>
#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#define E2E_FIELDS   (HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES)
#define WRAP	     65536
#define MOST_HOPS    HS_PACKED_HOPS
#define MOST_PACKETS 32767u
#define MOST_BYTES   65535
#define HALF	     16384u	  // as in qos_fast.c
#define NODE_BYTES   (1ull << 31) // at a node, in a run
#define BLOCK	     16		  // reports whose deviations add up to less than 2^31
#define DEVIATION_NS (1 << 26)	  // of a delay, from that of the report before the run
#define SMOOTHED     (1u << 30)	  // before the run: after it, the value is below 2^32
#define DELAY_NS     (1ll << 62)  // of the report before the run
// No source sends packets faster: as in qos_order.c.
#define MIN_PACKET_NS 5

// Delays of four links at a time.
#define VECTORS ((MOST_HOPS + 2 + LANES - 1) / LANES)
// Id, bitmap and both packet counts of an entry.
typedef uint16_t numbers __attribute__((vector_size(8)));
static_assert(offsetof(struct hs_packed_hop, ts_ns) == sizeof(numbers), "before the stamp");

struct run {
	const struct hs_qos_flow *flow;
	unsigned n, n_hops;
	const struct hs_packed *first, *last; // newest report before the run, and of the run
	const struct hs_packed *reports[HS_QOS_RING_AHEAD];
	uint64_t node_bytes;		// at the nodes that received most from report to report
	int64_t base_ns[MOST_HOPS + 2]; // delays of `first`: end to end, each link in path order
	// Delays of the run minus those of `first`.
	union {
		int32_t lanes[VECTORS * LANES];
		vector vectors[VECTORS];
	} deviations[HS_QOS_RING_AHEAD];
};

// Sums of the delays of four links, and their newest delays.
struct added {
	vector low, high, newest;
	wide_vector smoothed;
	int64_t sum[LANES];
	uint64_t jitter[LANES];
};

static inline unsigned lanes_of(const struct run *run)
{
	return run->n_hops + 2;
}

static inline uint16_t link_of(const struct run *run, unsigned lane)
{
	return lane ? run->flow->path_links[lane - 1] : 0;
}

// ---- which reports make a run ----

// Returns whether a report may be from before the source's restart, judged by its stamp only.
// hs_qos_flow_is_of_life_before decides it.
static inline bool may_be_of_life_before(
		const struct hs_qos_flow *flow, const struct hs_packed *packed)
{
	return flow->restarted && (int64_t)(packed->ts_ns - flow->restart_ts_ns) < 0;
}

// Returns whether a report has all fields end to end and n_hops narrow entries without local
// values.
static inline bool is_full(const struct hs_packed *packed, unsigned n_hops)
{
	return !(packed->form | (packed->n_hops ^ n_hops) |
			(~(unsigned)packed->e2e_bitmap & E2E_FIELDS));
}

// Returns whether the two ends allow a report in a run: hs_qos_order_relate would call it newer,
// and hs_qos_fast_absorb would take it.
static inline bool ends_fit(
		const struct run *run, const struct hs_packed *p, const struct hs_packed *q)
{
	uint32_t sent = q->tx_packets - p->tx_packets;
	uint64_t received_bytes = q->sink_rx_bytes - p->sink_rx_bytes;
	int64_t elapsed_ns = (int64_t)(q->ts_ns - p->ts_ns);
	return is_full(q, run->n_hops) && sent - 1 < MOST_PACKETS &&
	       q->sink_rx_packets - p->sink_rx_packets == sent &&
	       received_bytes - 1 < (uint64_t)sent * MOST_BYTES && elapsed_ns >= 0 &&
	       (sent <= run->flow->slack ||
			       (sent - run->flow->slack) * MIN_PACKET_NS <= elapsed_ns) &&
	       q->sink_ts_ns - p->sink_ts_ns >= -HS_QOS_STAMP_BACK_NS &&
	       !may_be_of_life_before(run->flow, q);
}

// Returns whether the nodes in between allow a report in a run: the nodes are the same, each
// counted as many packets as the source, no time ran back, and no delay differs too much from its
// base. Notes the delays.
static inline bool nodes_fit(struct run *run, const struct hs_packed *p, const struct hs_packed *q)
{
	const struct hs_packed_hop *a = hs_packed_hops(p), *b = hs_packed_hops(q);
	const struct hs_packed_hop *end = b + run->n_hops;
	const int64_t *base_ns = run->base_ns, *base = base_ns + run->n_hops + 1;
	uint32_t sent = q->tx_packets - p->tx_packets, most = 0;
	numbers more = (numbers)((uint64_t)(sent << 16 | (sent & UINT16_MAX)) << 32);
	numbers differ = {0}, before, now;
	uint64_t next_ns = (uint64_t)q->sink_ts_ns, back = 0, differs;
	int32_t *deviations = run->deviations[run->n].lanes;
	uint64_t deviation = next_ns - q->ts_ns - (uint64_t)base_ns[0];
	uint64_t far = deviation + DEVIATION_NS;
	run->deviations[run->n].vectors[(run->n_hops + 1) / LANES] = (vector){0};
	deviations[0] = (int32_t)deviation;
	for (int32_t *to = deviations + run->n_hops + 1; b < end; a++, b++, base--, to--) {
		uint32_t bytes = b->rx_bytes - a->rx_bytes - 1;
		memcpy(&before, a, sizeof(before));
		memcpy(&now, b, sizeof(now));
		differ |= (before + more) ^ now;
		most = bytes > most ? bytes : most;
		back |= b->ts_ns - a->ts_ns + HS_QOS_STAMP_BACK_NS;
		deviation = next_ns - b->ts_ns - (uint64_t)*base;
		far |= deviation + DEVIATION_NS;
		*to = (int32_t)deviation;
		next_ns = b->ts_ns;
	}
	deviation = next_ns - q->ts_ns - (uint64_t)base_ns[1];
	far |= deviation + DEVIATION_NS;
	deviations[1] = (int32_t)deviation;
	memcpy(&differs, &differ, sizeof(differs));
	uint64_t bytes = run->n_hops ? most + 1ull : 0;
	run->node_bytes += bytes;
	return !differs && !(back >> 63) && far < 2 * DEVIATION_NS &&
	       run->node_bytes <= NODE_BYTES &&
	       bytes * sent <= HALF * (q->sink_rx_bytes - p->sink_rx_bytes) &&
	       bytes * sent <= HALF * (uint64_t)(q->tx_bytes - p->tx_bytes);
}

static void set_bases(struct run *run)
{
	const struct hs_packed_hop *hops = hs_packed_hops(run->first);
	uint64_t next_ns = (uint64_t)run->first->sink_ts_ns;
	run->base_ns[0] = (int64_t)(next_ns - run->first->ts_ns);
	for (unsigned i = 0; i < run->n_hops; i++) {
		run->base_ns[run->n_hops + 1 - i] = (int64_t)(next_ns - hops[i].ts_ns);
		next_ns = hops[i].ts_ns;
	}
	run->base_ns[1] = (int64_t)(next_ns - run->first->ts_ns);
}

// Begins a run. Returns false unless the newest report has all fields and each link's newest delay
// is this report's.
static bool begin(struct run *run)
{
	const struct hs_qos_flow *flow = run->flow;
	const struct hs_packed *first = run->first;
	if (first->n_hops > MOST_HOPS || !is_full(first, first->n_hops))
		return false;
	run->n_hops = first->n_hops;
	for (unsigned i = 0; i < run->n_hops; i++)
		if (hs_packed_hops(first)[i].id >> 16 != HS_HOP_MEASURED)
			return false;
	set_bases(run);
	for (unsigned i = 0; i < lanes_of(run); i++) {
		const struct hs_qos_link *link = &flow->links[link_of(run, i)];
		int64_t base_ns = run->base_ns[i];
		if (!link->has_origin || !link->has_arrived || !link->has_ordered ||
				link->arrived != base_ns || link->ordered != base_ns ||
				link->rfc3550 >= SMOOTHED || base_ns >= DELAY_NS ||
				base_ns <= -DELAY_NS)
			return false;
	}
	return true;
}

// Finds the reports of the run, at most as many as the ring has room for. When the ring is full,
// delays must first move into histograms.
static void find(struct run *run)
{
	const struct hs_qos_ring *ring = &run->flow->ring;
	uint64_t kept = ring->next - run->flow->unfolded, room = hs_qos_ring_room(ring);
	uint64_t most = room > kept ? room - kept : 0;
	for (uint32_t slot = ring->head; run->n < ring->ahead && run->n < most; run->n++, slot++) {
		slot = slot == ring->capacity ? 0 : slot;
		const struct hs_packed *next = run->n ? hs_qos_ring_behind(ring, run->last, slot)
						      : hs_qos_ring_ahead(ring, 0);
		if (!ends_fit(run, run->last, next) || !nodes_fit(run, run->last, next))
			return;
		run->reports[run->n] = run->last = next;
	}
}

// ---- adding up ----

#ifdef __SSE4_1__
static inline vector least(vector a, vector b)
{
	return (vector)_mm_min_epi32((__m128i)a, (__m128i)b);
}

static inline vector greatest(vector a, vector b)
{
	return (vector)_mm_max_epi32((__m128i)a, (__m128i)b);
}

static inline vector magnitude(vector a)
{
	return (vector)_mm_abs_epi32((__m128i)a);
}
#else
static inline vector least(vector a, vector b)
{
	vector less = a < b;
	return (less & a) | (~less & b);
}

static inline vector greatest(vector a, vector b)
{
	vector less = a < b;
	return (less & b) | (~less & a);
}

static inline vector magnitude(vector a)
{
	vector negative = a < 0;
	return (a ^ negative) - negative;
}
#endif

static inline void add_block(const struct run *run, unsigned at, unsigned from, unsigned until,
		struct added *added)
{
	vector before = added->newest, sum = {0};
	wide_vector jitter = {0};
	for (unsigned k = from; k < until; k++) {
		vector ns = run->deviations[k].vectors[at];
		wide_vector distance = (wide_vector)magnitude(ns - before);
		added->low = least(ns, added->low);
		added->high = greatest(ns, added->high);
		sum += ns;
		jitter += distance;
		added->smoothed += distance - ((added->smoothed + 8) >> 4);
		before = ns;
	}
	added->newest = before;
	for (unsigned lane = 0; lane < LANES; lane++) {
		added->sum[lane] += sum[lane];
		added->jitter[lane] += jitter[lane];
	}
}

static inline void add_up(const struct run *run, unsigned at, struct added *added)
{
	for (unsigned lane = 0; lane < LANES; lane++)
		if (at * LANES + lane < lanes_of(run))
			added->smoothed[lane] =
					(uint32_t)run->flow->links[link_of(run, at * LANES + lane)]
							.rfc3550;
	added->low = added->high = run->deviations[0].vectors[at];
	for (unsigned k = 0; k < run->n; k += BLOCK)
		add_block(run, at, k, k + BLOCK < run->n ? k + BLOCK : run->n, added);
}

static void add_delays(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run,
		unsigned lane, const struct added *added)
{
	struct hs_qos_link *link = &flow->links[link_of(run, lane)];
	struct hs_qos_link_sum *link_sum = &sum->links[link_of(run, lane)];
	int64_t base_ns = run->base_ns[lane];
	unsigned at = lane % LANES;
	int64_t low = base_ns + added->low[at], high = base_ns + added->high[at];
	if (!link_sum->delay_n || low < link_sum->delay_min)
		link_sum->delay_min = low;
	if (!link_sum->delay_n || high > link_sum->delay_max)
		link_sum->delay_max = high;
	link_sum->delay_n += run->n;
	link_sum->delay_sum += (hs_qos_wide)base_ns * run->n + added->sum[at];
	link_sum->jitter_n += run->n;
	link_sum->jitter_sum += added->jitter[at];
	sum->flags |= low < 0 ? HS_QOS_NEGATIVE_DELAY : 0;
	link->rfc3550 = added->smoothed[at];
	link->arrived = link->ordered = base_ns + added->newest[at];
}

// Returns the step over the whole run, at the far end of a link.
static struct hs_qos_delta delta_of(const struct run *run, unsigned lane)
{
	const struct hs_packed *p = run->first, *q = run->last;
	int64_t sent = q->tx_packets - p->tx_packets;
	struct hs_qos_delta delta = {
			.has = HS_QOS_HAS_LOSS | HS_QOS_HAS_RX_PACKETS | HS_QOS_HAS_BYTES |
			       HS_QOS_HAS_SPAN,
			.tx = sent,
			.rx = sent,
			.rx_bytes = (int64_t)(q->sink_rx_bytes - p->sink_rx_bytes),
			.span_start_ns = p->sink_ts_ns,
			.span_end_ns = q->sink_ts_ns,
	};
	if (lane == 0 || lane == lanes_of(run) - 1)
		return delta;
	const struct hs_packed_hop *a = &hs_packed_hops(p)[run->n_hops - lane];
	const struct hs_packed_hop *b = &hs_packed_hops(q)[run->n_hops - lane];
	delta.has |= HS_QOS_HAS_NODE_LOSS;
	delta.rx_bytes = b->rx_bytes - a->rx_bytes;
	delta.span_start_ns = (int64_t)a->ts_ns;
	delta.span_end_ns = (int64_t)b->ts_ns;
	return delta;
}

static void add_links(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run)
{
	for (unsigned at = 0; at * LANES < lanes_of(run); at++) {
		struct added added = {0};
		add_up(run, at, &added);
		for (unsigned lane = at * LANES; lane < (at + 1) * LANES && lane < lanes_of(run);
				lane++) {
			struct hs_qos_delta delta = delta_of(run, lane);
			add_delays(flow, sum, run, lane, &added);
			hs_qos_sum_add_delta(&sum->links[link_of(run, lane)], &delta, 1);
		}
	}
}

// Counts the reports as hs_qos_sum_count does with each. Only the earliest and the latest change
// more than the number of reports.
static void count_reports(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run)
{
	int64_t first_ns = run->last->sink_ts_ns, last_ns = first_ns;
	for (unsigned i = 0; i + 1 < run->n; i++) {
		int64_t ts_ns = run->reports[i]->sink_ts_ns;
		first_ns = ts_ns < first_ns ? ts_ns : first_ns;
		last_ns = ts_ns > last_ns ? ts_ns : last_ns;
	}
	hs_qos_sum_count(flow, sum, first_ns);
	hs_qos_sum_count(flow, sum, last_ns);
	sum->reports += run->n - 2ull;
}

// Updates the flow, except for its links.
static void note_reports(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run)
{
	count_reports(flow, sum, run);
	hs_qos_ring_accept(&flow->ring, run->n);
	hs_qos_order_newest_run(flow, run->first, run->reports, run->n);
	flow->stragglers = flow->disagreements = flow->resets = 0;
	flow->edges += run->n;
	flow->edge_number = flow->ring.next - 1;
	hs_qos_ring_get(&flow->ring, flow->edge_number, &flow->edge);
}

unsigned hs_qos_run_absorb(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	if (!flow->has_edge || flow->edge_number + 1 != flow->ring.next || !flow->ring.count ||
			flow->limits.packets_wrap != WRAP || flow->multipath || flow->partial ||
			flow->new_time)
		return 0;
	struct run run;
	run.flow = flow;
	run.n = 0;
	run.node_bytes = 0;
	run.first = run.last = hs_qos_ring_packed(&flow->ring, flow->edge_number);
	if (!begin(&run))
		return 0;
	find(&run);
	if (!run.n)
		return 0;
	add_links(flow, sum, &run);
	note_reports(flow, sum, &run);
	return run.n;
}
