// SPDX-License-Identifier: BSD-3-Clause
// Mutated sequences of fragments at the node before a host: counters add up, no buffer is lost,
// nothing that claims INT-label reaches the host, and packets beside them arrive as they were sent.
#define BUFFERS 1023
#include "fragment_frames.h"
#include "label_fragments.h"
#include "rng.h"
#include "sanitized.h"

#define ROOM	  9600
#define SEQUENCES CASES(100000) // of both kinds together
#define GOOD	  0x0b		// in the second byte of its source address

struct sequence {
	unsigned n;
	struct fragment fragments[2 * FRAGMENTS];
};

static struct hs_rng rng;
static uint8_t frame[ROOM], plain[ROOM];
static size_t plain_len;

static uint32_t below(uint32_t n)
{
	return hs_rng_u32(&rng) % n;
}

static void set_key(uint8_t *ip, uint8_t net, uint16_t host, uint16_t id)
{
	ip[13] = net;
	hs_be16_store(ip + 14, host);
	hs_be16_store(ip + 4, id);
	set_checksum(ip);
}

static void make(struct sequence *sequence, uint8_t net, uint16_t host, uint16_t id, unsigned most)
{
	size_t len = make_labelled(below(4) ? below(1400) : below(80), frame, plain, &plain_len);
	size_t bytes = len - IP - 20, part = (bytes / (1 + below(most)) + 8) / 8 * 8;

	set_key(plain + IP, net, host, id);
	set_key(frame + IP, net, host, id);
	sequence->n = cut_all(frame, len, part, sequence->fragments);
}

static void swap(struct fragment *a, struct fragment *b)
{
	struct fragment one = *a;

	*a = *b;
	*b = one;
}

static void shuffle(struct sequence *sequence)
{
	for (unsigned i = sequence->n; i > 1; i--)
		swap(&sequence->fragments[i - 1], &sequence->fragments[below(i)]);
}

// ---- mutations ----

static void change_header(struct fragment *fragment)
{
	uint8_t *ip = fragment->bytes + IP;

	switch (below(8)) {
	case 0: // the offset
		hs_be16_store(ip + 6, (uint16_t)((hs_be16_load(ip + 6) & MORE) | below(0x2000)));
		break;
	case 1: // one that is near
		hs_be16_store(ip + 6, (uint16_t)(hs_be16_load(ip + 6) + below(5) - 2));
		break;
	case 2:
		ip[6] ^= MORE >> 8;
		break;
	case 3:
		hs_be16_store(ip + 2, (uint16_t)(hs_be16_load(ip + 2) + below(40) - 20));
		break;
	case 4:
		ip[0] = (uint8_t)(0x40 + below(16));
		break;
	case 5:
		ip[9] = below(2) ? 17 : HS_LABEL_IP_PROTOCOL;
		break;
	case 6:
		ip[1] = (uint8_t)below(256);
		break;
	default:
		ip[below(60)] = (uint8_t)below(256);
	}
	if (below(8))
		set_checksum(ip);
}

static void change_frame(struct fragment *fragment)
{
	switch (below(6)) {
	case 0:
		fragment->len = 14 + below((uint32_t)fragment->len - 13);
		break;
	case 1:
		fragment->bytes[below((uint32_t)fragment->len)] = (uint8_t)below(256);
		break;
	case 2: // a tag
		memmove(fragment->bytes + 16, fragment->bytes + 12, fragment->len - 12);
		memcpy(fragment->bytes + 12, (uint8_t[]){0x81, 0, 0, (uint8_t)below(3)}, 4);
		fragment->len += 4;
		break;
	case 3: // padding
		fragment->len += below(40);
		break;
	default:
		change_header(fragment);
	}
}

static void mutate(struct sequence *sequence)
{
	unsigned n = below(4);

	for (unsigned i = 0; i < n; i++) {
		unsigned at = below(sequence->n);
		if (below(4))
			change_frame(&sequence->fragments[at]);
		else if (below(2) && sequence->n > 1)
			sequence->fragments[at] = sequence->fragments[--sequence->n];
		else if (sequence->n < 2 * FRAGMENTS)
			sequence->fragments[sequence->n++] = sequence->fragments[at];
	}
}

// ---- the node ----

