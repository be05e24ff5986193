// SPDX-License-Identifier: BSD-3-Clause
// A paced generator and receiver of IPv6 UDP for benchmarks, see docs/benchmark-method.md:
//   loadgen EAL-WORDS -- OPTIONS        frames go out on port 0 and come back on port 1
//   loadgen EAL-WORDS -- --in-process   they pass a node of this process
// One trial with --pps and --seconds; else a trial for each line `PPS SECONDS FRAME_BYTES` on the
// standard input. Each trial's result is one line of JSON.
#include "load_node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_lcore.h>

#define POOL		8191
#define DATA_ROOM_BYTES (RTE_PKTMBUF_HEADROOM + LOAD_FRAME_MAX + 256)
#define DESCRIPTORS	1024

// What makes the time of a trial through a node of this process.
enum load_clock {
	CLOCK_IS_WORKER, // virtual time
	CLOCK_IS_REAL,	 // worker and generator in turns
	CLOCK_IS_BARE,	 // the same without a node
};

struct options {
	struct load_addresses addresses;
	uint32_t flows;
	uint16_t frame_bytes;
	double pps, seconds; // seconds 0: trials come on the standard input
	double wait_s;
	bool in_process;
	bool threads;
	enum load_clock clock;
	uint32_t rules, every, ring;
};

struct generator {
	struct options options;
	struct load_stream stream;
	struct load_path path;
	struct load_node *node;
	uint16_t tx_port, rx_port;
};

static const char usage_text[] =
		"usage: loadgen EAL-WORDS -- [OPTIONS]\n"
		"Offers IPv6 UDP on the first port, takes it on the second, prints JSON.\n"
		"  --pps N            frames a second; 0: as many as go (default)\n"
		"  --seconds S        one trial of this length; else lines on standard input:\n"
		"                     PPS SECONDS FRAME_BYTES, of a node in process also with the "
		"word\n"
		"                     turns or bare behind\n"
		"  --frame-bytes N    without FCS, 74 to 9018 (128)\n"
		"  --flows N          source ports in turn, 1 to 60000 (4096)\n"
		"  --src IP --dst IP --src-mac MAC --dst-mac MAC --src-port N --dst-port N\n"
		"  --wait S           for the ports' links to come up (10)\n"
		"  --in-process       through a node of this process, in virtual time\n"
		"  --turns            with it, and --seconds: in real time, generator and worker "
		"in turns\n"
		"  --bare             as --turns, but without the node\n"
		"  --threads          with it: generator and worker in two threads, in real time\n"
		"  --rules N --every N --ring N   of that node: a rule for each of the first N "
		"flows,\n"
		"                     telemetry in every Nth packet (100), rings of N frames "
		"(1024)\n";

__rte_noreturn static void fail(const char *said, const char *why)
{
	fprintf(stderr, "loadgen: %s: %s\n", said, why);
	exit(2);
}

static double number(const char *name, const char *text, double min, double max)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= min && value <= max)) {
		fprintf(stderr, "loadgen: --%s %s: allowed is %.15g to %.15g\n", name, text, min,
				max);
		exit(2);
	}
	return value;
}

static void address(const char *text, uint8_t ip[16])
{
	if (inet_pton(AF_INET6, text, ip) != 1)
		fail(text, "no IPv6 address");
}

static void mac(const char *text, uint8_t bytes[6])
{
	struct rte_ether_addr parsed;

	if (rte_ether_unformat_addr(text, &parsed) != 0)
		fail(text, "no MAC address");
	memcpy(bytes, parsed.addr_bytes, 6);
}

