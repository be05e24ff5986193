// SPDX-License-Identifier: BSD-3-Clause
// Receive interrupts of DPDK devices end a sleep: a TAP of the kernel's, and virtio with vhost at
// its other end. The bell of a memif link ends one, too. The test runs in its own network
// namespace.
#include "dpdk_env.h"
#include "idle.h"
#include "memif_bell.h"
#include "port_private.h"

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define US	   INT64_C(1000)
#define MS	   INT64_C(1000000)
#define TIMES	   10
#define FRAME_LEN  100
#define TAP	   "hswake0"
#define LONGEST_MS 100 // of a sleep that nothing ends

static struct rte_mempool *pool;
static bool alone; // in a namespace of our own

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

// Without IPv6, the kernel sends nothing by itself.
static int enter(void **state)
{
	int fd;

	(void)state;
	alone = unshare(CLONE_NEWNET) == 0;
	fd = alone ? open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC)
		   : -1;
	if (fd >= 0) {
		assert_int_equal(write(fd, "1", 1), 1);
		close(fd);
	}
	dpdk_env_init("64");
	dpdk_env_unpin();
	pool = rte_pktmbuf_pool_create("wake", 4095, 0, 0, 2048 + RTE_PKTMBUF_HEADROOM, 0);
	return pool ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return rte_eal_cleanup();
}

// ---- who sends ----

struct sender {
	void (*send)(void *to);
	void *to;
	int64_t sent_ns;
};

static void *send_later(void *arg)
{
	struct sender *sender = arg;

	usleep(10000);
	sender->sent_ns = now_ns();
	sender->send(sender->to);
	return NULL;
}

static void send_by_kernel(void *to)
{
	uint8_t frame[FRAME_LEN] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5};
	const struct sockaddr_ll at = {
			.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(TAP)};

	assert_int_equal(sendto(*(int *)to, frame, sizeof(frame), 0, (const void *)&at, sizeof(at)),
			sizeof(frame));
}

static void send_by_port(void *to)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_non_null(mbuf);
	memset(rte_pktmbuf_append(mbuf, FRAME_LEN), 7, FRAME_LEN);
	assert_int_equal(rte_eth_tx_burst(*(uint16_t *)to, 0, &mbuf, 1), 1);
}

// ---- who sleeps ----

static unsigned take(struct hs_port *port)
{
	struct rte_mbuf *mbufs[HS_BURST];
	unsigned n = port->rx_burst(port, 0, mbufs, HS_BURST);

	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(mbufs[i]->pkt_len, FRAME_LEN);
		rte_pktmbuf_free(mbufs[i]);
	}
	return n;
}

// As a worker does it. Returns the packets that came before the sleep.
static unsigned arm_and_sleep(struct hs_idle *idle, struct hs_port *port)
{
	hs_idle_arm(idle);
	unsigned n = take(port);
	if (n > 0)
		hs_idle_work(idle, n);
	else
		hs_idle_sleep(idle, INT64_MAX);
	return n;
}

// How long a sleep took that a packet should have ended, from the packet on.
static int64_t sleep_until(struct hs_idle *idle, struct hs_port *port, struct sender *sender)
{
	pthread_t thread;
	int64_t woke_ns = 0;
	unsigned n = 0;

	assert_int_equal(pthread_create(&thread, NULL, send_later, sender), 0);
	for (unsigned i = 0; i < 10000 && n == 0; i++) {
		n = arm_and_sleep(idle, port);
		woke_ns = now_ns();
		n += n ? 0 : take(port);
	}
	pthread_join(thread, NULL);
	assert_int_equal(n, 1);
	hs_idle_work(idle, n);
	return woke_ns - sender->sent_ns;
}

static void check_that_packets_wake(struct hs_port *port, struct sender *sender)
{
	int64_t least_ns = INT64_MAX, quiet_ns = 0;
	struct hs_idle *idle;

	assert_int_equal(hs_idle_create(true, &idle), 0);
	assert_int_equal(hs_idle_add_port(idle, port), 0);
	for (unsigned i = 0; i < 5; i++) { // what came while the device began ends the first
		int64_t from = now_ns();
		arm_and_sleep(idle, port);
		quiet_ns = RTE_MAX(quiet_ns, now_ns() - from);
	}
	// Otherwise, the worker looks from time to time.
	assert_true(port->needs_timed_poll || quiet_ns > (LONGEST_MS - 1) * MS);
	for (unsigned i = 0; i < TIMES; i++)
		least_ns = RTE_MIN(least_ns, sleep_until(idle, port, sender));
	assert_true(least_ns < LONGEST_MS / 5 * MS);
	hs_idle_remove_port(idle, port);
	hs_idle_destroy(idle);
}

