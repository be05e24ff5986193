// SPDX-License-Identifier: BSD-3-Clause
// Reports of one flow that follow each other tell and leave what each alone would.
#include "collect_both.h"

#include "sanitized.h"

#define MOST  70
#define ABOUT 1000 // values are near it, and thresholds are 50

// ---- random runs ----

// All values, and such as begin or end where vectors of four words do not.
static const uint16_t bitmaps[] = {0xff00, 0xf500, 0xf100, 0xe100, 0xd100, 0xc300, 0xb000, 0xa000,
		0x9000, 0x8000, 0xff01, 0xa0ff};

// At the bounds of what is no event, one beyond them, none, or anything.
static uint32_t value(bool calm)
{
	static const uint32_t borders[] = {ABOUT - 51, ABOUT - 50, ABOUT + 50, ABOUT + 51, 0,
			UINT32_MAX, UINT32_MAX - 1};

	if (calm || below(60))
		return ABOUT - 25 + below(50);
	return below(3) ? borders[below(7)] : hs_rng_u32(&rng);
}

static void put_values(struct bytes *to, uint16_t bitmap, unsigned hop, bool calm)
{
	for (unsigned bit = 0; bit < 16; bit++) {
		if (!(bitmap & 0x8000 >> bit))
			continue;
		if (bit == 0)
			put(to, calm || below(400) ? hop % 5 + 1 : hop % 5 + 2, 4);
		else if (bit == 1)
			put(to, (uint64_t)below(9) << 16 | (calm || below(400) ? 7 : 0xffff), 4);
		else if (bit == 3)
			put(to, (calm || below(400) ? 5u : 0xffu) << 24 | (value(calm) & 0xffffff),
					4);
		else
			put(to, value(calm), bit == 6 ? 8 : 4);
	}
}

struct shape {
	uint16_t bitmap;
	unsigned hops;
	bool calm; // no event
};

static void put_one(struct bytes *to, const struct shape *shape, uint32_t port, uint32_t sequence)
{
	struct bytes hops = {.n = 0};

	for (unsigned hop = shape->hops; hop--;)
		put_values(&hops, shape->bitmap, hop, shape->calm);
	to->n = 0;
	put_head_1_0(to, shape->calm || below(100) ? 1 : 2, sequence);
	to->at[3] ^= shape->calm || below(100) ? 0 : 0x80; // Q
	put_ether(to, 0x0800);
	put_udp(to, (uint16_t)port, 12 + hops.n);
	put(to, 0x01000000 | (3 + hops.n / 4) << 8, 4);
	put(to, 0x10000000 | hops.n / 4 / shape->hops << 8 | 5, 4);
	put(to, (uint64_t)shape->bitmap << 16, 4);
	memcpy(to->at + to->n, hops.at, hops.n);
	to->n += hops.n;
}

// Buffers that nothing is at. The call takes them, however many its datagrams are, and keeps none.
static void take_beside_buffers(struct hs_collect *c, struct hs_collect_datagram *datagrams,
		unsigned n, int64_t now)
{
	unsigned n_buffers = below(3) * below(40);
	void **buffers = calloc(n_buffers, sizeof(*buffers));

	for (unsigned i = 0; i < n_buffers; i++)
		buffers[i] = (void *)(uintptr_t)((below(1000) + 1) * UINT64_C(0x10000001));
	hs_collect_ahead(c, &(struct hs_collect_ahead){buffers, n_buffers, below(300), below(600)});
	hs_collect_take(c, datagrams, n, now);
	free(buffers);
}

// Memory of their own, so that a sanitizer sees what is read behind them.
static void take_and_free(struct hs_collect *both[2], struct hs_collect_datagram *datagrams,
		unsigned n, int64_t now)
{
	for (side = 0; side < 2; side++) {
		take_beside_buffers(both[side], datagrams, n, now);
		hs_collect_push(both[side], now, 1);
	}
	for (unsigned i = 0; i < n; i++)
		free((void *)datagrams[i].bytes);
	assert_int_equal(sums[0], sums[1]);
}

static void add_datagram(
		struct hs_collect_datagram *to, const struct shape *shape, uint32_t *sequence)
{
	struct bytes b;

