// SPDX-License-Identifier: BSD-3-Clause
#include "report_fill.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

void hs_report_put(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		hs_report_fill_fn fill)
{
	struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	struct rte_ring_zc_data place;

	hs_flow_add(&own->reports_made, 1);
	hs_flow_add(&worker->reports_made, 1);
	if (unlikely(!rte_ring_enqueue_zc_bulk_elem_start(
			    worker->reports, sizeof(struct hs_report_record), 1, &place, NULL))) {
		hs_flow_add(&own->reports_lost, 1);
		hs_flow_add(&worker->reports_lost, 1);
		return;
	}
	fill(worker, burst, i, place.ptr1);
	rte_ring_enqueue_zc_elem_finish(worker->reports, 1);
}
