// SPDX-License-Identifier: BSD-3-Clause
// Tables that are full, and exporters' sequence numbers.
#include "collect_parts.h"
#include "collect_test.h"

#include <errno.h>

static struct hs_collect *c;

static void send(uint16_t port, uint32_t node, uint32_t sequence, int64_t now_ns)
{
	struct hop hop = {node, 10, 1, 2, 3, 4};
	struct bytes b;

	put_report(&b, 9, sequence, port, &hop, 1);
	take(c, b.at, b.n, now_ns);
}

static bool is_known(uint16_t port)
{
	struct hs_collect_flow_key key = {.src = {10, 0, 0, 1},
			.dst = {10, 0, 0, 2},
			.src_port = 5000,
			.dst_port = port,
			.protocol = 17,
			.is_ipv4 = 1,
			.reporter = UINT32_MAX};
	struct hs_collect_flow flow;

	return find_flow(c, &key, &flow);
}

static void exact_capacity(void **state)
{
	struct hs_collect_config config = config_50();
	const struct hs_collect_counters *n;

	(void)state;
	config.max_flows = 5;
	config.max_queues = config.max_links = 3;
	config.new_keys_per_s = 2;
	c = collector(&config);
	n = hs_collect_counters(c);
	for (uint16_t i = 0; i < 5; i++)
		send(i, 1, i, SECOND + i);
	assert_int_equal(n->flows, 5);
	assert_int_equal(n->flows_evicted, 0);
	send(0, 1, 5, 2 * SECOND); // is no longer the oldest
	for (uint16_t i = 5; i < 10; i++)
		send(i, 1, i + 1u, 2 * SECOND);
	assert_int_equal(n->flows, 5);
	assert_int_equal(n->flows_evicted, 2);
	assert_int_equal(n->flows_refused, 3);
	assert_true(is_known(0) && !is_known(1) && !is_known(2) && is_known(3));
	assert_true(is_known(5) && is_known(6) && !is_known(7));
	send(7, 1, 11, 3 * SECOND);
	assert_true(is_known(7) && !is_known(3));
	for (uint32_t node = 1; node < 10; node++)
		send(7, node, 11 + node, 4 * SECOND);
	assert_int_equal(n->queues, 3);
	assert_int_equal(n->queues_evicted, 0); // all were seen a short time ago
	assert_int_equal(n->queues_refused, 6);
	assert_int_equal(n->links_refused, 6);
	send(7, 9, 21, 13 * SECOND);
	assert_int_equal(n->queues_refused, 7);
	send(7, 9, 22, 15 * SECOND);
	assert_int_equal(n->queues_evicted, 1);
	assert_int_equal(n->links_evicted, 1);
	check_balance(c);
	hs_collect_destroy(c);
}

enum {
	LIVING = 20, // exporters, each with a queue and a link
	ROOM = 100,
	SECONDS = 60,
	INVENTED = 3000 // in a second
};

static void report_of(uint32_t node, uint32_t sequence, int64_t now_ns)
{
	struct hop hop = {node, 10, 1, 2, 3, 4};
	struct bytes b;

	put_report(&b, node, sequence, 1, &hop, 1);
	take(c, b.at, b.n, now_ns);
}

static unsigned whole_exporters(void)
{
	struct hs_collect_exporter e[ROOM];
	uint64_t cursor = 0;
	unsigned known = hs_collect_exporters(c, &cursor, e, ROOM), whole = 0;

	for (unsigned i = 0; i < known; i++)
		whole += e[i].node_id <= LIVING && e[i].datagrams == (SECONDS + 8) / 9 &&
			 e[i].missing + e[i].late + e[i].duplicates + e[i].restarts == 0;
	return whole;
}

