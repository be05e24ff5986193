// SPDX-License-Identifier: BSD-3-Clause
#include "qos_metrics.h"

#include "qos_entries.h"
#include "qos_local.h"
#include "qos_path.h"
#include "qos_ranks.h"
#include "qos_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define P99_VALUES  100
#define P999_VALUES 1000
#define OLD_SURPLUS 10 // windows

// ---- delay ----

// Returns the nearest rank ceil(p * n) (rule 17).
static uint64_t rank_of(uint64_t n, uint64_t per_mille)
{
	return (n * per_mille + 999) / 1000;
}

static int64_t percentile(const struct hs_qos_link_sum *sum, uint64_t per_mille)
{
	int64_t value = hs_qos_hist_value(&sum->hist, rank_of(sum->hist.n, per_mille));
	if (value < sum->delay_min)
		return sum->delay_min;
	return value > sum->delay_max ? sum->delay_max : value;
}

// A division of 64 bits takes a tenth of the instructions.
static inline hs_qos_wide divided(hs_qos_wide a, int64_t b)
{
	return a == (int64_t)a ? (int64_t)a / b : a / b;
}

static hs_qos_wide rounded_mean(hs_qos_wide sum, uint64_t n)
{
	hs_qos_wide half = (hs_qos_wide)(n / 2);
	return divided(sum < 0 ? sum - half : sum + half, (int64_t)n);
}

