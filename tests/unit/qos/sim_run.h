// SPDX-License-Identifier: BSD-3-Clause
// A monitor that was given all reports of a simulated network, beside the truth of it.
#pragma once

#include "qos_test.h"
#include "sim.h"

struct run {
	struct sim_config config;
	const int64_t *window_ns; // HS_QOS_WINDOWS; NULL: the usual ones
	struct sim_result truth;
	struct catcher catcher;
	struct hs_qos *qos;
};

static inline void run_start(struct run *run)
{
	sim_run(&run->config, &run->truth);
	run->qos = monitor_with(&run->catcher, run->window_ns);
	for (size_t i = 0; i < run->truth.n_reports; i++) {
		const struct hs_report *report = &run->truth.reports[i].report;
		hs_qos_advance(run->qos, report->sink_ts_ns);
		give(run->qos, report);
	}
	flush_all(run->qos);
}

static inline void run_end(struct run *run)
{
	monitor_free(run->qos, &run->catcher);
	sim_free(&run->truth);
}

// Whether a report came in the window.
static inline bool within(const struct sim_report *report, const struct hs_qos_window *window)
{
	return report->report.sink_ts_ns > window->start_ns &&
	       report->report.sink_ts_ns <= window->end_ns;
}

static inline uint32_t below(struct hs_rng *rng, uint32_t n)
{
	return hs_rng_u32(rng) % n;
}
