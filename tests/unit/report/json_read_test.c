// SPDX-License-Identifier: BSD-3-Clause
// Published reports read back: against a text written by hand, against the writer, and what is
// wrong with the text in any one place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "flexint.h"
#include "report_json.h"
#include "rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Of docs/api.md, with a hop that gave its stamp only.
static const char TEXT[] =
		"{'int_report': {'seq': 1, 'node_id': 8, 'boot_id': 'b-1', 'ns_id': 7, 'app_id': 3,"
		"'trace_type': '0x7000E000',"
		"'e2e': {'ts_ns': 1700000000000000001, 'tx_packets': 1000, 'tx_bytes': 562000},"
		"'sink': {'node_id': 9, 'ts_ns': 1700000000000000005,"
		"'rx_packets': 998, 'rx_bytes': 560876},"
		"'hops': [{'node_id': 1, 'trace_type': '0xE000', 'ts_ns': 33, 'tx_packets': 1000,"
		"'rx_packets': 1001, 'tx_bytes': 4, 'rx_bytes': 5},"
		"{'node_id': 2, 'trace_type': '0x4000', 'ts_ns': 44}]}}";

static json_t *parse(const char *text)
{
	char quoted[1024];
	size_t n = strlen(text);
	assert_true(n < sizeof(quoted));
	for (size_t i = 0; i <= n; i++)
		quoted[i] = (char)(text[i] == '\'' ? '"' : text[i]);
	json_t *json = json_loads(quoted, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	return json;
}

static int read_text(const char *text, struct hs_report_message *message, struct hs_error *err)
{
	json_t *json = parse(text);
	int rc = hs_report_from_json(json, &hs_flexint_family, message, err);
	json_decref(json);
	return rc;
}

static void a_published_report_is_read_with_its_origin(void **state)
{
	(void)state;
	struct hs_report_message message;
	const struct hs_decoded *telemetry = &message.report.telemetry;
	assert_int_equal(read_text(TEXT, &message, NULL), 0);
	assert_true(message.has_origin);
	assert_int_equal(message.seq, 1);
	assert_int_equal(message.node_id, 8);
	assert_string_equal(message.boot_id, "b-1");
	assert_int_equal(message.app_id, 3);
	assert_int_equal(message.sink_node_id, 9);
	assert_int_equal(message.report.sink_ts_ns, 1700000000000000005);
	assert_int_equal(message.report.sink_rx_packets, 998);
	assert_int_equal(message.report.sink_rx_bytes, 560876);
	assert_int_equal(telemetry->ns_id, 7);
	assert_int_equal(telemetry->trace_type, 0x7000E000);
	assert_int_equal(telemetry->e2e.bitmap, 0x7000);
	assert_int_equal(telemetry->e2e.int_packets, 0);
	assert_int_equal(telemetry->e2e.ts_ns, 1700000000000000001);
	assert_int_equal(telemetry->e2e.tx_packets, 1000);
	assert_int_equal(telemetry->e2e.tx_bytes, 562000);
	assert_int_equal(telemetry->n_hops, 2);
	const struct hs_hop *near = &telemetry->hops[0], *far = &telemetry->hops[1];
	assert_int_equal(near->node_id, 2);
	assert_int_equal(near->bitmap, 0x4000);
	assert_int_equal(near->ts_ns, 44);
	assert_int_equal(near->tx_packets, 0);
	assert_int_equal(far->node_id, 1);
	assert_int_equal(far->bitmap, 0xE000);
	assert_int_equal(far->ts_ns, 33);
	assert_int_equal(far->tx_packets, 1000);
	assert_int_equal(far->rx_packets, 1001);
	assert_int_equal(far->tx_bytes, 4);
	assert_int_equal(far->rx_bytes, 5);
}

// Values of fields that are not in a bitmap are 0 in a report that was read.
static struct hs_report any_report(struct hs_rng *rng)
{
	struct hs_report report;
	memset(&report, 0, sizeof(report));
	report.sink_ts_ns = (int64_t)(hs_rng_u64(rng) >> 1);
	report.sink_rx_packets = hs_rng_u64(rng) >> 1;
	report.sink_rx_bytes = hs_rng_u64(rng) >> 1;
	struct hs_decoded *telemetry = &report.telemetry;
	telemetry->ns_id = hs_rng_u32(rng) | 1;
	telemetry->trace_type = hs_rng_u32(rng);
	uint16_t bits = telemetry->e2e.bitmap = (uint16_t)(hs_rng_u32(rng) % 16 << 12);
	telemetry->e2e.int_packets = bits & HS_E2E_INT_PACKETS ? hs_rng_u32(rng) : 0;
	telemetry->e2e.ts_ns = bits & HS_E2E_TIMESTAMP ? hs_rng_u64(rng) >> 1 : 0;
	telemetry->e2e.tx_packets = bits & HS_E2E_TX_PACKETS ? hs_rng_u32(rng) : 0;
	telemetry->e2e.tx_bytes = bits & HS_E2E_TX_BYTES ? hs_rng_u32(rng) : 0;
	telemetry->n_hops = (uint16_t)(hs_rng_u32(rng) % (HS_FLEXINT_MAX_HOPS + 1));
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		struct hs_hop *hop = &telemetry->hops[i];
		hop->node_id = (uint16_t)hs_rng_u32(rng);
		bits = hop->bitmap = (uint16_t)(hs_rng_u32(rng) % 8 << 13);
		hop->tx_packets = bits & HS_HOP_PACKETS ? (uint16_t)hs_rng_u32(rng) : 0;
		hop->rx_packets = bits & HS_HOP_PACKETS ? (uint16_t)hs_rng_u32(rng) : 0;
		hop->ts_ns = bits & HS_HOP_TIMESTAMP ? hs_rng_u64(rng) >> 1 : 0;
		hop->tx_bytes = bits & HS_HOP_BYTES ? hs_rng_u32(rng) : 0;
		hop->rx_bytes = bits & HS_HOP_BYTES ? hs_rng_u32(rng) : 0;
	}
	return report;
}

