// SPDX-License-Identifier: BSD-3-Clause
#include "qos_path.h"

#include "qos_entries.h"
#include "qos_local.h"
#include "qos_partial.h"
#include "qos_sum.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS     1000000ll
#define SECOND (1000 * MS)

// A path that comes back within RETURN_EDGES reports or RETURN_NS alternates with the other path.
// Alternation ends after CALM_EDGES reports and HS_QOS_CALM_NS on one path.
#define RETURN_EDGES 16
#define RETURN_NS    SECOND
#define CALM_EDGES   32

// ---- links ----

static int grow_links(struct hs_qos_flow *flow)
{
	unsigned capacity = flow->link_capacity ? flow->link_capacity * 2u : 8u;
	size_t old = flow->link_capacity;
	struct hs_qos_link *links = realloc(flow->links, capacity * sizeof(*links));
	if (!links)
		return -ENOMEM;
	flow->links = links;
	for (unsigned i = 0; i < flow->n_sums; i++) {
		struct hs_qos_link_sum *sums =
				realloc(flow->sums[i].links, capacity * sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		memset(sums + old, 0, (capacity - old) * sizeof(*sums));
		flow->sums[i].links = sums;
	}
	if (hs_qos_local_grow(flow, capacity))
		return -ENOMEM;
	if (flow->marks) {
		struct hs_qos_marks *marks = realloc(flow->marks, capacity * sizeof(*marks));
		if (!marks)
			return -ENOMEM;
		memset(marks + old, 0, (capacity - old) * sizeof(*marks));
		flow->marks = marks;
	}
	flow->link_capacity = (uint16_t)capacity;
	return 0;
}

// A plan pins the links of the newest path, of the report's, and of what they have in common.
static_assert(HS_QOS_FLOW_LINKS > 1 + 3 * HS_QOS_MAX_LINKS, "one link can always make room");

static uint16_t least_used_link(const struct hs_qos_flow *flow)
{
	uint16_t least = 1;
	for (uint16_t i = 2; i < flow->n_links; i++)
		if (flow->links[i].used < flow->links[least].used)
			least = i;
	return least;
}

// Returns the most links that a flow may have. If memory is scarce, a flow with many paths has no
// more links than its plan needs.
static unsigned most_links(const struct hs_qos_flow *flow)
{
	if (!flow->scarce)
		return HS_QOS_FLOW_LINKS;
	unsigned needed = flow->plan_links + 2u;
	return needed > HS_QOS_SCARCE_LINKS ? needed : HS_QOS_SCARCE_LINKS;
}

// Returns the index of a new link, or -ENOMEM. At the limit, the new link replaces the least
// recently used one, whose loss becomes unattributed.
static int new_link(struct hs_qos_flow *flow, uint32_t from, uint32_t to, unsigned visit)
{
	uint16_t index;
	if (flow->n_links >= most_links(flow)) {
		index = least_used_link(flow);
		for (unsigned i = 0; i < flow->n_sums; i++)
			hs_qos_sum_wipe_link(&flow->sums[i].links[index]);
		hs_qos_local_wipe(flow, index);
	} else {
		if (flow->n_links == flow->link_capacity && grow_links(flow))
			return -ENOMEM;
		index = flow->n_links++;
	}
	if (flow->marks)
		flow->marks[index] = (struct hs_qos_marks){0};
	flow->links[index] = (struct hs_qos_link){
			.from = from,
			.to = to,
			.visit = (uint8_t)visit,
			.used = flow->plans,
			.born = flow->ring.next,
	};
	return index;
}

// Returns the link's index, or -ENOENT.
static int find_link(const struct hs_qos_flow *flow, uint32_t from, uint32_t to, unsigned visit)
{
	for (unsigned i = 1; i < flow->n_links; i++) {
		const struct hs_qos_link *link = &flow->links[i];
		if (link->from == from && link->to == to && link->visit == visit)
			return (int)i;
	}
	return -ENOENT;
}

// Returns how often the path has passed the two nodes of its link i before.
static unsigned visits_before(
		const struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int i)
{
	uint32_t from = hs_qos_flow_node(flow, telemetry, i - 1);
	uint32_t to = hs_qos_flow_node(flow, telemetry, i);
	unsigned visit = 0;
	for (int j = 0; j < i; j++)
		visit += hs_qos_flow_node(flow, telemetry, j - 1) == from &&
			 hs_qos_flow_node(flow, telemetry, j) == to;
	return visit;
}

static int ensure_link(struct hs_qos_flow *flow, uint32_t from, uint32_t to, unsigned visit)
{
	if (!flow->n_links && new_link(flow, 0, flow->sink_id, 0) < 0)
		return -ENOMEM;
	int index = find_link(flow, from, to, visit);
	if (index < 0)
		return new_link(flow, from, to, visit);
	flow->links[index].used = flow->plans;
	return index;
}

void hs_qos_path_links(const struct hs_qos_flow *flow, const struct hs_decoded *telemetry,
		uint16_t links[HS_QOS_MAX_LINKS])
{
	for (int i = 0; i <= telemetry->n_hops; i++) {
		int link = find_link(flow, hs_qos_flow_node(flow, telemetry, i - 1),
				hs_qos_flow_node(flow, telemetry, i),
				visits_before(flow, telemetry, i));
		links[i] = link < 0 ? 0 : (uint16_t)link;
	}
}

// ---- paths ----

static uint64_t path_hash(const struct hs_decoded *telemetry)
{
	uint64_t hash = 0xcbf29ce484222325u ^ telemetry->e2e.node_id;
	for (unsigned i = 0; i < telemetry->n_hops; i++)
		hash = (hash ^ telemetry->hops[i].node_id) * 0x100000001b3u;
	return hash ^ telemetry->n_hops;
}

static bool is_common(const struct hs_qos_flow *flow, uint32_t node)
{
	for (unsigned i = 0; i < flow->n_common; i++)
		if (flow->common[i] == node)
			return true;
	return false;
}

static bool on_path(const struct hs_decoded *telemetry, uint32_t node)
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

static void narrow_common(struct hs_qos_flow *flow, const struct hs_decoded *path)
{
	unsigned n = 0;
	for (unsigned i = 0; i < flow->n_common; i++)
		if (on_path(path, flow->common[i]))
			flow->common[n++] = flow->common[i];
	flow->n_common = (uint16_t)n;
}

static void start_multipath(struct hs_qos_flow *flow, const struct hs_report *report)
{
	const struct hs_decoded *path = &flow->edge.telemetry;
	hs_qos_entries_begin(flow, &report->telemetry, report->sink_ts_ns);
	flow->multipath = true;
	flow->n_common = path->n_hops;
	for (int i = 0; i < path->n_hops; i++)
		flow->common[i] = hs_qos_flow_node(flow, path, i);
}

static void note_alternation(struct hs_qos_flow *flow, const struct hs_report *report)
{
	if (flow->multipath) {
		narrow_common(flow, &report->telemetry);
		hs_qos_entries_path(flow, &report->telemetry, report->sink_ts_ns);
	}
	flow->multipath_edge = flow->edges;
	flow->multipath_ns = report->sink_ts_ns;
}

// Notes a report's path: a path that comes back soon alternates (rule 10). Runs before the step's
// chain is made.
static void note_path(struct hs_qos_flow *flow, const struct hs_report *report, bool same)
{
	int64_t now_ns = report->sink_ts_ns;
	if (same) {
		if (flow->multipath && flow->edges - flow->multipath_edge >= CALM_EDGES &&
				now_ns - flow->multipath_ns > HS_QOS_CALM_NS)
			flow->multipath = false;
		return;
	}
	remember_path(flow, path_hash(&flow->edge.telemetry));
	const struct hs_qos_path *before = remembered_path(flow, path_hash(&report->telemetry));
	bool returned = before && (flow->edges - before->edge <= RETURN_EDGES ||
						  now_ns - before->ts_ns <= RETURN_NS);
	if (returned && !flow->multipath)
		start_multipath(flow, report);
	note_alternation(flow, report);
}

// A slower path whose reports always come late alternates too (rule 10). Such a report was sent
// after the first report of the newest path, so between two reports of that path. Late reports of a
// path that is no longer used are older.
void hs_qos_path_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan)
{
	if (plan->same_path || (!flow->multipath && plan->order <= flow->path_since))
		return;
	if (!flow->multipath)
		start_multipath(flow, report);
	note_alternation(flow, report);
	sum->flags |= hs_qos_entries_flags(flow, report->sink_ts_ns);
}

