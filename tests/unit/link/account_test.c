// SPDX-License-Identifier: BSD-3-Clause
// Links of all kinds, changed as they run: what they count is what they said of each frame.
#include "link_test.h"

#include <string.h>

#define FRAMES 1500
#define RUNS   400

static double ratio(struct hs_rng *rng)
{
	static const double RATIOS[] = {0.0, 0.0, 0.0, 0.01, 0.3, 1.0};
	return RATIOS[hs_rng_u32(rng) % 6];
}

static int64_t time_of(struct hs_rng *rng)
{
	static const int64_t TIMES[] = {0, 0, 1, 500 * US, 10 * MS};
	return TIMES[hs_rng_u32(rng) % 5];
}

static struct hs_link_config any_config(struct hs_rng *rng)
{
	static const uint64_t RATES[] = {0, 0, 9999991, 40000000, 100000000, 7000000000};
	static const uint32_t QUEUES[] = {1, 2, 10, 100, 1000};
	return (struct hs_link_config){
			.down = hs_rng_u32(rng) % 8 == 0,
			.rate_bps = RATES[hs_rng_u32(rng) % 6],
			.queue_packets = QUEUES[hs_rng_u32(rng) % 5],
			.overhead_bytes = hs_rng_u32(rng) % 2 * 24,
			.delay_ns = time_of(rng),
			.jitter_ns = time_of(rng),
			.distribution = hs_rng_u32(rng) % 2 ? HS_LINK_NORMAL : HS_LINK_UNIFORM,
			.in_order = hs_rng_u32(rng) % 2,
			.loss_ratio = ratio(rng),
			.telemetry_loss_ratio = ratio(rng),
			.duplicate_ratio = ratio(rng),
			.reorder_ratio = ratio(rng),
			.bursts = {ratio(rng), ratio(rng), ratio(rng), ratio(rng)},
	};
}

struct account {
	struct hs_link_counters counters;
	int64_t arrivals[2 * FRAMES];
	int64_t last_departure_ns;
};

static void add(struct account *account, struct hs_link *link, int64_t now_ns, uint32_t bytes,
		bool telemetry, const struct hs_link_fate *fate, bool copy)
{
	struct hs_link_counters *sum = &account->counters;
	if (copy) {
		sum->copies++;
	} else {
		sum->sent_packets++;
		sum->sent_bytes += bytes;
		sum->telemetry_sent += telemetry;
		sum->telemetry_lost += telemetry && fate->loss != HS_LINK_NOT_LOST;
	}
	if (fate->loss != HS_LINK_NOT_LOST) {
		const struct hs_link_config *config = hs_link_config(link);
		sum->lost[fate->loss]++;
		sum->lost_bytes += bytes;
		assert_true(config->down == (fate->loss == HS_LINK_LOST_DOWN));
		if (fate->loss == HS_LINK_LOST_QUEUE)
			assert_true(config->rate_bps &&
					hs_link_waiting(link, now_ns) >= config->queue_packets);
		return;
	}
	assert_true(fate->wait_ns >= 0);
	assert_true(fate->departs_ns >= now_ns + fate->wait_ns);
	assert_true(fate->departs_ns >= account->last_departure_ns); // in the order they came
	assert_true(fate->arrives_ns >= fate->departs_ns);
	account->last_departure_ns = fate->departs_ns;
	account->arrivals[sum->delivered_packets++] = fate->arrives_ns;
	sum->delivered_bytes += bytes;
	if (fate->wait_ns > sum->wait_max_ns)
		sum->wait_max_ns = fate->wait_ns;
	uint32_t waiting = hs_link_waiting(link, now_ns);
	if (waiting > sum->queue_max_packets)
		sum->queue_max_packets = waiting;
}

static void count_late(struct account *account)
{
	int64_t soonest = INT64_MAX;
	for (uint64_t i = account->counters.delivered_packets; i-- > 0;) {
		if (account->arrivals[i] > soonest)
			account->counters.late++;
		else
			soonest = account->arrivals[i];
	}
}

static void assert_adds_up(const struct hs_link_counters *c)
{
	uint64_t lost = 0;
	for (int i = 0; i < HS_LINK_LOSSES; i++)
		lost += c->lost[i];
	assert_true(c->sent_packets + c->copies == c->delivered_packets + lost);
	assert_true(c->lost[HS_LINK_NOT_LOST] == 0);
}

static void run(uint64_t seed, uint64_t seen[HS_LINK_LOSSES])
{
	static struct account account;
	struct hs_rng rng;
	hs_rng_init(&rng, seed);
	memset(&account, 0, sizeof(account));
	account.last_departure_ns = INT64_MIN;
	struct hs_link_config config = any_config(&rng);
	struct hs_link *link = create(config, seed);
	int64_t now_ns = 0;
	struct hs_link_counters counters;
	for (int i = 0; i < FRAMES; i++) {
		if (hs_rng_u32(&rng) % 200 == 0) {
			config = any_config(&rng);
			assert_int_equal(hs_link_change(link, &config), 0);
		}
		now_ns += hs_rng_u32(&rng) % 4 * 50 * US;
		uint32_t bytes = 64 + hs_rng_u32(&rng) % 1455;
		bool telemetry = hs_rng_u32(&rng) % 4 == 0;
		struct hs_link_fate fates[2];
		unsigned n = hs_link_send(link, now_ns, bytes, telemetry, fates);
		for (unsigned k = 0; k < n; k++)
			add(&account, link, now_ns, bytes, telemetry, &fates[k], k > 0);
		hs_link_counters(link, &counters);
		assert_adds_up(&counters);
	}
	count_late(&account);
	assert_memory_equal(&counters, &account.counters, sizeof(counters));
	for (int i = 0; i < HS_LINK_LOSSES; i++)
		seen[i] += counters.lost[i];
	seen[0] += counters.late;
	hs_link_destroy(link);
}

static void counters_agree_with_the_fates_on_any_link(void **state)
{
	(void)state;
	uint64_t seen[HS_LINK_LOSSES] = {0};
	for (uint64_t seed = 0; seed < RUNS; seed++)
		run(seed, seen);
	for (int i = 0; i < HS_LINK_LOSSES; i++)
		assert_true(seen[i] > 1000); // every kind of fate was there
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(counters_agree_with_the_fates_on_any_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
