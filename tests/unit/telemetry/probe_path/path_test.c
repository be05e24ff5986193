// SPDX-License-Identifier: BSD-3-Clause
// Probes through a node, byte for byte: what the node adds, where it sends them, what it refuses.
#include "probe_stand.h"

#include "fib.h"

static void a_probe_gets_values_and_goes_on(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	feed_made(s, IN, 0x17, PROBE);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_sent_made(s, IN, 0x19, REQUEST);
	assert_silent(s);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_FILLED), 1);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_ANSWERED), 1);
	assert_int_equal(hs_node_probes_held(s->t.node), 1);
	stand_close(s);
}

static void the_last_node_sends_it_to_the_monitor_and_holds_nothing(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	feed_made(s, IN, 0x17, "000b 0001 030102 0001 01060001 0001 00000064");
	assert_sent_made(s, MONITOR, 0x17,
			"000b 0000 0002 01060001 07000001 0002 00000064 00000000");
	assert_sent_made(s, IN, 0x19, REQUEST);
	assert_silent(s);
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	stand_close(s);
}

static void hits_of_rules_are_at_their_namespaces(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct hs_rule rule = vector_rule(3);
	struct probe_bytes packet;

	packet.len = unhex("02000000000202000000000186dd6000000000081140"
			   "20010db8000000000000000000000001"
			   "20010db8000000000000000000000002"
			   "1234138900080000",
			packet.at);
	test_node_rule(&s->t, &rule);
	for (unsigned i = 0; i < 5; i++) {
		feed(s, IN, &packet);
		assert_sent(s, OUT, &packet);
	}
	feed_made(s, IN, 0x17, "000a 0001 030205 0000 0000");
	assert_sent_made(s, MONITOR, 0x17,
			"000a 0000 0001 07000003 0003 00000000 00000005 00000000");
	feed_made(s, IN, 0x17, "000c 0001 03ffff 0000 0000");
	assert_sent_made(s, MONITOR, 0x17, "000c 0000 0001 07000000 0000");
	stand_close(s);
}

static void values_are_those_of_the_counters(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes stray = probe_made(0x19, REQUEST, false);

	for (unsigned i = 0; i < 300; i++)
		feed(s, OUT, &stray);
	for (unsigned i = 0; i < 7; i++)
		feed(s, MONITOR, &stray);
	feed_made(s, IN, 0x17, "000b 0001 030004 0000 0000");
	assert_sent_made(s, MONITOR, 0x17,
			"000b 0000 0001 07000004 0004 00000001 0000012c 00000007 00000000");
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_STRAY), 300);
	stand_close(s);
}

static void ranges_outside_are_refused_and_the_node_is_named(void **state)
{
	(void)state;
	static const char *const ranges[] = {"030005", "030403", "0300ff"};
	struct stand *s = stand_open(&usual_profile);
	char payload[64];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(payload, sizeof(payload),
				"00%02x 0001"
				"%s"
				"0000 0000",
				1 + 2 * i, ranges[i]);
		feed_made(s, IN, 0x17, payload);
		snprintf(payload, sizeof(payload), "00%02x 0000 0001 07000000 0000", 1 + 2 * i);
		assert_sent_made(s, MONITOR, 0x17, payload);
	}
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_BAD_RANGE), 3);
	stand_close(s);
}

static void the_depth_of_the_queue_is_that_of_the_port_it_leaves_by(void **state)
{
	(void)state;
	stand_rate_bps = 1000000; // a packet of 46 bytes takes 368 us
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes packet;

	packet.len = unhex("020000000002020000000001080045000020000100004011"
			   "66100a0000640a00000100010002000c0000"
			   "00000000",
			packet.at);
	for (unsigned i = 0; i < 300; i++) {
		feed(s, IN, &packet);
		if (i == 2) {
			feed_made(s, IN, 0x17, "0001 0002 020000 030000 0000 0000");
			assert_sent_made(s, IN, 0x19, "0001");
		}
	}
	feed_made(s, IN, 0x17, "0003 0002 020000 030000 0000 0000");
	assert_sent_made(s, IN, 0x19, "0003");
	for (unsigned i = 0; i < 302; i++) {
		while (!s->t.ports[OUT].n_out)
			advance(s, MS / 8);
		if (i == 3)
			assert_sent_made(s, OUT, 0x17, "0001 0001 030000 0001 07030000 0000");
		else if (i == 301)
			assert_sent_made(s, OUT, 0x17, "0003 0001 030000 0001 07ff0000 0000");
		else
			assert_sent(s, OUT, &packet);
	}
	stand_close(s);
}