// In each second between the reports of those that live, somebody invents many more than the tables
// have room for.
static void exporters_that_live_stay_in_a_flood_of_invented_ones(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.max_exporters = config.max_queues = config.max_links = ROOM;
	c = collector(&config);
	for (uint32_t s = 0; s < SECONDS; s++) {
		for (uint32_t i = 1; i <= LIVING && s % 9 == 0; i++)
			report_of(i, s / 9, SECOND * (s + 2) - 1);
		for (uint32_t i = 0; i < INVENTED; i++)
			report_of(1000 + s * INVENTED + i, 7, SECOND * (s + 2));
	}
	const struct hs_collect_counters *n = hs_collect_counters(c);
	assert_int_equal(whole_exporters(), LIVING);
	assert_true(n->exporters_evicted && n->exporters_evicted <= ROOM * SECONDS / 10);
	assert_int_equal(n->exporters_evicted + n->exporters_refused + ROOM,
			(uint64_t)INVENTED * SECONDS + LIVING);
	// A queue or a link that had gone would be new again.
	assert_true(n->queues_evicted && n->queues_evicted <= ROOM * SECONDS / 10);
	assert_int_equal(n->queues_evicted, n->links_evicted);
	assert_int_equal(n->queues_evicted + n->queues_refused + ROOM,
			(uint64_t)INVENTED * SECONDS + LIVING);
	check_balance(c);
	hs_collect_destroy(c);
}

static void nothing_goes_that_was_seen_in_the_last_ten_seconds(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.max_exporters = 1;
	c = collector(&config);
	report_of(1, 1, 100 * SECOND - 1);
	report_of(2, 1, 109 * SECOND); // in the tenth second behind, but after nine
	assert_int_equal(hs_collect_counters(c)->exporters_refused, 1);
	report_of(1, 2, 200 * SECOND);
	report_of(2, 1, 150 * SECOND); // the clock was set back
	report_of(2, 2, 155 * SECOND);
	assert_int_equal(hs_collect_counters(c)->exporters_refused, 3);
	assert_int_equal(hs_collect_counters(c)->exporters_evicted, 0);
	report_of(1, 3, 155 * SECOND);
	report_of(2, 3, 165 * SECOND - 1);
	assert_int_equal(hs_collect_counters(c)->exporters_refused, 4);
	report_of(2, 4, 166 * SECOND);
	assert_int_equal(hs_collect_counters(c)->exporters_evicted, 1);
	check_balance(c);
	hs_collect_destroy(c);
}

// Entries that stay are read once while others come and go.
static void cursors(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_flow flows[3];
	bool seen[100] = {0};
	uint64_t cursor = 0;

	(void)state;
	config.max_flows = 100;
	c = collector(&config);
	for (uint16_t i = 0; i < 100; i++)
		send(i, 1, i, SECOND * (i + 1));
	for (unsigned n = 1, round = 0; n; round++) {
		n = hs_collect_flows(c, &cursor, flows, 3);
		for (unsigned i = 0; i < n; i++) {
			if (flows[i].key.dst_port >= 100)
				continue;
			assert_false(seen[flows[i].key.dst_port]);
			seen[flows[i].key.dst_port] = true;
		}
		if (round < 20)
			send((uint16_t)(200 + round), 1, 100 + round, 200 * SECOND);
	}
	for (uint16_t i = 20; i < 100; i++)
		assert_true(seen[i]);
	hs_collect_destroy(c);
}

static struct hs_collect_exporter exporter(void)
{
	struct hs_collect_exporter e;
	uint64_t cursor = 0;

	assert_true(hs_collect_exporters(c, &cursor, &e, 1) == 1);
	return e;
}

static void number(uint32_t sequence)
{
	send(1, 1, sequence, SECOND);
}

// 2.0: 22 bits.
static void short_number(uint32_t sequence)
{
	struct bytes b = {.n = 0};

	put(&b, 0x20000000 | (sequence & 0x3fffff), 4);
	put(&b, 9, 4);
	put(&b, 0, 4);
	take(c, b.at, b.n, SECOND);
}

