// SPDX-License-Identifier: BSD-3-Clause
// The values of a hop that follow from the configuration of traffic and links. The paper's mean
// absolute error is against these values. NAN: the configuration determines no value.
//
// Source: 000_616928c59136b059.txt section V; docs/lab.md, "Configured".
#include "outcome_parts.h"

#include "ip.h"

#include <math.h>

#define TWO_OVER_ROOT_PI 1.1283791670955126 // E|X - Y| of two normals is this times sigma

// The state of a walk along a path: the packets as they enter a link, and the values of the hop so
// far.
struct walk {
	const struct outcome_hop *hop;
	const struct hs_truth_report *report; // has the path
	uint32_t frame_bytes;
	double bps;	 // rate of frames without telemetry while the source sends; NAN: unknown
	bool mean_known; // whether bps is a mean over any time
	bool even;	 // evenly spaced: at a sufficient rate no frame waits
	double delay_ns, kept; // of the hop; kept: share that is not lost
	size_t n_uniform;
	double uniform[HS_TRUTH_HOPS];
	double normal_variance; // NAN: the jitter is not known
};

// Returns whether throughput and loss still follow from the configuration at this true time. A
// change of the traffic's rate ends this. A restart ends this too, because packets that arrive
// while a node is down are lost.
static bool rate_holds(const struct outcome_flow *flow, int64_t at_ns)
{
	const struct hs_scenario *scenario = flow->run->scenario;
	uint32_t traffic = flow->config->traffic;
	for (size_t i = 0; i < scenario->n_events; i++) {
		const struct hs_scenario_event *event = &scenario->events[i];
		bool ends_it = event->kind == HS_LAB_EVENT_RESTART ||
			       (event->kind == HS_LAB_EVENT_TRAFFIC && event->traffic == traffic);
		if (ends_it && flow->run->start_ns + event->at_ns <= at_ns)
			return false;
	}
	return true;
}

// ---- links ----

// Returns the configuration of a link in this direction, or NULL if there is no such link. *shared
// gets whether packets of other traffic used the link.
static const struct hs_link_config *link_between(
		const struct outcome_flow *flow, uint32_t from, uint32_t to, bool *shared)
{
	const struct hs_run *run = flow->run;
	const struct hs_scenario_link *link = hs_scenario_link_between(run->scenario, from, to);
	uint64_t own_packets = 0;
	if (!link)
		return NULL;
	for (size_t i = 0; i < flow->truth->n_hops; i++)
		if (flow->truth->hops[i].from == from && flow->truth->hops[i].to == to)
			own_packets = flow->truth->hops[i].sent_packets;
	bool reverse = link->from != from;
	size_t index = (size_t)(link - run->scenario->links);
	*shared = run->links && run->links[index][reverse].sent_packets > own_packets;
	return &link->directions[reverse];
}

// Returns the link's configured loss, or NAN if the loss depends on more than the configuration.
static double loss_of(const struct hs_link_config *config)
{
	const struct hs_link_bursts *bursts = &config->bursts;
	double sum = bursts->p + bursts->r, bad = sum > 0 ? bursts->p / sum : 0;
	double burst_loss = bad * bursts->loss_bad + (1 - bad) * bursts->loss_good;
	if (config->telemetry_loss_ratio > 0 || config->duplicate_ratio > 0)
		return NAN;
	return 1 - (1 - config->loss_ratio) * (1 - burst_loss);
}

// ---- along the way ----

static void walk_init(struct walk *walk)
{
	const struct hs_scenario *scenario = walk->hop->flow->run->scenario;
	const struct hs_scenario_flow *flow = walk->hop->flow->config;
	walk->bps = NAN;
	walk->kept = 1;
	if (flow->traffic >= scenario->n_traffic)
		return;
	const struct hs_scenario_traffic *traffic = &scenario->traffic[flow->traffic];
	// These frames differ in length, and a relay has no rate.
	if (traffic->kind == HS_TRAFFIC_PCAP || traffic->kind == HS_TRAFFIC_WINDOW ||
			traffic->kind == HS_TRAFFIC_RELAY)
		return;
	walk->frame_bytes = HS_ETHER_BYTES + hs_scenario_ip_bytes(&scenario->hosts[traffic->from]) +
			    hs_scenario_l4_bytes(traffic) + traffic->payload_bytes;
	walk->bps = traffic->rate_pps * walk->frame_bytes * 8;
	walk->even = !flow->reverse && traffic->kind != HS_TRAFFIC_POISSON;
	walk->mean_known = !flow->reverse && (traffic->kind == HS_TRAFFIC_CONSTANT ||
							     traffic->kind == HS_TRAFFIC_POISSON);
}

// Returns the mean time that a link takes to send a frame of the window. The time of one frame is a
// whole number of nanoseconds. The telemetry of a window's reports may differ in length.
static double serialisation(
		const struct walk *walk, uint32_t stop, const struct hs_link_config *config)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = walk->hop->low; i < walk->hop->high; i++) {
		const struct hs_truth_report *report = walk->hop->flow->reports[i]->truth;
		const struct hs_truth_stop *at = &report->stops[stop];
		if (stop >= report->n_stops || at->node != walk->report->stops[stop].node)
			continue;
		uint64_t bits = (at->wire_bytes + (uint64_t)config->overhead_bytes) * 8;
		sum += (double)(bits * UINT64_C(1000000000) / config->rate_bps);
		n++;
	}
	return outcome_mean(sum, n);
}

