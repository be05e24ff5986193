// SPDX-License-Identifier: BSD-3-Clause
// The newest events of a node, numbered from 1. This is a bounded ring. A client asks for the
// events after the last one that it knows, and learns how many it missed.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api_args.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_EVENT_LOG_EVENTS 1024

struct hs_event_log {
	uint64_t last;			     // number of the newest event; 0: none yet
	json_t *events[HS_EVENT_LOG_EVENTS]; // event n is at n modulo the size
};

// Limits an event that repeats: it is reported at once, then at most once a minute, with the growth
// of its count since the last report.
struct hs_event_limit {
	uint64_t said; // the count of the last report
	int64_t next_ns;
};

// Returns whether the event is to be reported now. *grown is then the growth of `count` since the
// last report.
bool hs_event_limit(struct hs_event_limit *limit, int64_t now_ns, uint64_t count, uint64_t *grown);

void hs_event_log_init(struct hs_event_log *log);
void hs_event_log_fini(struct hs_event_log *log);

// Records and publishes an event of the owner of a log. Takes ownership of `details`, which has
// further members of the event and may be NULL.
typedef void hs_event_fn(void *owner, const char *kind, json_t *details, const char *format, ...)
		__attribute__((format(printf, 4, 5)));

// Does what each hs_event_fn has to do: adds the event to the log and returns a copy to publish,
// which has the event's number as "event_seq". Returns NULL if memory is out.
json_t *hs_event_log_add(struct hs_event_log *log, int64_t now_ns, const char *kind,
		json_t *details, const char *format, va_list args)
		__attribute__((format(printf, 5, 0)));

// Returns {"events": [...], "lost": n, "next": n}: the events numbered above args->since, oldest
// first. "lost" counts those that the ring no longer has. "next" is the `since` of the next
// question. "more": true says that further events exist for which this answer had no room. A number
// from before a restart (above the newest) counts as 0. New reference.
json_t *hs_event_log_since(const struct hs_event_log *log, const struct hs_api_args *args);
