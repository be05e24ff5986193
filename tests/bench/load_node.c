// SPDX-License-Identifier: BSD-3-Clause
#include "load_node.h"

#include "node.h"
#include "port.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#define BURST		32
#define POOL		16383
#define DATA_ROOM_BYTES 2304
// A round of the worker is some microseconds at most: only a longer one is asked about.
#define LONG_ROUND_S 20e-6

struct load_node {
	struct rte_ring *in, *out;
	struct hs_clock *clock;
	struct hs_node *node;
	struct hs_port *ports[2];
	struct load_path path;
	unsigned lcore;
	bool threaded;
	bool stop;
};

static uint16_t port_receive(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)queue;
	return (uint16_t)rte_ring_sc_dequeue_burst(port->driver_data, (void **)mbufs, n, NULL);
}

static uint16_t port_send(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)queue;
	return (uint16_t)rte_ring_sp_enqueue_burst(port->driver_data, (void **)mbufs, n, NULL);
}

// The far sides of the two ports: nothing comes in on the second, nothing goes out on the first.
static uint16_t port_receive_none(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port;
	(void)queue;
	(void)mbufs;
	(void)n;
	return 0;
}

static uint16_t path_send(void *context, struct rte_mbuf **mbufs, uint16_t n)
{
	struct load_node *ln = context;

	return (uint16_t)rte_ring_sp_enqueue_burst(ln->in, (void **)mbufs, n, NULL);
}

static uint16_t path_receive(void *context, struct rte_mbuf **mbufs, uint16_t n)
{
	struct load_node *ln = context;

	return (uint16_t)rte_ring_sc_dequeue_burst(ln->out, (void **)mbufs, n, NULL);
}

static int worker_loop(void *context)
{
	struct load_node *ln = context;

	hs_node_worker_online(ln->node, 0);
	while (!__atomic_load_n(&ln->stop, __ATOMIC_RELAXED))
		hs_node_worker_poll(ln->node, 0);
	hs_node_worker_offline(ln->node, 0);
	return 0;
}

