// SPDX-License-Identifier: BSD-3-Clause
// Asks a node, controller or collector in rounds, for `hopsight top`. Never waits.
//
// Times are of CLOCK_MONOTONIC. Thread rule: the one thread of the program.
#pragma once

#include "hopsight_cli.h"

#include <jansson.h>
#include <stdint.h>

struct top_feed;

// Opens a feed of cli->endpoint that begins a round every `interval_ns`. `window` chooses the
// windows of metrics; NULL: all. Returns HS_CLI_DONE, or an exit code after an error message.
// destroy accepts NULL.
int top_feed_create(const struct hs_cli *cli, int64_t interval_ns, const char *window,
		struct top_feed **feed);
void top_feed_destroy(struct top_feed *feed);

// Does what can be done now. Returns a round when it is complete (top_rows.h; a new reference),
// otherwise NULL.
json_t *top_feed_step(struct top_feed *feed, int64_t now_ns);

// Returns a descriptor that is readable when a reply came. Call top_feed_step then.
int top_feed_fd(const struct top_feed *feed);
// Returns the time at which top_feed_step is due even if no reply came.
int64_t top_feed_next_ns(const struct top_feed *feed, int64_t now_ns);
// Returns why no request is answered since the last complete round, or NULL.
const char *top_feed_trouble(const struct top_feed *feed);
