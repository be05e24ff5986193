// SPDX-License-Identifier: BSD-3-Clause
#include "load_trial.h"

#include <time.h>

#include <rte_cycles.h>

#define BURST 32
// What may be made up for after a pause of the generator. More would be a burst that nobody asked
// for: it is left out and counted.
#define BACKLOG_MAX 256
// RFC 2544, 23: two seconds for what is still on its way; less where nothing has come for a while.
#define DRAIN_S 2.0
#define QUIET_S 0.25

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint16_t offer(const struct load_path *path, struct load_stream *stream, uint16_t n)
{
	struct rte_mbuf *mbufs[BURST];

	if (rte_pktmbuf_alloc_bulk(path->pool, mbufs, n) != 0)
		return 0;
	uint64_t now = rte_rdtsc();
	for (uint16_t i = 0; i < n; i++)
		load_stream_write(stream, mbufs[i], now);
	uint16_t taken = path->send(path->context, mbufs, n);
	if (taken < n) {
		rte_pktmbuf_free_bulk(mbufs + taken, n - taken);
		stream->next -= (uint32_t)(n - taken); // nobody has seen these numbers
	}
	return taken;
}

static uint16_t collect(const struct load_path *path, struct load_stream *stream)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = path->receive(path->context, mbufs, BURST);

	if (n == 0)
		return 0;
	uint64_t now = rte_rdtsc();
	for (uint16_t i = 0; i < n; i++)
		load_stream_read(stream, mbufs[i], now);
	rte_pktmbuf_free_bulk(mbufs, n);
	return n;
}

static void drain(const struct load_path *path, struct load_stream *stream, uint64_t sent)
{
	uint64_t hz = rte_get_tsc_hz(), begin = rte_rdtsc(), heard = begin, now = begin;

	while (stream->counts.received < sent && now - begin < (uint64_t)(DRAIN_S * (double)hz) &&
			now - heard < (uint64_t)(QUIET_S * (double)hz)) {
		uint16_t n = collect(path, stream);
		now = rte_rdtsc();
		if (n > 0)
			heard = now;
	}
}

// Frames that the rate's schedule has by a time, less those that were offered or given up.
static uint64_t behind_by(
		const struct load_trial *trial, const struct load_result *result, uint64_t elapsed)
{
	double scheduled = (double)elapsed * trial->pps / (double)rte_get_tsc_hz();
	uint64_t done = result->sent + result->refused + result->skipped;

	return scheduled > (double)done ? (uint64_t)scheduled - done : 0;
}

// How many frames to offer now.
static uint16_t due(const struct load_trial *trial, struct load_result *result, uint64_t elapsed)
{
	if (trial->pps <= 0)
		return BURST;
	uint64_t behind = behind_by(trial, result, elapsed);
	if (behind > BACKLOG_MAX) {
		result->skipped += behind - BACKLOG_MAX;
		behind = BACKLOG_MAX;
	}
	return behind < BURST ? (uint16_t)behind : BURST;
}

void load_trial_run(const struct load_path *path, struct load_stream *stream,
		const struct load_trial *trial, struct load_result *result)
{
	uint64_t length = (uint64_t)(trial->seconds * (double)rte_get_tsc_hz());
	uint64_t cpu = cpu_ns(), begin = rte_rdtsc(), now = begin, before = begin;

	*result = (struct load_result){0};
	while (now - begin < length) {
		uint16_t n = due(trial, result, now - begin);
		uint16_t taken = n > 0 ? offer(path, stream, n) : 0;
		result->sent += taken;
		// Without a rate there is nothing that a frame could be too late for.
		if (trial->pps > 0)
			result->refused += (uint64_t)(n - taken);
		collect(path, stream);
		now = rte_rdtsc();
		if (now - before > result->longest_pause_ticks)
			result->longest_pause_ticks = now - before;
		before = now;
	}
	result->ticks = now - begin;
	result->skipped += behind_by(trial, result, result->ticks);
	result->cpu_ns = cpu_ns() - cpu;
	drain(path, stream, result->sent);
}
