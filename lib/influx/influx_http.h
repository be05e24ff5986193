// SPDX-License-Identifier: BSD-3-Clause
// The requests to the databases: one connection to each, which is kept open. No other code uses
// libcurl. Bodies are compressed (gzip).
//
// Thread rule: open before the thread of the requests starts; wake by any thread; the rest by that
// thread.
#pragma once

#include "influx_answer.h"
#include "influx_config.h"

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct influx_http;

// Reads the secrets. Returns 0, or a negative errno with *err. The caller owns *http.
int influx_http_open(
		const struct hs_influx_list *list, struct influx_http **http, struct hs_error *err);
// Ends requests that are under way. May wait for a name look-up. Accepts NULL.
void influx_http_close(struct influx_http *http);

// Starts a request with lines to a database that has no request under way. influx_http_next returns
// the answer later, also if the request cannot be started.
void influx_http_send(struct influx_http *http, unsigned index, const char *lines, size_t len);
// Waits at most timeout_ms for the network or for influx_http_wake.
void influx_http_wait(struct influx_http *http, int timeout_ms);
void influx_http_wake(struct influx_http *http);
// Returns whether a request has ended. The answer is valid until the next request to the database.
bool influx_http_next(struct influx_http *http, unsigned *index, struct influx_answer *answer);
