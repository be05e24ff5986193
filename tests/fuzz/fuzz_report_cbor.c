// SPDX-License-Identifier: BSD-3-Clause
// A report that was read is written and read again with the same result. Workers see its namespace
// or nothing.
#include "fuzz.h"

#include "report_cbor.h"

#define ROOM 4096 // more than eight options: a peer may send 61 hops of all fields

static void assert_same_e2e(const struct hs_e2e *a, const struct hs_e2e *b)
{
	HOLDS(a->bitmap == b->bitmap && a->int_packets == b->int_packets && a->ts_ns == b->ts_ns);
	HOLDS(a->tx_packets == b->tx_packets && a->tx_bytes == b->tx_bytes);
}

static void assert_same_hop(const struct hs_hop *a, const struct hs_hop *b)
{
	HOLDS(a->node_id == b->node_id && a->bitmap == b->bitmap && a->ts_ns == b->ts_ns);
	HOLDS(a->tx_packets == b->tx_packets && a->rx_packets == b->rx_packets);
	HOLDS(a->tx_bytes == b->tx_bytes && a->rx_bytes == b->rx_bytes);
}

static void assert_same(const struct hs_report *a, const struct hs_report *b)
{
	const struct hs_decoded *x = &a->telemetry, *y = &b->telemetry;
	HOLDS(a->sink_ts_ns == b->sink_ts_ns && a->sink_rx_packets == b->sink_rx_packets);
	HOLDS(a->sink_rx_bytes == b->sink_rx_bytes);
	HOLDS(x->ns_id == y->ns_id && x->trace_type == y->trace_type && x->n_hops == y->n_hops);
	assert_same_e2e(&x->e2e, &y->e2e);
	for (unsigned i = 0; i < x->n_hops; i++)
		assert_same_hop(&x->hops[i], &y->hops[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hs_report report, again;
	struct hs_report_sender sender, sender_again;
	struct hs_error err = {0};
	static uint8_t bytes[ROOM];
	uint32_t ns_id = hs_report_cbor_ns_id(data, size);

	if (hs_report_from_cbor(data, size, &report, &sender, &err)) {
		HOLDS(hs_error_is_set(&err));
		return 0;
	}
	HOLDS(ns_id == 0 || ns_id == report.telemetry.ns_id);
	int len = hs_report_to_cbor(&report, &sender, bytes, sizeof(bytes));
	HOLDS(len > 0);
	HOLDS(hs_report_cbor_ns_id(bytes, (size_t)len) == report.telemetry.ns_id);
	HOLDS(hs_report_from_cbor(bytes, (size_t)len, &again, &sender_again, &err) == 0);
	HOLDS(sender.app_id == sender_again.app_id);
	HOLDS(sender.sink_node_id == sender_again.sink_node_id);
	assert_same(&report, &again);
	return 0;
}
