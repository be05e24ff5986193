// SPDX-License-Identifier: BSD-3-Clause
#include "collector_worker.h"

#include "collector_record.h"

#include "idle.h"
#include "os_clock.h"

#include <rte_launch.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES	(4u << 20)
#define PUSH_AT_ONCE	32	// entries of a round
#define PUSH_WAIT_NS	1000000 // while the ring is half full
#define LCORE		1
#define SHORTEST_NAP_NS 30000
#define RARE_NS		250000 // one report: a nap would save nothing
#define LEAST_ROOM	1024   // of a port's queue, unless the port reports it
#define BURST_NS	250    // between reports of a burst for which a nap leaves room
#define PORT_SHARE	2      // of a port's room. Packets that come late have the rest
#define SOCKET_SHARE	4
#define AT_ONCE		(32 * HS_BURST) // of a queue
#define MOST_AHEAD	512u		// bytes of a frame: six hops with all values have 328
#define LONGEST_NS	INT64_C(100000000)

#define ADD(counter, n) __atomic_store_n(&(counter), (counter) + (n), __ATOMIC_RELAXED)

// ---- events ----

static void emit(void *context, const struct hs_collect_event *event)
{
	struct hs_collector_worker *worker = context;
	struct hs_collector_counters *counters = &worker->counters;

	ADD(counters->points_made, event->n_points);
	if (hs_collector_record_put(worker->ring, event))
		return;
	ADD(counters->points_lost, event->n_points);
	ADD(counters->events_lost, 1);
}

static void push(struct hs_collector_worker *worker, int64_t now_ns)
{
	// Values are pushed, too, if the clock was set back.
	bool went_back = now_ns < worker->looked_ns;
	worker->looked_ns = now_ns;
	if (!worker->pushes || (now_ns < worker->push_ns && !went_back))
		return;
	// Pushed values can wait; events cannot.
	if (hs_collector_ring_used(worker->ring) > RING_BYTES / 2)
		worker->push_ns = now_ns + PUSH_WAIT_NS;
	else
		worker->push_ns = hs_collect_push(worker->collect, now_ns, PUSH_AT_ONCE);
}

// ---- what comes in ----

static unsigned take_socket(struct hs_collector_worker *worker, unsigned index, int64_t now_ns)
{
	struct hs_collect_datagram datagrams[HS_COLLECTOR_BATCH];
	struct hs_collector_counters *counters = &worker->counters;
	unsigned cut = 0;
	int n = hs_collector_udp_receive(worker->sockets[index], datagrams, &cut);

	if (n < 0)
		ADD(counters->socket_errors, 1);
	if (n <= 0)
		return 0;
	ADD(counters->socket_datagrams, (unsigned)n);
	if (cut)
		ADD(counters->socket_cut, cut);
	for (unsigned i = 0; i < (unsigned)n; i++)
		worker->largest = RTE_MAX(worker->largest, datagrams[i].len);
	hs_collect_take(worker->collect, datagrams, (unsigned)n, now_ns);
	return (unsigned)n;
}

static enum hs_collector_frame read_frame(struct hs_collector_frame_like *last,
		struct rte_mbuf *mbuf, uint16_t udp_port, struct hs_collect_datagram *datagram)
{
	if (mbuf->nb_segs > 1 && rte_pktmbuf_linearize(mbuf) < 0)
		return HS_COLLECTOR_FRAME_SCATTERED;
	return hs_collector_frame_read_next(last, rte_pktmbuf_mtod(mbuf, const uint8_t *),
			rte_pktmbuf_data_len(mbuf), udp_port, datagram);
}

static const uint8_t *begin_of(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_mtod(mbuf, const uint8_t *);
}

static const uint8_t *end_of(const struct rte_mbuf *mbuf)
{
	return begin_of(mbuf) + RTE_MIN(rte_pktmbuf_data_len(mbuf), MOST_AHEAD);
}

// Prefetches frames, which another core or a device has written: lib/collect prefetches too late
// for the hops.
static void prefetch_frames(struct rte_mbuf **mbufs, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (const uint8_t *at = begin_of(mbufs[i]); at < end_of(mbufs[i]);
				at += RTE_CACHE_LINE_SIZE)
			rte_prefetch1(at);
}