static const struct option long_options[] = {
		{"pps", required_argument, NULL, 'p'},
		{"seconds", required_argument, NULL, 's'},
		{"frame-bytes", required_argument, NULL, 'b'},
		{"flows", required_argument, NULL, 'f'},
		{"src", required_argument, NULL, 'S'},
		{"dst", required_argument, NULL, 'D'},
		{"src-mac", required_argument, NULL, 'm'},
		{"dst-mac", required_argument, NULL, 'M'},
		{"src-port", required_argument, NULL, 'q'},
		{"dst-port", required_argument, NULL, 'Q'},
		{"wait", required_argument, NULL, 'w'},
		{"in-process", no_argument, NULL, 'i'},
		{"threads", no_argument, NULL, 't'},
		{"turns", no_argument, NULL, 'T'},
		{"bare", no_argument, NULL, 'B'},
		{"rules", required_argument, NULL, 'r'},
		{"every", required_argument, NULL, 'e'},
		{"ring", required_argument, NULL, 'R'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
};

static void take_option(struct options *o, int letter, const char *name)
{
	switch (letter) {
	case 'p':
		o->pps = number(name, optarg, 0, 1e9);
		break;
	case 's':
		o->seconds = number(name, optarg, 0.001, 3600);
		break;
	case 'b':
		o->frame_bytes = (uint16_t)number(name, optarg, LOAD_FRAME_MIN, LOAD_FRAME_MAX);
		break;
	case 'f':
		o->flows = (uint32_t)number(name, optarg, 1, LOAD_FLOWS_MAX);
		break;
	case 'S':
		address(optarg, o->addresses.src_ip);
		break;
	case 'D':
		address(optarg, o->addresses.dst_ip);
		break;
	case 'm':
		mac(optarg, o->addresses.src_mac);
		break;
	case 'M':
		mac(optarg, o->addresses.dst_mac);
		break;
	case 'q':
		o->addresses.src_port = (uint16_t)number(name, optarg, 1, 65535);
		break;
	case 'Q':
		o->addresses.dst_port = (uint16_t)number(name, optarg, 1, 65535);
		break;
	case 'w':
		o->wait_s = number(name, optarg, 0, 600);
		break;
	case 'i':
		o->in_process = true;
		break;
	case 't':
		o->threads = true;
		break;
	case 'T':
		o->clock = CLOCK_IS_REAL;
		break;
	case 'B':
		o->clock = CLOCK_IS_BARE;
		break;
	case 'r':
		o->rules = (uint32_t)number(name, optarg, 0, LOAD_FLOWS_MAX);
		break;
	case 'e':
		o->every = (uint32_t)number(name, optarg, 1, 4e9);
		break;
	case 'R':
		o->ring = (uint32_t)number(name, optarg, 64, 8192);
		break;
	case 'h':
		fputs(usage_text, stdout);
		exit(0);
	default:
		fputs(usage_text, stderr);
		exit(2);
	}
}

static void take_options(struct options *o, int argc, char **argv)
{
	int letter, index = 0;

	*o = (struct options){.flows = 4096,
			.frame_bytes = 128,
			.wait_s = 10,
			.every = 100,
			.ring = 1024,
			.addresses = {.src_port = 1024, .dst_port = 5001}};
	address("2001:db8::1", o->addresses.src_ip);
	address("2001:db8::2", o->addresses.dst_ip);
	mac("02:00:00:00:00:01", o->addresses.src_mac);
	mac("02:00:00:00:00:02", o->addresses.dst_mac);
	optind = 1;
	while ((letter = getopt_long(argc, argv, "", long_options, &index)) != -1)
		take_option(o, letter, letter == '?' ? "" : long_options[index].name);
	if (optind < argc)
		fail(argv[optind], "an option was expected");
	if (o->in_process && o->frame_bytes > LOAD_NODE_FRAME_MAX)
		fail("--frame-bytes", "a node of this process takes at most 1514");
	if (o->clock != CLOCK_IS_WORKER && (!o->in_process || o->threads))
		fail("--turns, --bare", "they are of a node --in-process, without --threads");
	if (o->ring & (o->ring - 1))
		fail("--ring", "a power of two is needed");
}

// ---- ports ----

static uint16_t port_send(void *context, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_tx_burst(((struct generator *)context)->tx_port, 0, mbufs, n);
}

static uint16_t port_receive(void *context, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_rx_burst(((struct generator *)context)->rx_port, 0, mbufs, n);
}

static void open_port(uint16_t port, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {0};
	uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
	int rc = rte_eth_dev_configure(port, 1, 1, &conf);

	if (rc == 0)
		rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx, &tx);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port, 0, rx, SOCKET_ID_ANY, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port, 0, tx, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(port);
	if (rc != 0)
		fail("a port does not start", strerror(-rc));
	rte_eth_promiscuous_enable(port); // not every virtual device knows it
}

