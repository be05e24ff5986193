// SPDX-License-Identifier: BSD-3-Clause
// Checks that every packet on every port and every report adds up.
#include "control_audit.h"
#include "control_parts.h"
#include "control_report.h"
#include "control_totals.h"
#include "kernel_stats.h"

// Reports move while they are counted. This is the number of attempts to find a moment without such
// reports.
#define ATTEMPTS 50

// Adds {"name", ..., "ok", "left", "right", "terms": {...}}. Takes ownership of `terms`.
static bool equation(json_t *list, const char *name, const char *text, const char *port,
		uint64_t left, uint64_t right, json_t *terms)
{
	bool ok = left == right;
	json_t *item = json_pack("{s:s, s:s, s:b, s:I, s:I, s:o}", "name", name, "text", text, "ok",
			(int)ok, "left", (json_int_t)left, "right", (json_int_t)right, "terms",
			terms);
	if (port)
		json_object_set_new(item, "port", json_string(port));
	json_array_append_new(list, item);
	return ok;
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
	ok &= equation(list, "port_out", "offered = tx_packets + drops", name, counters->offered,
			counters->tx_packets + out,
			json_pack("{s:o, s:o, s:o}", "offered", number(counters->offered),
					"tx_packets", number(counters->tx_packets), "drops",
					number(out)));
	return ok;
}

static bool audit_node(json_t *list, const struct hs_port_counters *ports, uint16_t n)
{
	uint64_t forwarded = 0, offered = 0, rx = 0, copies = 0, tx = 0, drops = 0;
	for (uint16_t i = 0; i < n; i++) {
		forwarded += ports[i].forwarded;
		offered += ports[i].offered;
		rx += ports[i].rx_packets;
		copies += ports[i].copies;
		tx += ports[i].tx_packets;
		drops += drops_where(&ports[i], false) + drops_where(&ports[i], true);
	}
	bool ok = equation(list, "handed_over", "forwarded = offered, all ports", NULL, forwarded,
			offered, json_object());
	ok &= equation(list, "node", "rx_packets + copies = tx_packets + drops, all ports", NULL,
			rx + copies, tx + drops,
			json_pack("{s:o, s:o, s:o, s:o}", "rx_packets", number(rx), "copies",
					number(copies), "tx_packets", number(tx), "drops",
					number(drops)));
	return ok;
}

// Counts the reports that workers put into their rings.
static int64_t handed_over(const struct hs_control *control, struct hs_node_totals *totals)
{
	hs_control_totals(control, totals);
	return (int64_t)(totals->reports_made - totals->reports_lost);
}

// Workers add reports while this counts. The reports that were in the rings before must be out of
// them afterwards, and no more may come out than went in. In a quiet moment, both conditions mean
// that nothing waits. Other clients wait meanwhile, so one look is enough if it adds up.
static bool audit_made(struct hs_control *control, json_t *list)
{
	// The two counters of a worker are not read at the same moment: a burst may lie between.
	int64_t slack = HS_BURST * (int64_t)hs_node_config(control->node)->n_workers;
	struct hs_node_totals totals;
	int64_t before, after, taken;
	unsigned attempts = 0;
	bool ok;

	do {
		before = handed_over(control, &totals);
		taken = (int64_t)control->counts.reports_taken;
		if (before > taken)
			hs_control_drain(control, (unsigned)(before - taken));
		taken = (int64_t)control->counts.reports_taken;
		after = handed_over(control, &totals);
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

static bool audit_taken(const struct hs_control *control, json_t *list)
{
	const struct hs_node_totals *counts = &control->counts;
	uint64_t right = counts->reports_published + counts->reports_publish_lost +
			 counts->reports_suppressed + counts->reports_bad + counts->reports_stale;
	return equation(list, "reports_taken",
			"reports_taken = published + publish_lost + suppressed + bad + stale", NULL,
			counts->reports_taken, right,
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "published",
					number(counts->reports_published), "publish_lost",
					number(counts->reports_publish_lost), "suppressed",
					number(counts->reports_suppressed), "bad",
					number(counts->reports_bad), "stale",
					number(counts->reports_stale)));
}

static bool audit_requests(const struct hs_control *control, json_t *list)
{
	const struct hs_node_totals *counts = &control->counts;
	uint64_t right = counts->requests_in_band_installed + counts->requests_in_band_refreshed +
			 counts->requests_in_band_refused + counts->requests_in_band_bad +
			 counts->requests_in_band_replayed + counts->requests_in_band_limited;
	return equation(list, "requests_in_band",
			"received = installed + refreshed + refused + bad + replayed + limited",
			NULL, counts->requests_in_band_received, right,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "installed",
					number(counts->requests_in_band_installed), "refreshed",
					number(counts->requests_in_band_refreshed), "refused",
					number(counts->requests_in_band_refused), "bad",
					number(counts->requests_in_band_bad), "replayed",
					number(counts->requests_in_band_replayed), "limited",
					number(counts->requests_in_band_limited)));
}

