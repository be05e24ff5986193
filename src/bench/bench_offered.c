// SPDX-License-Identifier: BSD-3-Clause
#include "bench_offered.h"

#include "bench_datagrams.h"

#include "bytes.h"
#include "collector_worker.h"
#include "eal.h"
#include "os_clock.h"
#include "ring.h"

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MBUFS	       16384 // as memory.mbufs is by default
#define MBUF_BYTES     RTE_MBUF_DEFAULT_BUF_SIZE
#define CACHE	       256
#define HUGE_PAGE      ((size_t)2 << 20)
#define ROOM	       8192    // descriptors, as docs/collector.md advises for high rates
#define LONGEST_NAP_NS 2000000 // latency_us, as advised there
#define TABLE_BYTES    (UINT64_C(64) << 20)
#define UDP_PORT       32766
#define RATE	       1200000.0
#define CHANGES_APART  2400 // reports: a flow has another path once; 1,000 events a second
#define EVENT_FLOWS    2000
#define WARM_S	       0.2
#define PATIENCE       50      // times that
#define BEHIND_NS      1000000 // reports due for longer are left out: this thread was off its core
#define PATIENCE_NS    INT64_C(1000000000)

struct source {
	struct rte_mempool *pool;
	struct rte_ring *ring;
	struct hs_collector_worker worker;
	struct hs_bench_datagrams datagrams;
	uint32_t flows, sequence;
	uint64_t prepared, events; // since paths began to change
	bool differs[EVENT_FLOWS]; // the path of the flow's last report
	bool changing;
};

// The values that the collecting thread reads between two bursts.
struct look {
	int64_t cpu_ns, now_ns;
	struct hs_collect_counters counters;
};

static void look_at(void *context, struct hs_collect *collect)
{
	struct look *look = context;
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	look->cpu_ns = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000000000) +
		       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * INT64_C(1000);
	look->now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	look->counters = *hs_collect_counters(collect);
}

// ---- the queue ----

static uint16_t take(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)queue;
	return (uint16_t)rte_ring_sc_dequeue_burst(port->driver_data, (void **)mbufs, n, NULL);
}

static uint16_t send_nothing(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

// Fills a buffer of the pool once. Later, only the sequence number and the path change.
static void fill(struct rte_mempool *pool, void *context, void *object, unsigned i)
{
	struct source *s = context;
	struct rte_mbuf *mbuf = object;
	const uint8_t *bytes = hs_bench_datagram(&s->datagrams, i % s->datagrams.n);
	uint16_t len = (uint16_t)hs_bench_frame_len(bytes);

	(void)pool;
	mbuf->data_off = RTE_PKTMBUF_HEADROOM;
	mbuf->data_len = len;
	mbuf->pkt_len = len;
	memcpy(rte_pktmbuf_mtod(mbuf, void *), bytes - HS_BENCH_PAYLOAD, len);
	mbuf->hash.usr = i % s->flows;
}

static void prepare(struct source *s, struct rte_mbuf *mbuf)
{
	uint8_t *bytes = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, HS_BENCH_PAYLOAD);

	hs_bench_number(bytes, s->sequence++);
	if (!s->changing)
		return;
	bool differs = ++s->prepared % CHANGES_APART == 0;
	if (differs != s->differs[mbuf->hash.usr])
		s->events++;
	s->differs[mbuf->hash.usr] = differs;
	if (hs_bench_path_differs(bytes) != differs)
		hs_bench_change_path(bytes);
}

static void put(struct source *s)
{
	void *mbuf;

	if (rte_ring_full(s->ring) || rte_mempool_get(s->pool, &mbuf) < 0)
		return;
	prepare(s, mbuf);
	rte_ring_sp_enqueue(s->ring, mbuf);
}

// Empties the ring of events, as control does.
static void attend(struct source *s)
{
	while (hs_collector_ring_peek(s->worker.ring))
		hs_collector_ring_release(s->worker.ring);
}

// Offers reports at the rate.
static void offer(struct source *s, double seconds)
{
	const double apart_ns = 1e9 / RATE;
	int64_t begin = hs_os_clock_ns(CLOCK_MONOTONIC), now = begin;
	double due = (double)begin;

	for (; (double)(now - begin) < seconds * 1e9; now = hs_os_clock_ns(CLOCK_MONOTONIC)) {
		if ((double)now < due)
			continue;
		while ((double)now - due > BEHIND_NS)
			due += apart_ns;
		due += apart_ns;
		put(s);
		attend(s);
	}
}

// ---- opening ----

static int open_eal(const struct hs_bench_child_config *config, struct hs_error *err)
{
	static char *words[] = {"--no-telemetry", "--log-level=*:error"};
	struct hs_eal_config eal = {
			.memory_bytes = hs_pool_bytes(MBUFS, MBUF_BYTES) + TABLE_BYTES,
			.control_core = config->control_core,
			.worker_cores = {config->worker_core},
			.n_workers = 1,
			.argc = 2,
			.argv = words,
	};

	snprintf(eal.file_prefix, sizeof(eal.file_prefix), "%s", config->prefix);
	return hs_eal_init(&eal, err);
}