// Each value of what the nodes and the source say of themselves is there or not.
static void add_locals(struct hs_rng *rng, struct hs_decoded *telemetry)
{
	for (unsigned i = 0; i <= telemetry->n_hops; i++) {
		struct hs_hop_local *local = &telemetry->locals[i];
		local->has = (uint16_t)(hs_rng_u32(rng) % 256);
#define HS_LOCAL_VALUE(bit, member)                                                                \
	local->member = local->has & (bit) ? (__typeof__(local->member))hs_rng_u32(rng) : 0;
#include "telemetry_values.def"
	}
}

static void check_hops(const struct hs_decoded *a, const struct hs_decoded *b)
{
	assert_int_equal(a->n_hops, b->n_hops);
	for (unsigned i = 0; i < a->n_hops; i++) {
		const struct hs_hop *x = &a->hops[i], *y = &b->hops[i];
		assert_int_equal(x->node_id, y->node_id);
		assert_int_equal(x->bitmap, y->bitmap);
		assert_int_equal(x->tx_packets, y->tx_packets);
		assert_int_equal(x->rx_packets, y->rx_packets);
		assert_int_equal(x->ts_ns, y->ts_ns);
		assert_int_equal(x->tx_bytes, y->tx_bytes);
		assert_int_equal(x->rx_bytes, y->rx_bytes);
	}
	for (unsigned i = 0; i <= a->n_hops; i++)
		assert_memory_equal(&a->locals[i], &b->locals[i], sizeof(a->locals[i]));
}

static void check_same(const struct hs_report *a, const struct hs_report *b)
{
	const struct hs_e2e *x = &a->telemetry.e2e, *y = &b->telemetry.e2e;
	assert_int_equal(a->sink_ts_ns, b->sink_ts_ns);
	assert_int_equal(a->sink_rx_packets, b->sink_rx_packets);
	assert_int_equal(a->sink_rx_bytes, b->sink_rx_bytes);
	assert_int_equal(a->telemetry.ns_id, b->telemetry.ns_id);
	assert_int_equal(a->telemetry.trace_type, b->telemetry.trace_type);
	assert_int_equal(x->bitmap, y->bitmap);
	assert_int_equal(x->int_packets, y->int_packets);
	assert_int_equal(x->ts_ns, y->ts_ns);
	assert_int_equal(x->tx_packets, y->tx_packets);
	assert_int_equal(x->tx_bytes, y->tx_bytes);
	check_hops(&a->telemetry, &b->telemetry);
}

