// SPDX-License-Identifier: BSD-3-Clause
// When a node labels, what it leaves alone, and what it counts.
#include "label_stand.h"

#include "egress.h"
#include "flexint_steps.h"
#include "rule.h"

#include <rte_ip.h>

#define ROOM	9600
#define FIRST	34 // bytes of a first item in IPv4
#define UDP_LEN 50 // of UDP4

static uint8_t frame[ROOM], out[ROOM];
static size_t len;

static void use(const char *hex)
{
	len = unhex(hex, frame);
}

// Whether the node labelled the packet that it is given now.
static bool labels(struct stand *s)
{
	struct hs_packet packet;
	size_t n = through(s, frame, len, out);

	assert_int_not_equal(n, 0);
	hs_label_parse(&s->profile.wire, out, n, n, &packet);
	assert_true(n == len || packet.flags & HS_PACKET_TELEMETRY);
	return n > len;
}

static unsigned int_num(const struct stand *s)
{
	struct hs_packet packet;

	hs_label_parse(&s->profile.wire, out, ROOM, ROOM, &packet);
	return packet.flags & HS_PACKET_TELEMETRY ? packet.trace_type : 0;
}

static void set_length(uint16_t bytes)
{
	frame[16] = (uint8_t)(bytes >> 8);
	frame[17] = (uint8_t)bytes;
	memset(frame + 24, 0, 2);
	uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)(frame + 14));
	memcpy(frame + 24, &sum, 2);
	len = 14u + bytes;
}

// UDP4 with one item of another node.
static void use_labelled(void)
{
	const struct hs_label_settings wire = usual();
	const struct hs_label_item item = {.node_id = 9};
	struct hs_packet packet;

	len = unhex(UDP4, frame + FIRST);
	hs_label_parse(&wire, frame + FIRST, len, len, &packet);
	hs_label_item_write(&item, hs_label_insert(&wire, frame, &packet, FIRST, false));
	len += FIRST;
}

static struct hs_rule flow_rule(double every)
{
	struct hs_rule rule = vector_rule(7);

	rule.method = HS_RULE_LABEL;
	rule.trace_type = HS_RULE_TRACE_LABEL;
	rule.dst_port = 2000;
	rule.mode_setting = every;
	unhex("00000000000000000000ffff0a000101", rule.src_ip);
	unhex("00000000000000000000ffff0a000202", rule.dst_ip);
	return rule;
}

// ---- when ----

static void a_port_labels_after_the_interval_and_no_sooner(void **state)
{
	(void)state;
	use(UDP4);
	for (unsigned general = 0; general < 2; general++) {
		if (general)
			setenv("HS_GENERAL_PATH", "1", 1);
		struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
		unsetenv("HS_GENERAL_PATH");
		assert_true(labels(s));
		assert_false(labels(s));
		advance(s, 50 * MS);
		assert_false(labels(s));
		advance(s, 1);
		assert_true(labels(s));
		hs_label_port_set_shift(hs_node_label(s->t.node, OUT), 3);
		advance(s, 50 * MS / 8);
		assert_false(labels(s));
		advance(s, 1);
		assert_true(labels(s));
		assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_INTERVAL), 3);
		assert_int_equal(labels_of(s), 3);
		stand_close(s);
	}
}

static unsigned labelled_of_a_burst(int64_t interval_ns, unsigned n)
{
	struct stand *s = stand_open(SOURCE, usual(), interval_ns, interval_ns);
	unsigned labelled = 0;

	use(UDP4);
	for (unsigned i = 0; i < n; i++)
		test_node_feed(&s->t, IN, frame, len, 0);
	test_node_run(&s->t);
	for (unsigned i = 0; i < n; i++)
		labelled += test_node_take(&s->t, OUT, out, ROOM) == UDP_LEN + FIRST;
	assert_int_equal(labels_of(s), labelled);
	stand_close(s);
	return labelled;
}

static void packets_of_a_burst_have_one_label_or_all_without_an_interval(void **state)
{
	(void)state;
	assert_int_equal(labelled_of_a_burst(50 * MS, 32), 1);
	assert_int_equal(labelled_of_a_burst(1, 32), 1);
	assert_int_equal(labelled_of_a_burst(0, 32), 32);
}

