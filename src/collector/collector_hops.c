// SPDX-License-Identifier: BSD-3-Clause
#include "collector_hops.h"

static void note(struct hs_collector_hops *hops, const struct hs_collect_point *point)
{
	uint32_t at = hs_u32_map_find(&hops->by_node, point->node_id);

	if (at == HS_U32_MAP_NONE) {
		if (hops->n == HS_COLLECTOR_NODES ||
				hs_u32_map_add(&hops->by_node, point->node_id, hops->n) < 0)
			return;
		at = hops->n++;
	}
	hops->of[at] = (struct hs_collector_hop){point->node_id, point->value};
}

void hs_collector_hops_note(struct hs_collector_hops *hops, const struct hs_collect_event *event)
{
	for (unsigned i = 0; i < event->n_points; i++) {
		const struct hs_collect_point *point = &event->points[i];
		if (point->kind == HS_COLLECT_POINT_HOP && point->has_value &&
				point->node_id != UINT32_MAX)
			note(hops, point);
	}
}

void hs_collector_hops_fini(struct hs_collector_hops *hops)
{
	hs_u32_map_fini(&hops->by_node);
}
