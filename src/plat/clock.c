// SPDX-License-Identifier: BSD-3-Clause
// The clock is a line, base + (ticks - base ticks) * rate. A correction begins a new line where the
// old one stands and bends it; two lines are kept, so that a reader never waits for the writer.
#include "clock.h"

#include "log.h"

#include <rte_cycles.h>

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <time.h>

#define SECOND_NS     INT64_C(1000000000)
#define RATE_SHIFT    40 // of ns per tick: 1e-12 ns of resolution, and 2^23 ns per tick fit
#define STEP_NS	      INT64_C(10000000)
#define SLEW_MAX_PPB  INT64_C(500000)
#define SLEW_OVER_NS  SECOND_NS
#define RATE_OVER_NS  (16 * SECOND_NS)
#define RATE_FIRST_NS INT64_C(20000000)
#define RATE_SANE_PPB INT64_C(1000000)
#define SAMPLES	      5

struct line {
	_Atomic uint64_t base_ticks;
	_Atomic int64_t base_ns;
	_Atomic uint64_t rate; // ns per tick << RATE_SHIFT
};

// Ticks and the two system clocks at (nearly) one moment.
struct sample {
	uint64_t realtime_ticks, monotonic_ticks;
	int64_t realtime_ns, monotonic_ns;
};

struct hs_clock {
	// Read by every worker, written a few times a second.
	_Atomic uint32_t generation; // its lowest bit says which line holds
	struct line lines[2];
	_Atomic int64_t manual_ns;
	bool manual;
	uint64_t id; // tells clocks apart where an address was used again
	struct hs_clock_source source;

	// Control's own.
	alignas(64) enum hs_clock_scale scale;
	uint64_t rate, first_rate;	   // without slew
	struct sample anchor, next_anchor; // the rate is measured from the older one
	struct sample last;
	int64_t offset_ns;
	uint64_t steps;
	bool said_behind;
	struct hs_clock_status manual_status;
};

// ---- the machine's own source ----

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * SECOND_NS + ts.tv_nsec;
}

static uint64_t machine_ticks(void *context)
{
	(void)context;
	return rte_rdtsc();
}

static int64_t machine_realtime(void *context)
{
	(void)context;
	return read_clock(CLOCK_REALTIME);
}

// Slewed by NTP as the wall clock is, so it has that one's rate, but never set.
static int64_t machine_monotonic(void *context)
{
	(void)context;
	return read_clock(CLOCK_MONOTONIC);
}

static int machine_tai_offset(void *context)
{
	struct timex tx = {0};

	(void)context;
	return adjtimex(&tx) < 0 ? 0 : tx.tai;
}

static const struct hs_clock_source machine = {
		.ticks = machine_ticks,
		.realtime_ns = machine_realtime,
		.monotonic_ns = machine_monotonic,
		.tai_offset_s = machine_tai_offset,
};

// ---- reading ----

static inline int64_t line_at(uint64_t ticks, uint64_t base_ticks, int64_t base_ns, uint64_t rate)
{
	// Signed: another core's counter may stand a little before the base.
	__int128 ns = (__int128)(int64_t)(ticks - base_ticks) * (__int128)rate;

	return base_ns + (int64_t)(ns >> RATE_SHIFT);
}

// A reader that took the old line and was then held up may have seen a moment more than the new
// line gives; what it saw last is the floor of what it sees next.
static inline int64_t never_before(const struct hs_clock *clock, int64_t now_ns)
{
	static __thread struct {
		uint64_t clock_id;
		int64_t ns;
	} last;

	if (last.clock_id == clock->id && now_ns < last.ns)
		return last.ns;
	last.clock_id = clock->id;
	last.ns = now_ns;
	return now_ns;
}

int64_t hs_clock_now(const struct hs_clock *clock)
{
	uint32_t generation;
	int64_t now_ns;

	if (clock->manual)
		return atomic_load_explicit(&clock->manual_ns, memory_order_relaxed);

	// Once round, but where the reader slept through two corrections.
	do {
		generation = atomic_load_explicit(&clock->generation, memory_order_acquire);
		const struct line *line = &clock->lines[generation & 1];
		uint64_t base = atomic_load_explicit(&line->base_ticks, memory_order_relaxed);
		int64_t base_ns = atomic_load_explicit(&line->base_ns, memory_order_relaxed);
		uint64_t rate = atomic_load_explicit(&line->rate, memory_order_relaxed);
		uint64_t ticks = clock->source.ticks == machine_ticks
						 ? rte_rdtsc()
						 : clock->source.ticks(clock->source.context);

		now_ns = line_at(ticks, base, base_ns, rate);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&clock->generation, memory_order_relaxed) != generation);
	return never_before(clock, now_ns);
}

