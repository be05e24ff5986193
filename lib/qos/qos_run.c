// SPDX-License-Identifier: BSD-3-Clause
#include "qos_run.h"

#include "qos_order.h"
#include "qos_sum.h"
#include "qos_vector.h"

#include <string.h>

#define E2E_FIELDS	(HS_E2E_TIMESTAMP | HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES)
#define WRAP		65536
#define MOST_HOPS	HS_PACKED_HOPS
#define MOST_PACKETS	32767u
#define MOST_BYTES_BITS 15	     // of a mean frame
#define HALF		16384u	     // as in qos_fast.c
#define NODE_BYTES	(1ull << 31) // at a node, in a run
#define BLOCK		16	     // reports whose deviations add up to less than 2^31
#define DEVIATION_NS	(1 << 25)    // of the times that pass at two nodes
#define SMOOTHED	(1u << 30)   // before the run: after it, the value is below 2^32
#define DELAY_NS	(1ll << 62)  // of the report before the run
// No source sends packets faster: as in qos_order.c.
#define MIN_PACKET_NS 5
#define COUNTS	      UINT64_C(0x0001000100000000) // both packet counts of an entry's first 8 bytes

// The entries of two nodes.
#define PAIRS ((MOST_HOPS + 1) / 2)
typedef uint16_t numbers __attribute__((vector_size(16)));
struct entries {
	numbers numbers; // id, bitmap and both packet counts of each
	pair stamps;
	wide_vector bytes; // sent and received of each
};
static_assert(offsetof(struct hs_packed_hop, ts_ns) == sizeof(numbers) / 2, "before the stamp");
static_assert(offsetof(struct hs_packed, form) == offsetof(struct hs_packed, e2e_bitmap) + 3 &&
				offsetof(struct hs_packed, n_hops) ==
						offsetof(struct hs_packed, e2e_bitmap) + 2,
		"one word, low half first");

// Delays of four links at a time. A lane is a link, from the sink back to the source; the last one
// is the path end to end.
#define VECTORS ((MOST_HOPS + 2 + LANES - 1) / LANES)
#define ROW	((VECTORS + 1) * LANES)

struct run {
	const struct hs_qos_flow *flow;
	unsigned n, n_hops;
	bool falls;			      // some sink time is before that of the report before
	const struct hs_packed *first, *last; // newest report before the run, and of the run
	const struct hs_packed *reports[HS_QOS_RING_AHEAD];
	int64_t base_ns[MOST_HOPS + 2]; // delays of `first`
	struct both {
		struct entries first, last;
	} both[PAIRS]; // entries of `first` and `last`
	// For each report: how much more time has passed since `first` at the sink, the nodes and
	// the source than at the source, plus DEVIATION_NS. So each number minus the next one is
	// how much the delay of a link differs from that of `first`. The number after the source's
	// makes this true of the path end to end. Lanes after it have any numbers.
	int32_t rows[HS_QOS_RING_AHEAD][ROW];
};

// Sums of the delays of four links, and their newest delays.
struct added {
	vector low, high, newest;
	wide_vector smoothed; // plus 8 while it is added up
	int64_t sum[LANES];
	uint64_t jitter[LANES];
};

static inline unsigned lanes_of(const struct run *run)
{
	return run->n_hops + 2;
}

static inline uint16_t link_of(const struct run *run, unsigned lane)
{
	return lane <= run->n_hops ? run->flow->path_links[run->n_hops - lane] : 0;
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
	uint32_t word;
	memcpy(&word, &packed->e2e_bitmap, sizeof(word));
	return (word & (UINT32_MAX << 16 | E2E_FIELDS)) == (n_hops << 16 | E2E_FIELDS);
}

