// SPDX-License-Identifier: BSD-3-Clause
// The steps of flexint, which insert, extend, take out and report its telemetry.
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

// Inserts telemetry into a packet that is due, or whose rule has pending options (hs_flow_due).
void hs_source(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
void hs_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Reports the packet's telemetry and takes it out. Returns false if the telemetry could not be
// taken out: the packet must not reach a host.
bool hs_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
// Takes telemetry out without a report. Returns what hs_sink returns.
bool hs_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Hand the packet's in-band requests and reports up to control (punt_record.h). hs_punt_sink is
// called before all telemetry is taken out. hs_punt_pass is called in transit and takes out the
// reports that a rule here extracts. Both are called only for packets with requests or reports.
void hs_punt_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
void hs_punt_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Counts why the rule that a packet's telemetry names did not take the packet. Returns the slot of
// that rule if another rule took all of its packets since the last call, else HS_FLOW_NONE.
uint32_t hs_shadow(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