// ---- correcting ----

static void publish(struct hs_clock *clock, uint64_t base_ticks, int64_t base_ns, uint64_t rate)
{
	uint32_t generation = atomic_load_explicit(&clock->generation, memory_order_relaxed);
	struct line *line = &clock->lines[(generation + 1) & 1];

	// Nobody reads this line now, but for a reader that will see that the generation moved on:
	// the fence keeps these stores after the store of the last generation.
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&line->base_ticks, base_ticks, memory_order_relaxed);
	atomic_store_explicit(&line->base_ns, base_ns, memory_order_relaxed);
	atomic_store_explicit(&line->rate, rate, memory_order_relaxed);
	atomic_store_explicit(&clock->generation, generation + 1, memory_order_release);
}

static int64_t ours_at(const struct hs_clock *clock, uint64_t ticks)
{
	const struct line *line = &clock->lines[atomic_load_explicit(&clock->generation,
								memory_order_relaxed) &
						1];

	return line_at(ticks, atomic_load_explicit(&line->base_ticks, memory_order_relaxed),
			atomic_load_explicit(&line->base_ns, memory_order_relaxed),
			atomic_load_explicit(&line->rate, memory_order_relaxed));
}

// The best of several: an interruption between two readings shows as a wide bracket.
static struct sample take_sample(const struct hs_clock_source *source)
{
	uint64_t best_width = UINT64_MAX;
	struct sample best = {0};

	for (int i = 0; i < SAMPLES; i++) {
		uint64_t before = source->ticks(source->context);
		int64_t realtime = source->realtime_ns(source->context);
		uint64_t between = source->ticks(source->context);
		int64_t monotonic = source->monotonic_ns(source->context);
		uint64_t after = source->ticks(source->context);

		if (after - before >= best_width)
			continue;
		best_width = after - before;
		best = (struct sample){
				.realtime_ticks = before + (between - before) / 2,
				.monotonic_ticks = between + (after - between) / 2,
				.realtime_ns = realtime,
				.monotonic_ns = monotonic,
		};
	}
	return best;
}

static uint64_t rate_between(const struct sample *from, const struct sample *to)
{
	int64_t ns = to->monotonic_ns - from->monotonic_ns;
	uint64_t ticks = to->monotonic_ticks - from->monotonic_ticks;

	if (ns <= 0 || ticks == 0)
		return 0;
	return (uint64_t)(((unsigned __int128)ns << RATE_SHIFT) / ticks);
}

static bool rate_is_sane(const struct hs_clock *clock, uint64_t rate)
{
	uint64_t slack = (uint64_t)((unsigned __int128)clock->first_rate * RATE_SANE_PPB /
				    SECOND_NS);

	return rate > clock->first_rate - slack && rate < clock->first_rate + slack;
}

// The rate over the last 16 to 32 s: long enough for the readings' own error to vanish, short
// enough to follow the room's temperature. A machine that slept or moved starts anew.
static void measure_rate(struct hs_clock *clock, const struct sample *now)
{
	int64_t span_ns = now->monotonic_ns - clock->anchor.monotonic_ns;
	uint64_t rate = rate_between(&clock->anchor, now);

	if (span_ns < RATE_FIRST_NS)
		return;
	if (!rate_is_sane(clock, rate)) {
		clock->anchor = clock->next_anchor = *now;
		return;
	}
	clock->rate = rate;
	if (now->monotonic_ns - clock->next_anchor.monotonic_ns >= RATE_OVER_NS) {
		clock->anchor = clock->next_anchor;
		clock->next_anchor = *now;
	}
}

static int64_t target_ns(const struct hs_clock *clock, const struct sample *now)
{
	int64_t tai_ns = 0;

	if (clock->scale == HS_CLOCK_TAI)
		tai_ns = clock->source.tai_offset_s(clock->source.context) * SECOND_NS;
	return now->realtime_ns + tai_ns;
}

// Takes the offset out over a second, or over twice the time between corrections if these are rare:
// a shorter time would overshoot.
static uint64_t slewed_rate(const struct hs_clock *clock, int64_t offset_ns, int64_t interval_ns)
{
	int64_t over_ns = 2 * interval_ns > SLEW_OVER_NS ? 2 * interval_ns : SLEW_OVER_NS;
	__int128 ppb = -(__int128)offset_ns * SECOND_NS / over_ns;

	if (ppb > SLEW_MAX_PPB)
		ppb = SLEW_MAX_PPB;
	if (ppb < -SLEW_MAX_PPB)
		ppb = -SLEW_MAX_PPB;
	return (uint64_t)((__int128)clock->rate + (__int128)clock->rate * ppb / SECOND_NS);
}

