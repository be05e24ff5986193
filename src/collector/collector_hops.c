// SPDX-License-Identifier: BSD-3-Clause
#include "collector_hops.h"

// Returns a free place, or HS_COLLECTOR_NODES if there is none.
static unsigned free_place(struct hs_collector_hops *hops, int64_t now_ns)
{
	if (hops->n < HS_COLLECTOR_NODES)
		return hops->n;
	unsigned at = hops->hand++ % HS_COLLECTOR_NODES;
	int64_t since_ns = now_ns - hops->of[at].time_ns; // below 0: the clock was set back
	if (since_ns >= 0 && since_ns < HS_COLLECTOR_OLD_NS)
		return HS_COLLECTOR_NODES;
	hs_u32_map_erase(&hops->by_node, hops->of[at].node_id, at);
	return at;
}

static void note(struct hs_collector_hops *hops, const struct hs_collect_point *point,
		int64_t now_ns, int64_t told_ns)
{
	uint32_t at = hs_u32_map_find(&hops->by_node, point->node_id);

	if (point->cause == HS_COLLECT_PUSH) {
		bool is_old = now_ns - told_ns >= HS_COLLECTOR_OLD_NS;
		// Of another flow, the node has told a value since. A later time than now is that
		// of a clock that was set back.
		bool is_older = at != HS_U32_MAP_NONE && hops->of[at].time_ns > told_ns &&
				hops->of[at].time_ns <= now_ns;
		if (is_old || is_older)
			return;
	}
	if (at == HS_U32_MAP_NONE) {
		at = free_place(hops, now_ns);
		if (at == HS_COLLECTOR_NODES ||
				hs_u32_map_add(&hops->by_node, point->node_id, at) < 0) {
			hops->left_out++;
			return;
		}
		hops->n += at == hops->n;
	}
	hops->of[at] = (struct hs_collector_hop){point->node_id, point->value, told_ns};
}

void hs_collector_hops_note(struct hs_collector_hops *hops, const struct hs_collect_event *event)
{
	for (unsigned i = 0; i < event->n_points; i++) {
		const struct hs_collect_point *point = &event->points[i];
		if (point->kind == HS_COLLECT_POINT_HOP && point->has_value &&
				point->node_id != UINT32_MAX)
			note(hops, point, event->time_ns, event->told_ns);
	}
}

void hs_collector_hops_fini(struct hs_collector_hops *hops)
{
	hs_u32_map_fini(&hops->by_node);
}