// ---- to the monitor ----

static struct probe_bytes aged(unsigned dscp, const char *payload, uint8_t ttl)
{
	struct probe_bytes bytes = probe_made(dscp, payload, false);

	bytes.at[PROBE_L3 + 8] = ttl;
	probe_mend(&bytes);
	return bytes;
}

#define EMPTY "000b 0000 0001 01060001 0001 00000064"

static void what_has_no_entries_goes_to_the_monitor_as_it_is(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes done = aged(0x17, EMPTY, 63), alarm = aged(0x21, PROBE, 63);

	feed_made(s, IN, 0x17, EMPTY);
	assert_sent(s, MONITOR, &done);
	feed_made(s, OUT, 0x21, PROBE);
	assert_sent(s, MONITOR, &alarm);
	assert_silent(s);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_FILLED), 0);
	stand_close(s);
}

static void nodes_that_lead_to_each_other_end_it(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes last = aged(0x21, PROBE, 1);

	feed(s, IN, &last);
	assert_silent(s);
	assert_int_equal(drop_at(s, IN, HS_DROP_HOP_LIMIT), 1);
	stand_close(s);
}

static void without_a_port_to_the_monitor_the_node_s_own_forwarding_serves(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.monitor_port = 0;
	struct stand *s = stand_open(&profile);

	feed_made(s, IN, 0x17, "000b 0001 000001 0000 0000");
	assert_sent_made(s, OUT, 0x17, "000b 0000 0001 07000001 0001 00000001");
	assert_sent_made(s, IN, 0x19, REQUEST);
	feed_made(s, OUT, 0x21, PROBE);
	assert_sent_made(s, IN, 0x21, PROBE);
	feed_made(s, MONITOR, 0x17, EMPTY); // its partner is the host port
	assert_silent(s);
	assert_int_equal(drop_at(s, MONITOR, HS_DROP_UNSTRIPPABLE), 1);
	stand_close(s);
}

// 10.0.0.1 is behind OUT. Probes are addressed to the first node's port, all the way.
static struct stand *router_open(struct hs_probe_profile *profile)
{
	struct hs_fib_change change = {.route = {.prefix = {[10] = 0xff, 0xff, 10, 0, 0, 1},
						       .depth = 128,
						       .port = OUT,
						       .next_hop_mac = {2, 9}}};

	*profile = usual_profile;
	profile->monitor_port = 0;
	stand_config.forwarding = HS_FORWARD_ROUTE;
	struct stand *s = stand_open(profile);
	for (uint8_t p = 0; p < N_PORTS; p++)
		memcpy(s->t.ports[p].port.mac, (const uint8_t[6]){2, 8, p}, 6);
	assert_int_equal(hs_fib_change(hs_node_fib(s->t.node), &change, 1, NULL), 0);
	return s;
}

// What the router sends by OUT.
static struct probe_bytes routed(unsigned dscp, const char *payload)
{
	struct probe_bytes bytes = aged(dscp, payload, 63);

	memcpy(bytes.at, (const uint8_t[12]){2, 9, 0, 0, 0, 0, 2, 8, OUT}, 12);
	return bytes;
}

static void a_router_takes_what_is_for_the_monitor_by_its_address(void **state)
{
	(void)state;
	struct hs_probe_profile profile;
	struct stand *s = router_open(&profile);
	struct probe_bytes alarm = routed(0x21, PROBE),
			   last = routed(0x17, "000b 0000 0001 07000001 0001 00000001");

	feed_made(s, MONITOR, 0x21, PROBE);
	assert_sent(s, OUT, &alarm);
	feed_made(s, IN, 0x17, "000b 0001 000001 0000 0000");
	assert_sent(s, OUT, &last);
	assert_sent_made(s, IN, 0x19, REQUEST);
	advance(s, 2000 * MS);
	feed_made(s, IN, 0x17, "000b 0002 020002 030002 0000 0000");
	assert_int_equal(s->t.ports[OUT].n_out, 1);
	advance(s, 2000 * MS); // the copy comes back from OUT, where the route leads, too
	assert_int_equal(event_at(s, OUT, HS_EVENT_ROUTED_BACK), 1);
	assert_int_equal(event_at(s, OUT, HS_EVENT_PROBE_RECOVERED), 1);
	assert_int_equal(s->t.ports[OUT].n_out, 2);
	stand_close(s);
}

