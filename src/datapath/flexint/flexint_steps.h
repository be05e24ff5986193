// SPDX-License-Identifier: BSD-3-Clause
// The steps of flexint: its telemetry put in, added to, taken out and reported.
//
// Thread rule: owner lcore.
#pragma once

#include "stage.h"

extern const struct hs_family hs_flexint_steps;

// The fast path's instances of the skeleton.
void hs_fast_source(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);
void hs_fast_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);
void hs_fast_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);

// Of a packet that is due, or whose rule has pending options (hs_flow_due).
void hs_source(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
void hs_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// False where telemetry could not be taken out: the packet must not reach a host.
bool hs_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
// Takes telemetry out without a report. Same result.
bool hs_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Hands the packet's in-band requests and reports up to control (punt_record.h): where all
// telemetry is taken out next, and in transit, where reports that a rule here extracts are taken
// out by this. Only of packets with either.
void hs_punt_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
void hs_punt_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Of a packet whose telemetry names a rule that did not take it: counts why. Returns the slot of
// that rule where another rule took all of its packets since the last call, else HS_FLOW_NONE.
uint32_t hs_shadow(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
