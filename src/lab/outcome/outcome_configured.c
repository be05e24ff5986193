// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_configured.h"

#include <math.h>
#include <netinet/in.h>
#include <string.h>

#define ETHERNET_BYTES 14
#define IPV6_BYTES     40
#define TCP_BYTES      20
#define SHORT_BYTES    8 // of UDP, and of ICMPv6 echo

#define TWO_OVER_ROOT_PI 1.1283791670955126 // E|X - Y| of two normals is this times sigma

// Standard deviation of a mean of |D(k) - D(k-1)| times the root of their number. Uniform in
// [-1, 1]: variance 2/3 - (2/3)^2 = 2/9, covariance of neighbours 7/15 - (2/3)^2 = 1/45; 2/9 + 2/45
// is 4/15. Normal, sigma 1: variance 2 - 4/pi; covariance 1/3 + 2 * (root of 3)/pi - 4/pi.
#define UNIFORM_PAIRS 0.5163977794943222
#define NORMAL_PAIRS  1.0257990125498984

// ---- traffic ----

uint32_t hs_outcome_frame_bytes(const struct hs_scenario_traffic *traffic)
{
	if (traffic->kind == HS_TRAFFIC_PCAP || traffic->kind == HS_TRAFFIC_WINDOW)
		return 0;
	return ETHERNET_BYTES + IPV6_BYTES +
	       (traffic->protocol == IPPROTO_TCP ? TCP_BYTES : SHORT_BYTES) +
	       traffic->payload_bytes;
}

static const struct hs_scenario_traffic *traffic_of(const struct hs_run *run, uint32_t flow)
{
	const struct hs_scenario *scenario = run->scenario;
	uint32_t traffic = scenario->flows[flow].traffic;
	return traffic < scenario->n_traffic ? &scenario->traffic[traffic] : NULL;
}

static bool ends_it(const struct hs_scenario_event *event, uint32_t traffic, bool throughput)
{
	switch (event->kind) {
	case HS_LAB_EVENT_TRAFFIC:
		return throughput && event->traffic == traffic;
	case HS_LAB_EVENT_RESTART: // what came while it was down is lost
		return throughput;
	default:
		return false; // of links the run knows
	}
}

int64_t hs_outcome_configured_until(const struct hs_run *run, uint32_t flow, bool throughput)
{
	const struct hs_scenario *scenario = run->scenario;
	int64_t until_ns = run->config_changed_ns;
	for (size_t i = 0; i < scenario->n_events; i++) {
		const struct hs_scenario_event *event = &scenario->events[i];
		if (!ends_it(event, scenario->flows[flow].traffic, throughput))
			continue;
		if (run->start_ns + event->at_ns < until_ns)
			until_ns = run->start_ns + event->at_ns;
	}
	return until_ns;
}

// ---- the path ----

static struct hs_truth_hop hop_between(
		const struct hs_outcome_flow *flow, uint32_t from, uint32_t to)
{
	const struct hs_truth *truth = flow->run->truth;
	size_t n = hs_truth_hops(truth, flow->flow);
	struct hs_truth_hop hop;
	for (size_t i = 0; i < n; i++) {
		hs_truth_hop(truth, flow->flow, i, &hop);
		if (hop.from == from && hop.to == to)
			return hop;
	}
	return (struct hs_truth_hop){.from = from, .to = to};
}

// Of all that took the link's time.
static double telemetry_share(const struct hs_truth_hop *hop, const struct hs_link_config *config)
{
	uint64_t telemetry = hop->received_telemetry_bytes;
	uint64_t frames = hop->received_bytes + hop->received_packets * config->overhead_bytes;
	return telemetry ? (double)telemetry / (double)(telemetry + frames) : 0;
}

static struct hs_outcome_path_step step_between(
		const struct hs_outcome_flow *flow, uint32_t from, uint32_t to)
{
	const struct hs_run *run = flow->run;
	struct hs_outcome_path_step step = {.config = NULL};
	for (size_t i = 0; i < run->scenario->n_links; i++) {
		const struct hs_scenario_link *link = &run->scenario->links[i];
		bool forward = link->from == from && link->to == to;
		if (!forward && (link->from != to || link->to != from))
			continue;
		step.config = &link->ways[!forward];
		struct hs_truth_hop hop = hop_between(flow, from, to);
		step.shared = run->links && run->links[i][!forward].sent_packets > hop.sent_packets;
		step.telemetry_share = telemetry_share(&hop, step.config);
		break;
	}
	return step;
}