// ---- what is refused: no feedback, nothing sent ----

static void refused(unsigned port, const struct probe_bytes *bytes, enum hs_drop reason)
{
	struct stand *s = stand_open(&usual_profile);

	feed(s, port, bytes);
	assert_silent(s);
	assert_int_equal(drop_at(s, port, reason), 1);
	assert_int_equal(event_at(s, port, HS_EVENT_PROBE_ANSWERED), 0);
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	stand_close(s);
}

static void refused_made(unsigned port, unsigned dscp, const char *payload, enum hs_drop reason)
{
	struct probe_bytes bytes = probe_made(dscp, payload, false);

	refused(port, &bytes, reason);
}

static void what_a_host_sends_is_dropped(void **state)
{
	(void)state;
	static const unsigned dscps[] = {0x17, 0x19, 0x21};

	for (unsigned i = 0; i < 6; i++) {
		stand_config.host_side_policy = i & 1 ? HS_HOST_DROP : HS_HOST_STRIP;
		refused_made(HOST, dscps[i / 2], dscps[i / 2] == 0x19 ? REQUEST : PROBE,
				HS_DROP_HOST_TELEMETRY);
	}
	refused_made(HOST, 0x17, "000b ffff", HS_DROP_HOST_TELEMETRY);
}

// With Ethernet's padding, the next node would have feedback for request 0.
static void what_a_host_s_short_frame_would_become_is_dropped(void **state)
{
	(void)state;
	struct probe_bytes bytes = probe_made(0x19, "0000", false);

	bytes.len -= 2;
	refused(HOST, &bytes, HS_DROP_HOST_TELEMETRY);
	refused(IN, &bytes, HS_DROP_PROBE_MALFORMED);
}

// The parser follows eight tags; a device that takes one out shows the next node what is behind.
static void tags_of_a_host_hide_no_probe(void **state)
{
	(void)state;
	struct probe_bytes bytes = probe_made(0x19, REQUEST, false);

	for (unsigned tags = 1; tags <= 9; tags++) {
		memmove(bytes.at + 16, bytes.at + 12, bytes.len - 12);
		memcpy(bytes.at + 12, (const uint8_t[4]){0x81, 0, 0, 1}, 4);
		bytes.len += 4;
		refused(HOST, &bytes, tags <= 8 ? HS_DROP_HOST_TELEMETRY : HS_DROP_HIDDEN_HEADERS);
	}
}

static void a_host_s_packet_that_has_the_dscp_alone_passes(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes other = probe_made(0x17, PROBE, false);

	other.at[PROBE_L4 + 3] ^= 1; // UDP's port
	probe_mend(&other);
	feed(s, HOST, &other);
	assert_sent(s, MONITOR, &other);
	feed(s, IN, &other);
	assert_sent(s, OUT, &other);
	assert_silent(s);
	stand_close(s);
}

// Between a network with probes and one of another family, nothing of probes passes.
static void no_probe_crosses_a_border(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.monitor_port = 0;
	stand_border = true;
	struct stand *s = stand_open(&profile);

	feed_made(s, IN, 0x17, EMPTY); // the partner of IN is OUT, which has no probes
	assert_silent(s);
	assert_int_equal(drop_at(s, IN, HS_DROP_UNSTRIPPABLE), 1);
	feed_made(s, IN, 0x17, PROBE);
	assert_silent(s);
	assert_int_equal(drop_at(s, IN, HS_DROP_PROBE_NO_PORT), 1);
	feed_made(s, OUT, 0x17, PROBE);
	feed_made(s, OUT, 0x19, REQUEST);
	assert_silent(s);
	assert_int_equal(drop_at(s, OUT, HS_DROP_HOST_TELEMETRY), 2);
	stand_close(s);
}

static void ports_without_probes_are_refused(void **state)
{
	(void)state;
	refused_made(IN, 0x17, "000b 0001 040000 0000 0000", HS_DROP_PROBE_NO_PORT);
	refused_made(IN, 0x17, "000b 0001 050000 0000 0000", HS_DROP_PROBE_NO_PORT);
	refused_made(IN, 0x17, "000b 0001 ff0000 0000 0000", HS_DROP_PROBE_NO_PORT);
}

