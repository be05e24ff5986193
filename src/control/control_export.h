// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports to receivers without a port, which control sends: at most HS_EXPORTS_PER_S in a
// second. Further reports wait in the workers' rings, and are lost when the rings are full.
//
// Thread rule: owner (the control thread).
#pragma once

#include "event_log.h"
#include "node_config.h"

#include <stdbool.h>
#include <stdint.h>

struct control_events;
struct hs_control_output;
struct hs_node;
struct hs_node_totals;

#define HS_EXPORTS_PER_S 100000

struct control_export { // zeroed at first
	struct hs_node *node;
	const struct hs_control_output *output;
	struct hs_node_totals *counts;
	bool needed;	  // some receiver has no port
	int64_t slice_ns; // when `left` was renewed
	unsigned left;	  // reports that may still be sent until it is renewed
	unsigned next;	  // the receiver whose reports are sent first
	struct {
		uint64_t lost;
		int error; // why the last of them was lost
		struct hs_event_limit limit;
	} receivers[HS_MAX_EXPORTS];
	struct hs_event_limit ring_limit;
};

// Borrows all but the first.
void hs_control_open_exports(struct control_export *exports, struct hs_node *node,
		const struct hs_control_output *output, struct hs_node_totals *counts);
// Sends reports that wait, in portions that leave time for requests; `all`: without these limits.
// Returns how many reports no longer wait.
unsigned hs_control_send_exports(struct control_export *exports, int64_t now_ns, bool all);
// Returns the number of reports that the sockets sent. Workers send others by ports.
uint64_t hs_control_exports_sent(const struct control_export *exports);
// Shifts all times, after the clock stepped.
void hs_control_shift_exports(struct control_export *exports, int64_t by_ns);
// Reports lost telemetry reports as events. `ring_full`: those that found the rings of workers
// full.
void hs_control_watch_exports(struct control_export *exports, int64_t now_ns, uint64_t ring_full,
		struct control_events *events);
