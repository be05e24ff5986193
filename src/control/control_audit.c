// SPDX-License-Identifier: BSD-3-Clause
// Checks that every packet on every port and every report adds up.
#include "control_audit.h"
#include "control_export.h"
#include "control_report.h"
#include "control_totals.h"
#include "kernel_stats.h"

#include "api_reply.h"
#include "node.h"

#include <rte_common.h>
#include <stdlib.h>

// Reports move while they are counted. This is the number of attempts to find a moment without such
// reports.
#define ATTEMPTS 50

#define MOST_TERMS 6

// Adds an equation to the list. Takes ownership of `terms`. Returns whether it holds.
static bool equation(json_t *list, const char *name, const char *text, const char *port,
		uint64_t left, uint64_t right, json_t *terms)
{
	return hs_api_equation(list,
			&(struct hs_api_equation){name, text, port, left, right, .terms = terms});
}

static uint64_t drops_where(const struct hs_port_counters *counters, bool at_transmit)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < HS_DROP_COUNT; i++) {
		if (hs_drop_is_at_transmit(i) == at_transmit)
			sum += counters->drops[i];
	}
	return sum;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static bool audit_port(json_t *list, const char *name, const struct hs_port_counters *counters)
{
	uint64_t in = drops_where(counters, false), out = drops_where(counters, true);

	bool ok = equation(list, "port_in", "rx_packets + copies = forwarded + drops", name,
			counters->rx_packets + counters->copies, counters->forwarded + in,
			json_pack("{s:o, s:o, s:o, s:o}", "rx_packets",
					number(counters->rx_packets), "copies",
					number(counters->copies), "forwarded",
					number(counters->forwarded), "drops", number(in)));
	ok &= equation(list, "port_out", "offered = tx_packets + queued + drops", name,
			counters->offered, counters->tx_packets + counters->queued + out,
			json_pack("{s:o, s:o, s:o, s:o}", "offered", number(counters->offered),
					"tx_packets", number(counters->tx_packets), "queued",
					number(counters->queued), "drops", number(out)));
	return ok;
}

static bool audit_node(json_t *list, const struct hs_port_counters *ports, uint16_t n)
{
	uint64_t forwarded = 0, offered = 0, rx = 0, copies = 0, tx = 0, queued = 0, drops = 0;
	for (uint16_t i = 0; i < n; i++) {
		forwarded += ports[i].forwarded;
		offered += ports[i].offered;
		rx += ports[i].rx_packets;
		copies += ports[i].copies;
		tx += ports[i].tx_packets;
		queued += ports[i].queued;
		drops += drops_where(&ports[i], false) + drops_where(&ports[i], true);
	}
	bool ok = equation(list, "handed_over", "forwarded = offered, all ports", NULL, forwarded,
			offered, json_object());
	ok &= equation(list, "node", "rx_packets + copies = tx_packets + queued + drops, all ports",
			NULL, rx + copies, tx + queued + drops,
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "rx_packets", number(rx), "copies",
					number(copies), "tx_packets", number(tx), "queued",
					number(queued), "drops", number(drops)));
	return ok;
}

// Counts the reports that workers put into their rings.
static int64_t handed_over(const struct hs_control *control, struct hs_node_totals *totals)
{
	hs_control_totals(control, totals);
	return (int64_t)(totals->reports_made - totals->reports_lost);
}

// Checks that the reports of the workers add up. Workers add reports while this function counts.
// The reports that were in the rings before must be out of them afterwards, and no more may come
// out than went in. In a quiet moment, both conditions mean that no report waits. One look is
// enough if it adds up, because other clients wait meanwhile.
static bool audit_made(struct hs_control *control, const struct hs_node *node, json_t *list)
{
	// The two counters of a worker are not read at the same moment: a burst may lie between.
	int64_t slack = HS_BURST * (int64_t)hs_node_config(node)->n_workers;
	struct hs_node_totals totals;
	int64_t before, after, taken;
	unsigned attempts = 0;
	bool ok;

	do {
		before = handed_over(control, &totals);
		taken = (int64_t)totals.reports_taken;
		if (before > taken)
			hs_control_drain(control, (unsigned)(before - taken));
		after = handed_over(control, &totals);
		taken = (int64_t)totals.reports_taken;
		ok = after == taken || (taken >= before - slack && taken <= after + slack);
	} while (!ok && ++attempts < ATTEMPTS);

	return equation(list, "reports_made", "reports_made = taken + lost + waiting", NULL,
			totals.reports_made,
			(uint64_t)taken + totals.reports_lost + (uint64_t)(ok ? after - taken : 0),
			json_pack("{s:I, s:I, s:o, s:I}", "reports_made",
					(json_int_t)totals.reports_made, "taken", (json_int_t)taken,
					"lost", number(totals.reports_lost), "waiting",
					(json_int_t)(after - taken)));
}

