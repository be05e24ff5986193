// SPDX-License-Identifier: BSD-3-Clause
// Reports in CBOR against vectors of an independent encoder (tests/golden/report), then against
// themselves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_cbor.h"
#include "rng.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *vectors;

static size_t unhex(const json_t *hex, uint8_t *bytes, size_t size)
{
	const char *text = json_string_value(hex);
	size_t n = strlen(text) / 2;
	assert_true(n <= size);
	for (size_t i = 0; i < n; i++) {
		unsigned byte;
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return n;
}

static uint64_t member(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void fill(const json_t *vector, struct hs_report *report, struct hs_report_sender *sender)
{
	const json_t *e2e = json_object_get(vector, "e2e"), *sink = json_object_get(vector, "sink");
	const json_t *hops = json_object_get(vector, "hops");
	struct hs_decoded *telemetry = &report->telemetry;
	*sender = (struct hs_report_sender){(uint32_t)member(vector, "app_id"),
			(uint16_t)member(vector, "sink_node_id")};
	*report = (struct hs_report){.sink_ts_ns = (int64_t)member(sink, "ts_ns"),
			.sink_rx_packets = member(sink, "rx_packets"),
			.sink_rx_bytes = member(sink, "rx_bytes")};
	telemetry->ns_id = (uint32_t)member(vector, "ns_id");
	telemetry->trace_type = (uint32_t)member(vector, "trace_type");
	telemetry->e2e = (struct hs_e2e){(uint16_t)(telemetry->trace_type >> 16 & HS_E2E_KNOWN),
			(uint32_t)member(e2e, "int_packets"), member(e2e, "ts_ns"),
			(uint32_t)member(e2e, "tx_packets"), (uint32_t)member(e2e, "tx_bytes")};
	telemetry->n_hops = (uint16_t)json_array_size(hops);
	for (size_t i = 0; i < telemetry->n_hops; i++) {
		const json_t *hop = json_array_get(hops, telemetry->n_hops - 1 - i);
		telemetry->hops[i] = (struct hs_hop){(uint16_t)member(hop, "node_id"),
				(uint16_t)member(hop, "bitmap"),
				(uint16_t)member(hop, "tx_packets"),
				(uint16_t)member(hop, "rx_packets"), member(hop, "ts_ns"),
				(uint32_t)member(hop, "tx_bytes"),
				(uint32_t)member(hop, "rx_bytes")};
	}
}

static void check_e2e(const struct hs_e2e *a, const struct hs_e2e *b)
{
	assert_int_equal(a->bitmap, b->bitmap);
	assert_int_equal(a->int_packets, b->int_packets);
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->tx_packets, b->tx_packets);
	assert_int_equal(a->tx_bytes, b->tx_bytes);
}

static void check_hop(const struct hs_hop *a, const struct hs_hop *b)
{
	assert_int_equal(a->node_id, b->node_id);
	assert_int_equal(a->bitmap, b->bitmap);
	assert_int_equal(a->tx_packets, b->tx_packets);
	assert_int_equal(a->rx_packets, b->rx_packets);
	assert_int_equal(a->ts_ns, b->ts_ns);
	assert_int_equal(a->tx_bytes, b->tx_bytes);
	assert_int_equal(a->rx_bytes, b->rx_bytes);
}

static void check_same(const struct hs_report *a, const struct hs_report_sender *a_sender,
		const struct hs_report *b, const struct hs_report_sender *b_sender)
{
	assert_int_equal(a_sender->app_id, b_sender->app_id);
	assert_int_equal(a_sender->sink_node_id, b_sender->sink_node_id);
	assert_int_equal(a->sink_ts_ns, b->sink_ts_ns);
	assert_int_equal(a->sink_rx_packets, b->sink_rx_packets);
	assert_int_equal(a->sink_rx_bytes, b->sink_rx_bytes);
	assert_int_equal(a->telemetry.ns_id, b->telemetry.ns_id);
	assert_int_equal(a->telemetry.trace_type, b->telemetry.trace_type);
	assert_int_equal(a->telemetry.n_hops, b->telemetry.n_hops);
	check_e2e(&a->telemetry.e2e, &b->telemetry.e2e);
	for (size_t i = 0; i < a->telemetry.n_hops; i++)
		check_hop(&a->telemetry.hops[i], &b->telemetry.hops[i]);
}

// Reads from a block of the exact size, so that the sanitizer sees a byte too many.
static int read_exactly(const uint8_t *bytes, size_t len, struct hs_report *report,
		struct hs_report_sender *sender, struct hs_error *err)
{
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	memset(report, 0xA5, sizeof(*report));
	int rc = hs_report_from_cbor(copy, len, report, sender, err);
	hs_report_cbor_ns_id(copy, len);
	free(copy);
	return rc;
}

static void the_reference_reports_are_written_byte_for_byte(void **state)
{
	(void)state;
	const json_t *vector;
	size_t i;
	json_array_foreach (json_object_get(vectors, "written"), i, vector) {
		struct hs_report report;
		struct hs_report_sender sender;
		uint8_t expected[HS_REPORT_CBOR_BYTES], bytes[HS_REPORT_CBOR_BYTES];
		size_t len = unhex(json_object_get(vector, "cbor"), expected, sizeof(expected));
		fill(vector, &report, &sender);
		assert_int_equal(hs_report_to_cbor(&report, &sender, bytes, sizeof(bytes)), len);
		assert_memory_equal(bytes, expected, len);
		assert_int_equal(hs_report_cbor_ns_id(bytes, len), report.telemetry.ns_id);
	}
	assert_true(i > 40);
}

static void check_read(const char *kind)
{
	const json_t *vector;
	size_t i;
	json_array_foreach (json_object_get(vectors, kind), i, vector) {
		struct hs_report report, expected;
		struct hs_report_sender sender, expected_sender;
		struct hs_error err = {0};
		uint8_t bytes[HS_REPORT_CBOR_BYTES];
		size_t len = unhex(json_object_get(vector, "cbor"), bytes, sizeof(bytes));
		fill(vector, &expected, &expected_sender);
		assert_int_equal(read_exactly(bytes, len, &report, &sender, &err), 0);
		check_same(&report, &sender, &expected, &expected_sender);
		assert_memory_equal(&report.telemetry.nodes_missing, &(bool){false}, sizeof(bool));
	}
	assert_true(i > 3);
}

static void the_reference_reports_are_read(void **state)
{
	(void)state;
	check_read("written");
}

static void other_forms_of_the_same_report_are_read(void **state)
{
	(void)state;
	check_read("read");
}

static void what_is_no_report_is_refused_with_its_reason(void **state)
{
	(void)state;
	const json_t *vector;
	size_t i;
	json_array_foreach (json_object_get(vectors, "refused"), i, vector) {
		struct hs_report report;
		struct hs_report_sender sender;
		struct hs_error err = {0};
		uint8_t bytes[HS_REPORT_CBOR_BYTES];
		size_t len = unhex(json_object_get(vector, "cbor"), bytes, sizeof(bytes));
		int rc = read_exactly(bytes, len, &report, &sender, &err);
		const char *code = json_string_value(json_object_get(vector, "code"));
		if (rc != -EINVAL || strcmp(err.code, code) != 0)
			fail_msg("%s: %d, %s instead of %s",
					json_string_value(json_object_get(vector, "name")), rc,
					err.code, code);
		assert_true(strcmp(code, "not_cbor") == 0 || err.path[0]);
		assert_string_not_equal(err.expected, "");
	}
	assert_true(i > 40);
}

static void each_truncation_is_refused(void **state)
{
	(void)state;
	const json_t *vector;
	size_t i;
	json_array_foreach (json_object_get(vectors, "written"), i, vector) {
		uint8_t bytes[HS_REPORT_CBOR_BYTES];
		size_t len = unhex(json_object_get(vector, "cbor"), bytes, sizeof(bytes));
		for (size_t cut = 0; cut < len; cut++) {
			struct hs_report report;
			struct hs_report_sender sender;
			assert_int_equal(read_exactly(bytes, cut, &report, &sender, NULL), -EINVAL);
		}
	}
}

static struct hs_report any_report(struct hs_rng *rng)
{
	struct hs_report report = {
			.sink_ts_ns = (int64_t)(hs_rng_u64(rng) >> 1),
			.sink_rx_packets = hs_rng_u64(rng) >> hs_rng_u32(rng) % 64,
			.sink_rx_bytes = hs_rng_u64(rng) >> hs_rng_u32(rng) % 64,
	};
	struct hs_decoded *telemetry = &report.telemetry;
	uint16_t bitmap = (uint16_t)(hs_rng_u32(rng) % 16 << 12);
	telemetry->ns_id = hs_rng_u32(rng) | 1;
	telemetry->trace_type = (uint32_t)bitmap << 16 | (hs_rng_u32(rng) & 0x0FFFFFFF);
	telemetry->e2e.bitmap = bitmap;
	telemetry->e2e.int_packets = bitmap & HS_E2E_INT_PACKETS ? hs_rng_u32(rng) : 0;
	telemetry->e2e.ts_ns = bitmap & HS_E2E_TIMESTAMP ? hs_rng_u64(rng) : 0;
	telemetry->e2e.tx_packets = bitmap & HS_E2E_TX_PACKETS ? hs_rng_u32(rng) : 0;
	telemetry->e2e.tx_bytes = bitmap & HS_E2E_TX_BYTES ? hs_rng_u32(rng) : 0;
	telemetry->n_hops = (uint16_t)(hs_rng_u32(rng) % (HS_FLEXINT_MAX_HOPS + 1));
	for (size_t i = 0; i < telemetry->n_hops; i++) {
		struct hs_hop *hop = &telemetry->hops[i];
		hop->node_id = (uint16_t)hs_rng_u32(rng);
		hop->bitmap = (uint16_t)(hs_rng_u32(rng) % 8 << 13);
		if (hop->bitmap & HS_HOP_PACKETS) {
			hop->tx_packets = (uint16_t)hs_rng_u32(rng);
			hop->rx_packets = (uint16_t)hs_rng_u32(rng);
		}
		if (hop->bitmap & HS_HOP_TIMESTAMP)
			hop->ts_ns = hs_rng_u64(rng);
		if (hop->bitmap & HS_HOP_BYTES) {
			hop->tx_bytes = hs_rng_u32(rng);
			hop->rx_bytes = hs_rng_u32(rng);
		}
	}
	return report;
}

static void any_report_comes_back_as_it_went(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 33);
	for (unsigned round = 0; round < 3000; round++) {
		struct hs_report report = any_report(&rng), again;
		struct hs_report_sender sender = {hs_rng_u32(&rng), (uint16_t)hs_rng_u32(&rng)};
		struct hs_report_sender sender_again;
		uint8_t bytes[HS_REPORT_CBOR_BYTES];
		int len = hs_report_to_cbor(&report, &sender, bytes, sizeof(bytes));
		assert_true(len > 0);
		assert_int_equal(read_exactly(bytes, (size_t)len, &again, &sender_again, NULL), 0);
		check_same(&report, &sender, &again, &sender_again);
	}
}

