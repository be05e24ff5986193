// SPDX-License-Identifier: BSD-3-Clause
#include "qos_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS     1000000ll
#define SECOND (1000 * MS)

// A source's stamps and counts run together: a packet with an older count and a stamp this much
// newer (workers of one source may be a burst apart) comes from a source that began anew.
#define RESTART_NS (100 * MS)
// No software source sends faster, and no network loses this much between two sampled packets.
#define MIN_PACKET_NS	    5
#define IMPLAUSIBLE_PACKETS (1ll << 28)
// Delay does not change by this much between two packets, clocks do.
#define CLOCK_STEP_NS (10 * SECOND)
#define STAMP_BACK_NS MS
// A path that comes back this soon alternates with the other; alternation ends after calm.
#define RETURN_EDGES 16
#define RETURN_NS    SECOND
#define CALM_EDGES   32
#define CALM_NS	     (10 * SECOND)

enum relation {
	FIRST,
	NEWER,
	LATE,	   // older in source order than one that came before
	DUPLICATE, // as old as the newest
	STRAGGLER, // of an epoch before
	EPOCH,	   // the first of a new epoch
};

// What a report will do, found before anything changes.
struct plan {
	enum relation relation;
	int64_t order;
	bool same_path;
	bool has_chain;
	unsigned n_path_links;
	uint16_t path_links[HS_QOS_MAX_LINKS];
	uint16_t chain_links[HS_QOS_MAX_LINKS];
	struct hs_qos_chain chain;
};