// Begins a plan, and marks the links of the newest path as used, so that no new link replaces them.
static void begin_plan(struct hs_qos_flow *flow)
{
	flow->plans++;
	for (unsigned i = 0; i < flow->n_path_links; i++)
		flow->links[flow->path_links[i]].used = flow->plans;
}

int hs_qos_path_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	plan->n_path_links = telemetry->n_hops + 1u;
	flow->plan_links = (uint16_t)(flow->n_path_links + 2 * plan->n_path_links);
	plan->same_path = flow->has_edge && hs_qos_path_same(telemetry, &flow->edge.telemetry);
	if (!plan->same_path || flow->multipath)
		begin_plan(flow);
	if (plan->same_path) {
		memcpy(plan->path_links, flow->path_links,
				plan->n_path_links * sizeof(plan->path_links[0]));
		return 0;
	}
	for (int i = 0; i <= telemetry->n_hops; i++) {
		int link = ensure_link(flow, hs_qos_flow_node(flow, telemetry, i - 1),
				hs_qos_flow_node(flow, telemetry, i),
				visits_before(flow, telemetry, i));
		if (link < 0)
			return -ENOMEM;
		plan->path_links[i] = (uint16_t)link;
	}
	return 0;
}

int hs_qos_path_reserve(struct hs_qos_flow *flow, const struct hs_report *report,
		const struct hs_qos_plan *plan)
{
	if (!flow->has_edge || (plan->same_path && !flow->multipath))
		return 0;
	unsigned links = flow->n_links + report->telemetry.n_hops + 1u, most = most_links(flow);
	while (flow->link_capacity < (links < most ? links : most))
		if (grow_links(flow))
			return -ENOMEM;
	return 0;
}