// Returns whether the two ends allow a report in a run: hs_qos_order_relate would call it newer,
// and hs_qos_fast_absorb would take it.
static inline bool ends_fit(const struct hs_qos_flow *flow, unsigned n_hops,
		const struct hs_packed *p, const struct hs_packed *q)
{
	uint32_t sent = q->tx_packets - p->tx_packets;
	uint64_t received_bytes = q->sink_rx_bytes - p->sink_rx_bytes;
	int64_t elapsed_ns = (int64_t)(q->ts_ns - p->ts_ns);
	int64_t sink_ns = q->sink_ts_ns - p->sink_ts_ns + HS_QOS_STAMP_BACK_NS;
	return is_full(q, n_hops) && sent - 1 < MOST_PACKETS &&
	       q->sink_rx_packets - p->sink_rx_packets == sent &&
	       (received_bytes - 1) >> MOST_BYTES_BITS < sent && (elapsed_ns | sink_ns) >= 0 &&
	       (sent <= flow->slack || (sent - flow->slack) * MIN_PACKET_NS <= elapsed_ns) &&
	       !may_be_of_life_before(flow, q);
}

// Returns two entries of a report.
static inline struct entries entries_of(
		const struct hs_packed_hop *a, const struct hs_packed_hop *b)
{
	uint64_t first, second;
	pair x, y;
	memcpy(&first, a, sizeof(first));
	memcpy(&second, b, sizeof(second));
	memcpy(&x, &a->ts_ns, sizeof(x)); // and both counts of bytes
	memcpy(&y, &b->ts_ns, sizeof(y));
	return (struct entries){
			.numbers = (numbers)(pair){first, second},
			.stamps = __builtin_shufflevector(x, y, 0, 2),
			.bytes = (wide_vector)__builtin_shufflevector(x, y, 1, 3),
	};
}

// What the nodes of a report have in common.
struct nodes {
	numbers more;	// packets since `first`
	pair passed;	// at the source since `first`, less DEVIATION_NS
	pair far, back; // of the node's times
	numbers differ;
	wide_vector bytes; // most, less one
};

// Compares two entries with those of the first report and of the report before. Notes the row.
static inline void take_entries(
		struct nodes *nodes, struct both *both, struct entries now, int32_t *row)
{
	const struct entries *first = &both->first;
	struct entries *last = &both->last;
	pair stamps = now.stamps - first->stamps - nodes->passed;
	vector low = (vector)stamps;
	low = __builtin_shufflevector(low, low, 0, 2, 0, 2);
	memcpy(row, &low, sizeof(low) / 2);
	nodes->far |= stamps;
	nodes->back |= now.stamps - last->stamps + HS_QOS_STAMP_BACK_NS;
	nodes->differ |= (first->numbers + nodes->more) ^ now.numbers;
	nodes->bytes = greatest_wide(now.bytes - last->bytes - 1, nodes->bytes);
	last->stamps = now.stamps;
	last->bytes = now.bytes;
}

// Returns whether the nodes in between allow a report in a run: the nodes are the same, each
// counted as many packets as the source, no time ran back, and about as much time passed at each
// node as at the source. Notes the row, and the most bytes of a node since the report before.
static inline bool nodes_fit(struct run *run, unsigned n_hops, const struct hs_packed *first,
		const struct hs_packed *q, int32_t *row, uint64_t *bytes)
{
	const struct hs_packed_hop *hops = hs_packed_hops(q);
	uint64_t counts = (uint16_t)(q->tx_packets - first->tx_packets) * COUNTS;
	uint64_t passed_ns = q->ts_ns - first->ts_ns - DEVIATION_NS;
	uint64_t sink = (uint64_t)(q->sink_ts_ns - first->sink_ts_ns) - passed_ns;
	struct nodes nodes = {.more = (numbers)(pair){counts, counts},
			.passed = {passed_ns, passed_ns},
			.far = {sink, 0}};
	row[0] = (int32_t)sink;
	for (unsigned i = 0; i + 2 <= n_hops; i += 2)
		take_entries(&nodes, &run->both[i / 2], entries_of(&hops[i], &hops[i + 1]),
				row + 1 + i);
	if (n_hops % 2)
		take_entries(&nodes, &run->both[n_hops / 2],
				entries_of(&hops[n_hops - 1], &hops[n_hops - 1]), row + n_hops);
	row[n_hops + 1] = DEVIATION_NS;
	row[n_hops + 2] = (int32_t)(2 * DEVIATION_NS - (uint32_t)sink);
	pair bad = nodes.far / (2 * DEVIATION_NS) | (pair)nodes.differ | nodes.back >> 63;
	*bytes = (nodes.bytes[1] > nodes.bytes[3] ? nodes.bytes[1] : nodes.bytes[3]) + 1ull;
	return !(bad[0] | bad[1]);
}