static struct hs_port *open_queues(const char *devargs, uint16_t rx_queues)
{
	struct hs_port_config config = {
			.name = "wake", .kind = HS_PORT_DEVARGS, .rx_queues = rx_queues};
	struct hs_error err = {0};
	struct hs_port *port;

	snprintf(config.device, sizeof(config.device), "%s", devargs);
	if (hs_port_open(&config, 0, 1, pool, &port, &err) < 0)
		fail_msg("%s: %s", devargs, err.message);
	return port;
}

static struct hs_port *open_port(const char *devargs)
{
	return open_queues(devargs, 1);
}

static void a_packet_of_the_kernel_wakes_a_worker_at_a_tap(void **state)
{
	struct ifreq ifr = {.ifr_name = TAP};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	struct sender sender = {.send = send_by_kernel, .to = &fd};

	(void)state;
	if (!alone)
		skip();
	struct hs_port *port = open_port("net_tap0,iface=" TAP);
	assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &ifr), 0);
	ifr.ifr_flags |= IFF_UP;
	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &ifr), 0);
	assert_true(port->needs_timed_poll);
	check_that_packets_wake(port, &sender);
	struct pollfd wakes = {.fd = port_private(port)->wake_fds[0], .events = POLLIN};
	send_by_kernel(&fd);
	assert_int_equal(poll(&wakes, 1, 5000), 1);
	port_interrupt_quiet(port, 0);
	assert_int_equal(poll(&wakes, 1, 0), 0);
	hs_port_close(port);
	close(fd);
}

