// SPDX-License-Identifier: BSD-3-Clause
// Probes at a controller: answers that are right, that lie, and that are noise.
#include "controller_rig.h"

#include "probe.h"
#include "rng.h"

#include <stdlib.h>

#define MS INT64_C(1000000)

// Node 1 leads to node 2. Of two paths, the one that begins at node 2 needs a way and a knock.
static const char probing[] =
		"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
		" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
		" {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"},"
		" {\"name\": \"d\", \"id\": 4, \"api\": \"ipc:///d\"}],"
		" \"probing\": {\"iface\": \"none\", \"first_node\": 1, \"address\": \"10.0.0.1\","
		"  \"period_ms\": 0, \"feedback_ms\": 100, \"attempts\": 1, \"adaptive\": false,"
		"  \"paths\": 2, \"nodes\": [{\"id\": 1, \"first\": 3, \"end\": 5},"
		"   {\"id\": 2, \"end\": 2}],"
		"  \"links\": [{\"node\": 1, \"port\": 7, \"peer\": 2, \"peer_port\": 8}]}}";

static const struct hs_probe_settings settings = {
		HS_PROBE_DSCP, HS_PROBE_FEEDBACK_DSCP, HS_PROBE_RECOVERY_DSCP, HS_PROBE_UDP_PORT};

static int setup_probing(void **state)
{
	(void)state;
	fake_open(&fake, probing);
	return 0;
}

static json_int_t of(const char *object, const char *key)
{
	json_t *status = fake_ok(&fake, "{\"probe_status\": {}}");

	return json_integer_value(json_object_get(json_object_get(status, object), key));
}

static void begin(void)
{
	fake.n_frames = 0;
	fake_ok(&fake, "{\"probe_run\": {}}");
	fake_run(&fake, 10 * MS);
}

static void give(const struct fake_frame *frame)
{
	hs_controller_probe_take(fake.controller, fake.now_ns, frame->bytes, frame->len);
}

// The nodes fill a probe, which comes back from node 2 over node 1; the node of id `liar` names
// itself node 9.
static struct fake_frame filled(const struct fake_frame *sent, unsigned liar)
{
	static const uint32_t values[] = {1000, 2000};
	struct fake_frame frame = *sent;
	struct hs_packet packet;

