// SPDX-License-Identifier: BSD-3-Clause
#include "report_put.h"

#include <rte_atomic.h>
#include <rte_cycles.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>

// Places that are fetched ahead: what the next run may fill.
#define AHEAD HS_BURST
// One of so many places is spare: only the first report of a flow in a period takes it. So a flow
// still has reports of each period if control takes no report for a while.
#define SPARE_PART 4

// Returns `ahead` of struct hs_report_places. If the places behind the reserved ones are not free,
// or at the ring's begin, a place is fetched when it is filled.
static size_t ahead_of(const struct rte_ring *ring, unsigned n, unsigned n_free)
{
	unsigned end = (ring->prod.head & ring->mask) + AHEAD;

	return n_free >= AHEAD && end <= ring->size && end >= AHEAD + n
			       ? AHEAD * sizeof(struct hs_report_record)
			       : 0;
}

// Without the barriers, the processor reads before it takes the time.
void hs_report_look(struct hs_worker *worker)
{
	struct hs_report_reader *reader = &worker->report_reader;

	if (reader->is_fixed || ++reader->calls % HS_REPORT_LOOK_EACH)
		return;
	rte_rmb();
	uint64_t begin = rte_rdtsc();
	rte_rmb();
	uint32_t tail = hs_report_tail(worker->reports);
	rte_rmb();
	uint64_t end = rte_rdtsc();
	if (tail != reader->tail)
		hs_report_reader_add(
				reader, (end - begin) * UINT64_C(1000000000) / rte_get_tsc_hz());
}

// Reserves places for up to `n` reports, and leaves `spare` places of the ring free.
static void reserve(struct hs_worker *worker, unsigned n, unsigned spare)
{
	struct hs_report_places *places = &worker->report_places;
	struct rte_ring *ring = worker->reports;
	struct rte_ring_zc_data zc;
	unsigned n_free = ring->capacity + hs_report_tail(ring) - ring->prod.head;

	if (unlikely(n_free < n + spare))
		n = n_free > spare ? n_free - spare : 0;
	places->n = rte_ring_enqueue_zc_burst_elem_start(
			ring, sizeof(struct hs_report_record), n, &zc, &n_free);
	// The ring read the tail again.
	worker->report_reader.tail = ring->prod.head + n_free - ring->capacity;
	if (!places->n)
		return;
	places->next = zc.ptr1;
	places->end = places->next + zc.n1;
	places->wrapped = zc.ptr2;
	places->n_wrapped = places->n - zc.n1;
	places->ahead = ahead_of(ring, places->n, n_free);
	places->streams = worker->report_reader.is_far;
}

static unsigned spare_places(const struct hs_worker *worker)
{
	return rte_ring_get_size(worker->reports) / SPARE_PART;
}

void hs_reports_open(struct hs_worker *worker, unsigned n)
{
	hs_report_look(worker);
	reserve(worker, n, spare_places(worker));
}

void hs_reports_close(struct hs_worker *worker)
{
	struct hs_report_places *places = &worker->report_places;

	if (!places->n)
		return;
	unsigned left = (unsigned)(places->end - places->next) + places->n_wrapped;
	if (places->n > left) // before control can take them
		hs_flow_add(&worker->reports_made, places->n - left);
	if (places->streams)
		rte_wmb(); // what went past the caches is no part of the ring's own order
	rte_ring_enqueue_zc_elem_finish(worker->reports, places->n - left);
	*places = (struct hs_report_places){0};
}

// Takes a spare place for the first report of a flow in a period.
static void take_spare(struct hs_worker *worker, struct hs_flow_worker *own)
{
	uint64_t period = (uint64_t)worker->burst.now_ns >> HS_REPORT_PERIOD_SHIFT;
	uint32_t number = (uint32_t)(period % UINT32_MAX) + 1; // 0: none yet

	if (own->spare_period == number)
		return;
	reserve(worker, 1, 0);
	if (worker->report_places.n)
		own->spare_period = number;
}

bool hs_report_more(struct hs_worker *worker, struct hs_flow_worker *own)
{
	struct hs_report_places *places = &worker->report_places;

	if (places->n_wrapped) {
		places->next = places->wrapped;
		places->end = places->next + places->n_wrapped;
		places->n_wrapped = 0;
		return true;
	}
	hs_reports_close(worker);
	reserve(worker, 1, spare_places(worker));
	if (!places->n)
		take_spare(worker, own);
	if (places->n)
		return true;
	hs_flow_add(&own->reports_lost, 1);
	hs_flow_add(&worker->reports_made, 1);
	hs_flow_add(&worker->reports_lost, 1);
	return false;
}
