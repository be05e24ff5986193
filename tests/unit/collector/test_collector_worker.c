// SPDX-License-Identifier: BSD-3-Clause
// What the collecting thread does in a round, whatever the clock shows.
#include "collector_record.h"
#include "collector_worker.h"

#include "collect_test.h"

#include "eal_env.h"
#include "os_clock.h"

#include <rte_mbuf.h>

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct hs_collector_worker worker;

static unsigned pushed(void)
{
	struct hs_collect_event event;
	unsigned n = 0;

	while (hs_collector_record_take(worker.ring, &event)) {
		n += event.points[0].cause == HS_COLLECT_PUSH;
		hs_collector_record_drop(worker.ring);
	}
	return n;
}

static unsigned pushed_from(int64_t from_ns, int64_t to_ns)
{
	for (int64_t at_ns = from_ns; at_ns < to_ns; at_ns += SECOND / 4)
		hs_collector_worker_round(&worker, at_ns);
	return pushed();
}

static void a_clock_that_was_set_back_does_not_silence_values(void **state)
{
	struct hs_collect_config config = config_50();
	struct hop hop = {1, 10, 1, 2, 3, 4};
	struct hs_error err = {0};
	struct bytes b;

	(void)state;
	config.push_ns = 10 * SECOND;
	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	put_report(&b, 9, 1, 1, &hop, 1);
	take(worker.collect, b.at, b.n, 5000 * SECOND);
	assert_true(pushed_from(5000 * SECOND, 5031 * SECOND) >= 3);
	assert_true(pushed_from(1000 * SECOND, 1031 * SECOND) >= 3);
	hs_collector_worker_fini(&worker);
}

static uint16_t none(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

static void add_port(void)
{
	const struct hs_port_config config = {.name = "in", .rx_queues = 1};
	struct hs_port **port = &worker.ports[worker.n_ports++];

	assert_int_equal(hs_port_open_custom(none, none, NULL, &config, 0, 1, port), 0);
}

static uint32_t add_socket(uint32_t buffer_kib)
{
	struct hs_collector_listen listen = {.buffer_kib = buffer_kib};
	struct hs_error err = {0};
	uint32_t got_kib;

	memcpy(listen.udp.address, (uint8_t[16]){[10] = 0xff, 0xff, 127, 0, 0, 1}, 16);
	assert_int_equal(hs_collector_udp_open(&listen, 0, &worker.sockets[worker.n_sockets],
					 &got_kib, &err),
			0);
	worker.n_sockets++;
	return got_kib;
}

static int64_t limit_ns; // of the last worker

static unsigned nap_reports(void)
{
	struct hs_collect_config config = config_50();
	struct hs_error err = {0};

	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	assert_int_equal(hs_collector_worker_start(&worker), 0);
	hs_collector_worker_stop(&worker);
	unsigned reports = worker.nap_reports;
	limit_ns = worker.nap_limit_ns;
	for (unsigned i = 0; i < worker.n_ports; i++)
		hs_port_close(worker.ports[i]);
	for (unsigned i = 0; i < worker.n_sockets; i++)
		hs_collector_udp_close(worker.sockets[i]);
	hs_collector_worker_fini(&worker);
	return reports;
}

// How many reports wait during a nap: the kernel takes 1,280 bytes for one of 400, and doubles what
// is asked for.
static void a_nap_leaves_room_in_the_smallest_way_in(void **state)
{
	(void)state;
	add_port();
	assert_int_equal(nap_reports(), 512);
	add_port();
	worker.ports[0]->rx_room = 4096;
	assert_int_equal(nap_reports(), 2048);
	uint32_t kib = add_socket(208);
	unsigned reports = nap_reports();
	assert_in_range(reports * 1280, kib * 2048 / 5, kib * 2048 / 3);
	add_port();
	add_socket(64);
	add_socket(208);
	assert_true(nap_reports() < reports);
}

static void send_to(uint16_t port, const void *bytes, size_t n)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
			.sin_port = htons(port),
			.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_int_equal(sendto(fd, bytes, n, 0, (struct sockaddr *)&to, sizeof(to)), n);
	close(fd);
}

static uint16_t port_of(const struct hs_collector_udp *udp)
{
	struct sockaddr_in own;
	socklen_t len = sizeof(own);

	assert_int_equal(getsockname(hs_collector_udp_fd(udp), (struct sockaddr *)&own, &len), 0);
	return ntohs(own.sin_port);
}

// Datagrams of 9,000 bytes fill the same buffer after 25 of them.
static void a_nap_is_shorter_for_long_datagrams(void **state)
{
	(void)state;
	worker = (struct hs_collector_worker){.largest = 9000};
	uint32_t kib = add_socket(208);
	assert_in_range(nap_reports(), 1, kib * 2048 / 16640 / 3);
}

