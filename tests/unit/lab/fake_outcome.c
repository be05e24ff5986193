// SPDX-License-Identifier: BSD-3-Clause
#include "fake_outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void fake_outcome_init(struct hs_outcome *outcome, int64_t start_ns)
{
	memset(outcome, 0, sizeof(*outcome));
	for (size_t w = 0; w < FAKE_WINDOWS; w++)
		outcome->start_ns[w] = start_ns + (int64_t)w * 1000000000;
	for (size_t r = 0; r < FAKE_ROWS; r++)
		for (size_t w = 0; w < FAKE_WINDOWS; w++)
			for (size_t k = 0; k < HS_METRIC_KINDS; k++)
				outcome->points[r][w][k] = (struct hs_point){NAN, NAN, NAN, NAN};
}

size_t fake_outcome_row(struct hs_outcome *outcome, uint32_t flow, const char *hop)
{
	size_t r = outcome->n++;

	outcome->rows[r] = (struct hs_outcome_row){
			.flow = flow,
			.e2e = strcmp(hop, "e2e") == 0,
			.n = FAKE_WINDOWS,
			.points = outcome->points[r],
			.start_ns = outcome->start_ns,
	};
	snprintf(outcome->rows[r].hop, sizeof(outcome->rows[r].hop), "%s", hop);
	return r;
}

void fake_outcome_set(struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind,
		const double measured[FAKE_WINDOWS], double truth, double configured, double bound)
{
	for (size_t w = 0; w < FAKE_WINDOWS; w++)
		outcome->points[row][w][kind] =
				(struct hs_point){measured[w], truth, configured, bound};
}

size_t hs_outcome_rows(const struct hs_outcome *outcome)
{
	return outcome->n;
}

const struct hs_outcome_row *hs_outcome_row(const struct hs_outcome *outcome, size_t index)
{
	return &outcome->rows[index];
}

void hs_outcome_mean(const struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind,
		struct hs_outcome_mean *mean)
{
	*mean = (struct hs_outcome_mean){.bound = NAN};
	for (size_t w = 0; w < FAKE_WINDOWS; w++) {
		const struct hs_point *p = &outcome->points[row][w][kind];
		double error = fabs(p->measured - p->truth);
		mean->measured += p->measured / FAKE_WINDOWS;
		mean->bound = p->bound;
		if (!isnan(p->truth)) {
			mean->n_truth++;
			mean->truth += p->truth / FAKE_WINDOWS;
			mean->mae_truth += error / FAKE_WINDOWS;
			if (error > mean->max_error_truth)
				mean->max_error_truth = error;
		}
		if (!isnan(p->configured)) {
			mean->n_configured++;
			mean->configured += p->configured / FAKE_WINDOWS;
			mean->mae_configured += fabs(p->measured - p->configured) / FAKE_WINDOWS;
		}
	}
}

const char *hs_metric_word(enum hs_metric_kind kind)
{
	static const char *const words[HS_METRIC_KINDS] = {"throughput_bps",
			"window_throughput_bps", "delay_ns", "jitter_ns", "loss_ratio",
			"lost_packets", "rx_bytes", "span_ns"};
	return words[kind];
}
