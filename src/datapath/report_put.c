// SPDX-License-Identifier: BSD-3-Clause
#include "report_put.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

// Places that are fetched ahead: what the next run may fill.
#define AHEAD HS_BURST

// Returns `ahead` of struct hs_report_places. If the places behind the reserved ones are not free,
// or at the ring's begin, a place is fetched when it is filled.
static size_t ahead_of(const struct rte_ring *ring, unsigned n, unsigned n_free)
{
	unsigned end = (ring->prod.head & ring->mask) + AHEAD;

	return n_free >= AHEAD && end <= ring->size && end >= AHEAD + n
			       ? AHEAD * sizeof(struct hs_report_record)
			       : 0;
}

void hs_reports_open(struct hs_worker *worker, unsigned n)
{
	struct hs_report_places *places = &worker->report_places;
	struct rte_ring_zc_data zc;
	unsigned n_free;

	places->n = rte_ring_enqueue_zc_burst_elem_start(
			worker->reports, sizeof(struct hs_report_record), n, &zc, &n_free);
	if (!places->n)
		return;
	places->next = zc.ptr1;
	places->end = places->next + zc.n1;
	places->wrapped = zc.ptr2;
	places->n_wrapped = places->n - zc.n1;
	places->ahead = ahead_of(worker->reports, places->n, n_free);
}

void hs_reports_close(struct hs_worker *worker)
{
	struct hs_report_places *places = &worker->report_places;

	if (!places->n)
		return;
	unsigned left = (unsigned)(places->end - places->next) + places->n_wrapped;
	rte_ring_enqueue_zc_elem_finish(worker->reports, places->n - left);
	if (places->n > left)
		hs_flow_add(&worker->reports_made, places->n - left);
	*places = (struct hs_report_places){0};
}

bool hs_report_more(struct hs_worker *worker)
{
	struct hs_report_places *places = &worker->report_places;

	if (places->n_wrapped) {
		places->next = places->wrapped;
		places->end = places->next + places->n_wrapped;
		places->n_wrapped = 0;
		return true;
	}
	hs_reports_close(worker);
	hs_reports_open(worker, 1);
	if (places->n)
		return true;
	hs_flow_add(&worker->reports_made, 1);
	hs_flow_add(&worker->reports_lost, 1);
	return false;
}
