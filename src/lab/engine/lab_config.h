// SPDX-License-Identifier: BSD-3-Clause
// What a run of the lab is given, and what it tells meanwhile.
#pragma once

#include "scenario.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hs_lab_progress {
	int64_t done_ns, duration_ns; // of the run
	uint64_t events, packets;
	double wall_s;
};

struct hs_lab_config {
	const struct hs_scenario *scenario;
	bool real;
	const volatile sig_atomic_t *stop; // not 0: end now, with the results so far; may be NULL
	FILE *packets;			   // a line for each packet on each link (CSV); may be NULL
	void (*progress)(void *context, const struct hs_lab_progress *progress); // some 10 a second
	// The lab calls this function with every message that a node publishes, unchanged, at its
	// true time. At the end, the lab calls this function with the sinks' metrics of the whole
	// run under the topic "run". May be NULL.
	void (*published)(void *context, int64_t now_ns, const char *topic, const char *json);
	void *context; // passed to both functions
};