void hs_qos_path_chain_same(const struct hs_report *a, struct hs_qos_plan *plan)
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

// Returns the index of a node on path a, at or after `from`, or -1 if the path does not have the
// node.
static int position_on(
		const struct hs_qos_flow *flow, const struct hs_decoded *a, uint32_t node, int from)
{
	for (int i = from; i < a->n_hops; i++)
		if (hs_qos_flow_node(flow, a, i) == node)
			return i;
	return -1;
}

// Sets the chain's link from node `last` of path b to node i: the path's own link, or a link that
// spans the nodes between them.
static void chain_link(struct hs_qos_flow *flow, struct hs_qos_plan *plan,
		const struct hs_decoded *on_b, int last, int i, bool joined)
{
	unsigned at = plan->chain.n;
	plan->chain.joined[at] = joined;
	plan->chain_links[at] = 0;
	if (!joined)
		return;
	if (i == last + 1) {
		plan->chain_links[at] = plan->path_links[i];
		return;
	}
	uint32_t from = hs_qos_flow_node(flow, on_b, last), to = hs_qos_flow_node(flow, on_b, i);
	unsigned visit = 0;
	for (unsigned j = 0; j < at; j++) {
		const struct hs_qos_link *link = &flow->links[plan->chain_links[j]];
		visit += plan->chain_links[j] && link->from == from && link->to == to;
	}
	int link = ensure_link(flow, from, to, visit);
	plan->chain.joined[at] = link >= 0; // hs_qos_path_reserve has allocated the memory
	plan->chain_links[at] = link < 0 ? 0 : (uint16_t)link;
}

// Makes the chain of the nodes that both paths have. For alternating paths, takes only nodes that
// all paths have.
static void chain_common(struct hs_qos_flow *flow, const struct hs_report *a,
		const struct hs_report *b, struct hs_qos_plan *plan)
{
	const struct hs_decoded *on_a = &a->telemetry, *on_b = &b->telemetry;
	int last_a = -1, last_b = -1;
	plan->chain.n = 0;
	for (int i = 0; i < on_b->n_hops; i++) {
		uint32_t node = hs_qos_flow_node(flow, on_b, i);
		int at = position_on(flow, on_a, node, last_a + 1);
		if (at < 0 || (flow->multipath && !is_common(flow, node)))
			continue;
		bool joined = flow->multipath || (at == last_a + 1 && i == last_b + 1);
		chain_link(flow, plan, on_b, last_b, i, joined);
		plan->chain.at_a[plan->chain.n] = (uint8_t)(on_a->n_hops - 1 - at);
		plan->chain.at_b[plan->chain.n++] = (uint8_t)(on_b->n_hops - 1 - i);
		last_a = at;
		last_b = i;
	}
	bool joined = flow->multipath || (last_a == on_a->n_hops - 1 && last_b == on_b->n_hops - 1);
	chain_link(flow, plan, on_b, last_b, on_b->n_hops, joined);
}

void hs_qos_path_chain(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan)
{
	note_path(flow, report, plan->same_path);
	if (plan->same_path && !flow->multipath)
		hs_qos_path_chain_same(report, plan);
	else
		chain_common(flow, &flow->edge, report, plan);
}

// Returns whether a link's surplus is more than reordering within a window can explain.
static bool too_many(const struct hs_qos_link_sum *sum)
{
	return -sum->lost > 256 + sum->tx / 8;
}

bool hs_qos_path_bypassed(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	int64_t missing = 0;
	for (unsigned i = 0; i < flow->n_path_links; i++) {
		const struct hs_qos_link_sum *link = &sum->links[flow->path_links[i]];
		if (!(link->has & HS_QOS_HAS_LOSS)) {
			missing = 0;
			continue;
		}
		if (too_many(link) && missing >= -link->lost / 4 * 3)
			return true;
		missing += link->lost + link->node_lost;
	}
	return false;
}