static void gaps(void **state)
{
	struct hs_collect_config config = config_50();
	void (*ways[])(uint32_t) = {number, short_number};
	const uint32_t beginnings[] = {100, UINT32_MAX - 3, 0x3fffff - 3};

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		void (*to)(uint32_t) = ways[i % 2];
		uint32_t s = beginnings[i / 2];
		c = collector(&config);
		to(s);
		to(s - 1); // before the first: no news
		to(s + 1);
		assert_int_equal(exporter().missing + exporter().late, 0);
		to(s + 5); // 2, 3, 4 are missing
		assert_int_equal(exporter().missing, 3);
		to(s + 3);
		assert_int_equal(exporter().missing, 2);
		assert_int_equal(exporter().late, 1);
		to(s + 3);
		to(s + 5);
		assert_int_equal(exporter().duplicates, 2);
		to(s + 200);
		to(s + 199);
		assert_int_equal(exporter().missing, 2 + 193);
		to(s + 4);
		assert_int_equal(exporter().missing, 1 + 193);
		assert_int_equal(exporter().restarts, 0);
		assert_int_equal(hs_collect_counters(c)->reports_missing, 194);
		assert_int_equal(hs_collect_counters(c)->reports_late, 3);
		assert_int_equal(hs_collect_counters(c)->reports_duplicate, 2);
		check_balance(c);
		hs_collect_destroy(c);
	}
}

// The 256th number behind the last is the oldest that is told from another beginning.
static void late_by_256(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	c = collector(&config);
	number(1000);
	number(1002);
	number(1257);
	assert_int_equal(exporter().missing, 1 + 254);
	number(1001);
	assert_int_equal(exporter().late, 1);
	assert_int_equal(exporter().missing, 254);
	number(1001);
	number(1257);
	assert_int_equal(exporter().duplicates, 2);
	number(1258); // 1002 is 256 behind now
	number(1002);
	assert_int_equal(exporter().duplicates, 3);
	number(1001); // too far
	number(1259);
	assert_int_equal(exporter().duplicates, 3);
	assert_int_equal(exporter().late, 1);
	number(1259 + 257); // forgets all but itself
	number(1260);
	assert_int_equal(exporter().late, 2);
	number(1259);
	assert_int_equal(exporter().duplicates, 3);
	assert_int_equal(exporter().restarts, 0);
	assert_int_equal(exporter().missing, 254 + 255);
	hs_collect_destroy(c);
}

static void begins_anew(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	c = collector(&config);
	number(1000000);
	number(1); // may be a stray one
	number(1000001);
	assert_int_equal(exporter().restarts + exporter().missing, 0);
	number(1);
	number(3); // and here it goes on, without 2
	assert_int_equal(exporter().restarts, 1);
	assert_int_equal(exporter().missing, 1);
	number(4);
	assert_int_equal(exporter().sequence, 4);
	for (uint32_t i = 0; i < 10; i++)
		number(i); // 0 is before the first, 1 to 4 came, 5 goes on
	assert_int_equal(exporter().restarts, 1);
	for (uint32_t i = 0; i < 10; i++)
		number(i);
	assert_int_equal(exporter().restarts, 2);
	hs_collect_destroy(c);
}

// The numbers go on with 0 behind the greatest one.
static void begins_anew_near_the_greatest_number(void **state)
{
	struct hs_collect_config config = config_50();
	void (*ways[])(uint32_t) = {number, short_number};
	const uint32_t greatest[] = {UINT32_MAX, 0x3fffff};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		c = collector(&config);
		for (unsigned life = 0; life < 2; life++)
			for (uint32_t k = 0; k < 8; k++)
				ways[i](greatest[i] - 3 + k);
		assert_int_equal(exporter().restarts, 1);
		assert_int_equal(exporter().duplicates, 0);
		hs_collect_destroy(c);
	}
}

// A number far ahead counts what it skipped when another one follows it. A stray one counts
// nothing.
static void far_ahead(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	c = collector(&config);
	number(100);
	number(100 + 65536); // is believed at once
	assert_int_equal(exporter().missing, 65535);
	number(200000);
	number(65637);
	number(65638);
	assert_int_equal(exporter().missing, 65535);
	assert_int_equal(exporter().sequence, 65638);
	number(200000);
	number(200002); // without 200001
	assert_int_equal(exporter().missing, 65535 + (200000 - 65639) + 1);
	number(200001);
	number(199990); // came late
	assert_int_equal(exporter().late, 2);
	number(200002 + (1 << 24) + 1);
	number(200002 + (1 << 24) + 2);
	assert_int_equal(exporter().restarts, 1);
	assert_int_equal(exporter().missing, 65535 + (200000 - 65639) - 1);
	hs_collect_destroy(c);
}

