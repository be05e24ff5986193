// SPDX-License-Identifier: BSD-3-Clause
// Sends telemetry reports to a collector at a steady rate, for benchmarks (docs/performance.md):
//   report_sender --udp ADDRESS:PORT OPTIONS     by a UDP socket, IPv4
//   report_sender --port PORT OPTIONS -- EAL     by the first DPDK port, as frames
//   report_sender --pcap FILE OPTIONS            frames into a capture file
// The reports are those of hopsight-bench's cases collect_*. Prints one line of JSON.
#include "bench_datagrams.h"

#include "bytes.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#define BURST	     32
#define FRAME_HEAD   HS_BENCH_PAYLOAD
#define POOL	     8191
#define DESCRIPTORS  1024
#define BEHIND_NS    1000000 // what is due longer is left out, not sent as a burst
#define LINK_WAIT_MS 10000

struct sender {
	const char *udp, *pcap;
	double rate, seconds; // rate 0: as many as go
	uint32_t flows;
	uint32_t events_apart; // reports between two changes of a path; 0: none
	uint16_t udp_port;
	bool ids;
	struct hs_bench_datagrams datagrams;
	int fd;
	struct rte_mempool *pool;
	uint32_t at, sequence;
	uint64_t sent, refused, skipped, changes;
};

static const char usage_text[] =
		"usage: report_sender --udp ADDRESS:PORT | --port PORT | --pcap FILE [OPTIONS] [-- "
		"EAL]\n"
		"  --rate N      reports a second; 0: as many as go (default)\n"
		"  --seconds S   how long (default 1)\n"
		"  --flows N     number of flows (default 1)\n"
		"  --ids         node ids alone, instead of all values of INT 1.0\n"
		"  --events N    a flow has another path each N reports (default 0: never)\n";

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// ---- datagrams ----

// The next report as an exporter sends it.
static uint8_t *next(struct sender *s)
{
	uint8_t *bytes = hs_bench_datagram(&s->datagrams, s->at);

	s->at = s->at + 1 < s->datagrams.n ? s->at + 1 : 0;
	hs_bench_number(bytes, s->sequence++);
	if (s->events_apart && s->sequence % s->events_apart == 0) {
		hs_bench_change_path(bytes);
		s->changes++;
	}
	return bytes;
}

static int make(struct sender *s)
{
	return hs_bench_datagrams_of(
			&s->datagrams, s->flows, s->ids ? HS_BENCH_NODE_IDS : HS_BENCH_ALL_VALUES);
}

static uint16_t len_of(const uint8_t *bytes, const struct sender *s)
{
	return (uint16_t)(s->udp ? hs_be16_load(bytes - 2) : hs_bench_frame_len(bytes));
}

// ---- ways out ----

static int open_udp(struct sender *s)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	char address[64];
	const char *colon = strrchr(s->udp, ':');
	int segment = hs_be16_load(hs_bench_datagram(&s->datagrams, 0) - 2);

	if (!colon || colon - s->udp >= (int)sizeof(address))
		return -1;
	snprintf(address, sizeof(address), "%.*s", (int)(colon - s->udp), s->udp);
	to.sin_port = htons((uint16_t)atoi(colon + 1));
	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return -1;
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || setsockopt(s->fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)) < 0)
		return -1;
	return connect(s->fd, (struct sockaddr *)&to, sizeof(to));
}

// The kernel cuts one message into datagrams of one length, which costs a sender the least.
static unsigned send_udp(struct sender *s, unsigned n)
{
	struct iovec vectors[BURST];

	for (unsigned i = 0; i < n; i++) {
		uint8_t *bytes = next(s);
		vectors[i] = (struct iovec){bytes, len_of(bytes, s)};
	}
	const struct msghdr message = {.msg_iov = vectors, .msg_iovlen = n};
	return sendmsg(s->fd, &message, 0) < 0 ? 0 : n;
}

static int open_port(struct sender *s)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_link link = {0};

	s->pool = rte_pktmbuf_pool_create("reports", POOL, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	if (!s->pool || rte_eth_dev_configure(0, 1, 1, &conf) < 0 ||
			rte_eth_rx_queue_setup(0, 0, DESCRIPTORS, 0, NULL, s->pool) < 0 ||
			rte_eth_tx_queue_setup(0, 0, DESCRIPTORS, 0, NULL) < 0 ||
			rte_eth_dev_start(0) < 0)
		return -1;
	for (int i = 0; i < LINK_WAIT_MS && !link.link_status; i++) {
		rte_eth_link_get_nowait(0, &link);
		usleep(1000);
	}
	return link.link_status ? 0 : -1;
}