// Prefetches a burst whose buffers are not known yet: they are probably like this one.
static void ask_ahead(struct hs_collect *collect, struct rte_mbuf **mbufs, unsigned n,
		const struct rte_mbuf *like)
{
	hs_collect_ahead(collect,
			&(struct hs_collect_ahead){.buffers = (void *const *)mbufs,
					.n = n,
					.skip = (size_t)(begin_of(like) - (const uint8_t *)like),
					.bytes = (size_t)(end_of(like) - begin_of(like))});
}

// Reads each line once, so that a core waits for many lines at a time. lib/collect does much
// between two lines, and would wait for each. Prefetches into the first level gained half as much.
static void read_lines(struct rte_mbuf **mbufs, unsigned n)
{
	unsigned any = 0;

	for (unsigned i = 0; i < n; i++)
		for (const uint8_t *at = begin_of(mbufs[i]) + RTE_CACHE_LINE_SIZE;
				at < end_of(mbufs[i]); at += RTE_CACHE_LINE_SIZE)
			any |= *at;
	__asm__ volatile("" ::"r"(any)); // the reads stay
}

// Returns bits that are set if the buffer is not a usual one of the pool. A usual buffer goes back
// without rte_pktmbuf_free, which reads the line of the buffer's second half.
static uint64_t oddity(const struct rte_mbuf *mbuf, const struct rte_mempool *pool)
{
	return ((uintptr_t)mbuf->pool ^ (uintptr_t)pool) | (mbuf->nb_segs ^ 1u) |
	       (rte_mbuf_refcnt_read(mbuf) ^ 1u) |
	       (mbuf->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL));
}

static void give_back(struct rte_mbuf **mbufs, unsigned n)
{
	struct rte_mempool *pool = mbufs[0]->pool;
	uint64_t odd = 0;

	for (unsigned i = 0; i < n; i++)
		odd |= oddity(mbufs[i], pool);
	if (!odd)
		rte_mempool_put_bulk(pool, (void **)mbufs, n);
	else
		rte_pktmbuf_free_bulk(mbufs, n);
}

// Takes a burst of the `got` packets in `mbufs`. A core can wait for a few memory requests only, so
// that the next burst is prefetched little by little.
static void take_burst(struct hs_collector_worker *worker, unsigned index,
		struct hs_collector_frame_like *last, struct rte_mbuf **mbufs, unsigned got,
		int64_t now_ns)
{
	struct hs_collector_counters *counters = &worker->counters;
	uint16_t udp_port = worker->udp_ports[index];
	struct hs_collect_datagram datagrams[HS_BURST];
	unsigned kinds[HS_COLLECTOR_FRAMES] = {0}, n = 0, burst = RTE_MIN(got, HS_BURST);
	unsigned next = RTE_MIN(got - burst, HS_BURST);

	for (unsigned i = 0; i < burst; i++) {
		enum hs_collector_frame kind = read_frame(last, mbufs[i], udp_port, &datagrams[n]);
		kinds[kind]++;
		n += kind == HS_COLLECTOR_FRAME_DATAGRAM;
	}
	ADD(counters->frames, burst);
	for (unsigned i = 0; i < HS_COLLECTOR_FRAMES; i++)
		ADD(counters->frame_kinds[i], kinds[i]);
	read_lines(mbufs, burst);
	if (next)
		ask_ahead(worker->collect, mbufs + burst, next, mbufs[0]);
	hs_collect_take(worker->collect, datagrams, n, now_ns);
	give_back(mbufs, burst);
}

// Takes a queue's packets. Two bursts are received before the first is processed, so that memory
// can be prefetched. With a driver that copies, more bursts would fill the cache with packets that
// are processed late.
static unsigned take_queue(
		struct hs_collector_worker *worker, unsigned index, uint16_t queue, int64_t now_ns)
{
	struct hs_port *port = worker->ports[index];
	struct hs_collector_frame_like last; // not cleared: frame_bytes says that there is none
	struct rte_mbuf *mbufs[AT_ONCE];
	unsigned got = port->rx_burst(port, queue, mbufs, 2 * HS_BURST);
	bool more = got == 2 * HS_BURST;

