// SPDX-License-Identifier: BSD-3-Clause
// Any datagram is read within its bytes, and what was read says the same once it is written and
// read again. The first byte of the input says what is taken.
#include "fuzz.h"

#include "int_report_reader.h"
#include "int_report_writer.h"

#include <string.h>

// A value that the version keeps is the same; what a report says beside its values, too.
static void is_same(const struct hs_int_report *a, const struct hs_int_report *b)
{
	HOLDS(a->has == b->has && a->inner == b->inner && a->hw_id == b->hw_id);
	HOLDS(a->dropped == b->dropped && a->congested == b->congested && a->tracked == b->tracked);
	HOLDS(a->intermediate == b->intermediate && a->sequence == b->sequence);
	HOLDS(a->node_id == b->node_id && a->queue_id == b->queue_id);
	HOLDS(a->queue_packets == b->queue_packets && a->hop_latency_ns == b->hop_latency_ns);
	HOLDS(a->ingress_ns == b->ingress_ns && a->egress_ns == b->egress_ns);
	HOLDS(a->ingress_port == b->ingress_port && a->egress_port == b->egress_port);
	HOLDS(a->ingress_port_l2 == b->ingress_port_l2 && a->egress_port_l2 == b->egress_port_l2);
	HOLDS(a->link_utilisation == b->link_utilisation && a->buffer_id == b->buffer_id);
	HOLDS(a->buffer_used == b->buffer_used && a->drop_reason == b->drop_reason);
	HOLDS(a->drop_queue_id == b->drop_queue_id && a->domain_id == b->domain_id);
	HOLDS(a->domain_bits == b->domain_bits && a->domain_status == b->domain_status);
	HOLDS(a->domain_words == b->domain_words);
	HOLDS(!a->domain_words || !memcmp(a->domain, b->domain, 4u * a->domain_words));
}

static void write_again(const struct hs_int_report_reader *r, const struct hs_int_report *report)
{
	const uint16_t all =
			HS_INT_REPORT_TAKE_0_5 | HS_INT_REPORT_TAKE_1_0 | HS_INT_REPORT_TAKE_2_0;
	size_t room = r->len + 64; // of packets without a kind nothing is copied
	uint8_t *bytes = malloc(room);
	struct hs_int_report_writer w;
	struct hs_int_report_reader again;
	struct hs_int_report read;
	HOLDS(bytes);
	hs_int_report_begin(&w, r->version, bytes, room);
	HOLDS(!hs_int_report_add(&w, report, r->bytes + r->packet_at, r->packet_bytes));
	HOLDS(w.len <= room);
	HOLDS(!hs_int_report_open(&again, bytes, w.len, all));
	HOLDS(hs_int_report_next(&again, &read) == 1);
	HOLDS(!again.mismatch);
	is_same(&read, report);
	if (report->inner) {
		HOLDS(again.packet_bytes >= r->packet_bytes);
		HOLDS(!memcmp(bytes + again.packet_at, r->bytes + r->packet_at, r->packet_bytes));
	}
	free(bytes);
}

static void read_parts(const struct hs_int_report_reader *r)
{
	struct hs_int_report_tlv tlv;
	size_t cursor = r->packet_at, end = r->packet_at + r->packet_bytes;
	while (hs_int_report_tlv_next(r, &cursor, end, &tlv) == 1)
		HOLDS(tlv.at >= r->packet_at && tlv.bytes <= end - tlv.at);
}

// The values that a version can carry: bits of struct hs_int_report.has.
static const uint16_t carried[] = {
		[HS_INT_REPORT_0_5] = 0xdc01,
		[HS_INT_REPORT_1_0] = 0xfd01,
		[HS_INT_REPORT_2_0] = 0xff81,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_int_report_reader r;
	struct hs_int_report report;
	if (!size || hs_int_report_open(&r, data + 1, size - 1, data[0]))
		return 0;
	for (int rc = 1; rc;) {
		size_t before = r.at;
		rc = hs_int_report_next(&r, &report);
		HOLDS(r.at <= r.len && (r.at > before || !rc));
		if (rc != 1)
			continue;
		HOLDS(r.packet_at <= r.len && r.packet_bytes <= r.len - r.packet_at);
		HOLDS(!(report.has & ~carried[r.version]));
		// 0.5 writes a node_id only beside another value.
		if (r.version != HS_INT_REPORT_0_5 ||
				report.has & ~(HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME) ||
				!(report.has & HS_INT_REPORT_NODE))
			write_again(&r, &report);
		if (report.inner == HS_INT_INNER_TLV)
			read_parts(&r);
	}
	return 0;
}
