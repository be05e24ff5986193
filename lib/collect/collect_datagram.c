// SPDX-License-Identifier: BSD-3-Clause
// Reads the reports of datagrams.
#include "collect_fast_datagram.h"
#include "collect_hop.h"

#include "int_report_head.h"

#include <errno.h>

// ---- refusals ----

static void refuse(struct hs_collect *c, enum hs_collect_refusal reason,
		const struct hs_collect_datagram *datagram)
{
	size_t len = datagram->len < HS_COLLECT_KEPT ? datagram->len : HS_COLLECT_KEPT;

	c->counters.refused[reason]++;
	if (c->first_refused[reason].any)
		return;
	memcpy(c->first_refused[reason].bytes, datagram->bytes, len);
	c->first_refused[reason].len = len;
	c->first_refused[reason].whole_len = datagram->len;
	c->first_refused[reason].any = true;
}

// ---- values of the reporter ----

#define OWN_VALUES                                                                                 \
	(HS_INT_REPORT_PORTS | HS_INT_REPORT_LATENCY | HS_INT_REPORT_QUEUE |                       \
			HS_INT_REPORT_EGRESS_TIME | HS_INT_REPORT_PORTS_L2 |                       \
			HS_INT_REPORT_UTILISATION | HS_INT_REPORT_BUFFER)

static void set_own_latency(enum hs_int_report_version version, const struct hs_int_report *report,
		struct hs_collect_values *own)
{
	const uint16_t times = HS_INT_REPORT_INGRESS_TIME | HS_INT_REPORT_EGRESS_TIME;
	uint64_t mask = version == HS_INT_REPORT_2_0 ? UINT64_MAX : UINT32_MAX;

	if (report->has & HS_INT_REPORT_LATENCY) {
		own->latency = report->hop_latency_ns;
		own->has |= HS_COLLECT_HAS_LATENCY;
	} else if ((report->has & times) == times &&
			hs_collect_latency_of_times(report->ingress_ns, report->egress_ns, mask,
					&own->latency)) {
		own->has |= HS_COLLECT_HAS_LATENCY;
	}
}

static void set_own(enum hs_int_report_version version, const struct hs_int_report *report,
		struct hs_collect_view *view)
{
	struct hs_collect_values *own = &view->own;

	view->device_ns = report->has & HS_INT_REPORT_INGRESS_TIME ? report->ingress_ns : 0;
	view->dropped = report->dropped;
	view->reason = report->has & HS_INT_REPORT_DROP ? report->drop_reason : 0;
	own->node_id = report->has & HS_INT_REPORT_NODE ? report->node_id : UINT32_MAX;
	view->has_reporter = own->node_id != UINT32_MAX;
	if (!view->has_reporter)
		return;
	view->has_own = report->has & OWN_VALUES;
	own->q = report->congested;
	own->device_ns = report->has & HS_INT_REPORT_EGRESS_TIME ? report->egress_ns : 0;
	set_own_latency(version, report, own);
	if (report->has & HS_INT_REPORT_QUEUE) {
		own->queue_id = report->queue_id;
		own->occupancy = report->queue_packets;
		own->has |= HS_COLLECT_HAS_OCCUPANCY | HS_COLLECT_HAS_OWN_QUEUE;
	}
	own->has |= hs_collect_tells_q(own);
	own->port = report->egress_port;
	own->utilisation = report->link_utilisation;
	bool no_port = own->port == UINT16_MAX;
	own->has |= report->has & HS_INT_REPORT_PORTS && !no_port ? HS_COLLECT_HAS_PORT : 0;
	own->has |= report->has & HS_INT_REPORT_UTILISATION ? HS_COLLECT_HAS_UTILISATION : 0;
}

// ---- reports ----

static bool is_packet(uint8_t inner)
{
	return inner >= HS_INT_INNER_ETHERNET && inner <= HS_INT_INNER_IPV6;
}

// Finds the packet among parts that each have a type and a length. Returns false if a part goes
// beyond the report.
static bool find_in_parts(
		const struct hs_int_report_reader *r, uint8_t *inner, size_t *at, size_t *bytes)
{
	struct hs_int_report_tlv part;
	size_t cursor = r->packet_at, end = r->packet_at + r->packet_bytes;
	int rc = hs_int_report_tlv_next(r, &cursor, end, &part);

	*inner = HS_INT_INNER_NONE;
	for (; rc == 1; rc = hs_int_report_tlv_next(r, &cursor, end, &part)) {
		if (!is_packet(part.inner) || *inner != HS_INT_INNER_NONE)
			continue;
		*inner = part.inner;
		*at = part.at;
		*bytes = part.bytes;
	}
	return !rc;
}

