// SPDX-License-Identifier: BSD-3-Clause
// The field table is the one description of the values: what the codec writes, reads and counts is
// compared with a plain walk over the table's rows.
#include "wire_test.h"

#include "bytes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A value of `bytes` bytes at `at` in host order, whatever its width.
static uint64_t host_value(const void *at, size_t bytes)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	switch (bytes) {
	case 2:
		memcpy(&u16, at, 2);
		return u16;
	case 4:
		memcpy(&u32, at, 4);
		return u32;
	default:
		memcpy(&u64, at, 8);
		return u64;
	}
}

static size_t plain_write(bool hop, uint16_t bitmap, const void *values, uint8_t *out)
{
	size_t n = 0;
	for (size_t i = 0; i < hs_flexint_n_fields; i++) {
		const struct hs_telemetry_field *f = &hs_flexint_fields[i];
		if (f->hop != hop || !(bitmap & f->bit))
			continue;
		uint64_t v = host_value((const uint8_t *)values + f->offset, f->bytes);
		for (size_t k = f->bytes; k-- > 0; v >>= 8)
			out[n + k] = (uint8_t)v;
		n += f->bytes;
	}
	return n;
}

static const struct hs_e2e e2e_values = {.int_packets = 0x01020304,
		.ts_ns = 0x1112131415161718,
		.tx_packets = 0x21222324,
		.tx_bytes = 0x31323334};
static const struct hs_hop hop_values = {.node_id = 0x4142,
		.tx_packets = 0x5152,
		.rx_packets = 0x6162,
		.ts_ns = 0xf172737475767778,
		.tx_bytes = 0x81828384,
		.rx_bytes = 0x91929394};

static const char plain_frame[] = "02000000000202000000000186dd6000000000101140"
				  "20010db800000000000000000000000120010db8000000000000000000000002"
				  "1234138900105e94494e544441544121";

static void the_source_writes_the_rows_of_every_bitmap(void **state)
{
	(void)state;
	for (uint32_t bitmap = 0; bitmap <= 0xf000; bitmap += 0x1000) {
		struct hs_packet packet;
		uint8_t should[HS_FLEXINT_MAX_E2E];
		struct hs_e2e e2e = e2e_values;
		e2e.bitmap = (uint16_t)bitmap;
		struct frame frame = frame_from_hex(plain_frame);
		frame_insert_source(&frame, 1, bitmap << 16, HS_LAYOUT_ALIGNED, &e2e);
		frame_parse(&frame, &packet);
		size_t n = plain_write(false, e2e.bitmap, &e2e, should);
		assert_int_equal(frame.bytes[packet.e2e_off + 1], 2 + n);
		assert_memory_equal(frame.bytes + packet.e2e_off + 4, should, n);
		frame_free(&frame);
	}
}

static void a_hop_writes_the_rows_of_every_bitmap_and_no_unknown_bit(void **state)
{
	(void)state;
	struct frame base = frame_from_hex(plain_frame);
	struct hs_e2e e2e = {0};
	frame_insert_source(&base, 1, 0x0000ffff, HS_LAYOUT_PAPER, &e2e);
	for (uint32_t bitmap = 0; bitmap <= 0xffff; bitmap++) {
		struct hs_packet packet;
		uint8_t should[32];
		struct hs_hop hop = hop_values;
		hop.bitmap = (uint16_t)bitmap;
		struct frame frame = frame_of(base.bytes, base.len);
		assert_true(frame_insert_hop(&frame, &hop) >= 0);
		frame_parse(&frame, &packet);
		const uint8_t *entry = frame.bytes + packet.trace_off + 10;
		size_t n = plain_write(true, hop.bitmap, &hop, should);
		assert_int_equal(frame.bytes[packet.trace_off + 1], 8 + 4 + n);
		assert_int_equal(hs_be16_load(entry), hop.node_id);
		assert_int_equal(hs_be16_load(entry + 2), bitmap & HS_HOP_KNOWN);
		assert_memory_equal(entry + 4, should, n);
		frame_free(&frame);
	}
	frame_free(&base);
}

static void keys_are_the_promised_ones_in_wire_order(void **state)
{
	(void)state;
	static const char *const keys[] = {"int_packets", "ts_ns", "tx_packets", "tx_bytes",
			"tx_packets", "rx_packets", "ts_ns", "tx_bytes", "rx_bytes"};
	assert_int_equal(hs_flexint_n_fields, sizeof(keys) / sizeof(keys[0]));
	for (size_t i = 0; i < hs_flexint_n_fields; i++) {
		assert_string_equal(hs_flexint_fields[i].key, keys[i]);
		assert_int_equal(hs_flexint_fields[i].hop, i >= 4);
	}
}

