// SPDX-License-Identifier: BSD-3-Clause
// Two networks of different versions of INT that a border node with two profiles joins: each sees
// its own telemetry only.
#include "int_format.h"
#include "int_row.h"
#include "take_reports.h"

#define ROUNDS	2000 // of each pair of networks
#define FOREIGN 99   // node id in telemetry that is in the wrong network
#define MBUFS	255
#define ASKED	(HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP | 0x8000)

enum {
	SOURCE,
	NEAR,
	BORDER,
	FAR,
	SINK,
	NODES
};

struct chain {
	struct test_node nodes[NODES]; // ids from 1 on
	struct hs_int_settings near, far;
	struct rte_mempool *pool;
	struct hs_clock *clock;
	struct int_draft draft;
	uint64_t n_near, n_far, n_foreign;
};

static struct hs_profile profile_of(const struct hs_int_settings *settings, uint8_t domain)
{
	return (struct hs_profile){.family = &hs_int_steps[settings->version],
			.settings = settings,
			.domain = domain};
}

static void open_node(struct chain *c, unsigned n, enum hs_host_side_policy policy)
{
	const enum hs_port_side sides[] = {n == SOURCE ? HS_SIDE_HOST : HS_SIDE_NETWORK,
			n == SINK ? HS_SIDE_HOST : HS_SIDE_NETWORK};
	struct hs_node_config config = {.id = (uint16_t)(n + 1),
			.n_workers = 1,
			.rules = 64,
			.report_ring = 64,
			.n_pairs = 1,
			.pairs = {{0, 1}},
			.host_side_policy = policy};

	if (n != SOURCE)
		config.profiles[0] = n <= BORDER ? profile_of(&c->near, 0) : profile_of(&c->far, 1);
	if (n != SINK)
		config.profiles[1] = n < BORDER ? profile_of(&c->near, 0) : profile_of(&c->far, 1);
	test_node_open(&c->nodes[n], &config, sides, 2, 4000, c->pool, c->clock);
	for (unsigned i = 0; n % 2 == 0 && i < ROW_RULES; i++) { // transit needs none
		struct hs_rule rule = int_row_rule(i, i + 1, ASKED);
		test_node_rule(&c->nodes[n], &rule);
	}
}

static struct chain *open_chain(const struct hs_int_settings *near,
		const struct hs_int_settings *far, enum hs_host_side_policy policy)
{
	struct chain *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->near = *near;
	c->far = *far;
	c->draft.one_flow = true;
	hs_rng_init(&c->draft.rng, 21);
	c->pool = rte_pktmbuf_pool_create("chain", MBUFS, 0, 0, ROW_ROOM, SOCKET_ID_ANY);
	assert_non_null(c->pool);
	assert_int_equal(hs_clock_create_manual(ROW_NOW, &c->clock), 0);
	for (unsigned n = 0; n < NODES; n++)
		open_node(c, n, policy);
	return c;
}

static void close_chain(struct chain *c)
{
	for (unsigned n = 0; n < NODES; n++) {
		test_node_audit(&c->nodes[n]);
		test_node_close(&c->nodes[n]);
	}
	assert_int_equal(rte_mempool_avail_count(c->pool), MBUFS);
	rte_mempool_free(c->pool);
	hs_clock_destroy(c->clock);
	free(c);
}

// Replaces the frame by what comes out. False: nothing does.
static bool through(struct chain *c, unsigned n, struct frame *frame)
{
	uint8_t bytes[ROW_ROOM];

	test_node_feed(&c->nodes[n], 0, frame->bytes, frame->len, 0);
	test_node_run(&c->nodes[n]);
	frame_free(frame);
	size_t len = test_node_take(&c->nodes[n], 1, bytes, sizeof(bytes));
	*frame = frame_of(bytes, len);
	return len;
}

// On a link behind node `last`: values of the nodes from `first` on, of this network's version
// only, and nothing else that the host did not send. Returns whether there is telemetry.
static bool look(struct chain *c, const struct frame *frame, const struct frame *plain,
		unsigned first, unsigned last)
{
	const struct hs_int_settings *own = last < BORDER ? &c->near : &c->far;
	const struct hs_int_settings *other = last < BORDER ? &c->far : &c->near;
	struct frame copy = frame_of(frame->bytes, frame->len);
	struct hs_packet packet;
	struct hs_int_stack stack;
	struct hs_int_values values;

	int_parse(other, frame, &packet);
	assert_false(packet.flags & HS_PACKET_TELEMETRY);
	int_parse(own, frame, &packet);
	int_strip(own, &copy);
	frame_assert_equal(&copy, plain);
	frame_free(&copy);
	if (!(packet.flags & HS_PACKET_TELEMETRY))
		return false;
	assert_int_equal(hs_int_stack_open(own, HS_INT_TYPE_MD, frame->bytes + packet.trace_off,
					 hs_int_stack_bytes(own->version, &packet), &stack),
			0);
	assert_int_equal(stack.n_hops, last - first + 1);
	for (unsigned i = 0; i < stack.n_hops; i++) {
		assert_int_equal(hs_int_stack_hop(&stack, i, &values), 0);
		assert_int_equal(values.node_id, last - i + 1);
	}
	return true;
}

static bool is_reported(struct chain *c, unsigned n, enum hs_int_version version)
{
	struct hs_report_record record;
	struct hs_report report;

	if (!take_reports(c->nodes[n].node, &record, 1))
		return false;
	const struct hs_telemetry_family *format = hs_node_format(c->nodes[n].node, &record);
	assert_ptr_equal(format, &hs_int_formats[version]);
	assert_int_equal(hs_report_decode(&record, format, &report), 0);
	assert_int_equal(report.telemetry.n_hops, 1); // the source is not among them
	assert_int_equal(report.telemetry.hops[0].node_id, n);
	return true;
}