static void exporters_apart(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes b;
	struct hs_collect_exporter out[8];
	uint64_t cursor = 0;

	(void)state;
	c = collector(&config);
	for (unsigned i = 0; i < 5; i++) {
		struct hop hop = {1, 10, 1, 2, 3, 4};
		struct hs_collect_datagram datagram = {.is_ipv4 = true, .address = {127, 0, 0, 1}};
		put_report(&b, i == 1 ? 8 : 9, 50 + 10 * i, 1, &hop, 1);
		b.at[3] |= i == 2 ? 1 : 0;
		datagram.bytes = b.at;
		datagram.len = (uint32_t)b.n;
		datagram.listener = i == 3;
		datagram.address[3] = i == 4 ? 2 : 1;
		hs_collect_take(c, &datagram, 1, SECOND);
	}
	assert_int_equal(hs_collect_exporters(c, &cursor, out, 8), 5);
	assert_int_equal(hs_collect_counters(c)->reports_missing, 0);
	assert_int_equal(hs_collect_counters(c)->flows, 1);
	hs_collect_destroy(c);
}

static void first_refused(void **state)
{
	struct hs_collect_config config = config_50();
	size_t len = 0, whole = 0;

	(void)state;
	c = collector(&config);
	take_hex(c, "f0010203", SECOND);
	take_hex(c, "e0", SECOND);
	take_hex(c, "", SECOND);
	take_hex(c, "14000040", SECOND);
	take_hex(c, "13000040000000010000000100000001", SECOND);
	take_hex(c, "15000040000000010000000100000001", SECOND);
	take_hex(c, "14800040000000010000000100000001", SECOND);
	take_hex(c, "1500004000000001000000010000000100000000", SECOND);
	// 2.0: values of four bytes, of which MD Length has none; values where there is no bitmap.
	take_hex(c, "200000010000000210030000400000000000000000000000", SECOND);
	take_hex(c, "20000002000000020001010000000000", SECOND);
	const uint8_t *bytes =
			hs_collect_first_refused(c, HS_COLLECT_REFUSED_VERSION, &len, &whole);
	assert_non_null(bytes);
	assert_int_equal(len, 4);
	assert_int_equal(bytes[0], 0xf0);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_VERSION], 2);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_SHORT], 2);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_LENGTH], 2);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_KIND], 1);
	assert_int_equal(hs_collect_counters(c)->refused[HS_COLLECT_REFUSED_BITS], 3);
	assert_null(hs_collect_first_refused(c, HS_COLLECT_REFUSED_STACK, &len, &whole));
	check_balance(c);
	hs_collect_destroy(c);
}

// Memory that outlives the process: what was missing before may come now.
static void exporters_of_before(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.exporter_memory = calloc(1, hs_collect_exporter_bytes(&config));
	c = collector(&config);
	number(100);
	number(105); // 101 to 104 are missing
	number(105);
	hs_collect_destroy(c);
	c = collector(&config);
	assert_int_equal(hs_collect_counters(c)->reports_missing, 4);
	assert_int_equal(hs_collect_counters(c)->reports_duplicate, 1);
	for (uint32_t late = 101; late < 105; late++)
		number(late);
	assert_int_equal(exporter().missing, 0);
	assert_int_equal(hs_collect_counters(c)->reports_missing, 0);
	assert_int_equal(hs_collect_counters(c)->reports_late, 4);
	for (uint32_t again = 98; again < 107; again++)
		number(again);
	assert_int_equal(hs_collect_counters(c)->reports_missing, 0);
	hs_collect_destroy(c);
	free(config.exporter_memory);
}

