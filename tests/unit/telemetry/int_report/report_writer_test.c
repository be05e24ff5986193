// SPDX-License-Identifier: BSD-3-Clause
// What a writer does where there is little room, and what it refuses.
#include "report_test.h"

#include <stdlib.h>

#define N_VERSIONS (HS_INT_REPORT_2_0 + 1)

static const struct hs_int_report all = {
		.has = UINT16_MAX,
		.inner = HS_INT_INNER_ETHERNET,
		.hw_id = 1,
		.node_id = 2,
		.sequence = 3,
		.ingress_port = 4,
		.egress_port = 5,
		.hop_latency_ns = 6,
		.queue_id = 7,
		.queue_packets = 8,
		.ingress_ns = 9,
		.egress_ns = 10,
		.ingress_port_l2 = 11,
		.egress_port_l2 = 12,
		.link_utilisation = 13,
		.buffer_id = 14,
		.buffer_used = 15,
		.drop_queue_id = 16,
		.drop_reason = 17,
};

static int write_into(enum hs_int_report_version version, const struct hs_int_report *report,
		size_t room, size_t packet_bytes, size_t *len)
{
	uint8_t packet[64] = {0xaa, 0xbb, 0xcc, 0xdd, 0xee};
	uint8_t *bytes = malloc(room ? room : 1); // the exact size, for the sanitizer
	struct hs_int_report_writer w;
	assert_non_null(bytes);
	hs_int_report_begin(&w, version, bytes, room);
	int rc = hs_int_report_add(&w, report, packet, packet_bytes);
	*len = w.len;
	free(bytes);
	return rc;
}

static void a_packet_is_cut_where_the_room_ends(void **state)
{
	(void)state;
	for (enum hs_int_report_version v = 0; v < N_VERSIONS; v++) {
		size_t head = hs_int_report_bytes(v, &all), len;
		for (size_t room = 0; room < head + 80; room++) {
			int rc = write_into(v, &all, room, 50, &len);
			assert_int_equal(rc, room < head ? -ENOSPC : 0);
			size_t fits = room < head + 50 ? room : head + 50;
			if (v == HS_INT_REPORT_2_0) // whole words
				fits = room < head + 52 ? room - room % 4 : head + 52;
			assert_int_equal(len, room < head ? 0 : fits);
		}
	}
}

// The values that a version can carry: bits of struct hs_int_report.has.
static const uint16_t carried[N_VERSIONS] = {
		[HS_INT_REPORT_0_5] = 0xdc01,
		[HS_INT_REPORT_1_0] = 0xfd01,
		[HS_INT_REPORT_2_0] = 0xff81,
};

static void values_that_a_version_lacks_are_left_out(void **state)
{
	(void)state;
	for (enum hs_int_report_version v = 0; v < N_VERSIONS; v++) {
		uint8_t bytes[256];
		struct hs_int_report_writer w;
		struct hs_int_report_reader r;
		struct hs_int_report report;
		hs_int_report_begin(&w, v, bytes, sizeof(bytes));
		assert_int_equal(hs_int_report_add(&w, &all, NULL, 0), 0);
		assert_int_equal(hs_int_report_open(&r, bytes, w.len, TAKE_ALL), 0);
		assert_int_equal(hs_int_report_next(&r, &report), 1);
		uint16_t carries = carried[v];
		if (v == HS_INT_REPORT_0_5) // a drop header, or a local one
			carries &= (uint16_t) ~(HS_INT_REPORT_QUEUE | HS_INT_REPORT_EGRESS_TIME);
		assert_int_equal(report.has, carries);
		assert_int_equal(report.drop_reason, 17);
		assert_int_equal(report.ingress_ns, 9);
	}
}