static void say_if_behind(struct hs_clock *clock)
{
	bool behind = clock->offset_ns > STEP_NS;

	if (behind && !clock->said_behind)
		hs_log(HS_LOG_WARNING, "clock",
				"the system clock was set back: ours is %lld ms ahead and runs 500 "
				"ppm slow "
				"until it is right",
				(long long)(clock->offset_ns / 1000000));
	clock->said_behind = behind;
}

void hs_clock_correct(struct hs_clock *clock)
{
	if (clock->manual)
		return;

	struct sample now = take_sample(&clock->source);
	int64_t interval_ns = now.monotonic_ns - clock->last.monotonic_ns;
	int64_t target = target_ns(clock, &now);
	int64_t ours = ours_at(clock, now.realtime_ticks);

	clock->last = now;
	clock->offset_ns = ours - target;
	measure_rate(clock, &now);
	if (clock->offset_ns < -STEP_NS) {
		publish(clock, now.realtime_ticks, target, clock->rate);
		clock->steps++;
		hs_log(HS_LOG_NOTICE, "clock", "stepped %lld ms forward after the system clock",
				(long long)(-clock->offset_ns / 1000000));
		return;
	}
	say_if_behind(clock);
	publish(clock, now.realtime_ticks, ours,
			slewed_rate(clock, clock->offset_ns, interval_ns > 0 ? interval_ns : 0));
}

// ---- making ----

static uint64_t next_id(void)
{
	static _Atomic uint64_t ids;

	return atomic_fetch_add(&ids, 1) + 1;
}

static struct hs_clock *allocate(void)
{
	// Whole cache lines, so that control's half never shares one with the readers'.
	struct hs_clock *clock = aligned_alloc(alignof(struct hs_clock), sizeof(*clock));

	if (clock)
		*clock = (struct hs_clock){.id = next_id()};
	return clock;
}

static void warn_without_tai(const struct hs_clock *clock)
{
	if (clock->scale == HS_CLOCK_TAI && clock->source.tai_offset_s(clock->source.context) == 0)
		hs_log(HS_LOG_WARNING, "clock",
				"the kernel's TAI offset is 0: nothing told it the leap seconds, "
				"so TAI is "
				"UTC here and 37 s off against others");
}

int hs_clock_create_from(const struct hs_clock_source *source, enum hs_clock_scale scale,
		struct hs_clock **clock)
{
	struct hs_clock *made = allocate();

	if (!made)
		return -ENOMEM;
	made->source = *source;
	made->scale = scale;

	struct sample first = take_sample(source), now = first;
	while (now.monotonic_ns - first.monotonic_ns < RATE_FIRST_NS)
		now = take_sample(source);

	made->rate = made->first_rate = rate_between(&first, &now);
	if (made->rate == 0) {
		free(made);
		return -ENOTSUP;
	}
	made->anchor = made->next_anchor = first;
	made->last = now;
	publish(made, now.realtime_ticks, target_ns(made, &now), made->rate);
	warn_without_tai(made);
	*clock = made;
	return 0;
}

int hs_clock_create(enum hs_clock_scale scale, struct hs_clock **clock)
{
	return hs_clock_create_from(&machine, scale, clock);
}

int hs_clock_create_manual(int64_t now_ns, struct hs_clock **clock)
{
	struct hs_clock *made = allocate();

	if (!made)
		return -ENOMEM;
	made->manual = true;
	made->manual_ns = now_ns;
	*clock = made;
	return 0;
}

void hs_clock_destroy(struct hs_clock *clock)
{
	free(clock);
}

void hs_clock_set(struct hs_clock *clock, int64_t now_ns)
{
	assert(clock->manual);
	atomic_store_explicit(&clock->manual_ns, now_ns, memory_order_relaxed);
}

void hs_clock_set_status(struct hs_clock *clock, const struct hs_clock_status *status)
{
	assert(clock->manual);
	clock->manual_status = *status;
}

void hs_clock_status(const struct hs_clock *clock, struct hs_clock_status *status)
{
	if (clock->manual) {
		*status = clock->manual_status;
		return;
	}
	struct timex tx = {0};
	int state = adjtimex(&tx);
	int64_t own_ns = clock->offset_ns < 0 ? -clock->offset_ns : clock->offset_ns;

	*status = (struct hs_clock_status){
			.known = state >= 0,
			.offset_ns = clock->offset_ns,
			.steps = clock->steps,
	};
	if (!status->known)
		return;
	status->synchronised =
			state != TIME_ERROR && !(tx.status & STA_UNSYNC) && own_ns <= STEP_NS;
	status->error_ns = (int64_t)tx.maxerror * 1000 + own_ns;
}
