// SPDX-License-Identifier: BSD-3-Clause
// Measures what control does with reports: into windows, and as JSON to a subscriber.
//
// Thread rule: control.
#pragma once

#include "bench_setup.h"

// Runs HS_BENCH_MONITOR and HS_BENCH_JSON. A worker makes reports of real packets in this thread, a
// batch at a time, and then control takes them. Only control's processor time counts. For JSON, the
// time of ZeroMQ's thread is added, and the subscriber (a process of its own) must get each
// message. Returns 0, or a negative errno with *err.
int hs_bench_reports(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		double *per_second, struct hs_error *err);