static inline uint64_t distance(int64_t a, int64_t b)
{
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

// ---- init, fini, memory ----

void hs_qos_flow_init(struct hs_qos_flow *flow, const struct hs_qos_key *key,
		const struct hs_qos_config *config, struct hs_qos_step *scratch)
{
	memset(flow, 0, sizeof(*flow));
	flow->ns_id = key->ns_id;
	flow->app_id = key->app_id;
	flow->generation = key->generation;
	flow->sink_id = config->node_id;
	flow->slack = config->slack_packets;
	flow->last_step = scratch;
}

void hs_qos_flow_fini(struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < HS_QOS_SUMS; i++) {
		for (unsigned j = 0; j < flow->n_links; j++)
			hs_qos_hist_fini(&flow->sums[i].links[j].hist);
		free(flow->sums[i].links);
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		free(flow->latest[i].window.hops);
	hs_qos_ring_fini(&flow->ring);
	free(flow->links);
}

size_t hs_qos_flow_bytes(const struct hs_qos_flow *flow)
{
	size_t bytes = sizeof(*flow) - sizeof(flow->ring) + hs_qos_ring_bytes(&flow->ring);
	bytes += flow->link_capacity * sizeof(*flow->links);
	for (unsigned i = 0; i < HS_QOS_SUMS; i++) {
		bytes += flow->link_capacity * sizeof(struct hs_qos_link_sum);
		for (unsigned j = 0; j < flow->n_links; j++)
			bytes += hs_qos_hist_bytes(&flow->sums[i].links[j].hist);
	}
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		bytes += flow->latest[i].capacity * sizeof(struct hs_qos_hop);
	return bytes;
}

// ---- links ----

static int grow_links(struct hs_qos_flow *flow)
{
	unsigned capacity = flow->link_capacity ? flow->link_capacity * 2u : 8u;
	size_t old = flow->link_capacity;
	struct hs_qos_link *links = realloc(flow->links, capacity * sizeof(*links));
	if (!links)
		return -ENOMEM;
	flow->links = links;
	for (unsigned i = 0; i < HS_QOS_SUMS; i++) {
		struct hs_qos_link_sum *sums =
				realloc(flow->sums[i].links, capacity * sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		memset(sums + old, 0, (capacity - old) * sizeof(*sums));
		flow->sums[i].links = sums;
	}
	flow->link_capacity = (uint16_t)capacity;
	return 0;
}

static uint16_t least_used_link(const struct hs_qos_flow *flow)
{
	uint16_t least = 1;
	for (uint16_t i = 2; i < flow->n_links; i++)
		if (flow->links[i].used < flow->links[least].used)
			least = i;
	return least;
}

static void wipe_link_sum(struct hs_qos_link_sum *sum)
{
	struct hs_qos_hist hist = sum->hist;
	hs_qos_hist_clear(&hist, 0);
	*sum = (struct hs_qos_link_sum){.hist = hist};
}

// The index of a new link, or -ENOMEM. What a link that made room had lost becomes unattributed.
static int new_link(struct hs_qos_flow *flow, uint16_t from, uint16_t to)
{
	uint16_t index;
	if (flow->n_links == HS_QOS_FLOW_LINKS) {
		index = least_used_link(flow);
		for (unsigned i = 0; i < HS_QOS_SUMS; i++)
			wipe_link_sum(&flow->sums[i].links[index]);
	} else {
		if (flow->n_links == flow->link_capacity && grow_links(flow))
			return -ENOMEM;
		index = flow->n_links++;
	}
	flow->links[index] = (struct hs_qos_link){.from = from, .to = to, .used = flow->ring.next};
	return index;
}

static int find_link(const struct hs_qos_flow *flow, uint16_t from, uint16_t to)
{
	for (unsigned i = 1; i < flow->n_links; i++)
		if (flow->links[i].from == from && flow->links[i].to == to)
			return (int)i;
	return -ENOENT;
}

static int ensure_link(struct hs_qos_flow *flow, uint16_t from, uint16_t to)
{
	if (!flow->n_links && new_link(flow, 0, flow->sink_id) < 0)
		return -ENOMEM;
	int index = find_link(flow, from, to);
	if (index < 0)
		return new_link(flow, from, to);
	flow->links[index].used = flow->ring.next;
	return index;
}

// ---- paths ----

// Node i of a path, counted from the source, which is -1; the sink is n_hops.
static inline uint16_t node_at(
		const struct hs_qos_flow *flow, const struct hs_flexint *telemetry, int i)
{
	if (i < 0)
		return 0;
	if (i == telemetry->n_hops)
		return flow->sink_id;
	return telemetry->hops[telemetry->n_hops - 1 - i].node_id;
}

static inline bool same_path(const struct hs_flexint *a, const struct hs_flexint *b)
{
	if (a->n_hops != b->n_hops)
		return false;
	unsigned differ = 0;
	for (unsigned i = 0; i < a->n_hops; i++)
		differ |= a->hops[i].node_id ^ b->hops[i].node_id;
	return !differ;
}

static uint64_t path_hash(const struct hs_flexint *telemetry)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (unsigned i = 0; i < telemetry->n_hops; i++)
		hash = (hash ^ telemetry->hops[i].node_id) * 0x100000001b3u;
	return hash ^ telemetry->n_hops;
}

static bool is_common(const struct hs_qos_flow *flow, uint16_t node)
{
	for (unsigned i = 0; i < flow->n_common; i++)
		if (flow->common[i] == node)
			return true;
	return false;
}

static bool on_path(const struct hs_flexint *telemetry, uint16_t node)
{
	for (unsigned i = 0; i < telemetry->n_hops; i++)
		if (telemetry->hops[i].node_id == node)
			return true;
	return false;
}

static struct hs_qos_path *remembered_path(struct hs_qos_flow *flow, uint64_t hash)
{
	for (unsigned i = 0; i < HS_QOS_PATHS; i++)
		if (flow->paths[i].edge && flow->paths[i].hash == hash)
			return &flow->paths[i];
	return NULL;
}

static void remember_path(struct hs_qos_flow *flow, uint64_t hash)
{
	struct hs_qos_path *path = remembered_path(flow, hash);
	if (!path) {
		path = &flow->paths[0];
		for (unsigned i = 1; i < HS_QOS_PATHS; i++)
			if (flow->paths[i].edge < path->edge)
				path = &flow->paths[i];
	}
	*path = (struct hs_qos_path){hash, flow->edges, flow->edge.sink_ts_ns};
}

static void narrow_common(struct hs_qos_flow *flow, const struct hs_flexint *path)
{
	unsigned n = 0;
	for (unsigned i = 0; i < flow->n_common; i++)
		if (on_path(path, flow->common[i]))
			flow->common[n++] = flow->common[i];
	flow->n_common = (uint16_t)n;
}

static void start_multipath(struct hs_qos_flow *flow)
{
	const struct hs_flexint *path = &flow->edge.telemetry;
	flow->multipath = true;
	flow->n_common = path->n_hops;
	for (int i = 0; i < path->n_hops; i++)
		flow->common[i] = node_at(flow, path, i);
}

// Rule 10: one that comes back soon alternates. Before the chain of the step is made.
static void note_path(struct hs_qos_flow *flow, const struct hs_report *report, bool same)
{
	int64_t now_ns = report->sink_ts_ns;
	if (same) {
		if (flow->multipath && flow->edges - flow->multipath_edge >= CALM_EDGES &&
				now_ns - flow->multipath_ns > CALM_NS)
			flow->multipath = false;
		return;
	}
	remember_path(flow, path_hash(&flow->edge.telemetry));
	const struct hs_qos_path *before = remembered_path(flow, path_hash(&report->telemetry));
	bool returned = before && (flow->edges - before->edge <= RETURN_EDGES ||
						  now_ns - before->ts_ns <= RETURN_NS);
	if (returned && !flow->multipath)
		start_multipath(flow);
	if (flow->multipath)
		narrow_common(flow, &report->telemetry);
	flow->multipath_edge = flow->edges;
	flow->multipath_ns = now_ns;
}

static int plan_path(struct hs_qos_flow *flow, const struct hs_report *report, struct plan *plan)
{
	const struct hs_flexint *telemetry = &report->telemetry;
	plan->n_path_links = telemetry->n_hops + 1u;
	plan->same_path = flow->has_edge && same_path(telemetry, &flow->edge.telemetry);
	if (plan->same_path) {
		memcpy(plan->path_links, flow->path_links,
				plan->n_path_links * sizeof(plan->path_links[0]));
		return 0;
	}
	for (int i = 0; i <= telemetry->n_hops; i++) {
		int link = ensure_link(
				flow, node_at(flow, telemetry, i - 1), node_at(flow, telemetry, i));
		if (link < 0)
			return -ENOMEM;
		plan->path_links[i] = (uint16_t)link;
	}
	return 0;
}

static void chain_same(const struct hs_report *a, struct plan *plan)
{
	unsigned n = a->telemetry.n_hops;
	plan->chain.n = n;
	for (unsigned i = 0; i < n; i++) {
		plan->chain.at_a[i] = plan->chain.at_b[i] = (uint8_t)(n - 1 - i);
		plan->chain.joined[i] = true;
	}
	plan->chain.joined[n] = true;
	memcpy(plan->chain_links, plan->path_links, (n + 1) * sizeof(plan->path_links[0]));
}

// Where node of b stands on path a, at or behind `from`; -1: nowhere.
static int position_on(
		const struct hs_qos_flow *flow, const struct hs_flexint *a, uint16_t node, int from)
{
	for (int i = from; i < a->n_hops; i++)
		if (node_at(flow, a, i) == node)
			return i;
	return -1;
}

static int chain_link(struct hs_qos_flow *flow, struct plan *plan, uint16_t from, uint16_t to,
		bool joined)
{
	unsigned i = plan->chain.n;
	plan->chain.joined[i] = joined;
	plan->chain_links[i] = 0;
	if (!joined)
		return 0;
	int link = ensure_link(flow, from, to);
	if (link < 0)
		return -ENOMEM;
	plan->chain_links[i] = (uint16_t)link;
	return 0;
}

// The nodes that both paths have; of alternating paths, those that all have.
static int chain_common(struct hs_qos_flow *flow, const struct hs_report *a,
		const struct hs_report *b, struct plan *plan)
{
	const struct hs_flexint *on_a = &a->telemetry, *on_b = &b->telemetry;
	int last_a = -1, last_b = -1;
	plan->chain.n = 0;
	for (int i = 0; i < on_b->n_hops; i++) {
		uint16_t node = node_at(flow, on_b, i);
		int at = position_on(flow, on_a, node, last_a + 1);
		if (at < 0 || (flow->multipath && !is_common(flow, node)))
			continue;
		bool joined = flow->multipath || (at == last_a + 1 && i == last_b + 1);
		if (chain_link(flow, plan, node_at(flow, on_b, last_b), node, joined))
			return -ENOMEM;
		plan->chain.at_a[plan->chain.n] = (uint8_t)(on_a->n_hops - 1 - at);
		plan->chain.at_b[plan->chain.n++] = (uint8_t)(on_b->n_hops - 1 - i);
		last_a = at;
		last_b = i;
	}
	bool joined = flow->multipath || (last_a == on_a->n_hops - 1 && last_b == on_b->n_hops - 1);
	return chain_link(flow, plan, node_at(flow, on_b, last_b), flow->sink_id, joined);
}

static int plan_chain(struct hs_qos_flow *flow, const struct hs_report *report, struct plan *plan)
{
	note_path(flow, report, plan->same_path);
	plan->has_chain = true;
	if (plan->same_path && !flow->multipath) {
		chain_same(report, plan);
		return 0;
	}
	return chain_common(flow, &flow->edge, report, plan);
}

// ---- source order ----

// How much newer than the newest a report is, by the best count there is (serial arithmetic).
static int64_t order_ahead(const struct hs_flexint_e2e *edge, const struct hs_flexint_e2e *e2e)
{
	uint16_t bits = edge->bitmap & e2e->bitmap;
	if (bits & HS_E2E_TX_PACKETS)
		return (int32_t)(e2e->tx_packets - edge->tx_packets);
	if (bits & HS_E2E_INT_PACKETS)
		return (int32_t)(e2e->int_packets - edge->int_packets);
	if (bits & HS_E2E_TIMESTAMP)
		return (int64_t)(e2e->ts_ns - edge->ts_ns);
	return 1;
}

static enum relation relate_back(
		const struct hs_qos_flow *flow, int64_t ahead, bool stamped, int64_t elapsed_ns)
{
	bool far_back = ahead < -(int64_t)flow->slack;
	if (!stamped)
		return far_back ? EPOCH : LATE;
	return elapsed_ns > RESTART_NS || (far_back && elapsed_ns > 0) ? EPOCH : LATE;
}

// Counts that cannot belong to one epoch: the sink received more than was sent, or the source's
// serial step forward is really one back.
static bool counts_disagree(const struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t sent, bool stamped, int64_t elapsed_ns)
{
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	int64_t slack = flow->slack;
	if (received < -slack || sent - received < -slack)
		return true;
	if (sent >= IMPLAUSIBLE_PACKETS && received < sent / 2)
		return true;
	return stamped && elapsed_ns >= 0 && sent - slack > elapsed_ns / MIN_PACKET_NS;
}

static enum relation relate(
		struct hs_qos_flow *flow, const struct hs_report *report, int64_t *ahead)
{
	*ahead = 0;
	if (!flow->has_edge)
		return FIRST;
	const struct hs_flexint_e2e *edge = &flow->edge.telemetry.e2e;
	const struct hs_flexint_e2e *e2e = &report->telemetry.e2e;
	uint16_t bits = edge->bitmap & e2e->bitmap;
	bool stamped = bits & HS_E2E_TIMESTAMP;
	int64_t elapsed_ns = (int64_t)(e2e->ts_ns - edge->ts_ns);
	*ahead = order_ahead(edge, e2e);
	if (!*ahead)
		return DUPLICATE;
	bool counted = bits & (HS_E2E_TX_PACKETS | HS_E2E_INT_PACKETS);
	if (*ahead < 0)
		return counted ? relate_back(flow, *ahead, stamped, elapsed_ns) : LATE;
	if (counted && stamped && elapsed_ns<-RESTART_NS && * ahead> flow->slack &&
			++flow->stragglers < 3)
		return STRAGGLER;
	flow->stragglers = 0;
	if (!(bits & HS_E2E_TX_PACKETS) ||
			!counts_disagree(flow, report, *ahead, stamped, elapsed_ns)) {
		flow->disagreements = 0;
		return NEWER;
	}
	// Once is a restart; again and again is what rules that differ, or duplicates, look like.
	return flow->disagreements++ ? NEWER : EPOCH;
}

// ---- sums ----

void hs_qos_sum_clear(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		wipe_link_sum(&sum->links[i]);
	*sum = (struct hs_qos_sum){.links = sum->links};
}

static inline void add_delay(struct hs_qos_link_sum *sum, int64_t delay)
{
	if (!sum->delay_n || delay < sum->delay_min)
		sum->delay_min = delay;
	if (!sum->delay_n || delay > sum->delay_max)
		sum->delay_max = delay;
	sum->delay_n++;
	sum->delay_sum += delay;
}

// `sign` -1 takes a step back out.
static void add_delta(struct hs_qos_link_sum *sum, const struct hs_qos_delta *delta, int sign)
{
	const uint32_t both = HS_QOS_HAS_BYTES | HS_QOS_HAS_SPAN;
	sum->lost += sign * delta->lost;
	sum->node_lost += sign * delta->node_lost;
	sum->tx += sign * delta->tx;
	sum->rx += sign * delta->rx;
	sum->rx_bytes += sign * delta->rx_bytes;
	if ((delta->has & both) == both) {
		sum->rate_bytes += sign * delta->rx_bytes;
		// Stamps are a peer's: they may wrap, not overflow.
		uint64_t span = (uint64_t)delta->span_end_ns - (uint64_t)delta->span_start_ns;
		sum->span_ns = (int64_t)((uint64_t)sum->span_ns + (uint64_t)(int64_t)sign * span);
	}
	if (delta->has & HS_QOS_HAS_SPAN) {
		if (sign < 0)
			sum->span_start_ns = delta->span_end_ns;
		else if (!(sum->has & HS_QOS_HAS_SPAN))
			sum->span_start_ns = delta->span_start_ns;
		if (sign > 0)
			sum->span_end_ns = delta->span_end_ns;
	}
	sum->has |= delta->has;
}

static void add_step(struct hs_qos_sum *sum, const struct plan *plan,
		const struct hs_qos_step *step, int sign)
{
	add_delta(&sum->links[0], &step->e2e, sign);
	if (step->flags & HS_QOS_STEP_TRANSIT_RESET)
		return;
	for (unsigned i = 0; i <= plan->chain.n; i++)
		if (plan->chain.joined[i])
			add_delta(&sum->links[plan->chain_links[i]], &step->links[i], sign);
}

void hs_qos_sum_add_delay(const struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t link,
		int64_t delay)
{
	struct hs_qos_hist *hist = &sum->links[link].hist;
	if (!hist->n)
		hist->origin = flow->links[link].origin;
	hs_qos_hist_add(hist, delay);
}

static void merge_link(struct hs_qos_link_sum *into, const struct hs_qos_link_sum *from)
{
	if (from->delay_n) {
		if (!into->delay_n || from->delay_min < into->delay_min)
			into->delay_min = from->delay_min;
		if (!into->delay_n || from->delay_max > into->delay_max)
			into->delay_max = from->delay_max;
	}
	into->delay_n += from->delay_n;
	into->delay_sum += from->delay_sum;
	into->jitter_n += from->jitter_n;
	into->jitter_sum += from->jitter_sum;
	into->lost += from->lost;
	into->node_lost += from->node_lost;
	into->tx += from->tx;
	into->rx += from->rx;
	into->rx_bytes += from->rx_bytes;
	into->rate_bytes += from->rate_bytes;
	into->span_ns = (int64_t)((uint64_t)into->span_ns + (uint64_t)from->span_ns);
	if (from->has & HS_QOS_HAS_SPAN) {
		if (!(into->has & HS_QOS_HAS_SPAN))
			into->span_start_ns = from->span_start_ns;
		into->span_end_ns = from->span_end_ns;
	}
	into->has |= from->has;
	if (from->hist.n)
		hs_qos_hist_merge(&into->hist, &from->hist);
}

void hs_qos_sum_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from)
{
	if (from->reports) {
		if (!into->reports || from->first_ns < into->first_ns)
			into->first_ns = from->first_ns;
		if (!into->reports || from->last_ns > into->last_ns)
			into->last_ns = from->last_ns;
	}
	into->open = true;
	into->reports += from->reports;
	into->flags |= from->flags;
	into->path_changed |= from->path_changed;
	into->clock_stepped |= from->clock_stepped;
	for (unsigned i = 0; i < flow->n_links; i++)
		merge_link(&into->links[i], &from->links[i]);
}