static void a_buffer_that_is_too_small_is_never_overrun(void **state)
{
	(void)state;
	struct hs_rng rng;
	struct hs_report_sender sender = {1, 9};
	uint8_t bytes[HS_REPORT_CBOR_BYTES + 1];
	hs_rng_init(&rng, 4);
	struct hs_report report = any_report(&rng);
	int len = hs_report_to_cbor(&report, &sender, bytes, HS_REPORT_CBOR_BYTES);
	assert_true(len > 100);
	for (size_t size = 0; size < (size_t)len; size++) {
		memset(bytes, 0xEE, sizeof(bytes));
		assert_int_equal(hs_report_to_cbor(&report, &sender, bytes, size), -ENOSPC);
		assert_int_equal(bytes[size], 0xEE);
	}
}

// 000_616928c59136b059.txt, section III-A: the option's 255 bytes carry 61 of the smallest entries,
// ten of the largest.
static void every_report_that_telemetry_can_make_fits_two_options(void **state)
{
	(void)state;
	static const struct {
		uint16_t bitmap, n;
	} cases[] = {{0x0000, 61}, {0x8000, 30}, {0x4000, 20}, {0xC000, 15}, {0xE000, 10}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_report_sender sender = {UINT32_MAX, UINT16_MAX};
		uint8_t bytes[HS_REPORT_CBOR_BYTES];
		struct hs_report report;
		memset(&report, 0xFF, sizeof(report));
		report.sink_ts_ns = INT64_MAX;
		report.telemetry.e2e.bitmap = HS_E2E_KNOWN;
		report.telemetry.n_hops = cases[i].n;
		for (size_t hop = 0; hop < cases[i].n; hop++)
			report.telemetry.hops[hop] = (struct hs_hop){UINT16_MAX, cases[i].bitmap,
					UINT16_MAX, UINT16_MAX, UINT64_MAX, UINT32_MAX, UINT32_MAX};
		assert_in_range(hs_report_to_cbor(&report, &sender, bytes, sizeof(bytes)), 256,
				2 * 255);
	}
}