// Limits a distance of two delays to what JSON can show: 63 bits. Stamps have 64 bits, so that
// delays may be farther apart.
static uint64_t shown_distance(hs_qos_wide ns)
{
	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

static const uint16_t per_mille[] = {500, 990, 999};
#define PERCENTILES 3

// Returns how many of these percentiles n values have.
static unsigned percentiles_of(uint64_t n)
{
	return 1u + (n >= P99_VALUES) + (n >= P999_VALUES);
}

// Returns false if the link has no values to find percentiles in.
static bool find_percentiles(const struct hs_qos_link_sum *sum, struct hs_qos_columns *columns,
		unsigned index, unsigned n, int64_t found[PERCENTILES])
{
	uint32_t ranks[PERCENTILES], n_values = hs_qos_columns_count(columns, index);
	if (sum->delay_n <= HS_QOS_EXACT_VALUES && n_values == sum->delay_n) {
		for (unsigned i = 0; i < n; i++)
			ranks[i] = (uint32_t)rank_of(n_values, per_mille[i]) - 1;
		hs_qos_ranks_find(columns, index, sum->delay_min, sum->delay_max, n, ranks, found);
		return true;
	}
	for (unsigned i = 0; i < n && sum->hist.n; i++)
		found[i] = percentile(sum, per_mille[i]);
	return sum->hist.n;
}

static void fill_percentiles(const struct hs_qos_link_sum *sum, struct hs_qos_columns *columns,
		unsigned index, struct hs_qos_hop *hop)
{
	unsigned n = percentiles_of(sum->delay_n);
	int64_t found[PERCENTILES];
	if (!find_percentiles(sum, columns, index, n, found))
		return;
	hop->delay.p50 = found[0];
	hop->has |= HS_QOS_HAS_P50;
	if (n < 2)
		return;
	hop->delay.p99 = found[1];
	hop->has |= HS_QOS_HAS_P99;
	if (n < 3)
		return;
	hop->delay.p999 = found[2];
	hop->pdv_ns = shown_distance((hs_qos_wide)hop->delay.p999 - sum->delay_min);
	hop->has |= HS_QOS_HAS_P999;
}

static void fill_delay(const struct hs_qos_link_sum *sum, struct hs_qos_hop *hop)
{
	hop->delay.n = sum->delay_n;
	if (sum->delay_n) {
		hop->delay.mean = (int64_t)rounded_mean(sum->delay_sum, sum->delay_n);
		hop->delay.min = sum->delay_min;
		hop->delay.max = sum->delay_max;
		hop->has |= HS_QOS_HAS_DELAY;
	}
	if (!sum->jitter_n)
		return;
	hop->jitter_rfc3550_ns = sum->rfc3550 >> 4;
	hop->has |= HS_QOS_HAS_JITTER_RFC3550;
	if (sum->unpaired)
		return;
	hop->jitter_ns = shown_distance(rounded_mean(sum->jitter_sum, sum->jitter_n));
	hop->has |= HS_QOS_HAS_JITTER;
}

// ---- loss and throughput ----

static uint64_t per_second(int64_t bytes, int64_t ns)
{
	hs_qos_wide rate = divided((hs_qos_wide)bytes * 8 * 1000000000, ns);
	return rate > INT64_MAX ? INT64_MAX : (uint64_t)rate;
}

// Fills in the throughput (rule 8).
static void fill_throughput(
		const struct hs_qos_link_sum *sum, int64_t window_ns, struct hs_qos_hop *hop)
{
	hop->span_start_ns = sum->span_start_ns;
	hop->span_end_ns = sum->span_end_ns;
	hop->rx_bytes = sum->rx_bytes;
	hop->has |= sum->has & (HS_QOS_HAS_SPAN | HS_QOS_HAS_BYTES);
	if (sum->span_ns > 0 && sum->rate_bytes >= 0) {
		hop->throughput_bps = per_second(sum->rate_bytes, sum->span_ns);
		hop->has |= HS_QOS_HAS_THROUGHPUT;
	}
	if ((sum->has & HS_QOS_HAS_BYTES) && window_ns > 0 && sum->rx_bytes >= 0) {
		hop->window_throughput_bps = per_second(sum->rx_bytes, window_ns);
		hop->has |= HS_QOS_HAS_WINDOW_THROUGHPUT;
	}
}

// Returns what a window carries over to the next (rule 14): a surplus that offsets a later loss, or
// a loss that a later report denied and that must show again. The amount is limited to what
// reordering can explain.
static int64_t carry_over(const struct hs_qos_link_sum *sum, int64_t left, int64_t slack)
{
	if (sum->differs || sum->renewed)
		return 0;
	if (left < -slack)
		return -slack;
	return left > slack ? slack : left;
}

// Fills in the loss (rule 14): a packet is lost when it is missing at the window's last report and
// at all reports since. A surplus of received packets offsets what the window before counted as
// lost.
static void fill_loss(const struct hs_qos_link_sum *sum, const struct hs_qos_link_sum *since,
		int64_t slack, struct hs_qos_carry *carry, struct hs_qos_hop *hop)
{
	hop->has |= sum->has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_NODE_LOSS | HS_QOS_HAS_RX_PACKETS);
	hop->rx_packets = sum->rx;
	if (sum->has & HS_QOS_HAS_NODE_LOSS)
		hop->node_lost_packets = sum->node_lost;
	if (!(sum->has & HS_QOS_HAS_LOSS))
		return;
	int64_t owed = sum->lost + (carry ? carry->packets : 0);
	int64_t denied = since && !sum->differs ? carry_over(sum, since->lost_low, slack) : 0;
	hop->tx_packets = sum->tx;
	hop->lost_packets = sum->lost;
	hop->shown_lost_packets = owed + denied > 0 ? (uint64_t)(owed + denied) : 0;
	if (!carry)
		return;
	carry->age = sum->lost < 0 ? 0 : carry->age + 1;
	int64_t left = owed - (int64_t)hop->shown_lost_packets;
	carry->packets = left < 0 && carry->age >= OLD_SURPLUS ? 0 : carry_over(sum, left, slack);
}

// ---- the window ----

static int reserve_hops(struct hs_qos_slot *slot, uint32_t n)
{
	if (n <= slot->capacity)
		return 0;
	struct hs_qos_hop *hops = realloc(slot->window.hops, n * sizeof(*hops));
	if (!hops)
		return -ENOMEM;
	slot->window.hops = hops;
	slot->capacity = n;
	return 0;
}