// Sends datagrams of so many bytes to a socket that nobody reads, until one is dropped.
static unsigned kernel_holds(uint32_t len)
{
	static const uint8_t zeros[9000];
	unsigned n = 0;

	worker = (struct hs_collector_worker){.n_sockets = 0};
	add_socket(208);
	for (; hs_collector_udp_lost(worker.sockets[0]) == 0; n++)
		send_to(port_of(worker.sockets[0]), zeros, len);
	return n - 1;
}

static void a_socket_holds_at_least_what_is_counted_on(void **state)
{
	static const uint32_t lengths[] = {0, 1, 100, 400, 600, 632, 633, 700, 1400, 1472, 1656,
			1657, 3000, 3704, 3705, 9000};

	(void)state;
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		unsigned holds = kernel_holds(lengths[i]);
		unsigned room = hs_collector_udp_room(worker.sockets[0], lengths[i]);
		hs_collector_udp_close(worker.sockets[0]);
		assert_in_range(room, holds / 4, holds);
	}
	worker = (struct hs_collector_worker){.n_sockets = 0};
}

static int64_t nap_limit_ns(int64_t longest_ns)
{
	worker.longest_nap_ns = longest_ns;
	nap_reports();
	return limit_ns;
}

// A burst of 4,000,000 reports a second finds room in a port during any nap.
static void no_nap_is_longer_than_asked_or_than_a_port_has_room(void **state)
{
	(void)state;
	add_port();
	assert_int_equal(nap_limit_ns(1000000), 256000);
	add_port();
	assert_int_equal(nap_limit_ns(100000), 100000);
	add_port();
	worker.ports[0]->rx_room = 16384;
	assert_int_equal(nap_limit_ns(1000000), 1000000);
	add_port();
	worker.ports[0]->rx_room = 16384;
	add_port();
	assert_int_equal(nap_limit_ns(1000000), 256000);
	add_socket(208);
	assert_int_equal(nap_limit_ns(1000000), 1000000);
}

// Sends a report each 10 ms.
static void send_reports(unsigned n)
{
	struct hop hop = {1, 10, 1, 2, 3, 4};
	struct bytes b;

	put_report(&b, 9, 1, 1, &hop, 1);
	for (unsigned i = 0; i < n; i++) {
		send_to(port_of(worker.sockets[0]), b.at, b.n);
		nanosleep(&(const struct timespec){.tv_nsec = 10000000}, NULL);
	}
}

// The first report comes when the machine has run for long, or after a long silence.
static void a_nap_is_judged_after_any_time(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_error err = {0};

	(void)state;
	worker = (struct hs_collector_worker){.n_sockets = 0};
	unsigned reports = add_socket(208) * 2048 / 1280 / 4;
	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	worker.nap_ns = now_ns - INT64_MAX / reports / 2 * 3;
	assert_int_equal(hs_collector_worker_start(&worker), 0);
	assert_int_equal(worker.nap_reports, reports);
	send_reports(20);
	hs_collector_worker_stop(&worker);
	assert_true(worker.counters.socket_datagrams > 0);
	assert_true(worker.nap_ns >= now_ns);
	hs_collector_udp_close(worker.sockets[0]);
	hs_collector_worker_fini(&worker);
}

// A worker that never finds its ways in empty takes no nap, and goes on to count.
static void more_reports_than_32_bits_count_are_taken_between_naps(void **state)
{
	struct hs_collect_config config = config_50();
	struct hs_error err = {0};

	(void)state;
	worker = (struct hs_collector_worker){.n_sockets = 0};
	add_socket(208);
	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	worker.nap_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	worker.taken = UINT32_MAX;
	assert_int_equal(hs_collector_worker_start(&worker), 0);
	send_reports(5);
	hs_collector_worker_stop(&worker);
	assert_in_range(worker.taken, UINT32_MAX + UINT64_C(1), UINT32_MAX + UINT64_C(5));
	hs_collector_udp_close(worker.sockets[0]);
	hs_collector_worker_fini(&worker);
}

// ---- buffers ----

#define BUFFERS 127

static struct rte_mbuf *waiting[BUFFERS];
static unsigned n_waiting;

static uint16_t take_waiting(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	unsigned got = n_waiting < n ? n_waiting : n;

	(void)port, (void)queue;
	memcpy(mbufs, waiting, got * sizeof(mbufs[0]));
	n_waiting -= got;
	memmove(waiting, waiting + got, n_waiting * sizeof(waiting[0]));
	return (uint16_t)got;
}

static struct rte_mbuf *wait_for_worker(struct rte_mempool *pool)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);

	assert_non_null(mbuf);
	memset(rte_pktmbuf_append(mbuf, 60), 0, 60); // no IP
	waiting[n_waiting++] = mbuf;
	return mbuf;
}

// Takes all that waits, in rounds. Returns how many frames it counted.
static uint64_t take_all(struct hs_port *port)
{
	struct hs_collect_config config = config_50();
	struct hs_error err = {0};

	worker = (struct hs_collector_worker){.ports = {port}, .n_ports = 1};
	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	while (hs_collector_worker_round(&worker, 5000 * SECOND) > 0)
		continue;
	uint64_t frames = worker.counters.frames;
	hs_collector_worker_fini(&worker);
	return frames;
}