static void labelled_packets_are_labelled_by_chance_after_the_rest(void **state)
{
	(void)state;
	struct stand *s = stand_open(TRANSIT, usual(), 50 * MS, 10 * MS); // F1: always
	use_labelled();
	assert_true(labels(s));
	assert_int_equal(int_num(s), 2);
	advance(s, 10 * MS);
	assert_false(labels(s));
	advance(s, 1);
	assert_true(labels(s));
	use(UDP4);
	advance(s, 20 * MS);
	assert_false(labels(s));
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_CHANCE), 1);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_INTERVAL), 1);
	stand_close(s);
}

static void a_rule_makes_packets_of_a_specific_flow(void **state)
{
	(void)state;
	struct hs_rule rule = flow_rule(2);
	struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
	struct hs_flow_counters counters;

	test_node_rule(&s->t, &rule);
	use(UDP4);
	for (unsigned i = 0; i < 5; i++) { // the first is due by the interval, too
		assert_int_equal(labels(s), i % 2 == 0);
		assert_int_equal(int_num(s), i % 2 ? 0 : HS_LABEL_MAX_HOPS + 1);
	}
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.int_packets, 3);
	assert_int_equal(counters.rx_packets, 5);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_FLOW), 2);
	stand_close(s);

	// On the way, each node adds an item.
	memcpy(frame, out, len = UDP_LEN + FIRST);
	s = stand_open(TRANSIT, usual(), 50 * MS, 50 * MS);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(labels(s));
		assert_int_equal(int_num(s), HS_LABEL_MAX_HOPS + 2);
	}
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_FLOW), 2);
	stand_close(s);
}

static void rules_of_other_methods_and_switched_off_ones_begin_no_flow(void **state)
{
	(void)state;
	for (unsigned off = 0; off < 2; off++) {
		struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
		struct hs_rule rule = flow_rule(1);
		rule.hop_enabled = !off;
		if (!off) {
			rule.method = HS_RULE_INT;
			rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
		}
		test_node_rule(&s->t, &rule);
		use(UDP4);
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(labels(s), !off && !i);
		assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_FLOW), 0);
		stand_close(s);
	}
}

// ---- what not ----

static void a_packet_that_would_exceed_the_mtu_stays_as_it_is(void **state)
{
	(void)state;
	struct hs_rule rule = flow_rule(1);
	struct hs_flow_counters counters;
	struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);

	use(UDP4);
	set_length(1500 - FIRST + 1);
	assert_false(labels(s));
	assert_memory_equal(out, frame, len);
	frame[20] = 0x40; // "don't fragment" changes nothing
	set_length(1500 - FIRST + 1);
	assert_false(labels(s));
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_MTU), 2);
	set_length(1500 - FIRST);
	assert_true(labels(s)); // the port is still due
	test_node_rule(&s->t, &rule);
	set_length(1500 - FIRST + 1);
	assert_false(labels(s));
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.no_room_mtu, 1);
	assert_int_equal(counters.mtu_needed, 1501);
	stand_close(s);
}

static struct rte_mbuf *feed(struct stand *s)
{
	struct test_port *port = &s->t.ports[IN];

	test_node_feed(&s->t, IN, frame, len, 0);
	return port->in[port->n_in - 1];
}

static void a_rule_is_told_why_its_packets_have_no_items(void **state)
{
	(void)state;
	struct hs_rule rule = flow_rule(1);
	struct hs_flow_counters counters;
	struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
	test_node_rule(&s->t, &rule);
	use(UDP4);
	frame[24] = frame[25] = 0xff; // no checksum
	assert_false(labels(s));
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.no_room_option, 1);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_CARRIER), 1);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_NO_ROOM_OPTION), 1);
	use(UDP4);
	struct rte_mbuf *m = feed(s);
	memmove(m->buf_addr, frame, len);
	m->data_off = 0;
	uint16_t bytes = m->buf_len;
	m->buf_len = (uint16_t)len;
	test_node_run(&s->t);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), len);
	m->buf_len = bytes;
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.no_room_headroom, 1);
	m = feed(s);
	rte_mbuf_refcnt_update(m, 1);
	test_node_run(&s->t);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), len);
	rte_pktmbuf_free(m);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_ROOM), 2);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_NOT_CHANGEABLE), 1);
	stand_close(s);
}

