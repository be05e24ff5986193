// SPDX-License-Identifier: BSD-3-Clause
// Mutated packets at nodes with INT-label: whatever comes, counters add up, no buffer is lost, and
// nothing that claims INT-label reaches a host.
#include "label_stand.h"

#include "rng.h"
#include "sanitized.h"

#include <jansson.h>

#define PACKETS CASES(100000) // at all nodes together
#define ROOM	2048

static json_t *vectors;
static struct hs_rng rng;

static uint32_t below(uint32_t n)
{
	return hs_rng_u32(&rng) % n;
}

static size_t some_frame(uint8_t *frame)
{
	const json_t *object = json_array_get(vectors, below((uint32_t)json_array_size(vectors)));
	const json_t *hops = json_object_get(object, "hops");
	const json_t *hop = json_array_get(hops, below((uint32_t)json_array_size(hops)));
	const char *text = json_string_value(below(3) ? json_object_get(hop, "frame")
						      : json_object_get(object, "plain"));

	return strlen(text) / 2 < ROOM ? unhex(text, frame) : 0;
}

static size_t mutate(uint8_t *frame, size_t len)
{
	static const uint8_t edges[] = {0, 1, 2, 0x3e, 0x7f, 0x80, 0xfd, 0xff};
	unsigned n = below(6);

	for (unsigned i = 0; i < n; i++) { // rather the headers than what is behind them
		size_t at = below(2) ? 12 + below(60) : below((uint32_t)len);
		if (at < len)
			frame[at] = below(2) ? edges[below(8)] : (uint8_t)hs_rng_u32(&rng);
	}
	return below(8) ? len : 14 + below((uint32_t)(len - 13));
}

static void feed(struct stand *s, const uint8_t *frame, size_t len)
{
	static const size_t headrooms[] = {128, 128, 40, 8, 0};
	struct test_port *port = &s->t.ports[IN];
	size_t first = below(4) ? len : 1 + below((uint32_t)len);

	test_node_feed(&s->t, IN, frame, len, first);
	struct rte_mbuf *m = port->in[port->n_in - 1];
	size_t move = 128 - headrooms[below(5)];
	if (move && rte_pktmbuf_headroom(m) >= move) { // the same bytes nearer to the start
		memmove((uint8_t *)rte_pktmbuf_mtod(m, uint8_t *) - move,
				rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_data_len(m));
		m->data_off = (uint16_t)(m->data_off - move);
	}
}

static void look_at_host(const struct stand *s, const uint8_t *frame, size_t len)
{
	struct hs_packet packet;

	hs_label_parse(&s->profile.wire, frame, len, len, &packet);
	assert_false(packet.flags & HS_PACKET_ANY_TELEMETRY);
}

// Of what hosts sent, the node tells its own item and no other.
static void look_at_datagram(const uint8_t *payload, size_t len)
{
	struct hs_label_export told;
	struct hs_label_item item;

	assert_int_equal(hs_label_export_read(payload, len, &told), 0);
	assert_int_equal(told.n_items, 1);
	assert_false(told.specific);
	hs_label_item_read(told.items, &item);
	assert_int_equal(item.node_id, NODE_ID);
	assert_int_equal(item.egress_port, 11 + OUT);
}

// Returns how many frames left by OUT.
static unsigned drain(struct stand *s, const enum hs_port_side *sides)
{
	uint8_t out[9600];
	unsigned n = 0;
	size_t len;

	test_node_run(&s->t);
	for (; (len = test_node_take(&s->t, OUT, out, sizeof(out))); n++)
		if (sides[OUT] == HS_SIDE_HOST)
			look_at_host(s, out, len);
	while ((len = test_node_take(&s->t, MONITOR, out, sizeof(out))))
		if (sides == LOCAL)
			look_at_datagram(out + FRONT, len - FRONT);
	return n;
}

static void torture(const enum hs_port_side *sides, enum hs_host_side_policy policy, uint64_t seed)
{
	uint8_t frame[ROOM];
	unsigned delivered = 0;

	hs_rng_init(&rng, seed);
	stand_config.host_side_policy = policy;
	struct stand *s = stand_open(sides, usual(), 1, 0);
	for (unsigned i = 0; i < PACKETS / 5; i++) {
		size_t len = some_frame(frame);
		if (!len)
			continue;
		feed(s, frame, mutate(frame, len));
		if (i % 16 == 15) {
			advance(s, 1000);
			delivered += drain(s, sides);
		}
	}
	delivered += drain(s, sides);
	assert_true(delivered > 0);
	assert_true(labels_of(s));
	stand_close(s);
}

static void a_source_takes_what_hosts_send(void **state)
{
	(void)state;
	torture(SOURCE, HS_HOST_STRIP, 1);
	torture(SOURCE, HS_HOST_DROP, 2);
}

static void a_node_in_transit_takes_what_comes(void **state)
{
	(void)state;
	torture(TRANSIT, HS_HOST_STRIP, 3);
}

static void a_sink_lets_no_claim_through(void **state)
{
	(void)state;
	torture(SINK, HS_HOST_STRIP, 4);
}

static void a_node_between_hosts_tells_its_own_items_only(void **state)
{
	(void)state;
	torture(LOCAL, HS_HOST_STRIP, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_source_takes_what_hosts_send),
			cmocka_unit_test(a_node_in_transit_takes_what_comes),
			cmocka_unit_test(a_sink_lets_no_claim_through),
			cmocka_unit_test(a_node_between_hosts_tells_its_own_items_only),
	};

	dpdk_env_init("128");
	vectors = json_load_file(HS_GOLDEN, 0, NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(vectors);
	return failed;
}