static void malformed_ones_are_refused(void **state)
{
	(void)state;
	struct probe_bytes bytes = probe_made(0x17, PROBE, false);

	bytes.at[PROBE_L4 + 6] ^= 1;
	refused(IN, &bytes, HS_DROP_PROBE_MALFORMED);
	refused_made(IN, 0x17, "000b 0003 020004 030002 0000 0000", HS_DROP_PROBE_MALFORMED);
	refused_made(IN, 0x17, "000b 0001 020004 0000 0001", HS_DROP_PROBE_MALFORMED);
	refused_made(IN, 0x21, "000b", HS_DROP_PROBE_MALFORMED);
	refused_made(IN, 0x19, "000b 00", HS_DROP_PROBE_MALFORMED);
}

// 1500 bytes of IP are 28 of headers, 8 of numbers, and 366 values: the last one is refused.
static void what_exceeds_the_mtu_is_refused(void **state)
{
	(void)state;
	char payload[4096] = "000a 0001 030000 0001";
	unsigned n = (1500 - 28 - 8 - 8 + 3 - 4 + 3) / 4;

	for (unsigned i = 0; i < 2; i++, n++) {
		char *at = payload + 21;
		struct stand *s = stand_open(&usual_profile);
		at += sprintf(at, "0106%04x%04x", n, n);
		for (unsigned v = 0; v < n; v++)
			at += sprintf(at, "%08x", v);
		struct probe_bytes bytes = probe_made(0x17, payload, false);
		feed(s, IN, &bytes);
		assert_int_equal(drop_at(s, IN, HS_DROP_PROBE_TOO_LONG), i);
		assert_int_equal(s->t.ports[MONITOR].n_out, !i);
		assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_ANSWERED), !i);
		stand_close(s);
	}
}

// EMPTY has 44 bytes of IP.
static void what_exceeds_the_mtu_of_the_way_to_the_monitor_is_refused(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);

	for (unsigned i = 0; i < 2; i++) {
		s->t.ports[MONITOR].port.mtu = (uint16_t)(44 - i);
		feed_made(s, IN, 0x17, EMPTY);
		feed_made(s, OUT, 0x21, EMPTY);
		assert_int_equal(s->t.ports[MONITOR].n_out, 2);
		assert_int_equal(drop_at(s, IN, HS_DROP_PROBE_TOO_LONG), i);
		assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_TOO_LONG), i);
	}
	stand_close(s);
}

// Where the node's own forwarding serves, any port with probes may be the next. The last hop has 44
// bytes of IP. An interface's MTU may change while the node runs.
static void without_a_port_to_the_monitor_the_least_mtu_of_the_moment_holds(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.monitor_port = 0;
	struct stand *s = stand_open(&profile);

	s->t.ports[MONITOR].port.mtu = 43;
	feed_made(s, IN, 0x17, "000b 0001 000001 0000 0000");
	assert_int_equal(drop_at(s, IN, HS_DROP_PROBE_TOO_LONG), 1);
	assert_silent(s);
	s->t.ports[MONITOR].port.mtu = 44;
	s->t.ports[HOST].port.mtu = 43; // has no probes
	feed_made(s, IN, 0x17, "000b 0001 000001 0000 0000");
	assert_sent_made(s, OUT, 0x17, "000b 0000 0001 07000001 0001 00000002");
	assert_int_equal(drop_at(s, IN, HS_DROP_PROBE_TOO_LONG), 1);
	stand_close(s);
}

static void a_port_has_a_rate(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.rate_pps = 100;
	struct stand *s = stand_open(&profile);
	struct probe_bytes stray = probe_made(0x19, REQUEST, false);

	for (unsigned i = 0; i < 1000; i++)
		feed(s, OUT, &stray);
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_STRAY), 64);
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_RATE), 936);
	feed(s, MONITOR, &stray); // another port has its own
	assert_int_equal(drop_at(s, MONITOR, HS_DROP_PROBE_STRAY), 1);
	advance(s, 30 * MS);
	for (unsigned i = 0; i < 10; i++)
		feed(s, OUT, &stray);
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_STRAY), 67);
	stand_close(s);
}

// ---- buffers ----

static void padding_is_cut_off(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes padded = probe_made(0x17, PROBE, false);

	memset(padded.at + padded.len, 0xee, 20);
	padded.len += 20;
	feed(s, IN, &padded);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_sent_made(s, IN, 0x19, REQUEST);
	stand_close(s);
}

static void segments_are_joined(void **state)
{
	(void)state;
	struct probe_bytes bytes = probe_made(0x17, PROBE, false);

	for (size_t first = 1; first < bytes.len; first++) {
		struct stand *s = stand_open(&usual_profile);
		test_node_feed(&s->t, IN, bytes.at, bytes.len, first);
		test_node_run(&s->t);
		assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
		assert_sent_made(s, IN, 0x19, REQUEST);
		assert_silent(s);
		stand_close(s);
	}
}