// ---- delays ----

static unsigned collect_delays(const struct hs_report *report, const uint16_t *path_links,
		uint16_t *links, int64_t *delays)
{
	const struct hs_flexint *telemetry = &report->telemetry;
	unsigned n = 0;
	bool has_last = telemetry->e2e.bitmap & HS_E2E_TIMESTAMP;
	uint64_t last = telemetry->e2e.ts_ns;
	if (has_last) {
		links[n] = 0;
		delays[n++] = (int64_t)((uint64_t)report->sink_ts_ns - last);
	}
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		const struct hs_flexint_hop *hop = &telemetry->hops[telemetry->n_hops - 1 - i];
		bool has = hop->bitmap & HS_HOP_TIMESTAMP;
		if (has && has_last && path_links[i]) {
			links[n] = path_links[i];
			delays[n++] = (int64_t)(hop->ts_ns - last);
		}
		has_last = has;
		last = hop->ts_ns;
	}
	if (has_last && path_links[telemetry->n_hops]) {
		links[n] = path_links[telemetry->n_hops];
		delays[n++] = (int64_t)((uint64_t)report->sink_ts_ns - last);
	}
	return n;
}

unsigned hs_qos_flow_delays(const struct hs_qos_flow *flow, const struct hs_report *report,
		uint16_t links[HS_QOS_MAX_LINKS + 1], int64_t delays[HS_QOS_MAX_LINKS + 1])
{
	const struct hs_flexint *telemetry = &report->telemetry;
	uint16_t found[HS_QOS_MAX_LINKS];
	if (flow->has_edge && same_path(telemetry, &flow->edge.telemetry))
		return collect_delays(report, flow->path_links, links, delays);
	for (int i = 0; i <= telemetry->n_hops; i++) {
		int link = find_link(
				flow, node_at(flow, telemetry, i - 1), node_at(flow, telemetry, i));
		found[i] = link < 0 ? 0 : (uint16_t)link;
	}
	return collect_delays(report, found, links, delays);
}