static int open_worker(struct source *s, struct hs_error *err)
{
	const struct hs_port_config port = {.name = "in", .mtu = 1500, .rx_queues = 1};
	struct hs_collector_worker *worker = &s->worker;
	struct hs_collect_config config;

	hs_collect_config_init(&config);
	// Only changes are events.
	config.gap_ns = 0;
	config.push_ns = 0;
	worker->by_eal = true;
	worker->udp_ports[0] = UDP_PORT;
	int rc = hs_port_open_custom(take, send_nothing, s->ring, &port, 0, 1, &worker->ports[0]);
	if (rc < 0)
		return rc;
	worker->n_ports = 1;
	worker->ports[0]->rx_room = ROOM;
	worker->longest_nap_ns = LONGEST_NAP_NS;
	rc = hs_collector_worker_init(worker, &config, true, err);
	return rc < 0 ? rc : hs_collector_worker_start(worker);
}

// Makes the pool in huge pages, as DPDK does for a NIC. Here they are the kernel's transparent huge
// pages.
static int open_pool(struct source *s)
{
	struct rte_pktmbuf_pool_private private = {.mbuf_data_room_size = MBUF_BYTES};
	size_t bytes = (hs_pool_bytes(MBUFS, MBUF_BYTES) / HUGE_PAGE + 1) * HUGE_PAGE;
	void *memory = aligned_alloc(HUGE_PAGE, bytes);

	s->pool = rte_mempool_create_empty("mbufs", MBUFS, sizeof(struct rte_mbuf) + MBUF_BYTES,
			CACHE, sizeof(private), SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	if (!s->pool || !memory)
		return -ENOMEM;
	madvise(memory, bytes, MADV_HUGEPAGE);
	rte_pktmbuf_pool_init(s->pool, &private);
	if (rte_mempool_populate_iova(s->pool, memory, RTE_BAD_IOVA, bytes, NULL, NULL) < MBUFS)
		return -ENOMEM;
	rte_mempool_obj_iter(s->pool, rte_pktmbuf_init, NULL);
	return 0;
}

static int open_source(struct source *s, const struct hs_bench_case *spec, struct hs_error *err)
{
	bool ids = spec->reported == EVENT_FLOWS;
	int rc = open_pool(s);

	s->flows = spec->reported;
	s->ring = hs_ring_create("offered", ROOM, sizeof(void *));
	if (rc == 0 && !s->ring)
		rc = -ENOMEM;
	if (rc == 0)
		rc = hs_bench_datagrams_of(&s->datagrams, s->flows,
				ids ? HS_BENCH_NODE_IDS : HS_BENCH_ALL_VALUES);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < s->datagrams.n; i++)
		hs_bench_datagram_head(hs_bench_datagram(&s->datagrams, i), UDP_PORT);
	rte_mempool_obj_iter(s->pool, fill, s);
	return open_worker(s, err);
}

// ---- what has come of it ----

static int expect(const char *what, uint64_t is, uint64_t should, struct hs_error *err)
{
	if (is == should)
		return 0;
	return hs_error_set(
			err, "counters", what, "", "%" PRIu64 " instead of %" PRIu64, is, should);
}

// Waits until the collector has taken all reports that were offered.
static void drain(struct source *s, struct look *look)
{
	int64_t end = hs_os_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;

	do {
		hs_collector_worker_run(&s->worker, look_at, look);
	} while (look->counters.datagrams < s->sequence && hs_os_clock_ns(CLOCK_MONOTONIC) < end);
}

static int check(const struct source *s, const struct hs_bench_case *spec,
		const struct look *learned, const struct look *last, struct hs_error *err)
{
	const struct hs_collect_counters *n = &last->counters;
	int rc = expect("reports read", n->reports_read, s->sequence, err);

	if (rc == 0)
		rc = expect("reports missing", n->reports_missing, 0, err);
	if (rc == 0)
		rc = expect("flows", n->flows, spec->reported, err);
	if (rc == 0)
		rc = expect("events", n->event_reports - learned->counters.event_reports, s->events,
				err);
	return rc;
}

int hs_bench_offered(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		struct hs_bench_collected *collected, struct hs_error *err)
{
	static struct source s;
	struct look learned, begin, end, last;

	*collected = (struct hs_bench_collected){0};
	int rc = open_eal(config, err);

	if (rc == 0)
		rc = open_source(&s, spec, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < PATIENCE && s.sequence < 2 * MBUFS; i++)
		offer(&s, WARM_S);
	drain(&s, &learned);
	s.changing = spec->reported == EVENT_FLOWS;
	offer(&s, WARM_S);
	hs_collector_worker_run(&s.worker, look_at, &begin);
	offer(&s, config->seconds);
	hs_collector_worker_run(&s.worker, look_at, &end);
	drain(&s, &last);
	double spent_ns = (double)(end.cpu_ns - begin.cpu_ns);
	collected->reports = end.counters.datagrams - begin.counters.datagrams;
	collected->per_second = (double)collected->reports * 1e9 / spent_ns;
	collected->share = RATE / collected->per_second;
	collected->left_out = 1 - (double)collected->reports * 1e9 /
						  (RATE * (double)(end.now_ns - begin.now_ns));
	return check(&s, spec, &learned, &last, err);
}
