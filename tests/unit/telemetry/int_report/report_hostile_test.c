// SPDX-License-Identifier: BSD-3-Clause
// Reports that are cut off or say wrong lengths.
#include "report_test.h"

#include <stdlib.h>

static const char *const whole[] = {
		TR05_SWITCH_LOCAL, TR05_DROP, TR10_MINIMAL, TR10_PORTS_QUEUE, TR10_DROP, TR20_TWO};

// The bytes of values in front of a packet's copy, of each of these.
static const size_t values[] = {28, 24, 16, 24, 20, 0};

// Opens, and reads all. Returns what the last call said, and counts reports. The bytes are in
// memory of their own, for the sanitizer.
static int read_all(const uint8_t *bytes, size_t len, uint16_t takes, size_t *n)
{
	uint8_t *own = malloc(len ? len : 1);
	struct hs_int_report_reader r;
	struct hs_int_report report;
	assert_non_null(own);
	memcpy(own, bytes, len);
	*n = 0;
	int worst = hs_int_report_open(&r, own, len, takes);
	for (int rc = worst; !worst || rc == -EBADMSG;) {
		rc = hs_int_report_next(&r, &report);
		if (rc == 1)
			(*n)++;
		else if (rc < 0)
			worst = rc;
		else
			break;
		assert_true(r.packet_at <= len && r.packet_bytes <= len - r.packet_at);
	}
	free(own);
	return worst;
}

static int read_hex(const char *hex, size_t *n)
{
	uint8_t bytes[2048];
	size_t len = unhex(hex, bytes);
	return read_all(bytes, len, TAKE_ALL, n);
}

static void a_report_cut_off_in_its_values_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		uint8_t bytes[512];
		size_t len = unhex(whole[i], bytes), n;
		for (size_t cut = 0; cut < len && values[i]; cut++) {
			assert_int_equal(read_all(bytes, cut, TAKE_ALL, &n),
					cut < values[i] ? -EBADMSG : 0);
			assert_int_equal(n, cut < values[i] ? 0 : 1);
		}
	}
}

static void reports_before_a_cut_are_read(void **state)
{
	(void)state;
	uint8_t bytes[512];
	size_t len = unhex(TR20_TWO, bytes), n;
	const size_t first_end = 8 + 4 + 4 * 14;
	assert_int_equal(len, first_end + 4 + 4 * 5);
	for (size_t cut = 0; cut <= len; cut++) {
		bool whole_reports = cut == 8 || cut == first_end || cut == len;
		assert_int_equal(read_all(bytes, cut, TAKE_ALL, &n), whole_reports ? 0 : -EBADMSG);
		assert_int_equal(n, cut < first_end ? 0u : cut < len ? 1u : 2u);
	}
}

static void a_packet_may_end_at_any_byte(void **state)
{
	(void)state;
	uint8_t bytes[512];
	struct hs_int_report_reader r;
	struct hs_int_report report;
	size_t len = unhex(TR05_SWITCH_LOCAL, bytes);
	for (size_t cut = 28; cut <= len; cut++) {
		assert_int_equal(hs_int_report_open(&r, bytes, cut, TAKE_ALL), 0);
		assert_int_equal(hs_int_report_next(&r, &report), 1);
		assert_int_equal(r.packet_at, 28);
		assert_int_equal(r.packet_bytes, cut - 28);
	}
}

static void versions_that_are_not_to_be_taken_are_refused(void **state)
{
	(void)state;
	uint8_t bytes[512];
	size_t n;
	unhex(TR10_MINIMAL, bytes);
	assert_int_equal(read_all(bytes, 16, HS_INT_REPORT_TAKE_0_5 | HS_INT_REPORT_TAKE_2_0, &n),
			-EPROTONOSUPPORT);
	for (unsigned version = 3; version < 16; version++) {
		bytes[0] = (uint8_t)(version << 4);
		assert_int_equal(read_all(bytes, 16, UINT16_MAX, &n), -EPROTONOSUPPORT);
	}
	unhex(TR05_DROP, bytes);
	assert_int_equal(read_all(bytes, 24, HS_INT_REPORT_TAKE_1_0, &n), -EPROTONOSUPPORT);
	unhex(TR20_TWO, bytes);
	assert_int_equal(read_all(bytes, 88, HS_INT_REPORT_TAKE_1_0, &n), -EPROTONOSUPPORT);
}

