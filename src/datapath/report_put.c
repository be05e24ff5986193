// SPDX-License-Identifier: BSD-3-Clause
#include "report_put.h"

#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

// Also prefetches the cache lines that a report of two hops fills.
void hs_reports_open(struct hs_worker *worker, unsigned n)
{
	struct hs_report_places *places = &worker->report_places;
	struct rte_ring_zc_data zc;

	places->n = rte_ring_enqueue_zc_burst_elem_start(
			worker->reports, sizeof(struct hs_report_record), n, &zc, NULL);
	places->n_filled = 0;
	if (!places->n)
		return;
	places->first = zc.ptr1;
	places->wrapped = zc.ptr2;
	places->n_first = zc.n1;
	for (unsigned k = 0; k < places->n; k++) {
		const uint8_t *place = (const uint8_t *)hs_report_place(places, k);
		rte_prefetch0_write(place);
		rte_prefetch0_write(place + RTE_CACHE_LINE_SIZE);
	}
}

void hs_reports_close(struct hs_worker *worker)
{
	struct hs_report_places *places = &worker->report_places;

	if (places->n)
		rte_ring_enqueue_zc_elem_finish(worker->reports, places->n_filled);
	if (places->n_filled)
		hs_flow_add(&worker->reports_made, places->n_filled);
	places->n = places->n_filled = 0;
}
