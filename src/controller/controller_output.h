// SPDX-License-Identifier: BSD-3-Clause
// What leaves the controller: callbacks of a daemon or a test, and events.
//
// Thread rule: owner.
#pragma once

#include "api.h"
#include "error.h"
#include "event_log.h"
#include "influx.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct hs_controller_output {
	void *context;
	// Sends a request to node `node` (index in the configuration). Returns 0, or -EAGAIN if the
	// node is not connected or its queue is full.
	int (*send)(void *context, unsigned node, const char *text, size_t len);
	// Answers the client of `token`, exactly once for each hs_controller_request.
	void (*reply)(void *context, void *token, const char *text);
	// Publishes topic and JSON. Returns 0, or -EAGAIN if a subscriber missed it. May be NULL.
	int (*publish)(void *context, const char *topic, const char *json);
	// Gets what is published: the content of a "qos_report" or "event". May be NULL.
	void (*record)(void *context, const char *key, const json_t *content);
	// Fills the counters of lines for databases. NULL: there are no databases.
	void (*lines)(void *context, struct hs_influx_counters *counters);
	// Save changes so that they survive the process, and remove the last ones again, as in
	// struct hs_api_backend. May be NULL.
	int (*save)(void *context, const json_t *changes, struct hs_error *err);
	void (*unsave)(void *context);
	// Returns the processor time of this thread so far, as in struct hs_api_backend.
	int64_t (*spent_ns)(void);
	// Sends a frame of a probe. Returns 0 or a negative errno. NULL: nothing can be sent.
	int (*probe)(void *context, const uint8_t *frame, size_t len);
	// The limits of clients' connections, which hello tells. NULL: there are no such sockets.
	// The limits are borrowed for the life of the controller.
	const struct hs_api_connection_limits *connection;
};

// The owner is the controller.
hs_event_fn hs_controller_event;