	last.frame_bytes = UINT32_MAX;
	last.datagram.listener = (uint8_t)(worker->n_sockets + index);
	for (unsigned i = 0; i < RTE_MIN(got, HS_BURST); i++)
		rte_prefetch0(mbufs[i]);
	prefetch_frames(mbufs, RTE_MIN(got, HS_BURST));
	for (unsigned at = 0; at < got; at += HS_BURST) {
		if (more && got < AT_ONCE) {
			unsigned n = port->rx_burst(port, queue, mbufs + got, HS_BURST);
			more = n == HS_BURST;
			got += n;
		}
		take_burst(worker, index, &last, mbufs + at, got - at, now_ns);
	}
	return got;
}

static unsigned take_port(struct hs_collector_worker *worker, unsigned index, int64_t now_ns)
{
	unsigned taken = 0;

	if (!__atomic_load_n(&worker->ports[index]->usable, __ATOMIC_ACQUIRE))
		return 0;
	for (uint16_t queue = 0; queue < worker->ports[index]->rx_queues; queue++)
		taken += take_queue(worker, index, queue, now_ns);
	return taken;
}

// ---- the thread ----

static void run_job(struct hs_collector_worker *worker)
{
	hs_collector_job *job = __atomic_load_n(&worker->job, __ATOMIC_ACQUIRE);

	if (!job)
		return;
	job(worker->job_context, worker->collect);
	__atomic_store_n(&worker->job, NULL, __ATOMIC_RELEASE);
}

unsigned hs_collector_worker_round(struct hs_collector_worker *worker, int64_t now_ns)
{
	unsigned taken = 0;

	for (unsigned i = 0; i < worker->n_sockets; i++)
		taken += take_socket(worker, i, now_ns);
	for (unsigned i = 0; i < worker->n_ports; i++)
		taken += take_port(worker, i, now_ns);
	push(worker, now_ns);
	run_job(worker);
	ADD(worker->counters.rounds, 1);
	return taken;
}

static unsigned round_now(struct hs_collector_worker *worker)
{
	return hs_collector_worker_round(worker, hs_os_clock_wall_ns());
}

// Returns the room of the smallest queue of a port.
static uint32_t port_room(const struct hs_collector_worker *worker)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < worker->n_ports; i++) {
		uint32_t room = worker->ports[i]->rx_room;
		least = RTE_MIN(least, room ? room : LEAST_ROOM);
	}
	return least;
}

// Returns how many reports may wait while the thread naps: a share of the smallest queue's room.
static unsigned nap_reports(const struct hs_collector_worker *worker)
{
	uint32_t n = port_room(worker) / PORT_SHARE;

	for (unsigned i = 0; i < worker->n_sockets; i++)
		n = RTE_MIN(n, hs_collector_udp_room(worker->sockets[i], worker->largest) /
						SOCKET_SHARE);
	return RTE_MAX(n, 1u);
}

// Returns whether all that came was taken. Another read of a socket costs a system call. Ports
// without packets are polled again by the rule of idle.h.
static bool is_empty(const struct hs_collector_worker *worker, unsigned taken)
{
	return worker->n_ports ? taken > 0 && taken < HS_BURST
			       : taken < HS_BURST && worker->taken > 0;
}

// Naps if everything was taken and more comes soon: one look at several reports costs less than a
// look at each.
static void nap(struct hs_collector_worker *worker)
{
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	// A product of days and reports would exceed 64 bits.
	double gap_ns = (double)(now_ns - worker->nap_ns) / (double)worker->taken;
	bool is_rare = gap_ns >= RARE_NS;
	worker->nap_reports = nap_reports(worker);
	int64_t some_ns = is_rare ? 0 : (int64_t)(gap_ns * worker->nap_reports);

	some_ns = RTE_MIN(some_ns, worker->nap_limit_ns);
	if (!is_rare && some_ns < SHORTEST_NAP_NS)
		return;
	worker->nap_ns = now_ns; // reports of the nap count with the nap's time
	worker->taken = 0;
	worker->largest = 0;
	if (!is_rare)
		hs_idle_nap(worker->idle, some_ns);
}

