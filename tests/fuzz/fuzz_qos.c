// SPDX-License-Identifier: BSD-3-Clause
// Reports of three flows into a monitor, with any counts, stamps, paths and fields, in any order.
// An input is a list of changes to a flow's last report, which is then reported again.
#include "fuzz.h"

#include "qos.h"

#include <errno.h>
#include <string.h>

#define FLOWS	   3
#define NODES	   6 // of the first report
#define START	   (1700000040ll * 1000000000)
#define GAP_NS	   100000
#define BYTES	   562
#define ALL_FIELDS 0xF000
#define MOST_NS	   400000000000ll // that one step of time may be, so that windows are few

struct input {
	const uint8_t *at, *end;
};

static uint64_t take(struct input *input, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes && input->at < input->end; i++)
		value |= (uint64_t)*input->at++ << 8 * i;
	return value;
}

// A small number, or one near a power of two, each of both signs.
static uint64_t take_value(struct input *input, bool small)
{
	unsigned bits;

	if (small)
		return (uint64_t)(int64_t)(int16_t)take(input, 2);
	bits = (unsigned)take(input, 1);
	uint64_t power = (UINT64_C(1) << (bits & 63)) - (bits >> 6 & 1);
	return bits & 0x80 ? 0 - power : power;
}

// ---- reports ----

static const struct hs_telemetry_family narrow = {.name = "narrow", .packet_bits = 16};
static const struct hs_telemetry_family wide = {.name = "wide", .packet_bits = 32};
static const struct hs_telemetry_family local = {
		.name = "local", .packet_bits = 32, .has_locals = true};

static void begin(struct hs_report *report, const struct hs_telemetry_family *family)
{
	struct hs_decoded *telemetry = &report->telemetry;

	*report = (struct hs_report){.sink_ts_ns = START, .sink_rx_packets = 1};
	telemetry->family = family;
	telemetry->trace_type = 0xF000E000;
	telemetry->e2e.bitmap = ALL_FIELDS;
	telemetry->e2e.ts_ns = START;
	telemetry->n_hops = 2;
	for (unsigned i = 0; i < HS_TELEMETRY_MAX_HOPS; i++)
		telemetry->hops[i] = (struct hs_hop){
				.node_id = NODES - i, .bitmap = HS_HOP_MEASURED, .ts_ns = START};
}

// So many packets later, by all counts and stamps.
static void go_on(struct hs_report *report, uint64_t packets)
{
	struct hs_e2e *e2e = &report->telemetry.e2e;

	e2e->ts_ns += packets * GAP_NS;
	e2e->int_packets++;
	e2e->tx_packets += (uint32_t)packets;
	e2e->tx_bytes += (uint32_t)packets * BYTES;
	for (unsigned i = 0; i < HS_TELEMETRY_MAX_HOPS; i++) {
		struct hs_hop *hop = &report->telemetry.hops[i];
		hop->ts_ns += packets * GAP_NS;
		hop->rx_packets += (uint32_t)packets;
		hop->tx_packets += (uint32_t)packets;
		hop->rx_bytes += (uint32_t)packets * BYTES;
		hop->tx_bytes += (uint32_t)packets * BYTES;
	}
	report->sink_ts_ns = (int64_t)((uint64_t)report->sink_ts_ns + packets * GAP_NS);
	report->sink_rx_packets += packets;
	report->sink_rx_bytes += packets * BYTES;
}

static void change_hop(struct hs_hop *hop, unsigned field, uint64_t value, bool adds)
{
	uint32_t *const counts[] = {
			&hop->rx_packets, &hop->tx_packets, &hop->rx_bytes, &hop->tx_bytes};

	if (field < 4)
		*counts[field] = (adds ? *counts[field] : 0) + (uint32_t)value;
	else if (field == 4)
		hop->ts_ns = (adds ? hop->ts_ns : 0) + value;
	else if (field == 5)
		hop->node_id = (uint32_t)value;
	else
		hop->bitmap = (uint16_t)(value << 8) & HS_HOP_MEASURED;
}

static void change_local(struct hs_hop_local *of, unsigned field, uint64_t value)
{
	uint32_t *const values[] = {&of->hop_latency_ns, &of->queue_packets, &of->link_utilisation,
			&of->ingress_port, &of->egress_port, &of->queue_congestion,
			&of->buffer_used};

	if (field < 7)
		*values[field] = (uint32_t)value;
	else
		of->has = (uint8_t)value;
}

static void change_ends(struct hs_report *report, unsigned field, uint64_t value, bool adds)
{
	struct hs_e2e *e2e = &report->telemetry.e2e;
	uint32_t *const counts[] = {&e2e->tx_packets, &e2e->tx_bytes, &e2e->int_packets};
	uint64_t *const totals[] = {&report->sink_rx_packets, &report->sink_rx_bytes, &e2e->ts_ns};

	if (field < 3)
		*counts[field] = (adds ? *counts[field] : 0) + (uint32_t)value;
	else if (field < 6)
		*totals[field - 3] = (adds ? *totals[field - 3] : 0) + value;
	else if (field == 6)
		report->sink_ts_ns = (int64_t)((uint64_t)report->sink_ts_ns + value % MOST_NS -
					       MOST_NS / 8);
	else if (field == 7)
		report->telemetry.n_hops = (uint16_t)(value % (HS_TELEMETRY_MAX_HOPS + 1));
	else if (field == 8)
		report->sink_ts_ns = (int64_t)value;
	else
		e2e->bitmap = (uint16_t)(value << 8) & ALL_FIELDS;
}

