// SPDX-License-Identifier: BSD-3-Clause
#include "qos_page.h"

#include "duration.h"

#include <inttypes.h>
#include <stdio.h>

#define LABEL_BYTES 24

enum unit {
	NS,    // int64_t
	COUNT, // int64_t or uint64_t below 2^63
	BITS,  // uint64_t of bits a second, shown in bytes
	REAL,
	SMALL, // uint32_t
};

// A metric of hops, and of whole paths if `path` is set.
struct row {
	const char *path, *hop; // NULL: none
	const char *unit;
	const char *help;
	const char *quantile;
	enum unit how;
	uint32_t has;
	size_t offset;
};

#define AT(member) offsetof(struct hs_qos_hop, member)
#define BOTH(name) "hopsight_path_" name, "hopsight_hop_" name
#define HOPS(name) NULL, "hopsight_hop_" name
#define DELAY(quantile, known, member)                                                             \
	{                                                                                          \
		BOTH("delay_window_seconds"), "seconds",                                           \
				"One-way delay in the window; quantile 0.0 is the least, 1.0 the " \
				"greatest",                                                        \
				quantile, NS, HS_QOS_HAS_##known, AT(delay.member)                 \
	}
#define LATENCY(quantile, known, member)                                                           \
	{                                                                                          \
		HOPS("latency_window_seconds"), "seconds",                                         \
				"Time inside the node `from` in the window, as it says; quantile " \
				"0.0 is the least, 1.0 the greatest",                              \
				quantile, NS, HS_QOS_HAS_##known, AT(hop_latency_ns.member)        \
	}
