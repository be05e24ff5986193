// SPDX-License-Identifier: BSD-3-Clause
#include "eal.h"
#include "log.h"
#include "port.h"
#include "port_watch.h"

#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MBUFS 8191
#define ROOM  2176

static struct rte_mempool *pool;

static int start(void **state)
{
	struct hs_eal_config config = {
			.memory_bytes = hs_pool_bytes(MBUFS, ROOM) + (16u << 20),
			.n_workers = 1,
	};
	cpu_set_t set;
	int core = 0;

	(void)state;
	hs_log_setup(HS_LOG_ERROR, false);
	sched_getaffinity(0, sizeof(set), &set);
	while (!CPU_ISSET(core, &set))
		core++;
	config.control_core = core;
	config.worker_cores[0] = CPU_ISSET(core + 1, &set) ? core + 1 : core;
	snprintf(config.file_prefix, sizeof(config.file_prefix), "hs-test-port-%d", (int)getpid());
	return hs_eal_init(&config, NULL) || hs_pool_create("pool", MBUFS, ROOM, &pool);
}

static int stop(void **state)
{
	(void)state;
	hs_eal_fini();
	return 0;
}

static struct hs_port_config config_of(const char *devargs)
{
	struct hs_port_config config = {.name = "p", .kind = HS_PORT_DEVARGS};

	snprintf(config.device, sizeof(config.device), "%s", devargs);
	return config;
}

static struct hs_port *open_port(const char *devargs, uint16_t n_workers)
{
	struct hs_port_config config = config_of(devargs);
	struct hs_error err = {0};
	struct hs_port *port;
	int ret = hs_port_open(&config, 3, n_workers, pool, &port, &err);

	if (ret < 0)
		fail_msg("%s: %s", devargs, err.message);
	return port;
}

static struct rte_mbuf *packet(uint16_t len, uint8_t fill)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_non_null(mbuf);
	memset(rte_pktmbuf_append(mbuf, len), fill, len);
	return mbuf;
}

#define assert_nothing_leaked() assert_int_equal(rte_mempool_in_use_count(pool), 0)

static void an_open_port_says_what_it_is(void **state)
{
	struct hs_port *port = open_port("net_null0", 2);

	(void)state;
	assert_string_equal(port->driver_name, "net_null");
	assert_int_equal(port->index, 3);
	assert_int_equal(port->mtu, 1500);
	assert_int_equal(port->rx_queues, 1);
	assert_int_equal(port->tx_queues, 2);
	assert_true(port->usable);
	assert_true(port->needs_timed_poll);
	assert_true(hs_port_link_up(port));
	hs_port_close(port);
	hs_port_close(NULL);
}

static void what_goes_into_a_ring_comes_out_as_it_was(void **state)
{
	struct hs_port *port = open_port("net_ring0", 1);
	struct hs_port_device_stats stats;
	struct rte_mbuf *out[HS_BURST], *in[HS_BURST];

	(void)state;
	for (unsigned i = 0; i < HS_BURST; i++)
		out[i] = packet((uint16_t)(64 + i), (uint8_t)i);
	assert_int_equal(port->tx_burst(port, 0, out, HS_BURST), HS_BURST);
	assert_int_equal(port->rx_burst(port, 0, in, HS_BURST), HS_BURST);
	for (unsigned i = 0; i < HS_BURST; i++) {
		assert_int_equal(in[i]->pkt_len, 64 + i);
		assert_int_equal(*rte_pktmbuf_mtod_offset(in[i], uint8_t *, 63 + i), i);
	}
	assert_int_equal(port->rx_burst(port, 0, in, HS_BURST), 0);
	rte_pktmbuf_free_bulk(out, HS_BURST);
	hs_port_device_stats(port, &stats);
	assert_int_equal(stats.tx_packets, HS_BURST);
	assert_int_equal(stats.rx_packets, HS_BURST);
	hs_port_close(port);
	assert_nothing_leaked();
}

#define CAPTURE_HEAD 40 // the file's header and one packet's

