// SPDX-License-Identifier: BSD-3-Clause
// The lab: a scenario's nodes and links in one process, run by a loop over events, on virtual time
// or on the wall clock. The nodes are those of src/node and src/control and nothing else.
//
// Thread rule: main thread, EAL up (hs_lab_eal), one lab at a time.
#pragma once

#include "run.h"
#include "scenario.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define HS_LAB_START_NS INT64_C(1767225600000000000) // 2026-01-01: virtual time begins here

struct hs_lab;

struct hs_lab_progress {
	int64_t done_ns, duration_ns; // of the run
	uint64_t events, packets;
	double wall_s;
};

struct hs_lab_config {
	const struct hs_scenario *scenario;
	bool real;
	const volatile sig_atomic_t *stop; // not 0: end now, with what there is; may be NULL
	FILE *packets;			   // a line for each packet on each link (CSV); may be NULL
	void (*progress)(void *context, const struct hs_lab_progress *progress); // some 10 a second
	// Every message that a node publishes, as it is, at its true time, and under the topic
	// "run" what sinks say of the whole run at its end; may be NULL.
	void (*published)(void *context, int64_t now_ns, const char *topic, const char *json);
	void *context; // of both
};

// DPDK's environment with the memory that this scenario takes: no root, no huge pages. 0 or
// negative errno with *err.
int hs_lab_eal(const struct hs_scenario *scenario, struct hs_error *err);

int hs_lab_create(const struct hs_lab_config *config, struct hs_lab **lab, struct hs_error *err);
void hs_lab_destroy(struct hs_lab *lab);

// Runs to the end. 0; -EINTR: stopped; other negative errno with *err (buffers ran out, ...).
int hs_lab_run(struct hs_lab *lab, struct hs_error *err);

// What hs_outcome_create takes: valid until destroy.
const struct hs_run *hs_lab_result(const struct hs_lab *lab);
