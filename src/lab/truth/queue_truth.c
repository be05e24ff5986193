// SPDX-License-Identifier: BSD-3-Clause
#include "queue_truth.h"

#include "truth.h"

#include <errno.h>
#include <math.h>

__extension__ typedef unsigned __int128 wide;

void hs_queue_truth_fini(struct hs_queue_truth *queue)
{
	hs_instants_fini(&queue->arrivals);
	hs_instants_fini(&queue->ids);
	hs_instants_fini(&queue->departures);
}

void hs_queue_truth_restart(struct hs_queue_truth *queue)
{
	queue->arrivals.count = queue->ids.count = queue->departures.count = 0;
	queue->departs_ns = queue->averaged_ns = 0;
	queue->rest = 0;
	queue->busy = 0;
}

static int64_t id_of(const struct hs_packet_truth *packet_truth)
{
	return (int64_t)(((uint64_t)packet_truth->traffic << 41 | packet_truth->number) << 1 |
			 packet_truth->reply);
}

void hs_queue_truth_arrive(struct hs_queue_truth *queue, const struct hs_packet_truth *packet_truth,
		int64_t now_ns)
{
	if (!hs_instants_push(&queue->arrivals, now_ns) ||
			!hs_instants_push(&queue->ids, id_of(packet_truth)))
		queue->status = -ENOMEM;
}

static int64_t take_first(struct hs_instants *instants)
{
	instants->count--;
	return instants->at_ns[instants->head++ & instants->mask];
}

// Returns the average utilisation up to this time. The port sent until departs_ns and then nothing.
static double average(struct hs_queue_truth *queue, int64_t now_ns)
{
	int64_t sent_until_ns = queue->departs_ns < now_ns ? queue->departs_ns : now_ns;

	if (sent_until_ns > queue->averaged_ns) {
		double left = exp(-(double)(sent_until_ns - queue->averaged_ns) /
				  HS_QUEUE_AVERAGE_NS);
		queue->busy = 1 + (queue->busy - 1) * left;
		queue->averaged_ns = sent_until_ns;
	}
	queue->busy *= exp(-(double)(now_ns - queue->averaged_ns) / HS_QUEUE_AVERAGE_NS);
	queue->averaged_ns = now_ns;
	return queue->busy;
}

static void occupy(struct hs_queue_truth *queue, int64_t now_ns, uint32_t bytes)
{
	if (queue->departs_ns < now_ns) {
		queue->departs_ns = now_ns;
		queue->rest = 0;
	}
	uint64_t units = queue->rate.pps ? 1 : 8 * (uint64_t)bytes;
	uint64_t rate = queue->rate.pps ? queue->rate.pps : queue->rate.bps;
	wide work = (wide)units * 1000000000 + queue->rest;
	queue->departs_ns += (int64_t)(work / rate);
	queue->rest = (uint64_t)(work % rate);
	if (!hs_instants_push(&queue->departures, queue->departs_ns))
		queue->status = -ENOMEM;
}

// Takes the first packet that may still depart, and finds out what the packet found in the queue.
// Returns its id.
static int64_t look_at_first(struct hs_queue_truth *queue, struct hs_queued *queued)
{
	queued->arrived_ns = take_first(&queue->arrivals);
	hs_instants_expire(&queue->departures, queued->arrived_ns);
	queued->depth = queue->departures.count;
	return take_first(&queue->ids);
}

bool hs_queue_truth_depart(struct hs_queue_truth *queue, const struct hs_packet_truth *packet_truth,
		int64_t now_ns, uint32_t bytes, struct hs_queued *queued)
{
	struct hs_queue_counts *counts = &queue->counts;
	int64_t id = id_of(packet_truth);

	while (queue->ids.count) {
		bool departs = look_at_first(queue, queued) == id;
		bool found_place = queued->depth <= queue->rate.queue_packets;
		counts->wrong_drops += departs != found_place;
		counts->dropped += !departs;
		if (!departs)
			continue;
		queued->utilisation = average(queue, queued->arrived_ns);
		occupy(queue, queued->arrived_ns, bytes);
		queued->departs_ns = queue->departs_ns;
		counts->packets++;
		counts->wrong_departures += queued->departs_ns != now_ns;
		if (queued->depth > counts->depth_max)
			counts->depth_max = queued->depth;
		return true;
	}
	counts->wrong_departures++;
	return false;
}

void hs_queue_truth_end(struct hs_queue_truth *queue)
{
	struct hs_queued queued;

	while (queue->ids.count) {
		look_at_first(queue, &queued);
		queue->counts.dropped++;
		queue->counts.wrong_drops += queued.depth <= queue->rate.queue_packets;
	}
}