	hs_probe_parse(&settings, frame.bytes, frame.len, frame.len, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	struct hs_probe_stack stack = hs_probe_stack_of(frame.bytes, &packet);
	for (unsigned i = 0; stack.n_entries; i++) {
		struct hs_probe_entry entry = hs_probe_stack_entry(&stack, 0);
		unsigned id = i % 2 + 1;
		uint16_t n = (uint16_t)(entry.end - entry.first);
		const struct hs_probe_hop hop = {
				.node = id == liar ? 9 : (uint8_t)id, .depth = 4, .n_values = n};
		assert_int_equal(n ? entry.first : 3, id == 1 ? 3 : 0);
		assert_int_equal(entry.port, stack.n_entries == 1 ? 0 : id == 1 ? 7 : 8);
		hs_probe_add(frame.bytes, &packet, &stack, &hop, values);
		frame.len += hs_probe_stack_growth(n);
		stack = hs_probe_stack_of(frame.bytes, &packet);
	}
	return frame;
}

static void right_answers_end_a_session_and_bring_values(void **state)
{
	(void)state;
	begin();
	assert_int_equal(fake.n_frames, 2); // each path has one node
	for (unsigned i = 0; i < 2; i++) {
		struct fake_frame frame = filled(&fake.frames[i], 0);
		give(&frame);
	}
	fake_run(&fake, 10 * MS);
	assert_int_equal(of("session", "nodes_covered"), 2);
	assert_int_equal(of("session", "number"), 1);
	assert_int_equal(of("counters", "malformed") + of("counters", "strange"), 0);
	json_t *nodes = json_object_get(fake_ok(&fake, "{\"probe_status\": {}}"), "nodes");
	for (size_t i = 0; i < 2; i++) {
		json_t *values = json_object_get(json_array_get(nodes, i), "values");
		assert_int_equal(json_array_size(values), 2);
		assert_int_equal(json_integer_value(json_array_get(values, 1)), 2000);
	}
}

static void answers_that_lie_are_counted_and_change_nothing(void **state)
{
	(void)state;
	begin();
	struct fake_frame lie = filled(&fake.frames[0], 1);
	give(&lie); // another node
	assert_int_equal(of("counters", "malformed"), 1);
	give(&fake.frames[0]); // no node has it
	assert_int_equal(of("counters", "malformed"), 2);
	struct fake_frame changed = filled(&fake.frames[0], 0);
	changed.bytes[changed.len - 1] ^= 1;
	give(&changed); // the checksum is wrong
	assert_int_equal(of("counters", "malformed"), 3);
	struct fake_frame strange = filled(&fake.frames[0], 0);
	struct hs_packet packet;
	hs_probe_parse(&settings, strange.bytes, strange.len, strange.len, &packet);
	strange.bytes[packet.trace_off] ^= 0x40; // another ID
	memset(strange.bytes + packet.l4_off + 6, 0, 2);
	give(&strange);
	assert_int_equal(of("counters", "strange"), 1);
	fake_run(&fake, SECOND);
	assert_int_equal(of("session", "nodes_covered"), 0);
	assert_int_equal(of("session", "nodes_unavailable"), 2);
	struct fake_frame late = filled(&fake.frames[0], 0);
	give(&late); // no session runs
	assert_int_equal(of("counters", "strange"), 2);
}

// The first node has the probes: it gives feedback, but none comes back.
static void run_with_feedback_alone(void)
{
	json_int_t before = of("counters", "sessions");

	for (begin(); of("counters", "sessions") == before; fake_run(&fake, 10 * MS)) {
		for (unsigned i = 0; i < fake.n_frames; i++) {
			struct fake_frame feedback;
			struct hs_packet packet;
			const struct fake_frame *sent = &fake.frames[i];
			hs_probe_parse(&settings, sent->bytes, sent->len, sent->len, &packet);
			feedback.len = hs_probe_feedback(
					&settings, sent->bytes, &packet, feedback.bytes);
			give(&feedback);
		}
		fake.n_frames = 0;
	}
}

static const char *state_of_node(size_t at)
{
	json_t *nodes = json_object_get(fake_ok(&fake, "{\"probe_status\": {}}"), "nodes");

	return json_string_value(json_object_get(json_array_get(nodes, at), "state"));
}

static void a_node_of_which_a_session_says_nothing_does_not_answer_again(void **state)
{
	(void)state;
	begin();
	fake_run(&fake, SECOND);
	assert_string_equal(state_of_node(0), "unavailable");
	assert_int_equal(fake_events(&fake, "probe_node_unavailable"), 2);
	run_with_feedback_alone();
	assert_string_equal(state_of_node(0), "unknown");
	assert_int_equal(of("counters", "failed"), 1);
	assert_int_equal(fake_events(&fake, "probe_node_available"), 0);
	begin();
	for (unsigned i = 0; i < 2; i++) {
		struct fake_frame frame = filled(&fake.frames[i], 0);
		give(&frame);
	}
	fake_run(&fake, 10 * MS);
	assert_string_equal(state_of_node(0), "available");
	assert_int_equal(fake_events(&fake, "probe_node_available"), 2);
	assert_int_equal(fake_events(&fake, "probe_node_unavailable"), 2);
}

static uint16_t first_id(void)
{
	struct hs_packet packet;
	const struct fake_frame *frame = &fake.frames[0];

	begin();
	hs_probe_parse(&settings, frame->bytes, frame->len, frame->len, &packet);
	return hs_probe_id(frame->bytes, &packet);
}

// Nodes know an ID for a while: they give no feedback to it again, and may hold a copy of it.
static void a_controller_that_restarts_sends_other_request_ids(void **state)
{
	(void)state;
	uint16_t before = first_id();

	for (unsigned i = 0; i < 10; i++) {
		uint16_t stopped = (uint16_t)(before + fake.n_frames), id;
		struct fake_frame late = filled(&fake.frames[0], 0);
		fake_reopen(&fake);
		id = first_id();
		assert_true((uint16_t)(id - before) >= (uint16_t)(stopped - before));
		give(&late);
		assert_int_equal(of("counters", "strange"), 1);
		before = id;
		fake_run(&fake, 100 * MS);
	}
}

static void noise_in_answers_does_no_harm(void **state)
{
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 1);
	for (unsigned i = 0; i < 20000; i++) {
		if (i % 1000 == 0) {
			fake_run(&fake, SECOND);
			begin();
		}
		struct fake_frame frame = filled(&fake.frames[i % 2], 0);
		// Without a checksum of UDP, what is in the payload is looked at.
		memset(frame.bytes + 40, 0, 2);
		for (unsigned j = 0; j < 3; j++)
			frame.bytes[42 + hs_rng_u32(&rng) % (frame.len - 42)] =
					(uint8_t)hs_rng_u32(&rng);
		give(&frame);
	}
	fake_run(&fake, SECOND);
	assert_int_equal(of("counters", "received"), 20000);
	assert_true(of("counters", "malformed") > 1000);
}

