// SPDX-License-Identifier: BSD-3-Clause
// Two ports joined by a wire, for test_platform.py: packets that one port receives leave at the
// other. The program reports events as lines of JSON on stdout and takes commands on stdin:
// "stats", "close N", "quit".
//
//   test_platform_patch MBUFS MTU WORKERS PORT PORT    PORT: iface[:driver[:queues]] or a devargs
//   string
#include "clock.h"
#include "eal.h"
#include "idle.h"
#include "log.h"
#include "port.h"
#include "port_watch.h"

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define N_PORTS 2

struct worker {
	unsigned index;
	struct hs_idle *idle;
	_Atomic uint64_t cpu_ns, rounds, sleeps, received, refused;
	_Atomic uint64_t quiescent;
	_Atomic bool asleep;
};

static struct hs_port *ports[N_PORTS];
static struct worker workers[HS_MAX_WORKERS];
static unsigned n_workers;
static atomic_bool stopping, paused;

static bool usable(const struct hs_port *port)
{
	return __atomic_load_n(&port->usable, __ATOMIC_ACQUIRE);
}

static unsigned forward(struct worker *w, struct hs_port *from, uint16_t queue, struct hs_port *to)
{
	struct rte_mbuf *mbufs[HS_BURST];
	uint16_t n, sent = 0;

	if (!usable(from))
		return 0;
	n = from->rx_burst(from, queue, mbufs, HS_BURST);
	if (n == 0)
		return 0;
	if (usable(to))
		sent = to->tx_burst(to, (uint16_t)w->index, mbufs, n);
	rte_pktmbuf_free_bulk(&mbufs[sent], n - sent);
	w->received += n;
	w->refused += n - sent;
	return n;
}

static unsigned poll_once(struct worker *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < N_PORTS && !paused; i++)
		for (uint16_t q = 0; q < ports[i]->rx_queues; q++)
			if (q % n_workers == w->index)
				n += forward(w, ports[i], q, ports[1 - i]);
	w->rounds++;
	w->quiescent++;
	return n;
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int run(void *arg)
{
	struct worker *w = arg;

	while (!stopping) {
		unsigned packets = poll_once(w);
		enum hs_pace_step step = packets ? HS_PACE_SPIN : hs_idle_next(w->idle);
		if (step == HS_PACE_SLEEP) {
			hs_idle_arm(w->idle);
			packets = poll_once(w);
		}
		if (packets)
			hs_idle_work(w->idle, packets);
		if (step == HS_PACE_REST)
			hs_idle_rest(w->idle, INT64_MAX);
		if (packets || step != HS_PACE_SLEEP)
			continue;
		w->asleep = true;
		hs_idle_sleep(w->idle, INT64_MAX);
		w->asleep = false;
		w->sleeps++;
		w->cpu_ns = thread_cpu_ns();
	}
	return 0;
}

// Waits until every worker has begun a new round, or sleeps.
static void synchronise(void)
{
	for (unsigned i = 0; i < n_workers; i++) {
		uint64_t seen = workers[i].quiescent;

		while (workers[i].quiescent == seen && !workers[i].asleep && !stopping)
			sched_yield();
	}
}

static void let_go(struct hs_port *port)
{
	__atomic_store_n(&port->usable, false, __ATOMIC_RELEASE);
	synchronise();
}

static void on_event(void *context, struct hs_port *port, enum hs_port_event event)
{
	static const char *const words[] = {"gone", "back", "up", "down"};
	struct hs_error err = {0};

	(void)context;
	printf("{\"event\": \"%s\", \"port\": %u}\n", words[event], port->index);
	if (event == HS_PORT_GONE) {
		let_go(port);
		hs_port_detach(port);
	} else if (event == HS_PORT_BACK) {
		int ret = hs_port_reopen(port, &err);

		printf("{\"reopened\": %d, \"port\": %u, \"error\": \"%s\"}\n", ret, port->index,
				err.message);
		if (ret == 0)
			__atomic_store_n(&port->usable, true, __ATOMIC_RELEASE);
		for (unsigned i = 0; i < n_workers; i++)
			hs_idle_wake(workers[i].idle);
	}
	fflush(stdout);
}

static void print_stats(void)
{
	printf("{\"stats\": [");
	for (unsigned i = 0; i < N_PORTS; i++) {
		struct hs_port_device_stats s;

		hs_port_device_stats(ports[i], &s);
		printf("%s{\"driver\": \"%s\", \"link_up\": %s, \"timed\": %s, \"mtu\": %u, "
		       "\"rx_packets\": %lu, \"tx_packets\": %lu, \"rx_missed\": %lu, "
		       "\"rx_errors\": %lu, \"tx_errors\": %lu}",
				i ? ", " : "", ports[i]->driver_name,
				hs_port_link_up(ports[i]) ? "true" : "false",
				ports[i]->needs_timed_poll ? "true" : "false", ports[i]->mtu,
				s.rx_packets, s.tx_packets, s.rx_missed, s.rx_errors, s.tx_errors);
	}
	printf("], \"workers\": [");
	for (unsigned i = 0; i < n_workers; i++) {
		struct worker *w = &workers[i];

		hs_idle_wake(w->idle); // so that cpu_ns is up to date
		printf("%s{\"cpu_ns\": %lu, \"rounds\": %lu, \"sleeps\": %lu, \"received\": %lu, "
		       "\"refused\": %lu}",
				i ? ", " : "", w->cpu_ns, w->rounds, w->sleeps, w->received,
				w->refused);
	}
	printf("]}\n");
	fflush(stdout);
}