static void any_report_that_was_written_is_read_back_the_same(void **state)
{
	(void)state;
	static char text[HS_REPORT_TEXT_BYTES];
	struct hs_rng rng;
	hs_rng_init(&rng, 5);
	for (unsigned round = 0; round < 500; round++) {
		struct hs_report report = any_report(&rng);
		struct hs_telemetry_family family = hs_flexint_family;
		family.has_locals = round % 3 == 0;
		report.telemetry.family = &family;
		if (family.has_locals)
			add_locals(&rng, &report.telemetry);
		struct hs_report_origin origin = {
				hs_rng_u64(&rng) >> 1, (uint16_t)hs_rng_u32(&rng), "0123-abcd"};
		uint32_t app_id = hs_rng_u32(&rng);
		uint16_t sink = (uint16_t)hs_rng_u32(&rng);
		bool told = round % 2;
		struct hs_report_message message;
		assert_true(hs_report_text(&report, app_id, sink, told ? &origin : NULL, text,
					    sizeof(text)) > 0);
		json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		assert_int_equal(hs_report_from_json(json, &family, &message, NULL), 0);
		json_decref(json);
		check_same(&message.report, &report);
		assert_int_equal(message.app_id, app_id);
		assert_int_equal(message.sink_node_id, sink);
		assert_int_equal(message.has_origin, told);
		assert_int_equal(message.seq, told ? origin.seq : 0);
		assert_int_equal(message.node_id, told ? origin.node_id : 0);
		assert_string_equal(message.boot_id, told ? origin.boot_id : "");
	}
}

// What a report says of its format and of nodes without ids, and who reads it.
static void a_report_names_its_format_and_no_other_family_reads_it(void **state)
{
	(void)state;
	static const struct hs_telemetry_family named = {.name = "int-2.1",
			.method = "int",
			.version = "2.1",
			.packet_bits = 32,
			.max_node_id = UINT32_MAX,
			.has_locals = true};
	static const struct hs_telemetry_family *const both[] = {&hs_flexint_family, &named, NULL};
	static struct hs_report report;
	struct hs_report_message message;
	struct hs_error err = {0};
	char text[2048];
	report.telemetry.family = &named;
	report.telemetry.ns_id = 7;
	report.telemetry.n_hops = 2;
	report.telemetry.nodes_missing = true;
	report.telemetry.e2e.node_id = 4000000000;
	report.telemetry.hops[0].node_id = HS_NODE_UNKNOWN;
	report.telemetry.hops[1].node_id = 0;
	assert_true(hs_report_text(&report, 3, 9, NULL, text, sizeof(text)) > 0);
	json_t *json = json_loads(text, 0, NULL);
	json_t *content = json_object_get(json, "int_report");
	assert_string_equal(json_string_value(json_object_get(content, "method")), "int");
	assert_string_equal(json_string_value(json_object_get(content, "version")), "2.1");
	assert_ptr_equal(hs_report_family(json, both, &err), &named);
	assert_int_equal(hs_report_from_json(json, &named, &message, &err), 0);
	assert_int_equal(message.report.telemetry.e2e.node_id, 4000000000);
	assert_int_equal(message.report.telemetry.hops[0].node_id, HS_NODE_UNKNOWN);
	assert_int_equal(message.report.telemetry.hops[1].node_id, 0);
	assert_true(message.report.telemetry.nodes_missing);
	assert_int_equal(hs_report_from_json(json, &hs_flexint_family, &message, &err), -EINVAL);
	json_object_set_new(content, "version", json_string("9"));
	assert_null(hs_report_family(json, both, &err));
	assert_string_equal(err.path, "int_report.method");
	assert_int_equal(hs_report_from_json(json, &named, &message, &err), -EINVAL);
	json_object_del(content, "method");
	json_object_del(content, "version");
	assert_ptr_equal(hs_report_family(json, both, &err), &hs_flexint_family);
	assert_int_equal(hs_report_from_json(json, &named, &message, &err), -EINVAL);
	json_decref(json);
}