static void start_vhost(uint16_t id)
{
	const struct rte_eth_conf conf = {0};

	assert_int_equal(rte_eth_dev_configure(id, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(id, 0, 256, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(id, 0, 256, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(id), 0);
}

static void a_packet_of_vhost_wakes_a_worker_at_virtio(void **state)
{
	char path[64], devargs[128];
	uint16_t vhost;
	struct sender sender = {.send = send_by_port, .to = &vhost};

	(void)state;
	snprintf(path, sizeof(path), "/tmp/hs-wake-%d.sock", (int)getpid());
	snprintf(devargs, sizeof(devargs), "net_vhost7,iface=%s", path);
	assert_int_equal(rte_dev_probe(devargs), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_vhost7", &vhost), 0);
	start_vhost(vhost);
	snprintf(devargs, sizeof(devargs), "net_virtio_user0,path=%s,queues=1", path);
	struct hs_port *port = open_port(devargs);
	for (unsigned i = 0; i < 500 && !hs_port_look(port); i++)
		usleep(10000);
	assert_false(port->needs_timed_poll);
	check_that_packets_wake(port, &sender);
	hs_port_close(port);
	rte_eth_dev_stop(vhost);
	rte_eth_dev_close(vhost);
	unlink(path);
}

static bool rings(const struct hs_port *port)
{
	struct pollfd wakes = {.fd = port_private(port)->wake_fds[0], .events = POLLIN};

	return poll(&wakes, 1, 0) > 0;
}

static void ring(struct memif_bell *other)
{
	rte_delay_us_block(100);
	memif_bell_ring(other, 0);
}

// Sleeps a time after a packet. Returns how long.
static int64_t sleep_ns(struct hs_idle *idle, unsigned pause_us)
{
	hs_idle_work(idle, 1);
	hs_idle_next(idle);
	rte_delay_us_block(pause_us);
	hs_idle_next(idle);
	int64_t from = now_ns();
	hs_idle_sleep(idle, INT64_MAX);
	return now_ns() - from;
}

// Returns the shortest of some such sleeps. Other work on the machine makes some longer.
static int64_t least_sleep_ns(struct hs_idle *idle, unsigned pause_us)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < TIMES; i++)
		least = RTE_MIN(least, sleep_ns(idle, pause_us));
	return least;
}

// A packet that soon follows another rings no bell. The worker soon looks for it, and finding it
// says nothing about the bell. Other work on the machine makes some sleeps late.
static void expect_short_sleep(
		struct hs_idle *idle, const struct hs_port *port, struct memif_bell *other)
{
	bool is_short = false;

	for (unsigned i = 0; i < TIMES && !is_short; i++) {
		ring(other);
		hs_idle_work(idle, 1);
		hs_idle_arm(idle);
		assert_true(port_private(port)->rung);
		is_short = sleep_ns(idle, 0) < HS_PACE_LOOK_RUNG_SOON_US * US;
		hs_idle_work(idle, 1);
		is_short &= port_private(port)->rung;
	}
	assert_true(is_short);
}

// A worker that was awake saw the packets of a bell. The bell must not end its next sleep.
static void a_bell_is_quiet_before_the_next_sleep(void **state)
{
	char devargs[128];
	struct hs_idle *idle;

	(void)state;
	snprintf(devargs, sizeof(devargs), "net_memif8,role=server,socket=hs-wake-%d",
			(int)getpid());
	struct hs_port *port = open_port(devargs);
	memcpy(strstr(devargs, "server"), "client", strlen("client"));
	struct memif_bell *other = memif_bell_open(devargs);
	memif_bell_connect(other);
	assert_int_equal(hs_idle_create(true, &idle), 0);
	assert_int_equal(hs_idle_add_port(idle, port), 0);

	hs_idle_work(idle, 1);
	ring(other);
	assert_true(rings(port));
	hs_idle_arm(idle);
	assert_false(rings(port));

	ring(other);
	hs_idle_sleep(idle, INT64_MAX); // the bell ends this sleep, but no packet came
	hs_idle_arm(idle);
	assert_false(rings(port));

	expect_short_sleep(idle, port, other);

	// While bells ring, the worker looks at the port less often, until such a look finds
	// packets.
	ring(other);
	hs_idle_arm(idle);
	assert_true(sleep_ns(idle, HS_PACE_LOOK_SOON_US) >= HS_PACE_LOOK_RUNG_SOON_US * US);
	assert_true(least_sleep_ns(idle, HS_PACE_LOOK_SOON_US) < HS_PACE_LOOK_RUNG_SOON_US * US);

	memif_bell_close(other);
	hs_idle_destroy(idle);
	hs_port_close(port);
}

// The workers of several queues share the bell: a worker may quiet it before it wakes another one.
static void workers_do_not_rely_on_a_bell_of_several_queues(void **state)
{
	char devargs[128];
	struct hs_idle *idles[2];

	(void)state;
	snprintf(devargs, sizeof(devargs), "net_memif9,role=server,socket=hs-wakes-%d",
			(int)getpid());
	struct hs_port *port = open_queues(devargs, 2);
	memcpy(strstr(devargs, "server"), "client", strlen("client"));
	struct memif_bell *other = memif_bell_open(devargs);
	memif_bell_connect(other);
	for (uint16_t q = 0; q < 2; q++) {
		assert_int_equal(hs_idle_create(true, &idles[q]), 0);
		assert_int_equal(hs_idle_add_queue(idles[q], port, q), 0);
	}

	ring(other);
	hs_idle_work(idles[0], 1);
	hs_idle_arm(idles[0]);
	assert_false(rings(port));
	hs_idle_sleep(idles[1], INT64_MAX); // takes the news of the port
	int64_t least = INT64_MAX;
	for (unsigned i = 0; i < TIMES; i++) {
		hs_idle_next(idles[1]); // the last sleep brought nothing
		ring(other);
		hs_idle_work(idles[0], 1);
		hs_idle_arm(idles[0]);
		least = RTE_MIN(least, sleep_ns(idles[1], HS_PACE_LOOK_SOON_US));
	}
	assert_true(least < HS_PACE_LOOK_RUNG_SOON_US * US);

	memif_bell_close(other);
	hs_idle_destroy(idles[0]);
	hs_idle_destroy(idles[1]);
	hs_port_close(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_of_the_kernel_wakes_a_worker_at_a_tap),
			cmocka_unit_test(a_packet_of_vhost_wakes_a_worker_at_virtio),
			cmocka_unit_test(a_bell_is_quiet_before_the_next_sleep),
			cmocka_unit_test(workers_do_not_rely_on_a_bell_of_several_queues),
	};

	return cmocka_run_group_tests_name("wake", tests, enter, leave);
}
