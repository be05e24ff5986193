// SPDX-License-Identifier: BSD-3-Clause
// The data path of the family int: INT of June 2016 and of P4.org, by a profile's struct
// hs_int_settings. A rule makes a node a source. Transit and sink need no rule: the packet says
// which values are to be added, and where its telemetry is.
//
// Source: 004_2771db4e6b3fe8ac.txt; P4.org INT dataplane specification v0.5, v1.0, v2.1.
// Thread rule: owner lcore.
#pragma once

#include "family.h"
#include "int.h"

extern const struct hs_family hs_int_steps[HS_INT_N_VERSIONS];

// ---- the steps (family.h) ----

void hs_int_source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
void hs_int_transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out);
bool hs_int_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i);
bool hs_int_strip_step(struct hs_worker *worker, struct hs_burst *burst, unsigned i, bool ours);

// Instances of the skeleton for hs_int_fast_is profiles; the steps above for all others.
void hs_int_run_source(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
void hs_int_run_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out);
void hs_int_run_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);

// ---- INT-MX, for hs_int_fast_is_mx profiles ----

void hs_int_classify_mx(struct hs_worker *worker, struct hs_burst *burst);
// Takes packets in transit, which stay as they are. Only where hs_int_export_may_run returns true.
void hs_int_run_mx(struct hs_worker *worker, struct hs_burst *burst, unsigned first, unsigned end,
		struct hs_port *out);
