// SPDX-License-Identifier: BSD-3-Clause
// What the controller keeps of the metrics of one namespace. For controller_monitor.c and
// controller_window.c, which change it, and controller_page.c and controller_qos.c.
//
// Thread rule: owner.
#pragma once

#include "delay_buckets.h"
#include "qos.h"
#include "round_trip.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/queue.h>

struct hs_controller;

struct controller_flow {
	uint32_t ns_id; // the key
	uint32_t app_id;
	int64_t published_ns; // when its sink last published metrics itself, or this flow began
	int64_t heard_ns;     // when its newest report came
	int64_t every_ns;     // the shortest windows that its sink publishes; 0: none yet
	// The newest window of each length: the content of a qos_report as text, which takes a
	// tenth of the memory, and the time at which it came, by the controller's clock.
	struct {
		char *text;
		int64_t taken_ns;
	} windows[HS_QOS_WINDOWS];
	struct hs_trips trips; // of raw reports, whether or not the windows are computed here
	struct hs_delay_buckets delays; // of raw reports, where the configuration has "prometheus"
	bool computed;			// the windows are computed here
	bool told;			// that a report could not be read
	bool unwanted;			// in the list of flows that give way
	TAILQ_ENTRY(controller_flow) order, at_unwanted;
};

// ---- controller_window.c ----

// Keeps the content of a qos_report as the newest window of length i, if there is room.
void controller_keep_window(struct hs_controller *controller, struct controller_flow *flow,
		unsigned i, const json_t *content);
void controller_drop_windows(struct hs_controller *controller, struct controller_flow *flow);
// Returns the newest window of length i as a new reference. If later ones are overdue, the window
// is the last overdue one: stale, with its age. Returns NULL if there is none, or if the newest is
// so old that a sink would no longer repeat it.
json_t *controller_read_window(const struct hs_controller *controller,
		const struct controller_flow *flow, unsigned i);

// Excludes a time from the age of windows and from the time that sinks published none, because the
// clock was set by it or nothing ran during it.
void controller_shift_windows(struct hs_controller *controller, int64_t ns);