static struct hs_qos_sum *sum_of_tag(struct hs_qos_flow *flow, int64_t tag)
{
	for (unsigned i = HS_QOS_CURRENT; i <= HS_QOS_CLOSING; i++)
		if (flow->sums[i].open && flow->sums[i].tag == tag)
			return &flow->sums[i];
	return NULL;
}

void hs_qos_flow_fold(struct hs_qos_flow *flow)
{
	uint16_t links[HS_QOS_MAX_LINKS + 1];
	int64_t delays[HS_QOS_MAX_LINKS + 1];
	struct hs_report report;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring);
	uint64_t number = flow->unfolded > oldest ? flow->unfolded : oldest;
	for (; number < flow->ring.next; number++) {
		struct hs_qos_sum *sum = sum_of_tag(flow, hs_qos_ring_tag(&flow->ring, number));
		if (!sum)
			continue;
		sum->folded = true;
		hs_qos_ring_get(&flow->ring, number, &report);
		unsigned n = hs_qos_flow_delays(flow, &report, links, delays);
		for (unsigned i = 0; i < n; i++)
			hs_qos_sum_add_delay(flow, sum, links[i], delays[i]);
	}
	flow->unfolded = flow->ring.next;
}

// RFC 3550 appendix A.8, in sixteenths.
static void smooth(struct hs_qos_link *link, uint64_t change)
{
	if (change > UINT64_MAX / 2)
		return;
	link->rfc3550 += change - ((link->rfc3550 + 8) >> 4);
}