void hs_qos_slot_fini(struct hs_qos_slot *slot)
{
	free(slot->window.hops);
	memset(slot, 0, sizeof(*slot));
}

// Fills in how many reports each metric is computed from, if some reports lack fields (rule 22).
static void fill_reports(const struct hs_qos_sum *sum, const struct hs_qos_link_sum *link_sum,
		struct hs_qos_hop *hop)
{
	if (!sum->partial)
		return;
	hop->loss_reports = sum->reports - link_sum->lack_loss;
	hop->delay_reports = link_sum->delay_n;
	hop->throughput_reports = sum->reports - link_sum->lack_rate;
	hop->has |= HS_QOS_HAS_REPORTS;
}

static void fill_hop(struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		const struct hs_qos_sum *since, int tier, struct hs_qos_columns *columns,
		unsigned index, int64_t window_ns, struct hs_qos_hop *hop)
{
	struct hs_qos_link *link = &flow->links[index];
	const struct hs_qos_link_sum *link_sum = &sum->links[index];
	*hop = (struct hs_qos_hop){.from = link->from, .to = link->to};
	fill_delay(link_sum, hop);
	if (link_sum->delay_n)
		fill_percentiles(link_sum, columns, index, hop);
	fill_throughput(link_sum, sum->odd_length ? 0 : window_ns, hop);
	fill_loss(link_sum, since ? &since->links[index] : NULL, flow->slack,
			tier < 0 ? NULL : &link->carry[tier], hop);
	fill_reports(sum, link_sum, hop);
	hs_qos_local_fill(sum, index, hop);
}

static void fill_path(const struct hs_qos_flow *flow, const struct hs_report *path_of,
		struct hs_qos_slot *slot)
{
	const struct hs_decoded *telemetry = &path_of->telemetry;
	unsigned n = 0;
	for (int i = -1; i <= telemetry->n_hops; i++)
		slot->path[n++] = hs_qos_flow_node(flow, telemetry, i);
	slot->window.path = slot->path;
	slot->window.n_path = (uint16_t)n;
}

// Adds links of the window's reports that are not taken: those with counts, or those without.
// Returns how many links there are now, at most as many as a window may have.
static unsigned add_links(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		bool counted, bool taken[HS_QOS_FLOW_LINKS], uint16_t order[HS_QOS_FLOW_LINKS],
		unsigned n)
{
	for (uint16_t i = 1; i < flow->n_links && n < HS_QOS_MAX_LINKS; i++) {
		const struct hs_qos_link_sum *link = &sum->links[i];
		bool is_counted = link->has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_RX_PACKETS);
		if (taken[i] || is_counted != counted ||
				!(link->delay_n || link->has || hs_qos_local_some(sum, i)))
			continue;
		order[n++] = i;
		taken[i] = true;
	}
	return n;
}

// Lists the links of the newest path from source to sink, then those of other paths that have
// counts, then the rest.
static unsigned order_links(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		const struct hs_decoded *path, uint16_t order[HS_QOS_FLOW_LINKS])
{
	bool taken[HS_QOS_FLOW_LINKS] = {true}; // end to end is no hop
	uint16_t on_path[HS_QOS_MAX_LINKS];
	unsigned n = 0;
	hs_qos_path_links(flow, path, on_path);
	for (unsigned i = 0; i <= path->n_hops; i++) {
		if (taken[on_path[i]])
			continue;
		order[n++] = on_path[i];
		taken[on_path[i]] = true;
	}
	n = add_links(flow, sum, true, taken, order, n);
	return add_links(flow, sum, false, taken, order, n);
}

