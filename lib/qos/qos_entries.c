// SPDX-License-Identifier: BSD-3-Clause
#include "qos_entries.h"

#include <string.h>

#define LOOK_BACK 64	// reports
#define MOST_SENT 32767 // packets between two reports that counts of 16 bits can show
#define MUCH_SENT 4096	// packets that are enough to judge by; older counts are halved
#define SLACK	  64	// packets that may be late, beyond as many as were sent
#define UNKNOWN	  (1 << 30)

// ---- paths ----

// The nodes that a report names, in the order of the path. The first one is the source, if the
// report says which node is the source.
struct named {
	uint32_t nodes[1 + HS_TELEMETRY_MAX_HOPS];
	unsigned n;
};

static struct named named_by(const struct hs_qos_flow *flow, const struct hs_decoded *telemetry)
{
	struct named named;
	named.n = 0;
	for (int i = telemetry->e2e.node_id == HS_NODE_UNKNOWN ? 0 : -1; i < telemetry->n_hops; i++)
		named.nodes[named.n++] = hs_qos_flow_node(flow, telemetry, i);
	return named;
}

static struct named longest_of(const struct hs_qos_entries *entries)
{
	struct named named = {.nodes = {entries->source}, .n = entries->source != HS_NODE_UNKNOWN};
	memcpy(named.nodes + named.n, entries->nodes, entries->n * sizeof(entries->nodes[0]));
	named.n += entries->n;
	return named;
}

static bool is_part_of(const struct named *part, const struct named *whole)
{
	unsigned found = 0;
	for (unsigned i = 0; i < whole->n && found < part->n; i++)
		found += part->nodes[found] == whole->nodes[i];
	return found == part->n;
}

static void set_longest(struct hs_qos_flow *flow, const struct hs_decoded *telemetry)
{
	struct hs_qos_entries *entries = &flow->entries;
	entries->source = telemetry->e2e.node_id;
	entries->n = telemetry->n_hops;
	for (int i = 0; i < telemetry->n_hops; i++)
		entries->nodes[i] = hs_qos_flow_node(flow, telemetry, i);
	memset(&entries->counts, 0, sizeof(entries->counts));
}

// Returns the number of the first of the newest LOOK_BACK reports of this epoch.
static uint64_t look_back(const struct hs_qos_flow *flow)
{
	uint64_t first = hs_qos_ring_oldest(&flow->ring);
	if (first < flow->seen_from)
		first = flow->seen_from;
	return flow->ring.next > first + LOOK_BACK ? flow->ring.next - LOOK_BACK : first;
}

// Returns whether all newest reports took a part of the longest path. Parts of it looked like
// several paths before it was known.
static bool were_parts(const struct hs_qos_flow *flow)
{
	const struct named longest = longest_of(&flow->entries);
	struct hs_report report;
	for (uint64_t number = flow->ring.next, first = look_back(flow); number-- > first;) {
		hs_qos_ring_get(&flow->ring, number, &report);
		const struct named nodes = named_by(flow, &report.telemetry);
		if (!is_part_of(&nodes, &longest))
			return false;
	}
	return true;
}

// Compares a path with the longest one. A path that is no part of the longest and does not contain
// it is another path. It replaces the longest, as does a path that contains the longest.
static void take_path(struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns)
{
	struct hs_qos_entries *entries = &flow->entries;
	const struct named nodes = named_by(flow, telemetry), longest = longest_of(entries);
	if (is_part_of(&nodes, &longest))
		return;
	bool contains = is_part_of(&longest, &nodes);
	set_longest(flow, telemetry);
	if (!contains) {
		entries->several = true;
		entries->several_ns = now_ns;
	} else if (entries->several) {
		entries->several = !were_parts(flow);
	}
}

void hs_qos_entries_path(
		struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns)
{
	take_path(flow, &flow->edge.telemetry, now_ns);
	take_path(flow, telemetry, now_ns);
}

void hs_qos_entries_begin(
		struct hs_qos_flow *flow, const struct hs_decoded *telemetry, int64_t now_ns)
{
	struct hs_report report;
	flow->entries.several = false;
	flow->entries.n = 0;
	flow->entries.source = HS_NODE_UNKNOWN;
	hs_qos_entries_path(flow, telemetry, now_ns);
	for (uint64_t number = look_back(flow); number < flow->ring.next; number++) {
		hs_qos_ring_get(&flow->ring, number, &report);
		hs_qos_entries_count(flow, &report);
	}
}

// ---- counts ----

// Returns whether the report has the counts of all nodes of the longest path.
static bool is_whole(const struct hs_qos_flow *flow, const struct hs_decoded *telemetry)
{
	bool whole = telemetry->n_hops == flow->entries.n;
	for (int i = 0; whole && i < telemetry->n_hops; i++)
		whole = hs_qos_flow_node(flow, telemetry, i) == flow->entries.nodes[i] &&
			telemetry->hops[i].bitmap & HS_HOP_PACKETS;
	return whole;
}

