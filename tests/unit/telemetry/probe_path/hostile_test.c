// SPDX-License-Identifier: BSD-3-Clause
// Mutated packets at a node with probes: whatever comes, counters add up, no buffer is lost, what
// is held is bounded, and no packet of probes comes from a host or reaches one.
#include "probe_stand.h"

#include "rng.h"

#define PACKETS 100000 // at all nodes together
#define PADDED	60     // bytes of Ethernet's shortest frame, without FCS

static struct hs_rng rng;

static uint32_t below(uint32_t n)
{
	return hs_rng_u32(&rng) % n;
}

// Some probe with right numbers.
static struct probe_bytes some_probe(void)
{
	static const unsigned dscps[] = {0x17, 0x17, 0x17, 0x17, 0x21, 0x19};
	unsigned n_entries = below(6), n_hops = below(5), n_values = 0;
	unsigned dscp = dscps[below(6)];
	char payload[512];
	int at = sprintf(payload, "%04x", below(400));

	if (dscp == 0x19)
		return probe_made(dscp, payload, false);
	at += sprintf(payload + at, "%04x", n_entries);
	for (unsigned i = 0; i < n_entries; i++)
		at += sprintf(payload + at, "%02x%02x%02x", below(6), below(6), below(7));
	at += sprintf(payload + at, "%04x", n_hops);
	for (unsigned i = 0; i < n_hops; i++) {
		unsigned n = below(4);
		at += sprintf(payload + at, "0102%04x", n);
		n_values += n;
	}
	at += sprintf(payload + at, "%04x", n_values);
	for (unsigned i = 0; i < n_values; i++)
		at += sprintf(payload + at, "%08x", i);
	return probe_made(dscp, payload, false);
}

// Half of what is changed has right checksums, so that it comes past them.
static void mutate(struct probe_bytes *bytes)
{
	static const uint8_t edges[] = {0, 1, 2, 0x45, 0x5c, 0x7f, 0x80, 0xff};
	unsigned n = below(5);

	for (unsigned i = 0; i < n; i++) {
		size_t at = below(2) ? PROBE_PAYLOAD + below(12) : below((uint32_t)bytes->len);
		if (at < bytes->len)
			bytes->at[at] = below(2) ? edges[below(8)] : (uint8_t)hs_rng_u32(&rng);
	}
	if (below(2))
		probe_mend(bytes);
	if (!below(8))
		bytes->len = PROBE_PAYLOAD + below((uint32_t)(bytes->len - PROBE_PAYLOAD + 1));
}

// As it is, or padded by a device on the way.
static bool is_marked(const struct stand *s, const uint8_t *frame, size_t len)
{
	uint8_t padded[PADDED] = {0};
	struct hs_packet packet;

	hs_probe_parse(&s->profile.wire, frame, len, len, &packet);
	if (packet.flags & HS_PACKET_ANY_TELEMETRY || len >= PADDED)
		return packet.flags & HS_PACKET_ANY_TELEMETRY;
	memcpy(padded, frame, len);
	hs_probe_parse(&s->profile.wire, padded, PADDED, PADDED, &packet);
	return packet.flags & HS_PACKET_ANY_TELEMETRY;
}

static void drain(struct stand *s, bool from_host)
{
	static uint8_t frame[PROBE_ROOM];
	size_t len;

	test_node_run(&s->t);
	for (unsigned p = 0; p < N_PORTS; p++) {
		while ((len = test_node_take(&s->t, p, frame, sizeof(frame))))
			assert_true((p != HOST && !from_host) || !is_marked(s, frame, len));
	}
	assert_true(hs_node_probes_held(s->t.node) <= s->profile.held);
}

static void torture(unsigned port, const struct hs_probe_profile *profile, uint64_t seed)
{
	hs_rng_init(&rng, seed);
	stand_rate_bps = port == IN ? 100000000 : 0;
	struct stand *s = stand_open(profile);
	for (unsigned i = 0; i < PACKETS / 4; i++) {
		struct probe_bytes bytes = some_probe();
		mutate(&bytes);
		size_t first = below(4) ? bytes.len : 1 + below((uint32_t)bytes.len);
		test_node_feed(&s->t, port, bytes.at, bytes.len, first);
		if (i % 16 == 15) {
			advance(s, below(50) * MS);
			drain(s, port == HOST);
		}
	}
	advance(s, 10000 * MS);
	drain(s, port == HOST);
	assert_int_equal(event_at(s, port, HS_EVENT_PROBE_FILLED) > 1000, port == IN);
	assert_int_equal(event_at(s, OUT, HS_EVENT_PROBE_RECOVERED) > 100, port == IN);
	stand_close(s);
}

static void a_network_port_takes_what_comes(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;

	profile.held = 64;
	torture(IN, &profile, 1);
	profile.held = 4;
	profile.monitor_port = 0;
	profile.rate_pps = 5000;
	torture(IN, &profile, 2);
}

static void a_host_port_lets_nothing_through(void **state)
{
	(void)state;
	stand_config.host_side_policy = HS_HOST_STRIP;
	torture(HOST, &usual_profile, 3);
	stand_config.host_side_policy = HS_HOST_DROP;
	torture(HOST, &usual_profile, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_network_port_takes_what_comes),
			cmocka_unit_test(a_host_port_lets_nothing_through),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