static void rest(struct hs_collector_worker *worker)
{
	hs_idle_arm(worker->idle);
	// Packets that came between the last round and the arming would wake nobody.
	unsigned taken = round_now(worker);
	if (taken > 0) {
		hs_idle_work(worker->idle, taken);
		return;
	}
	int64_t due_ns = worker->pushes ? worker->push_ns - hs_os_clock_wall_ns() : LONGEST_NS;
	ADD(worker->counters.sleeps, 1);
	hs_idle_sleep(worker->idle, due_ns < LONGEST_NS ? due_ns : LONGEST_NS);
}

static int loop(void *context)
{
	struct hs_collector_worker *worker = context;

	while (!__atomic_load_n(&worker->stop, __ATOMIC_RELAXED)) {
		unsigned taken = round_now(worker);
		worker->taken += taken;
		if (taken > 0)
			hs_idle_work(worker->idle, taken);
		if (taken == 0 && hs_idle_next(worker->idle) != HS_PACE_SPIN)
			rest(worker);
		else if (is_empty(worker, taken) && worker->adaptive)
			nap(worker);
	}
	return 0;
}

static void *run_thread(void *worker)
{
	loop(worker);
	return NULL;
}

static int start_thread(struct hs_collector_worker *worker)
{
	cpu_set_t core;
	int rc = pthread_create(&worker->thread, NULL, run_thread, worker);

	if (rc)
		return -rc;
	CPU_ZERO(&core);
	CPU_SET(worker->core, &core);
	pthread_setaffinity_np(worker->thread, sizeof(core), &core);
	pthread_setname_np(worker->thread, "collect");
	return 0;
}

int hs_collector_worker_start(struct hs_collector_worker *worker)
{
	int rc = 0;

	worker->nap_reports = nap_reports(worker);
	worker->nap_limit_ns =
			RTE_MIN(worker->longest_nap_ns, (int64_t)port_room(worker) * BURST_NS);
	for (unsigned i = 0; rc == 0 && i < worker->n_sockets; i++)
		rc = hs_idle_add_fd(worker->idle, hs_collector_udp_fd(worker->sockets[i]));
	for (unsigned i = 0; rc == 0 && i < worker->n_ports; i++)
		rc = hs_idle_add_port(worker->idle, worker->ports[i]);
	if (rc == 0)
		rc = worker->by_eal ? rte_eal_remote_launch(loop, worker, LCORE)
				    : start_thread(worker);
	worker->running = rc == 0;
	return rc;
}

void hs_collector_worker_stop(struct hs_collector_worker *worker)
{
	if (!worker->running)
		return;
	__atomic_store_n(&worker->stop, true, __ATOMIC_RELAXED);
	hs_idle_wake(worker->idle);
	if (worker->by_eal)
		rte_eal_wait_lcore(LCORE);
	else
		pthread_join(worker->thread, NULL);
	worker->running = false;
}

void hs_collector_worker_run(
		struct hs_collector_worker *worker, hs_collector_job *job, void *context)
{
	static const struct timespec pause = {.tv_nsec = 10000};

	if (!worker->running) {
		job(context, worker->collect);
		return;
	}
	worker->job_context = context;
	__atomic_store_n(&worker->job, job, __ATOMIC_RELEASE);
	hs_idle_wake(worker->idle);
	while (__atomic_load_n(&worker->job, __ATOMIC_ACQUIRE))
		nanosleep(&pause, NULL);
}

int hs_collector_worker_init(struct hs_collector_worker *worker,
		const struct hs_collect_config *config, bool adaptive, struct hs_error *err)
{
	worker->adaptive = adaptive;
	worker->pushes = config->push_ns > 0;
	worker->ring = hs_collector_ring_create(RING_BYTES);
	int rc = worker->ring ? hs_idle_create(adaptive, &worker->idle) : -ENOMEM;
	if (rc == 0)
		rc = hs_collect_create(config, emit, worker, &worker->collect, err);
	if (rc == -ENOMEM)
		hs_error_set(err, "no_memory", "memory", "fewer entries",
				"the tables need %" PRIu64 " MiB",
				(hs_collect_bytes(config) >> 20) + 1);
	return rc;
}

void hs_collector_worker_fini(struct hs_collector_worker *worker)
{
	hs_collector_worker_stop(worker);
	hs_collect_destroy(worker->collect);
	hs_collector_ring_destroy(worker->ring);
	hs_idle_destroy(worker->idle);
	*worker = (struct hs_collector_worker){.running = false};
}