static void set_mark(struct hs_qos_entry_counts *counts, const struct hs_report *report)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	unsigned n = telemetry->n_hops;
	counts->marked = true;
	counts->has_source = telemetry->e2e.bitmap & HS_E2E_TX_PACKETS;
	counts->source = telemetry->e2e.tx_packets;
	counts->sink = (uint32_t)report->sink_rx_packets;
	for (unsigned i = 0; i < n; i++) {
		counts->rx[i] = telemetry->hops[n - 1 - i].rx_packets;
		counts->tx[i] = telemetry->hops[n - 1 - i].tx_packets;
	}
}

// Returns the number of least magnitude that is equal to the difference modulo 2^bits.
static int32_t signed_of(uint32_t difference, unsigned bits)
{
	return (int32_t)(difference << (32 - bits)) >> (32 - bits);
}

// Computes the packets missing on each link from the mark to this report. Returns false if the
// numbers are implausible.
static bool missing_since(const struct hs_qos_entry_counts *counts, const struct hs_report *report,
		int32_t sent, int32_t missing[HS_QOS_MAX_LINKS])
{
	const struct hs_decoded *telemetry = &report->telemetry;
	unsigned n = telemetry->n_hops;
	unsigned bits = telemetry->family->packet_bits;
	uint32_t before = telemetry->e2e.tx_packets - counts->source;
	bool plausible = true;
	for (unsigned i = 0; i <= n; i++) {
		const struct hs_hop *hop = i < n ? &telemetry->hops[n - 1 - i] : NULL;
		uint32_t rx = hop ? hop->rx_packets - counts->rx[i]
				  : (uint32_t)report->sink_rx_packets - counts->sink;
		missing[i] = i || counts->has_source ? signed_of(before - rx, bits) : 0;
		plausible &= missing[i] <= sent + SLACK && missing[i] >= -sent - SLACK;
		before = hop ? hop->tx_packets - counts->tx[i] : 0;
	}
	return plausible;
}

static void age(struct hs_qos_entry_counts *counts, unsigned n)
{
	counts->sent /= 2;
	counts->whole /= 2;
	counts->lacking /= 2;
	for (unsigned i = 0; i <= n; i++)
		counts->missing[i] /= 2;
}

static void count_since(
		struct hs_qos_entry_counts *counts, const struct hs_report *report, int32_t sent)
{
	int32_t missing[HS_QOS_MAX_LINKS];
	unsigned n = report->telemetry.n_hops;
	if (!missing_since(counts, report, sent, missing))
		return;
	counts->sent += sent;
	for (unsigned i = 0; i <= n; i++)
		counts->missing[i] += missing[i];
	if (counts->sent > MUCH_SENT)
		age(counts, n);
}

void hs_qos_entries_count(struct hs_qos_flow *flow, const struct hs_report *report)
{
	struct hs_qos_entry_counts *counts = &flow->entries.counts;
	const struct hs_e2e *e2e = &report->telemetry.e2e;
	if (!is_whole(flow, &report->telemetry)) {
		counts->lacking += counts->marked;
		return;
	}
	bool has_source = e2e->bitmap & HS_E2E_TX_PACKETS;
	int32_t sent = has_source ? (int32_t)(e2e->tx_packets - counts->source)
				  : (int32_t)((uint32_t)report->sink_rx_packets - counts->sink);
	if (counts->marked && sent <= 0 && sent >= -MOST_SENT)
		return; // late
	counts->whole++;
	if (counts->marked && has_source == counts->has_source && sent > 0 && sent <= MOST_SENT)
		count_since(counts, report, sent);
	set_mark(counts, report);
}

// Returns whether packets bypassed a node. Such packets are missing before the node, and a surplus
// after it. Their number must be at least half of what the share of reports without the entry
// implies.
static bool passed_by(const struct hs_qos_flow *flow)
{
	const struct hs_qos_entry_counts *counts = &flow->entries.counts;
	int64_t reports = (int64_t)counts->whole + counts->lacking;
	int64_t passed = reports ? (int64_t)counts->sent * counts->lacking / reports : 0;
	int64_t least = passed > 2 ? passed / 2 : 1;
	int64_t missing = counts->has_source ? 0 : UNKNOWN;
	for (unsigned i = 0; passed && i <= flow->entries.n; i++) {
		if (-counts->missing[i] >= least && missing >= least)
			return true;
		missing += counts->missing[i];
	}
	return false;
}

// ---- flags ----

uint32_t hs_qos_entries_flags(const struct hs_qos_flow *flow, int64_t now_ns)
{
	const struct hs_qos_entries *entries = &flow->entries;
	bool several = entries->several && now_ns - entries->several_ns <= HS_QOS_CALM_NS;
	return HS_QOS_ALTERNATES | (several ? HS_QOS_MULTIPATH : HS_QOS_ENTRIES_MISSING);
}

void hs_qos_entries_judge(const struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	if (flow->multipath && sum->flags & HS_QOS_ENTRIES_MISSING && passed_by(flow))
		sum->flags = (sum->flags & ~(uint32_t)HS_QOS_ENTRIES_MISSING) | HS_QOS_MULTIPATH;
}
