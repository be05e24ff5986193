// SPDX-License-Identifier: BSD-3-Clause
// The clock is a line: base + (ticks - base ticks) * rate. A correction makes a new line
// (clock_servo.h). Two lines are kept, so that a reader never waits for the writer.
#include "clock.h"

#include "clock_servo.h"
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
#define RIGHT_NS      INT64_C(10000000) // with a larger offset, the clock is not synchronised
#define RATE_FIRST_NS INT64_C(20000000)
#define SAMPLES	      5

// The atomic form of struct hs_clock_line, for readers.
struct line {
	_Atomic uint64_t base_ticks;
	_Atomic int64_t base_ns;
	_Atomic uint64_t rate;
	_Atomic int64_t stepped_ns;
	_Atomic uint64_t id; // identifies this clock since its last step
};

struct hs_clock {
	// Every worker reads this; control writes it a few times a second.
	_Atomic uint32_t generation; // its lowest bit selects the valid line
	struct line lines[2];
	_Atomic int64_t manual_ns;
	bool manual;
	struct hs_clock_source source;

	// Only control uses the following members.
	alignas(64) enum hs_clock_scale scale;
	struct hs_clock_servo servo;
	uint64_t id;
	hs_clock_stepped *stepped;
	void *stepped_context;
	bool said_wrong;
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

// Returns the monotonic clock. NTP slews it as it slews the wall clock, so both have the same rate,
// but the monotonic clock is never set.
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

static bool machine_kernel(void *context, struct hs_clock_kernel *kernel)
{
	struct timex tx = {0};
	int state = adjtimex(&tx);

	(void)context;
	if (state < 0)
		return false;
	*kernel = (struct hs_clock_kernel){
			.synchronised = state != TIME_ERROR && !(tx.status & STA_UNSYNC),
			.offset_ns = (int64_t)tx.offset * (tx.status & STA_NANO ? 1 : 1000),
			.esterror_ns = (int64_t)tx.esterror * 1000,
			.maxerror_ns = (int64_t)tx.maxerror * 1000,
			.status = tx.status,
	};
	return true;
}

static const struct hs_clock_source machine = {
		.ticks = machine_ticks,
		.realtime_ns = machine_realtime,
		.monotonic_ns = machine_monotonic,
		.tai_offset_s = machine_tai_offset,
		.kernel = machine_kernel,
};

// ---- reading ----

// Returns now_ns, or what the reader saw last if that is later. A reader that took the old line and
// was then delayed may have seen a later time than the new line gives.
static inline int64_t never_before(uint64_t id, int64_t now_ns)
{
	static __thread struct {
		uint64_t id;
		int64_t ns;
	} last;

	if (last.id == id && now_ns < last.ns)
		return last.ns;
	last.id = id;
	last.ns = now_ns;
	return now_ns;
}

int64_t hs_clock_read(const struct hs_clock *clock, int64_t *stepped_ns)
{
	uint32_t generation;
	int64_t now_ns;
	uint64_t id;

	if (clock->manual) {
		*stepped_ns = 0;
		return atomic_load_explicit(&clock->manual_ns, memory_order_relaxed);
	}

	// The loop runs once, unless the reader slept through two corrections.
	do {
		generation = atomic_load_explicit(&clock->generation, memory_order_acquire);
		const struct line *line = &clock->lines[generation & 1];
		struct hs_clock_line now = {
				atomic_load_explicit(&line->base_ticks, memory_order_relaxed),
				atomic_load_explicit(&line->base_ns, memory_order_relaxed),
				atomic_load_explicit(&line->rate, memory_order_relaxed),
				atomic_load_explicit(&line->stepped_ns, memory_order_relaxed),
		};
		id = atomic_load_explicit(&line->id, memory_order_relaxed);
		uint64_t ticks = clock->source.ticks == machine_ticks
						 ? rte_rdtsc()
						 : clock->source.ticks(clock->source.context);

		now_ns = hs_clock_line_at(&now, ticks);
		*stepped_ns = now.stepped_ns;
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&clock->generation, memory_order_relaxed) != generation);
	return never_before(id, now_ns);
}

int64_t hs_clock_now(const struct hs_clock *clock)
{
	int64_t stepped_ns;

	return hs_clock_read(clock, &stepped_ns);
}

// ---- correcting ----

static uint64_t next_id(void)
{
	static _Atomic uint64_t ids;

	return atomic_fetch_add(&ids, 1) + 1;
}

static void publish(struct hs_clock *clock)
{
	const struct hs_clock_line *from = &clock->servo.line;
	uint32_t generation = atomic_load_explicit(&clock->generation, memory_order_relaxed);
	struct line *line = &clock->lines[(generation + 1) & 1];

	// Nobody reads this line now, except a reader that will see that the generation changed.
	// The fence keeps these stores after the store of the last generation.
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&line->base_ticks, from->base_ticks, memory_order_relaxed);
	atomic_store_explicit(&line->base_ns, from->base_ns, memory_order_relaxed);
	atomic_store_explicit(&line->rate, from->rate, memory_order_relaxed);
	atomic_store_explicit(&line->stepped_ns, from->stepped_ns, memory_order_relaxed);
	atomic_store_explicit(&line->id, clock->id, memory_order_relaxed);
	atomic_store_explicit(&clock->generation, generation + 1, memory_order_release);
}