// Returns whether so many bytes at a node since the report before allow no other count of packets.
static inline bool bytes_fit(const struct hs_packed *p, const struct hs_packed *q, uint64_t bytes)
{
	uint64_t least_bytes = bytes * (q->tx_packets - p->tx_packets) / HALF;
	return least_bytes < q->sink_rx_bytes - p->sink_rx_bytes &&
	       least_bytes < q->tx_bytes - p->tx_bytes;
}

static void set_bases(struct run *run)
{
	const struct hs_packed_hop *hops = hs_packed_hops(run->first);
	uint64_t next_ns = (uint64_t)run->first->sink_ts_ns;
	run->base_ns[run->n_hops + 1] = (int64_t)(next_ns - run->first->ts_ns);
	for (unsigned i = 0; i < run->n_hops; i++) {
		run->base_ns[i] = (int64_t)(next_ns - hops[i].ts_ns);
		next_ns = hops[i].ts_ns;
	}
	run->base_ns[run->n_hops] = (int64_t)(next_ns - run->first->ts_ns);
}

static void set_entries(struct run *run)
{
	const struct hs_packed_hop *hops = hs_packed_hops(run->first);
	for (unsigned i = 0; i < run->n_hops; i += 2)
		run->both[i / 2].first = run->both[i / 2].last =
				entries_of(&hops[i], &hops[i + (i + 1 < run->n_hops)]);
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
	set_entries(run);
	return true;
}

// Finds the reports of the run, at most `most` and as many as the ring has room for. When the ring
// is full, delays must first move into histograms.
static void find(struct run *run, uint32_t most)
{
	const struct hs_qos_flow *flow = run->flow;
	const struct hs_qos_ring *ring = &flow->ring;
	const struct hs_packed *first = run->first, *p = first, *q = first;
	const unsigned n_hops = run->n_hops;
	uint64_t kept = ring->next - flow->unfolded, room = hs_qos_ring_room(ring);
	uint64_t left = room > kept ? room - kept : 0, bytes, all_bytes = 0;
	uint32_t n = 0, slot = ring->head;
	bool falls = false;
	most = left < most ? (uint32_t)left : most;
	while (n < most) {
		q = n ? hs_qos_ring_behind(ring, q, ++slot) : hs_qos_ring_ahead(ring, 0);
		hs_qos_ring_fetch(ring, q);
		if (!ends_fit(flow, n_hops, p, q) ||
				!nodes_fit(run, n_hops, first, q, run->rows[n], &bytes) ||
				!bytes_fit(p, q, bytes) || (all_bytes += bytes) > NODE_BYTES)
			break;
		falls |= q->sink_ts_ns < p->sink_ts_ns;
		run->reports[n++] = p = q;
	}
	run->n = n;
	run->falls = falls;
	run->last = p;
}

// ---- adding up ----

static inline void add_row(
		struct added *added, const int32_t *row, vector *sum, wide_vector *jitter)
{
	vector ns = minus(load(row), load(row + 1));
	wide_vector distance = (wide_vector)magnitude(minus(ns, added->newest));
	added->low = least(ns, added->low);
	added->high = greatest(ns, added->high);
	*sum = plus(*sum, ns);
	*jitter += distance;
	added->smoothed += distance - (added->smoothed >> 4);
	added->newest = ns;
}

static inline void add_block(
		const struct run *run, unsigned at, unsigned from, unsigned until, struct added *to)
{
	const int32_t *row = run->rows[from] + at * LANES, *end = run->rows[until] + at * LANES;
	struct added added = *to;
	vector sum = {0};
	wide_vector jitter = {0};
	if ((until - from) % 2) {
		add_row(&added, row, &sum, &jitter);
		row += ROW;
	}
	for (; row != end; row += 2 * ROW) {
		add_row(&added, row, &sum, &jitter);
		add_row(&added, row + ROW, &sum, &jitter);
	}
	for (unsigned lane = 0; lane < LANES; lane++) {
		added.sum[lane] += sum[lane];
		added.jitter[lane] += jitter[lane];
	}
	*to = added;
}