static void add_jitter(struct walk *walk, const struct hs_link_config *config)
{
	double jitter = (double)config->jitter_ns;
	bool normal = config->distribution == HS_LINK_NORMAL;
	// Delays below 0 are cut to 0, which changes the mean. Frames that wait for an earlier
	// frame change it too.
	bool cut = config->jitter_ns &&
		   (config->in_order || config->delay_ns < config->jitter_ns * (normal ? 5 : 1));
	bool changed = config->reorder_ratio > 0 || cut;
	if (changed)
		walk->delay_ns = NAN;
	if (config->rate_bps || changed)
		walk->normal_variance = NAN;
	if (config->jitter_ns && normal)
		walk->normal_variance += jitter * jitter;
	else if (config->jitter_ns)
		walk->uniform[walk->n_uniform++] = jitter;
}

// Takes the packets over the link that leads to a stop. `inside` says whether the link belongs to
// the hop.
static void pass(struct walk *walk, const struct hs_link_config *config, bool shared, uint32_t stop,
		bool inside)
{
	double loss = loss_of(config), frame = walk->frame_bytes;
	bool limited = config->rate_bps > 0;
	// The rate of frames without telemetry that the link lets through.
	double limit = (double)config->rate_bps * frame / (frame + config->overhead_bytes);
	walk->bps *= 1 - loss;
	bool suffices = !limited || (walk->bps < limit && !shared);
	if (inside) {
		walk->kept *= suffices ? 1 - loss : NAN;
		walk->delay_ns += (double)config->delay_ns;
		add_jitter(walk, config);
		if (limited)
			walk->delay_ns += suffices && walk->even ? serialisation(walk, stop, config)
								 : NAN;
	}
	if (limited && shared)
		walk->bps = NAN;
	if (limited && walk->bps > limit)
		walk->bps = limit;
	walk->even &= !config->jitter_ns && config->duplicate_ratio <= 0;
}

// Takes the packets over all links from the source to the end of the hop. Returns false if the
// report did not pass the hop, or if a link is missing or down.
static bool pass_all(struct walk *walk)
{
	const struct outcome_hop *hop = walk->hop;
	const struct hs_truth_stop *first = walk->report->stops;
	struct outcome_stops stops;
	bool shared;
	if (!outcome_stops_of(hop, walk->report, &stops) || !stops.direct)
		return false;
	walk_init(walk);
	for (const struct hs_truth_stop *stop = first; stop < stops.to; stop++) {
		const struct hs_link_config *config =
				link_between(hop->flow, stop->node, stop[1].node, &shared);
		if (!config || config->down)
			return false;
		pass(walk, config, shared, (uint32_t)(stop + 1 - first), stop >= stops.from);
	}
	return true;
}

// ---- jitter of several links ----

#define MOST_UNIFORM  8
#define LEAST_PRODUCT 1e-8 // of squares; below this, rounding loses too many digits

// Sums one term for each choice of -1, 0 or 1 for each width, with the coefficients of a second
// difference: 1, -2, 1.
static double sum_of_powers(const double *widths, size_t n, size_t power, double at)
{
	double value = 1;
	if (n)
		return sum_of_powers(widths + 1, n - 1, power, at - 2 * widths[0]) -
		       2 * sum_of_powers(widths + 1, n - 1, power, at) +
		       sum_of_powers(widths + 1, n - 1, power, at + 2 * widths[0]);
	for (size_t i = 0; i < power; i++)
		value *= fabs(at);
	return value;
}

// The density of a sum of uniform variables is a difference of powers over the product of their
// widths. E|sum| is therefore a difference of |x|^(m+1)/(m+1)! over m variables. Here each width
// occurs twice.
double outcome_uniform_jitter(const double *widths, size_t n)
{
	double scaled[MOST_UNIFORM], largest = 0, product = 1, divisor = 1;
	if (n > MOST_UNIFORM)
		return NAN;
	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, widths[i]);
	for (size_t i = 0; i < n; i++) {
		scaled[i] = widths[i] / largest;
		product *= scaled[i] * scaled[i];
		divisor *= 4 * scaled[i] * scaled[i] * (double)(2 * i + 2) * (double)(2 * i + 3);
	}
	if (product < LEAST_PRODUCT)
		return NAN;
	return largest * sum_of_powers(scaled, n, 2 * n + 1, 0) / divisor;
}

static double jitter_of(const struct walk *walk)
{
	if (walk->n_uniform && walk->normal_variance != 0)
		return NAN;
	if (walk->n_uniform)
		return outcome_uniform_jitter(walk->uniform, walk->n_uniform);
	return TWO_OVER_ROOT_PI * sqrt(walk->normal_variance);
}

// ---- a window ----

// Returns the configured values of a hop. The newest report up to the window's end shows the path.
// The last report shows whether the configuration still held.
json_t *outcome_configured_json(const struct outcome_hop *hop)
{
	json_t *json = json_object();
	struct walk walk = {.hop = hop};
	if (hop->low == hop->high)
		return json;
	const struct outcome_report *last = hop->flow->reports[hop->high - 1];
	walk.report = last->newest->truth;
	int64_t at_ns = last->truth->sink_ns;
	if (!pass_all(&walk) || at_ns >= hop->flow->run->config_changed_ns)
		return json;
	bool all = rate_holds(hop->flow, at_ns);
	double bps = all && walk.mean_known ? walk.bps : NAN;
	outcome_put(json, "throughput_bps", bps);
	if (hop->low) // otherwise the window began before its flow
		outcome_put(json, "window_throughput_bps", bps);
	outcome_put(json, "delay_ns", walk.delay_ns);
	outcome_put(json, "jitter_ns", jitter_of(&walk));
	outcome_put(json, "loss_ratio", all ? 1 - walk.kept : NAN);
	return json;
}