// An entry that was written when the process was killed costs that entry alone.
static void an_exporter_that_is_not_right_costs_no_other(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_exporter found[3];
	uint64_t cursor = 0;

	(void)state;
	config.exporter_memory = calloc(1, hs_collect_exporter_bytes(&config));
	c = collector(&config);
	for (uint32_t node = 1; node <= 3; node++)
		report_of(node, 1, SECOND);
	struct hs_collect_exporter_entry *entries = config.exporter_memory;
	entries[1].datagrams = 0;
	hs_collect_destroy(c);
	c = collector(&config);
	assert_int_equal(hs_collect_exporters(c, &cursor, found, 3), 2);
	assert_int_equal(found[0].node_id, 1);
	assert_int_equal(found[1].node_id, 3);
	hs_collect_destroy(c);
	free(config.exporter_memory);
}

// A full table replaces the exporter that was silent longest, also after a restart.
static void the_silent_exporter_of_before_goes_first(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect_exporter all[2];
	uint64_t cursor = 0;

	(void)state;
	config.max_exporters = 2;
	config.exporter_memory = calloc(1, hs_collect_exporter_bytes(&config));
	c = collector(&config);
	report_of(1, 1, SECOND);
	report_of(2, 1, 2 * SECOND);
	report_of(1, 2, 9 * SECOND);
	hs_collect_destroy(c);
	c = collector(&config);
	report_of(3, 1, 30 * SECOND);
	assert_int_equal(hs_collect_exporters(c, &cursor, all, 2), 2);
	assert_int_equal(all[0].node_id, 1);
	assert_int_equal(all[1].node_id, 3);
	hs_collect_destroy(c);
	free(config.exporter_memory);
}

// The system's clock may be set back: what is told at most once a second is told again.
static void drops_of_a_clock_that_went_back(void **state)
{
	struct hs_collect_config config = config_50();
	struct bytes b;

	(void)state;
	c = collector(&config);
	for (unsigned i = 0; i < 3; i++) {
		struct hop hop = {1, 10, 1, 2, 3, 4};
		put_report(&b, 9, 50 + i, 1, &hop, 1);
		b.at[2] |= 1; // D
		take(c, b.at, b.n, i == 0 ? 100 * SECOND : 50 * SECOND + i);
	}
	assert_int_equal(hs_collect_counters(c)->events[HS_COLLECT_POINT_DROP][HS_COLLECT_NEW], 1);
	assert_int_equal(hs_collect_counters(c)->events[HS_COLLECT_POINT_DROP][HS_COLLECT_CHANGE],
			1);
	assert_int_equal(hs_collect_counters(c)->suppressed[HS_COLLECT_POINT_DROP], 1);
	hs_collect_destroy(c);
}

static void wrong_configurations(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_collect *none = NULL;
	struct hs_error err = {0};

	(void)state;
	config.max_flows = 0;
	assert_int_equal(hs_collect_create(&config, tell, NULL, &none, &err), -EINVAL);
	assert_string_equal(err.path, "max_flows");
	assert_null(none);
	hs_collect_destroy(none);
	config = config_50();
	assert_true(hs_collect_bytes(&config) > 100000 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(exact_capacity),
			cmocka_unit_test(exporters_that_live_stay_in_a_flood_of_invented_ones),
			cmocka_unit_test(nothing_goes_that_was_seen_in_the_last_ten_seconds),
			cmocka_unit_test(cursors),
			cmocka_unit_test(gaps),
			cmocka_unit_test(late_by_256),
			cmocka_unit_test(begins_anew),
			cmocka_unit_test(begins_anew_near_the_greatest_number),
			cmocka_unit_test(far_ahead),
			cmocka_unit_test(exporters_apart),
			cmocka_unit_test(exporters_of_before),
			cmocka_unit_test(an_exporter_that_is_not_right_costs_no_other),
			cmocka_unit_test(the_silent_exporter_of_before_goes_first),
			cmocka_unit_test(drops_of_a_clock_that_went_back),
			cmocka_unit_test(first_refused),
			cmocka_unit_test(wrong_configurations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
