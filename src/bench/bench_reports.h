// SPDX-License-Identifier: BSD-3-Clause
// What control does with reports, measured: into windows, and on as JSON to a subscriber.
//
// Thread rule: control.
#pragma once

#include "bench_setup.h"

// HS_BENCH_MONITOR and HS_BENCH_JSON. A worker makes the reports of real packets in this very
// thread, a batch at a time, and then control takes them; time counts while control is at it alone,
// in processor time. Of JSON that of ZeroMQ's thread is added, and the subscriber (a process of its
// own) must get each message. 0 or negative errno with *err.
int hs_bench_reports(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		double *per_second, struct hs_error *err);
