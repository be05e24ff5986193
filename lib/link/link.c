// SPDX-License-Identifier: BSD-3-Clause
#include "link.h"

#include "instants.h"
#include "variate.h"

#include <errno.h>
#include <stdlib.h>

// The latest departure is in the year 2230. The caller's time ends before it. Delay and jitter
// still fit above it.
#define LAST_DEPARTURE_NS (INT64_MAX - INT64_C(1000000000000000000))

typedef unsigned __int128 wide;

// Each kind of decision has its own generator. Every frame draws from each kind that is turned on,
// even if another decision has already lost the frame. So one kind of decision about the n-th frame
// does not depend on the others.
enum draw {
	DRAW_TELEMETRY,
	DRAW_RANDOM,
	DRAW_BURST_STATE,
	DRAW_BURST_LOSS,
	DRAW_DUPLICATE,
	DRAW_REORDER,
	DRAW_JITTER = DRAW_REORDER + 2, // [0]: for frames, [1]: for copies
	DRAWS = DRAW_JITTER + 2
};

struct hs_link {
	struct hs_link_config config;
	struct hs_rng rng[DRAWS];
	bool bad; // state of Gilbert-Elliott
	// The last bit of the last frame leaves at busy_ns + busy_rest / rate_bps.
	int64_t busy_ns;
	uint64_t busy_rest;
	int64_t newest_ns;	    // the latest arrival so far
	struct hs_instants starts;  // starts of sending of waiting frames
	struct hs_instants flights; // arrivals, in order, of frames that nothing has overtaken
	struct hs_link_counters counters;
};

int hs_link_create(const struct hs_link_config *config, uint64_t seed, struct hs_link **link)
{
	struct hs_link *l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->config = *config;
	l->busy_ns = INT64_MIN;
	l->newest_ns = INT64_MIN;
	struct hs_rng seeds;
	hs_rng_init(&seeds, seed);
	for (int i = 0; i < DRAWS; i++)
		hs_rng_init(&l->rng[i], hs_rng_u64(&seeds));
	*link = l;
	return 0;
}

void hs_link_destroy(struct hs_link *link)
{
	if (!link)
		return;
	hs_instants_fini(&link->starts);
	hs_instants_fini(&link->flights);
	free(link);
}

int hs_link_change(struct hs_link *link, const struct hs_link_config *config)
{
	uint64_t old_bps = link->config.rate_bps;
	// The fraction of a nanosecond that the last frame still takes, in units of the new rate.
	link->busy_rest = old_bps ? (uint64_t)((wide)link->busy_rest * config->rate_bps / old_bps)
				  : 0;
	link->config = *config;
	const struct hs_link_bursts *bursts = &config->bursts;
	if (bursts->p <= 0.0 && bursts->r <= 0.0 && bursts->loss_bad <= 0.0)
		link->bad = false;
	return 0;
}

const struct hs_link_config *hs_link_config(const struct hs_link *link)
{
	return &link->config;
}

uint32_t hs_link_waiting(struct hs_link *link, int64_t now_ns)
{
	hs_instants_expire(&link->starts, now_ns);
	return link->starts.count;
}

void hs_link_counters(const struct hs_link *link, struct hs_link_counters *counters)
{
	*counters = link->counters;
}

static bool draw(struct hs_link *link, enum draw kind, double ratio)
{
	return ratio > 0.0 && hs_variate_chance(&link->rng[kind], ratio);
}

static bool draw_burst(struct hs_link *link)
{
	const struct hs_link_bursts *bursts = &link->config.bursts;
	if (draw(link, DRAW_BURST_STATE, link->bad ? bursts->r : bursts->p))
		link->bad = !link->bad;
	return draw(link, DRAW_BURST_LOSS, link->bad ? bursts->loss_bad : bursts->loss_good);
}

static enum hs_link_loss draw_loss(struct hs_link *link, bool telemetry)
{
	const struct hs_link_config *config = &link->config;
	bool of_telemetry = telemetry && draw(link, DRAW_TELEMETRY, config->telemetry_loss_ratio);
	bool at_random = draw(link, DRAW_RANDOM, config->loss_ratio);
	bool in_burst = draw_burst(link);
	if (config->down)
		return HS_LINK_LOST_DOWN;
	if (of_telemetry)
		return HS_LINK_LOST_TELEMETRY;
	if (at_random)
		return HS_LINK_LOST_RANDOM;
	return in_burst ? HS_LINK_LOST_BURST : HS_LINK_NOT_LOST;
}

static int64_t draw_jitter(struct hs_link *link, unsigned copy)
{
	int64_t jitter_ns = link->config.jitter_ns;
	struct hs_rng *rng = &link->rng[DRAW_JITTER + copy];
	if (jitter_ns == 0)
		return 0;
	if (link->config.distribution == HS_LINK_NORMAL)
		return hs_variate_normal_int(rng, jitter_ns);
	return (int64_t)hs_variate_below(rng, 2 * (uint64_t)jitter_ns) - jitter_ns;
}

// Returns the time from the last bit's departure to the arrival. Below 0, the frame was drawn to
// overtake. `copy` is 0 or 1.
static int64_t draw_delay(struct hs_link *link, unsigned copy)
{
	const struct hs_link_config *config = &link->config;
	bool overtakes = draw(link, DRAW_REORDER + copy, config->reorder_ratio);
	int64_t delay_ns = config->delay_ns + draw_jitter(link, copy);
	if (overtakes)
		return -1;
	return delay_ns < 0 ? 0 : delay_ns;
}

