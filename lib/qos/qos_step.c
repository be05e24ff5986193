// SPDX-License-Identifier: BSD-3-Clause
#include "qos_step.h"

#include "qos_restart.h"
#include "qos_walk.h"
#include "qos_window.h"

#define SECOND_NS  1000000000
#define MOST_FRAME 65589 // bytes of the longest frame, counted as in rule 1

// The last count on the way from source to sink.
struct point {
	bool valid;
	bool has_bytes;
	unsigned links;	  // links that end before the point
	uint32_t packets; // modulo the hops' wrap
	uint32_t bytes;
};

// Returns a difference of counts that wrap, in [-slack, wrap - slack) (rule 13).
static int64_t unwrap(const struct hs_qos_walk *walk, uint32_t difference)
{
	int64_t modulo = difference & (walk->wrap - 1);
	return modulo >= walk->wrap - walk->slack ? modulo - walk->wrap : modulo;
}

static void push_diff(struct hs_qos_walk *walk, const struct point *from, const struct point *to,
		unsigned link, bool node, bool charged)
{
	int64_t value = unwrap(walk, from->packets - to->packets);
	walk->diffs[walk->n++] = (struct hs_qos_diff){
			.value = value,
			.modulo = value,
			.lost_bytes = from->bytes - to->bytes,
			.link = (uint16_t)link,
			.node = node,
			.charged = charged && walk->chain->joined[link],
			.has_bytes = from->has_bytes && to->has_bytes,
	};
}

static struct point source_point(const struct hs_qos_walk *walk)
{
	const struct hs_e2e *a = &walk->a->telemetry.e2e;
	const struct hs_e2e *b = &walk->b->telemetry.e2e;
	return (struct point){
			.valid = walk->has_source,
			.has_bytes = hs_qos_e2e_bits(walk) & HS_E2E_TX_BYTES,
			.packets = b->tx_packets - a->tx_packets,
			.bytes = b->tx_bytes - a->tx_bytes,
	};
}

static struct point node_point(const struct hs_qos_walk *walk, unsigned i, bool tx)
{
	const struct hs_hop *a = hs_qos_hop_a(walk, i);
	const struct hs_hop *b = hs_qos_hop_b(walk, i);
	return (struct point){
			.valid = true,
			.has_bytes = hs_qos_hop_bits(walk, i) & HS_HOP_BYTES,
			.links = i + 1,
			.packets = tx ? b->tx_packets - a->tx_packets
				      : b->rx_packets - a->rx_packets,
			.bytes = tx ? b->tx_bytes - a->tx_bytes : b->rx_bytes - a->rx_bytes,
	};
}

// Collects the differences along the path. Skips nodes without counts: the loss around them is in
// the sum but is charged to no link.
static void collect_diffs(struct hs_qos_walk *walk)
{
	unsigned n = walk->chain->n;
	struct point last = source_point(walk);
	for (unsigned i = 0; i < n; i++) {
		if (!(hs_qos_hop_bits(walk, i) & HS_HOP_PACKETS))
			continue;
		struct point rx = node_point(walk, i, false);
		struct point tx = node_point(walk, i, true);
		if (last.valid)
			push_diff(walk, &last, &rx, i, false, last.links == i);
		push_diff(walk, &rx, &tx, i, true, true);
		last = tx;
	}
	struct point sink = {
			.has_bytes = true,
			.packets = (uint32_t)walk->received,
			.bytes = (uint32_t)walk->received_bytes,
	};
	if (last.valid)
		push_diff(walk, &last, &sink, n, false, last.links == n);
}

static int64_t sum_of(const struct hs_qos_walk *walk)
{
	int64_t sum = 0;
	for (unsigned i = 0; i < walk->n; i++)
		sum += walk->diffs[i].value;
	return sum;
}

#define MOST_SENT (1 << 21) // packets of up to 2 KiB whose bytes fit into 32 bits

static int64_t sent_bytes(const struct hs_qos_walk *walk)
{
	if (!(hs_qos_e2e_bits(walk) & HS_E2E_TX_BYTES))
		return 0;
	return (uint32_t)(walk->b->telemetry.e2e.tx_bytes - walk->a->telemetry.e2e.tx_bytes);
}