static void feed(struct stand *s, const struct fragment *fragment)
{
	size_t first = below(4) ? fragment->len : 1 + below((uint32_t)fragment->len);

	test_node_feed(&s->t, IN, fragment->bytes, fragment->len, first);
	if (below(4) == 0)
		test_node_run(&s->t);
}

static bool is_good(const uint8_t *out, size_t len)
{
	return len > IP + 20 && out[12] == 8 && out[IP + 13] == GOOD;
}

// Returns how many good packets came, which are `plain`.
static unsigned drain(struct stand *s)
{
	uint8_t out[ROOM];
	struct hs_packet packet;
	unsigned good = 0;
	size_t len;

	test_node_run(&s->t);
	while ((len = test_node_take(&s->t, OUT, out, ROOM))) {
		hs_label_parse(&s->profile.wire, out, len, len, &packet);
		assert_false(packet.flags & HS_PACKET_ANY_TELEMETRY);
		if (!is_good(out, len))
			continue;
		assert_int_equal(len, plain_len);
		assert_memory_equal(out, plain, plain_len);
		good++;
	}
	while (test_node_take(&s->t, MONITOR, out, ROOM))
		;
	test_node_audit(&s->t);
	return good;
}

// A hostile sequence, and a good one among it.
static unsigned round_of(struct stand *s, unsigned i, bool any_id)
{
	static struct sequence bad, good;
	unsigned at = 0;

	make(&bad, 0, (uint16_t)below(2), (uint16_t)(any_id ? below(65536) : below(8)), 12);
	mutate(&bad);
	if (below(2))
		shuffle(&bad);
	make(&good, GOOD, (uint16_t)(i >> 16), (uint16_t)i, 8);
	shuffle(&good);
	for (unsigned k = 0; k < bad.n; k++) {
		feed(s, &bad.fragments[k]);
		if (at < good.n && below(2))
			feed(s, &good.fragments[at++]);
	}
	while (at < good.n)
		feed(s, &good.fragments[at++]);
	return drain(s);
}

static void assert_all_ended(struct stand *s)
{
	struct hs_port_counters in, out;

	advance(s, 2 * HS_LABEL_WAIT_NS);
	drain(s);
	hs_node_port_counters(s->t.node, IN, &in);
	hs_node_port_counters(s->t.node, OUT, &out);
	assert_int_equal(out.queued, 0);
	assert_int_equal(in.events[HS_EVENT_FRAGMENTS],
			out.drops[HS_DROP_FRAGMENT_JOINED] + out.drops[HS_DROP_FRAGMENT_EXPIRED] +
					out.drops[HS_DROP_FRAGMENT_BAD] +
					out.drops[HS_DROP_FRAGMENT_NO_PLACE] +
					in.drops[HS_DROP_BAD_HEADER] + in.drops[HS_DROP_NO_MBUF]);
	assert_true(out.drops[HS_DROP_FRAGMENT_BAD] && out.drops[HS_DROP_FRAGMENT_EXPIRED]);
	assert_int_equal(rte_mempool_avail_count(s->pool), BUFFERS);
}

static void good_packets_come_between_hostile_fragments(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 1, 0);

	hs_rng_init(&rng, 1);
	for (unsigned i = 0; i < SEQUENCES / 2; i++) {
		assert_int_equal(round_of(s, i, false), 1);
		advance(s, MS);
	}
	assert_all_ended(s);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_NO_PLACE), 0);
	stand_close(s);
}

static void a_flood_of_fragments_holds_no_more_than_its_bounds(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 1, 0);
	unsigned good = 0;

	hs_rng_init(&rng, 2);
	for (unsigned i = 0; i < SEQUENCES / 2; i++) {
		good += round_of(s, i, true);
		assert_true(rte_mempool_avail_count(s->pool) >= BUFFERS - HS_LABEL_WAITING_BUFFERS);
		advance(s, MS / 10);
	}
	assert_all_ended(s);
	assert_true(good > 0);
	assert_true(test_node_drops(&s->t, OUT, HS_DROP_FRAGMENT_NO_PLACE));
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(good_packets_come_between_hostile_fragments),
			cmocka_unit_test(a_flood_of_fragments_holds_no_more_than_its_bounds),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