// Checks the telemetry reports that workers handed to control. Workers hand over more while this
// function counts: for each worker and receiver, at most a burst is in the ring and not in the
// counter, or the reverse.
static bool audit_handed(const struct hs_control *control, const struct hs_node *node,
		const struct control_export *exports, json_t *list)
{
	const struct hs_node_config *config = hs_node_config(node);
	int64_t slack = HS_BURST * (int64_t)config->n_workers * config->n_exports;
	struct hs_node_totals totals;

	int64_t waiting = hs_node_exports_waiting(node);
	hs_control_totals(control, &totals);
	// The node's total also has what workers sent by ports.
	uint64_t sent = hs_control_exports_sent(exports);
	uint64_t lost = totals.exports_lost_refused + totals.exports_lost_unreachable +
			totals.exports_lost_socket;
	int64_t rest = (int64_t)(totals.exports_handed - sent - lost);
	if (llabs(rest - waiting) <= slack)
		waiting = rest;
	return equation(list, "exports_handed", "handed = sent by sockets + lost + waiting", NULL,
			totals.exports_handed, sent + lost + (uint64_t)waiting,
			json_pack("{s:o, s:o, s:o, s:I}", "handed", number(totals.exports_handed),
					"sent", number(sent), "lost", number(lost), "waiting",
					(json_int_t)waiting));
}

// Checks the copies of probes. Workers go on while this function counts, and a round may make
// recovery packets of all copies that a worker holds. So the counters lie between the copies before
// and those after, except for a burst that a worker holds or confirms meanwhile.
static bool audit_probes(const struct hs_node *node, json_t *list)
{
	int64_t slack = HS_BURST * (int64_t)hs_node_config(node)->n_workers;
	uint64_t held = 0, confirmed = 0, recovered = 0;
	struct hs_port_counters ports[HS_MAX_PORTS];

	int64_t before = hs_node_probes_held(node);
	hs_node_snapshot(node, ports);
	int64_t waiting = hs_node_probes_held(node);
	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		held += ports[i].events[HS_EVENT_PROBE_HELD];
		confirmed += ports[i].drops[HS_DROP_PROBE_CONFIRMED];
		recovered += ports[i].events[HS_EVENT_PROBE_RECOVERED];
	}
	int64_t rest = (int64_t)(held - confirmed - recovered);
	if (rest >= RTE_MIN(before, waiting) - slack && rest <= RTE_MAX(before, waiting) + slack)
		waiting = rest;
	return equation(list, "probes_held", "held = confirmed + recovered + waiting", NULL, held,
			confirmed + recovered + (uint64_t)waiting,
			json_pack("{s:o, s:o, s:o, s:I}", "held", number(held), "confirmed",
					number(confirmed), "recovered", number(recovered),
					"waiting", (json_int_t)waiting));
}

// Equations of control's own counters: the left one is the sum of the others.
#define TOTAL(member) offsetof(struct hs_node_totals, member)
static const struct sum {
	const char *name, *text;
	size_t left;
	struct {
		const char *name; // NULL ends the terms
		size_t total;
	} terms[MOST_TERMS + 1];
} sums[] = {
		{"reports_taken",
				"reports_taken = published + publish_lost + suppressed + bad + "
				"stale",
				TOTAL(reports_taken),
				{{"published", TOTAL(reports_published)},
						{"publish_lost", TOTAL(reports_publish_lost)},
						{"suppressed", TOTAL(reports_suppressed)},
						{"bad", TOTAL(reports_bad)},
						{"stale", TOTAL(reports_stale)}}},
		{"requests_in_band",
				"received = installed + refreshed + refused + bad + replayed + "
				"limited",
				TOTAL(requests_in_band_received),
				{{"installed", TOTAL(requests_in_band_installed)},
						{"refreshed", TOTAL(requests_in_band_refreshed)},
						{"refused", TOTAL(requests_in_band_refused)},
						{"bad", TOTAL(requests_in_band_bad)},
						{"replayed", TOTAL(requests_in_band_replayed)},
						{"limited", TOTAL(requests_in_band_limited)}}},
		{"reports_piggyback", "queued = sent + lost + waiting",
				TOTAL(reports_piggyback_queued),
				{{"sent", TOTAL(reports_piggyback_sent)},
						{"lost", TOTAL(reports_piggyback_lost)},
						{"waiting", TOTAL(reports_piggyback_waiting)}}},
		{"influx_lines", "made = written + queue_full + refused + shutdown + waiting",
				TOTAL(influx_lines_made),
				{{"written", TOTAL(influx_lines_written)},
						{"queue_full", TOTAL(influx_lines_queue_full)},
						{"refused", TOTAL(influx_lines_refused)},
						{"shutdown", TOTAL(influx_lines_shutdown)},
						{"waiting", TOTAL(influx_lines_waiting)}}},
};

static uint64_t total_at(const struct hs_node_totals *totals, size_t offset)
{
	return *(const uint64_t *)((const char *)totals + offset);
}

