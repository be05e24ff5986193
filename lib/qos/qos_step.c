// SPDX-License-Identifier: BSD-3-Clause
#include "qos_step.h"

#include "qos_window.h"

#define WRAP16 65536

// The difference between two successive counts along the path: packets that were lost on a link,
// or in a node.
struct diff {
	int64_t value;
	int64_t modulo;	     // value as the 16-bit counters alone say
	uint32_t lost_bytes; // modulo 2^32
	uint16_t link;
	bool node;    // in the node at the end of `link`, not on it
	bool charged; // to `link`; or only to the sum
	bool has_bytes;
};

struct walk {
	const struct hs_report *a, *b;
	const struct hs_qos_chain *chain;
	int64_t slack;
	bool has_source;  // its count of packets sent is in both
	int64_t sent;	  // by the source
	int64_t received; // by the sink
	int64_t received_bytes;
	int64_t frame_bytes; // mean; 0: unknown
	unsigned n;
	struct diff diffs[2 * HS_FLEXINT_MAX_HOPS + 1];
};

// The last count met on the way from source to sink.
struct point {
	bool valid;
	bool has_bytes;
	unsigned links; // that end before it
	uint16_t packets;
	uint32_t bytes;
};

static const struct hs_flexint_hop *hop_a(const struct walk *walk, unsigned i)
{
	return &walk->a->telemetry.hops[walk->chain->at_a[i]];
}

static const struct hs_flexint_hop *hop_b(const struct walk *walk, unsigned i)
{
	return &walk->b->telemetry.hops[walk->chain->at_b[i]];
}

static uint16_t hop_bits(const struct walk *walk, unsigned i)
{
	return hop_a(walk, i)->bitmap & hop_b(walk, i)->bitmap;
}

static uint16_t e2e_bits(const struct walk *walk)
{
	return walk->a->telemetry.e2e.bitmap & walk->b->telemetry.e2e.bitmap;
}

// Rule 13: a difference of 16-bit counts, in [-slack, 65536 - slack).
static int64_t unwrap(uint16_t difference, int64_t slack)
{
	return difference >= WRAP16 - slack ? (int64_t)difference - WRAP16 : difference;
}

static void push_diff(struct walk *walk, const struct point *from, const struct point *to,
		unsigned link, bool node, bool charged)
{
	int64_t value = unwrap((uint16_t)(from->packets - to->packets), walk->slack);
	walk->diffs[walk->n++] = (struct diff){
			.value = value,
			.modulo = value,
			.lost_bytes = from->bytes - to->bytes,
			.link = (uint16_t)link,
			.node = node,
			.charged = charged && walk->chain->joined[link],
			.has_bytes = from->has_bytes && to->has_bytes,
	};
}

static struct point source_point(const struct walk *walk)
{
	const struct hs_flexint_e2e *a = &walk->a->telemetry.e2e;
	const struct hs_flexint_e2e *b = &walk->b->telemetry.e2e;
	return (struct point){
			.valid = walk->has_source,
			.has_bytes = e2e_bits(walk) & HS_E2E_TX_BYTES,
			.packets = (uint16_t)(b->tx_packets - a->tx_packets),
			.bytes = b->tx_bytes - a->tx_bytes,
	};
}

static struct point node_point(const struct walk *walk, unsigned i, bool tx)
{
	const struct hs_flexint_hop *a = hop_a(walk, i);
	const struct hs_flexint_hop *b = hop_b(walk, i);
	return (struct point){
			.valid = true,
			.has_bytes = hop_bits(walk, i) & HS_HOP_BYTES,
			.links = i + 1,
			.packets = (uint16_t)(tx ? b->tx_packets - a->tx_packets
						 : b->rx_packets - a->rx_packets),
			.bytes = tx ? b->tx_bytes - a->tx_bytes : b->rx_bytes - a->rx_bytes,
	};
}