// Returns the mean frame at the end that counted more packets.
static int64_t mean_of_counts(const struct hs_qos_walk *walk)
{
	int64_t sent = walk->has_source && walk->sent <= MOST_SENT ? walk->sent : 0;
	if (walk->received > 0 && walk->received_bytes > 0 &&
			(walk->received >= sent || !sent_bytes(walk)))
		return (walk->received_bytes + walk->received / 2) / walk->received;
	return sent > 0 ? sent_bytes(walk) / sent : 0;
}

// Returns the mean frame, or 0 if no frames can have such counts.
static int64_t mean_frame(const struct hs_qos_walk *walk)
{
	int64_t frame = mean_of_counts(walk);
	return frame <= MOST_FRAME ? frame : 0;
}

// Returns the bytes lost from a count of 32 bits: up to 3 GiB lost, or 1 GiB too many.
static int64_t signed_bytes(uint32_t bytes)
{
	return bytes >= 3u << 30 ? (int64_t)bytes - (1ll << 32) : bytes;
}

static int64_t nearest_wrap(int64_t wrap, int64_t estimate, int64_t value)
{
	int64_t off = estimate - value;
	return value + (off + (off < 0 ? -wrap / 2 : wrap / 2)) / wrap * wrap;
}

// Finds the multiples of the wrap from the byte counts. Returns for how many differences there is
// none, and sets *last to one of these. Sets *reset if some count ran backwards.
static unsigned resolve_by_bytes(struct hs_qos_walk *walk, struct hs_qos_diff **last, bool *reset)
{
	unsigned unresolved = 0;
	for (unsigned i = 0; i < walk->n; i++) {
		struct hs_qos_diff *diff = &walk->diffs[i];
		if (!diff->has_bytes || !walk->frame_bytes) {
			unresolved++;
			*last = diff;
			continue;
		}
		int64_t estimate = signed_bytes(diff->lost_bytes) / walk->frame_bytes;
		diff->value = nearest_wrap(walk->wrap, estimate, diff->modulo);
		*reset |= diff->value < -walk->slack;
	}
	return unresolved;
}

// Checks the chain's sum, which must equal the loss end to end. Each difference is at least its
// modulo value. So a sum that is too high shows a count that began anew, and a sum that is too low
// lacks multiples of the wrap.
static uint32_t check_sum(struct hs_qos_walk *walk)
{
	int64_t missing = walk->sent - walk->received - sum_of(walk);
	if (!missing)
		return 0;
	struct hs_qos_diff *last = NULL;
	bool reset = false;
	unsigned unresolved = resolve_by_bytes(walk, &last, &reset);
	int64_t rest = walk->sent - walk->received - sum_of(walk);
	if (rest && unresolved == 1) {
		last->value += rest;
		reset |= last->value < -walk->slack;
		rest = 0;
	}
	if (reset || (rest && missing < 0))
		return HS_QOS_STEP_TRANSIT_RESET;
	if (!rest)
		return 0;
	for (unsigned i = 0; i < walk->n; i++)
		walk->diffs[i].value = walk->diffs[i].modulo;
	return HS_QOS_STEP_AMBIGUOUS;
}

// Returns whether a multiple of the wrap that comes from bytes is doubtful, where no sum confirms
// it: the lost packets' mean frame differs too much from the mean frame.
static bool is_doubtful(const struct hs_qos_walk *walk, const struct hs_qos_diff *diff)
{
	int64_t bytes = signed_bytes(diff->lost_bytes), frame = walk->frame_bytes;
	int64_t off = bytes - diff->value * frame;
	int64_t bound = diff->value / 8 * frame;
	return diff->value >= walk->wrap - walk->slack &&
	       (diff->value > 4 * walk->wrap || off > bound || off < -bound);
}

