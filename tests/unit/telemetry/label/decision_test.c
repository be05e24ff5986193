// SPDX-License-Identifier: BSD-3-Clause
// When a port labels: the bounds of the paper's section 4.1 exactly, the probabilities of f and the
// distributions of section 4.3 by the chi-square test. A right implementation fails a chi-square
// test here with probability 0.001, and the seeds are fixed.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "label_decision.h"
#include "variate.h"

#define MS INT64_C(1000000)

// Upper 0.001 quantiles of chi-square, by degrees of freedom.
static const double critical[] = {0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46};

static bool labels(const struct hs_label_rule *rule, struct hs_label_port *port, int64_t now_ns,
		unsigned int_num, struct hs_rng *rng)
{
	struct hs_label_decision decision = hs_label_decide(rule, port, now_ns, int_num, rng);

	return hs_label_claim(rule, port, now_ns, int_num, &decision);
}

// ---- 4.1 ----

// Packets at random times: checks each gap between labels against the paper's bound with the
// greatest gap Ts between packets before the label.
static void gaps_hold(const struct hs_label_rule *rule, uint32_t shift, uint64_t seed)
{
	struct hs_label_port port;
	struct hs_rng rng, draws;
	int64_t now = 1700000000 * INT64_C(1000000000), last = 0, last_packet = now, ts = 0;
	int64_t interval = rule->interval_ns >> shift;
	unsigned n_labels = 0;
	bool is_a = rule->rest_ns == rule->interval_ns;

	hs_label_port_init(&port);
	hs_label_port_set_shift(&port, shift);
	hs_rng_init(&rng, seed);
	hs_rng_init(&draws, seed + 1);
	for (unsigned i = 0; i < 100000; i++) {
		int64_t gap = (int64_t)hs_variate_exponential(&draws, 3e6);
		now += gap;
		ts = now - last_packet > ts ? now - last_packet : ts;
		last_packet = now;
		if (!labels(rule, &port, now, hs_rng_u32(&draws) % 6, &rng))
			continue;
		if (n_labels++) {
			assert_true(now - last <= interval + ts);
			assert_true(!is_a || now - last > interval);
		}
		last = now;
	}
	assert_true(n_labels > 1000);
}

static void the_gap_between_labels_is_at_most_the_interval_and_the_packets_gap(void **state)
{
	(void)state;
	struct hs_label_rule rule;

	for (unsigned f = HS_LABEL_F1; f <= HS_LABEL_F3; f++) {
		for (int64_t rest = 0; rest <= 50 * MS; rest += 25 * MS) {
			for (uint32_t shift = 0; shift < 8; shift += 3) {
				hs_label_rule_init(&rule, 5, 50 * MS, rest, f);
				gaps_hold(&rule, shift, 7 * f + (uint64_t)rest + shift);
			}
		}
	}
}

// A port whose interval is 50 ms, and whose labels by chance come after the rest time.
static void begin(struct hs_label_rule *rule, int64_t rest_ns, struct hs_label_port *port,
		struct hs_rng *rng)
{
	hs_label_rule_init(rule, 5, 50 * MS, rest_ns, HS_LABEL_F1);
	hs_label_port_init(port);
	hs_rng_init(rng, 1);
}

static void the_interval_must_have_passed_strictly(void **state)
{
	(void)state;
	struct hs_label_rule rule;
	struct hs_label_port port;
	struct hs_rng rng;

	begin(&rule, 50 * MS, &port, &rng);
	assert_true(labels(&rule, &port, INT64_MAX / 2, 0, &rng)); // the first packet, at any time
	hs_label_port_init(&port);
	assert_true(labels(&rule, &port, 0, 0, &rng));
	for (unsigned num = 0; num <= 5; num++)
		assert_false(labels(&rule, &port, 50 * MS, num, &rng));
	assert_true(labels(&rule, &port, 50 * MS + 1, 0, &rng));
	hs_label_port_set_shift(&port, 3);
	assert_false(labels(&rule, &port, 50 * MS + 1 + 50 * MS / 8, 0, &rng));
	assert_true(labels(&rule, &port, 50 * MS + 2 + 50 * MS / 8, 0, &rng));
	hs_label_port_set_shift(&port, UINT32_MAX); // each packet, also of one burst
	assert_true(labels(&rule, &port, 60 * MS, 0, &rng));
	assert_true(labels(&rule, &port, 60 * MS, 0, &rng));
	assert_true(labels(&rule, &port, 60 * MS + 1, 0, &rng));
}