static void what_0_5_does_not_know_is_all_ones(void **state)
{
	(void)state;
	static const struct {
		uint16_t has;
		const char *local;
	} cases[] = {
			{HS_INT_REPORT_PORTS, "0000000200040005ffffffffffffffff"},
			{HS_INT_REPORT_QUEUE, "00000002ffffffff07000008ffffffff"},
			{HS_INT_REPORT_EGRESS_TIME, "00000002ffffffffffffffff0000000a"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint16_t base = HS_INT_REPORT_NODE | HS_INT_REPORT_INGRESS_TIME;
		uint8_t bytes[64], local[16];
		struct hs_int_report report = all;
		struct hs_int_report_writer w;
		struct hs_int_report_reader r;
		unhex(cases[i].local, local);
		report.has = base | cases[i].has;
		hs_int_report_begin(&w, HS_INT_REPORT_0_5, bytes, sizeof(bytes));
		assert_int_equal(hs_int_report_add(&w, &report, NULL, 0), 0);
		assert_memory_equal(bytes + 12, local, sizeof(local));
		assert_int_equal(hs_int_report_open(&r, bytes, w.len, TAKE_ALL), 0);
		assert_int_equal(hs_int_report_next(&r, &report), 1);
		assert_int_equal(report.has, base | cases[i].has);
	}
}

static void a_greater_occupancy_is_the_greatest(void **state)
{
	(void)state;
	const uint32_t given[] = {0xfffffe, 0xffffff, 0x1000000, UINT32_MAX};
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		uint8_t bytes[256];
		struct hs_int_report report = all;
		struct hs_int_report_writer w;
		struct hs_int_report_reader r;
		report.queue_packets = report.buffer_used = given[i];
		hs_int_report_begin(&w, HS_INT_REPORT_2_0, bytes, sizeof(bytes));
		assert_int_equal(hs_int_report_add(&w, &report, NULL, 0), 0);
		assert_int_equal(hs_int_report_open(&r, bytes, w.len, TAKE_ALL), 0);
		assert_int_equal(hs_int_report_next(&r, &report), 1);
		assert_int_equal(report.queue_packets, i ? 0xffffff : 0xfffffe);
		assert_int_equal(report.buffer_used, report.queue_packets);
		assert_int_equal(report.queue_id, 7);
	}
}

static void what_a_version_cannot_write_is_refused(void **state)
{
	(void)state;
	size_t len;
	struct hs_int_report report = all;
	report.hw_id = 64;
	for (enum hs_int_report_version v = 0; v < N_VERSIONS; v++)
		assert_int_equal(write_into(v, &report, 256, 0, &len), -EINVAL);
	report = all;
	report.has &= (uint16_t)~HS_INT_REPORT_NODE;
	for (enum hs_int_report_version v = 0; v < N_VERSIONS; v++)
		assert_int_equal(write_into(v, &report, 256, 0, &len), -EINVAL);
	report.has = HS_INT_REPORT_INGRESS_TIME; // 0.5 alone has a form without a node
	assert_int_equal(write_into(HS_INT_REPORT_0_5, &report, 256, 0, &len), 0);
	assert_int_equal(len, 12);
	report = all;
	report.has &= (uint16_t)~HS_INT_REPORT_INGRESS_TIME;
	assert_int_equal(write_into(HS_INT_REPORT_0_5, &report, 256, 0, &len), -EINVAL);
	assert_int_equal(write_into(HS_INT_REPORT_1_0, &report, 256, 0, &len), -EINVAL);
	assert_int_equal(write_into(HS_INT_REPORT_2_0, &report, 256, 0, &len), 0);
	for (unsigned inner = 0; inner < 18; inner++) {
		report = all;
		report.inner = (uint8_t)inner;
		bool ethernet = inner == HS_INT_INNER_ETHERNET;
		bool packet = ethernet || inner == HS_INT_INNER_IPV4 || inner == HS_INT_INNER_IPV6;
		assert_int_equal(write_into(HS_INT_REPORT_0_5, &report, 256, 0, &len),
				ethernet ? 0 : -EINVAL);
		assert_int_equal(write_into(HS_INT_REPORT_1_0, &report, 256, 0, &len),
				packet ? 0 : -EINVAL);
		assert_int_equal(write_into(HS_INT_REPORT_2_0, &report, 256, 0, &len),
				inner < 16 ? 0 : -EINVAL);
	}
	report = all;
	report.domain_words = 255; // with the values more than MD Length can say
	report.domain = (const uint8_t[1020]){0};
	assert_int_equal(write_into(HS_INT_REPORT_2_0, &report, 4096, 0, &len), -EINVAL);
}

