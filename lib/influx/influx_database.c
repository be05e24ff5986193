// SPDX-License-Identifier: BSD-3-Clause
#include "influx_database.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_PAUSE_NS INT64_C(100000000)
#define MOST_DOUBLINGS 10

void influx_database_init(struct influx_database *target, const struct hs_influx_config *config,
		uint64_t seed)
{
	*target = (struct influx_database){.config = config};
	influx_queue_init(&target->queue, config->queue_bytes);
	hs_rng_init(&target->rng, seed);
}

void influx_database_fini(struct influx_database *target)
{
	if (target->sent)
		influx_queue_free(&target->queue, target->sent);
	target->sent = NULL;
	influx_queue_fini(&target->queue);
}

// Adds the first lines that have room. Returns how many.
static unsigned add_some(struct influx_database *target, const char *lines, size_t len, unsigned n,
		bool *ripe)
{
	for (unsigned i = 0; i < n; i++) {
		const char *end = memchr(lines, '\n', len);
		size_t one = end ? (size_t)(end - lines) + 1 : len;
		if (!influx_queue_add(&target->queue, lines, one, 1, ripe))
			return i;
		lines += one;
		len -= one;
	}
	return n;
}

bool influx_database_add(struct influx_database *target, const char *lines, size_t len, unsigned n)
{
	bool ripe = false;

	target->counters.made += n;
	if (!influx_queue_add(&target->queue, lines, len, n, &ripe))
		target->counters.dropped[HS_INFLUX_QUEUE_FULL] +=
				n - add_some(target, lines, len, n, &ripe);
	return ripe;
}

// ---- sending ----

static int64_t later(int64_t now_ns, int64_t then_ns)
{
	return then_ns > now_ns ? then_ns : now_ns;
}

// Returns when the batch may be sent. The age of a batch begins when the sender first sees it.
static int64_t ripe_ns(
		const struct influx_database *target, struct influx_batch *batch, int64_t now_ns)
{
	if (!batch->seen) {
		batch->seen = true;
		batch->opened_ns = now_ns;
	}
	if (target->flushing || influx_batch_is_full(&target->queue, batch))
		return now_ns;
	return batch->opened_ns + INFLUX_LINGER_NS;
}

struct influx_batch *influx_database_next(
		struct influx_database *target, int64_t now_ns, int64_t *due_ns)
{
	struct influx_batch *first = influx_queue_first(&target->queue);

	*due_ns = INT64_MAX;
	if (target->under_way || (!target->sent && !first))
		return NULL;
	*due_ns = target->sent ? target->retry_ns
			       : later(target->retry_ns, ripe_ns(target, first, now_ns));
	if (*due_ns > now_ns)
		return NULL;
	if (!target->sent)
		target->sent = influx_queue_take(&target->queue);
	target->under_way = true;
	return target->sent;
}

// Returns the pause before the next attempt. Half of the pause is random, so that programs that
// lost a database together do not connect again together.
static int64_t pause_ns(struct influx_database *target, int64_t asked_ns)
{
	unsigned doublings = target->attempts < MOST_DOUBLINGS ? target->attempts : MOST_DOUBLINGS;
	int64_t pause = INFLUX_RETRY_NS << doublings;

	if (target->flushing)
		return FLUSH_PAUSE_NS;
	if (pause > INFLUX_LONGEST_NS)
		pause = INFLUX_LONGEST_NS;
	pause = pause / 2 + (int64_t)(hs_rng_u64(&target->rng) % (uint64_t)(pause / 2 + 1));
	if (asked_ns > INFLUX_OBEY_NS)
		asked_ns = INFLUX_OBEY_NS;
	return later(pause, asked_ns);
}

// ---- what the log hears ----

static void say(struct influx_database *target, struct influx_says *says, const char *format, ...)
		__attribute__((format(printf, 3, 4)));
static void say(struct influx_database *target, struct influx_says *says, const char *format, ...)
{
	va_list args;
	int n = snprintf(says->text, sizeof(says->text), "%s: ", target->config->url);

	va_start(args, format);
	vsnprintf(says->text + n, sizeof(says->text) - (size_t)n, format, args);
	va_end(args);
}

