// SPDX-License-Identifier: BSD-3-Clause
// The lab runs a scenario's nodes and links in one process, in a loop over events, in virtual time
// or on the wall clock. The nodes are exactly those of src/node and src/control.
//
// Thread rule: main thread, EAL up (hs_lab_eal), one lab at a time.
#pragma once

#include "run.h"
#include "scenario.h"

#include <stdint.h>

#define HS_LAB_START_NS INT64_C(1767225600000000000) // 2026-01-01: start of virtual time

struct hs_lab;

// Starts DPDK's environment with the memory that this scenario takes, without root and huge pages.
// Returns 0, or a negative errno with *err.
int hs_lab_eal(const struct hs_scenario *scenario, struct hs_error *err);

int hs_lab_create(const struct hs_lab_config *config, struct hs_lab **lab, struct hs_error *err);
void hs_lab_destroy(struct hs_lab *lab);

// Runs to the end. Returns 0; -EINTR if stopped; or another negative errno with *err (buffers ran
// out, ...).
int hs_lab_run(struct hs_lab *lab, struct hs_error *err);

// Returns what the outcome is computed from. It is valid until destroy.
const struct hs_run *hs_lab_result(const struct hs_lab *lab);