static void follow(const struct hs_outcome_flow *flow, const struct hs_truth_report *report,
		struct hs_outcome_path *path)
{
	bool same = path->n_stops == report->n_stops;
	for (uint32_t i = 0; i < report->n_stops && same; i++)
		same = path->nodes[i] == report->stops[i].node;
	if (same)
		return;
	path->n_stops = report->n_stops;
	for (uint32_t i = 0; i < report->n_stops; i++)
		path->nodes[i] = report->stops[i].node;
	for (uint32_t i = 0; i + 1 < report->n_stops; i++)
		path->steps[i] = step_between(flow, path->nodes[i], path->nodes[i + 1]);
}

// ---- along the path ----

// What is known of the packets as they enter a link, and of the hop so far.
struct walk {
	const struct hs_outcome_flow *flow;
	uint32_t frame_bytes;
	double bps;	      // of frames without telemetry, while the source sends; NAN: unknown
	double reachable_bps; // of bps, after what telemetry took
	bool mean_known;      // bps is a mean over any time
	bool even;	      // evenly spaced: where the rate suffices nobody waits
	double delay_ns, delay_variance, kept; // of the hop; kept: share that is not lost
	bool independent;		       // losses
	size_t n_uniform;
	double uniform[HS_TRUTH_HOPS];
	double normal_variance;
	bool jitter_known;
};

static void walk_init(struct walk *walk, const struct hs_outcome_flow *flow)
{
	const struct hs_scenario_traffic *traffic = traffic_of(flow->run, flow->flow);
	bool reply = flow->run->scenario->flows[flow->flow].reverse;
	*walk = (struct walk){
			.flow = flow,
			.bps = NAN,
			.kept = 1,
			.independent = true,
			.jitter_known = true,
	};
	if (!traffic)
		return;
	walk->frame_bytes = hs_outcome_frame_bytes(traffic);
	if (!walk->frame_bytes)
		return;
	walk->bps = walk->reachable_bps = traffic->rate_pps * walk->frame_bytes * 8;
	walk->even = !reply && traffic->kind != HS_TRAFFIC_POISSON;
	walk->mean_known = !reply && (traffic->kind == HS_TRAFFIC_CONSTANT ||
						     traffic->kind == HS_TRAFFIC_POISSON);
}

// What the rate lets through of frames without telemetry.
static double limit_of(const struct walk *walk, const struct hs_link_config *config)
{
	double frame = walk->frame_bytes;
	return (double)config->rate_bps * frame / (frame + config->overhead_bytes);
}

static double burst_loss(const struct hs_link_bursts *bursts)
{
	double sum = bursts->p + bursts->r;
	double bad = sum > 0 ? bursts->p / sum : 0;
	return bad * bursts->loss_bad + (1 - bad) * bursts->loss_good;
}

// Losses of the link's own; NAN: they depend on more than its configuration.
static double loss_of(const struct hs_link_config *config)
{
	if (config->telemetry_loss_ratio > 0 || config->duplicate_ratio > 0)
		return NAN;
	return 1 - (1 - config->loss_ratio) * (1 - burst_loss(&config->bursts));
}

static bool has_bursts(const struct hs_link_config *config)
{
	return config->bursts.p > 0 || config->bursts.loss_good > 0;
}