// Returns whether the log may hear of a trouble now: at once, and then once a minute.
static bool may_say(struct influx_database *target, int64_t now_ns, enum influx_trouble trouble)
{
	int64_t *said_ns = &target->said_ns[trouble];

	if (*said_ns && now_ns - *said_ns < INFLUX_REPEAT_NS)
		return false;
	*said_ns = now_ns ? now_ns : 1;
	target->troubled = true;
	return true;
}

static void say_waiting(struct influx_database *target, int64_t now_ns,
		const struct influx_verdict *verdict, struct influx_says *says)
{
	bool no_answer = verdict->fate == INFLUX_UNREACHABLE;

	if (may_say(target, now_ns, no_answer ? INFLUX_NO_ANSWER : INFLUX_NOT_NOW))
		say(target, says, "%s: %s; %" PRIu64 " lines wait",
				no_answer ? "no answer" : "the database is busy", verdict->words,
				target->queue.lines);
}

static void say_refused(struct influx_database *target, int64_t now_ns,
		const struct influx_verdict *verdict, struct influx_says *says)
{
	bool whole = verdict->fate == INFLUX_REFUSED;

	if (may_say(target, now_ns, whole ? INFLUX_NOT_TAKEN : INFLUX_NOT_ALL_TAKEN))
		say(target, says,
				"the database %s: %s; %" PRIu64 " lines were dropped for this "
				"reason so far",
				whole ? "refuses lines" : "refuses some lines", verdict->words,
				target->counters.dropped[HS_INFLUX_REFUSED]);
}

static void say_fine(struct influx_database *target, struct influx_says *says)
{
	if (!target->troubled)
		return;
	target->troubled = false;
	says->is_good_news = true;
	say(target, says, "lines are written again; %" PRIu64 " wait", target->queue.lines);
}

void influx_database_look(struct influx_database *target, int64_t now_ns, struct influx_says *says)
{
	uint64_t full = target->counters.dropped[HS_INFLUX_QUEUE_FULL];

	if (full == target->said_full || !may_say(target, now_ns, INFLUX_NO_ROOM))
		return;
	target->said_full = full;
	say(target, says,
			"the queue of %" PRIu32 " bytes is full; %" PRIu64
			" lines were dropped for this reason so far",
			target->config->queue_bytes, full);
}

// ---- answers ----

static void end_batch(struct influx_database *target)
{
	influx_queue_free(&target->queue, target->sent);
	target->sent = NULL;
	target->attempts = 0;
	target->retry_ns = 0;
}

static void repeat(struct influx_database *target, int64_t now_ns, int64_t asked_ns)
{
	target->counters.failures++;
	target->retry_ns = now_ns + pause_ns(target, asked_ns);
	target->attempts++;
}

void influx_database_answer(struct influx_database *target, int64_t now_ns,
		const struct influx_answer *answer, struct influx_says *says)
{
	unsigned lines = target->sent->lines;
	struct influx_verdict verdict = influx_judge(answer, lines);

	target->under_way = false;
	target->counters.requests++;
	if (verdict.fate == INFLUX_UNREACHABLE || verdict.fate == INFLUX_BUSY) {
		repeat(target, now_ns, answer->retry_ns);
		say_waiting(target, now_ns, &verdict, says);
		return;
	}
	unsigned dropped = verdict.fate == INFLUX_REFUSED ? lines : verdict.dropped;
	target->counters.refusals += dropped > 0;
	target->counters.dropped[HS_INFLUX_REFUSED] += dropped;
	target->counters.written += lines - dropped;
	end_batch(target);
	if (dropped)
		say_refused(target, now_ns, &verdict, says);
	else
		say_fine(target, says);
}

// ---- the end ----

void influx_database_flush(struct influx_database *target)
{
	target->flushing = true;
	target->retry_ns = 0;
}

bool influx_database_is_empty(const struct influx_database *target)
{
	return target->queue.lines == 0;
}

void influx_database_abort(struct influx_database *target, struct influx_says *says)
{
	uint64_t lines = target->queue.lines;

	target->counters.dropped[HS_INFLUX_SHUTDOWN] += lines;
	target->under_way = false;
	influx_database_fini(target);
	influx_queue_init(&target->queue, target->config->queue_bytes);
	if (lines)
		say(target, says, "no time to write the last %" PRIu64 " lines", lines);
}

void influx_database_counters(
		const struct influx_database *target, struct hs_influx_counters *counters)
{
	*counters = target->counters;
	counters->waiting = target->queue.lines;
	counters->waiting_bytes = target->queue.bytes;
}