	put_one(&b, shape, below(30) ? 2000 : 2001, (*sequence)++);
	uint8_t *copy = malloc(b.n);
	memcpy(copy, b.at, b.n);
	*to = (struct hs_collect_datagram){.bytes = copy,
			.len = (uint32_t)b.n,
			.is_ipv4 = true,
			.address = {127, 0, 0, 1}};
}

static void are_the_same(const struct hs_collect_config *config, uint64_t seed)
{
	struct hs_collect_datagram datagrams[MOST];
	struct hs_collect *both[2];
	uint32_t sequence = 0;
	unsigned compared = 0;

	hs_rng_init(&rng, seed);
	open_both(config, both);
	for (unsigned round = 0; round < CASES(3000); round++) {
		struct shape shape = {
				bitmaps[round / 16 % 12], 1 + round / CASES(192) % 9, below(2)};
		unsigned n = 1 + below(MOST);
		for (unsigned i = 0; i < n; i++) {
			if (!below(200)) // another layout among them
				shape.bitmap = bitmaps[below(12)];
			add_datagram(&datagrams[i], &shape, &sequence);
		}
		take_and_free(both, datagrams, n, SECOND + round * 1000);
		compared += both[0]->run.good && both[0]->run.changes == both[0]->changes;
		if (round % 16 == 0)
			compare(both[0], both[1]);
	}
	compare(both[0], both[1]);
	check_balance(both[0]);
	assert_true(hs_collect_counters(both[0])->event_reports > CASES(1000));
	assert_true(compared > CASES(100)); // runs by their bounds
	close_both(both);
}

static void absolute(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	are_the_same(&config, 11);
	config.gap_ns = 100000;
	config.push_ns = 400000;
	are_the_same(&config, 12);
}

static void relative_and_off(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	for (unsigned i = 0; i < HS_COLLECT_MEASURES; i++)
		config.thresholds[i] = (struct hs_collect_threshold){.relative = 500};
	are_the_same(&config, 13);
	config.thresholds[HS_COLLECT_HOP_LATENCY].off = true;
	are_the_same(&config, 14);
	config.thresholds[HS_COLLECT_FLOW_LATENCY].off = true;
	config.thresholds[HS_COLLECT_QUEUE_OCCUPANCY].off = true;
	config.thresholds[HS_COLLECT_LINK_UTILISATION].absolute = 0;
	are_the_same(&config, 15);
}

static void intervals_and_few_places(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	config.interval = 64;
	are_the_same(&config, 16);
	config.interval = 0;
	config.max_flows = 1;
	config.max_queues = config.max_links = 3;
	config.new_keys_per_s = 100;
	are_the_same(&config, 17);
}

// ---- by hand ----

// Takes a run of one flow by two hops at once, the second of which has these latencies. That of the
// first is `other` plus the report's place.
static void take_latencies(
		struct hs_collect *c, const uint32_t *latencies, uint32_t other, unsigned n)
{
	static struct bytes b[16];
	static uint32_t sequence;
	struct hs_collect_datagram datagrams[16];

	for (unsigned i = 0; i < n; i++) {
		const struct hop hops[] = {{2, latencies[i], 1, 20 + i, 7, 300 + i},
				{1, other + i, 1, 30, 8, 100}};
		put_report(&b[i], 2, sequence++, 2000, hops, 2);
		datagrams[i] = (struct hs_collect_datagram){
				.bytes = b[i].at, .len = (uint32_t)b[i].n, .is_ipv4 = true};
	}
	hs_collect_take(c, datagrams, n, 2 * SECOND);
}

static const struct hs_collect_queue *queue_of(const struct hs_collect *c, uint32_t node)
{
	static struct hs_collect_queue queues[4];
	uint64_t cursor = 0;
	unsigned n = hs_collect_queues(c, &cursor, queues, 4);

	for (unsigned i = 0; i < n; i++)
		if (queues[i].node_id == node)
			return &queues[i];
	return NULL;
}