static void nothing_is_labelled_by_chance_during_the_rest_time(void **state)
{
	(void)state;
	struct hs_label_rule rule;
	struct hs_label_port port;
	struct hs_rng rng;

	begin(&rule, 20 * MS, &port, &rng);
	assert_true(labels(&rule, &port, 0, 0, &rng));
	assert_false(labels(&rule, &port, 20 * MS, 5, &rng));
	assert_false(labels(&rule, &port, 20 * MS + 1, 0, &rng));
	assert_true(labels(&rule, &port, 20 * MS + 1, 1, &rng));
	assert_int_equal(port.labelled_ns, 20 * MS + 1);
	assert_true(labels(&rule, &port, 20 * MS + 1, 6, &rng)); // a specific flow's, at once
	assert_true(labels(&rule, &port, 20 * MS, 255, &rng));	 // of a worker with an older burst
	assert_int_equal(port.labelled_ns, 20 * MS + 1);
}

// A label of another worker between a decision and its claim.
static void a_lost_claim_is_decided_again_with_the_new_time(void **state)
{
	(void)state;
	struct hs_label_rule rule;
	struct hs_label_port port;
	struct hs_rng rng;

	begin(&rule, 20 * MS, &port, &rng);
	for (unsigned num = 0; num <= 6; num++) {
		for (int64_t other = 0; other <= 100 * MS; other += 10 * MS) {
			hs_label_port_init(&port);
			port.labelled_ns = 0;
			struct hs_label_decision decision =
					hs_label_decide(&rule, &port, 60 * MS, num, &rng);
			assert_int_equal(decision.cause, HS_LABEL_BY_INTERVAL);
			port.labelled_ns = other;
			int64_t elapsed = 60 * MS - other;
			enum hs_label_cause cause = elapsed > 50 * MS ? HS_LABEL_BY_INTERVAL
						    : num > 5	      ? HS_LABEL_BY_FLOW
						    : num && elapsed > 20 * MS ? HS_LABEL_BY_CHANCE
									       : HS_LABEL_NOT;
			bool claimed = hs_label_claim(&rule, &port, 60 * MS, num, &decision);
			assert_int_equal(claimed, cause != HS_LABEL_NOT);
			assert_int_equal(decision.cause, cause);
			assert_int_equal(port.labelled_ns,
					claimed && other < 60 * MS ? 60 * MS : other);
		}
	}
}

static void chance_without_rest_labels_each_packet_of_a_burst(void **state)
{
	(void)state;
	struct hs_label_rule rule;
	struct hs_label_port port;
	struct hs_rng rng;

	begin(&rule, 0, &port, &rng);
	for (unsigned i = 0; i < 8; i++)
		assert_true(labels(&rule, &port, 60 * MS, 1, &rng));
	assert_false(labels(&rule, &port, 60 * MS, 0, &rng));
}

// ---- workers that share ports ----

#define N_PORTS	  10
#define N_WORKERS 2
#define N_PACKETS 400000
#define SHARED_NS 997

struct shared {
	struct hs_label_rule rule;
	struct hs_label_port ports[N_PORTS];
	_Atomic int64_t clock_ns;
	_Atomic unsigned n[N_PORTS];
	int64_t labels_ns[N_PORTS][N_WORKERS * N_PACKETS];
};

struct seat_of {
	struct shared *shared;
	unsigned worker;
};

static void *work(void *context)
{
	const struct seat_of *seat = context;
	struct shared *shared = seat->shared;
	struct hs_rng rng;

	hs_rng_init(&rng, seat->worker + 1);
	for (unsigned i = 0; i < N_PACKETS; i++) {
		unsigned p = hs_rng_u32(&rng) % N_PORTS;
		int64_t now_ns = shared->clock_ns++;
		if (labels(&shared->rule, &shared->ports[p], now_ns, 0, &rng))
			shared->labels_ns[p][shared->n[p]++] = now_ns;
	}
	return NULL;
}

