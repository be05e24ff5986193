// SPDX-License-Identifier: BSD-3-Clause
// A controller over a ring of four nodes, or over two nodes with parallel links. The nodes answer
// probes and keep the routes that they are told. A packet of a test goes by these routes alone.
#pragma once

#include "controller_rig.h"

#include "ip_address.h"
#include "probe.h"

#define MS INT64_C(1000000)

// Port 1 of each node leads to the node before it, port 2 to the next one.
#define RING_OF(how, more)                                                                         \
	"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"                        \
	" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"                                    \
	" {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"},"                                    \
	" {\"name\": \"d\", \"id\": 4, \"api\": \"ipc:///d\"}],"                                   \
	" \"probing\": {\"iface\": \"none\", \"first_node\": 1, \"address\": \"10.0.0.1\","        \
	"  \"period_ms\": 100, \"resolution_ms\": 1, \"attempts\": 3," how                         \
	"  \"nodes\": [{\"id\": 1}, {\"id\": 2}, {\"id\": 3}, {\"id\": 4}],"                       \
	"  \"links\": [{\"node\": 1, \"port\": 2, \"peer\": 2, \"peer_port\": 1},"                 \
	"   {\"node\": 2, \"port\": 2, \"peer\": 3, \"peer_port\": 1},"                            \
	"   {\"node\": 3, \"port\": 2, \"peer\": 4, \"peer_port\": 1},"                            \
	"   {\"node\": 4, \"port\": 2, \"peer\": 1, \"peer_port\": 1}]" more "}}"

#define RING(more) RING_OF("\"feedback_ms\": 8, \"adaptive\": false, \"plan\": \"euler\",", more)

static const char with[] = RING(", \"reroute\": {\"hold_ms\": 1000, \"max_hold_ms\": 60000,"
				" \"destinations\": [{\"prefix\": \"10.1.0.0/16\", \"node\": 1},"
				"  {\"prefix\": \"10.3.0.0/16\", \"node\": 3}]}");

// Two links between the same ports of two nodes. The second one is the first of the list.
static const char parallel[] =
		"{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
		" {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"}],"
		" \"probing\": {\"iface\": \"none\", \"first_node\": 1, \"address\": \"10.0.0.1\","
		"  \"period_ms\": 100, \"resolution_ms\": 1, \"attempts\": 3, \"feedback_ms\": 8,"
		"  \"adaptive\": false, \"plan\": \"euler\", \"nodes\": [{\"id\": 1}, {\"id\": 2}],"
		"  \"links\": [{\"node\": 1, \"port\": 2, \"peer\": 2, \"peer_port\": 2},"
		"   {\"node\": 1, \"port\": 1, \"peer\": 2, \"peer_port\": 1}],"
		"  \"reroute\": {\"hold_ms\": 1000, \"destinations\": ["
		"   {\"prefix\": \"10.1.0.0/16\", \"node\": 1},"
		"   {\"prefix\": \"10.3.0.0/16\", \"node\": 2}]}}}";

static const struct hs_probe_settings settings = {
		HS_PROBE_DSCP, HS_PROBE_FEEDBACK_DSCP, HS_PROBE_RECOVERY_DSCP, HS_PROBE_UDP_PORT};

static bool pair;    // two nodes with parallel links in place of the ring
static bool cut[4];  // the link behind port 2 of a node; of a pair: behind these ports
static bool slow[4]; // the same link: probes cross it, but feedback comes too late
static bool dead[4]; // the node passes nothing
static bool mute;    // no probe comes back
static unsigned loss_percent, rolled;
static unsigned loops;

// ---- the network of probes ----

static inline unsigned behind(unsigned node, unsigned port)
{
	return pair ? !node : (node + (port == 1 ? 3 : 1)) % 4;
}

// Of a link, by the port at one end.
static inline unsigned other_port(unsigned port)
{
	return pair ? port : 3 - port;
}

static inline bool passes(unsigned node, unsigned port)
{
	unsigned link = pair ? port - 1 : port == 1 ? behind(node, 1) : node;

	return !cut[link] && !dead[behind(node, port)];
}

static inline bool is_slow(unsigned node, unsigned port)
{
	return slow[port == 1 ? behind(node, 1) : node];
}

static inline bool is_lost(void)
{
	rolled = rolled * 1664525 + 1013904223;
	return (rolled >> 16) % 100 < loss_percent;
}

static inline void give(const struct fake_frame *frame)
{
	if (!mute)
		hs_controller_probe_take(fake.controller, fake.now_ns, frame->bytes, frame->len);
}

static inline void give_feedback(const struct fake_frame *frame, const struct hs_packet *packet)
{
	struct fake_frame feedback;

	feedback.len = hs_probe_feedback(&settings, frame->bytes, packet, feedback.bytes);
	give(&feedback);
}

// What a node sends to the monitor leaves by these ports, whatever happens.
static inline bool leads_back(unsigned at)
{
	static const unsigned monitor_port[4] = {0, 1, 1, 2};

	for (; at != 0; at = behind(at, monitor_port[at]))
		if (!passes(at, monitor_port[at]))
			return false;
	return true;
}