static void add_pair(struct hs_qos_link_sum *sum, int64_t a, int64_t b, int sign)
{
	sum->jitter_n += (uint64_t)(int64_t)sign;
	sum->jitter_sum += sign * (hs_qos_wide)distance(a, b);
}

static void absorb_delay(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t index,
		int64_t delay, bool newest)
{
	struct hs_qos_link *link = &flow->links[index];
	struct hs_qos_link_sum *link_sum = &sum->links[index];
	add_delay(link_sum, delay);
	if (delay < 0)
		sum->flags |= HS_QOS_NEGATIVE_DELAY;
	if (!link->has_origin) {
		link->has_origin = true;
		link->origin = delay;
	}
	if (link->has_arrived)
		smooth(link, distance(delay, link->arrived));
	link->has_arrived = true;
	link->arrived = delay;
	if (!newest)
		return;
	if (link->has_ordered) {
		add_pair(link_sum, delay, link->ordered, 1);
		if (distance(delay, link->ordered) > CLOCK_STEP_NS)
			sum->clock_stepped = true;
	}
	link->has_ordered = true;
	link->ordered = delay;
}

// ---- jitter of late reports (rule 18) ----

static unsigned seen_index(const struct hs_qos_flow *flow, unsigned i)
{
	return (flow->seen_head + i) % HS_QOS_SEEN;
}

