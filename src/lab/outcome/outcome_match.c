// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_match.h"

#include <stddef.h>
#include <string.h>

// What lib/qos keeps whole; of more there are histograms.
#define EXACT_VALUES 1000

enum known {
	KNOWN_DELAY,
	KNOWN_P99,
	KNOWN_PAIRS,
	KNOWN_COUNTS,
	KNOWN_NODE_LOSS
};

// A number of eight bytes on both sides.
struct number {
	const char *name;
	uint32_t has;
	enum known known;
	uint32_t measured, truth; // offsets
	bool real;
	bool percentile;
};

#define AT(measured_member, truth_member)                                                          \
	.measured = offsetof(struct hs_measured_hop, measured_member),                             \
	.truth = offsetof(struct hs_outcome_truth, truth_member)
#define SAME(member) AT(member, member)

static const struct number numbers[] = {
		{"delay_ns.mean", HS_MEASURED_DELAY, KNOWN_DELAY, SAME(delay_mean_ns)},
		{"delay_ns.min", HS_MEASURED_DELAY, KNOWN_DELAY, SAME(delay_min_ns)},
		{"delay_ns.p50", HS_MEASURED_P50, KNOWN_DELAY, SAME(delay_p50_ns),
				.percentile = true},
		{"delay_ns.p99", HS_MEASURED_P99, KNOWN_P99, SAME(delay_p99_ns),
				.percentile = true},
		{"delay_ns.max", HS_MEASURED_DELAY, KNOWN_DELAY, SAME(delay_max_ns)},
		{"jitter_ns", HS_MEASURED_JITTER, KNOWN_PAIRS, SAME(jitter_ns)},
		{"throughput_bps", HS_MEASURED_THROUGHPUT, KNOWN_COUNTS, SAME(throughput_bps),
				.real = true},
		{"tx_packets", HS_MEASURED_LOSS, KNOWN_COUNTS, SAME(tx_packets)},
		{"rx_packets", HS_MEASURED_RX_PACKETS, KNOWN_COUNTS, SAME(rx_packets)},
		{"lost_packets", HS_MEASURED_LOSS, KNOWN_COUNTS, SAME(lost_packets)},
		{"node_lost_packets", HS_MEASURED_NODE_LOSS, KNOWN_NODE_LOSS,
				SAME(node_lost_packets)},
		{"rx_bytes", HS_MEASURED_BYTES, KNOWN_COUNTS, SAME(rx_bytes)},
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

const char *hs_outcome_match_name(unsigned number)
{
	return number < NUMBERS ? numbers[number].name : NULL;
}

// ---- one number ----

static bool is_known(const struct hs_outcome_truth *truth, enum known known)
{
	switch (known) {
	case KNOWN_DELAY:
		return truth->delays > 0;
	case KNOWN_P99:
		return truth->delays >= 100;
	case KNOWN_PAIRS:
		return truth->pairs > 0;
	case KNOWN_COUNTS:
		return truth->has_counts;
	case KNOWN_NODE_LOSS:
		return truth->has_counts && truth->has_node_loss;
	}
	return false;
}

// Histograms count from the first delay of their epoch.
static int64_t origin_of(const struct hs_outcome_flow *flow,
		const struct hs_measured_window *window, struct hs_outcome_ends ends)
{
	size_t last = hs_outcome_flow_until(flow, window->end_ns) - 1;
	struct hs_outcome_stops stops;
	for (size_t i = 0; i < last; i++) {
		const struct hs_outcome_report *report = &flow->reports[i];
		if (report->epoch == flow->reports[last].epoch &&
				hs_outcome_flow_passes(flow, &report->truth, ends, &stops))
			return report->truth.stops[stops.to].rx_ns -
			       report->truth.stops[stops.from].rx_ns;
	}
	return 0;
}

bool hs_outcome_match_percentile(uint64_t delays, int64_t measured, int64_t truth, int64_t origin)
{
	int64_t deviation = truth - origin, error = measured - truth;
	int64_t allowed = (deviation < 0 ? -deviation : deviation) / 64 + 1;
	return (error < 0 ? -error : error) <= (delays > EXACT_VALUES ? allowed : 0);
}

// Where an epoch began in the window there are two origins, and nothing is said.
static bool is_near(const struct hs_outcome_flow *flow, const struct hs_measured_window *window,
		struct hs_outcome_ends ends, uint64_t delays, int64_t measured, int64_t truth)
{
	if (delays > EXACT_VALUES && window->flags & HS_MEASURED_EPOCH)
		return true;
	return hs_outcome_match_percentile(delays, measured, truth, origin_of(flow, window, ends));
}

static bool differs(const struct number *number, const struct hs_measured_hop *hop,
		const struct hs_outcome_truth *truth, int64_t *measured, int64_t *wanted)
{
	const char *a = (const char *)hop + number->measured;
	const char *b = (const char *)truth + number->truth;
	double x, y;
	memcpy(measured, a, sizeof(*measured));
	memcpy(wanted, b, sizeof(*wanted));
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return number->real ? x < y || x > y : *measured != *wanted;
}

uint32_t hs_outcome_match(const struct hs_outcome_flow *flow,
		const struct hs_measured_window *window, struct hs_outcome_ends ends,
		uint32_t published, const struct hs_measured_hop *hop,
		const struct hs_outcome_truth *truth)
{
	uint32_t mask = 0;
	int64_t measured, wanted;
	for (unsigned i = 0; i < NUMBERS; i++) {
		const struct number *number = &numbers[i];
		if (!is_known(truth, number->known) || !(published & number->has))
			continue;
		bool wrong = !(hop->has & number->has) ||
			     differs(number, hop, truth, &measured, &wanted);
		if (wrong && hop->has & number->has && number->percentile)
			wrong = !is_near(flow, window, ends, truth->delays, measured, wanted);
		mask |= (uint32_t)wrong << i;
	}
	return mask;
}

// ---- windows ----

static bool has_hop(const struct hs_measured_window *window, uint16_t from, uint16_t to)
{
	for (uint32_t i = 0; i < window->n_hops; i++)
		if (window->hops[i].from == from && window->hops[i].to == to)
			return true;
	return false;
}

// A node may leave itself out, a hop over it stands for two.
bool hs_outcome_match_way(
		const struct hs_outcome_flow *flow, const struct hs_measured_window *window)
{
	size_t high = hs_outcome_flow_until(flow, window->end_ns);
	if (hs_outcome_flow_until(flow, window->start_ns) == high)
		return true;
	const struct hs_truth_report *report = &flow->reports[high - 1].truth;
	const struct hs_scenario_node *nodes = flow->run->scenario->nodes;
	uint16_t at = 0;
	bool arrived = false;
	for (uint32_t i = 1; i < report->n_stops; i++) {
		uint16_t to = nodes[report->stops[i].node].id;
		arrived = has_hop(window, at, to);
		at = arrived ? to : at;
	}
	return arrived;
}

uint64_t hs_outcome_match_gaps(const struct hs_outcome_flow *flow,
		const struct hs_measured_window *const *windows, size_t n_windows)
{
	uint64_t gaps = 0;
	size_t at = 0;
	for (size_t i = 0; i < flow->n;) {
		int64_t counted_ns = flow->reports[i].counted_ns;
		while (at < n_windows && windows[at]->end_ns < counted_ns)
			at++;
		bool published = at < n_windows && windows[at]->start_ns < counted_ns;
		int64_t length_ns = flow->run->scenario->window_ns;
		int64_t end_ns = published ? windows[at]->end_ns
					   : (counted_ns + length_ns - 1) / length_ns * length_ns;
		gaps += !published;
		i = hs_outcome_flow_until(flow, end_ns);
	}
	return gaps;
}
