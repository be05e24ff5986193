// SPDX-License-Identifier: BSD-3-Clause
#include "collect_run.h"

#include "collect_fast_path.h"

#define LEAST 4 // reports for which bounds are made
#define WORDS ((int)sizeof(hs_collect_words))

// ---- bounds ----

// Places two vectors of four words so that they have all values: the values before the times, and
// the utilisation, which is the last. No byte after the hop is read. Bytes before the hop belong to
// the packet.
static void place(struct hs_collect_run *run, const struct hs_collect_form *form)
{
	run->at[0] = form->bytes < sizeof(hs_collect_words) ? (int)form->bytes - WORDS : 0;
	run->at[1] = run->at[0];
	if (form->has_link && (int)form->utilisation >= run->at[0] + WORDS)
		run->at[1] = (int)form->utilisation + 4 - WORDS;
	if (form->has_latency)
		run->latency_at = (unsigned)((int)form->latency - run->at[0]) / 4;
}

// Sets the bounds of the word at this byte, after the mask: from `low` to `low` + `span`.
static void bound(struct hs_collect_run *run, unsigned hop, unsigned at, uint32_t mask,
		uint32_t low, uint32_t span)
{
	unsigned half = (int)at >= run->at[0] + WORDS;
	unsigned word = (unsigned)((int)at - run->at[half]) / 4;

	run->mask[half][word] = mask;
	run->hops[hop].low[half][word] = low;
	run->hops[hop].span[half][word] = span;
}

// Sets the bounds of a band. The band is not empty, because the report before took the fast path.
static void bound_band(struct hs_collect_run *run, unsigned hop, unsigned at, uint32_t id,
		struct hs_collect_band band)
{
	bound(run, hop, at, UINT32_MAX, id + band.low, band.width - 1);
}

static void bound_hop(const struct hs_collect *c, struct hs_collect_run *run,
		const struct hs_collect_form *form, const struct hs_collect_hop_entry *hop,
		unsigned i)
{
	const struct hs_collect_queue_entry *queue = &c->queue[hop->at.queue];
	const struct hs_collect_link_entry *link = &c->link[hop->at.link];

	bound(run, i, form->node, UINT32_MAX, hs_collect_hop_node(hop), 0);
	if (form->has_latency)
		bound_band(run, i, form->latency, 0, hop->band);
	if (form->has_queue)
		bound_band(run, i, form->queue, hs_collect_key_id(queue->key) << form->queue_bits,
				queue->band);
	if (!form->has_link)
		return;
	bound(run, i, form->port - 2, UINT16_MAX, hs_collect_key_id(link->key), 0);
	bound_band(run, i, form->utilisation, 0, link->band);
}

static void make(struct hs_collect *c, const struct hs_collect_view *view)
{
	const struct hs_collect_form form = hs_collect_form_of(view);
	const struct hs_collect_flow_entry *flow = &c->flow[view->flow];
	struct hs_collect_run *run = &c->run;
	uint64_t spans = 0, least_sum = 0;

	*run = (struct hs_collect_run){.flow = view->flow,
			.changes = c->changes,
			.layout = view->layout,
			.n_hops = view->n_hops,
			.hop_bytes = view->hop_bytes};
	place(run, &form);
	for (unsigned i = 0; i < view->n_hops; i++) {
		const struct hs_collect_hop_entry *hop = &flow->near[view->n_hops - 1 - i];
		bound_hop(c, run, &form, hop, i);
		least_sum += form.has_latency ? hop->band.low : 0;
		spans += form.has_latency ? hop->band.width : 0;
	}
	run->sum_low = flow->latency_low - least_sum;
	run->sum_span = form.has_latency ? flow->latency_span : UINT64_MAX;
	run->good = spans <= UINT32_MAX; // sums have 32 bits
}

// Returns whether the bounds are those of the view's flow.
static bool is_made(const struct hs_collect *c, const struct hs_collect_view *view)
{
	const struct hs_collect_run *run = &c->run;

	return run->flow == view->flow && run->changes == c->changes &&
	       run->layout == view->layout && run->n_hops == view->n_hops &&
	       run->hop_bytes == view->hop_bytes;
}

// ---- reports ----

// Loads four words in network order.
static inline hs_collect_words load_be32s(const uint8_t *from)
{
	uint8_t raw __attribute__((vector_size(16)));

	memcpy(&raw, from, sizeof(raw));
	return (hs_collect_words)__builtin_shufflevector(
			raw, raw, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
}

// Returns whether hops and flow have no event.
static inline bool is_quiet(const struct hs_collect_run *run, const uint8_t *hop)
{
	const struct hs_collect_bounds *bounds = run->hops, *end = bounds + run->n_hops;
	const hs_collect_words first_mask = run->mask[0], last_mask = run->mask[1];
	const uint8_t *last = hop + run->at[1];
	hs_collect_words good = ~(hs_collect_words){0}, sums = {0};
	uint64_t halves[2];

	hop += run->at[0];
	do {
		hs_collect_words x = (load_be32s(hop) & first_mask) - bounds->low[0];
		hs_collect_words y = (load_be32s(last) & last_mask) - bounds->low[1];
		sums += x;
		good &= (hs_collect_words)((x <= bounds->span[0]) & (y <= bounds->span[1]));
		hop += run->hop_bytes;
		last += run->hop_bytes;
	} while (++bounds < end);
	memcpy(halves, &good, sizeof(halves));
	bool is_flow_quiet = sums[run->latency_at] - run->sum_low <= run->sum_span;
	return is_flow_quiet && (halves[0] & halves[1]) == UINT64_MAX;
}

// Counts n reports as hs_collect_fast_path does.
static void count(struct hs_collect *c, const struct hs_collect_view *view,
		struct hs_collect_flow_entry *flow, unsigned n)
{
	const struct hs_collect_form form = hs_collect_form_of(view);
	uint64_t *suppressed = c->counters.suppressed;
	unsigned hops = n * view->n_hops;
	bool tells_q = form.has_queue &&
		       hs_collect_hop_node(&flow->near[view->n_hops - 1]) == view->own.node_id;

	flow->reports += n;
	suppressed[HS_COLLECT_POINT_FLOW] += n;
	suppressed[HS_COLLECT_POINT_HOP] += form.has_latency ? hops : 0;
	suppressed[HS_COLLECT_POINT_OCCUPANCY] += form.has_queue ? hops : 0;
	suppressed[HS_COLLECT_POINT_LINK] += form.has_link ? hops : 0;
	suppressed[HS_COLLECT_POINT_CONGESTION] += tells_q ? n : 0;
}

unsigned hs_collect_run_pass(
		struct hs_collect *c, const struct hs_collect_view *view, unsigned from)
{
	struct hs_collect_flow_entry *flow = &c->flow[view->flow];
	const struct hs_collect_datagram *datagram = &view->datagram[from];
	const struct hs_collect_datagram *end = view->datagram + view->more + 1;
	size_t hops_at = (size_t)(view->hops - view->datagram->bytes);

	if (!is_made(c, view)) {
		if (view->more < from + LEAST)
			return 0;
		make(c, view);
	}
	if (!c->run.good)
		return 0;
	while (datagram < end && is_quiet(&c->run, datagram->bytes + hops_at)) {
		hs_collect_ask(&c->asks[1]);
		datagram++;
	}
	unsigned passed = (unsigned)(datagram - view->datagram) - from;
	if (passed)
		count(c, view, flow, --passed);
	return passed;
}