static void the_documents_list_the_rows_in_order(void **state)
{
	(void)state;
	static char page[1 << 16];
	FILE *file = fopen(HS_DOCUMENT, "rb");
	assert_non_null(file);
	size_t len = fread(page, 1, sizeof(page) - 1, file);
	fclose(file);
	page[len] = '\0';
	const char *at = page;
	for (size_t i = 0; i < hs_flexint_n_fields; i++) {
		char row[160];
		const struct hs_telemetry_field *f = &hs_flexint_fields[i];
		snprintf(row, sizeof(row), "\n| %s | 0x%04X | %d | `%s` | %s |\n",
				f->hop ? "HbH" : "E2E", f->bit, f->bytes, f->key, f->name);
		at = strstr(at, row);
		assert_non_null(at);
		at += strlen(row) - 1;
	}
}

static int decode(const char *trace_hex, const char *e2e_hex, struct hs_decoded *out)
{
	struct frame trace = frame_from_hex(trace_hex);
	struct frame e2e = frame_from_hex(e2e_hex);
	int rc = hs_flexint_decode(trace.bytes, trace.len, e2e.bytes, e2e.len, out);
	frame_free(&trace);
	frame_free(&e2e);
	return rc;
}

static void what_does_not_fit_is_not_decoded(void **state)
{
	(void)state;
	struct hs_decoded out;
	const char *head = "0000000770008000";
	assert_int_equal(decode(head, "0000", &out), 0);
	assert_int_equal(decode("00000007700080", "0000", &out), -EBADMSG);
	assert_int_equal(decode(head, "00", &out), -EBADMSG);
	assert_int_equal(decode(head, "2000000000", &out), -EBADMSG);
	assert_int_equal(decode(head, "20000000000000", &out), -EBADMSG);
	assert_int_equal(decode("0000000770008000"
				"000180",
					 "0000", &out),
			-EBADMSG);
	assert_int_equal(decode("0000000770008000"
				"00018000"
				"0001",
					 "0000", &out),
			-EBADMSG);
	assert_int_equal(decode("0000000770008000"
				"00018000"
				"00010001"
				"00",
					 "0000", &out),
			-EBADMSG);
	assert_int_equal(decode("0000000770008000"
				"00018000"
				"00010001",
					 "0000", &out),
			0);
	assert_int_equal(out.n_hops, 1);
}

static void an_unknown_bit_in_an_entry_is_not_decoded(void **state)
{
	(void)state;
	struct hs_decoded out;
	for (unsigned int bit = 0; bit < 13; bit++) {
		char hex[32];
		snprintf(hex, sizeof(hex), "00000007700080000001%04x", 1u << bit);
		assert_int_equal(decode(hex, "0000", &out), -EBADMSG);
	}
	for (unsigned int bit = 0; bit < 12; bit++) {
		char hex[8];
		snprintf(hex, sizeof(hex), "%04x", 1u << bit);
		assert_int_equal(decode("0000000770008000", hex, &out), -EBADMSG);
	}
	// Asked for is not written: unknown bits of the trace type itself harm nobody.
	assert_int_equal(decode("000000077fffffff", "0000", &out), 0);
	assert_int_equal(out.trace_type, 0x7fffffff);
}

static void sixty_one_empty_entries_are_the_most_that_decode(void **state)
{
	(void)state;
	uint8_t trace[HS_FLEXINT_MAX_TRACE + 1] = {0};
	const uint8_t e2e[2] = {0};
	struct {
		struct hs_decoded told;
		uint8_t behind[sizeof(struct hs_hop)];
	} out;
	memset(&out, 0xee, sizeof(out));
	assert_int_equal(hs_flexint_decode(trace, 8 + 61 * 4, e2e, 2, &out.told), 0);
	assert_int_equal(out.told.n_hops, HS_FLEXINT_MAX_HOPS);
	for (size_t rest = 1; rest < 4; rest++)
		assert_int_equal(hs_flexint_decode(trace, 8 + 61 * 4 + rest, e2e, 2, &out.told),
				-EBADMSG);
	for (size_t i = 0; i < sizeof(out.behind); i++)
		assert_int_equal(out.behind[i], 0xee);
	assert_int_equal(hs_flexint_decode(trace, 256, e2e, 2, &out.told), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_source_writes_the_rows_of_every_bitmap),
			cmocka_unit_test(a_hop_writes_the_rows_of_every_bitmap_and_no_unknown_bit),
			cmocka_unit_test(keys_are_the_promised_ones_in_wire_order),
			cmocka_unit_test(the_documents_list_the_rows_in_order),
			cmocka_unit_test(what_does_not_fit_is_not_decoded),
			cmocka_unit_test(an_unknown_bit_in_an_entry_is_not_decoded),
			cmocka_unit_test(sixty_one_empty_entries_are_the_most_that_decode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