static int in_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void two_workers_never_label_twice_within_the_interval(void **state)
{
	(void)state;
	struct shared *shared = aligned_alloc(64, (sizeof(*shared) + 63) / 64 * 64);
	struct seat_of seats[N_WORKERS];
	pthread_t threads[N_WORKERS];

	assert_non_null(shared);
	memset(shared, 0, sizeof(*shared));
	hs_label_rule_init(&shared->rule, 5, SHARED_NS, SHARED_NS, HS_LABEL_F1);
	for (unsigned p = 0; p < N_PORTS; p++)
		hs_label_port_init(&shared->ports[p]);
	for (unsigned w = 0; w < N_WORKERS; w++) {
		seats[w] = (struct seat_of){shared, w};
		assert_int_equal(pthread_create(&threads[w], NULL, work, &seats[w]), 0);
	}
	for (unsigned w = 0; w < N_WORKERS; w++)
		pthread_join(threads[w], NULL);
	for (unsigned p = 0; p < N_PORTS; p++) {
		int64_t *at = shared->labels_ns[p];
		assert_true(shared->n[p] > N_PACKETS / SHARED_NS / 2);
		qsort(at, shared->n[p], sizeof(*at), in_order);
		for (unsigned i = 1; i < shared->n[p]; i++)
			assert_true(at[i] - at[i - 1] > SHARED_NS);
	}
	free(shared);
}

// ---- f ----

static void each_function_has_its_probability(void **state)
{
	(void)state;
	static const double share = 0.375; // of T, since the last label
	const unsigned n = 200000, hops = 5;
	struct hs_rng rng;

	hs_rng_init(&rng, 42);
	for (unsigned f = HS_LABEL_F1; f <= HS_LABEL_F3; f++) {
		double chi = 0;
		unsigned freedom = 0;
		for (unsigned num = 0; num <= hops; num++) {
			struct hs_label_rule rule;
			hs_label_rule_init(&rule, hops, 64 * MS, 0, f);
			double p = !num		      ? 0
				   : f == HS_LABEL_F1 ? 1
				   : num >= hops - 1  ? 1
						      : num / (hops - 1.0);
			p *= f == HS_LABEL_F3 ? share : 1;
			unsigned hits = 0;
			for (unsigned i = 0; i < n; i++) {
				struct hs_label_port port = {0};
				hits += labels(&rule, &port, (int64_t)(share * 64 * (double)MS),
						num, &rng);
			}
			if (p <= 0 || p >= 1) {
				assert_int_equal(hits, p > 0 ? n : 0);
				continue;
			}
			double off = hits - n * p;
			chi += off * off / (n * p * (1 - p));
			freedom++;
		}
		assert_true(chi <= critical[freedom]);
	}
}

// ---- 4.3: a fat tree with k = 20, Ts / T = 1/100, f(i) = i / 5 ----

#define HOPS	  5
#define LEVEL	  100 // ports of each level, which packets choose at random
#define PER_LABEL 100 // packets of a port in an interval
#define PACKETS	  1000000
#define SETTLING  100000

struct tree {
	struct hs_label_rule rule;
	struct hs_label_port ports[HOPS][LEVEL];
	int64_t now_ns[HOPS][LEVEL]; // of each port: one Ts for each packet
	struct hs_rng rng, ways;
};

static unsigned hops_of_way(struct hs_rng *ways)
{
	uint64_t host = hs_variate_below(ways, 1999); // the others, of k^3 / 4 = 2000

	return host < 9 ? 1 : host < 99 ? 3 : 5;
}

static unsigned travel(struct tree *tree)
{
	unsigned n = 0, hops = hops_of_way(&tree->ways);

	for (unsigned hop = 0; hop < hops; hop++) {
		unsigned p = (unsigned)hs_variate_below(&tree->ways, LEVEL);
		tree->now_ns[hop][p] += 2;
		n += labels(&tree->rule, &tree->ports[hop][p], tree->now_ns[hop][p], n, &tree->rng);
	}
	return n;
}

