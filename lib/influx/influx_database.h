// SPDX-License-Identifier: BSD-3-Clause
// One database: what waits for it, when it is sent, what becomes of an answer, and what the log
// hears of it. Time is an argument, and sending is the caller's.
//
// Thread rule: one thread at a time.
#pragma once

#include "influx_answer.h"
#include "influx_config.h"
#include "influx_counters.h"
#include "influx_queue.h"

#include "rng.h"

#include <stdbool.h>
#include <stdint.h>

#define INFLUX_LINGER_NS  INT64_C(1000000000)	// a batch is sent when it is full, or so old
#define INFLUX_RETRY_NS	  INT64_C(250000000)	// the first pause; each one doubles, with jitter
#define INFLUX_LONGEST_NS INT64_C(10000000000)	// pause
#define INFLUX_OBEY_NS	  INT64_C(300000000000) // the longest pause that a server can ask for
#define INFLUX_REPEAT_NS  INT64_C(60000000000)	// between two lines of the log about one trouble
#define INFLUX_SAYS_BYTES 768

enum influx_trouble {
	INFLUX_NO_ANSWER,
	INFLUX_NOT_NOW,
	INFLUX_NOT_TAKEN,
	INFLUX_NOT_ALL_TAKEN,
	INFLUX_NO_ROOM,
	INFLUX_TROUBLES,
};

struct influx_database {
	const struct hs_influx_config *config;
	struct influx_queue queue;
	struct influx_batch *sent; // under way, or to be sent again
	bool under_way;
	bool flushing; // nothing waits for a batch to fill or for a pause
	unsigned attempts;
	int64_t retry_ns;
	struct hs_rng rng;
	struct hs_influx_counters counters; // without those that the queue knows
	int64_t said_ns[INFLUX_TROUBLES];   // 0: not yet
	bool troubled;			    // the log heard of a trouble, and not of its end
	uint64_t said_full;		    // of lines without room, how many the log heard of
};

// A line for the log; "" if there is none.
struct influx_says {
	bool is_good_news;
	char text[INFLUX_SAYS_BYTES];
};

void influx_database_init(struct influx_database *target, const struct hs_influx_config *config,
		uint64_t seed);
// Frees what waits.
void influx_database_fini(struct influx_database *target);

// Returns whether the sender has something new to look at.
bool influx_database_add(struct influx_database *target, const char *lines, size_t len, unsigned n);

// Returns the batch that is to be sent now, which influx_database_answer or influx_database_abort
// ends. Returns NULL if there is none; *due_ns is when to ask again.
struct influx_batch *influx_database_next(
		struct influx_database *target, int64_t now_ns, int64_t *due_ns);
void influx_database_answer(struct influx_database *target, int64_t now_ns,
		const struct influx_answer *answer, struct influx_says *says);
// Tells the log about lines that found no room.
void influx_database_look(struct influx_database *target, int64_t now_ns, struct influx_says *says);

// Makes everything be sent at once from now on, and after a failure again after a short pause.
void influx_database_flush(struct influx_database *target);
bool influx_database_is_empty(const struct influx_database *target);
// Drops everything that waits or is under way.
void influx_database_abort(struct influx_database *target, struct influx_says *says);

void influx_database_counters(
		const struct influx_database *target, struct hs_influx_counters *counters);