static const struct row rows[] = {
		DELAY("0.0", DELAY, min),
		DELAY("0.5", P50, p50),
		DELAY("0.99", P99, p99),
		DELAY("0.999", P999, p999),
		DELAY("1.0", DELAY, max),
		{BOTH("delay_mean_seconds"), "seconds", "Mean one-way delay in the window", NULL,
				NS, HS_QOS_HAS_DELAY, AT(delay.mean)},
		{BOTH("jitter_seconds"), "seconds", "Mean change of delay between packets", NULL,
				NS, HS_QOS_HAS_JITTER, AT(jitter_ns)},
		{BOTH("jitter_rfc3550_seconds"), "seconds", "Smoothed jitter of RFC 3550", NULL, NS,
				HS_QOS_HAS_JITTER_RFC3550, AT(jitter_rfc3550_ns)},
		{BOTH("pdv_seconds"), "seconds",
				"Packet delay variation: the 99.9th percentile minus the least",
				NULL, NS, HS_QOS_HAS_P999, AT(pdv_ns)},
		{BOTH("throughput_bytes_per_second"), NULL, "Throughput between reports", NULL,
				BITS, HS_QOS_HAS_THROUGHPUT, AT(throughput_bps)},
		{BOTH("window_throughput_bytes_per_second"), NULL,
				"Throughput over the whole window", NULL, BITS,
				HS_QOS_HAS_WINDOW_THROUGHPUT, AT(window_throughput_bps)},
		{BOTH("lost_packets"), "packets",
				"Packets lost in the window, negative where more "
				"came than were sent",
				NULL, COUNT, HS_QOS_HAS_LOSS, AT(lost_packets)},
		{BOTH("tx_packets"), "packets", "Packets sent in the window", NULL, COUNT,
				HS_QOS_HAS_LOSS, AT(tx_packets)},
		{BOTH("rx_packets"), "packets", "Packets received in the window", NULL, COUNT,
				HS_QOS_HAS_RX_PACKETS, AT(rx_packets)},
		{BOTH("rx_bytes"), "bytes", "Bytes received in the window", NULL, COUNT,
				HS_QOS_HAS_BYTES, AT(rx_bytes)},
		{HOPS("node_lost_packets"), "packets",
				"Packets lost inside the node `to` in the window", NULL, COUNT,
				HS_QOS_HAS_NODE_LOSS, AT(node_lost_packets)},
		LATENCY("0.0", HOP_LATENCY, min),
		LATENCY("0.5", LATENCY_P50, p50),
		LATENCY("0.99", LATENCY_P99, p99),
		LATENCY("1.0", HOP_LATENCY, max),
		{HOPS("latency_mean_seconds"), "seconds", "Mean time inside the node `from`", NULL,
				NS, HS_QOS_HAS_HOP_LATENCY, AT(hop_latency_ns.mean)},
		{HOPS("queue_mean_packets"), "packets", "Mean depth of the queue of `from`", NULL,
				REAL, HS_QOS_HAS_QUEUE, AT(queue_packets.mean)},
		{HOPS("queue_max_packets"), "packets", "Greatest depth of the queue of `from`",
				NULL, SMALL, HS_QOS_HAS_QUEUE, AT(queue_packets.max)},
		{HOPS("link_utilisation_mean_ratio"), "ratio",
				"Mean share of the link's rate that `from` used", NULL, REAL,
				HS_QOS_HAS_UTILISATION, AT(link_utilisation_ratio.mean)},
		{HOPS("link_utilisation_max_ratio"), "ratio",
				"Greatest share of the link's rate that `from` used", NULL, REAL,
				HS_QOS_HAS_UTILISATION, AT(link_utilisation_ratio.max)},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

#define GAUGE(name, unit, help)                                                                    \
	(&(const struct hs_prometheus_family){name, help, unit, HS_PROMETHEUS_GAUGE})
#define OF_PATH	  "hopsight_path_"
#define LOSS_HELP "Share of the packets sent that were lost in the window"

// The flow, window and hop of a series.
struct owner {
	char ns_id[LABEL_BYTES], window[HS_DURATION_BYTES];
	char hop[LABEL_BYTES], from[LABEL_BYTES], to[LABEL_BYTES]; // "" for the path
};

static struct owner owner_of(const struct hs_qos_window *window)
{
	struct owner owner = {.hop = ""};

	snprintf(owner.ns_id, sizeof(owner.ns_id), "%" PRIu32, window->ns_id);
	hs_duration_write(window->window_ns, owner.window);
	return owner;
}

static struct hs_prometheus_labels labels_of(
		const struct owner *owner, const char *name, const char *value)
{
	bool hop = owner->hop[0];

	return *HS_PROMETHEUS_LABELS({"ns_id", owner->ns_id}, {"hop", hop ? owner->hop : NULL},
			{"from", hop ? owner->from : NULL}, {"to", hop ? owner->to : NULL},
			{"window", owner->window}, {name, value});
}

static void add_row(struct hs_prometheus *page, const struct row *row, const char *name,
		const struct hs_prometheus_labels *labels, const struct hs_qos_hop *hop)
{
	const void *at = (const char *)hop + row->offset;
	const struct hs_prometheus_family family = {name, row->help, row->unit,
			row->quantile ? HS_PROMETHEUS_SUMMARY : HS_PROMETHEUS_GAUGE};

	switch (row->how) {
	case NS:
		hs_prometheus_ns(page, &family, labels, *(const int64_t *)at);
		return;
	case COUNT:
		hs_prometheus_int(page, &family, labels, *(const int64_t *)at);
		return;
	case BITS:
		hs_prometheus_real(page, &family, labels, (double)*(const uint64_t *)at / 8);
		return;
	case REAL:
		hs_prometheus_real(page, &family, labels, *(const double *)at);
		return;
	case SMALL:
		hs_prometheus_uint(page, &family, labels, *(const uint32_t *)at);
		return;
	}
}

static void add_rows(
		struct hs_prometheus *page, const struct owner *owner, const struct hs_qos_hop *hop)
{
	bool of_hop = owner->hop[0];
	const struct hs_prometheus_labels plain = labels_of(owner, "", NULL);

	for (size_t i = 0; i < N_ROWS; i++) {
		const char *name = of_hop ? rows[i].hop : rows[i].path;
		if (!name || !(hop->has & rows[i].has))
			continue;
		const struct hs_prometheus_labels labels =
				labels_of(owner, "quantile", rows[i].quantile);
		add_row(page, &rows[i], name, &labels, hop);
	}
	if (hop->has & HS_QOS_HAS_LOSS)
		hs_prometheus_real(page,
				of_hop ? GAUGE("hopsight_hop_loss_ratio", "ratio", LOSS_HELP)
				       : GAUGE(OF_PATH "loss_ratio", "ratio", LOSS_HELP),
				&plain, hs_qos_loss_ratio(hop));
}

static void add_flags(struct hs_prometheus *page, const struct owner *owner, uint32_t flags)
{
	for (const struct hs_schema_word *word = hs_qos_flag_words; word->text; word++) {
		const struct hs_prometheus_labels labels = labels_of(owner, "flag", word->text);
		if (flags & word->value)
			hs_prometheus_uint(page,
					GAUGE(OF_PATH "flag", NULL,
							"1 for each flag of the window"),
					&labels, 1);
	}
}

void hs_qos_page_path(struct hs_prometheus *page, const struct hs_qos_window *window)
{
	const struct owner owner = owner_of(window);
	const struct hs_prometheus_labels labels = labels_of(&owner, "", NULL);

	hs_prometheus_uint(page,
			GAUGE(OF_PATH "stale", "boolean",
					"1 where no report came in the window: it has no numbers"),
			&labels, window->stale);
	if (window->stale)
		return;
	hs_prometheus_uint(page, GAUGE(OF_PATH "reports", "reports", "Reports in the window"),
			&labels, window->reports);
	hs_prometheus_ns(page,
			GAUGE(OF_PATH "window_end_timestamp_seconds", "seconds",
					"End of the window, by the sink's clock"),
			&labels, window->end_ns);
	hs_prometheus_uint(page, GAUGE(OF_PATH "hops", "hops", "Links of the path"), &labels,
			window->n_hops);
	add_rows(page, &owner, &window->e2e);
	add_flags(page, &owner, window->flags);
}

static void write_node(char text[LABEL_BYTES], uint32_t node_id)
{
	if (node_id == HS_NODE_UNKNOWN)
		snprintf(text, LABEL_BYTES, "unknown");
	else
		snprintf(text, LABEL_BYTES, "%" PRIu32, node_id);
}

void hs_qos_page_hops(struct hs_prometheus *page, const struct hs_qos_window *window)
{
	struct owner owner = owner_of(window);

	for (unsigned i = 0; i < window->n_hops && !window->stale; i++) {
		const struct hs_qos_hop *hop = &window->hops[i];
		snprintf(owner.hop, sizeof(owner.hop), "%u", i + 1);
		write_node(owner.from, hop->from);
		write_node(owner.to, hop->to);
		add_rows(page, &owner, hop);
	}
}