// A capture file with one packet of 60 bytes; its name is made in place of the X.
static void make_capture(char *name, const uint8_t frame[60])
{
	static const uint8_t head[CAPTURE_HEAD] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0,
			0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0, // microseconds, Ethernet
			0, 0, 0, 0, 0, 0, 0, 0, 60, 0, 0, 0, 60, 0, 0, 0};
	int fd = mkstemp(name);

	assert_int_equal(write(fd, head, sizeof(head)), sizeof(head));
	assert_int_equal(write(fd, frame, 60), 60);
	close(fd);
}

static void packets_of_a_capture_file_pass_to_another(void **state)
{
	char from[] = "/tmp/hs-port-in-XXXXXX", to[] = "/tmp/hs-port-out-XXXXXX", devargs[256];
	uint8_t frame[60], written[CAPTURE_HEAD + sizeof(frame)];
	struct rte_mbuf *mbufs[HS_BURST];
	int out = mkstemp(to);
	struct hs_port *port;

	(void)state;
	for (unsigned i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 7);
	make_capture(from, frame);
	snprintf(devargs, sizeof(devargs), "net_pcap0,rx_pcap=%s,tx_pcap=%s", from, to);
	port = open_port(devargs, 2);
	assert_int_equal(port->rx_burst(port, 0, mbufs, HS_BURST), 1);
	assert_int_equal(port->tx_burst(port, 1, mbufs, 1), 1); // the second worker's queue
	hs_port_close(port);
	assert_int_equal(read(out, written, sizeof(written)), sizeof(written));
	assert_memory_equal(written + CAPTURE_HEAD, frame, sizeof(frame));
	close(out);
	unlink(from);
	unlink(to);
	assert_nothing_leaked();
}

// ---- fewer queues than workers ----

#define EACH 20000

struct sender {
	struct hs_port *port;
	uint16_t queue;
	atomic_uint sent;
};

static int send_many(void *arg)
{
	struct sender *sender = arg;
	struct rte_mbuf *mbuf = NULL;

	while (sender->sent < EACH) {
		if (!mbuf && !(mbuf = rte_pktmbuf_alloc(pool)))
			continue;
		if (!rte_pktmbuf_data_len(mbuf))
			*(uint16_t *)rte_pktmbuf_append(mbuf, 64) = sender->queue;
		if (sender->port->tx_burst(sender->port, sender->queue, &mbuf, 1) == 0)
			continue;
		mbuf = NULL;
		sender->sent++;
	}
	return 0;
}

static void workers_that_share_a_transmit_queue_lose_nothing(void **state)
{
	struct hs_port *port = open_port("net_ring1", 2);
	struct sender senders[2] = {{.port = port, .queue = 0}, {.port = port, .queue = 1}};
	unsigned seen[2] = {0};
	struct rte_mbuf *mbufs[HS_BURST];
	unsigned mine = 0;

	(void)state;
	assert_int_equal(rte_eal_remote_launch(send_many, &senders[1], 1), 0);
	while (seen[0] + seen[1] < 2 * EACH) {
		uint16_t n;

		if (mine < EACH) {
			struct rte_mbuf *mbuf = packet(64, 0);

			if (port->tx_burst(port, 0, &mbuf, 1))
				mine++;
			else
				rte_pktmbuf_free(mbuf);
		}
		n = port->rx_burst(port, 0, mbufs, HS_BURST);
		for (uint16_t i = 0; i < n; i++)
			seen[*rte_pktmbuf_mtod(mbufs[i], uint16_t *) ? 1 : 0]++;
		rte_pktmbuf_free_bulk(mbufs, n);
	}
	rte_eal_mp_wait_lcore();
	assert_int_equal(seen[0], EACH);
	assert_int_equal(seen[1], EACH);
	hs_port_close(port);
	assert_nothing_leaked();
}

// ---- going and coming back ----

