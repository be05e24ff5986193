// SPDX-License-Identifier: BSD-3-Clause
// What a controller writes to databases: windows and events as it publishes them, and its counters
// and those of its nodes at intervals. For src/controller only.
//
// Thread rule: the main thread.
#pragma once

#include "controller.h"
#include "controller_config.h"

#include "influx.h"
#include "influx_text.h"

#include <jansson.h>
#include <stdint.h>

struct controller_influx {
	struct hs_influx *client; // NULL: no databases
	const struct hs_controller_config *config;
	struct hs_influx_text text;
	int64_t event_ns; // of the last event
	int64_t next_ns[HS_INFLUX_MAX];
	struct hs_event_limit lost_limit;
};

int controller_influx_open(struct controller_influx *influx,
		const struct hs_controller_config *config, struct hs_error *err);
// Writes the counters once more, and the lines that wait. The controller may be NULL.
void controller_influx_close(
		struct controller_influx *influx, struct hs_controller *controller, int64_t now_ns);

// Writes the counters that are due, and reports lost lines as an event.
void controller_influx_step(
		struct controller_influx *influx, struct hs_controller *controller, int64_t now_ns);
// Takes what is published: a "qos_report" or an "event".
void controller_influx_record(
		struct controller_influx *influx, const char *key, const json_t *content);
