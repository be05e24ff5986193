// SPDX-License-Identifier: BSD-3-Clause
// A small HTTP server with a thread of its own: /metrics, /-/healthy, /-/ready and a page that
// names them. Only this folder uses libmicrohttpd.
//
// The owner makes each page of metrics. A descriptor in its own poll wakes the owner, which makes
// one page for all clients that wait, at most a few times a second, however many clients ask. The
// server thread does everything else, such as connections, slow clients and compression.
//
// Thread rule: the owner opens, serves and closes. The thread inherits the affinity of the owner.
#pragma once

#include "error.h"
#include "http_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_http;

// Returns 0, or a negative errno with *err, whose path is "bind".
int hs_http_open(const struct hs_http_config *config, struct hs_http **http, struct hs_error *err);
// Ends the thread and all connections. Accepts NULL, as do the next four.
void hs_http_close(struct hs_http *http);

// Returns a descriptor that is readable if hs_http_serve has something to do; -1 without a server.
int hs_http_fd(const struct hs_http *http);
// Makes a page if a client waits and the time has come. Returns when to call this function again at
// the latest; INT64_MAX: when the descriptor is readable. Times are those of the monotonic clock.
// Call this function at least once a second; /-/ready reports a longer silence.
int64_t hs_http_serve(struct hs_http *http, int64_t now_ns);

// Sets what /-/ready answers: NULL for 200, or why the program is not ready, for 503. Before the
// first call, the program is not ready.
void hs_http_set_ready(struct hs_http *http, const char *why_not);
void hs_http_counters(const struct hs_http *http, struct hs_http_counters *counters);