static void what_0_5_does_not_define_is_refused(void **state)
{
	(void)state;
	uint8_t bytes[512];
	size_t len = unhex(TR05_SWITCH_LOCAL, bytes), n;
	for (unsigned next = 3; next < 16; next++) {
		bytes[0] = (uint8_t)next;
		assert_int_equal(read_all(bytes, len, TAKE_ALL, &n), -EBADMSG);
	}
}

static void a_length_of_1_0_is_compared_with_its_bitmap(void **state)
{
	(void)state;
	uint8_t bytes[512] = {0};
	struct hs_int_report_reader r;
	struct hs_int_report report;
	size_t len = unhex(TR10_PORTS_QUEUE, bytes) + 64;
	for (unsigned length = 0; length < 16; length++) {
		bytes[0] = (uint8_t)(0x10 | length);
		assert_int_equal(hs_int_report_open(&r, bytes, len, TAKE_ALL), 0);
		int rc = hs_int_report_next(&r, &report);
		assert_int_equal(rc, length < 4 ? -EBADMSG : 1);
		if (length < 4)
			continue;
		// The length says where the packet is; values that it contradicts are not believed.
		assert_int_equal(r.mismatch, length != 6);
		assert_int_equal(r.packet_at, 4 * length);
		assert_int_equal(report.has & HS_INT_REPORT_QUEUE,
				length == 6 ? HS_INT_REPORT_QUEUE : 0);
		assert_int_equal(report.node_id, 3);
	}
	bytes[0] = 0x1f;
	assert_int_equal(hs_int_report_open(&r, bytes, 59, TAKE_ALL), 0);
	assert_int_equal(hs_int_report_next(&r, &report), -EBADMSG);
	unhex(TR10_MINIMAL, bytes);
	for (unsigned kind = 3; kind < 8; kind++) {
		bytes[1] = (uint8_t)(kind << 5);
		assert_int_equal(hs_int_report_open(&r, bytes, 16, TAKE_ALL), 0);
		assert_int_equal(hs_int_report_next(&r, &report), -EBADMSG);
	}
}

#define GROUP  "2000000000000001"
#define SECOND "0501000060000000" // of type Inner Only, one word of IPv6

// The second of two reports is read although the first one is wrong, wherever the first one ends.
static void lengths_of_2_0_are_compared_with_each_other(void **state)
{
	(void)state;
	static const struct {
		const char *first;
		size_t reports;
		int rc;
	} cases[] = {
			{"1002000000000000 00000000", 2, 0},
			{"1001000000000000", 1, -EBADMSG},	    // shorter than its fixed part
			{"10000000", 1, -EBADMSG},		    // no fixed part
			{"1002010000000000 00000000", 1, -EBADMSG}, // values beyond the report
			{"1003000040000000 00000000 00010002", 1, -EBADMSG}, // bitmap without bytes
			{"1003010040000000 00000000 00010002", 2, 0},
			{"1003010008000000 00000000 00010002", 1, -EBADMSG}, // 8 bytes in 4
			{"1003010080000000 00000000 00010002", 2, 0},	     // bit 0 has no bytes
			{"1003ff0040000000 00000000 00010002", 1, -EBADMSG}, {"00000000", 2, 0},
			{"0001010060000000", 1, -EBADMSG}, // no values in this type
			{"2001000060000000", 1, 0},	   // IOAM: skipped
			{"f001ff0060000000", 1, 0},	   // reserved: skipped
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char hex[256] = GROUP;
		size_t n, at = strlen(hex);
		for (const char *c = cases[i].first; *c; c++)
			if (*c != ' ')
				hex[at++] = *c;
		strcpy(hex + at, SECOND);
		print_message("%s\n", cases[i].first);
		assert_int_equal(read_hex(hex, &n), cases[i].rc);
		assert_int_equal(n, cases[i].reports);
	}
	size_t n;
	assert_int_equal(read_hex(GROUP "05020000"
					"60000000",
					 &n),
			-EBADMSG); // beyond the datagram
	assert_int_equal(read_hex(GROUP SECOND "050100", &n), -EBADMSG);
	assert_int_equal(n, 1);
	assert_int_equal(read_hex(GROUP, &n), 0);
	assert_int_equal(n, 0);
}

