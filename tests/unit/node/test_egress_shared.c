// SPDX-License-Identifier: BSD-3-Clause
// Ten egress queues that two workers share, each worker a thread: what the queues said of each
// packet, against an independent count of it afterwards.
#include "egress_model.h"
#include "clock.h"
#include "stage.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define NOW	1700000000000000000
#define PORTS	10
#define WORKERS 2
#define RUNS	5000
#define LIMIT	50

// What was said of a packet.
struct said {
	int64_t run_ns;	 // its burst's time
	int64_t port_ns; // the port's time where it was stamped, else 0
	int64_t departs_ns;
	uint32_t depth; // where it was stamped
	uint32_t bytes;
	bool sent;
};

struct seat {
	struct hs_worker worker;
	struct hs_port ports[PORTS];
	int64_t *clock_ns; // of all workers
	uint64_t seed;
	struct said *said[PORTS];
	struct rte_mbuf *mbufs[PORTS];
	uint32_t n[PORTS], n_sent[PORTS];
	uint64_t refused;
};

// Packets leave in the order in which they came, none before its departure.
static uint16_t transmit(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct seat *seat = port->driver_data;

	(void)queue;
	for (uint16_t i = 0; i < n; i++) {
		uint32_t at = seat->n_sent[port->index]++;
		if (mbufs[i] != &seat->mbufs[port->index][at])
			abort();
		seat->said[port->index][at].sent = true;
	}
	return n;
}

// Some packets of a run are stamped, some get other bytes then, and some do not go on.
static void put_one(struct seat *seat, uint16_t p, struct hs_rng *rng, int64_t run_ns)
{
	struct hs_egress_worker *own = seat->worker.egress[p];
	struct said *said = &seat->said[p][seat->n[p]];
	struct rte_mbuf *m = &seat->mbufs[p][seat->n[p]];
	unsigned kind = hs_rng_u32(rng) % 4;

	said->run_ns = run_ns;
	said->bytes = 60 + hs_rng_u32(rng) % 1440;
	m->pkt_len = said->bytes;
	if (kind < 2) {
		if (kind == 1 && !hs_egress_take(own, said->bytes + 32))
			abort();
		if (!hs_egress_take(own, said->bytes))
			abort();
		said->port_ns = own->port->now_ns;
		said->depth = own->depth;
	} else if (kind == 2 && hs_rng_u32(rng) % 8 == 0) {
		return; // its place is not used
	}
	hs_egress_put(own, m);
	seat->n[p]++;
}

static void take_run(struct seat *seat, struct hs_rng *rng, int64_t run_ns)
{
	uint16_t p = (uint16_t)(hs_rng_u32(rng) % PORTS);
	struct hs_egress_worker *own = seat->worker.egress[p];
	uint32_t packets = hs_rng_u32(rng) % 32 + 1, first = seat->n[p];

	hs_egress_open(&seat->worker, &seat->ports[p], run_ns, packets);
	uint32_t at = own->tail;
	for (; packets && hs_egress_fits(own); packets--)
		put_one(seat, p, rng, run_ns);
	seat->refused += packets;
	hs_egress_close(own);
	for (uint32_t i = first; i < seat->n[p]; i++, at++)
		seat->said[p][i].departs_ns = own->departs_ns[at & own->mask];
	hs_port_stats_of(&seat->worker, p)->queued += seat->n[p] - first;
}

static void send_until(struct seat *seat, int64_t now_ns)
{
	hs_clock_set(seat->worker.clock, now_ns);
	hs_egress_send_due(&seat->worker);
}

static void *work(void *context)
{
	struct seat *seat = context;
	struct hs_rng rng;

	hs_rng_init(&rng, seat->seed);
	for (unsigned run = 0; run < RUNS; run++) {
		int64_t run_ns = __atomic_add_fetch(
				seat->clock_ns, hs_rng_u32(&rng) % 2000, __ATOMIC_RELAXED);
		send_until(seat, run_ns);
		take_run(seat, &rng, run_ns);
	}
	send_until(seat, NOW + INT64_C(1000000000000));
	return NULL;
}

static void seat_open(
		struct seat *seat, struct hs_egress *const *ports, uint64_t seed, int64_t *clock_ns)
{
	seat->worker.n_ports = PORTS;
	seat->clock_ns = clock_ns;
	seat->seed = seed;
	assert_int_equal(hs_clock_create_manual(NOW, &seat->worker.clock), 0);
	for (uint16_t p = 0; p < PORTS; p++) {
		seat->ports[p] = (struct hs_port){.tx_burst = transmit,
				.driver_data = seat,
				.index = p,
				.usable = true};
		seat->worker.ports[p] = &seat->ports[p];
		seat->worker.egress[p] = hs_egress_join(ports[p]);
		seat->said[p] = calloc(RUNS * 4, sizeof(struct said));
		seat->mbufs[p] = calloc(RUNS * 4, sizeof(struct rte_mbuf));
	}
}