// Returns whether the reporter is a hop in addition to those of the stack.
static bool is_one_more(const struct hs_collect_view *view)
{
	struct hs_collect_values newest;

	hs_collect_read_hop(view->dialect, view->layout, view->hops, &newest);
	return view->has_own && newest.node_id != view->own.node_id;
}

// Returns -1, or why the report is refused.
static int read_report(struct hs_collect *c, const struct hs_int_report_reader *r,
		const struct hs_int_report *report, struct hs_collect_view *view)
{
	uint8_t inner = report->inner;
	size_t at = r->packet_at, bytes = r->packet_bytes;
	int refused = -1;

	if (r->mismatch && !c->dialects[r->version].lenient)
		return HS_COLLECT_REFUSED_BITS;
	if (inner > HS_INT_INNER_IPV6)
		return HS_COLLECT_REFUSED_KIND;
	if (inner == HS_INT_INNER_TLV && !find_in_parts(r, &inner, &at, &bytes))
		return HS_COLLECT_REFUSED_LENGTH;
	set_own(r->version, report, view);
	view->dialect = &c->dialects[r->version];
	if (r->version == HS_INT_REPORT_2_0 && is_packet(inner))
		bytes = hs_collect_without_fill(inner, r->bytes + at, bytes);
	if (is_packet(inner))
		refused = hs_collect_read_packet(
				c, r->version, inner, report->tracked, r->bytes + at, bytes, view);
	if (refused < 0 && view->n_hops == HS_COLLECT_MAX_HOPS && is_one_more(view))
		refused = HS_COLLECT_REFUSED_HOPS;
	hs_collect_close_view(c, view, report->intermediate);
	return refused;
}

// Returns why the reader refused the report.
static enum hs_collect_refusal reason_of(const struct hs_int_report_reader *r)
{
	bool kind_1_0 = r->version == HS_INT_REPORT_1_0 && r->bytes[1] >> 5 > 2;
	bool kind_0_5 = r->version == HS_INT_REPORT_0_5 && (r->bytes[0] & 15) > 2;

	if (kind_1_0 || kind_0_5)
		return HS_COLLECT_REFUSED_KIND;
	return r->mismatch ? HS_COLLECT_REFUSED_BITS : HS_COLLECT_REFUSED_LENGTH;
}

static void take_report(struct hs_collect *c, const struct hs_int_report_reader *r,
		const struct hs_int_report *report, const struct hs_collect_datagram *datagram)
{
	struct hs_collect_view *view = &c->views[c->n_views];

	hs_collect_clear_view(view);
	int refused = read_report(c, r, report, view);
	if (refused >= 0) {
		refuse(c, (enum hs_collect_refusal)refused, datagram);
		return;
	}
	hs_collect_keep_view(c, view);
}

// ---- datagrams ----

static uint16_t takes_of(const struct hs_collect *c, const struct hs_collect_datagram *datagram)
{
	const uint16_t both = HS_INT_REPORT_TAKE_0_5 | HS_INT_REPORT_TAKE_1_0;
	uint16_t takes = c->takes;

	if (!c->config.intercollector)
		return takes;
	bool both_taken = (takes & both) == both;
	bool is_0_5 = both_taken ? datagram->len && !(datagram->bytes[0] & 15)
				 : takes & HS_INT_REPORT_TAKE_0_5;
	return takes | (is_0_5 ? HS_INT_REPORT_TAKE_1_AS_0_5 : HS_INT_REPORT_TAKE_SHORT_1_0);
}

static size_t head_bytes(enum hs_int_report_version version)
{
	static const uint8_t bytes[] = {HS_INT_REPORT_0_5_BYTES, HS_INT_REPORT_1_0_BYTES,
			HS_INT_REPORT_2_0_GROUP_BYTES};

	return bytes[version];
}

