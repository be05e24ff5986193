// SPDX-License-Identifier: BSD-3-Clause
// What a node writes to databases: windows and events as they are published, and the counters of
// the node and its rules at intervals.
//
// Thread rule: the main thread.
#pragma once

#include "influx.h"
#include "influx_text.h"

#include "metric.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct hs_control;

// Counters for one database. The counters of rules are written in portions, because rules are many.
struct daemon_influx_round {
	int64_t next_ns, time_ns; // of the next round, and of the present one
	bool walking;
	uint32_t slot; // the next one
};

struct daemon_influx {
	struct hs_influx *client; // NULL: no databases
	struct hs_node *node;
	struct hs_influx_text text;
	int64_t event_ns; // of the last event
	struct daemon_influx_round rounds[HS_INFLUX_MAX];
};

int hs_daemon_influx_open(struct daemon_influx *influx, const struct hs_influx_list *config,
		struct hs_node *node, struct hs_error *err);
// Writes the counters once more, and all lines that wait.
void hs_daemon_influx_close(
		struct daemon_influx *influx, const struct hs_control *control, int64_t now_ns);

// Writes the counters that are due. Returns whether more are to be written soon.
bool hs_daemon_influx_step(
		struct daemon_influx *influx, const struct hs_control *control, int64_t now_ns);
// Writes a published message: a "qos_report" or an "event".
void hs_daemon_influx_record(struct daemon_influx *influx, const char *key, const json_t *content);
void hs_daemon_influx_totals(const struct daemon_influx *influx, struct hs_node_totals *totals);