// Checks the chain without the source's count. There is no sum to check, only the bytes. In a short
// span no count can have wrapped; this is judged by the packets that may have been sent, not by
// those that arrived.
static uint32_t check_without_source(struct hs_qos_walk *walk)
{
	struct hs_qos_diff *last = NULL;
	bool reset = false, doubt = false;
	bool wraps = walk->may_be_sent >= walk->wrap - walk->slack;
	unsigned unresolved = resolve_by_bytes(walk, &last, &reset);
	int64_t count = walk->received;
	for (unsigned i = walk->n; i-- > 0 && !reset;) {
		const struct hs_qos_diff *diff = &walk->diffs[i];
		count += diff->value;
		reset |= !wraps && count > walk->may_be_sent + walk->slack;
		doubt |= wraps && diff->has_bytes && walk->frame_bytes && is_doubtful(walk, diff);
	}
	if (reset)
		return HS_QOS_STEP_TRANSIT_RESET;
	return doubt || (unresolved && wraps) ? HS_QOS_STEP_AMBIGUOUS : 0;
}

// Charges the losses to links and nodes. Totals follow from the source's count and the losses after
// it, or without that count from the sink's.
static void charge_links(const struct hs_qos_walk *walk, struct hs_qos_step *step)
{
	int64_t running = walk->has_source ? walk->sent : walk->received + sum_of(walk);
	if (!walk->has_source && walk->n && walk->diffs[0].charged && !walk->diffs[0].link) {
		step->links[0].rx = running;
		step->links[0].has |= HS_QOS_HAS_RX_PACKETS;
	}
	for (unsigned i = 0; i < walk->n; i++) {
		const struct hs_qos_diff *diff = &walk->diffs[i];
		struct hs_qos_delta *link = &step->links[diff->link];
		int64_t before = running;
		running -= diff->value;
		if (!diff->charged)
			continue;
		if (diff->node) {
			link->node_lost = diff->value;
			link->has |= HS_QOS_HAS_NODE_LOSS;
		} else {
			link->lost = diff->value;
			link->tx = before;
			link->rx = running;
			link->has |= HS_QOS_HAS_LOSS | HS_QOS_HAS_RX_PACKETS;
		}
	}
}

// Unwraps a difference of byte counts. Chooses the multiple of 2^32 that is nearest to the expected
// bytes of the packets, or to the bytes that reached the sink if the packets are not known. The
// result is below 0 if the earlier report overtook the later one before this node.
static int64_t unwrap_bytes(
		const struct hs_qos_walk *walk, const struct hs_qos_delta *link, uint32_t raw)
{
	if (!walk->frame_bytes)
		return signed_bytes(raw);
	int64_t expected = link->has & HS_QOS_HAS_RX_PACKETS ? link->rx * walk->frame_bytes
							     : walk->received_bytes;
	int64_t off = expected - (int64_t)raw;
	return (int64_t)raw + ((off + (1ll << 31)) >> 32) * (1ll << 32);
}

static void measure_link(const struct hs_qos_walk *walk, unsigned i, struct hs_qos_delta *link)
{
	const struct hs_hop *a = hs_qos_hop_a(walk, i);
	const struct hs_hop *b = hs_qos_hop_b(walk, i);
	uint16_t bits = hs_qos_hop_bits(walk, i);
	if (bits & HS_HOP_BYTES) {
		link->rx_bytes = unwrap_bytes(walk, link, b->rx_bytes - a->rx_bytes);
		link->has |= HS_QOS_HAS_BYTES;
	}
	if (bits & HS_HOP_TIMESTAMP) {
		link->span_start_ns = (int64_t)a->ts_ns;
		link->span_end_ns = (int64_t)b->ts_ns;
		link->has |= HS_QOS_HAS_SPAN;
	}
}

static void measure_sink(const struct hs_qos_walk *walk, struct hs_qos_delta *link)
{
	link->rx = walk->received;
	link->rx_bytes = walk->received_bytes;
	link->span_start_ns = walk->a->sink_ts_ns;
	link->span_end_ns = walk->b->sink_ts_ns;
	link->has |= HS_QOS_HAS_RX_PACKETS | HS_QOS_HAS_BYTES | HS_QOS_HAS_SPAN;
}