// Adds the sending time with its remainder, so that the total over consecutive frames is exact.
static void occupy(struct hs_link *link, int64_t start_ns, uint32_t bytes)
{
	uint64_t rate_bps = link->config.rate_bps;
	uint64_t bits = ((uint64_t)bytes + link->config.overhead_bytes) * 8;
	uint64_t work; // in bits * ns/s
	uint64_t ns;
	if (!__builtin_mul_overflow(bits, UINT64_C(1000000000), &work) &&
			!__builtin_add_overflow(work, link->busy_rest, &work)) {
		ns = work / rate_bps;
		link->busy_rest = work % rate_bps;
	} else {
		wide wide_work = (wide)bits * 1000000000 + link->busy_rest;
		wide wide_ns = wide_work / rate_bps;
		link->busy_rest = (uint64_t)(wide_work % rate_bps);
		ns = wide_ns < INT64_MAX ? (uint64_t)wide_ns : INT64_MAX;
	}
	if (ns > (uint64_t)(LAST_DEPARTURE_NS - start_ns))
		link->busy_ns = LAST_DEPARTURE_NS;
	else
		link->busy_ns = start_ns + (int64_t)ns;
}

// Fills wait and departure. Returns false if the queue has no room (or the machine has no memory
// for it).
static bool serialise(
		struct hs_link *link, int64_t now_ns, uint32_t bytes, struct hs_link_fate *fate)
{
	const struct hs_link_config *config = &link->config;
	int64_t start_ns = now_ns;
	if (link->busy_ns < now_ns) {
		link->busy_rest = 0;
	} else if (link->busy_ns > now_ns) {
		start_ns = link->busy_ns;
		uint32_t waiting = hs_link_waiting(link, now_ns);
		if (config->rate_bps && waiting >= config->queue_packets)
			return false;
		if (!hs_instants_push(&link->starts, start_ns))
			return false;
		if (waiting + 1 > link->counters.queue_max_packets)
			link->counters.queue_max_packets = waiting + 1;
		if (start_ns - now_ns > link->counters.wait_max_ns)
			link->counters.wait_max_ns = start_ns - now_ns;
	}
	fate->wait_ns = start_ns - now_ns;
	if (config->rate_bps)
		occupy(link, start_ns, bytes);
	fate->departs_ns = config->rate_bps ? link->busy_ns : start_ns;
	return true;
}

// Each overtaken frame counts once as late. The list holds the arrivals of frames that nothing has
// overtaken. They are in order, so that the overtaken frames are at the end.
static void count_late(struct hs_link *link, int64_t now_ns, int64_t arrives_ns)
{
	hs_instants_expire(&link->flights, now_ns);
	link->counters.late += hs_instants_cut(&link->flights, arrives_ns);
	hs_instants_push(&link->flights, arrives_ns);
}

static void lose(struct hs_link *link, uint32_t bytes, enum hs_link_loss loss,
		struct hs_link_fate *fate)
{
	*fate = (struct hs_link_fate){.loss = loss};
	link->counters.lost[loss]++;
	link->counters.lost_bytes += bytes;
}

// Carries a frame or its copy that no ratio has lost.
static void carry(struct hs_link *link, int64_t now_ns, uint32_t bytes, int64_t delay_ns,
		struct hs_link_fate *fate)
{
	if (!serialise(link, now_ns, bytes, fate)) {
		lose(link, bytes, HS_LINK_LOST_QUEUE, fate);
		return;
	}
	fate->loss = HS_LINK_NOT_LOST;
	fate->arrives_ns = fate->departs_ns + (delay_ns < 0 ? 0 : delay_ns);
	if (link->config.in_order && delay_ns >= 0 && fate->arrives_ns < link->newest_ns)
		fate->arrives_ns = link->newest_ns;
	if (fate->arrives_ns > link->newest_ns)
		link->newest_ns = fate->arrives_ns;
	count_late(link, now_ns, fate->arrives_ns);
	link->counters.delivered_packets++;
	link->counters.delivered_bytes += bytes;
}

unsigned hs_link_send(struct hs_link *link, int64_t now_ns, uint32_t bytes, bool telemetry,
		struct hs_link_fate fates[2])
{
	struct hs_link_counters *counters = &link->counters;
	enum hs_link_loss loss = draw_loss(link, telemetry);
	bool twice = draw(link, DRAW_DUPLICATE, link->config.duplicate_ratio);
	int64_t delay_ns = draw_delay(link, 0);

	counters->sent_packets++;
	counters->sent_bytes += bytes;
	counters->telemetry_sent += telemetry;
	if (loss != HS_LINK_NOT_LOST)
		lose(link, bytes, loss, &fates[0]);
	else
		carry(link, now_ns, bytes, delay_ns, &fates[0]);
	counters->telemetry_lost += telemetry && fates[0].loss != HS_LINK_NOT_LOST;
	if (!twice || loss != HS_LINK_NOT_LOST)
		return 1;
	counters->copies++;
	carry(link, now_ns, bytes, draw_delay(link, 1), &fates[1]);
	return 2;
}