static inline void add_up(const struct run *run, unsigned at, struct added *added)
{
	for (unsigned lane = 0; lane < LANES; lane++)
		if (at * LANES + lane < lanes_of(run))
			added->smoothed[lane] =
					(uint32_t)run->flow->links[link_of(run, at * LANES + lane)]
							.rfc3550;
	added->smoothed += 8;
	added->low = added->high =
			minus(load(run->rows[0] + at * LANES), load(run->rows[0] + at * LANES + 1));
	for (unsigned k = 0; k < run->n; k += BLOCK)
		add_block(run, at, k, k + BLOCK < run->n ? k + BLOCK : run->n, added);
	added->smoothed -= 8;
}

static void add_delays(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run,
		unsigned lane, const struct added *added)
{
	struct hs_qos_link *link = &flow->links[link_of(run, lane)];
	struct hs_qos_link_sum *link_sum = &sum->links[link_of(run, lane)];
	int64_t base_ns = run->base_ns[lane];
	unsigned at = lane % LANES;
	int64_t low = base_ns + added->low[at], high = base_ns + added->high[at];
	hs_qos_sum_widen(link, link_sum, low, high);
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
	const struct hs_packed_hop *a = &hs_packed_hops(p)[lane - 1];
	const struct hs_packed_hop *b = &hs_packed_hops(q)[lane - 1];
	delta.has |= HS_QOS_HAS_NODE_LOSS;
	delta.rx_bytes = b->rx_bytes - a->rx_bytes;
	delta.span_start_ns = (int64_t)a->ts_ns;
	delta.span_end_ns = (int64_t)b->ts_ns;
	return delta;
}

// Adds the delays of a link to its histogram.
static void fold(const struct run *run, unsigned lane, const struct added *added,
		struct hs_qos_hist *hist)
{
	int32_t delays[HS_QOS_RING_AHEAD];
	int32_t low = added->low[lane % LANES], high = added->high[lane % LANES];
	for (unsigned i = 0; i < run->n; i++)
		delays[i] = run->rows[i][lane] - run->rows[i][lane + 1] - low;
	hs_qos_hist_add_narrow(hist, run->base_ns[lane] + low, high - low, delays, run->n);
}

static void add_links(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run)
{
	// The delays of further reports of such a window will be needed there, and are at hand now.
	bool folded = sum->folded && flow->unfolded == flow->ring.next;
	for (unsigned at = 0; at * LANES < lanes_of(run); at++) {
		struct added added = {0};
		add_up(run, at, &added);
		for (unsigned lane = at * LANES; lane < (at + 1) * LANES && lane < lanes_of(run);
				lane++) {
			struct hs_qos_delta delta = delta_of(run, lane);
			add_delays(flow, sum, run, lane, &added);
			hs_qos_sum_add_delta(&sum->links[link_of(run, lane)], &delta, 1);
			if (folded)
				fold(run, lane, &added, &sum->links[link_of(run, lane)].hist);
		}
	}
	if (folded)
		flow->unfolded += run->n;
}

// Counts the reports as hs_qos_sum_count does with each. Only the earliest and the latest change
// more than the number of reports.
static void count_reports(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct run *run)
{
	int64_t first_ns = run->reports[0]->sink_ts_ns, last_ns = run->last->sink_ts_ns;
	for (unsigned i = 0; run->falls && i < run->n; i++) {
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

unsigned hs_qos_run_absorb(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint32_t most)
{
	if (!flow->has_edge || flow->edge_number + 1 != flow->ring.next || !flow->ring.count ||
			flow->limits.packets_wrap != WRAP || flow->multipath || flow->partial ||
			flow->new_time)
		return 0;
	struct run run;
	run.flow = flow;
	run.first = hs_qos_ring_packed(&flow->ring, flow->edge_number);
	if (!begin(&run))
		return 0;
	find(&run, most);
	if (!run.n)
		return 0;
	add_links(flow, sum, &run);
	note_reports(flow, sum, &run);
	return run.n;
}