static unsigned send_port(struct sender *s, unsigned n)
{
	struct rte_mbuf *mbufs[BURST];

	if (rte_pktmbuf_alloc_bulk(s->pool, mbufs, n) < 0)
		return 0;
	for (unsigned i = 0; i < n; i++) {
		uint8_t *bytes = next(s);
		uint16_t len = (uint16_t)(FRAME_HEAD + len_of(bytes, s));
		memcpy(rte_pktmbuf_append(mbufs[i], len), bytes - FRAME_HEAD, len);
	}
	uint16_t sent = rte_eth_tx_burst(0, 0, mbufs, (uint16_t)n);
	if (sent < n)
		rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	return sent;
}

// Source: draft-ietf-opsawg-pcap, sections 4 and 5.
static int write_pcap(struct sender *s)
{
	const uint32_t header[] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	FILE *file = fopen(s->pcap, "we");
	bool good = file && fwrite(header, sizeof(header), 1, file) == 1;

	for (uint32_t i = 0; good && i < s->datagrams.n; i++) {
		uint8_t *bytes = next(s);
		uint32_t len = FRAME_HEAD + (uint32_t)len_of(bytes, s);
		const uint32_t record[] = {0, 0, len, len};
		good = fwrite(record, sizeof(record), 1, file) == 1 &&
		       fwrite(bytes - FRAME_HEAD, len, 1, file) == 1;
	}
	s->sent = s->datagrams.n;
	return file && fclose(file) == 0 && good ? 0 : -1;
}

// ---- time ----

static void send_burst(struct sender *s)
{
	unsigned sent = s->udp ? send_udp(s, BURST) : send_port(s, BURST);

	s->sent += sent;
	s->refused += BURST - sent;
}

static void run(struct sender *s)
{
	int64_t begin = now_ns(CLOCK_MONOTONIC), end = begin + (int64_t)(s->seconds * 1e9);
	double burst_ns = s->rate > 0 ? BURST * 1e9 / s->rate : 0, due = (double)begin;

	for (int64_t now = begin; now < end; now = now_ns(CLOCK_MONOTONIC)) {
		if (burst_ns > 0 && (double)now < due)
			continue;
		while (burst_ns > 0 && (double)now - due > BEHIND_NS) {
			due += burst_ns;
			s->skipped += BURST;
		}
		due += burst_ns;
		send_burst(s);
	}
}

// ---- the command line ----

static bool read_options(struct sender *s, int argc, char **argv)
{
	static const struct option options[] = {{"udp", 1, NULL, 'u'}, {"port", 1, NULL, 'p'},
			{"pcap", 1, NULL, 'f'}, {"rate", 1, NULL, 'r'}, {"seconds", 1, NULL, 's'},
			{"flows", 1, NULL, 'n'}, {"ids", 0, NULL, 'i'}, {"events", 1, NULL, 'e'},
			{0}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'u')
			s->udp = optarg;
		else if (option == 'p')
			s->udp_port = (uint16_t)atoi(optarg);
		else if (option == 'f')
			s->pcap = optarg;
		else if (option == 'r')
			s->rate = atof(optarg);
		else if (option == 's')
			s->seconds = atof(optarg);
		else if (option == 'n')
			s->flows = (uint32_t)atoi(optarg);
		else if (option == 'i')
			s->ids = true;
		else if (option == 'e')
			s->events_apart = (uint32_t)atoi(optarg);
		else
			return false;
	}
	return s->flows && s->seconds > 0 && (s->udp || s->pcap || s->udp_port);
}

static int open_way(struct sender *s, int argc, char **argv)
{
	if (s->udp)
		return open_udp(s);
	for (uint32_t i = 0; i < s->datagrams.n; i++)
		hs_bench_datagram_head(hs_bench_datagram(&s->datagrams, i), s->udp_port);
	if (s->pcap)
		return write_pcap(s);
	argv[optind - 1] = argv[0];
	return rte_eal_init(argc - optind + 1, argv + optind - 1) < 0 ? -1 : open_port(s);
}

int main(int argc, char **argv)
{
	struct sender s = {.seconds = 1, .flows = 1};

	if (!read_options(&s, argc, argv)) {
		fputs(usage_text, stderr);
		return 2;
	}
	if (make(&s) < 0 || open_way(&s, argc, argv) < 0) {
		printf("{\"error\": \"the way out cannot be opened\"}\n");
		return 1;
	}
	int64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC);
	if (!s.pcap)
		run(&s);
	printf("{\"sent\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"skipped\": %" PRIu64
	       ", \"changes\": %" PRIu64 ", \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
			s.sent, s.refused, s.skipped, s.changes,
			(double)(now_ns(CLOCK_MONOTONIC) - begin) * 1e-9,
			(double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * 1e-9);
	fflush(stdout);
	_exit(0); // DPDK's threads still run
}
