// SPDX-License-Identifier: BSD-3-Clause
// The values of a hop that follow from the configuration of traffic and links. The paper's mean
// absolute error is against these values. NAN: the configuration determines no value.
//
// Source: 000_616928c59136b059.txt section V; docs/lab.md, "Configured".
#include "outcome_parts.h"

#include <math.h>
#include <netinet/in.h>

#define ETHERNET_BYTES 14
#define IPV6_BYTES     40
#define TCP_BYTES      20
#define SHORT_BYTES    8 // bytes of the header of UDP, and of ICMPv6 echo

#define TWO_OVER_ROOT_PI 1.1283791670955126 // E|X - Y| of two normals is this times sigma

// The packets as they enter a link, and the hop so far.
struct walk {
	const struct outcome_flow *flow;
	const struct hs_truth_report *report; // has the path
	size_t low, high;		      // reports of the window
	uint32_t frame_bytes;
	double bps;	 // rate of frames without telemetry while the source sends; NAN: unknown
	bool mean_known; // whether bps is a mean over any time
	bool even;	 // evenly spaced: at a sufficient rate no frame waits
	double delay_ns, kept; // of the hop; kept: share that is not lost
	size_t n_uniform;
	double uniform[HS_TRUTH_HOPS];
	double normal_variance;
	bool jitter_known;
};

// ---- until when it holds ----

static const struct hs_scenario_traffic *traffic_of(const struct outcome_flow *flow)
{
	const struct hs_scenario *scenario = flow->run->scenario;
	uint32_t traffic = scenario->flows[flow->index].traffic;
	return traffic < scenario->n_traffic ? &scenario->traffic[traffic] : NULL;
}

// Returns until when, in true time, the values of the start of the run hold. A change of a link
// ends all values. A change of the traffic's rate and a restart also end throughput and loss,
// because packets that arrive while a node is down are lost.
static int64_t holds_until(const struct outcome_flow *flow, bool throughput)
{
	const struct hs_scenario *scenario = flow->run->scenario;
	int64_t until_ns = flow->run->config_changed_ns;
	for (size_t i = 0; throughput && i < scenario->n_events; i++) {
		const struct hs_scenario_event *event = &scenario->events[i];
		int64_t at_ns = flow->run->start_ns + event->at_ns;
		bool ends_it = event->kind == HS_LAB_EVENT_RESTART ||
			       (event->kind == HS_LAB_EVENT_TRAFFIC &&
					       event->traffic == scenario->flows[flow->index]
										 .traffic);
		if (ends_it && at_ns < until_ns)
			until_ns = at_ns;
	}
	return until_ns;
}

// ---- links ----

// Also tells whether packets of other traffic used the link. Returns NULL if there is no such link.
static const struct hs_link_config *link_between(
		const struct outcome_flow *flow, uint32_t from, uint32_t to, bool *shared)
{
	const struct hs_run *run = flow->run;
	struct hs_truth_hop hop = {.sent_packets = 0};
	for (size_t i = 0; i < hs_truth_hops(run->truth, flow->index); i++) {
		hs_truth_hop(run->truth, flow->index, i, &hop);
		if (hop.from == from && hop.to == to)
			break;
		hop.sent_packets = 0;
	}
	for (size_t i = 0; i < run->scenario->n_links; i++) {
		const struct hs_scenario_link *link = &run->scenario->links[i];
		bool forward = link->from == from && link->to == to;
		if (!forward && (link->from != to || link->to != from))
			continue;
		*shared = run->links && run->links[i][!forward].sent_packets > hop.sent_packets;
		return &link->ways[!forward];
	}
	return NULL;
}

static double burst_loss(const struct hs_link_bursts *bursts)
{
	double sum = bursts->p + bursts->r;
	double bad = sum > 0 ? bursts->p / sum : 0;
	return bad * bursts->loss_bad + (1 - bad) * bursts->loss_good;
}

// Returns the link's configured loss, or NAN if the loss depends on more than the configuration.
static double loss_of(const struct hs_link_config *config)
{
	if (config->telemetry_loss_ratio > 0 || config->duplicate_ratio > 0)
		return NAN;
	return 1 - (1 - config->loss_ratio) * (1 - burst_loss(&config->bursts));
}

// ---- along the way ----

