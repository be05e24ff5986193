// SPDX-License-Identifier: BSD-3-Clause
#include "pace.h"

#include "port.h"

#define ONE 1024 // 1, in members that count 1,024ths

#define CREDIT_SHARE	 10  // spinning may take one tenth of the time,
#define CREDIT_US	 150 // or one request and its answer, with what follows them
#define REST_FROM	 (2 * ONE)
#define REST_UNTIL	 (5 * ONE / 4)
#define MANY_PACKETS	 (HS_BURST * ONE)
#define MUCH_WORK	 (ONE * 9 / 16)
#define LONG_SAMPLES	 8  // a sample as long as so many rests replaces older ones
#define PROVEN_RESTS	 32 // after so many rests, resting suits the traffic
#define BACKOFF_MIN_US	 1000
#define BACKOFF_MAX_US	 1000000
#define LEAST_GAIN	 (ONE / 8)
#define TRY_AFTER	 127 // looks that were skipped
#define LOOKS_IN_SILENCE 8   // a sleep is at most this part of the time without packets

void hs_pace_init(struct hs_pace *pace, uint64_t ticks_per_us)
{
	*pace = (struct hs_pace){
			.ticks_per_us = ticks_per_us,
			.credit = CREDIT_US * ticks_per_us,
			.after_pause.gain = ONE,
			.after_packets.gain = ONE,
	};
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static uint32_t blend(uint32_t old, uint32_t sample, bool replace)
{
	return replace ? sample : old - old / 4 + sample / 4;
}

// Returns value * by / over. The product needs more than 64 bits if a sample takes hours.
static uint64_t scale(uint64_t value, uint64_t by, uint64_t over)
{
	return (uint64_t)((unsigned __int128)value * by / over);
}

static void take_sample(struct hs_pace *pace, uint64_t now)
{
	uint64_t elapsed = now - pace->sample_start;
	uint64_t rest = HS_PACE_REST_US * pace->ticks_per_us;
	bool replace = elapsed >= LONG_SAMPLES * rest;

	if (elapsed < rest || elapsed == 0)
		return;
	uint32_t packets = (uint32_t)at_most(
			scale(pace->sample_packets, ONE * rest, elapsed), MANY_PACKETS);
	uint32_t work = (uint32_t)scale(pace->sample_work, ONE, elapsed);
	// A full burst is certain. Fewer packets may be chance.
	pace->rest_packets = blend(pace->rest_packets, packets, replace || packets == MANY_PACKETS);
	pace->work_share = blend(pace->work_share, work, replace);
	pace->sample_start = now;
	pace->sample_packets = 0;
	pace->sample_work = 0;
}

// ---- looks ----

static struct hs_pace_look *look_of(struct hs_pace *pace)
{
	return pace->paused ? &pace->after_pause : &pace->after_packets;
}

static void end_look(struct hs_pace *pace, bool brought)
{
	struct hs_pace_look *look = look_of(pace);

	if (pace->looking)
		look->gain = look->gain - look->gain / 8 + (brought ? ONE / 8 : 0);
	pace->looking = false;
}

static bool is_worth(struct hs_pace_look *look)
{
	if (look->gain < LEAST_GAIN && look->skipped++ < TRY_AFTER)
		return false;
	look->skipped = 0;
	return true;
}

// The credit is full again after a pause, or after much work without an empty round.
static void begin_empty(struct hs_pace *pace, uint64_t now)
{
	pace->paused = pace->credit >= CREDIT_US * pace->ticks_per_us;
	pace->empty_since = now > 0 ? now : 1;
	pace->looking = is_worth(look_of(pace));
	pace->spin = (pace->paused ? HS_PACE_SPIN_LONG_US : HS_PACE_SPIN_US) * pace->ticks_per_us;
}

// ---- time ----

// Accounts for the time since the last call.
static void advance(struct hs_pace *pace, uint64_t now, bool slept)
{
	uint64_t passed = now > pace->last ? now - pace->last : 0;
	bool worked = pace->new_packets > 0;

	pace->last = now;
	pace->credit = at_most(
			pace->credit + passed / CREDIT_SHARE, CREDIT_US * pace->ticks_per_us);
	if (worked)
		pace->sample_work += passed;
	else if (!slept)
		pace->credit -= at_most(passed, pace->credit);
	pace->sample_packets += pace->new_packets;
	pace->new_packets = 0;
	take_sample(pace, now);
	if (worked) {
		end_look(pace, true);
		pace->empty_since = 0;
	}
}

static bool is_loaded(const struct hs_pace *pace)
{
	return pace->rest_packets >= MANY_PACKETS || pace->work_share >= MUCH_WORK;
}

static void stop_resting(struct hs_pace *pace, uint64_t now)
{
	uint64_t longer = pace->backoff * 2, least = BACKOFF_MIN_US * pace->ticks_per_us;

	pace->backoff = pace->rests >= PROVEN_RESTS ? 0 : longer > least ? longer : least;
	pace->backoff = at_most(pace->backoff, BACKOFF_MAX_US * pace->ticks_per_us);
	pace->retry = now + pace->backoff;
	pace->rests = 0;
}

static bool should_rest(struct hs_pace *pace, uint64_t now)
{
	if (pace->rests && pace->rest_packets < REST_UNTIL)
		stop_resting(pace, now);
	else if (pace->rests || (pace->rest_packets >= REST_FROM && now >= pace->retry))
		pace->rests++;
	return pace->rests > 0;
}

enum hs_pace_step hs_pace_next(struct hs_pace *pace, uint64_t now)
{
	if (pace->last == 0)
		pace->last = pace->sample_start = now;
	advance(pace, now, false);
	bool first = pace->empty_since == 0;
	if (first)
		begin_empty(pace, now);
	if (pace->ticks_per_us == 0)
		return first ? HS_PACE_SPIN : HS_PACE_SLEEP;

	bool lately = now - pace->empty_since < pace->spin;
	if (is_loaded(pace))
		return lately ? HS_PACE_SPIN : HS_PACE_SLEEP;
	if (should_rest(pace, now)) {
		pace->looking = false;
		return HS_PACE_REST;
	}
	if (first || (pace->looking && lately && pace->credit > 0))
		return HS_PACE_SPIN;
	if (!lately)
		end_look(pace, false);
	pace->looking = false;
	return HS_PACE_SLEEP;
}

void hs_pace_woke(struct hs_pace *pace, uint64_t now, bool early)
{
	advance(pace, now, true);
	if (early)
		pace->empty_since = 0;
}

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
	return value < least ? least : at_most(value, most);
}

uint32_t hs_pace_look_us(const struct hs_pace *pace, bool rung)
{
	if (pace->ticks_per_us == 0)
		return HS_PACE_LOOK_QUIET_US;
	// The worker's last round came later, so that it found what was sent in this time.
	uint64_t silence_us =
			pace->empty_since ? (pace->last - pace->empty_since) / pace->ticks_per_us
					  : 0;

	if (rung && silence_us >= HS_PACE_LOOK_SOON_US)
		return (uint32_t)within(
				silence_us, HS_PACE_LOOK_RUNG_SOON_US, HS_PACE_LOOK_RUNG_LATER_US);
	if (silence_us >= HS_PACE_QUIET_US)
		return HS_PACE_LOOK_QUIET_US;
	return (uint32_t)within(
			silence_us / LOOKS_IN_SILENCE, HS_PACE_LOOK_SOON_US, HS_PACE_LOOK_LATER_US);
}
