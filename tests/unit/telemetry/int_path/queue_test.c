// SPDX-License-Identifier: BSD-3-Clause
// What INT says of a port with an egress queue and of one without, byte by byte, against a count of
// its own: a source and a transit node in virtual time, with and without the fast path.
#include "int_steps.h"
#include "toy_flow.h"

#include <math.h>

#define NOW	  INT64_C(1700000000000000000)
#define BYTE_NS	  1000 // at 8 Mb/s
#define LIMIT	  4
#define IN_ID	  700
#define BUFFERS	  255
#define AVERAGE_S 0.01

#define ALL                                                                                        \
	(HS_RULE_ASKS_node_id | HS_RULE_ASKS_ports | HS_RULE_ASKS_hop_latency |                    \
			HS_RULE_ASKS_queue | HS_RULE_ASKS_ingress_timestamp |                      \
			HS_RULE_ASKS_egress_timestamp | HS_RULE_ASKS_link_utilisation)

struct stand {
	struct test_node nodes[2]; // source, transit
	struct hs_int_settings settings;
	struct rte_mempool *pool;
	struct hs_clock *clock;
	uint32_t out_id;
};

// What a hop must say, in the words of the newest version.
struct want {
	uint32_t node_id, in_id, out_id;
	int64_t received_ns, sent_ns;
	bool queued;
	uint32_t depth, congestion, utilisation, buffer;
};

// ---- a queue that is counted here ----

struct count {
	int64_t departs_ns[64];
	unsigned n;
	int64_t from_ns; // of the average
	double busy;
};

static void count_until(struct count *c, int64_t now_ns)
{
	int64_t end_ns = c->n ? c->departs_ns[c->n - 1] : 0;
	int64_t busy_ns =
			end_ns > c->from_ns ? (end_ns < now_ns ? end_ns : now_ns) - c->from_ns : 0;

	c->busy = 1 - (1 - c->busy) * exp(-(double)busy_ns / 1e9 / AVERAGE_S);
	c->busy *= exp(-(double)(now_ns - c->from_ns - busy_ns) / 1e9 / AVERAGE_S);
	c->from_ns = now_ns;
}

static void count_packet(struct count *c, int64_t now_ns, size_t len, struct want *want)
{
	int64_t start_ns =
			c->n && c->departs_ns[c->n - 1] > now_ns ? c->departs_ns[c->n - 1] : now_ns;

	want->queued = true;
	want->depth = 0;
	for (unsigned k = 0; k < c->n; k++)
		want->depth += c->departs_ns[k] > now_ns;
	want->congestion = want->depth * 10000 / LIMIT;
	want->utilisation = (uint32_t)(c->busy * 10000 + 0.5);
	want->sent_ns = start_ns + (int64_t)len * BYTE_NS;
	c->departs_ns[c->n++] = want->sent_ns;
}

// ---- the stand ----

static void open_node(struct stand *s, unsigned n, bool queued, bool general)
{
	static const enum hs_port_side sides[2][2] = {
			{HS_SIDE_HOST, HS_SIDE_NETWORK}, {HS_SIDE_NETWORK, HS_SIDE_NETWORK}};
	const struct hs_profile profile = {
			.family = &hs_int_steps[s->settings.version], .settings = &s->settings};
	struct hs_node_config config = {.id = (uint16_t)(n + 11),
			.n_workers = 1,
			.rules = 64,
			.n_pairs = 1,
			.pairs = {{0, 1}}};

	for (unsigned p = 0; p < 2; p++)
		if (sides[n][p] == HS_SIDE_NETWORK)
			config.profiles[p] = profile;
	test_port_configs[0].id = IN_ID;
	test_port_configs[1].id = s->out_id;
	test_port_configs[1].rate_bps = queued ? 8000000 : 0;
	test_port_configs[1].queue_packets = queued ? LIMIT : 0;
	if (general)
		setenv("HS_GENERAL_PATH", "1", 1);
	test_node_open(&s->nodes[n], &config, sides[n], 2, 1500, s->pool, s->clock);
	unsetenv("HS_GENERAL_PATH");
	memset(test_port_configs, 0, sizeof(test_port_configs));
}

static struct stand *open_stand(
		enum hs_int_version version, uint32_t out_id, bool queued, bool general)
{
	struct stand *s = calloc(1, sizeof(*s));
	struct hs_rule rule = vector_rule(7);

	hs_int_settings_init(&s->settings, version,
			version == HS_INT_2016_06 ? HS_INT_VXLAN_GPE : HS_INT_TCP_UDP);
	s->out_id = out_id;
	s->pool = rte_pktmbuf_pool_create("stand", BUFFERS, 0, 0, 2048, SOCKET_ID_ANY);
	assert_non_null(s->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &s->clock), 0);
	for (unsigned n = 0; n < 2; n++)
		open_node(s, n, queued, general);
	rule.method = HS_RULE_INT;
	rule.dst_port = version == HS_INT_2016_06 ? HS_INT_GPE_PORT : rule.dst_port;
	rule.trace_type = HS_RULE_TRACE_INT | ALL |
			  (version == HS_INT_2016_06 ? HS_RULE_ASKS_queue_congestion
						     : HS_RULE_ASKS_buffer);
	test_node_rule(&s->nodes[0], &rule);
	return s;
}