static bool audit_sum(json_t *list, const struct sum *sum, const struct hs_node_totals *totals)
{
	json_t *terms = json_object();
	uint64_t right = 0;

	for (unsigned i = 0; sum->terms[i].name; i++) {
		uint64_t value = total_at(totals, sum->terms[i].total);
		json_object_set_new(terms, sum->terms[i].name, number(value));
		right += value;
	}
	return equation(list, sum->name, sum->text, NULL, total_at(totals, sum->left), right,
			terms);
}

// ---- beside the node's own counters ----

#define DEVICE(...) HS_SCHEMA_ROW(struct hs_port_device_stats, UINT, __VA_ARGS__)
static const struct hs_schema_field device_fields[] = {
		DEVICE(rx_packets, "packets received"),
		DEVICE(tx_packets, "packets sent"),
		DEVICE(rx_missed, "packets lost before the node could take them"),
		DEVICE(rx_errors, "packets that could not be received"),
		DEVICE(tx_errors, "packets that could not be sent"),
		DEVICE(rx_nombuf, "packets without a buffer"),
		{NULL},
};

#define KERNEL(...) HS_SCHEMA_ROW(struct rtnl_link_stats64, UINT, __VA_ARGS__)
static const struct hs_schema_field kernel_fields[] = {
		KERNEL(rx_packets, "packets received"),
		KERNEL(tx_packets, "packets sent"),
		KERNEL(rx_bytes, "bytes received"),
		KERNEL(tx_bytes, "bytes sent"),
		KERNEL(rx_dropped, "packets dropped when they were received"),
		KERNEL(tx_dropped, "packets dropped before they were sent"),
		KERNEL(rx_errors, "packets that could not be received"),
		KERNEL(tx_errors, "packets that could not be sent"),
		{NULL},
};

struct beside {
	const char *name;
	uint64_t rx_packets, tx_packets;
	struct hs_port_device_stats device;
	struct rtnl_link_stats64 kernel;
	uint32_t has_kernel;
};

#define BESIDE(...) HS_SCHEMA_ROW(struct beside, __VA_ARGS__)
static const struct hs_schema_field beside_fields[] = {
		BESIDE(STRING, name, "the port's name"),
		BESIDE(UINT, rx_packets, "received by the node"),
		BESIDE(UINT, tx_packets, "sent by the node"),
		BESIDE(OBJECT, device, "what DPDK's driver counted", .fields = device_fields),
		BESIDE(OBJECT, kernel, "what the kernel counted at the interface",
				.fields = kernel_fields, HS_SCHEMA_IF(struct beside, has_kernel)),
		{NULL},
};

static json_t *beside(const struct hs_node *node, const struct hs_port_counters *ports)
{
	json_t *list = json_array();
	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		struct hs_port *port = hs_node_port(node, i);
		struct beside item = {port->config.name, ports[i].rx_packets, ports[i].tx_packets};
		hs_port_device_stats(port, &item.device);
		item.has_kernel = port->config.kind == HS_PORT_IFACE &&
				  hs_kernel_stats(port->config.device, &item.kernel) == 0;
		json_array_append_new(list, hs_schema_print(beside_fields, &item));
	}
	return list;
}

// ---- the reply ----

struct audit {
	bool ok;
	uint16_t node_id;
	const char *name;
	json_t *equations, *ports;
};

#define AUDIT(...) HS_SCHEMA_ROW(struct audit, __VA_ARGS__)
const struct hs_schema_field hs_control_audit_fields[] = {
		AUDIT(BOOL, ok, "whether all equations hold"),
		AUDIT(UINT, node_id, "the node's id", .max = UINT16_MAX),
		AUDIT(STRING, name, "the node's name"),
		AUDIT(TAKEN, equations, "what must add up", .items = hs_api_equation_fields),
		AUDIT(TAKEN, ports, "counters of others, to compare with", .items = beside_fields),
		{NULL},
};

json_t *hs_control_audit(struct hs_control *control, struct hs_node *node,
		const struct control_export *exports)
{
	const struct hs_node_config *config = hs_node_config(node);
	struct audit audit = {.node_id = config->id, .name = config->name};
	uint16_t n = hs_node_port_count(node);
	struct hs_port_counters ports[HS_MAX_PORTS];
	json_t *list = json_array();
	struct hs_node_totals totals;
	bool ok = true;

	hs_node_reconcile_tx(node);
	hs_node_snapshot(node, ports);
	for (uint16_t i = 0; i < n; i++)
		ok &= audit_port(list, hs_node_port(node, i)->config.name, &ports[i]);
	ok &= audit_node(list, ports, n);
	ok &= audit_made(control, node, list);
	if (exports->needed)
		ok &= audit_handed(control, node, exports, list);
	if (hs_node_probe_profile(node))
		ok &= audit_probes(node, list);
	hs_control_totals(control, &totals);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		ok &= audit_sum(list, &sums[i], &totals);
	audit.ok = ok;
	audit.equations = list;
	audit.ports = beside(node, ports);
	return hs_schema_print(hs_control_audit_fields, &audit);
}