// Takes the best of several readings: an interruption between two readings shows as a wide bracket.
static struct hs_clock_reading read_source(const struct hs_clock_source *source)
{
	uint64_t best_width = UINT64_MAX;
	struct hs_clock_reading best = {0};

	for (int i = 0; i < SAMPLES; i++) {
		uint64_t before = source->ticks(source->context);
		int64_t realtime = source->realtime_ns(source->context);
		uint64_t between = source->ticks(source->context);
		int64_t monotonic = source->monotonic_ns(source->context);
		uint64_t after = source->ticks(source->context);

		if (after - before >= best_width)
			continue;
		best_width = after - before;
		best = (struct hs_clock_reading){
				.target_ticks = before + (between - before) / 2,
				.monotonic_ticks = between + (after - between) / 2,
				.target_ns = realtime,
				.monotonic_ns = monotonic,
		};
	}
	return best;
}

// Reads the source. With a leap second, the wall clock and its distance to TAI change together. A
// reading that has one of the two before the change and the other after it is wrong by a second.
static struct hs_clock_reading take_reading(
		const struct hs_clock_source *source, enum hs_clock_scale scale)
{
	if (scale != HS_CLOCK_TAI)
		return read_source(source);
	int before_s = source->tai_offset_s(source->context), after_s = before_s;
	struct hs_clock_reading reading;
	for (int i = 0; i < 2; i++) {
		before_s = after_s;
		reading = read_source(source);
		after_s = source->tai_offset_s(source->context);
		if (before_s == after_s)
			break;
	}
	reading.target_ns += after_s * SECOND_NS;
	return reading;
}

// Returns whether the clock is the machine's. A simulated system sets its own status.
static bool is_machines(const struct hs_clock *clock)
{
	return clock->source.ticks == machine_ticks;
}

static void say_if_wrong(struct hs_clock *clock)
{
	int64_t offset_ns = clock->servo.offset_ns;
	bool wrong = offset_ns > RIGHT_NS || offset_ns < -RIGHT_NS;

	if (wrong && !clock->said_wrong && is_machines(clock))
		hs_log(HS_LOG_WARNING, "clock",
				"the system clock was set: ours is %lld ms %s it and is right "
				"within 60 s",
				(long long)((offset_ns < 0 ? -offset_ns : offset_ns) / 1000000),
				offset_ns < 0 ? "behind" : "ahead of");
	clock->said_wrong = wrong;
}

static void tell_step(struct hs_clock *clock, int64_t amount_ns)
{
	if (is_machines(clock))
		hs_log(HS_LOG_NOTICE, "clock", "stepped %lld ms %s after the system clock",
				(long long)((amount_ns < 0 ? -amount_ns : amount_ns) / 1000000),
				amount_ns < 0 ? "back" : "forward");
	clock->said_wrong = false;
	if (clock->stepped)
		clock->stepped(clock->stepped_context, amount_ns);
}

void hs_clock_correct(struct hs_clock *clock)
{
	if (clock->manual)
		return;

	struct hs_clock_reading now = take_reading(&clock->source, clock->scale);
	int64_t amount_ns = hs_clock_servo_correct(&clock->servo, &now);

	if (amount_ns) {
		clock->id = next_id();
		tell_step(clock, amount_ns);
	} else {
		say_if_wrong(clock);
	}
	publish(clock);
}

void hs_clock_on_step(struct hs_clock *clock, hs_clock_stepped *stepped, void *context)
{
	clock->stepped = stepped;
	clock->stepped_context = context;
}

void hs_clock_line(const struct hs_clock *clock, struct hs_clock_line *line)
{
	*line = clock->servo.line;
}

void hs_clock_set_step(struct hs_clock *clock, int64_t step_ns)
{
	clock->servo.step_ns = step_ns;
}

// ---- making ----

static struct hs_clock *allocate(void)
{
	// The clock occupies whole cache lines, so that control's half never shares one with the
	// readers'.
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

	struct hs_clock_reading first = take_reading(source, scale), now = first;
	while (!source->rate && now.monotonic_ns - first.monotonic_ns < RATE_FIRST_NS)
		now = take_reading(source, scale);

	uint64_t rate = source->rate ? source->rate : hs_clock_rate_between(&first, &now);
	if (rate == 0) {
		free(made);
		return -ENOTSUP;
	}
	hs_clock_servo_begin(&made->servo, 0, rate, &now);
	publish(made);
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

void hs_clock_status(const struct hs_clock *clock, struct hs_clock_status *status)
{
	const struct hs_clock_source *source = &clock->source;
	int64_t offset_ns = clock->servo.offset_ns;
	int64_t own_ns = offset_ns < 0 ? -offset_ns : offset_ns;

	*status = (struct hs_clock_status){.offset_ns = offset_ns, .steps = clock->servo.steps};
	status->known = source->kernel && source->kernel(source->context, &status->kernel);
	if (!status->known)
		return;
	status->synchronised = status->kernel.synchronised && own_ns <= RIGHT_NS;
	status->error_ns = status->kernel.maxerror_ns + own_ns;
}