static void see_newest(struct hs_qos_flow *flow, int64_t order, uint64_t number)
{
	if (flow->n_seen == HS_QOS_SEEN) {
		flow->seen_head = seen_index(flow, 1);
		flow->n_seen--;
	}
	unsigned at = seen_index(flow, flow->n_seen++);
	flow->seen[at].order = order;
	flow->seen[at].number = number;
}

// Where a late report stands among the seen: the index of the first that is newer; -1 where it is
// older than all that are remembered, or is there already.
static int seen_position(const struct hs_qos_flow *flow, int64_t order)
{
	unsigned i = flow->n_seen;
	while (i > 0 && flow->seen[seen_index(flow, i - 1)].order > order)
		i--;
	if (i > 0 && flow->seen[seen_index(flow, i - 1)].order == order)
		return -1;
	return i == 0 && flow->n_seen == HS_QOS_SEEN ? -1 : (int)i;
}

static void see_late(struct hs_qos_flow *flow, int position, int64_t order, uint64_t number)
{
	if (flow->n_seen == HS_QOS_SEEN) {
		flow->seen_head = seen_index(flow, 1);
		flow->n_seen--;
		position--;
	}
	for (unsigned i = flow->n_seen++; (int)i > position; i--)
		flow->seen[seen_index(flow, i)] = flow->seen[seen_index(flow, i - 1)];
	unsigned at = seen_index(flow, (unsigned)position);
	flow->seen[at].order = order;
	flow->seen[at].number = number;
}

static bool delay_on(const struct hs_qos_flow *flow, uint64_t number, uint16_t link, int64_t *delay)
{
	uint16_t links[HS_QOS_MAX_LINKS + 1];
	int64_t delays[HS_QOS_MAX_LINKS + 1];
	struct hs_report report;
	if (number < hs_qos_ring_oldest(&flow->ring))
		return false;
	hs_qos_ring_get(&flow->ring, number, &report);
	unsigned n = hs_qos_flow_delays(flow, &report, links, delays);
	for (unsigned i = 0; i < n; i++) {
		if (links[i] == link) {
			*delay = delays[i];
			return true;
		}
	}
	return false;
}

// The neighbour in source order that was on the link too, looking from `i` in direction `step`.
static bool neighbour(const struct hs_qos_flow *flow, int i, int step, uint16_t link,
		int64_t *delay, uint64_t *number)
{
	for (; i >= 0 && i < (int)flow->n_seen; i += step) {
		*number = flow->seen[seen_index(flow, (unsigned)i)].number;
		if (delay_on(flow, *number, link, delay))
			return true;
	}
	return false;
}