// 64 unsigned bits do not fit JSON's integers: what is beyond was capped by the writer.
static void a_value_beyond_63_bits_is_read_as_it_was_published(void **state)
{
	(void)state;
	char text[2048];
	struct hs_report report = {.sink_ts_ns = -5, .sink_rx_packets = UINT64_MAX};
	struct hs_report_message message;
	report.telemetry.ns_id = 1;
	report.telemetry.e2e = (struct hs_e2e){HS_E2E_TIMESTAMP, 0, UINT64_MAX, 0, 0};
	assert_true(hs_report_text(&report, 3, 9, NULL, text, sizeof(text)) > 0);
	assert_int_equal(read_text(text, &message, NULL), 0);
	assert_int_equal(message.report.sink_ts_ns, 0);
	assert_int_equal(message.report.sink_rx_packets, INT64_MAX);
	assert_int_equal(message.report.telemetry.e2e.ts_ns, INT64_MAX);
}

static void what_a_newer_node_says_besides_is_passed_over(void **state)
{
	(void)state;
	struct hs_report_message message, plain;
	json_t *json = parse(TEXT), *content = json_object_get(json, "int_report");
	assert_int_equal(hs_report_from_json(json, &hs_flexint_family, &plain, NULL), 0);
	json_object_set_new(json, "more", json_true());
	json_object_set_new(content, "more", json_true());
	json_object_set_new(json_object_get(content, "e2e"), "more", json_true());
	json_object_set_new(json_object_get(content, "sink"), "more", json_true());
	json_object_set_new(
			json_array_get(json_object_get(content, "hops"), 0), "more", json_true());
	assert_int_equal(hs_report_from_json(json, &hs_flexint_family, &message, NULL), 0);
	check_same(&message.report, &plain.report);
	json_decref(json);
}

// One change of the text, and the error that says where.
static const struct {
	const char *from, *to, *code, *path;
} wrong[] = {
		{"'int_report'", "'qos_report'", "missing_field", "int_report"},
		{"'seq': 1, ", "", "missing_field", "int_report.seq"},
		{"'seq': 1", "'seq': -1", "out_of_range", "int_report.seq"},
		{"'node_id': 8, ", "", "missing_field", "int_report.node_id"},
		{"'node_id': 8", "'node_id': 65536", "out_of_range", "int_report.node_id"},
		{"'boot_id': 'b-1', ", "", "missing_field", "int_report.boot_id"},
		{"'b-1'", "7", "wrong_type", "int_report.boot_id"},
		{"'b-1'", "'0123456789012345678901234567890123456789'", "out_of_range",
				"int_report.boot_id"},
		{"'ns_id': 7, ", "", "missing_field", "int_report.ns_id"},
		{"'ns_id': 7", "'ns_id': 0", "out_of_range", "int_report.ns_id"},
		{"'ns_id': 7", "'ns_id': 4294967296", "out_of_range", "int_report.ns_id"},
		{"'ns_id': 7", "'ns_id': 7.0", "wrong_type", "int_report.ns_id"},
		{"'app_id': 3,", "", "missing_field", "int_report.app_id"},
		{"'app_id': 3", "'app_id': '3'", "wrong_type", "int_report.app_id"},
		{"'trace_type': '0x7000E000',", "", "missing_field", "int_report.trace_type"},
		{"'0x7000E000'", "1879105536", "wrong_type", "int_report.trace_type"},
		{"'0x7000E000'", "'0x7000E00G'", "out_of_range", "int_report.trace_type"},
		{"'0x7000E000'", "'0x7000E0001'", "out_of_range", "int_report.trace_type"},
		{"'0x7000E000'", "'0x7000E00'", "out_of_range", "int_report.trace_type"},
		{"'0x7000E000'", "'007000E000'", "out_of_range", "int_report.trace_type"},
		{"'e2e'", "'e3e'", "missing_field", "int_report.e2e"},
		{"'tx_bytes': 562000", "'tx_bytes': 4294967296", "out_of_range",
				"int_report.e2e.tx_bytes"},
		{"'tx_bytes': 562000", "'tx_bytes': null", "wrong_type", "int_report.e2e.tx_bytes"},
		{"'sink'", "'sunk'", "missing_field", "int_report.sink"},
		{"'node_id': 9, ", "", "missing_field", "int_report.sink.node_id"},
		{"'node_id': 9", "'node_id': 65536", "out_of_range", "int_report.sink.node_id"},
		{"'ts_ns': 1700000000000000005,", "", "missing_field", "int_report.sink.ts_ns"},
		{"'rx_packets': 998, ", "", "missing_field", "int_report.sink.rx_packets"},
		{"'rx_bytes': 560876", "'rx_bytes': -1", "out_of_range",
				"int_report.sink.rx_bytes"},
		{"'hops'", "'hips'", "missing_field", "int_report.hops"},
		{"'node_id': 1, ", "", "missing_field", "int_report.hops[0].node_id"},
		{"'0x4000'", "'0x5000'", "out_of_range", "int_report.hops[1].trace_type"},
		{"'0x4000'", "'0x04000'", "out_of_range", "int_report.hops[1].trace_type"},
		{"'0x4000'", "'0x6000'", "missing_field", "int_report.hops[1].tx_bytes"},
		{"'0x4000'", "'0x0000'", "out_of_range", "int_report.hops[1].ts_ns"},
		{"'tx_packets': 1000,'", "'tx_packets': 65536,'", "out_of_range",
				"int_report.hops[0].tx_packets"},
		{"'rx_bytes': 5}", "'rx_bytes': []}", "wrong_type", "int_report.hops[0].rx_bytes"},
		{", 'rx_bytes': 5}", "}", "missing_field", "int_report.hops[0].rx_bytes"},
		{"{'node_id': 2, 'trace_type': '0x4000', 'ts_ns': 44}", "2", "wrong_type",
				"int_report.hops[1]"},
};

