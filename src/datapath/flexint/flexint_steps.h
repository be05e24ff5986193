// SPDX-License-Identifier: BSD-3-Clause
// The steps of flexint, which insert, extend, take out and report its telemetry.
//
// Thread rule: owner lcore.
#pragma once

#include "stage.h"

extern const struct hs_family hs_flexint_steps;

// The fast path's instances of the skeleton.
void hs_flexint_run_source(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
void hs_flexint_run_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
void hs_flexint_run_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);

// Inserts telemetry into a packet that is due, or whose rule has pending options (hs_flow_due).
void hs_flexint_source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
void hs_flexint_transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
// Reports the packet's telemetry and takes it out. Returns false if the telemetry could not be
// taken out: the packet must not reach a host.
bool hs_flexint_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
// Takes telemetry out without a report. Returns what hs_flexint_sink returns.
bool hs_flexint_strip_step(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Hand the packet's in-band requests and reports up to control (punt_record.h).
// hs_flexint_punt_sink is called before all telemetry is taken out. hs_flexint_punt_pass is called
// in transit and takes out the reports that a rule here extracts. Both are called only for packets
// with requests or reports.
void hs_flexint_punt_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
void hs_flexint_punt_pass(struct hs_worker *worker, struct hs_burst *burst, unsigned i);

// Counts why the rule that a packet's telemetry names did not take the packet. Returns the slot of
// that rule if another rule took all of its packets since the last call, else HS_FLOW_NONE.
uint32_t hs_flexint_shadow(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