// Nodes that give no counts are stepped over: the loss around them enters the sum and is charged
// to no link.
static void collect_diffs(struct walk *walk)
{
	unsigned n = walk->chain->n;
	struct point last = source_point(walk);
	for (unsigned i = 0; i < n; i++) {
		if (!(hop_bits(walk, i) & HS_HOP_PACKETS))
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
			.packets = (uint16_t)walk->received,
			.bytes = (uint32_t)walk->received_bytes,
	};
	if (last.valid)
		push_diff(walk, &last, &sink, n, false, last.links == n);
}

static int64_t sum_of(const struct walk *walk)
{
	int64_t sum = 0;
	for (unsigned i = 0; i < walk->n; i++)
		sum += walk->diffs[i].value;
	return sum;
}

static int64_t mean_frame(const struct walk *walk)
{
	const struct hs_flexint *a = &walk->a->telemetry;
	const struct hs_flexint *b = &walk->b->telemetry;
	if (walk->received > 0 && walk->received_bytes > 0)
		return (walk->received_bytes + walk->received / 2) / walk->received;
	if (walk->has_source && (e2e_bits(walk) & HS_E2E_TX_BYTES) && walk->sent > 0)
		return (uint32_t)(b->e2e.tx_bytes - a->e2e.tx_bytes) / walk->sent;
	return 0;
}

// Bytes lost, from 32 bits: up to 3 GiB lost, or 1 GiB too many.
static int64_t signed_bytes(uint32_t bytes)
{
	return bytes >= 3u << 30 ? (int64_t)bytes - (1ll << 32) : bytes;
}

static int64_t nearest_wrap(int64_t estimate, int64_t value)
{
	int64_t off = estimate - value;
	return value + (off + (off < 0 ? -WRAP16 / 2 : WRAP16 / 2)) / WRAP16 * WRAP16;
}

// The multiples of 65536 from the byte counts. Returns how many differences have none; *last is
// one of them. *reset: some count ran backwards.
static unsigned resolve_by_bytes(struct walk *walk, struct diff **last, bool *reset)
{
	unsigned unresolved = 0;
	for (unsigned i = 0; i < walk->n; i++) {
		struct diff *diff = &walk->diffs[i];
		if (!diff->has_bytes || !walk->frame_bytes) {
			unresolved++;
			*last = diff;
			continue;
		}
		int64_t estimate = signed_bytes(diff->lost_bytes) / walk->frame_bytes;
		diff->value = nearest_wrap(estimate, diff->modulo);
		*reset |= diff->value < -walk->slack;
	}
	return unresolved;
}

