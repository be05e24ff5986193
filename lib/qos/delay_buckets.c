// SPDX-License-Identifier: BSD-3-Clause
#include "delay_buckets.h"

#include "qos_delays.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINKS   128 // most links of all paths of a flow
#define LABEL_BYTES 16

struct hs_delay_link {
	uint32_t hop; // 1: the first link; 0: end to end
	uint32_t from, to;
	uint64_t counts[HS_DELAY_BOUNDS + 1];
	int64_t sum_ns;
};

#define DECADE(X, e, ns) X(e, ns) X(e, 2 * ns) X(e, 5 * ns)
#define BOUNDS(X, e)                                                                               \
	DECADE(X, e, INT64_C(1000))                                                                \
	DECADE(X, e, INT64_C(10000))                                                               \
	DECADE(X, e, INT64_C(100000))                                                              \
	DECADE(X, e, INT64_C(1000000))                                                             \
	DECADE(X, e, INT64_C(10000000))                                                            \
	DECADE(X, e, INT64_C(100000000))                                                           \
	X(e, INT64_C(1000000000))
#define BOUND(e, ns) ns,
static const int64_t bounds_ns[HS_DELAY_BOUNDS + 1] = {BOUNDS(BOUND, 0) INT64_MAX};

// Counts the bounds below 2^e. At most one bound lies between 2^e and 2^(e + 1).
#define IS_BELOW(e, ns) +(ns < INT64_C(1) << (e))
#define BELOW(e)	BOUNDS(IS_BELOW, e)
#define BELOW4(e)	BELOW(e), BELOW(e + 1), BELOW(e + 2), BELOW(e + 3)
#define MAX_EXPONENT	31 // above all bounds
static const uint8_t below[MAX_EXPONENT + 1] = {BELOW4(0), BELOW4(4), BELOW4(8), BELOW4(12),
		BELOW4(16), BELOW4(20), BELOW4(24), BELOW4(28)};

// ---- counting ----

// Returns the first bucket whose bound is not below the value.
static unsigned bucket_of(int64_t ns)
{
	if (ns <= 0)
		return 0;
	unsigned exponent = 63u - (unsigned)__builtin_clzll((uint64_t)ns);
	unsigned first = below[exponent < MAX_EXPONENT ? exponent : MAX_EXPONENT];
	return first + (ns > bounds_ns[first]);
}

static bool is(const struct hs_delay_link *link, uint32_t hop, uint32_t from, uint32_t to)
{
	return link->hop == hop && link->from == from && link->to == to;
}

static struct hs_delay_link *add_link(struct hs_delay_buckets *buckets)
{
	if (buckets->n == buckets->capacity) {
		unsigned more = buckets->capacity ? 2 * buckets->capacity : 8;
		struct hs_delay_link *links =
				more > MAX_LINKS ? NULL
						 : reallocarray(buckets->links, more,
								   sizeof(*buckets->links));
		if (!links)
			return NULL;
		buckets->links = links;
		buckets->capacity = more;
	}
	return &buckets->links[buckets->n++];
}

// Finds or adds a link. The links of a flow's first path stand at the index of their hop.
static struct hs_delay_link *link_of(
		struct hs_delay_buckets *buckets, uint32_t hop, uint32_t from, uint32_t to)
{
	if (hop < buckets->n && is(&buckets->links[hop], hop, from, to))
		return &buckets->links[hop];
	for (unsigned i = 0; i < buckets->n; i++)
		if (is(&buckets->links[i], hop, from, to))
			return &buckets->links[i];
	struct hs_delay_link *link = add_link(buckets);
	if (link)
		*link = (struct hs_delay_link){.hop = hop, .from = from, .to = to};
	return link;
}

static uint32_t node_of(const struct hs_decoded *telemetry, uint32_t sink_id, int i)
{
	if (i < 0)
		return telemetry->e2e.node_id;
	return i == telemetry->n_hops ? sink_id
				      : telemetry->hops[telemetry->n_hops - 1 - i].node_id;
}