static bool link_is_up(uint16_t port)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status;
}

static void wait_for_links(const struct generator *g)
{
	uint64_t end = rte_rdtsc() + (uint64_t)(g->options.wait_s * (double)rte_get_tsc_hz());

	while (!link_is_up(g->tx_port) || !link_is_up(g->rx_port)) {
		if (rte_rdtsc() > end)
			fail("the links do not come up", "is the other end there?");
		rte_delay_us_sleep(10000);
	}
}

static void open_path(struct generator *g)
{
	uint16_t n = rte_eth_dev_count_avail();

	if (n < 1 || n > 2)
		fail("ports", "one (it loops back) or two are needed: --vdev or -a before --");
	struct rte_mempool *receive = rte_pktmbuf_pool_create(
			"receive", POOL, 256, 0, DATA_ROOM_BYTES, SOCKET_ID_ANY);
	g->path.pool = rte_pktmbuf_pool_create(
			"send", POOL, 256, 0, DATA_ROOM_BYTES, SOCKET_ID_ANY);
	if (!receive || !g->path.pool)
		fail("no memory for frames", rte_strerror(rte_errno));
	load_stream_clear(g->path.pool);
	g->path.send = port_send;
	g->path.receive = port_receive;
	g->path.context = g;
	g->tx_port = rte_eth_find_next(0);
	g->rx_port = n == 1 ? g->tx_port : (uint16_t)rte_eth_find_next(g->tx_port + 1u);
	open_port(g->tx_port, receive);
	if (g->rx_port != g->tx_port)
		open_port(g->rx_port, receive);
	wait_for_links(g);
}

static void open_node(struct generator *g)
{
	struct load_node_config config = {
			.addresses = g->options.addresses,
			.rules = g->options.rules,
			.every = g->options.every,
			.ring = g->options.ring,
			.worker_lcore = -1,
	};

	if (g->options.threads) {
		unsigned lcore = rte_get_next_lcore(-1, 1, 0);
		if (lcore >= RTE_MAX_LCORE)
			fail("--threads", "two lcores are needed: -l 0,1 before --");
		config.worker_lcore = (int)lcore;
	}
	int rc = load_node_create(&config, &g->node);
	if (rc < 0)
		fail("no node", strerror(-rc));
	g->path = *load_node_path(g->node);
}

// ---- trials ----

static void print_latency(const struct load_histogram *h)
{
	static const struct {
		const char *name;
		double share;
	} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}};
	double ns = 1e9 / (double)rte_get_tsc_hz();

	if (h->n == 0)
		return;
	printf(", \"latency_ns\": {\"min\": %.0f, \"mean\": %.0f", (double)h->min * ns,
			(double)h->sum / (double)h->n * ns);
	for (unsigned i = 0; i < RTE_DIM(quantiles); i++)
		printf(", \"%s\": %.0f", quantiles[i].name,
				(double)load_histogram_quantile(h, quantiles[i].share) * ns);
	printf(", \"max\": %.0f}", (double)h->max * ns);
}