// Returns whether a hop has a negative count of packets or bytes. Then some counter is wrong.
static bool is_negative(const struct hs_qos_hop *hop)
{
	return (hop->has & HS_QOS_HAS_LOSS && hop->tx_packets < 0) ||
	       (hop->has & HS_QOS_HAS_RX_PACKETS && hop->rx_packets < 0) ||
	       (hop->has & HS_QOS_HAS_BYTES && hop->rx_bytes < 0);
}

// Flags a window that has a node without an id. The metrics of such a node's links cannot be
// assigned to a node.
static void flag_unknown(struct hs_qos_window *window)
{
	bool unknown = false;
	for (unsigned i = 0; i < window->n_path; i++)
		unknown |= window->path[i] == HS_NODE_UNKNOWN;
	for (unsigned i = 0; i < window->n_hops; i++)
		unknown |= window->hops[i].from == HS_NODE_UNKNOWN ||
			   window->hops[i].to == HS_NODE_UNKNOWN;
	if (unknown)
		window->flags |= HS_QOS_NODES_UNKNOWN;
}

static void flag_negative(struct hs_qos_window *window)
{
	bool negative = is_negative(&window->e2e);
	for (unsigned i = 0; i < window->n_hops; i++)
		negative |= is_negative(&window->hops[i]);
	if (negative)
		window->flags |= HS_QOS_COUNTER_AMBIGUOUS;
}

// Fills in the loss that no link or node explains (rule 11).
static void fill_unattributed(struct hs_qos_window *window)
{
	int64_t left = window->e2e.lost_packets;
	for (unsigned i = 0; i < window->n_hops; i++) {
		left = hs_qos_plus(left, -window->hops[i].lost_packets);
		left = hs_qos_plus(left, -window->hops[i].node_lost_packets);
	}
	window->unattributed_lost_packets = window->e2e.has & HS_QOS_HAS_LOSS ? left : 0;
}

static void fill_head(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		int64_t start_ns, int64_t end_ns, struct hs_qos_window *window)
{
	window->ns_id = flow->ns_id;
	window->app_id = flow->app_id;
	window->window_ns = end_ns - start_ns;
	window->start_ns = start_ns;
	window->end_ns = end_ns;
	window->run = false;
	window->stale = false;
	window->age_ns = 0;
	window->path_changed = sum->path_changed;
	window->reports = sum->reports;
	window->flags = sum->flags & ~HS_QOS_ALTERNATES;
}

// Returns whether a node's entries lack counts that the packets requested. Then a link has no loss
// value although the whole path has one.
static bool lacks_counts(const struct hs_qos_window *window, const struct hs_report *path_of)
{
	bool asked = path_of->telemetry.trace_type & HS_HOP_PACKETS;
	bool explained = window->path_changed || window->e2e.has & HS_QOS_HAS_REPORTS ||
			 window->flags & (HS_QOS_MULTIPATH | HS_QOS_ENTRIES_MISSING | HS_QOS_EPOCH |
							 HS_QOS_COUNTER_AMBIGUOUS);

	if (!asked || explained || !(window->e2e.has & HS_QOS_HAS_LOSS))
		return false;
	for (unsigned i = 0; i < window->n_hops; i++)
		if (!(window->hops[i].has & HS_QOS_HAS_LOSS))
			return true;
	return false;
}

// Returns whether the window's traffic is known from its start on. What the flow carried before the
// first report that came is not known, unless the source counted few packets before that report: at
// most 1 % of the window's. A run starts with its first report. If reports come late, they are
// added to a later window than that of their time. Then they must be of as much time as the window.
static bool is_whole(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum, int64_t start_ns,
		int64_t end_ns)
{
	int64_t sent = sum->links[0].tx;
	uint64_t few = sent > 0 ? (uint64_t)sent / 100 : 0;
	if (flow->unknown_packets <= few || start_ns == sum->first_ns)
		return true;
	bool late = sum->first_ns <= start_ns;
	return start_ns >= flow->met_ns &&
	       (!late || sum->last_ns - flow->met_ns >= end_ns - start_ns);
}