static struct hs_collect_exporter_entry *note_exporter(struct hs_collect *c,
		const struct hs_int_report_reader *r, const struct hs_collect_datagram *datagram)
{
	struct hs_collect_exporter_key key = {
			.is_ipv4 = datagram->is_ipv4, .listener = datagram->listener};
	uint32_t sequence = r->sequence;

	memcpy(key.address, datagram->address, sizeof(key.address));
	key.hw_id = r->bytes[3] & 63;
	if (r->version == HS_INT_REPORT_0_5) {
		sequence = hs_be32_load(r->bytes + 4);
	} else if (r->version == HS_INT_REPORT_1_0) {
		key.has_node = true;
		key.node_id = hs_be32_load(r->bytes + 4);
		sequence = hs_be32_load(r->bytes + 8);
	} else {
		key.has_node = true;
		key.node_id = r->node_id;
		key.hw_id = r->hw_id;
	}
	return hs_collect_note_exporter(c, &key, r->version, sequence);
}

static void note_node(
		struct hs_collect_exporter_entry *exporter, const struct hs_int_report *report)
{
	exporter->reports++;
	if (exporter->has_node || !(report->has & HS_INT_REPORT_NODE))
		return;
	exporter->has_node = true;
	exporter->node_id = report->node_id;
}

// `is_plain`: reports of 1.0 may take the fast path.
static void take_datagram(
		struct hs_collect *c, const struct hs_collect_datagram *datagram, bool is_plain)
{
	struct hs_int_report_reader r;
	struct hs_int_report report;

	c->counters.datagrams++;
	c->last = NULL;
	if (is_plain) {
		int refused = hs_collect_fast_datagram(c, datagram);
		if (refused >= 0)
			refuse(c, (enum hs_collect_refusal)refused, datagram);
		if (refused != HS_COLLECT_FAST_NOT)
			return;
	}
	int rc = hs_int_report_open(&r, datagram->bytes, datagram->len, takes_of(c, datagram));
	if (rc == -EPROTONOSUPPORT) {
		refuse(c, HS_COLLECT_REFUSED_VERSION, datagram);
		return;
	}
	if (rc || datagram->len < head_bytes(r.version)) {
		refuse(c, HS_COLLECT_REFUSED_SHORT, datagram);
		return;
	}
	c->counters.datagrams_read++;
	struct hs_collect_exporter_entry *exporter = note_exporter(c, &r, datagram);
	for (rc = hs_int_report_next(&r, &report); rc; rc = hs_int_report_next(&r, &report)) {
		c->counters.reports++;
		if (exporter)
			note_node(exporter, &report);
		if (rc == 1)
			take_report(c, &r, &report, datagram);
		else
			refuse(c, reason_of(&r), datagram);
	}
	c->counters.reports += r.skipped;
	c->counters.reports_skipped += r.skipped;
}

// Sets the time. `second` orders the entries by when they were seen, so it never goes back. If it
// went back with the clock, all entries would seem to be of the future.
static void set_time(struct hs_collect *c, int64_t now_ns)
{
	uint32_t second = (uint32_t)(now_ns / HS_COLLECT_SECOND_NS) + c->set_back_s;

	if (c->second && (int32_t)(second - c->second) < 0) {
		c->set_back_s += c->second - second;
		second = c->second;
	}
	c->second = second;
	c->second_ns = now_ns - now_ns % HS_COLLECT_SECOND_NS;
	c->now_ns = now_ns;
}

void hs_collect_ahead(struct hs_collect *collect, const struct hs_collect_ahead *ahead)
{
	const uint8_t *const *buffers = (const uint8_t *const *)ahead->buffers;
	size_t half = ahead->skip + ahead->bytes / 128 * 64, end = ahead->skip + ahead->bytes;

	collect->asks[0] =
			(struct hs_collect_asks){buffers, buffers + ahead->n, 0, ahead->skip, half};
	collect->asks[1] =
			(struct hs_collect_asks){buffers, buffers + ahead->n, half, half + 64, end};
}

// Prefetches the lines that are left.
static void end_asks(struct hs_collect_asks *asks)
{
	while (asks->buffer != asks->end)
		hs_collect_ask(asks);
}

void hs_collect_take(struct hs_collect *collect, const struct hs_collect_datagram *datagrams,
		unsigned n, int64_t now_ns)
{
	bool is_plain = collect->plain_1_0 && !collect->general;

	set_time(collect, now_ns);
	for (unsigned i = 0; i < n;) {
		take_datagram(collect, &datagrams[i++], is_plain);
		if (collect->last)
			i += hs_collect_take_likes(collect, &datagrams[i], n - i);
	}
	hs_collect_apply_views(collect);
	end_asks(&collect->asks[0]);
	end_asks(&collect->asks[1]);
}