// A frame takes whole nanoseconds; a window's reports may carry telemetry of different length.
static double serialisation(const struct walk *walk, const struct hs_outcome_path *path,
		uint32_t step, size_t low, size_t high)
{
	const struct hs_link_config *config = path->steps[step].config;
	double sum = 0;
	size_t n = 0;
	for (size_t i = low; i < high; i++) {
		const struct hs_truth_report *report = &walk->flow->reports[i].truth;
		if (step + 1 >= report->n_stops ||
				report->stops[step + 1].node != path->nodes[step + 1])
			continue;
		uint64_t bits = (report->stops[step + 1].wire_bytes +
						(uint64_t)config->overhead_bytes) *
				8;
		sum += (double)(bits * UINT64_C(1000000000) / config->rate_bps);
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void add_delay(struct walk *walk, const struct hs_link_config *config)
{
	double jitter = (double)config->jitter_ns;
	bool normal = config->distribution == HS_LINK_NORMAL;
	walk->delay_ns += (double)config->delay_ns;
	if (config->reorder_ratio > 0)
		walk->delay_ns = NAN;
	if (!config->jitter_ns)
		return;
	// Delays below 0 are none: the mean of what is left is another. So is that of frames which
	// wait for one before them.
	if (config->in_order || config->delay_ns < config->jitter_ns * (normal ? 5 : 1))
		walk->delay_ns = NAN;
	walk->delay_variance += normal ? jitter * jitter : jitter * jitter / 3;
}

static void add_jitter(struct walk *walk, const struct hs_link_config *config)
{
	double jitter = (double)config->jitter_ns;
	bool normal = config->distribution == HS_LINK_NORMAL;
	if (config->rate_bps || config->reorder_ratio > 0)
		walk->jitter_known = false;
	if (!config->jitter_ns)
		return;
	if (config->in_order || config->delay_ns < config->jitter_ns * (normal ? 5 : 1))
		walk->jitter_known = false;
	if (normal)
		walk->normal_variance += jitter * jitter;
	else
		walk->uniform[walk->n_uniform++] = jitter;
}

// One link; `inside`: it belongs to the hop.
static void pass(struct walk *walk, const struct hs_outcome_path *path, uint32_t step, bool inside,
		size_t low, size_t high)
{
	const struct hs_link_config *config = path->steps[step].config;
	double loss = loss_of(config);
	bool limited = config->rate_bps > 0;
	walk->bps *= 1 - loss;
	walk->reachable_bps *= 1 - loss;
	double limit = limit_of(walk, config);
	bool suffices = !limited || (walk->bps < limit && !path->steps[step].shared);
	if (inside) {
		walk->kept *= suffices ? 1 - loss : NAN;
		walk->independent &= !has_bursts(config);
		add_delay(walk, config);
		add_jitter(walk, config);
		if (limited)
			walk->delay_ns += suffices && walk->even ? serialisation(walk, path, step,
										   low, high)
								 : NAN;
	}
	if (limited && path->steps[step].shared)
		walk->bps = NAN;
	if (limited && walk->bps > limit)
		walk->bps = limit;
	double left = limit * (1 - path->steps[step].telemetry_share);
	if (limited && walk->reachable_bps > left)
		walk->reachable_bps = left;
	walk->even &= !config->jitter_ns && config->duplicate_ratio <= 0;
}

// Mean and sigma.
static void put_jitter(const struct walk *walk, struct hs_outcome_path *path,
		struct hs_outcome_configured *configured)
{
	double sigma = sqrt(walk->normal_variance), *widths = path->widths;
	if (!walk->jitter_known || (walk->n_uniform && walk->normal_variance > 0))
		return;
	configured->jitter_ns = TWO_OVER_ROOT_PI * sigma;
	configured->jitter_sigma_ns = NORMAL_PAIRS * sigma;
	if (!walk->n_uniform)
		return;
	configured->jitter_ns = walk->uniform[0] * 2 / 3;
	configured->jitter_sigma_ns = UNIFORM_PAIRS * walk->uniform[0];
	if (walk->n_uniform == 1)
		return;
	bool same = path->n_widths == walk->n_uniform &&
		    !memcmp(widths, walk->uniform, walk->n_uniform * sizeof(double));
	if (!same) {
		path->n_widths = walk->n_uniform;
		memcpy(widths, walk->uniform, walk->n_uniform * sizeof(double));
		path->mean_of_widths = hs_outcome_uniform_jitter(
				widths, path->n_widths, &path->sigma_of_widths);
	}
	configured->jitter_ns = path->mean_of_widths;
	configured->jitter_sigma_ns = path->sigma_of_widths;
}

static void conclude(const struct walk *walk, struct hs_outcome_path *path,
		struct hs_outcome_configured *configured)
{
	double loss = 1 - walk->kept;
	configured->throughput_bps = walk->mean_known ? walk->bps : NAN;
	configured->reachable_bps = walk->reachable_bps;
	configured->delay_ns = walk->delay_ns;
	put_jitter(walk, path, configured);
	configured->loss_ratio = loss;
	configured->delay_sigma_ns = walk->delay_variance > 0 ? sqrt(walk->delay_variance) : NAN;
	configured->loss_sigma = loss > 0 && walk->independent ? sqrt(loss * (1 - loss)) : NAN;
}

void hs_outcome_configured_of(const struct hs_outcome_flow *flow,
		const struct hs_truth_report *report, struct hs_outcome_stops stops, size_t low,
		size_t high, struct hs_outcome_path *path, struct hs_outcome_configured *configured)
{
	struct walk walk;
	*configured = (struct hs_outcome_configured){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	follow(flow, report, path);
	walk_init(&walk, flow);
	for (uint32_t i = 0; i < stops.to; i++) {
		if (!path->steps[i].config || path->steps[i].config->down)
			return;
		pass(&walk, path, i, i >= stops.from, low, high);
	}
	conclude(&walk, path, configured);
}