static void what_takes_no_item_is_counted_and_the_port_stays_due(void **state)
{
	(void)state;
	static const struct {
		unsigned at;
		uint8_t byte;
		enum hs_event_count event;
	} cases[] = {
			{12, 0x88, HS_EVENT_UNLABELLED_CARRIER}, // another EtherType
			{20, 0x20, HS_EVENT_UNLABELLED_CARRIER}, // MF: a first fragment
			{21, 0x03, HS_EVENT_UNLABELLED_CARRIER}, // a later fragment
			{23, HS_LABEL_IP_PROTOCOL, HS_EVENT_UNLABELLED_FOREIGN}, // lies
	};
	struct stand *s = stand_open(TRANSIT, usual(), 50 * MS, 50 * MS);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t before = test_node_event(&s->t, OUT, cases[i].event);
		use(UDP4);
		frame[cases[i].at] = cases[i].byte;
		assert_int_equal(through(s, frame, len, out), len);
		assert_memory_equal(out, frame, len);
		assert_int_equal(test_node_event(&s->t, OUT, cases[i].event), before + 1);
	}
	use(UDP4);
	assert_true(labels(s));
	stand_close(s);
}

static void a_packet_has_no_more_items_than_it_may_have(void **state)
{
	(void)state;
	struct stand *s = stand_open(TRANSIT, usual(), 0, 0);

	use(UDP4);
	for (unsigned i = 0; i < HS_LABEL_MAX_HOPS; i++) {
		assert_true(labels(s));
		memcpy(frame, out, ROOM);
		len += i ? HS_LABEL_ITEM_BYTES : FIRST;
	}
	assert_false(labels(s));
	assert_memory_equal(out, frame, len);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_FULL), 1);
	stand_close(s);
}

static void a_packet_that_the_queue_refuses_is_not_labelled(void **state)
{
	(void)state;
	struct hs_label_item item;

	stand_rate_bps = 8000000; // a byte in a microsecond
	stand_queue = 1;	  // and one is being sent
	struct stand *s = stand_open(SOURCE, usual(), 0, 0);
	use(UDP4);
	for (unsigned i = 0; i < 5; i++)
		test_node_feed(&s->t, IN, frame, len, 0);
	test_node_run(&s->t);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_QUEUE_FULL), 3);
	assert_int_equal(labels_of(s), 2);
	for (unsigned i = 0; i < 2; i++) {
		advance(s, 84000);
		test_node_run(&s->t);
		assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), UDP_LEN + FIRST);
		hs_label_item_read(out + 36, &item);
		assert_int_equal(item.enqueue_packets, i);
		assert_int_equal(item.dequeue_packets, 1 - i);
		assert_int_equal(item.queue_us, (i + 1) * 84);
		assert_int_equal(hs_label_item_latency_us(&item), (i + 1) * 84);
		assert_int_equal(item.enqueue_us, (uint32_t)(NOW / 1000));
	}
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), 0);
	stand_close(s);

	// A port that becomes due while its queue is full labels the next packet that has a place.
	stand_rate_bps = 8000000;
	stand_queue = 1;
	s = stand_open(SOURCE, usual(), 1, 1);
	for (unsigned i = 0; i < 2; i++)
		test_node_feed(&s->t, IN, frame, len, 0);
	test_node_run(&s->t);
	int64_t labelled_ns = hs_node_label(s->t.node, OUT)->labelled_ns;
	assert_int_equal(labels_of(s), 1);
	advance(s, 1000); // neither is sent
	test_node_feed(&s->t, IN, frame, len, 0);
	test_node_run(&s->t);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_QUEUE_FULL), 1);
	assert_int_equal(labels_of(s), 1);
	assert_int_equal(hs_node_label(s->t.node, OUT)->labelled_ns, labelled_ns);
	stand_close(s);
}

#define SENT	400
#define STEP_NS 1000
#define TAKES	(UDP_LEN + FIRST) // steps of a packet in the port

