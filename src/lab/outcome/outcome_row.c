// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_parts.h"

#include <assert.h>
#include <math.h>

size_t hs_outcome_rows(const struct hs_outcome *outcome)
{
	return outcome->n_lines;
}

const struct hs_outcome_row *hs_outcome_row(const struct hs_outcome *outcome, size_t index)
{
	assert(index < outcome->n_lines);
	return &outcome->lines[index].row;
}

const char *hs_metric_word(enum hs_metric_kind kind)
{
	static const char *const words[HS_METRIC_KINDS] = {
			[HS_METRIC_THROUGHPUT] = "throughput_bps",
			[HS_METRIC_WINDOW_THROUGHPUT] = "window_throughput_bps",
			[HS_METRIC_DELAY] = "delay_ns",
			[HS_METRIC_JITTER] = "jitter_ns",
			[HS_METRIC_LOSS] = "loss_ratio",
			[HS_METRIC_LOST_PACKETS] = "lost_packets",
			[HS_METRIC_RX_BYTES] = "rx_bytes",
			[HS_METRIC_SPAN] = "span_ns",
	};
	return words[kind];
}

// A sum that becomes a mean; NAN of nothing.
struct tally {
	size_t n;
	double sum;
};

static void tally(struct tally *tally, double value)
{
	tally->n++;
	tally->sum += value;
}

static double mean_of(const struct tally *tally)
{
	return tally->n ? tally->sum / (double)tally->n : NAN;
}

#define MEAN_DISTANCE 0.7978845608028654 // root of 2/pi: what E|x| is of the deviation of x

static bool is_of_chance(enum hs_metric_kind kind)
{
	return kind == HS_METRIC_DELAY || kind == HS_METRIC_JITTER || kind == HS_METRIC_LOSS;
}

static double ratio(double error, double bound)
{
	return error > 0 ? error / bound : 0; // of nothing nothing
}

// Of the mean over windows, each with a bound of its own.
static double standard_error_of(const struct hs_outcome_row *row, enum hs_metric_kind kind)
{
	double squares = 0, n = 0;
	for (size_t i = 0; i < row->n && is_of_chance(kind); i++) {
		const struct hs_point *point = &row->points[i][kind];
		if (isnan(point->measured) || isnan(point->bound))
			continue;
		squares += point->bound * point->bound;
		n++;
	}
	return n > 0 ? sqrt(squares) / (n * MEAN_DISTANCE) : NAN;
}

void hs_outcome_mean(const struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind,
		struct hs_outcome_mean *mean)
{
	const struct hs_outcome_row *of = hs_outcome_row(outcome, row);
	struct tally measured = {0}, truth = {0}, configured = {0}, error = {0}, off = {0},
		     signed_off = {0}, bound = {0};
	double max_error = 0, max_over_bound = NAN;
	for (size_t i = 0; i < of->n; i++) {
		const struct hs_point *point = &of->points[i][kind];
		if (isnan(point->measured))
			continue;
		tally(&measured, point->measured);
		if (!isnan(point->truth)) {
			tally(&truth, point->truth);
			tally(&error, fabs(point->measured - point->truth));
			max_error = fmax(max_error, fabs(point->measured - point->truth));
			if (kind == HS_METRIC_WINDOW_THROUGHPUT && !isnan(point->bound))
				max_over_bound = fmax(max_over_bound,
						ratio(fabs(point->measured - point->truth),
								point->bound));
		}
		if (!isnan(point->configured)) {
			tally(&configured, point->configured);
			tally(&off, fabs(point->measured - point->configured));
			tally(&signed_off, point->measured - point->configured);
		}
		if (!isnan(point->bound))
			tally(&bound, point->bound);
	}
	*mean = (struct hs_outcome_mean){
			.n = measured.n,
			.n_truth = truth.n,
			.n_configured = configured.n,
			.measured = mean_of(&measured),
			.truth = mean_of(&truth),
			.configured = mean_of(&configured),
			.mae_truth = mean_of(&error),
			.mae_configured = mean_of(&off),
			.max_error_truth = truth.n ? max_error : NAN,
			.mean_error_configured = fabs(mean_of(&signed_off)),
			.bound = mean_of(&bound),
			.standard_error = standard_error_of(of, kind),
			.max_over_bound = max_over_bound,
	};
}