// A host's packet that claims no telemetry, in the tunnel that one of the networks needs.
static struct frame draft(struct chain *c)
{
	bool tunnel = c->near.carrier != HS_INT_TCP_UDP;
	struct frame frame = {0};
	struct hs_packet near, far;

	do {
		frame_free(&frame);
		frame = int_draft_frame(&c->draft, tunnel ? &c->near : &c->far);
		int_parse(&c->near, &frame, &near);
		int_parse(&c->far, &frame, &far);
	} while ((near.flags | far.flags) & HS_PACKET_ANY_TELEMETRY);
	return frame;
}

static void cross(struct chain *c)
{
	struct frame frame = draft(c), plain = frame_of(frame.bytes, frame.len);
	bool near = false, far = false;

	for (unsigned n = 0; n < NODES; n++) {
		assert_true(through(c, n, &frame));
		if (n < BORDER)
			near = look(c, &frame, &plain, SOURCE, n);
		else if (n < SINK)
			far = look(c, &frame, &plain, BORDER, n);
	}
	frame_assert_equal(&frame, &plain);
	frame_free(&frame);
	frame_free(&plain);
	assert_int_equal(is_reported(c, BORDER, c->near.version), near);
	assert_int_equal(is_reported(c, SINK, c->far.version), far);
	c->n_near += near;
	c->n_far += far;
}

// The far network's telemetry in the near network: transit there leaves it alone, and it does not
// pass the border.
static void cross_with_foreign(struct chain *c)
{
	const struct hs_int_request request = {.bitmap = 0x8000};
	const struct hs_int_values values = {.has = HS_INT_HAS_NODE_ID, .node_id = FOREIGN};
	struct frame frame = draft(c), plain = frame_of(frame.bytes, frame.len);

	if (int_source(&c->far, &request, &frame, &values) > 0) {
		struct frame sent = frame_of(frame.bytes, frame.len);
		assert_true(through(c, NEAR, &frame));
		frame_assert_equal(&frame, &sent);
		frame_free(&sent);
		bool passes = through(c, BORDER, &frame);
		if (passes) {
			look(c, &frame, &plain, BORDER, BORDER);
			assert_true(through(c, SINK, &frame));
			frame_assert_equal(&frame, &plain);
		}
		c->n_foreign++;
	}
	frame_free(&frame);
	frame_free(&plain);
	struct hs_report_record record;
	assert_int_equal(take_reports(c->nodes[BORDER].node, &record, 1), 0);
	take_reports(c->nodes[SINK].node, &record, 1);
}

static uint64_t named(struct chain *c)
{
	struct hs_port_counters counters;

	hs_node_port_counters(c->nodes[BORDER].node, 0, &counters);
	return counters.events[HS_EVENT_HOST_TELEMETRY_STRIPPED] +
	       counters.drops[HS_DROP_HOST_TELEMETRY] + counters.drops[HS_DROP_UNSTRIPPABLE];
}

static struct hs_int_settings settings_of(enum hs_int_version version, enum hs_int_carrier carrier)
{
	struct hs_int_settings settings;

	hs_int_settings_init(&settings, version, carrier);
	return settings;
}

static void join(const struct hs_int_settings *near, const struct hs_int_settings *far)
{
	for (unsigned i = 0; i < 4; i++) {
		bool swap = i & 1;
		setenv("HS_GENERAL_PATH", "1", 1);
		if (i & 2)
			unsetenv("HS_GENERAL_PATH");
		struct chain *c = open_chain(swap ? far : near, swap ? near : far,
				i & 2 ? HS_HOST_STRIP : HS_HOST_DROP);
		unsetenv("HS_GENERAL_PATH");
		for (unsigned n = 0; n < ROUNDS; n++)
			cross(c);
		assert_true(c->n_near > ROUNDS / 2 && c->n_far > ROUNDS / 2);
		assert_int_equal(named(c), 0);
		for (unsigned n = 0; n < ROUNDS; n++)
			cross_with_foreign(c);
		assert_true(c->n_foreign > ROUNDS / 2);
		assert_int_equal(named(c), c->n_foreign);
		close_chain(c);
	}
}

static void june_2016_beside_2_1(void **state)
{
	struct hs_int_settings june = settings_of(HS_INT_2016_06, HS_INT_VXLAN_GPE);
	struct hs_int_settings new_gpe = settings_of(HS_INT_2_1, HS_INT_VXLAN_GPE);
	struct hs_int_settings new_dscp = settings_of(HS_INT_2_1, HS_INT_TCP_UDP);
	(void)state;

	join(&june, &new_gpe);
	join(&june, &new_dscp);
}

// The same DSCP is the mark of both.
static void one_and_2_1(void **state)
{
	struct hs_int_settings one = settings_of(HS_INT_1_0, HS_INT_TCP_UDP);
	struct hs_int_settings two = settings_of(HS_INT_2_1, HS_INT_TCP_UDP);
	(void)state;

	join(&one, &two);
}

static void two_marks_of_one_version(void **state)
{
	struct hs_int_settings by_dscp = settings_of(HS_INT_2_1, HS_INT_TCP_UDP);
	struct hs_int_settings by_port = settings_of(HS_INT_2_1, HS_INT_TCP_UDP);
	(void)state;

	by_port.mark = HS_INT_MARK_UDP_PORT;
	by_port.udp_port = 5000;
	join(&by_dscp, &by_port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(june_2016_beside_2_1),
			cmocka_unit_test(one_and_2_1),
			cmocka_unit_test(two_marks_of_one_version),
	};
	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