// A count of its own: a packet leaves TAKES after the one before it or after it came, and the port
// takes none while more than `limit` of those before have not left.
static void leave_behind(unsigned n_workers, bool reported)
{
	static unsigned came[SENT], leaves[SENT];
	unsigned n = 0, left = 0, now = 0, limit = 8, waited = 0;
	struct hs_label_item item;
	struct hs_rng rng;

	hs_rng_init(&rng, 3);
	stand_config.n_workers = n_workers;
	stand_config.exports[1] = (struct hs_export_config){.port = MONITOR, .queue_packets = 100};
	stand_config.n_exports = 1 + reported;
	stand_rate_bps = 8000000; // a byte in a microsecond
	stand_queue = limit;
	struct stand *s = stand_open(SOURCE, usual(), 0, 0);
	use(UDP4);
	for (; left < SENT; now++) {
		bool comes = n < SENT && hs_rng_u32(&rng) % (now / 2000 % 2 ? 200 : 60) == 0 &&
			     n - left <= limit && (n == left || leaves[left] != now);
		if (comes) {
			came[n] = now;
			leaves[n] = (n > left && leaves[n - 1] > now ? leaves[n - 1] : now) + TAKES;
			n++;
			test_node_feed(&s->t, IN, frame, len, 0);
		}
		test_node_run(&s->t);
		if (left < n && leaves[left] == now) {
			assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), TAKES);
			hs_label_item_read(out + 36, &item);
			assert_int_equal(item.queue_us, leaves[left] - came[left]);
			left++;
			assert_int_equal(item.dequeue_packets, n - left);
			waited += n - left > 1;
		}
		advance(s, STEP_NS);
	}
	assert_in_range(waited, 20, SENT - 20);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), 0);
	stand_close(s);
}

static void an_item_says_how_many_packets_its_packet_left_behind(void **state)
{
	(void)state;
	leave_behind(1, false);
	leave_behind(2, false); // which share the queue; the second has no packets
	leave_behind(1, true);	// the depth is read for a receiver of queue reports, too
}

static unsigned runs; // that were queued as a whole

void __real_hs_egress_put_run(struct hs_egress_worker *own, struct rte_mbuf **mbufs, uint32_t n);
void __wrap_hs_egress_put_run(struct hs_egress_worker *own, struct rte_mbuf **mbufs, uint32_t n);

void __wrap_hs_egress_put_run(struct hs_egress_worker *own, struct rte_mbuf **mbufs, uint32_t n)
{
	runs++;
	__real_hs_egress_put_run(own, mbufs, n);
}

static void a_port_that_is_not_due_queues_runs_unless_depths_are_reported(void **state)
{
	(void)state;
	for (unsigned reported = 0; reported < 2; reported++) {
		stand_rate_bps = 8000000;
		stand_queue = 64;
		stand_config.exports[1] =
				(struct hs_export_config){.port = MONITOR, .queue_packets = 100};
		stand_config.n_exports = 1 + reported;
		struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
		use(UDP4);
		runs = 0;
		assert_int_equal(through(s, frame, len, out), 0); // labelled, and queued
		assert_int_equal(runs, 0);
		for (unsigned i = 0; i < 5; i++)
			test_node_feed(&s->t, IN, frame, len, 0);
		test_node_run(&s->t);
		assert_int_equal(runs, !reported);
		assert_int_equal(labels_of(s), 1);
		advance(s, 1000000);
		test_node_run(&s->t);
		for (unsigned i = 0; i < 6; i++)
			assert_int_not_equal(test_node_take(&s->t, OUT, out, ROOM), 0);
		stand_close(s);
	}
}

// ---- edges ----

static void labels_of_hosts_are_stripped_or_dropped_and_never_told(void **state)
{
	(void)state;
	uint8_t plain[UDP_LEN];

	unhex(UDP4, plain);
	use_labelled();
	struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
	assert_int_equal(through(s, frame, len, out), UDP_LEN + FIRST); // this node's own item
	assert_int_equal(out[36], NODE_ID & 0xff);
	assert_int_equal(through(s, frame, len, out), UDP_LEN);
	assert_memory_equal(out, plain, UDP_LEN);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_HOST_TELEMETRY_STRIPPED), 2);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), 0);
	stand_close(s);

	stand_config.host_side_policy = HS_HOST_DROP;
	s = stand_open(SOURCE, usual(), 50 * MS, 50 * MS);
	assert_int_equal(through(s, frame, len, out), 0);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_HOST_TELEMETRY), 1);
	stand_close(s);
}