static void counters_go_on_when_a_device_is_opened_again(void **state)
{
	struct hs_port *port = open_port("net_null1", 1);
	struct hs_port_device_stats stats;
	struct rte_mbuf *mbufs[HS_BURST];
	uint64_t before = 0;

	(void)state;
	for (unsigned round = 1; round <= 5; round++) {
		for (unsigned i = 0; i < round; i++)
			rte_pktmbuf_free_bulk(mbufs, port->rx_burst(port, 0, mbufs, HS_BURST));
		hs_port_device_stats(port, &stats);
		assert_int_equal(stats.rx_packets, before + round * HS_BURST);
		assert_int_equal(hs_port_detach(port), 0);
		assert_false(hs_port_link_up(port));
		// A worker that was late finds an empty port.
		assert_int_equal(port->rx_burst(port, 0, mbufs, HS_BURST), 0);
		assert_int_equal(port->tx_burst(port, 0, mbufs, HS_BURST), 0);
		hs_port_device_stats(port, &stats);
		assert_int_equal(stats.rx_packets, before + round * HS_BURST);
		before = stats.rx_packets;
		assert_int_equal(hs_port_detach(port), 0);
		assert_int_equal(hs_port_reopen(port, NULL), 0);
		assert_int_equal(hs_port_reopen(port, NULL), 0);
	}
	hs_port_close(port);
	assert_nothing_leaked();
}

static void a_memif_without_its_peer_is_open_and_down(void **state)
{
	struct hs_port *port =
			open_port("net_memif0,role=server,socket=/tmp/hs-test-port-memif.sock,"
				  "socket-abstract=no",
					1);
	struct rte_mbuf *mbuf = packet(64, 0);

	(void)state;
	assert_false(hs_port_link_up(port));
	assert_int_equal(port->rx_burst(port, 0, &mbuf, 1), 0);
	assert_int_equal(port->tx_burst(port, 0, &mbuf, 1), 0);
	rte_pktmbuf_free(mbuf);
	hs_port_close(port);
	unlink("/tmp/hs-test-port-memif.sock");
	assert_nothing_leaked();
}

// ---- custom ports ----

static uint16_t custom_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)queue, (void)mbufs;
	return *(int *)port->driver_data ? n : 0;
}

static uint16_t custom_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)mbufs, (void)n;
	*(int *)port->driver_data = queue;
	return 0;
}

static void a_custom_port_is_what_its_maker_says(void **state)
{
	struct hs_port_config config = {.name = "link", .mtu = 9000, .side = HS_SIDE_NETWORK};
	struct hs_port_device_stats stats;
	struct hs_port *port;
	int data = 0;

	(void)state;
	assert_int_equal(hs_port_open_custom(custom_rx, custom_tx, &data, &config, 7, 4, &port), 0);
	assert_int_equal(port->config.kind, HS_PORT_CUSTOM);
	assert_int_equal(port->index, 7);
	assert_int_equal(port->mtu, 9000);
	assert_int_equal(port->side, HS_SIDE_NETWORK);
	assert_true(port->tx_multi_seg && port->usable && hs_port_link_up(port));
	assert_int_equal(port->tx_burst(port, 3, NULL, 1), 0);
	assert_int_equal(data, 3);
	assert_int_equal(port->rx_burst(port, 0, NULL, 5), 5);
	hs_port_device_stats(port, &stats);
	assert_int_equal(stats.rx_packets, 0);
	hs_port_close(port);
}

// ---- errors ----

struct refusal {
	struct hs_port_config config;
	const char *code, *path, *said;
};

static void what_cannot_be_opened_is_refused_with_a_reason(void **state)
{
	static const struct refusal refusals[] = {
			{{.kind = HS_PORT_DEVARGS, .device = "net_nonsense0"}, "device", "devargs",
					"no driver for \"net_nonsense0\""},
			{{.kind = HS_PORT_DEVARGS}, "missing", "devargs", ""},
			{{.kind = HS_PORT_PCI, .device = "0000:ff:1f.7"}, "device", "pci",
					"ff:1f.7"},
			{{.kind = HS_PORT_IFACE, .device = "no-such-if"}, "no_such_interface",
					"iface", "no-such-if"},
			{{.kind = HS_PORT_IFACE, .device = "a-name-of-16-let"}, "out_of_range",
					"iface", "16"},
			{{.kind = HS_PORT_IFACE, .device = "lo", .driver = "magic"}, "out_of_range",
					"driver", "magic"},
			{{.kind = HS_PORT_DEVARGS, .device = "net_null9", .mtu = 1279},
					"out_of_range", "mtu", "1279"},
			{{.kind = HS_PORT_DEVARGS, .device = "net_null9", .mtu = 9217},
					"out_of_range", "mtu", "9217"},
			{{.kind = HS_PORT_DEVARGS, .device = "net_null9", .rx_queues = 17},
					"out_of_range", "rx_queues", "17"},
			{{.kind = HS_PORT_DEVARGS, .device = "net_pcap9,rx_pcap=/no/such/file"},
					"device", "devargs", "No such file"},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(refusals); i++) {
		struct hs_error err = {0};
		struct hs_port *port = NULL;

		assert_true(hs_port_open(&refusals[i].config, 0, 1, pool, &port, &err) < 0);
		assert_null(port);
		assert_string_equal(err.code, refusals[i].code);
		assert_string_equal(err.path, refusals[i].path);
		assert_non_null(strstr(err.message, refusals[i].said));
		// All may be passed over in silence.
		assert_true(hs_port_open(&refusals[i].config, 0, 1, pool, &port, NULL) < 0);
	}
	assert_int_equal(rte_eth_dev_count_avail(), 0);
}

