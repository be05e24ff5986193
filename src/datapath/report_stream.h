// SPDX-License-Identifier: BSD-3-Clause
// How a worker writes its reports: into its caches, or past them into memory. Control reads a
// report on another core. Where this core is near, lines go from one core to the other in some 30
// ns. Where it is far, a line needs 100 ns or more, and the worker waits as long when it writes the
// line again. Then memory is faster for both (docs/benchmark-method.md, "Reports at control").
//
// Thread rule: owner lcore.
#pragma once

#include "report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ring.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

// Times of reads of a line that control wrote.
struct hs_report_reader {
	uint32_t calls;
	uint32_t tail;	     // of the ring, as the worker read it last
	uint32_t average_ns; // times 16
	bool is_far;
	bool is_fixed; // nothing is measured
};
// Measured with the time for taking the time: 20 to 30 ns where two virtual cores are near, and 110
// to 130 where they are far.
#define HS_REPORT_LOOK_EACH 61 // calls; odd, because a worker that helps calls twice in a round
#define HS_REPORT_FAR_NS    80 // on average
#define HS_REPORT_NEAR_NS   60
#define HS_REPORT_MOST_NS   400	 // of one read in the average
#define HS_REPORT_LONG_NS   2000 // the core was taken away meanwhile

// Adds the time of one read.
static inline void hs_report_reader_add(struct hs_report_reader *reader, uint64_t ns)
{
	if (ns > HS_REPORT_LONG_NS)
		return;
	reader->average_ns += (uint32_t)RTE_MIN(ns, (uint64_t)HS_REPORT_MOST_NS) -
			      reader->average_ns / 16;
	if (reader->average_ns > HS_REPORT_FAR_NS * 16)
		reader->is_far = true;
	else if (reader->average_ns < HS_REPORT_NEAR_NS * 16)
		reader->is_far = false;
}

// Reads how far control has taken reports.
static inline uint32_t hs_report_tail(const struct rte_ring *ring)
{
	return __atomic_load_n(&ring->cons.tail, __ATOMIC_RELAXED);
}

// Writes whole lines past the caches. Both addresses are those of lines.
static inline void hs_report_stream(
		struct hs_report_record *to, const struct hs_report_record *from, size_t bytes)
{
#ifdef __x86_64__
	const char *source = __builtin_assume_aligned(from, RTE_CACHE_LINE_SIZE);
	char *line = __builtin_assume_aligned(to, RTE_CACHE_LINE_SIZE);

	for (size_t at = 0; at < bytes; at += RTE_CACHE_LINE_SIZE) {
		for (size_t k = at; k < at + RTE_CACHE_LINE_SIZE; k += sizeof(__m128i)) {
			__m128i words;
			memcpy(&words, source + k, sizeof(words));
			_mm_stream_si128((__m128i *)(line + k), words);
		}
	}
#else
	memcpy(to, from, bytes);
#endif
}
