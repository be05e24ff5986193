// SPDX-License-Identifier: BSD-3-Clause
// From a record of the ring to a report. The option bytes are written out by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "flexint.h"
#include "report.h"

#include <errno.h>
#include <string.h>

static const uint8_t TRACE[] = {0, 0, 0, 7, // namespace
		0x70, 0x00, 0xE0, 0x00,	    // trace type
		// node 2, the nearest to the sink: all fields
		0, 2, 0xE0, 0x00, 0x01, 0x02, 0x01, 0x03, 0, 0, 0, 0, 0, 0, 0x10, 0x00, 0, 0, 0x20,
		0x00, 0, 0, 0x20, 0x10,
		// node 1: packets only
		0, 1, 0x80, 0x00, 0xFF, 0xFE, 0xFF, 0xFF};
static const uint8_t E2E[] = {0x70, 0x00, 0, 0, 0, 0, 0, 0, 0x0F, 0xFF, 0x80, 0, 0, 1, 0, 0, 0, 9};

static struct hs_report_record record_of(size_t trace_len, size_t e2e_len)
{
	struct hs_report_record record = {
			.sink_ts_ns = 1234,
			.sink_rx_packets = 5000000000ull,
			.sink_rx_bytes = 6000000000ull,
			.trace_len = (uint8_t)trace_len,
			.e2e_len = (uint8_t)e2e_len,
	};
	memcpy(record.data, TRACE, trace_len < sizeof(TRACE) ? trace_len : sizeof(TRACE));
	if (trace_len <= sizeof(TRACE))
		memcpy(record.data + trace_len, E2E, e2e_len < sizeof(E2E) ? e2e_len : sizeof(E2E));
	return record;
}

static void a_record_becomes_the_report_that_the_bytes_say(void **state)
{
	(void)state;
	struct hs_report_record record = record_of(sizeof(TRACE), sizeof(E2E));
	struct hs_report report;
	assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), 0);
	const struct hs_decoded *telemetry = &report.telemetry;
	assert_int_equal(telemetry->ns_id, 7);
	assert_int_equal(telemetry->trace_type, 0x7000E000);
	assert_int_equal(telemetry->e2e.bitmap, 0x7000);
	assert_int_equal(telemetry->e2e.ts_ns, 0x0FFF);
	assert_int_equal(telemetry->e2e.tx_packets, 0x80000001);
	assert_int_equal(telemetry->e2e.tx_bytes, 9);
	assert_int_equal(telemetry->n_hops, 2);
	assert_int_equal(telemetry->hops[0].node_id, 2);
	assert_int_equal(telemetry->hops[0].tx_packets, 0x0102);
	assert_int_equal(telemetry->hops[0].rx_packets, 0x0103);
	assert_int_equal(telemetry->hops[0].ts_ns, 0x1000);
	assert_int_equal(telemetry->hops[0].tx_bytes, 0x2000);
	assert_int_equal(telemetry->hops[0].rx_bytes, 0x2010);
	assert_int_equal(telemetry->hops[1].node_id, 1);
	assert_int_equal(telemetry->hops[1].bitmap, 0x8000);
	assert_int_equal(telemetry->hops[1].rx_packets, 0xFFFF);
	assert_int_equal(report.sink_ts_ns, 1234);
	assert_int_equal(report.sink_rx_packets, 5000000000ull);
	assert_int_equal(report.sink_rx_bytes, 6000000000ull);
}

static void a_record_cut_within_an_entry_is_refused(void **state)
{
	(void)state;
	struct hs_report report;
	for (size_t len = 0; len < sizeof(TRACE); len++) {
		bool boundary = len == 8 || len == 8 + 24;
		struct hs_report_record record = record_of(len, sizeof(E2E));
		assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report),
				boundary ? 0 : -EBADMSG);
	}
	for (size_t len = 0; len < sizeof(E2E); len++) {
		struct hs_report_record record = record_of(sizeof(TRACE), len);
		assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), -EBADMSG);
	}
}

static void lengths_beyond_the_record_are_refused(void **state)
{
	(void)state;
	struct hs_report report;
	struct hs_report_record record = record_of(sizeof(TRACE), 255);
	record.trace_len = 255;
	assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), -EBADMSG);
	record.trace_len = 30;
	assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), -EBADMSG);
}

static void an_entry_with_an_unknown_bit_is_refused(void **state)
{
	(void)state;
	struct hs_report report;
	struct hs_report_record record = record_of(sizeof(TRACE), sizeof(E2E));
	record.data[8 + 3] = 0x01;
	assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_record_becomes_the_report_that_the_bytes_say),
			cmocka_unit_test(a_record_cut_within_an_entry_is_refused),
			cmocka_unit_test(lengths_beyond_the_record_are_refused),
			cmocka_unit_test(an_entry_with_an_unknown_bit_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