// A copy of a probe that goes on.
static inline void give_copy(struct fake_frame frame, const struct hs_packet *packet)
{
	hs_probe_mark_recovery(&settings, frame.bytes, packet->l3_off);
	give(&frame);
}

// Sends a probe from node to node. It comes back at its end, or as a copy of the node that lost it.
static inline void send_probe(struct fake_frame frame)
{
	struct hs_packet packet;
	unsigned at = 0;

	if (dead[0])
		return;
	hs_probe_parse(&settings, frame.bytes, frame.len, frame.len, &packet);
	give_feedback(&frame, &packet);
	for (;;) {
		struct hs_probe_stack stack = hs_probe_stack_of(frame.bytes, &packet);
		struct hs_probe_entry entry = hs_probe_stack_entry(&stack, 0);
		const struct hs_probe_hop hop = {.node = (uint8_t)(at + 1)};
		bool last = stack.n_entries == 1;
		hs_probe_add(frame.bytes, &packet, &stack, &hop, NULL);
		frame.len += hs_probe_stack_growth(0);
		bool lost = !last && (!passes(at, entry.port) || is_lost());
		if (lost)
			hs_probe_mark_recovery(&settings, frame.bytes, packet.l3_off);
		if (last || lost)
			break;
		if (is_slow(at, entry.port) && leads_back(at))
			give_copy(frame, &packet);
		at = behind(at, entry.port);
	}
	if (leads_back(at))
		give(&frame);
}

// ---- the network of packets ----

static inline const struct hs_route_entry *route_at(unsigned node, unsigned to)
{
	uint8_t prefix[16];

	hs_ip_address_read(to == 0 ? "10.1.0.0" : "10.3.0.0", prefix);
	return hs_route_book_find(fake.nodes[node].routes, prefix, 112);
}

// Returns the nodes that a packet passes on its way to a node, or 0: it is lost.
static inline unsigned hops(unsigned from, unsigned to)
{
	unsigned at = from, n = 1;

	for (; at != to; n++) {
		const struct hs_route_entry *route = route_at(at, to);
		if (n > 4) {
			loops++;
			return 0;
		}
		if (!route || !passes(at, route->port))
			return 0;
		at = behind(at, route->port);
		if (route->mac[3] != fake.nodes[at].macs)
			return 0; // nobody has this address any more
		// The MAC address is that of the port at the other end.
		assert_int_equal(route->mac[4], at + 1);
		assert_int_equal(route->mac[5], other_port(route->port));
	}
	return n;
}

static inline void run(int64_t ns)
{
	for (int64_t end_ns = fake.now_ns + ns; fake.now_ns < end_ns;) {
		fake.n_frames = 0;
		fake_run(&fake, MS);
		for (unsigned i = 0; i < fake.n_frames && i < FAKE_FRAMES; i++)
			send_probe(fake.frames[i]);
		for (unsigned i = 0; i < (pair ? 2 : 4); i++) {
			hops(i, 0);
			hops(i, pair ? 1 : 2);
		}
	}
}

static inline json_int_t of(const char *verb, const char *key)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"%s\": {}}", verb);
	return json_integer_value(json_object_get(fake_ok(&fake, text), key));
}

static inline json_int_t sessions(void)
{
	json_t *status = fake_ok(&fake, "{\"probe_status\": {}}");

	return json_integer_value(json_object_get(json_object_get(status, "counters"), "sessions"));
}

static inline void run_sessions(unsigned n)
{
	json_int_t end = sessions() + n;
	int64_t limit_ns = fake.now_ns + 300 * SECOND;

	while (sessions() < end) {
		run(MS);
		assert_true(fake.now_ns < limit_ns);
	}
	run(20 * MS); // nodes are told
}

static inline unsigned told(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		n += fake.nodes[i].n_requests[HS_VERB_ROUTE_ADD];
	return n;
}

static inline const char *use_of(unsigned at)
{
	json_t *links = json_object_get(fake_ok(&fake, "{\"probe_links\": {}}"), "links");

	return json_string_value(json_object_get(json_array_get(links, at), "use"));
}

static inline void open_ring(const char *text)
{
	fake_open(&fake, text);
	memset(cut, 0, sizeof(cut));
	memset(slow, 0, sizeof(slow));
	memset(dead, 0, sizeof(dead));
	mute = false;
	pair = text == parallel;
	loss_percent = rolled = 0;
	loops = 0;
	for (unsigned i = 0; i < 4; i++)
		fake_route(&fake, i);
}

static inline int setup_ring(void **state)
{
	(void)state;
	open_ring(with);
	run_sessions(2);
	assert_int_equal(hops(1, 2), 2);
	return 0;
}

static inline int teardown_ring(void **state)
{
	assert_int_equal(loops, 0);
	return teardown(state);
}

#define ON_RING(name) cmocka_unit_test_setup_teardown(name, setup_ring, teardown_ring)