static void measure_e2e(const struct hs_qos_walk *walk, struct hs_qos_delta *e2e)
{
	measure_sink(walk, e2e);
	if (!walk->has_source)
		return;
	e2e->tx = walk->sent;
	e2e->lost = walk->sent - walk->received;
	e2e->has |= HS_QOS_HAS_LOSS;
}

// Returns how many packets may have been sent: what time allows at twice the highest rate seen,
// because a source may become faster. The source's bytes, if carried, give a better bound.
static int64_t may_be_sent(const struct hs_qos_walk *walk, uint64_t packets_per_s)
{
	int64_t elapsed_ns = walk->b->sink_ts_ns - walk->a->sink_ts_ns;
	int64_t received = walk->received > 0 ? walk->received : 0;
	if (walk->has_source)
		return walk->sent;
	double rate = 2 * (double)packets_per_s / SECOND_NS;
	double packets = elapsed_ns > 0 ? rate * (double)elapsed_ns : 0;
	int64_t most = packets < HS_QOS_MOST_PACKETS ? (int64_t)packets : HS_QOS_MOST_PACKETS;
	int64_t by_bytes = walk->frame_bytes ? 2 * sent_bytes(walk) / walk->frame_bytes : 0;
	if (by_bytes && most < UINT32_MAX / (2 * walk->frame_bytes) && by_bytes < most)
		most = by_bytes;
	return most > 2 * received ? most : 2 * received;
}

// Limits a value to [-most, most].
static int64_t at_most(int64_t value, int64_t most)
{
	if (value < -most)
		return -most;
	return value > most ? most : value;
}

static void begin(struct hs_qos_walk *walk, const struct hs_report *a, const struct hs_report *b,
		const struct hs_qos_chain *chain, const struct hs_qos_limits *limits)
{
	walk->a = a;
	walk->b = b;
	walk->chain = chain;
	walk->slack = limits->slack_packets;
	walk->under_way = limits->under_way;
	walk->missing = limits->missing;
	walk->wrap = (int64_t)limits->packets_wrap;
	walk->n = 0;
	walk->has_source = hs_qos_e2e_bits(walk) & HS_E2E_TX_PACKETS;
	walk->sent = (uint32_t)(b->telemetry.e2e.tx_packets - a->telemetry.e2e.tx_packets);
	walk->received = at_most(
			(int64_t)(b->sink_rx_packets - a->sink_rx_packets), HS_QOS_MOST_PACKETS);
	walk->received_bytes = at_most((int64_t)(b->sink_rx_bytes - a->sink_rx_bytes),
			HS_QOS_MOST_PACKETS * MOST_FRAME);
	walk->frame_bytes = mean_frame(walk);
	walk->may_be_sent = may_be_sent(walk, limits->packets_per_s);
}

void hs_qos_step(const struct hs_report *a, const struct hs_report *b,
		const struct hs_qos_chain *chain, const struct hs_qos_limits *limits,
		struct hs_qos_step *step)
{
	struct hs_qos_walk walk;
	begin(&walk, a, b, chain, limits);
	for (unsigned i = 0; i <= chain->n; i++)
		step->links[i] = (struct hs_qos_delta){0};
	step->e2e = (struct hs_qos_delta){0};
	measure_e2e(&walk, &step->e2e);
	collect_diffs(&walk);
	step->flags = walk.has_source ? check_sum(&walk) : check_without_source(&walk);
	step->most = 0;
	if (!(step->flags & HS_QOS_STEP_TRANSIT_RESET))
		step->flags |= hs_qos_restarts(
				&walk, step->flags & HS_QOS_STEP_AMBIGUOUS, &step->most);
	if (step->flags & HS_QOS_STEP_TRANSIT_RESET && hs_qos_source_restarted(&walk))
		step->flags = HS_QOS_STEP_SOURCE_RESET;
	if (step->flags & (HS_QOS_STEP_TRANSIT_RESET | HS_QOS_STEP_SOURCE_RESET))
		return;
	charge_links(&walk, step);
	for (unsigned i = 0; i < chain->n; i++)
		if (chain->joined[i])
			measure_link(&walk, i, &step->links[i]);
	if (chain->joined[chain->n])
		measure_sink(&walk, &step->links[chain->n]);
}