static void the_longest_length_runs_to_the_end(void **state)
{
	(void)state;
	uint8_t bytes[8 + 4 + 4 * 300] = {0};
	struct hs_int_report_reader r;
	struct hs_int_report report;
	unhex(GROUP "03ff0000", bytes);
	for (size_t words = 254; words <= 300; words++) {
		size_t len = 8 + 4 + 4 * words;
		assert_int_equal(hs_int_report_open(&r, bytes, len, TAKE_ALL), 0);
		assert_int_equal(hs_int_report_next(&r, &report), words < 255 ? -EBADMSG : 1);
		assert_int_equal(r.packet_bytes, words < 255 ? 0 : 4 * words);
		assert_int_equal(hs_int_report_next(&r, &report), 0);
	}
}

static void parts_of_a_report_are_read_one_by_one(void **state)
{
	(void)state;
	uint8_t bytes[64];
	struct hs_int_report_reader r;
	struct hs_int_report report;
	struct hs_int_report_tlv tlv;
	size_t len = unhex(GROUP "01070000"
				 "00010777"
				 "cafecafe"
				 "10020000"
				 "0102030405060708"
				 "30000000"
				 "40000000",
			bytes);
	assert_int_equal(hs_int_report_open(&r, bytes, len, TAKE_ALL), 0);
	assert_int_equal(hs_int_report_next(&r, &report), 1);
	assert_int_equal(report.inner, HS_INT_INNER_TLV);
	size_t cursor = r.packet_at, end = r.packet_at + r.packet_bytes;
	assert_int_equal(hs_int_report_tlv_next(&r, &cursor, end, &tlv), 1);
	assert_int_equal(tlv.inner, HS_INT_INNER_DOMAIN);
	assert_int_equal(tlv.template, 0x777);
	assert_int_equal(tlv.bytes, 4);
	assert_int_equal(bytes[tlv.at], 0xca);
	assert_int_equal(hs_int_report_tlv_next(&r, &cursor, end, &tlv), 1);
	assert_int_equal(tlv.inner, HS_INT_INNER_ETHERNET);
	assert_int_equal(bytes[tlv.at], 1);
	assert_int_equal(tlv.bytes, 8);
	assert_int_equal(hs_int_report_tlv_next(&r, &cursor, end, &tlv), 1);
	assert_int_equal(tlv.inner, HS_INT_INNER_IPV6);
	assert_int_equal(hs_int_report_tlv_next(&r, &cursor, end, &tlv), 1);
	assert_int_equal(tlv.inner, HS_INT_INNER_RESERVED);
	assert_int_equal(hs_int_report_tlv_next(&r, &cursor, end, &tlv), 0);
	for (size_t cut = r.packet_at + 1; cut < r.packet_at + 8; cut++) {
		cursor = r.packet_at;
		assert_int_equal(hs_int_report_tlv_next(&r, &cursor, cut, &tlv), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_report_cut_off_in_its_values_is_refused),
			cmocka_unit_test(reports_before_a_cut_are_read),
			cmocka_unit_test(a_packet_may_end_at_any_byte),
			cmocka_unit_test(versions_that_are_not_to_be_taken_are_refused),
			cmocka_unit_test(what_0_5_does_not_define_is_refused),
			cmocka_unit_test(a_length_of_1_0_is_compared_with_its_bitmap),
			cmocka_unit_test(lengths_of_2_0_are_compared_with_each_other),
			cmocka_unit_test(the_longest_length_runs_to_the_end),
			cmocka_unit_test(parts_of_a_report_are_read_one_by_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