static void claims_that_are_malformed_end_at_hosts_unless_the_profile_lets_them_pass(void **state)
{
	(void)state;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned sink = 0; sink < 2; sink++) {
			stand_passes_malformed = pass;
			struct stand *s = stand_open(sink ? SINK : SOURCE, usual(), 0, 0);
			use(UDP4);
			frame[23] = HS_LABEL_IP_PROTOCOL;
			assert_int_equal(through(s, frame, len, out), pass ? len : 0);
			assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_BAD_TELEMETRY_PASSED),
					pass);
			assert_int_equal(test_node_drops(&s->t, IN,
							 sink ? HS_DROP_UNSTRIPPABLE
							      : HS_DROP_HOST_TELEMETRY),
					!pass);
			assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_FOREIGN),
					pass);
			stand_close(s);
		}
	}
}

static int take_datagram(void *context, unsigned receiver, const uint8_t *datagram, size_t bytes)
{
	struct hs_label_export *export = context;

	assert_int_equal(receiver, 1);
	return hs_label_export_read(datagram, bytes, export);
}

static void control_sends_what_no_port_does(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 50 * MS, 0);
	struct hs_node_config config = *hs_node_config(s->t.node);
	struct hs_label_export export = {0};
	struct test_node node;

	config.n_exports = 2; // the first by a port
	config.exports[1] = config.exports[0];
	config.exports[1].port = HS_EXPORT_NO_PORT;
	test_node_open(&node, &config, SINK, N_PORTS, 1500, s->pool, s->clock);
	use_labelled();
	test_node_feed(&node, IN, frame, len, 0);
	test_node_run(&node);
	assert_int_equal(test_node_take(&node, OUT, out, ROOM), UDP_LEN);
	assert_int_equal(test_node_take(&node, MONITOR, out, ROOM), FRONT + 80);
	assert_int_equal(hs_node_send_exports(node.node, 1, 8, take_datagram, &export), 1);
	assert_int_equal(export.n_items, 2); // the packet's and the port's
	assert_int_equal(export.src_port, 1000);
	assert_int_equal(export.dst_port, 2000);
	test_node_audit(&node);
	test_node_close(&node);
	stand_close(s);
}

static void a_datagram_that_is_longer_than_the_mtu_is_lost_and_counted(void **state)
{
	(void)state;
	const struct hs_label_item item = {.node_id = 9};
	struct hs_worker_counters counters;
	struct hs_packet packet;

	stand_mtu = 300; // of all ports; what comes in is not compared with it
	struct stand *s = stand_open(SINK, (struct hs_label_settings){253, 127}, 50 * MS, 0);
	len = unhex(UDP4, frame);
	for (unsigned i = 0; i < 9; i++) {
		size_t growth = i ? HS_LABEL_ITEM_BYTES : FIRST;
		memmove(frame + growth, frame, len);
		hs_label_parse(&s->profile.wire, frame + growth, len, len, &packet);
		hs_label_item_write(&item,
				hs_label_insert(&s->profile.wire, frame, &packet, growth, false));
		len += growth;
	}
	assert_int_equal(through(s, frame, len, out), UDP_LEN);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), 0);
	hs_node_worker_counters(s->t.node, 0, &counters);
	assert_int_equal(counters.exports_lost_no_mbuf, 1);
	assert_int_equal(test_node_drops(&s->t, MONITOR, HS_DROP_NO_MBUF), 1);
	stand_close(s);
}

// The stand's node with another family on one of its ports.
static void open_border(struct stand *s, struct test_node *node, unsigned other)
{
	struct hs_node_config config = *hs_node_config(s->t.node);

	config.profiles[other] = (struct hs_profile){.family = &hs_flexint_steps};
	test_node_open(node, &config, TRANSIT, N_PORTS, 1500, s->pool, s->clock);
}

static void items_end_at_a_network_of_another_family_and_begin_behind_one(void **state)
{
	(void)state;
	struct stand *s = stand_open(TRANSIT, usual(), 50 * MS, 50 * MS);
	struct test_node node;

	open_border(s, &node, OUT);
	use_labelled();
	test_node_feed(&node, IN, frame, len, 0);
	test_node_run(&node);
	assert_int_equal(test_node_take(&node, OUT, out, ROOM), UDP_LEN);
	assert_int_equal(test_node_take(&node, MONITOR, out, ROOM), FRONT + 48);
	test_node_audit(&node);
	test_node_close(&node);

	open_border(s, &node, IN);
	use(UDP4);
	for (unsigned i = 0; i < 2; i++) {
		test_node_feed(&node, IN, frame, len, 0);
		test_node_run(&node);
		assert_int_equal(test_node_take(&node, OUT, out, ROOM), UDP_LEN + (i ? 0 : FIRST));
	}
	test_node_audit(&node);
	test_node_close(&node);
	stand_close(s);
}