static void seat_close(struct seat *seat)
{
	for (unsigned p = 0; p < PORTS; p++) {
		free(seat->said[p]);
		free(seat->mbufs[p]);
		rte_free(seat->worker.egress[p]);
	}
	hs_clock_destroy(seat->worker.clock);
	free(seat);
}

// A packet that was not stamped said nothing of the port's time, which was then its burst's or a
// later one.
static void recount_plain(struct model *model, const struct said *said)
{
	wide time = (wide)said->bytes * 8 * 1000000000, departs = model->departs + time;
	uint32_t depth;

	if (said->departs_ns != (int64_t)(departs / (wide)model->rate_bps)) {
		int64_t start_ns = said->departs_ns - (int64_t)(time / (wide)model->rate_bps);
		assert_true(start_ns >= said->run_ns);
		assert_true(start_ns > (int64_t)(model->departs / (wide)model->rate_bps));
		assert_int_equal(
				model_take(model, start_ns, said->bytes, &depth), said->departs_ns);
		return;
	}
	model->departs = departs;
	model->kept[model->n++ % MODEL_KEPT] = departs;
}

static void recount_one(struct model *model, const struct said *said)
{
	uint32_t depth;

	assert_true(said->sent);
	if (!said->port_ns) {
		recount_plain(model, said);
		return;
	}
	assert_true(said->port_ns >= said->run_ns && said->port_ns >= model->now_ns);
	assert_int_equal(model_take(model, said->port_ns, said->bytes, &depth), said->departs_ns);
	assert_int_equal(said->depth, depth);
}

// Both workers' packets of a port, in the order of their departures.
static uint64_t recount(struct seat *const *seats, unsigned p, uint64_t rate_bps)
{
	struct model *model = calloc(1, sizeof(*model));
	uint32_t at[WORKERS] = {0};
	uint64_t n = 0;

	model->rate_bps = rate_bps;
	model->limit = LIMIT;
	model->departs = -1;
	for (;; n++) {
		const struct said *next = NULL;
		unsigned from = 0;
		for (unsigned w = 0; w < WORKERS; w++) {
			const struct said *said = &seats[w]->said[p][at[w]];
			if (at[w] == seats[w]->n[p] ||
					(next && said->departs_ns > next->departs_ns))
				continue;
			next = said;
			from = w;
		}
		if (!next)
			break;
		recount_one(model, next);
		at[from]++;
	}
	free(model);
	return n;
}

static void test_what_ten_queues_say_is_exact(void **state)
{
	struct hs_egress *ports[PORTS];
	struct seat *seats[WORKERS];
	pthread_t threads[WORKERS];
	int64_t clock_ns = NOW;
	uint64_t taken = 0;

	(void)state;
	for (unsigned p = 0; p < PORTS; p++) {
		// A byte takes a whole number of nanoseconds, so that a departure says whether the
		// packet waited: with fractions, two starts can have the same departure.
		ports[p] = hs_egress_create(UINT64_C(8000000000) / (1 + p % 2), LIMIT);
		ports[p]->shared = true;
	}
	for (unsigned w = 0; w < WORKERS; w++) {
		seats[w] = calloc(1, sizeof(*seats[w]));
		seat_open(seats[w], ports, w + 1, &clock_ns);
	}
	for (unsigned w = 0; w < WORKERS; w++)
		assert_int_equal(pthread_create(&threads[w], NULL, work, seats[w]), 0);
	for (unsigned w = 0; w < WORKERS; w++)
		pthread_join(threads[w], NULL);
	for (unsigned p = 0; p < PORTS; p++) {
		taken += recount(seats, p, ports[p]->rate_bps);
		assert_int_equal(ports[p]->reserved, 0);
		hs_egress_destroy(ports[p]);
	}
	assert_true(taken > RUNS && seats[0]->refused + seats[1]->refused > RUNS / 10);
	for (unsigned w = 0; w < WORKERS; w++)
		seat_close(seats[w]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(test_what_ten_queues_say_is_exact),
	};

	dpdk_env_init("64");
	dpdk_env_unpin();
	return cmocka_run_group_tests_name("shared egress queues", tests, NULL, NULL);
}