static void each_thing_wrong_is_an_error_that_names_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[1024];
		struct hs_report_message message;
		struct hs_error err = {0};
		const char *at = strstr(TEXT, wrong[i].from);
		assert_non_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - TEXT), TEXT, wrong[i].to,
				at + strlen(wrong[i].from));
		int rc = read_text(text, &message, &err);
		if (rc != -EINVAL || strcmp(err.code, wrong[i].code) != 0 ||
				strcmp(err.path, wrong[i].path) != 0)
			fail_msg("%s for %s: %d %s %s", wrong[i].to, wrong[i].from, rc, err.code,
					err.path);
		assert_string_not_equal(err.expected, "");
	}
}

static void what_is_no_object_or_array_is_an_error(void **state)
{
	(void)state;
	static const struct {
		const char *text, *path;
	} cases[] = {{"[]", ""}, {"{'int_report': 7}", "int_report"}};
	static const char *const members[] = {"e2e", "sink", "hops"};
	struct hs_report_message message;
	struct hs_error err;
	for (size_t i = 0; i < 2; i++) {
		err = (struct hs_error){0};
		assert_int_equal(read_text(cases[i].text, &message, &err), -EINVAL);
		assert_string_equal(err.code, "wrong_type");
		assert_string_equal(err.path, cases[i].path);
	}
	for (size_t i = 0; i < 3; i++) {
		json_t *json = parse(TEXT);
		json_object_set_new(json_object_get(json, "int_report"), members[i], json_true());
		err = (struct hs_error){0};
		assert_int_equal(hs_report_from_json(json, &hs_flexint_family, &message, &err),
				-EINVAL);
		assert_string_equal(err.code, "wrong_type");
		json_decref(json);
	}
}

static void a_report_of_more_hops_than_a_packet_carries_is_an_error(void **state)
{
	(void)state;
	struct hs_report_message message;
	struct hs_error err = {0};
	json_t *json = parse(TEXT), *hops = json_array();
	json_object_set_new(json_object_get(json, "int_report"), "hops", hops);
	for (unsigned i = 0; i < HS_FLEXINT_MAX_HOPS; i++)
		json_array_append_new(hops,
				json_pack("{s:i, s:s}", "node_id", 1, "trace_type", "0x0000"));
	assert_int_equal(hs_report_from_json(json, &hs_flexint_family, &message, &err), 0);
	json_array_append(hops, json_array_get(hops, 0));
	assert_int_equal(hs_report_from_json(json, &hs_flexint_family, &message, &err), -EINVAL);
	assert_string_equal(err.path, "int_report.hops");
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_published_report_is_read_with_its_origin),
			cmocka_unit_test(any_report_that_was_written_is_read_back_the_same),
			cmocka_unit_test(a_report_names_its_format_and_no_other_family_reads_it),
			cmocka_unit_test(a_value_beyond_63_bits_is_read_as_it_was_published),
			cmocka_unit_test(what_a_newer_node_says_besides_is_passed_over),
			cmocka_unit_test(each_thing_wrong_is_an_error_that_names_it),
			cmocka_unit_test(what_is_no_object_or_array_is_an_error),
			cmocka_unit_test(a_report_of_more_hops_than_a_packet_carries_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
