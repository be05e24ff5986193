// SPDX-License-Identifier: BSD-3-Clause
// Checks that every packet of a measurement took the path through the node that its case is about.
#include "bench_frames.h"
#include "bench_setup.h"

#include <inttypes.h>
#include <stdio.h>

struct totals {
	uint64_t rx, hop_entries, sink, reports_made, reports_lost, no_room;
	uint64_t wrongly_sampled; // rules with a wrong number of packets with telemetry
};

// Returns whether a rule has the right number of packets with telemetry. The first packet of a rule
// is due, then each `every`-th. Flexint does not work with IPv4.
static bool sampled_rightly(const struct hs_bench_case *spec, const struct hs_flow_counters *c)
{
	uint64_t every = spec->every;
	bool source = spec->role == HS_BENCH_SOURCE && !spec->traffic.ipv4;

	return c->int_packets == (source ? (c->rx_packets + every - 1) / every : 0);
}

static void add_up(const struct hs_bench_setup *setup, struct totals *totals)
{
	const struct hs_flow_table *flows = hs_node_flows(setup->node);
	uint32_t slot = HS_FLOW_NONE;

	while (hs_flow_table_next(flows, &slot)) {
		struct hs_flow_counters c;
		hs_flow_table_counters(flows, slot, &c);
		totals->rx += c.rx_packets;
		totals->hop_entries += c.hop_entries;
		totals->sink += c.sink_packets;
		totals->reports_made += c.reports_made;
		totals->reports_lost += c.reports_lost;
		totals->no_room += c.no_room_mtu + c.no_room_headroom + c.no_room_option;
		totals->wrongly_sampled += !sampled_rightly(setup->spec, &c);
	}
}

static int expect(const char *what, uint64_t is, uint64_t should, struct hs_error *err)
{
	if (is == should)
		return 0;
	return hs_error_set(
			err, "counters", what, "", "%" PRIu64 " instead of %" PRIu64, is, should);
}

// Returns whether packets may be dropped for this reason. With memif, three processes start one
// after the other, so that a port may be down at first.
static bool is_allowed(const struct hs_bench_case *spec, enum hs_drop drop)
{
	return drop == HS_DROP_TX_FULL ||
	       (drop == HS_DROP_PORT_DOWN && spec->target == HS_BENCH_MEMIF);
}

// Returns the expected count of an event. Probes and their feedback come in turn, a probe first.
// Each probe belongs to another request and goes back by its arrival port, and its feedback
// confirms the copy.
static uint64_t events_of(
		const struct hs_bench_case *spec, enum hs_event_count event, uint64_t received)
{
	bool of_probe = event == HS_EVENT_PROBE_FILLED || event == HS_EVENT_PROBE_ANSWERED ||
			event == HS_EVENT_PROBE_HELD;

	if (spec->traffic.probes)
		return of_probe ? (received + 1) / 2 : 0;
	return event == HS_EVENT_STRIPPED && spec->role == HS_BENCH_SINK ? received : 0;
}

static int check_ports(const struct hs_bench_setup *setup, const struct hs_port_counters *now,
		uint64_t received, struct hs_error *err)
{
	const struct hs_port_counters *before = setup->before;
	bool probes = setup->spec->traffic.probes;
	unsigned sent = probes			      ? 0
			: setup->spec->traffic.int_mx ? 2 // a report beside each packet
						      : 1;
	int rc = expect("packets sent on", now[HS_BENCH_OUT].offered - before[HS_BENCH_OUT].offered,
			sent * received, err);

	for (int p = 0; rc == 0 && p < HS_BENCH_PORTS; p++)
		for (int d = 0; rc == 0 && d < HS_DROP_COUNT; d++)
			if (!is_allowed(setup->spec, (enum hs_drop)d))
				rc = expect(hs_drop_name((enum hs_drop)d),
						now[p].drops[d] - before[p].drops[d],
						probes && p == HS_BENCH_IN && d == HS_DROP_PROBE_CONFIRMED
								? received / 2
								: 0,
						err);
	for (int e = 0; rc == 0 && e < HS_EVENT_COUNT; e++)
		rc = expect(hs_event_count_name((enum hs_event_count)e),
				now[HS_BENCH_IN].events[e] - before[HS_BENCH_IN].events[e],
				events_of(setup->spec, (enum hs_event_count)e, received), err);
	return rc;
}

// Checks the number of labelled packets. The first packet is always due.
static int check_labels(const struct hs_bench_setup *setup, const struct hs_port_counters *now,
		uint64_t received, struct hs_error *err)
{
	enum hs_event_count event = HS_EVENT_LABELLED_INTERVAL;
	uint64_t labels =
			now[HS_BENCH_OUT].events[event] - setup->before[HS_BENCH_OUT].events[event];
	enum hs_bench_label label = setup->spec->label;

	return expect("labelled packets", labels,
			label == HS_BENCH_LABEL_ALL    ? received
			: label == HS_BENCH_LABEL_IDLE ? 1
						       : 0,
			err);
}

// Counts the frames that should meet a rule and those that should have telemetry, among the first n
// frames in the order of the file.
static void expect_mixed(
		const struct hs_bench_traffic *traffic, uint64_t n, uint64_t *met, uint64_t *traced)
{
	*met = *traced = 0;
	for (uint32_t i = 0; i < traffic->frames; i++) {
		struct hs_bench_mix mix = hs_bench_mix(i);
		uint64_t times = n / traffic->frames + (i < n % traffic->frames);
		*met += mix.matched * times;
		*traced += mix.traced * times;
	}
}

int hs_bench_setup_check(const struct hs_bench_setup *setup, struct hs_bench_outcome *outcome,
		struct hs_error *err)
{
	const struct hs_bench_case *spec = setup->spec;
	struct hs_port_counters now[HS_BENCH_PORTS];
	struct totals t = {0};

	hs_node_snapshot(setup->node, now);
	add_up(setup, &t);
	uint64_t received = now[HS_BENCH_IN].rx_packets - setup->before[HS_BENCH_IN].rx_packets;
	bool entries = !spec->traffic.int_mx && !spec->traffic.probes;
	uint64_t met = spec->matched ? received : 0, traced = received;
	if (spec->traffic.mixed)
		expect_mixed(&spec->traffic, received, &met, &traced);
	uint64_t transits = spec->role == HS_BENCH_TRANSIT && entries ? traced : 0;
	uint64_t sinks = spec->role == HS_BENCH_SINK ? received : 0;
	*outcome = (struct hs_bench_outcome){
			.received = received,
			.tx_full = now[HS_BENCH_OUT].drops[HS_DROP_TX_FULL],
			.reports_made = t.reports_made,
			.reports_lost = t.reports_lost,
	};
	if (!received)
		return hs_error_set(err, "counters", "packets", "", "none came");
	int rc = check_ports(setup, now, received, err);
	if (rc == 0)
		rc = check_labels(setup, now, received, err);
	if (rc == 0)
		rc = expect("packets that met a rule", t.rx, met, err);
	if (rc == 0)
		rc = expect("rules with a wrong share of telemetry", t.wrongly_sampled, 0, err);
	if (rc == 0)
		rc = expect("packets without room for telemetry", t.no_room, 0, err);
	if (rc == 0)
		rc = expect("hop entries", t.hop_entries, transits, err);
	if (rc == 0)
		rc = expect("packets at the sink", t.sink, sinks, err);
	if (rc == 0 && spec->drain == HS_BENCH_ASIDE)
		rc = expect("reports that found no place in the ring", t.reports_lost, 0, err);
	return rc == 0 ? expect("reports made", t.reports_made, sinks, err) : rc;
}