static void a_buffer_without_room_behind_has_room_in_front(void **state)
{
	(void)state;
	struct probe_bytes bytes = probe_made(0x17, PROBE, false);

	stand_room = (uint16_t)(RTE_PKTMBUF_HEADROOM + bytes.len);
	struct stand *s = stand_open(&usual_profile);
	feed(s, IN, &bytes);
	assert_sent_made(s, OUT, 0x17, FILLED("00000001"));
	assert_sent_made(s, IN, 0x19, REQUEST);
	assert_int_equal(hs_node_probes_held(s->t.node), 1); // in two segments
	stand_close(s);
}

// Half of a burst is other packets, in order, and a full burst goes back where it came from.
static void a_burst_of_probes_and_others_is_sent(void **state)
{
	(void)state;
	struct stand *s = stand_open(&usual_profile);
	struct probe_bytes other = probe_made(0x05, PROBE, false);
	char payload[64];

	for (unsigned i = 0; i < HS_BURST; i++) {
		snprintf(payload, sizeof(payload), "00%02x 0001 010000 0000 0000", 2 * i);
		struct probe_bytes probe = probe_made(0x17, payload, false);
		if (i & 1)
			test_node_feed(&s->t, IN, other.at, other.len, 0);
		else
			test_node_feed(&s->t, IN, probe.at, probe.len, 0);
	}
	test_node_run(&s->t);
	assert_bytes_counted(s);
	assert_int_equal(s->t.ports[IN].n_out, HS_BURST);
	assert_int_equal(s->t.ports[OUT].n_out, HS_BURST / 2);
	for (unsigned i = 0; i < HS_BURST / 2; i++)
		assert_sent(s, OUT, &other);
	stand_close(s);
	s = stand_open(&usual_profile);
	for (unsigned i = 0; i < HS_BURST; i++) {
		snprintf(payload, sizeof(payload), "00%02x 0001 010000 0000 0000", 2 * i);
		struct probe_bytes probe = probe_made(0x17, payload, false);
		test_node_feed(&s->t, IN, probe.at, probe.len, 0);
	}
	test_node_run(&s->t);
	assert_bytes_counted(s);
	assert_int_equal(s->t.ports[IN].n_out, 2 * HS_BURST);
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_probe_gets_values_and_goes_on),
			cmocka_unit_test(the_last_node_sends_it_to_the_monitor_and_holds_nothing),
			cmocka_unit_test(hits_of_rules_are_at_their_namespaces),
			cmocka_unit_test(values_are_those_of_the_counters),
			cmocka_unit_test(ranges_outside_are_refused_and_the_node_is_named),
			cmocka_unit_test(the_depth_of_the_queue_is_that_of_the_port_it_leaves_by),
			cmocka_unit_test(what_has_no_entries_goes_to_the_monitor_as_it_is),
			cmocka_unit_test(nodes_that_lead_to_each_other_end_it),
			cmocka_unit_test(
					without_a_port_to_the_monitor_the_node_s_own_forwarding_serves),
			cmocka_unit_test(a_router_takes_what_is_for_the_monitor_by_its_address),
			cmocka_unit_test(what_a_host_sends_is_dropped),
			cmocka_unit_test(no_probe_crosses_a_border),
			cmocka_unit_test(what_a_host_s_short_frame_would_become_is_dropped),
			cmocka_unit_test(tags_of_a_host_hide_no_probe),
			cmocka_unit_test(a_host_s_packet_that_has_the_dscp_alone_passes),
			cmocka_unit_test(ports_without_probes_are_refused),
			cmocka_unit_test(malformed_ones_are_refused),
			cmocka_unit_test(what_exceeds_the_mtu_is_refused),
			cmocka_unit_test(what_exceeds_the_mtu_of_the_way_to_the_monitor_is_refused),
			cmocka_unit_test(
					without_a_port_to_the_monitor_the_least_mtu_of_the_moment_holds),
			cmocka_unit_test(a_port_has_a_rate),
			cmocka_unit_test(padding_is_cut_off),
			cmocka_unit_test(segments_are_joined),
			cmocka_unit_test(a_buffer_without_room_behind_has_room_in_front),
			cmocka_unit_test(a_burst_of_probes_and_others_is_sent),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
