// SPDX-License-Identifier: BSD-3-Clause
// A small HTTP server with a thread of its own: /metrics, /-/healthy, /-/ready and a page that
// names them. This is the only folder that knows libmicrohttpd.
//
// The owner makes each page of metrics. It is woken by a descriptor in its own poll, makes one page
// for all who wait, and does so at most a few times a second, however many ask. Everything else,
// such as connections, slow clients and compression, is the server thread's.
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

// Readable where hs_http_serve has something to do; -1 without a server.
int hs_http_fd(const struct hs_http *http);
// Makes a page where somebody waits and it is time. Returns when to call it again at the latest;
// INT64_MAX: as soon as the descriptor is readable. The time is that of the monotonic clock. To be
// called once a second at least: /-/ready says if it is not.
int64_t hs_http_serve(struct hs_http *http, int64_t now_ns);

// Sets what /-/ready answers: NULL for 200, or why the program is not ready, for 503. At first it
// is not.
void hs_http_set_ready(struct hs_http *http, const char *why_not);
void hs_http_counters(const struct hs_http *http, struct hs_http_counters *counters);