static int add_rules(struct load_node *ln, const struct load_node_config *config)
{
	struct hs_error err = {0};
	struct hs_rule rule;

	hs_rule_init(&rule);
	memcpy(rule.src_ip, config->addresses.src_ip, 16);
	memcpy(rule.dst_ip, config->addresses.dst_ip, 16);
	rule.dst_port = config->addresses.dst_port;
	rule.protocol = IPPROTO_UDP;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = config->every;
	rule.trace_type = 0x7000E000;
	for (uint32_t i = 0; i < config->rules; i++) {
		rule.ns_id = i + 1;
		rule.src_port = (uint16_t)(config->addresses.src_port + i);
		int rc = hs_flow_table_install(hs_node_flows(ln->node), &rule, NULL, &err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int open_ports(struct load_node *ln)
{
	struct hs_port_config host = {.name = "in",
			.kind = HS_PORT_CUSTOM,
			.side = HS_SIDE_HOST,
			.mtu = 1500,
			.rx_queues = 1};
	struct hs_port_config network = {.name = "out",
			.kind = HS_PORT_CUSTOM,
			.side = HS_SIDE_NETWORK,
			.mtu = 1800,
			.rx_queues = 1};
	int rc = hs_port_open_custom(port_receive, port_send, ln->in, &host, 0, 1, &ln->ports[0]);

	if (rc == 0)
		rc = hs_port_open_custom(port_receive_none, port_send, ln->out, &network, 1, 1,
				&ln->ports[1]);
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		rc = hs_node_add_port(ln->node, ln->ports[i]);
	return rc;
}

static int open_node(struct load_node *ln, const struct load_node_config *config)
{
	struct hs_error err = {0};
	struct hs_node_config node = {
			.id = 1,
			.name = "loadgen",
			.n_workers = 1,
			.rules = config->rules < 64 ? 64 : config->rules,
			.forwarding = HS_FORWARD_PATCH,
			.n_pairs = 1,
			.pairs = {{0, 1}},
			.seed = 1,
	};
	int rc = hs_clock_create(HS_CLOCK_UTC, &ln->clock);

	if (rc == 0)
		rc = hs_node_create(&node, ln->clock, ln->path.pool, &ln->node, &err);
	if (rc == 0)
		rc = open_ports(ln);
	if (rc == 0)
		rc = add_rules(ln, config);
	if (rc < 0 && err.message[0])
		fprintf(stderr, "loadgen: %s\n", err.message);
	return rc;
}

static int open_rings(struct load_node *ln, uint32_t size)
{
	unsigned flags = RING_F_SP_ENQ | RING_F_SC_DEQ;

	ln->in = rte_ring_create("load_in", size, SOCKET_ID_ANY, flags);
	ln->out = rte_ring_create("load_out", size, SOCKET_ID_ANY, flags);
	ln->path.pool = rte_pktmbuf_pool_create(
			"load", POOL, 256, 0, DATA_ROOM_BYTES, SOCKET_ID_ANY);
	return ln->in && ln->out && ln->path.pool ? 0 : -rte_errno;
}

int load_node_create(const struct load_node_config *config, struct load_node **node)
{
	struct load_node *ln = calloc(1, sizeof(*ln));

	if (!ln)
		return -ENOMEM;
	ln->path.send = path_send;
	ln->path.receive = path_receive;
	ln->path.context = ln;
	int rc = open_rings(ln, config->ring);
	if (rc == 0)
		rc = open_node(ln, config);
	if (rc == 0 && config->worker_lcore >= 0) {
		ln->lcore = (unsigned)config->worker_lcore;
		rc = rte_eal_remote_launch(worker_loop, ln, ln->lcore);
		ln->threaded = rc == 0;
	} else if (rc == 0) {
		hs_node_worker_online(ln->node, 0);
	}
	if (rc < 0) {
		load_node_destroy(ln);
		return rc;
	}
	*node = ln;
	return 0;
}

void load_node_destroy(struct load_node *node)
{
	if (!node)
		return;
	__atomic_store_n(&node->stop, true, __ATOMIC_RELAXED);
	if (node->threaded)
		rte_eal_wait_lcore(node->lcore);
	if (node->node)
		hs_node_destroy(node->node);
	for (unsigned i = 0; i < 2; i++)
		hs_port_close(node->ports[i]);
	hs_clock_destroy(node->clock);
	rte_ring_free(node->in);
	rte_ring_free(node->out);
	rte_mempool_free(node->path.pool);
	free(node);
}

const struct load_path *load_node_path(struct load_node *node)
{
	return &node->path;
}

// ---- taking turns ----

struct turn {
	struct load_node *ln;
	struct load_stream *stream;
	struct load_result *result;
	double ticks_per_frame; // 0: no rate
	uint64_t now;
	uint64_t round_ticks, rounds; // with packets, not preempted
	long preempted;
};

static long times_preempted(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

static unsigned due_now(const struct turn *t)
{
	if (t->ticks_per_frame == 0)
		return BURST;
	uint64_t due = (uint64_t)((double)t->now / t->ticks_per_frame);
	uint64_t left = due - (t->result->sent + t->result->refused);
	return left < BURST ? (unsigned)left : BURST;
}

// Puts up to a burst of the frames that are due into the node's ring, each stamped with the time it
// was due; returns whether there may be more.
static bool arrive(struct turn *t)
{
	struct load_result *r = t->result;
	struct rte_mbuf *mbufs[BURST];
	uint64_t done = r->sent + r->refused;
	unsigned n = due_now(t);

	if (n == 0 || rte_pktmbuf_alloc_bulk(t->ln->path.pool, mbufs, n) != 0)
		return false;
	for (unsigned i = 0; i < n; i++) {
		uint64_t at = (uint64_t)((double)(done + i + 1) * t->ticks_per_frame);
		load_stream_write(t->stream, mbufs[i], t->ticks_per_frame > 0 ? at : t->now);
	}
	uint16_t taken = path_send(t->ln, mbufs, (uint16_t)n);
	r->sent += taken;
	if (taken == n)
		return true;
	rte_pktmbuf_free_bulk(mbufs + taken, n - taken);
	t->stream->next -= n - taken;
	if (t->ticks_per_frame == 0)
		return false;
	r->refused += n - taken;
	return true;
}

static void leave(struct turn *t)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n;

	while ((n = path_receive(t->ln, mbufs, BURST)) > 0) {
		for (uint16_t i = 0; i < n; i++)
			load_stream_read(t->stream, mbufs[i], t->now);
		rte_pktmbuf_free_bulk(mbufs, n);
	}
}

static void copy_reports(void *context, const struct hs_report_record *records, unsigned n)
{
	memcpy(context, records, n * sizeof(*records));
}

static void take_reports(struct turn *t)
{
	struct hs_report_record records[BURST];

	while (hs_node_visit_reports(t->ln->node, BURST, copy_reports, records) == BURST)
		;
}

// ---- virtual time ----

// One round of the worker; the clock moves by what it took.
static unsigned work(struct turn *t)
{
	uint64_t before = rte_rdtsc();
	unsigned n = hs_node_worker_poll(t->ln->node, 0);
	uint64_t took = rte_rdtsc() - before;

	if (took > (uint64_t)(LONG_ROUND_S * (double)rte_get_tsc_hz())) {
		long preempted = times_preempted();
		if (preempted != t->preempted && t->rounds > 0) {
			t->result->preempted_rounds++;
			took = t->round_ticks / t->rounds;
		}
		t->preempted = preempted;
	} else if (n > 0) {
		t->round_ticks += took;
		t->rounds++;
	}
	if (took > t->result->longest_pause_ticks)
		t->result->longest_pause_ticks = took;
	t->now += took;
	return n;
}

void load_node_virtual(struct load_node *node, struct load_stream *stream,
		const struct load_trial *trial, struct load_result *result)
{
	double hz = (double)rte_get_tsc_hz();
	uint64_t length = (uint64_t)(trial->seconds * hz);
	struct turn t = {.ln = node,
			.stream = stream,
			.result = result,
			.ticks_per_frame = trial->pps > 0 ? hz / trial->pps : 0,
			.preempted = times_preempted()};

	*result = (struct load_result){0};
	while (t.now < length) {
		while (arrive(&t))
			;
		work(&t);
		leave(&t);
	}
	result->ticks = t.now;
	while (work(&t) > 0)
		leave(&t);
	take_reports(&t);
	result->cpu_ns = (uint64_t)((double)result->ticks * 1e9 / hz);
}

// ---- real time ----

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static unsigned pass_bare(struct load_node *ln)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = port_receive(ln->ports[0], 0, mbufs, BURST);

	return port_send(ln->ports[1], 0, mbufs, n);
}

static unsigned pass(struct turn *t, bool bare)
{
	return bare ? pass_bare(t->ln) : hs_node_worker_poll(t->ln->node, 0);
}

static void note_gap(struct load_result *result, uint64_t took, uint64_t gap_ticks)
{
	if (took > result->longest_pause_ticks)
		result->longest_pause_ticks = took;
	if (took <= gap_ticks)
		return;
	result->gaps++;
	result->gap_ticks += took;
}

void load_node_turns(struct load_node *node, struct load_stream *stream,
		const struct load_trial *trial, bool bare, struct load_result *result)
{
	double hz = (double)rte_get_tsc_hz();
	uint64_t length = (uint64_t)(trial->seconds * hz);
	uint64_t gap_ticks = (uint64_t)(LOAD_GAP_NS * 1e-9 * hz);
	struct turn t = {.ln = node,
			.stream = stream,
			.result = result,
			.ticks_per_frame = trial->pps > 0 ? hz / trial->pps : 0};
	uint64_t cpu = thread_ns(), begin = rte_rdtsc(), before = 0;

	*result = (struct load_result){0};
	while (t.now < length) {
		arrive(&t);
		pass(&t, bare);
		t.now = rte_rdtsc() - begin;
		leave(&t);
		note_gap(result, t.now - before, gap_ticks);
		before = t.now;
	}
	result->ticks = t.now;
	result->cpu_ns = thread_ns() - cpu;
	// What the schedule has up to the end and was not offered: the generator was too slow.
	if (trial->pps > 0)
		result->skipped = (uint64_t)((double)t.now / t.ticks_per_frame) - result->sent;
	while (pass(&t, bare) > 0) {
		t.now = rte_rdtsc() - begin;
		leave(&t);
	}
	take_reports(&t);
}