// A late report comes between two that were a pair: their pair goes, two new ones come, each into
// the window of its later packet. Pairs of windows that are closed stay as they are.
static void late_pair(struct hs_qos_flow *flow, struct hs_qos_sum *sum, int position, uint16_t link,
		int64_t delay)
{
	int64_t before, after;
	uint64_t number;
	bool has_before = neighbour(flow, position - 1, -1, link, &before, &number);
	if (!has_before && flow->n_seen == HS_QOS_SEEN)
		return;
	if (neighbour(flow, position, 1, link, &after, &number)) {
		struct hs_qos_sum *later = sum_of_tag(flow, hs_qos_ring_tag(&flow->ring, number));
		if (!later)
			return;
		if (has_before)
			add_pair(&later->links[link], after, before, -1);
		add_pair(&later->links[link], after, delay, 1);
	} else {
		flow->links[link].has_ordered = true;
		flow->links[link].ordered = delay;
	}
	if (has_before)
		add_pair(&sum->links[link], delay, before, 1);
}

static void absorb_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum, const struct plan *plan,
		unsigned n, const uint16_t *links, const int64_t *delays)
{
	int position = seen_position(flow, plan->order);
	if (position < 0)
		return;
	for (unsigned i = 0; i < n; i++)
		late_pair(flow, sum, position, links[i], delays[i]);
	see_late(flow, position, plan->order, flow->ring.next - 1);
}

// ---- edges ----

static void copy_report(struct hs_report *to, const struct hs_report *from)
{
	size_t used = offsetof(struct hs_flexint, hops) +
		      from->telemetry.n_hops * sizeof(from->telemetry.hops[0]);
	memcpy(&to->telemetry, &from->telemetry, used);
	to->sink_ts_ns = from->sink_ts_ns;
	to->sink_rx_packets = from->sink_rx_packets;
	to->sink_rx_bytes = from->sink_rx_bytes;
}

static void set_edge(
		struct hs_qos_flow *flow, const struct hs_report *report, const struct plan *plan)
{
	copy_report(&flow->edge, report);
	flow->has_edge = true;
	flow->edge_order = plan->order;
	flow->edges++;
	if (plan->same_path)
		return;
	flow->n_path_links = (uint16_t)plan->n_path_links;
	memcpy(flow->path_links, plan->path_links,
			plan->n_path_links * sizeof(plan->path_links[0]));
}

static void set_closing_edge(struct hs_qos_flow *flow)
{
	flow->has_closing_edge = flow->has_edge;
	if (!flow->has_edge)
		return;
	copy_report(&flow->closing_edge, &flow->edge);
	flow->closing_order = flow->edge_order;
}

void hs_qos_flow_rotate(struct hs_qos_flow *flow, int64_t tag)
{
	struct hs_qos_sum closing = flow->sums[HS_QOS_CLOSING];
	flow->sums[HS_QOS_CLOSING] = flow->sums[HS_QOS_CURRENT];
	flow->sums[HS_QOS_CURRENT] = closing;
	flow->sums[HS_QOS_CURRENT].open = true;
	flow->sums[HS_QOS_CURRENT].tag = tag;
	set_closing_edge(flow);
}

static void note_step_flags(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint32_t flags)
{
	if (flags & HS_QOS_STEP_AMBIGUOUS)
		sum->flags |= HS_QOS_COUNTER_AMBIGUOUS;
	if (!(flags & HS_QOS_STEP_TRANSIT_RESET)) {
		flow->resets = 0;
		return;
	}
	// Three in a row: no node restarts that often, its counts are of other packets.
	if (++flow->resets >= 3) {
		sum->flags |= HS_QOS_RULES_DIFFER;
		return;
	}
	sum->flags |= HS_QOS_EPOCH;
	flow->epochs++;
	for (unsigned i = 1; i < flow->n_links; i++)
		memset(flow->links[i].carry, 0, sizeof(flow->links[i].carry));
}

static bool stamps_ran_back(const struct hs_report *a, const struct hs_report *b)
{
	uint16_t bits = a->telemetry.e2e.bitmap & b->telemetry.e2e.bitmap;
	return (bits & HS_E2E_TIMESTAMP) &&
	       (int64_t)(b->telemetry.e2e.ts_ns - a->telemetry.e2e.ts_ns) < -STAMP_BACK_NS;
}

// Newer than what the next window has seen already: its step can only go there.
static bool moves_closing(const struct hs_qos_flow *flow, enum hs_qos_sum_id id)
{
	return id == HS_QOS_CLOSING && flow->edge_order == flow->closing_order;
}

static void absorb_step(struct hs_qos_flow *flow, enum hs_qos_sum_id id,
		const struct hs_report *report, const struct plan *plan)
{
	bool closing = moves_closing(flow, id);
	struct hs_qos_sum *sum = &flow->sums[closing ? HS_QOS_CLOSING : HS_QOS_CURRENT];
	struct hs_qos_step *step = flow->last_step;
	hs_qos_step(&flow->edge, report, &plan->chain, flow->slack, step);
	note_step_flags(flow, sum, step->flags);
	if (flow->multipath)
		sum->flags |= HS_QOS_MULTIPATH;
	else if (!plan->same_path)
		sum->path_changed = true;
	if (stamps_ran_back(&flow->edge, report))
		sum->clock_stepped = true;
	add_step(sum, plan, step, 1);
}