static void a_peer_that_sent_another_e2e_bitmap_than_it_announced_is_read_as_it_sent(void **state)
{
	(void)state;
	struct hs_report report = {.telemetry = {.ns_id = 3,
						   .trace_type = 0x7000E000,
						   .e2e = {.bitmap = 0x9000,
								   .int_packets = 5,
								   .tx_bytes = 6}}};
	struct hs_report again;
	struct hs_report_sender sender = {1, 2};
	uint8_t bytes[HS_REPORT_CBOR_BYTES];
	int len = hs_report_to_cbor(&report, &sender, bytes, sizeof(bytes));
	assert_int_equal(read_exactly(bytes, (size_t)len, &again, &sender, NULL), 0);
	check_e2e(&again.telemetry.e2e, &report.telemetry.e2e);
	assert_int_equal(again.telemetry.trace_type, 0x9000E000);
}

static void a_worker_finds_the_namespace_in_the_first_bytes_alone(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[12];
		size_t len;
		uint32_t ns_id;
	} cases[] = {
			{{0xA7, 0x00, 0x07}, 3, 7},
			{{0xA1, 0x00, 0x17}, 3, 23},
			{{0xB7, 0x00, 0x18, 0xFF}, 4, 255},
			{{0xA7, 0x00, 0x19, 0x12, 0x34}, 5, 0x1234},
			{{0xA7, 0x00, 0x1A, 0xFF, 0xFE, 0xFD, 0xFC}, 7, 0xFFFEFDFC},
			// cut
			{{0xA7, 0x00, 0x1A, 0xFF, 0xFE, 0xFD}, 6, 0},
			{{0xA7, 0x00, 0x18}, 3, 0},
			{{0xA7, 0x00}, 2, 0},
			{{0}, 0, 0},
			// no map, an empty one, one of indefinite length, another first key
			{{0x87, 0x00, 0x07}, 3, 0},
			{{0xA0, 0x00, 0x07}, 3, 0},
			{{0xBF, 0x00, 0x07}, 3, 0},
			{{0xA7, 0x01, 0x07}, 3, 0},
			// 64 bits, a negative number, text
			{{0xA7, 0x00, 0x1B, 0, 0, 0, 0, 0, 0, 0, 7}, 11, 0},
			{{0xA7, 0x00, 0x1C, 0, 0, 0, 7}, 7, 0},
			{{0xA7, 0x00, 0x27}, 3, 0},
			{{0xA7, 0x00, 0x61, 0x07}, 4, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
				hs_report_cbor_ns_id(cases[i].bytes, cases[i].len), cases[i].ns_id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_reference_reports_are_written_byte_for_byte),
			cmocka_unit_test(the_reference_reports_are_read),
			cmocka_unit_test(other_forms_of_the_same_report_are_read),
			cmocka_unit_test(what_is_no_report_is_refused_with_its_reason),
			cmocka_unit_test(each_truncation_is_refused),
			cmocka_unit_test(any_report_comes_back_as_it_went),
			cmocka_unit_test(a_buffer_that_is_too_small_is_never_overrun),
			cmocka_unit_test(every_report_that_telemetry_can_make_fits_two_options),
			cmocka_unit_test(
					a_peer_that_sent_another_e2e_bitmap_than_it_announced_is_read_as_it_sent),
			cmocka_unit_test(a_worker_finds_the_namespace_in_the_first_bytes_alone),
	};
	json_error_t error;
	vectors = json_load_file(HS_GOLDEN, JSON_REJECT_DUPLICATES, &error);
	if (!vectors) {
		fprintf(stderr, "%s: %s\n", HS_GOLDEN, error.text);
		return 1;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(vectors);
	return failed;
}