static void close_stand(struct stand *s)
{
	for (unsigned n = 0; n < 2; n++) {
		test_node_audit(&s->nodes[n]);
		test_node_close(&s->nodes[n]);
	}
	assert_int_equal(rte_mempool_avail_count(s->pool), BUFFERS);
	rte_mempool_free(s->pool);
	hs_clock_destroy(s->clock);
	free(s);
}

// What a host sends; of 2016-06 a VXLAN-GPE tunnel, whose source adds INT.
static size_t host_frame(enum hs_int_version version, uint8_t *frame)
{
	static const uint8_t tunnel[] = {
			0x0c, 0, 0, 3, 0, 0, 42, 0, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
	size_t len = unhex(PACKET, frame);

	if (version != HS_INT_2016_06)
		return len;
	len = 14 + 40 + 8;
	memcpy(frame + len, tunnel, sizeof(tunnel));
	len += sizeof(tunnel) + 46; // the inner frame's payload is 0
	frame[19] = frame[59] = (uint8_t)(len - 54);
	frame[56] = HS_INT_GPE_PORT >> 8;
	frame[57] = (uint8_t)HS_INT_GPE_PORT;
	return len;
}

// ---- words ----

static uint64_t word(const uint8_t **at, unsigned bytes)
{
	uint64_t value = 0;

	for (; bytes; bytes--)
		value = value << 8 | *(*at)++;
	return value;
}

static void check_share(uint64_t got, uint32_t want)
{
	assert_true(got + 1 >= want && got <= want + 1);
}

static void check_2_1(const uint8_t *at, const struct want *w)
{
	assert_int_equal(word(&at, 4), w->node_id);
	assert_int_equal(word(&at, 2), w->in_id);
	assert_int_equal(word(&at, 2), w->out_id > 0xfffe ? 0xffff : w->out_id);
	assert_int_equal(word(&at, 4), w->sent_ns - w->received_ns);
	assert_int_equal(word(&at, 1), w->queued ? 0 : 0xff);
	assert_int_equal(word(&at, 3), w->queued ? w->depth : 0xffffff);
	assert_int_equal(word(&at, 8), w->received_ns);
	assert_int_equal(word(&at, 8), w->sent_ns);
	if (w->queued)
		check_share(word(&at, 4), w->utilisation);
	else
		assert_int_equal(word(&at, 4), 0xffffffff);
	assert_int_equal(word(&at, 1), w->queued ? 0 : 0xff);
	assert_int_equal(word(&at, 3), w->queued ? w->buffer : 0xffffff);
}

// The first bit is the bottom of the stack's.
static uint64_t word_2016(const uint8_t **at)
{
	return word(at, 4) & 0x7fffffff;
}

static void check_2016(const uint8_t *at, const struct want *w)
{
	assert_int_equal(word_2016(&at), w->node_id);
	assert_int_equal(word_2016(&at), w->in_id);
	assert_int_equal(word_2016(&at), w->sent_ns - w->received_ns);
	assert_int_equal(word_2016(&at), w->queued ? w->depth : 0x7fffffff);
	assert_int_equal(word_2016(&at), w->received_ns & 0x7fffffff);
	assert_int_equal(word_2016(&at), w->out_id);
	assert_int_equal(word_2016(&at), w->queued ? w->congestion : 0x7fffffff);
	if (w->queued)
		check_share(word_2016(&at), w->utilisation);
	else
		assert_int_equal(word_2016(&at), 0x7fffffff);
}

static void check(const struct stand *s, const uint8_t *frame, size_t len, const struct want *want)
{
	struct hs_packet packet;

	hs_int_parse(&s->settings, frame, len, len, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	const uint8_t *hops = frame + packet.trace_off + hs_int_head_bytes(s->settings.version);
	(s->settings.version == HS_INT_2016_06 ? check_2016 : check_2_1)(hops, want);
}

// ---- runs ----

// So many packets at once through a node; those that came out, as they left it.
static unsigned through(struct stand *s, unsigned n, int64_t now_ns, unsigned packets,
		uint8_t frames[][512], size_t *lens)
{
	struct test_node *node = &s->nodes[n];
	unsigned out = 0;

	hs_clock_set(s->clock, now_ns);
	for (unsigned i = 0; i < packets; i++)
		test_node_feed(node, 0, frames[i], lens[i], 0);
	test_node_run(node);
	test_node_audit(node);
	// Telemetry is what was written when the packet was queued.
	hs_clock_set(s->clock, now_ns + INT64_C(1000000000));
	test_node_run(node);
	while ((lens[out] = test_node_take(node, 1, frames[out], 512)))
		out++;
	return out;
}

// The transit node adds nothing to some packets of 2.1, whose remaining hop count is 0. They wait
// in the queue between the others.
static bool is_exhausted(const struct stand *s, unsigned n, unsigned i)
{
	return s->settings.version == HS_INT_2_1 && n == 1 && i % 3 == 1;
}

static void exhaust(const struct stand *s, uint8_t *frame, size_t len)
{
	struct hs_packet packet;

	hs_int_parse(&s->settings, frame, len, len, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	frame[packet.trace_off + 3] = 0;
}

static void run(enum hs_int_version version, uint32_t out_id, bool queued, bool general)
{
	static const unsigned bursts[] = {1, 3, 8, 2, 5};
	struct stand *s = open_stand(version, out_id, queued, general);
	struct count counts[2] = {0};
	uint8_t frames[9][512];
	size_t lens[9];
	int64_t now_ns = NOW;

	for (unsigned b = 0; b < 5; b++) {
		unsigned packets = bursts[b];
		for (unsigned i = 0; i < packets; i++)
			lens[i] = host_frame(version, frames[i]);
		for (unsigned n = 0; n < 2; n++) {
			struct want want = {.node_id = n + 11,
					.in_id = IN_ID,
					.out_id = out_id,
					.received_ns = now_ns,
					.sent_ns = now_ns,
					.buffer = (packets * 20000 + BUFFERS) / (2 * BUFFERS)};
			for (unsigned i = 0; i < packets; i++)
				if (is_exhausted(s, n, i))
					exhaust(s, frames[i], lens[i]);
			size_t len = lens[0];
			unsigned out = through(s, n, now_ns, packets, frames, lens);
			count_until(&counts[n], now_ns);
			assert_int_equal(out, queued && packets > LIMIT + 1 ? LIMIT + 1 : packets);
			for (unsigned i = 0; i < out; i++) {
				if (queued)
					count_packet(&counts[n], now_ns, lens[i], &want);
				if (is_exhausted(s, n, i))
					assert_int_equal(lens[i], len);
				else
					check(s, frames[i], lens[i], &want);
			}
			packets = out;
			now_ns += INT64_C(2000000000) + 12345;
		}
	}
	close_stand(s);
}

static void every_value_is_what_a_count_says(void **state)
{
	(void)state;
	for (unsigned general = 0; general < 2; general++) {
		run(HS_INT_2_1, 65534, true, general);
		run(HS_INT_2_1, 70000, true, general); // too wide for 2.1: not available
		run(HS_INT_2016_06, 70000, true, general);
	}
}

static void without_a_queue_its_values_are_not_available(void **state)
{
	(void)state;
	for (unsigned general = 0; general < 2; general++) {
		run(HS_INT_2_1, 3, false, general);
		run(HS_INT_2016_06, 3, false, general);
	}
}

// The queue fills from burst to burst, and refuses packets.
static void packets_of_two_bursts_count(void **state)
{
	struct stand *s = open_stand(HS_INT_2_1, 3, true, false);
	struct count count = {0};
	uint8_t frame[512];
	(void)state;

	for (unsigned b = 0; b < 12; b++) { // the queue fills: a packet each 60 us, it needs more
		int64_t now_ns = NOW + b * 60000;
		hs_clock_set(s->clock, now_ns);
		test_node_feed(&s->nodes[0], 0, frame, host_frame(HS_INT_2_1, frame), 0);
		test_node_run(&s->nodes[0]);
		test_node_audit(&s->nodes[0]);
	}
	hs_clock_set(s->clock, NOW + 1000000000);
	test_node_run(&s->nodes[0]);
	for (unsigned b = 0, depth_max = 0; b < 12; b++) {
		int64_t now_ns = NOW + b * 60000;
		struct want want = {
				.node_id = 11, .in_id = IN_ID, .out_id = 3, .received_ns = now_ns};
		size_t len = 0;
		count_until(&count, now_ns);
		count_packet(&count, now_ns, 14 + 40 + 16 + 16 + 40, &want);
		if (want.depth > LIMIT) {
			count.n--; // dropped
			continue;
		}
		len = test_node_take(&s->nodes[0], 1, frame, sizeof(frame));
		assert_int_equal(len, 14 + 40 + 16 + 16 + 40);
		want.buffer = 39; // read once in a millisecond, with the first packet
		check(s, frame, len, &want);
		depth_max = want.depth > depth_max ? want.depth : depth_max;
		assert_true(b < 11 || depth_max == LIMIT);
	}
	close_stand(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_value_is_what_a_count_says),
			cmocka_unit_test(without_a_queue_its_values_are_not_available),
			cmocka_unit_test(packets_of_two_bursts_count),
	};

	dpdk_env_init("64");
	return cmocka_run_group_tests_name("INT and egress queues", tests, NULL, NULL);
}
