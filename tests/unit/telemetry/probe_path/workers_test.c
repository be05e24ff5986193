// SPDX-License-Identifier: BSD-3-Clause
// Two workers: the one that polls the next port confirms the copies of the one that sent.
#include "probe_stand.h"

#include "egress.h"
#include "node_parts.h"

#include <pthread.h>

static struct stand *open_two(const struct hs_probe_profile *profile)
{
	stand_config.n_workers = 2; // ports 0 and 2 are of worker 0, ports 1 and 3 of worker 1
	return stand_open(profile);
}

static void feedback_at_another_worker_ends_the_copy(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	profile.held = 1;
	struct stand *s = open_two(&profile);

	for (unsigned i = 0; i < 3; i++) { // the place is free again each time
		feed_made(s, IN, 0x17, PROBE);
		feed_made(s, OUT, 0x19, REQUEST);
		advance(s, 2000 * MS);
	}
	assert_int_equal(drop_at(s, OUT, HS_DROP_PROBE_CONFIRMED), 3);
	assert_int_equal(event_at(s, IN, HS_EVENT_PROBE_NOT_HELD), 0);
	assert_int_equal(event_at(s, OUT, HS_EVENT_PROBE_RECOVERED), 0);
	assert_int_equal(s->t.ports[MONITOR].n_out, 0);
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	stand_close(s);
}

// Worker 0 sends probes by OUT, and worker 1 polls OUT and answers them there.
static void both_workers_may_use_the_egress_queue_of_a_port(void **state)
{
	(void)state;
	stand_rate_bps = 1000000;
	struct stand *s = open_two(&usual_profile);
	const struct hs_egress *egress = s->t.node->egress[OUT];

	feed_made(s, IN, 0x17, PROBE);
	feed_made(s, OUT, 0x17, "000d 0002 010004 030002 0000 0000");
	for (unsigned w = 0; w < 2; w++) {
		const struct hs_egress_worker *own = s->t.node->seats[w]->worker.egress[OUT];
		assert_int_equal(own->tail - own->head, 1);
	}
	assert_true(egress->shared);
	stand_close(s);
}

static void values_are_sums_over_workers(void **state)
{
	(void)state;
	struct stand *s = open_two(&usual_profile);

	feed_made(s, OUT, 0x19, REQUEST);
	feed_made(s, OUT, 0x19, REQUEST);
	feed_made(s, IN, 0x17, PROBE);
	assert_sent_made(s, OUT, 0x17,
			"000b 0001 030002 0001 07000004 0004 00000001 00000002 00000000 00000000");
	stand_close(s);
}

// Workers read the clock one after the other, and meet the probes of a burst in another order.
// Ticks of a request begin again every 2^53 ns.
static void a_request_is_known_to_a_worker_that_read_the_clock_before(void **state)
{
	(void)state;
	static const int64_t times_ns[] = {NOW, INT64_C(1) << 53};
	static struct hs_probe_node node = {.profile = &usual_profile};

	for (uint16_t i = 0; i < 2; i++) {
		int64_t t = times_ns[i];
		assert_int_equal(hs_probe_see(&node, i, 3, t + 2 * MS), HS_PROBE_NEW);
		assert_int_equal(hs_probe_see(&node, i, 3, t - 2 * MS), HS_PROBE_REPEATED);
		assert_int_equal(hs_probe_see(&node, i, 3, t + 2 * MS), HS_PROBE_REPEATED);
		assert_int_equal(hs_probe_see(&node, i, 2, t - 2 * MS), HS_PROBE_AGAIN);
		assert_int_equal(hs_probe_see(&node, i, 2, t + 1600 * MS), HS_PROBE_NEW);
	}
}

// ---- both at the same time ----

#define ROUNDS 20000
#define IDS    256

static struct probe_bytes numbered(unsigned dscp, unsigned id)
{
	char payload[64];

	snprintf(payload, sizeof(payload),
			dscp == 0x19 ? "%04x" : "%04x 0002 020004 030002 0000 0000", 2 * id + 1);
	return probe_made(dscp, payload, false);
}

static void put_in(struct stand *s, unsigned port, const struct probe_bytes *bytes)
{
	struct test_port *p = &s->t.ports[port];
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->pool);

	if (!m)
		return;
	memcpy(rte_pktmbuf_append(m, (uint16_t)bytes->len), bytes->at, bytes->len);
	p->in[p->n_in++] = m;
}

// Feedback for all IDs again and again, as worker 1 gets it.
static void *confirm_all(void *context)
{
	struct stand *s = context;

	dpdk_env_unpin();
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct probe_bytes feedback = numbered(0x19, i % IDS);
		put_in(s, OUT, &feedback);
		hs_node_worker_poll(s->t.node, 1);
	}
	return NULL;
}

static void drain(struct stand *s)
{
	for (unsigned p = 0; p < N_PORTS; p++) {
		rte_pktmbuf_free_bulk(s->t.ports[p].out, s->t.ports[p].n_out);
		s->t.ports[p].n_out = 0;
	}
}

static void each_copy_is_confirmed_or_recovered_once(void **state)
{
	(void)state;
	struct hs_probe_profile profile = usual_profile;
	pthread_t other;

	profile.rate_pps = 100000000;
	profile.timeout_ns = 2 * MS;
	profile.seen_ns = 0;
	struct stand *s = open_two(&profile);
	assert_int_equal(pthread_create(&other, NULL, confirm_all, s), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct probe_bytes probe = numbered(0x17, i % IDS);
		put_in(s, IN, &probe);
		hs_node_worker_poll(s->t.node, 0);
		drain(s);
		s->now_ns += MS / 16;
		hs_clock_set(s->clock, s->now_ns);
	}
	assert_int_equal(pthread_join(other, NULL), 0);
	advance(s, 10 * MS);
	drain(s);
	uint64_t held = event_at(s, IN, HS_EVENT_PROBE_FILLED) -
			event_at(s, IN, HS_EVENT_PROBE_NOT_HELD) -
			event_at(s, IN, HS_EVENT_PROBE_REPEATED);
	assert_true(held > ROUNDS / 2);
	assert_int_equal(held, drop_at(s, OUT, HS_DROP_PROBE_CONFIRMED) +
					       event_at(s, OUT, HS_EVENT_PROBE_RECOVERED));
	assert_int_equal(hs_node_probes_held(s->t.node), 0);
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(feedback_at_another_worker_ends_the_copy),
			cmocka_unit_test(both_workers_may_use_the_egress_queue_of_a_port),
			cmocka_unit_test(values_are_sums_over_workers),
			cmocka_unit_test(a_request_is_known_to_a_worker_that_read_the_clock_before),
			cmocka_unit_test(each_copy_is_confirmed_or_recovered_once),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