static void buffers_go_back_whatever_they_are(void **state)
{
	static const unsigned counts[] = {1, 31, 32, 33, 64, 100, BUFFERS - 1};
	const struct hs_port_config config = {.name = "in", .rx_queues = 1};
	struct rte_mempool *pool;
	struct hs_port *port;

	(void)state;
	assert_int_equal(hs_pool_create("buffers", BUFFERS, 2048, &pool), 0);
	assert_int_equal(hs_port_open_custom(take_waiting, none, NULL, &config, 0, 1, &port), 0);
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (unsigned n = 0; n < counts[i]; n++)
			wait_for_worker(pool);
		assert_int_equal(take_all(port), counts[i]);
		assert_int_equal(rte_mempool_avail_count(pool), BUFFERS);
	}
	// One has a second segment, another has a second owner.
	for (unsigned n = 0; n < 40; n++)
		wait_for_worker(pool);
	struct rte_mbuf *shared = waiting[9], *tail = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_append(tail, 60);
	assert_int_equal(rte_pktmbuf_chain(waiting[3], tail), 0);
	rte_mbuf_refcnt_update(shared, 1);
	assert_int_equal(take_all(port), 40);
	assert_int_equal(rte_mempool_avail_count(pool), BUFFERS - 1);
	assert_int_equal(rte_mbuf_refcnt_read(shared), 1);
	rte_pktmbuf_free(shared);
	assert_int_equal(rte_mempool_avail_count(pool), BUFFERS);
	hs_port_close(port);
	rte_mempool_free(pool);
}

// ---- naps ----

#define GAP_NS 800	    // between two frames: half of 4,096 places are full after 1.64 ms
#define NAP_NS (4096 * 250) // less: a nap leaves room for a burst, with 250 ns between two frames

static struct {
	struct rte_mempool *pool;
	int64_t begin_ns, last_ns;
	uint64_t sent;
	int64_t naps, slept_before; // times that the thread gave its core away by itself
} stream;

static uint16_t take_due(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	int64_t now_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	uint64_t due = (uint64_t)(now_ns - stream.begin_ns) / GAP_NS - stream.sent;
	uint16_t got = (uint16_t)(due < n ? due : n);
	struct rusage usage;

	(void)port, (void)queue;
	getrusage(RUSAGE_THREAD, &usage);
	if (stream.last_ns == stream.begin_ns)
		stream.slept_before = usage.ru_nvcsw;
	stream.naps = usage.ru_nvcsw - stream.slept_before;
	if (got && rte_pktmbuf_alloc_bulk(stream.pool, mbufs, got) < 0)
		return 0;
	for (uint16_t i = 0; i < got; i++)
		memset(rte_pktmbuf_append(mbufs[i], 60), 0, 60);
	stream.sent += got;
	stream.last_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	return got;
}

// A thread that is off its core for a while only naps less often.
static void a_nap_lasts_as_long_as_a_queue_has_room_for_a_burst(void **state)
{
	const struct hs_port_config port_config = {.name = "in", .rx_queues = 1};
	struct hs_collect_config config = config_50();
	struct hs_error err = {0};
	struct hs_port *port;

	(void)state;
	assert_int_equal(hs_pool_create("stream", 1023, 2048, &stream.pool), 0);
	assert_int_equal(hs_port_open_custom(take_due, none, NULL, &port_config, 0, 1, &port), 0);
	port->rx_room = 4096;
	worker = (struct hs_collector_worker){
			.ports = {port}, .n_ports = 1, .longest_nap_ns = 10000000};
	assert_int_equal(hs_collector_worker_init(&worker, &config, true, &err), 0);
	stream.begin_ns = stream.last_ns = hs_os_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(hs_collector_worker_start(&worker), 0);
	nanosleep(&(const struct timespec){.tv_nsec = 300000000}, NULL);
	hs_collector_worker_stop(&worker);
	int64_t took_ns = stream.last_ns - stream.begin_ns;
	assert_true(stream.sent > 1024);
	assert_true(stream.naps > 0 && stream.naps * NAP_NS <= took_ns);
	hs_collector_worker_fini(&worker);
	hs_port_close(port);
	rte_mempool_free(stream.pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_clock_that_was_set_back_does_not_silence_values),
			cmocka_unit_test(a_nap_leaves_room_in_the_smallest_way_in),
			cmocka_unit_test(a_nap_is_shorter_for_long_datagrams),
			cmocka_unit_test(a_socket_holds_at_least_what_is_counted_on),
			cmocka_unit_test(no_nap_is_longer_than_asked_or_than_a_port_has_room),
			cmocka_unit_test(a_nap_is_judged_after_any_time),
			cmocka_unit_test(more_reports_than_32_bits_count_are_taken_between_naps),
			cmocka_unit_test(buffers_go_back_whatever_they_are),
			cmocka_unit_test(a_nap_lasts_as_long_as_a_queue_has_room_for_a_burst),
	};

	return cmocka_run_group_tests(tests, eal_env_start, eal_env_stop);
}