static void change(struct hs_report *report, struct input *input)
{
	unsigned what = (unsigned)take(input, 1), at = (unsigned)take(input, 1);
	uint64_t value = take_value(input, what & 0x80);

	if ((what & 0x48) == 0x48 && report->telemetry.family->has_locals)
		change_local(&report->telemetry.locals[at % (NODES + 1)], what & 7, value);
	else if (what & 0x40)
		change_hop(&report->telemetry.hops[at % NODES], what & 7, value, what & 0x20);
	else
		change_ends(report, what & 15, value, what & 0x20);
}

// What a decoder gives: counts of so many bits.
static void cut(struct hs_report *report)
{
	uint32_t mask = (uint32_t)((UINT64_C(1) << report->telemetry.family->packet_bits) - 1);

	for (unsigned i = 0; i < report->telemetry.n_hops; i++) {
		report->telemetry.hops[i].rx_packets &= mask;
		report->telemetry.hops[i].tx_packets &= mask;
	}
}

// ---- the monitor ----

static void check_hop(const struct hs_qos_hop *hop)
{
	double ratio = hs_qos_loss_ratio(hop);

	HOLDS(ratio >= 0);
	if (hop->has & HS_QOS_HAS_DELAY)
		HOLDS(hop->delay.min <= hop->delay.max);
	if (hop->has & HS_QOS_HAS_P50)
		HOLDS(hop->delay.p50 >= hop->delay.min && hop->delay.p50 <= hop->delay.max);
	if (hop->has & HS_QOS_HAS_HOP_LATENCY)
		HOLDS(hop->hop_latency_ns.min <= hop->hop_latency_ns.mean &&
				hop->hop_latency_ns.mean <= hop->hop_latency_ns.max);
	if (hop->has & HS_QOS_HAS_QUEUE)
		HOLDS(hop->queue_packets.mean >= 0 &&
				hop->queue_packets.mean <= hop->queue_packets.max);
	if (hop->has & HS_QOS_HAS_UTILISATION)
		HOLDS(hop->link_utilisation_ratio.mean <= hop->link_utilisation_ratio.max);
}

static void check_window(void *user, const struct hs_qos_window *window)
{
	(void)user;
	HOLDS(window->n_path >= 2 && (window->stale || window->reports));
	check_hop(&window->e2e);
	for (unsigned i = 0; i < window->n_hops; i++)
		check_hop(&window->hops[i]);
	json_t *json = hs_qos_window_json(window, NULL);
	HOLDS(json);
	json_decref(json);
}

static void ask(struct hs_qos *qos, uint32_t ns_id, const struct hs_report *report)
{
	int64_t now_ns = report->sink_ts_ns;
	const struct hs_qos_window *run = hs_qos_latest(qos, ns_id, 0);

	if (run)
		check_window(NULL, run);
	const struct hs_qos_window *slid = hs_qos_slide(qos, ns_id, now_ns - 500000000, now_ns);
	if (slid)
		check_window(NULL, slid);
}

static void give(struct hs_qos *qos, struct hs_report *report, uint32_t ns_id, uint32_t generation)
{
	const struct hs_qos_key key = {ns_id, 1, generation, 9};
	struct hs_report told = *report;

	cut(&told);
	int rc = hs_qos_report(qos, &key, &told);
	HOLDS(rc == 0 || rc == -EINVAL);
	if (rc)
		report->sink_ts_ns = START;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, data + size};
	unsigned options = (unsigned)take(&input, 1);
	struct hs_qos_config config = {.max_flows = FLOWS,
			.on_window = check_window,
			.general = options & 1,
			.tells_steps = options & 2};
	struct hs_report flows[FLOWS];
	uint32_t generations[FLOWS] = {0};
	struct hs_qos *qos;

	HOLDS(hs_qos_create(&config, &qos) == 0);
	for (unsigned i = 0; i < FLOWS; i++)
		begin(&flows[i], options & 16 ? &local : options & 4 ? &wide : &narrow);
	while (input.at < input.end) {
		unsigned op = (unsigned)take(&input, 1), flow = op % FLOWS;
		go_on(&flows[flow], (uint64_t)take(&input, 1) << (op >> 6) * 3);
		for (unsigned n = op >> 2 & 3; n > 0; n--)
			change(&flows[flow], &input);
		generations[flow] += (op & 0x30) == 0x30 && options & 8;
		give(qos, &flows[flow], flow + 1, generations[flow]);
		if ((op & 0x30) == 0x10)
			hs_qos_advance(qos, flows[flow].sink_ts_ns);
		if ((op & 0x30) == 0x20)
			ask(qos, flow + 1, &flows[flow]);
		if ((op & 0x3c) == 0x30 && options & 2)
			hs_qos_clock_step(qos);
	}
	for (unsigned i = 0; i < FLOWS; i++)
		hs_qos_remove(qos, i + 1);
	hs_qos_destroy(qos);
	return 0;
}