void hs_delay_buckets_add(struct hs_delay_buckets *buckets, const struct hs_report *report,
		uint32_t sink_id, int64_t now_ns)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	uint16_t path_links[HS_QOS_MAX_LINKS];
	struct hs_qos_delays delays;

	for (unsigned i = 0; i <= telemetry->n_hops; i++)
		path_links[i] = (uint16_t)(i + 1);
	hs_qos_delays_collect(report, path_links, &delays);
	if (!buckets->created_ns)
		buckets->created_ns = now_ns;
	for (unsigned i = 0; i < delays.n; i++) {
		int hop = delays.links[i];
		struct hs_delay_link *link = link_of(buckets, (uint32_t)hop,
				hop ? node_of(telemetry, sink_id, hop - 2) : 0,
				hop ? node_of(telemetry, sink_id, hop - 1) : 0);
		if (!link)
			continue;
		link->counts[bucket_of(delays.ns[i])]++;
		if (__builtin_add_overflow(link->sum_ns, delays.ns[i], &link->sum_ns))
			link->sum_ns = delays.ns[i] < 0 ? INT64_MIN : INT64_MAX;
	}
}

void hs_delay_buckets_fini(struct hs_delay_buckets *buckets)
{
	free(buckets->links);
	*buckets = (struct hs_delay_buckets){0};
}

// ---- showing ----

static const struct hs_prometheus_family of_path = {"hopsight_path_delay_seconds",
		"One-way delay end to end, of every report since the first", "seconds",
		HS_PROMETHEUS_HISTOGRAM};
static const struct hs_prometheus_family of_hop = {"hopsight_hop_delay_seconds",
		"One-way delay on a link, of every report since the first", "seconds",
		HS_PROMETHEUS_HISTOGRAM};

static struct hs_prometheus_histogram histogram_of(
		const struct hs_delay_buckets *buckets, const struct hs_delay_link *link)
{
	return (struct hs_prometheus_histogram){HS_DELAY_BOUNDS, bounds_ns, link->counts,
			link->sum_ns, buckets->created_ns};
}

static void write_node(char text[LABEL_BYTES], uint32_t node_id)
{
	if (node_id == HS_NODE_UNKNOWN)
		snprintf(text, LABEL_BYTES, "unknown");
	else
		snprintf(text, LABEL_BYTES, "%" PRIu32, node_id);
}

static void add_hop(struct hs_prometheus *page, const struct hs_delay_buckets *buckets,
		const struct hs_delay_link *link, const char *ns_id)
{
	const struct hs_prometheus_histogram histogram = histogram_of(buckets, link);
	char hop[LABEL_BYTES], from[LABEL_BYTES], to[LABEL_BYTES];

	snprintf(hop, sizeof(hop), "%" PRIu32, link->hop);
	write_node(from, link->from);
	write_node(to, link->to);
	hs_prometheus_histogram(page, &of_hop,
			HS_PROMETHEUS_LABELS(
					{"ns_id", ns_id}, {"hop", hop}, {"from", from}, {"to", to}),
			&histogram);
}

void hs_delay_buckets_page_path(
		struct hs_prometheus *page, const struct hs_delay_buckets *buckets, uint32_t ns_id)
{
	char text[LABEL_BYTES];

	snprintf(text, sizeof(text), "%" PRIu32, ns_id);
	for (unsigned i = 0; i < buckets->n; i++) {
		const struct hs_prometheus_histogram histogram =
				histogram_of(buckets, &buckets->links[i]);
		if (!buckets->links[i].hop)
			hs_prometheus_histogram(page, &of_path,
					HS_PROMETHEUS_LABELS({"ns_id", text}), &histogram);
	}
}

void hs_delay_buckets_page_hops(
		struct hs_prometheus *page, const struct hs_delay_buckets *buckets, uint32_t ns_id)
{
	char text[LABEL_BYTES];

	snprintf(text, sizeof(text), "%" PRIu32, ns_id);
	for (unsigned i = 0; i < buckets->n; i++)
		if (buckets->links[i].hop)
			add_hop(page, buckets, &buckets->links[i], text);
}