// The share of packets with s labels, by section 4.3. g is what is left of Ts / T where a share
// `early` of packets is labelled by chance: a label comes after PER_LABEL packets, or sooner.
static void expected(bool is_b, double out[HOPS + 1])
{
	const double ways[HOPS + 1] = {0, 9 / 1999.0, 0, 90 / 1999.0, 0, 1900 / 1999.0};
	double w[HOPS + 2] = {1};

	memset(out, 0, (HOPS + 1) * sizeof(*out));
	for (unsigned hop = 1; hop <= HOPS; hop++) {
		double early = 0, cycle = 0, stays = 1, next[HOPS + 2] = {0};
		for (unsigned i = 0; i < HOPS; i++)
			early += is_b ? w[i] * i / 5 : 0;
		for (unsigned i = 0; i < PER_LABEL; i++, stays *= 1 - early)
			cycle += stays;
		double g = stays / (1 - early) / cycle;
		for (unsigned i = 0; i < hop; i++) {
			double p = g + (1 - g) * (is_b ? i / 5.0 : 0);
			next[i] += w[i] * (1 - p);
			next[i + 1] += w[i] * p;
		}
		memcpy(w, next, sizeof(w));
		for (unsigned s = 0; s <= HOPS; s++)
			out[s] += ways[hop] * w[s];
	}
}

static void distribution_is_that_of_the_theory(bool is_b)
{
	static struct tree tree;
	double shares[HOPS + 1], chi = 0, pool_is = 0, pool_should = 0;
	unsigned counts[HOPS + 1] = {0}, cells = 0;

	memset(&tree, 0, sizeof(tree));
	hs_rng_init(&tree.rng, 3);
	hs_rng_init(&tree.ways, 4);
	// Two time units a packet: T is the odd number that PER_LABEL packets exceed first.
	int64_t interval = 2 * PER_LABEL - 1;
	hs_label_rule_init(&tree.rule, HOPS, interval, is_b ? 0 : interval, HS_LABEL_F2);
	for (unsigned i = 0; i <= HOPS; i++)
		hs_label_rule_set_chance(&tree.rule, (uint8_t)i, is_b ? i / 5.0 : 0);
	for (unsigned p = 0; p < HOPS * LEVEL; p++)
		tree.ports[p / LEVEL][p % LEVEL].labelled_ns =
				-2 * (int64_t)hs_variate_below(&tree.ways, PER_LABEL);
	for (unsigned i = 0; i < SETTLING; i++)
		travel(&tree);
	for (unsigned i = 0; i < PACKETS; i++)
		counts[travel(&tree)]++;
	expected(is_b, shares);
	for (unsigned s = 0; s <= HOPS; s++) {
		pool_is += counts[s];
		pool_should += PACKETS * shares[s];
		if (pool_should < 5 && s < HOPS)
			continue;
		if (pool_should < 5) // what is left is too little for a cell of its own
			break;
		chi += (pool_is - pool_should) * (pool_is - pool_should) / pool_should;
		cells++;
		pool_is = pool_should = 0;
	}
	assert_true(cells >= 3);
	if (chi > critical[cells - 1])
		print_error("chi-square %g of %u degrees of freedom\n", chi, cells - 1);
	assert_true(chi <= critical[cells - 1]);
}

static void labels_of_base_a_have_the_distribution_of_section_4_3(void **state)
{
	(void)state;
	distribution_is_that_of_the_theory(false);
}

static void labels_of_base_b_have_the_distribution_of_section_4_3(void **state)
{
	(void)state;
	distribution_is_that_of_the_theory(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					the_gap_between_labels_is_at_most_the_interval_and_the_packets_gap),
			cmocka_unit_test(the_interval_must_have_passed_strictly),
			cmocka_unit_test(nothing_is_labelled_by_chance_during_the_rest_time),
			cmocka_unit_test(a_lost_claim_is_decided_again_with_the_new_time),
			cmocka_unit_test(chance_without_rest_labels_each_packet_of_a_burst),
			cmocka_unit_test(two_workers_never_label_twice_within_the_interval),
			cmocka_unit_test(each_function_has_its_probability),
			cmocka_unit_test(labels_of_base_a_have_the_distribution_of_section_4_3),
			cmocka_unit_test(labels_of_base_b_have_the_distribution_of_section_4_3),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