static void flooded_packets_are_stripped_told_and_not_labelled(void **state)
{
	(void)state;
	stand_config.forwarding = HS_FORWARD_BRIDGE;
	struct stand *s = stand_open(TRANSIT, usual(), 0, 0);
	struct hs_rule rule = flow_rule(1);
	struct hs_flow_counters counters;
	test_node_rule(&s->t, &rule);
	use_labelled();
	assert_int_equal(through(s, frame, len, out), UDP_LEN); // the destination is not known
	assert_int_equal(labels_of(s), 0);
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.sink_packets, 1);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), UDP_LEN);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), FRONT + 48);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_STRIPPED), 1);
	stand_close(s);
}

static void items_that_could_not_be_taken_out_are_not_counted_as_such(void **state)
{
	(void)state;
	struct rte_mbuf *taken[BUFFERS];
	struct hs_rule rule = flow_rule(1);
	struct hs_flow_counters counters;
	unsigned n = 0;
	struct stand *s = stand_open(SINK, usual(), 0, 0);

	test_node_rule(&s->t, &rule);
	use_labelled();
	struct rte_mbuf *m = feed(s);
	rte_mbuf_refcnt_update(m, 1);
	while ((taken[n] = rte_pktmbuf_alloc(s->pool)))
		n++;
	test_node_run(&s->t);
	assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), 0);
	assert_int_equal(test_node_drops(&s->t, IN, HS_DROP_UNSTRIPPABLE), 1);
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.sink_packets, 0);
	rte_pktmbuf_free_bulk(taken, n);
	rte_pktmbuf_free(m);
	stand_close(s);
}

static void the_room_for_a_path_is_that_of_all_its_items(void **state)
{
	(void)state;
	struct stand *s = stand_open(SOURCE, usual(), 50 * MS, 0);
	const struct hs_profile *profile = hs_node_profile(s->t.node, OUT);

	assert_int_equal(profile->path_bytes, 8 + 32 * 5);
	assert_int_equal(hs_profile_path_bytes(profile, HS_RULE_TRACE_LABEL), 8 + 32 * 5);
	assert_int_equal(hs_profile_path_bytes(profile, 0x7000E000), 0);
	assert_int_equal(hs_profile_path_bytes(profile, HS_RULE_TRACE_INT | 0x8000), 0);
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_port_labels_after_the_interval_and_no_sooner),
			cmocka_unit_test(
					packets_of_a_burst_have_one_label_or_all_without_an_interval),
			cmocka_unit_test(labelled_packets_are_labelled_by_chance_after_the_rest),
			cmocka_unit_test(a_rule_makes_packets_of_a_specific_flow),
			cmocka_unit_test(
					rules_of_other_methods_and_switched_off_ones_begin_no_flow),
			cmocka_unit_test(a_packet_that_would_exceed_the_mtu_stays_as_it_is),
			cmocka_unit_test(a_rule_is_told_why_its_packets_have_no_items),
			cmocka_unit_test(what_takes_no_item_is_counted_and_the_port_stays_due),
			cmocka_unit_test(a_packet_has_no_more_items_than_it_may_have),
			cmocka_unit_test(a_packet_that_the_queue_refuses_is_not_labelled),
			cmocka_unit_test(an_item_says_how_many_packets_its_packet_left_behind),
			cmocka_unit_test(
					a_port_that_is_not_due_queues_runs_unless_depths_are_reported),
			cmocka_unit_test(labels_of_hosts_are_stripped_or_dropped_and_never_told),
			cmocka_unit_test(
					claims_that_are_malformed_end_at_hosts_unless_the_profile_lets_them_pass),
			cmocka_unit_test(control_sends_what_no_port_does),
			cmocka_unit_test(
					a_datagram_that_is_longer_than_the_mtu_is_lost_and_counted),
			cmocka_unit_test(
					items_end_at_a_network_of_another_family_and_begin_behind_one),
			cmocka_unit_test(flooded_packets_are_stripped_told_and_not_labelled),
			cmocka_unit_test(items_that_could_not_be_taken_out_are_not_counted_as_such),
			cmocka_unit_test(the_room_for_a_path_is_that_of_all_its_items),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