static bool take_command(void)
{
	char line[64];

	if (!fgets(line, sizeof(line), stdin))
		return false;
	if (strncmp(line, "stats", 5) == 0)
		print_stats();
	if (strncmp(line, "pause", 5) == 0)
		paused = true;
	if (strncmp(line, "go", 2) == 0)
		paused = false;
	return strncmp(line, "quit", 4) != 0;
}

static void parse_port(char *text, uint16_t mtu, struct hs_port_config *config)
{
	*config = (struct hs_port_config){.mtu = mtu, .rx_queues = 1};
	if (strncmp(text, "net_", 4) == 0) {
		config->kind = HS_PORT_DEVARGS;
		snprintf(config->device, sizeof(config->device), "%s", text);
		return;
	}
	config->kind = HS_PORT_IFACE;
	char *name = strsep(&text, ":"), *driver = strsep(&text, ":");
	snprintf(config->device, sizeof(config->device), "%s", name);
	if (driver)
		snprintf(config->driver, sizeof(config->driver), "%.15s", driver);
	if (text)
		config->rx_queues = (uint16_t)atoi(text);
}

static int fail(const char *what, const struct hs_error *err)
{
	printf("{\"failed\": \"%s\", \"code\": \"%s\", \"path\": \"%s\", \"message\": \"%s\"}\n",
			what, err->code, err->path, err->message);
	return 1;
}

static int open_ports(char **argv, uint32_t n_mbufs, uint16_t mtu, struct rte_mempool **pool)
{
	struct hs_port_config configs[N_PORTS];
	struct hs_error err = {0};
	uint16_t room = 0;

	for (unsigned i = 0; i < N_PORTS; i++) {
		parse_port(argv[i], mtu, &configs[i]);
		snprintf(configs[i].name, sizeof(configs[i].name), "port%u", i);
		room = RTE_MAX(room, hs_port_mbuf_bytes(&configs[i]));
	}

	struct hs_eal_config eal = {
			.memory_bytes = hs_pool_bytes(n_mbufs, room),
			.control_core = 0,
			.n_workers = n_workers,
	};
	for (unsigned i = 0; i < n_workers; i++)
		eal.worker_cores[i] = (int)((i + 1) % (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
	snprintf(eal.file_prefix, sizeof(eal.file_prefix), "plat-patch-%d", (int)getpid());
	if (hs_eal_init(&eal, &err) < 0)
		return fail("eal", &err);
	if (hs_pool_create("mbufs", n_mbufs, room, pool) < 0)
		return fail("pool", &err);
	for (unsigned i = 0; i < N_PORTS; i++)
		if (hs_port_open(&configs[i], (uint16_t)i, (uint16_t)n_workers, *pool, &ports[i],
				    &err) < 0)
			return fail("port", &err);
	return 0;
}

static void control_loop(struct hs_port_watch *watch)
{
	struct pollfd fds[] = {
			{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = hs_port_watch_fd(watch), .events = POLLIN},
	};

	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		if (poll(fds, RTE_DIM(fds), -1) < 0)
			return;
		if (fds[1].revents)
			hs_port_watch_poll(watch);
		if (fds[0].revents && !take_command())
			return;
	}
}

int main(int argc, char **argv)
{
	struct rte_mempool *pool = NULL;
	struct hs_port_watch *watch;

	if (argc != 6)
		return 2;
	n_workers = (unsigned)atoi(argv[3]);
	if (open_ports(&argv[4], (uint32_t)atoi(argv[1]), (uint16_t)atoi(argv[2]), &pool))
		return 1;
	if (hs_port_watch_create(on_event, NULL, &watch) < 0)
		return 1;
	for (unsigned i = 0; i < N_PORTS; i++)
		hs_port_watch_add(watch, ports[i]);
	for (unsigned i = 0; i < n_workers; i++) {
		workers[i].index = i;
		hs_idle_create(true, &workers[i].idle);
		for (unsigned j = 0; j < N_PORTS; j++)
			hs_idle_add_port(workers[i].idle, ports[j]);
		rte_eal_remote_launch(run, &workers[i], i + 1);
	}
	printf("{\"ready\": true}\n");
	fflush(stdout);
	control_loop(watch);

	stopping = true;
	for (unsigned i = 0; i < n_workers; i++)
		hs_idle_wake(workers[i].idle);
	rte_eal_mp_wait_lcore();
	print_stats();
	for (unsigned i = 0; i < N_PORTS; i++)
		hs_port_close(ports[i]);
	printf("{\"mbufs_in_use\": %u}\n", rte_mempool_in_use_count(pool));
	hs_port_watch_destroy(watch);
	for (unsigned i = 0; i < n_workers; i++)
		hs_idle_destroy(workers[i].idle);
	hs_eal_fini();
	return 0;
}