static void a_value_at_the_border_is_no_event_and_one_beyond_is(void **state)
{
	static const uint32_t first = 600, quiet[] = {600, 650, 550, 600, 640, 630, 620, 610},
			      loud[] = {600, 600, 600, 600, 600, 651, 651, 651, 651, 602};
	struct hs_collect_config config = config_50();
	struct hs_collect *c;

	(void)state;
	config.thresholds[HS_COLLECT_FLOW_LATENCY].off = true;
	c = collector(&config);
	take_latencies(c, &first, 400, 1);
	forget();
	take_latencies(c, quiet, 400, 8);
	assert_int_equal(told.n_points, 0);
	assert_int_equal(hs_collect_counters(c)->suppressed[HS_COLLECT_POINT_HOP], 16);
	assert_int_equal(hs_collect_counters(c)->suppressed[HS_COLLECT_POINT_FLOW], 8);
	assert_int_equal(queue_of(c, 2)->occupancy, 27); // of the last report
	assert_int_equal(hs_collect_counters(c)->reports_read, 9);
	take_latencies(c, loud, 400, 10);
	assert_int_equal(told.n_points, 1);
	const struct hs_collect_point *point = point_of(HS_COLLECT_POINT_HOP, 2, 1);
	assert_non_null(point);
	assert_int_equal(point->before, 600);
	assert_int_equal(point->value, 651);
	assert_int_equal(told.flow.hops[0].latency, 405); // what the other hop said then
	assert_int_equal(queue_of(c, 2)->occupancy, 29);
	hs_collect_destroy(c);
}

// The flow's latency alone, by the sum of hops that are no event each. Report i has 400 + i beside
// it.
static void a_sum_beyond_the_border_is_an_event(void **state)
{
	static const uint32_t first = 600, sums_to_1050[] = {648, 647, 646, 647, 646, 645, 644},
			      sums_to_1051[] = {648, 647, 646, 645, 647, 645, 644};
	struct hs_collect_config config = config_50();
	struct hs_collect *c = collector(&config);

	(void)state;
	take_latencies(c, &first, 400, 1); // 1,000
	forget();
	take_latencies(c, sums_to_1050, 400, 7);
	assert_int_equal(told.n_points, 0);
	take_latencies(c, sums_to_1051, 400, 7);
	assert_int_equal(told.n_points, 1);
	assert_int_equal(told.points[0].kind, HS_COLLECT_POINT_FLOW);
	assert_int_equal(told.points[0].value, 1051);
	hs_collect_destroy(c);
}

static void a_sum_that_wraps_32_bits_is_an_event(void **state)
{
	static const uint32_t first = 1, all[] = {1, 1, 1, 1, 1, UINT32_MAX - 1, 1, 1};
	struct hs_collect_config config = config_50();
	struct hs_collect *c;

	(void)state;
	config.thresholds[HS_COLLECT_HOP_LATENCY].off = true;
	c = collector(&config);
	take_latencies(c, &first, 400, 1);
	forget();
	take_latencies(c, all, 400, 8);
	assert_int_equal(count(HS_COLLECT_POINT_FLOW, HS_COLLECT_CHANGE), 2); // there and back
	hs_collect_destroy(c);
}

// What is pushed is the value that later ones are compared with.
static void a_push_moves_the_borders(void **state)
{
	static const uint32_t first = 600, before[] = {640, 640, 640, 640, 640, 640, 640},
			      behind[] = {640, 640, 560, 560, 640, 640, 640};
	struct hs_collect_config config = config_50();
	struct hs_collect *c;

	(void)state;
	config.thresholds[HS_COLLECT_FLOW_LATENCY].off = true;
	config.push_ns = SECOND / 10;
	c = collector(&config);
	take_latencies(c, &first, 400, 1);
	forget();
	take_latencies(c, before, 400, 7);
	assert_int_equal(told.n_points, 0);
	hs_collect_push(c, 2 * SECOND, 100); // the period begins
	hs_collect_push(c, 2 * SECOND + SECOND / 10, 100);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_PUSH), 2);
	take_latencies(c, behind, 400, 7);
	assert_int_equal(count(HS_COLLECT_POINT_HOP, HS_COLLECT_CHANGE), 2);
	hs_collect_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(absolute),
			cmocka_unit_test(relative_and_off),
			cmocka_unit_test(intervals_and_few_places),
			cmocka_unit_test(a_value_at_the_border_is_no_event_and_one_beyond_is),
			cmocka_unit_test(a_sum_beyond_the_border_is_an_event),
			cmocka_unit_test(a_sum_that_wraps_32_bits_is_an_event),
			cmocka_unit_test(a_push_moves_the_borders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