int hs_qos_compute_metrics(struct hs_qos_flow *flow, const struct hs_qos_sum *sum,
		const struct hs_qos_sum *since, int tier, struct hs_qos_columns *columns,
		const struct hs_report *path_of, int64_t start_ns, int64_t end_ns,
		struct hs_qos_slot *slot)
{
	uint16_t order[HS_QOS_FLOW_LINKS];
	struct hs_qos_window *window = &slot->window;
	if (!flow->n_links)
		return -ENOMEM;
	fill_path(flow, path_of, slot);
	unsigned n = order_links(flow, sum, &path_of->telemetry, order);
	if (reserve_hops(slot, n))
		return -ENOMEM;
	fill_head(flow, sum, start_ns, end_ns, window);
	int64_t length_ns = is_whole(flow, sum, start_ns, end_ns) ? window->window_ns : 0;
	fill_hop(flow, sum, since, tier, columns, 0, length_ns, &window->e2e);
	window->n_hops = (uint16_t)n;
	for (unsigned i = 0; i < n; i++)
		fill_hop(flow, sum, since, tier, columns, order[i], length_ns, &window->hops[i]);
	fill_unattributed(window);
	flag_unknown(window);
	flag_negative(window);
	if (lacks_counts(window, path_of))
		window->flags |= HS_QOS_COUNTS_MISSING;
	slot->filled = true;
	return 0;
}

// ---- judgements on a shortest window ----

static bool common_end(const struct hs_qos_flow *flow, uint32_t node)
{
	if (node == flow->edge.telemetry.e2e.node_id || node == flow->sink_id)
		return true;
	for (unsigned i = 0; i < flow->n_common; i++)
		if (flow->common[i] == node)
			return true;
	return false;
}

void hs_qos_drop_uncommon(const struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	if (!(sum->flags & HS_QOS_ALTERNATES))
		return;
	for (unsigned i = 1; i < flow->n_links; i++) {
		struct hs_qos_link_sum *link = &sum->links[i];
		if (common_end(flow, flow->links[i].from) && common_end(flow, flow->links[i].to))
			continue;
		link->has = 0;
		link->lost = link->lost_low = link->node_lost = link->tx = link->rx = 0;
		link->rx_bytes = link->rate_bytes = link->span_ns = 0;
	}
}

// Returns whether a link received more than was sent in several windows in a row, and more than
// reordering within a window can explain.
static bool lasting(const struct hs_qos_flow *flow, const struct hs_qos_link *link,
		const struct hs_qos_link_sum *sum)
{
	return (link->negative && link->differs) ||
	       (link->negative >= flow->lasting && link->surplus > 256 + sum->tx / 8) ||
	       (link->negative >= flow->lasting * 10 / 3 && link->surplus > 16);
}

static void judge_link(const struct hs_qos_flow *flow, struct hs_qos_link *link,
		struct hs_qos_link_sum *sum)
{
	link->negative = sum->lost < 0 ? link->negative + 1 : 0;
	link->surplus = sum->lost < 0 ? link->surplus - sum->lost : 0;
	sum->differs = lasting(flow, link, sum);
	// Such a surplus is not late packets: it offsets no loss, neither now nor in the next
	// window.
	if (sum->differs || link->differs)
		memset(link->carry, 0, sizeof(link->carry));
	link->differs = sum->differs;
}

void hs_qos_judge_rules(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	bool differ = false;
	bool judged = false;
	for (unsigned i = 0; i < flow->n_links; i++) {
		if (!(sum->links[i].has & HS_QOS_HAS_LOSS))
			continue;
		judged = true;
		judge_link(flow, &flow->links[i], &sum->links[i]);
		differ |= sum->links[i].differs;
	}
	if (judged)
		flow->rules_differ = differ;
	if (flow->rules_differ)
		sum->flags |= HS_QOS_RULES_DIFFER;
}