static void a_datagram_takes_reports_of_one_reporter_only(void **state)
{
	(void)state;
	uint8_t bytes[512];
	struct hs_int_report_writer w;
	struct hs_int_report other = all;
	for (enum hs_int_report_version v = 0; v < HS_INT_REPORT_2_0; v++) {
		hs_int_report_begin(&w, v, bytes, sizeof(bytes));
		assert_int_equal(hs_int_report_add(&w, &all, NULL, 0), 0);
		size_t len = w.len;
		assert_int_equal(hs_int_report_add(&w, &all, NULL, 0), -ENOSPC);
		assert_int_equal(w.len, len);
	}
	hs_int_report_begin(&w, HS_INT_REPORT_2_0, bytes, sizeof(bytes));
	assert_int_equal(hs_int_report_add(&w, &all, NULL, 0), 0);
	size_t len = w.len;
	other.hw_id = 2;
	assert_int_equal(hs_int_report_add(&w, &other, NULL, 0), -EINVAL);
	other = all;
	other.node_id = 3;
	assert_int_equal(hs_int_report_add(&w, &other, NULL, 0), -EINVAL);
	assert_int_equal(w.len, len);
	assert_int_equal(hs_int_report_add(&w, &all, NULL, 0), 0);
	assert_int_equal(w.len, 2 * len - 8);
}

static void as_many_reports_as_fit_are_read_again(void **state)
{
	(void)state;
	uint8_t bytes[1400], packet[64];
	struct hs_int_report_writer w;
	struct hs_int_report_reader r;
	struct hs_int_report report = all;
	size_t written = 0;
	memset(packet, 0x5a, sizeof(packet));
	hs_int_report_begin(&w, HS_INT_REPORT_2_0, bytes, sizeof(bytes));
	for (; !hs_int_report_add(&w, &report, packet, 1 + written % 5); written++)
		report.egress_ns++;
	assert_in_range(written, 10, 30);
	assert_int_equal(hs_int_report_open(&r, bytes, w.len, TAKE_ALL), 0);
	for (size_t i = 0; i < written; i++) {
		assert_int_equal(hs_int_report_next(&r, &report), 1);
		assert_int_equal(report.egress_ns, all.egress_ns + i);
		size_t whole = (1 + i % 5 + 3) / 4 * 4;
		if (i + 1 < written) // the last one's copy ends where the room ends
			assert_int_equal(r.packet_bytes, whole);
		for (size_t b = 0; b < r.packet_bytes; b++)
			assert_int_equal(bytes[r.packet_at + b], b < 1 + i % 5 ? 0x5a : 0);
	}
	assert_int_equal(hs_int_report_next(&r, &report), 0);
}

static void a_long_packet_ends_a_datagram(void **state)
{
	(void)state;
	static uint8_t bytes[4096], packet[2048];
	struct hs_int_report_reader r;
	struct hs_int_report report = {.has = HS_INT_REPORT_NODE, .inner = HS_INT_INNER_IPV4};
	for (size_t n = 1000; n < 1040; n++) {
		struct hs_int_report_writer w;
		hs_int_report_begin(&w, HS_INT_REPORT_2_0, bytes, sizeof(bytes));
		assert_int_equal(hs_int_report_add(&w, &report, packet, n), 0);
		assert_int_equal(bytes[9], (n + 3) / 4 < 0xff ? (n + 3) / 4 : 0xff);
		int more = hs_int_report_add(&w, &report, packet, 4);
		assert_int_equal(more, (n + 3) / 4 < 0xff ? 0 : -ENOSPC);
		assert_int_equal(hs_int_report_open(&r, bytes, w.len, TAKE_ALL), 0);
		struct hs_int_report read;
		assert_int_equal(hs_int_report_next(&r, &read), 1);
		assert_int_equal(r.packet_bytes, (n + 3) / 4 * 4);
		assert_int_equal(hs_int_report_next(&r, &read), more ? 0 : 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_is_cut_where_the_room_ends),
			cmocka_unit_test(values_that_a_version_lacks_are_left_out),
			cmocka_unit_test(what_0_5_does_not_know_is_all_ones),
			cmocka_unit_test(a_greater_occupancy_is_the_greatest),
			cmocka_unit_test(what_a_version_cannot_write_is_refused),
			cmocka_unit_test(a_datagram_takes_reports_of_one_reporter_only),
			cmocka_unit_test(as_many_reports_as_fit_are_read_again),
			cmocka_unit_test(a_long_packet_ends_a_datagram),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