static void a_device_is_one_ports_alone(void **state)
{
	struct hs_port *first = open_port("net_null5,size=64", 1), *second = NULL;
	struct hs_port_config config = config_of("net_null5");
	struct hs_error err = {0};

	(void)state;
	assert_true(hs_port_open(&config, 1, 1, pool, &second, &err) < 0);
	assert_string_equal(err.code, "in_use");
	assert_string_equal(err.path, "devargs");
	assert_non_null(strstr(err.message, "net_null5"));
	// The first one lives on.
	struct rte_mbuf *mbuf;
	assert_int_equal(first->rx_burst(first, 0, &mbuf, 1), 1);
	rte_pktmbuf_free(mbuf);
	hs_port_close(first);
}

static void more_receive_queues_than_the_device_has_are_refused(void **state)
{
	char from[] = "/tmp/hs-port-in-XXXXXX";
	struct hs_port_config config = config_of("");
	const uint8_t frame[60] = {0};
	struct hs_error err = {0};
	struct hs_port *port;

	(void)state;
	make_capture(from, frame);
	snprintf(config.device, sizeof(config.device), "net_pcap8,rx_pcap=%s,tx_pcap=/dev/null",
			from);
	config.rx_queues = 2;
	assert_true(hs_port_open(&config, 0, 1, pool, &port, &err) < 0);
	assert_string_equal(err.path, "rx_queues");
	assert_non_null(strstr(err.expected, "1 to 1"));
	config.rx_queues = 1;
	assert_int_equal(hs_port_open(&config, 0, 1, pool, &port, &err), 0);
	hs_port_close(port);
	unlink(from);
}

static void buffers_hold_a_whole_frame_of_the_mtu(void **state)
{
	static const uint16_t mtus[] = {1280, 1500, 1800, 3500, 9000, 9216};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		struct hs_port_config iface = {.kind = HS_PORT_IFACE, .mtu = mtus[i]};
		struct hs_port_config xdp = {
				.kind = HS_PORT_IFACE, .driver = "af_xdp", .mtu = mtus[i]};
		struct hs_port_config device = {.kind = HS_PORT_DEVARGS, .mtu = mtus[i]};
		uint16_t frame = RTE_PKTMBUF_HEADROOM + mtus[i] + 14 + 8;

		assert_true(hs_port_mbuf_bytes(&iface) >= frame);
		assert_true(hs_port_mbuf_bytes(&xdp) >= frame + 256);
		assert_true(hs_port_mbuf_bytes(&device) >= frame);
		assert_true(hs_port_mbuf_bytes(&device) >= 2176);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_open_port_says_what_it_is),
			cmocka_unit_test(what_goes_into_a_ring_comes_out_as_it_was),
			cmocka_unit_test(packets_of_a_capture_file_pass_to_another),
			cmocka_unit_test(workers_that_share_a_transmit_queue_lose_nothing),
			cmocka_unit_test(counters_go_on_when_a_device_is_opened_again),
			cmocka_unit_test(a_memif_without_its_peer_is_open_and_down),
			cmocka_unit_test(a_custom_port_is_what_its_maker_says),
			cmocka_unit_test(what_cannot_be_opened_is_refused_with_a_reason),
			cmocka_unit_test(a_device_is_one_ports_alone),
			cmocka_unit_test(more_receive_queues_than_the_device_has_are_refused),
			cmocka_unit_test(buffers_hold_a_whole_frame_of_the_mtu),
	};

	return cmocka_run_group_tests_name("port", tests, start, stop);
}