static void print_result(const struct generator *g, const struct load_trial *trial,
		const struct load_result *r)
{
	const struct load_counts *c = &g->stream.counts;
	double seconds = (double)r->ticks / (double)rte_get_tsc_hz();
	uint64_t offered = r->sent + r->refused;
	uint64_t lost = offered > c->received ? offered - c->received : 0;

	printf("{\"asked_pps\": %.0f, \"seconds\": %.6f, \"frame_bytes\": %u, \"offered_pps\": "
	       "%.0f, "
	       "\"received_pps\": %.0f, \"loss_ratio\": %.9f",
			trial->pps, seconds, g->stream.frame_bytes, (double)offered / seconds,
			(double)c->received / seconds,
			offered ? (double)lost / (double)offered : 0);
	printf(", \"sent_packets\": %" PRIu64 ", \"refused_packets\": %" PRIu64
	       ", \"skipped_packets\": %" PRIu64 ", \"received_packets\": %" PRIu64
	       ", \"lost_packets\": %" PRIu64 ", \"out_of_order_packets\": %" PRIu64
	       ", \"duplicate_packets\": %" PRIu64 ", \"stray_packets\": %" PRIu64,
			r->sent, r->refused, r->skipped, c->received, lost, c->out_of_order,
			c->duplicates, c->strays);
	print_latency(&g->stream.latency);
	printf(", \"longest_pause_ns\": %.0f, \"cpu_ratio\": %.4f, \"preempted_rounds\": %" PRIu64
	       ", \"gaps\": %" PRIu64 ", \"gaps_ns\": %.0f}\n",
			(double)r->longest_pause_ticks * 1e9 / (double)rte_get_tsc_hz(),
			(double)r->cpu_ns / seconds / 1e9, r->preempted_rounds, r->gaps,
			(double)r->gap_ticks * 1e9 / (double)rte_get_tsc_hz());
	fflush(stdout);
}

static void run(struct generator *g, const struct load_trial *trial, uint16_t frame_bytes,
		enum load_clock clock)
{
	struct load_result result;

	load_stream_begin(&g->stream, &g->options.addresses, g->options.flows, frame_bytes);
	if (g->node && clock != CLOCK_IS_WORKER)
		load_node_turns(g->node, &g->stream, trial, clock == CLOCK_IS_BARE, &result);
	else if (g->node && !g->options.threads)
		load_node_virtual(g->node, &g->stream, trial, &result);
	else
		load_trial_run(&g->path, &g->stream, trial, &result);
	print_result(g, trial, &result);
}

// A word behind the numbers of a line; -1 where it is none of them.
static int clock_of(const struct generator *g, const char *word)
{
	if (!*word)
		return CLOCK_IS_WORKER;
	if (!g->node || g->options.threads)
		return -1;
	return strcmp(word, "turns") == 0  ? CLOCK_IS_REAL
	       : strcmp(word, "bare") == 0 ? CLOCK_IS_BARE
					   : -1;
}

static int run_lines(struct generator *g)
{
	struct load_trial trial;
	unsigned frame_bytes, max_bytes = g->node ? LOAD_NODE_FRAME_MAX : LOAD_FRAME_MAX;
	char line[128], word[8];

	puts("{\"ready\": true}");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		word[0] = '\0';
		int n = sscanf(line, "%lf %lf %u %7s", &trial.pps, &trial.seconds, &frame_bytes,
				word);
		int clock = clock_of(g, word);
		if (n < 3 || clock < 0 || trial.pps < 0 || trial.seconds <= 0 ||
				frame_bytes < LOAD_FRAME_MIN || frame_bytes > max_bytes) {
			fprintf(stderr, "loadgen: not PPS SECONDS FRAME_BYTES: %s", line);
			return 2;
		}
		run(g, &trial, (uint16_t)frame_bytes, (enum load_clock)clock);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct generator g; // its stream is too large for a stack
	int used = rte_eal_init(argc, argv), rc = 0;

	if (used < 0)
		fail("EAL does not start", rte_strerror(rte_errno));
	take_options(&g.options, argc - used, argv + used);
	if (g.options.in_process)
		open_node(&g);
	else
		open_path(&g);
	if (g.options.seconds > 0) {
		struct load_trial trial = {.pps = g.options.pps, .seconds = g.options.seconds};
		run(&g, &trial, g.options.frame_bytes, g.options.clock);
	} else {
		rc = run_lines(&g);
	}
	load_node_destroy(g.node);
	rte_eal_cleanup();
	return rc;
}