// The chain's sum must be what the ends say. Each difference is at least its modulo value, so a
// sum that is too high is a count that began anew; one that is too low misses multiples of 65536.
static uint32_t check_sum(struct walk *walk)
{
	int64_t missing = walk->sent - walk->received - sum_of(walk);
	if (!missing)
		return 0;
	struct diff *last = NULL;
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

// Without the source's count there is no sum to check, only the bytes, or a span so short that
// nothing can have wrapped.
static uint32_t check_without_source(struct walk *walk)
{
	struct diff *last = NULL;
	bool reset = false;
	unsigned unresolved = resolve_by_bytes(walk, &last, &reset);
	if (reset)
		return HS_QOS_STEP_TRANSIT_RESET;
	return unresolved && walk->received >= WRAP16 - walk->slack ? HS_QOS_STEP_AMBIGUOUS : 0;
}

// A node that began anew early, when its counts were still small enough to look like reordering,
// betrays itself by bytes that ran backwards.
static bool bytes_ran_back(const struct walk *walk)
{
	int64_t packets = walk->has_source ? walk->sent : walk->received;
	if (!walk->frame_bytes || packets > (1 << 30) / walk->frame_bytes)
		return false;
	int64_t bound = -(walk->slack * walk->frame_bytes);
	for (unsigned i = 0; i < walk->chain->n; i++)
		if ((hop_bits(walk, i) & HS_HOP_BYTES) &&
				(int32_t)(hop_b(walk, i)->rx_bytes - hop_a(walk, i)->rx_bytes) <
						bound)
			return true;
	return false;
}

// Totals follow from the source's count downwards (or, without it, from the sink's upwards).
static void charge_links(const struct walk *walk, struct hs_qos_step *step)
{
	int64_t running = walk->has_source ? walk->sent : walk->received + sum_of(walk);
	if (!walk->has_source && walk->n && walk->diffs[0].charged) {
		step->links[walk->diffs[0].link].rx = running;
		step->links[walk->diffs[0].link].has |= HS_QOS_HAS_RX_PACKETS;
	}
	for (unsigned i = 0; i < walk->n; i++) {
		const struct diff *diff = &walk->diffs[i];
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

// The multiple of 2^32 is the nearest to what so many packets have (below 0 where the earlier
// report overtook the later one on its way here), or to what reached the sink where they are not
// known.
static int64_t unwrap_bytes(const struct walk *walk, const struct hs_qos_delta *link, uint32_t raw)
{
	if (!walk->frame_bytes)
		return signed_bytes(raw);
	int64_t expected = link->has & HS_QOS_HAS_RX_PACKETS ? link->rx * walk->frame_bytes
							     : walk->received_bytes;
	int64_t off = expected - (int64_t)raw;
	return (int64_t)raw + ((off + (1ll << 31)) >> 32) * (1ll << 32);
}

static void measure_link(const struct walk *walk, unsigned i, struct hs_qos_delta *link)
{
	const struct hs_flexint_hop *a = hop_a(walk, i);
	const struct hs_flexint_hop *b = hop_b(walk, i);
	uint16_t bits = hop_bits(walk, i);
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

static void measure_sink(const struct walk *walk, struct hs_qos_delta *link)
{
	link->rx = walk->received;
	link->rx_bytes = walk->received_bytes;
	link->span_start_ns = walk->a->sink_ts_ns;
	link->span_end_ns = walk->b->sink_ts_ns;
	link->has |= HS_QOS_HAS_RX_PACKETS | HS_QOS_HAS_BYTES | HS_QOS_HAS_SPAN;
}

static void measure_e2e(const struct walk *walk, struct hs_qos_delta *e2e)
{
	measure_sink(walk, e2e);
	if (!walk->has_source)
		return;
	e2e->tx = walk->sent;
	e2e->lost = walk->sent - walk->received;
	e2e->has |= HS_QOS_HAS_LOSS;
}

void hs_qos_step(const struct hs_report *a, const struct hs_report *b,
		const struct hs_qos_chain *chain, uint32_t slack_packets, struct hs_qos_step *step)
{
	struct walk walk;
	walk.a = a;
	walk.b = b;
	walk.chain = chain;
	walk.slack = slack_packets;
	walk.n = 0;
	walk.has_source = e2e_bits(&walk) & HS_E2E_TX_PACKETS;
	walk.sent = (uint32_t)(b->telemetry.e2e.tx_packets - a->telemetry.e2e.tx_packets);
	walk.received = (int64_t)(b->sink_rx_packets - a->sink_rx_packets);
	walk.received_bytes = (int64_t)(b->sink_rx_bytes - a->sink_rx_bytes);
	walk.frame_bytes = mean_frame(&walk);
	step->flags = 0;
	for (unsigned i = 0; i <= chain->n; i++)
		step->links[i] = (struct hs_qos_delta){0};
	step->e2e = (struct hs_qos_delta){0};
	measure_e2e(&walk, &step->e2e);
	collect_diffs(&walk);
	step->flags = walk.has_source ? check_sum(&walk) : check_without_source(&walk);
	if (!(step->flags & HS_QOS_STEP_TRANSIT_RESET) && bytes_ran_back(&walk))
		step->flags = HS_QOS_STEP_TRANSIT_RESET;
	if (step->flags & HS_QOS_STEP_TRANSIT_RESET)
		return;
	charge_links(&walk, step);
	for (unsigned i = 0; i < chain->n; i++)
		if (chain->joined[i])
			measure_link(&walk, i, &step->links[i]);
	if (chain->joined[chain->n])
		measure_sink(&walk, &step->links[chain->n]);
}