static bool audit_piggyback(const struct hs_control *control, json_t *list)
{
	uint64_t waiting = hs_in_band_reports_waiting(control->in_band);
	const struct hs_node_totals *counts = &control->counts;
	uint64_t right = counts->reports_piggyback_sent + counts->reports_piggyback_lost + waiting;
	return equation(list, "reports_piggyback", "queued = sent + lost + waiting", NULL,
			counts->reports_piggyback_queued, right,
			json_pack("{s:o, s:o, s:o}", "sent", number(counts->reports_piggyback_sent),
					"lost", number(counts->reports_piggyback_lost), "waiting",
					number(waiting)));
}

static json_t *device_of(struct hs_port *port)
{
	struct hs_port_device_stats stats;
	hs_port_device_stats(port, &stats);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "rx_packets",
			(json_int_t)stats.rx_packets, "tx_packets", (json_int_t)stats.tx_packets,
			"rx_missed", (json_int_t)stats.rx_missed, "rx_errors",
			(json_int_t)stats.rx_errors, "tx_errors", (json_int_t)stats.tx_errors,
			"rx_nombuf", (json_int_t)stats.rx_nombuf);
}

static json_t *kernel_of(const struct hs_port *port)
{
	struct rtnl_link_stats64 stats;
	if (port->config.kind != HS_PORT_IFACE || hs_kernel_stats(port->config.device, &stats) < 0)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "rx_packets",
			(json_int_t)stats.rx_packets, "tx_packets", (json_int_t)stats.tx_packets,
			"rx_bytes", (json_int_t)stats.rx_bytes, "tx_bytes",
			(json_int_t)stats.tx_bytes, "rx_dropped", (json_int_t)stats.rx_dropped,
			"tx_dropped", (json_int_t)stats.tx_dropped, "rx_errors",
			(json_int_t)stats.rx_errors, "tx_errors", (json_int_t)stats.tx_errors);
}

static json_t *beside(struct hs_control *control, const struct hs_port_counters *ports)
{
	json_t *list = json_array();
	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++) {
		struct hs_port *port = hs_node_port(control->node, i);
		json_t *item = json_pack("{s:s, s:I, s:I, s:o}", "name", port->config.name,
				"rx_packets", (json_int_t)ports[i].rx_packets, "tx_packets",
				(json_int_t)ports[i].tx_packets, "device", device_of(port));
		json_t *kernel = kernel_of(port);
		if (kernel)
			json_object_set_new(item, "kernel", kernel);
		json_array_append_new(list, item);
	}
	return list;
}

json_t *hs_control_audit(struct hs_control *control)
{
	const struct hs_node_config *config = hs_node_config(control->node);
	uint16_t n = hs_node_port_count(control->node);
	struct hs_port_counters ports[HS_MAX_PORTS];
	json_t *list = json_array();
	bool ok = true;

	hs_node_reconcile_tx(control->node);
	hs_node_snapshot(control->node, ports);
	for (uint16_t i = 0; i < n; i++)
		ok &= audit_port(list, hs_node_port(control->node, i)->config.name, &ports[i]);
	ok &= audit_node(list, ports, n);
	ok &= audit_made(control, list);
	ok &= audit_taken(control, list);
	ok &= audit_requests(control, list);
	ok &= audit_piggyback(control, list);
	return json_pack("{s:b, s:i, s:s, s:o, s:o}", "ok", (int)ok, "node_id", config->id, "name",
			config->name, "equations", list, "ports", beside(control, ports));
}