static void a_key_that_may_only_read_begins_no_session(void **state)
{
	static const char text[] = "{\"probe_run\": {}}";

	(void)state;
	fake.n_frames = 0;
	hs_controller_request(fake.controller, fake.now_ns, &fake, text, strlen(text), false);
	const json_t *code = json_object_get(json_object_get(fake.reply, "error"), "code");
	assert_string_equal(json_string_value(code), "read_only");
	fake_run(&fake, 10 * MS);
	assert_int_equal(fake.n_frames, 0);
}

// ---- ways ----

// Ports are named by both ends: 10 * node + peer. One path covers the triangle.
static const char triangle[] =
		"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
		" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
		" {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"}],"
		" \"probing\": {\"iface\": \"none\", \"first_node\": 1, \"address\": \"10.0.0.1\","
		"  \"period_ms\": 0, \"feedback_ms\": 100, \"attempts\": 1, \"adaptive\": false,"
		"  \"nodes\": [{\"id\": 1}, {\"id\": 2}, {\"id\": 3}], \"links\": ["
		"  {\"node\": 1, \"port\": 12, \"peer\": 2, \"peer_port\": 21},"
		"  {\"node\": 1, \"port\": 13, \"peer\": 3, \"peer_port\": 31},"
		"  {\"node\": 2, \"port\": 23, \"peer\": 3, \"peer_port\": 32}]}}";

static int setup_triangle(void **state)
{
	(void)state;
	fake_open(&fake, triangle);
	return 0;
}

// What the nodes do with a probe, if one of them is dead, or nothing passes a port.
static void serve(const struct fake_frame *sent, unsigned dead, unsigned cut)
{
	struct fake_frame frame = *sent;
	struct hs_packet packet;

	for (unsigned at = 1; at;) {
		hs_probe_parse(&settings, frame.bytes, frame.len, frame.len, &packet);
		struct hs_probe_stack stack = hs_probe_stack_of(frame.bytes, &packet);
		unsigned port = hs_probe_stack_entry(&stack, 0).port;
		const struct hs_probe_hop hop = {.node = (uint8_t)at};
		hs_probe_add(frame.bytes, &packet, &stack, &hop, NULL);
		frame.len += hs_probe_stack_growth(0);
		at = port % 10;
		if (port && (at == dead || port == cut)) {
			hs_probe_mark_recovery(&settings, frame.bytes, packet.l3_off);
			at = 0;
		}
	}
	give(&frame);
}

static void run_session(unsigned dead, unsigned cut)
{
	json_int_t before = of("counters", "sessions");

	for (begin(); of("counters", "sessions") == before; fake_run(&fake, 10 * MS)) {
		for (unsigned i = 0; i < fake.n_frames; i++)
			serve(&fake.frames[i], dead, cut);
		fake.n_frames = 0;
	}
}

static bool is_planned(unsigned port)
{
	json_t *links = json_object_get(fake_ok(&fake, "{\"probe_links\": {}}"), "links"), *link;
	bool planned = false;
	size_t i;

	json_array_foreach (links, i, link)
		if (json_integer_value(json_object_get(link, "port")) == port)
			planned = json_is_true(json_object_get(link, "planned"));
	return planned;
}

// While the node was dead, its other link lost probes, too, and no path crosses that.
static void a_way_that_was_lost_with_its_node_is_taken_again(void **state)
{
	(void)state;
	assert_true(is_planned(12) && is_planned(23));
	for (unsigned i = 0; i < 10; i++) {
		run_session(3, 0);
		assert_int_equal(of("session", "nodes_unavailable"), 1);
	}
	run_session(0, 0);
	assert_int_equal(of("session", "nodes_covered"), 3);
	run_session(0, 23);
	assert_int_equal(of("session", "nodes_covered"), 3);
	assert_int_equal(of("session", "links_unavailable"), 1);
}

static void without_probing_the_verbs_are_refused(void **state)
{
	static const char frame[64] = {0};

	(void)state;
	assert_string_equal(fake_error(&fake, "{\"probe_run\": {}}"), "unsupported");
	assert_string_equal(fake_error(&fake, "{\"probe_status\": {}}"), "unsupported");
	assert_string_equal(fake_error(&fake, "{\"probe_links\": {}}"), "unsupported");
	hs_controller_probe_take(
			fake.controller, fake.now_ns, (const uint8_t *)frame, sizeof(frame));
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, setup_probing, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			WITH(right_answers_end_a_session_and_bring_values),
			WITH(answers_that_lie_are_counted_and_change_nothing),
			WITH(a_node_of_which_a_session_says_nothing_does_not_answer_again),
			WITH(a_controller_that_restarts_sends_other_request_ids),
			WITH(noise_in_answers_does_no_harm),
			WITH(a_key_that_may_only_read_begins_no_session),
			cmocka_unit_test_setup_teardown(
					a_way_that_was_lost_with_its_node_is_taken_again,
					setup_triangle, teardown),
			TEST(without_probing_the_verbs_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