static void walk_init(struct walk *walk)
{
	const struct hs_scenario_traffic *traffic = traffic_of(walk->flow);
	bool reply = walk->flow->run->scenario->flows[walk->flow->index].reverse;
	walk->bps = NAN;
	walk->kept = 1;
	walk->jitter_known = true;
	// The frames of this traffic differ in length.
	if (!traffic || traffic->kind == HS_TRAFFIC_PCAP || traffic->kind == HS_TRAFFIC_WINDOW)
		return;
	bool tcp = traffic->protocol == IPPROTO_TCP;
	walk->frame_bytes = ETHERNET_BYTES + IPV6_BYTES + (tcp ? TCP_BYTES : SHORT_BYTES) +
			    traffic->payload_bytes;
	walk->bps = traffic->rate_pps * walk->frame_bytes * 8;
	walk->even = !reply && traffic->kind != HS_TRAFFIC_POISSON;
	walk->mean_known = !reply && (traffic->kind == HS_TRAFFIC_CONSTANT ||
						     traffic->kind == HS_TRAFFIC_POISSON);
}

// The transmission time of a frame is a whole number of nanoseconds. The telemetry of a window's
// reports may differ in length.
static double serialisation(
		const struct walk *walk, uint32_t stop, const struct hs_link_config *config)
{
	double sum = 0;
	size_t n = 0;
	for (size_t i = walk->low; i < walk->high; i++) {
		const struct hs_truth_report *report = &walk->flow->reports[i].truth;
		if (stop >= report->n_stops ||
				report->stops[stop].node != walk->report->stops[stop].node)
			continue;
		uint64_t bits = (report->stops[stop].wire_bytes +
						(uint64_t)config->overhead_bytes) *
				8;
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
	if (config->reorder_ratio > 0 || cut)
		walk->delay_ns = NAN;
	if (config->rate_bps || config->reorder_ratio > 0 || cut)
		walk->jitter_known = false;
	if (config->jitter_ns && normal)
		walk->normal_variance += jitter * jitter;
	else if (config->jitter_ns)
		walk->uniform[walk->n_uniform++] = jitter;
}

// Passes one link. inside: the link belongs to the hop.
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

// The density of a sum of uniforms is a difference of powers over the product of their widths.
// E|sum| is therefore a difference of |x|^(m+1)/(m+1)! over m variables. Here each width occurs
// twice.
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
	if (!walk->jitter_known || (walk->n_uniform && walk->normal_variance > 0))
		return NAN;
	if (walk->n_uniform == 1)
		return walk->uniform[0] * 2 / 3;
	if (walk->n_uniform)
		return outcome_uniform_jitter(walk->uniform, walk->n_uniform);
	return TWO_OVER_ROOT_PI * sqrt(walk->normal_variance);
}

// ---- a window ----

// The newest report by the window's end shows the path, and whether the configuration still held.
void outcome_configure(const struct outcome_flow *flow, const struct hs_measured_window *window,
		struct outcome_ends ends, struct outcome_point points[HS_LAB_KINDS])
{
	struct walk walk = {
			.flow = flow,
			.low = outcome_flow_until(flow, window->start_ns),
			.high = outcome_flow_until(flow, window->end_ns),
	};
	struct outcome_stops stops;
	bool shared;
	if (walk.low >= walk.high)
		return;
	walk.report = &flow->reports[flow->newest[walk.high - 1]].truth;
	int64_t at_ns = flow->reports[walk.high - 1].truth.sink_ns;
	if (!outcome_flow_passes(flow, walk.report, ends, &stops))
		return;
	walk_init(&walk);
	for (uint32_t i = 0; i < stops.to; i++) {
		const struct hs_link_config *config = link_between(flow, walk.report->stops[i].node,
				walk.report->stops[i + 1].node, &shared);
		if (!config || config->down)
			return;
		pass(&walk, config, shared, i + 1, i >= stops.from);
	}
	if (at_ns < holds_until(flow, false)) {
		points[HS_LAB_DELAY].configured = walk.delay_ns;
		points[HS_LAB_JITTER].configured = jitter_of(&walk);
	}
	if (at_ns >= holds_until(flow, true))
		return;
	points[HS_LAB_LOSS].configured = 1 - walk.kept;
	points[HS_LAB_THROUGHPUT].configured = walk.mean_known ? walk.bps : NAN;
	if (walk.low) // otherwise the window began before its flow
		points[HS_LAB_WINDOW_THROUGHPUT].configured = points[HS_LAB_THROUGHPUT].configured;
}