// Rule 10: nothing is carried over.
static void begin_epoch(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	flow->epochs++;
	flow->n_seen = 0;
	flow->resets = 0;
	flow->multipath = false;
	flow->has_closing_edge = false;
	memset(flow->paths, 0, sizeof(flow->paths));
	sum->flags |= HS_QOS_EPOCH;
	for (unsigned i = 0; i < flow->n_links; i++) {
		struct hs_qos_link *link = &flow->links[i];
		link->has_origin = link->has_ordered = link->has_arrived = false;
		memset(link->carry, 0, sizeof(link->carry));
		link->negative = 0;
	}
}

// A report from before the end of the closing window that was overtaken by one from behind it:
// the edge between the two windows moves to it.
static void move_closing_edge(
		struct hs_qos_flow *flow, const struct hs_report *report, struct plan *plan)
{
	if (!flow->has_closing_edge || plan->order <= flow->closing_order || flow->multipath ||
			!plan->same_path ||
			!same_path(&report->telemetry, &flow->closing_edge.telemetry))
		return;
	struct hs_qos_step *step = flow->last_step;
	chain_same(report, plan);
	hs_qos_step(&flow->closing_edge, report, &plan->chain, flow->slack, step);
	if (step->flags)
		return;
	add_step(&flow->sums[HS_QOS_CLOSING], plan, step, 1);
	add_step(&flow->sums[HS_QOS_CURRENT], plan, step, -1);
	copy_report(&flow->closing_edge, report);
	flow->closing_order = plan->order;
}

static int make_plan(struct hs_qos_flow *flow, const struct hs_report *report, struct plan *plan)
{
	int64_t ahead;
	plan->has_chain = false;
	if (plan_path(flow, report, plan))
		return -ENOMEM;
	plan->relation = relate(flow, report, &ahead);
	// Wraps where a peer's stamps are nonsense and nothing better gives an order.
	plan->order = (int64_t)((uint64_t)flow->edge_order +
				(uint64_t)(plan->relation == EPOCH ? 1 : ahead));
	return plan->relation == NEWER ? plan_chain(flow, report, plan) : 0;
}

static void count_report(struct hs_qos_flow *flow, struct hs_qos_sum *sum, int64_t ts_ns)
{
	if (!sum->reports++ || ts_ns < sum->first_ns)
		sum->first_ns = ts_ns;
	if (ts_ns > sum->last_ns)
		sum->last_ns = ts_ns;
	if (ts_ns > flow->newest_ts_ns)
		flow->newest_ts_ns = ts_ns;
}

static void absorb_edge(struct hs_qos_flow *flow, enum hs_qos_sum_id id,
		const struct hs_report *report, const struct plan *plan)
{
	bool closing = moves_closing(flow, id);
	set_edge(flow, report, plan);
	if (closing)
		set_closing_edge(flow);
	see_newest(flow, plan->order, flow->ring.next - 1);
}

int hs_qos_flow_absorb(
		struct hs_qos_flow *flow, const struct hs_report *report, enum hs_qos_sum_id id)
{
	uint16_t links[HS_QOS_MAX_LINKS + 1];
	int64_t delays[HS_QOS_MAX_LINKS + 1];
	struct hs_qos_sum *sum = &flow->sums[id];
	struct plan plan;
	if (make_plan(flow, report, &plan))
		return -ENOMEM;
	if (flow->ring.count && flow->ring.next - flow->unfolded >= flow->ring.capacity)
		hs_qos_flow_fold(flow);
	int rc = hs_qos_ring_push(&flow->ring, report, sum->tag);
	if (rc)
		return rc;
	count_report(flow, sum, report->sink_ts_ns);
	if (plan.relation == EPOCH)
		begin_epoch(flow, sum);
	bool newest = plan.relation == FIRST || plan.relation == NEWER || plan.relation == EPOCH;
	unsigned n = collect_delays(report, plan.path_links, links, delays);
	for (unsigned i = 0; i < n; i++)
		absorb_delay(flow, sum, links[i], delays[i], newest);
	if (plan.relation == NEWER)
		absorb_step(flow, id, report, &plan);
	if (newest) {
		absorb_edge(flow, id, report, &plan);
		return 0;
	}
	flow->late_reports++;
	if (plan.relation == LATE) {
		absorb_late(flow, sum, &plan, n, links, delays);
		if (id == HS_QOS_CLOSING)
			move_closing_edge(flow, report, &plan);
	}
	return 0;
}
